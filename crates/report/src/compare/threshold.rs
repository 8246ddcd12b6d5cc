//! Thresholds of changes: `iops-5%`, `p99+10%`.
//!
//! A threshold names a figure, the direction in which it gets worse, and by how much of the baseline it may. It is crossed
//! where a change is beyond it and more than the noise; where the noise of a figure is not known, the change alone counts.

use std::str::FromStr;

use super::figure::Figure;
use super::{Comparison, Group, letter};

/// How far a figure may change.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// Which figure.
    pub figure: Figure,
    /// Which way is worse.
    pub worse: Worse,
    /// In percent of the baseline's; above 0 or 0.
    pub percent: f64,
}

/// The direction in which a figure gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// Less is worse: `-`.
    Less,
    /// More is worse: `+`.
    More,
}

/// A threshold cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no threshold: {why}")]
pub struct ThresholdError {
    text: String,
    why: String,
    /// What stands in place of a figure's name and is none.
    pub no_figure: Option<String>,
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    /// Reads `FIGURE-N%` or `FIGURE+N%`; blanks count for nothing.
    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let refused = |why: String| ThresholdError {
            text: text.to_owned(),
            why,
            no_figure: None,
        };
        let compact: String = text.chars().filter(|c| *c != ' ').collect();
        let Some(place) = compact.rfind(['-', '+']) else {
            let why = "a sign says which way is worse, `-` for less and `+` for more";
            return Err(refused(why.to_owned()));
        };
        let (name, change) = compact.split_at(place);
        let figure = Figure::all().find(|figure| figure.name() == name);
        let figure = figure.ok_or_else(|| {
            let names: Vec<String> = Figure::all().map(Figure::name).collect();
            ThresholdError {
                no_figure: Some(name.to_owned()),
                ..refused(format!("`{name}` is none of {}", names.join(", ")))
            }
        })?;
        let worse = if change.starts_with('-') {
            Worse::Less
        } else {
            Worse::More
        };
        let number = change[1..].strip_suffix('%');
        let number = number.ok_or_else(|| refused("it does not end with `%`".to_owned()))?;
        let percent = number.parse().ok().filter(|percent: &f64| {
            // No sign, no `inf`: digits and a point.
            percent.is_finite() && number.starts_with(|c: char| c.is_ascii_digit())
        });
        let percent = percent.ok_or_else(|| refused(format!("`{number}` is no number")))?;
        if worse == Worse::Less && percent >= 100.0 {
            return Err(refused("nothing falls by more than 100 %".to_owned()));
        }
        Ok(Self {
            figure,
            worse,
            percent,
        })
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = match self.worse {
            Worse::Less => '-',
            Worse::More => '+',
        };
        write!(f, "{}{sign}{}%", self.figure.name(), self.percent)
    }
}

impl Threshold {
    /// Whether any group of `comparison` has the figure it is of.
    pub fn applies(&self, comparison: &Comparison) -> bool {
        let mut rows = comparison.groups.iter().map(|group| group.row(self.figure));
        rows.any(|row| row.values[0].is_some())
    }

    /// A sentence for each place where it is crossed.
    pub fn crossed(&self, comparison: &Comparison) -> Vec<String> {
        let groups = comparison.groups.iter();
        groups.flat_map(|group| self.crossed_in(group)).collect()
    }

    fn crossed_in(&self, group: &Group) -> Vec<String> {
        let row = group.row(self.figure);
        let (figure, what) = (self.figure, self.figure.words());
        let Some(base) = row.values[0] else {
            return Vec::new();
        };
        let mut crossed = Vec::new();
        for (index, change) in row.changes.iter().enumerate() {
            let Some(change) = change else {
                continue;
            };
            let place = format!("`{self}`: {}, {}", letter(index + 1), group.name());
            let Some(value) = row.values[index + 1] else {
                let line = group.lines[index + 1].as_ref();
                let why = match line.map_or(0, |line| line.ios) {
                    0 => "no I/O succeeded",
                    _ => "its I/Os have no intended start",
                };
                crossed.push(format!("{place}: no {what}, since {why}"));
                continue;
            };
            let Some(percent) = change.percent else {
                continue;
            };
            let (beyond, moved) = match self.worse {
                Worse::Less => (-percent > self.percent, "fell"),
                Worse::More => (percent > self.percent, "rose"),
            };
            let noise = match change.more_than_noise {
                Some(false) => continue,
                Some(true) => "more than the noise",
                None => "noise not known",
            };
            if beyond {
                let percent = percent.abs();
                let (base, value) = (figure.with_unit(base), figure.with_unit(value));
                crossed.push(format!(
                    "{place}: {what} {moved} by {percent:.1} %, {base} → {value} ({noise})"
                ));
            }
        }
        crossed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_and_written() {
        for (text, written) in [
            ("iops-5%", "iops-5%"),
            (" p99.9 + 10 %", "p99.9+10%"),
            ("response-p99+0.5%", "response-p99+0.5%"),
            ("bandwidth+0%", "bandwidth+0%"),
        ] {
            let read: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.to_string(), written);
            assert_eq!(written.parse(), Ok(read));
        }
    }

    #[test]
    fn what_is_none_is_refused_with_its_reason() {
        for (text, why) in [
            ("", "a sign says"),
            ("iops", "a sign says"),
            ("iops5%", "a sign says"),
            ("iops<-5%", "`iops<` is none of iops, bandwidth, p50"),
            ("p98+5%", "`p98` is none of"),
            ("-5%", "`` is none of"),
            ("iops-5", "does not end with `%`"),
            ("iops-x%", "`x` is no number"),
            ("iops-inf%", "`inf` is no number"),
            ("iops-%", "`` is no number"),
            ("iops--5%", "`iops-` is none of"),
            ("iops-100%", "nothing falls by more"),
        ] {
            let error = text.parse::<Threshold>().map_err(|error| error.to_string());
            let error = error.expect_err(text);
            assert!(error.contains(why), "{error}");
        }
    }
}
