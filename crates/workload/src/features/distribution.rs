//! Distributions of random offsets, with their text.
//!
//! Written as `uniform`, `zipf:1.1`, `zipf:1.1:0.25`, `pareto:0.2`, `normal:20`, `zoned:60/10:40/90`,
//! `zoned_abs:60/20GiB:40/100GiB`, `sequence:2,0,1` and `sequence:2,0,1:stride`.

use std::fmt;
use std::str::FromStr;

use fathom_units::Bytes;

/// Most zones of one distribution.
pub const ZONES_MAX: usize = 256;
/// Most block numbers of a sequence.
pub const SEQUENCE_MAX: usize = 64;

/// Where random offsets fall within a target.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Distribution {
    /// Everywhere alike.
    #[default]
    Uniform,
    /// Block of rank *k* with a probability in proportion to *k* ^ -`theta`; ranks are scattered over the target.
    Zipf {
        /// 0 or above, not 1.
        theta: f64,
        /// Where the most frequent block lies, 0 to 1 of the target; `None`: anywhere.
        center: Option<f64>,
    },
    /// Self-similar: a share of 1 - `h` of the accesses goes to a share of `h` of the blocks.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
        /// Where the most frequent block lies, 0 to 1 of the target; `None`: anywhere.
        center: Option<f64>,
    },
    /// A bell around `center`: the mean of twelve uniform draws, widened by one uniform draw over `deviation` percent of
    /// the target.
    Normal {
        /// 0 to 100.
        deviation: f64,
        /// Where the bell's top lies, 0 to 1 of the target; `None`: in the middle.
        center: Option<f64>,
    },
    /// Zones in shares of the target.
    Zoned(Vec<Zone<u32>>),
    /// Zones in bytes from the start of the target.
    ZonedAbsolute(Vec<Zone<Bytes>>),
    /// These block numbers over and over.
    Sequence {
        /// Numbers of blocks.
        blocks: Vec<u32>,
        /// Each repetition lies one length of the list further on.
        stride: bool,
    },
}

/// A zone and how often it is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone<T> {
    /// Share of the accesses, in percent.
    pub access: u32,
    /// Its size: percent of the target, or bytes.
    pub size: T,
}

/// Why a text is no distribution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DistributionError {
    /// Not one of the known ones.
    #[error(
        "`{0}` is no distribution; known are uniform, zipf, pareto, normal, zoned, zoned_abs and sequence"
    )]
    Unknown(String),
    /// It has no number where it needs one.
    #[error("`{0}` needs a number behind it")]
    Alone(String),
    /// A number outside its range, or none.
    #[error("`{0}` is no {1}")]
    Number(String, &'static str),
    /// Shares that are not a whole.
    #[error("the zones' {0} add up to {1} %, not 100 %")]
    Shares(&'static str, u32),
    /// Too many parts, or none.
    #[error("it has {0} {1}; 1 to {2} are possible")]
    Count(usize, &'static str, usize),
}

impl Distribution {
    /// Whether each place is as likely as any other.
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }

    /// Checks the ranges of all numbers.
    ///
    /// # Errors
    /// The first number out of its range.
    pub fn check(&self) -> Result<(), DistributionError> {
        let number = |value: f64, good: bool, what| {
            if good {
                Ok(())
            } else {
                Err(DistributionError::Number(value.to_string(), what))
            }
        };
        let center = match self {
            Self::Zipf { center, .. }
            | Self::Pareto { center, .. }
            | Self::Normal { center, .. } => *center,
            _ => None,
        };
        if let Some(center) = center {
            number(center, (0.0..=1.0).contains(&center), "centre from 0 to 1")?;
        }
        match self {
            Self::Uniform => Ok(()),
            Self::Zipf { theta, .. } => {
                let good = *theta >= 0.0 && *theta < 100.0 && (theta - 1.0).abs() > f64::EPSILON;
                number(*theta, good, "theta from 0 to below 100 other than 1")
            }
            Self::Pareto { h, .. } => number(*h, *h > 0.0 && *h < 1.0, "h above 0 and below 1"),
            Self::Normal { deviation, .. } => {
                let good = (0.0..100.0).contains(deviation);
                number(*deviation, good, "deviation from 0 to below 100")
            }
            Self::Zoned(zones) => {
                check_zones(zones)?;
                let sizes = zones.iter().map(|zone| zone.size);
                whole("sizes", sizes.fold(0, u32::saturating_add))
            }
            Self::ZonedAbsolute(zones) => check_zones(zones),
            Self::Sequence { blocks, .. } => count(blocks.len(), "block numbers", SEQUENCE_MAX),
        }
    }
}

fn check_zones<T>(zones: &[Zone<T>]) -> Result<(), DistributionError> {
    count(zones.len(), "zones", ZONES_MAX)?;
    let shares = zones.iter().map(|zone| zone.access);
    whole("accesses", shares.fold(0, u32::saturating_add))
}

fn count(found: usize, what: &'static str, most: usize) -> Result<(), DistributionError> {
    if (1..=most).contains(&found) {
        Ok(())
    } else {
        Err(DistributionError::Count(found, what, most))
    }
}

fn whole(what: &'static str, sum: u32) -> Result<(), DistributionError> {
    if sum == 100 {
        Ok(())
    } else {
        Err(DistributionError::Shares(what, sum))
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let centred = |f: &mut fmt::Formatter<'_>, name: &str, value: f64, center: Option<f64>| {
            write!(f, "{name}:{value}")?;
            center.map_or(Ok(()), |center| write!(f, ":{center}"))
        };
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { theta, center } => centred(f, "zipf", *theta, *center),
            Self::Pareto { h, center } => centred(f, "pareto", *h, *center),
            Self::Normal { deviation, center } => centred(f, "normal", *deviation, *center),
            Self::Zoned(zones) => {
                f.write_str("zoned")?;
                let mut zones = zones.iter();
                zones.try_for_each(|zone| write!(f, ":{}/{}", zone.access, zone.size))
            }
            Self::ZonedAbsolute(zones) => {
                f.write_str("zoned_abs")?;
                let mut zones = zones.iter();
                zones.try_for_each(|zone| write!(f, ":{}/{}B", zone.access, zone.size.get()))
            }
            Self::Sequence { blocks, stride } => {
                let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
                let end = if *stride { ":stride" } else { "" };
                write!(f, "sequence:{}{end}", numbers.join(","))
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        if rest.is_empty() && matches!(name, "zipf" | "pareto" | "normal") {
            return Err(DistributionError::Alone(name.to_owned()));
        }
        let distribution = match name {
            "uniform" if rest.is_empty() => Self::Uniform,
            "zipf" => {
                let (theta, center) = centred(rest)?;
                Self::Zipf { theta, center }
            }
            "pareto" => {
                let (h, center) = centred(rest)?;
                Self::Pareto { h, center }
            }
            "normal" => {
                let (deviation, center) = centred(rest)?;
                Self::Normal { deviation, center }
            }
            "zoned" => Self::Zoned(zones(rest, |text| text.parse().ok())?),
            "zoned_abs" => Self::ZonedAbsolute(zones(rest, |text| text.parse().ok())?),
            "sequence" => {
                let (list, end) = rest.split_once(':').unwrap_or((rest, ""));
                if !matches!(end, "" | "stride") {
                    return Err(DistributionError::Unknown(text.to_owned()));
                }
                let block = |text: &str| {
                    let error = || DistributionError::Number(text.to_owned(), "block number");
                    text.trim().parse().map_err(|_| error())
                };
                Self::Sequence {
                    blocks: list.split(',').map(block).collect::<Result<_, _>>()?,
                    stride: end == "stride",
                }
            }
            _ => return Err(DistributionError::Unknown(text.to_owned())),
        };
        distribution.check()?;
        Ok(distribution)
    }
}

fn centred(text: &str) -> Result<(f64, Option<f64>), DistributionError> {
    let number = |text: &str| {
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
        parsed.ok_or_else(|| DistributionError::Number(text.to_owned(), "number"))
    };
    match text.split_once(':') {
        Some((value, center)) => Ok((number(value)?, Some(number(center)?))),
        None => Ok((number(text)?, None)),
    }
}

fn zones<T>(
    text: &str,
    size: impl Fn(&str) -> Option<T>,
) -> Result<Vec<Zone<T>>, DistributionError> {
    let zone = |part: &str| {
        let (access, length) = part.split_once('/')?;
        let access = access.parse().ok().filter(|access| *access <= 100)?;
        Some(Zone {
            access,
            size: size(length)?,
        })
    };
    let parsed = |part: &str| {
        let what = "zone: write its share of accesses in percent, `/`, and its size";
        zone(part).ok_or_else(|| DistributionError::Number(part.to_owned(), what))
    };
    text.split(':').map(parsed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let parsed: Distribution = text.parse().unwrap();
        assert_eq!(parsed.to_string(), text);
    }

    #[test]
    fn texts_come_back_as_they_were() {
        for text in [
            "uniform",
            "zipf:1.1",
            "zipf:0.5:0.25",
            "pareto:0.2",
            "pareto:0.9:1",
            "normal:20",
            "normal:0:0.75",
            "zoned:60/10:30/20:10/70",
            "zoned_abs:60/4096B:40/1048576B",
            "sequence:2,0,1",
            "sequence:7:stride",
        ] {
            check(text);
        }
    }

    #[track_caller]
    fn refuse(text: &str, message: &str) {
        let error = text.parse::<Distribution>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        refuse(
            "gauss",
            "`gauss` is no distribution; known are uniform, zipf, pareto, normal, zoned, zoned_abs and sequence",
        );
        refuse("zipf:1", "`1` is no theta from 0 to below 100 other than 1");
        refuse("zipf:nan", "`nan` is no number");
        refuse("pareto:1", "`1` is no h above 0 and below 1");
        refuse("normal:100", "`100` is no deviation from 0 to below 100");
        refuse("zipf:2:1.5", "`1.5` is no centre from 0 to 1");
        refuse(
            "zoned:60/10:30/90",
            "the zones' accesses add up to 90 %, not 100 %",
        );
        refuse(
            "zoned:60/10:40/80",
            "the zones' sizes add up to 90 %, not 100 %",
        );
        refuse("sequence:1,x", "`x` is no block number");
        let many = vec!["1"; 65].join(",");
        refuse(
            &format!("sequence:{many}"),
            "it has 65 block numbers; 1 to 64 are possible",
        );
    }
}
