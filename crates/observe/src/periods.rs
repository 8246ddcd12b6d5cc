//! When load is normal, at its peak, or off hours.
//!
//! Given by the user as times of the day, or found by a rule with a name, which is printed.

use std::fmt;
use std::str::FromStr;

use fathom_profile::PeriodKind;
use fathom_units::Nanos;
use jiff::{Timestamp, tz::TimeZone};

use crate::samples::Observation;

const MINUTES_OF_DAY: u32 = 24 * 60;
/// An hour of the day counts where so much of it was seen.
const SEEN_OF_HOUR: Nanos = Nanos::from_secs(30 * 60);
/// Hours of the day that must have been seen before one of them is called the peak.
const HOURS_LEAST: usize = 3;
/// An hour with at most this share of the peak's rate is off hours.
const QUIET: f64 = 0.10;
/// Moments before this (1971) are of a source without dates.
const DATED: i64 = 365 * 86_400 * 1_000_000_000;

/// A stretch of the day, such as `09:00-12:00`; one that ends before it begins goes over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTime {
    from: u32,
    to: u32,
}

/// Why a text is no stretch of the day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no stretch of the day: write one such as `09:00-12:00`, or `22:00-06:00` over midnight"
)]
pub struct DayTimeError(String);

impl DayTime {
    fn contains(self, minute: u32) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }

    fn overlaps(self, other: Self) -> bool {
        (0..MINUTES_OF_DAY).any(|minute| self.contains(minute) && other.contains(minute))
    }
}

impl fmt::Display for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        f.pad(&format!("{}-{}", clock(self.from), clock(self.to)))
    }
}

impl FromStr for DayTime {
    type Err = DayTimeError;

    fn from_str(text: &str) -> Result<Self, DayTimeError> {
        let wrong = || DayTimeError(text.to_owned());
        let clock = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let digits = |text: &str| text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
            if !digits(hour) || !digits(minute) {
                return None;
            }
            let (hour, minute) = (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?);
            let whole = hour * 60 + minute;
            (minute < 60 && whole <= MINUTES_OF_DAY).then_some(whole)
        };
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) = (clock(from).ok_or_else(wrong)?, clock(to).ok_or_else(wrong)?);
        if from == to || from == MINUTES_OF_DAY {
            return Err(wrong());
        }
        Ok(Self { from, to })
    }
}

/// Periods as the user gives them; none given, they are found.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// When load is at its peak.
    pub peak: Vec<DayTime>,
    /// When it is off hours.
    pub off_hours: Vec<DayTime>,
}

impl Given {
    /// Where a time is both, in one sentence.
    pub fn contradiction(&self) -> Option<String> {
        self.peak.iter().find_map(|peak| {
            let off = self.off_hours.iter().find(|off| peak.overlaps(**off))?;
            Some(format!(
                "`--peak {peak}` and `--off-hours {off}` overlap: make them meet"
            ))
        })
    }
}

/// The period of each moment.
#[derive(Debug, Clone)]
pub struct Periods {
    how: How,
    zone: TimeZone,
    /// The rule, in one sentence with its name.
    pub rule: String,
}

#[derive(Debug, Clone)]
enum How {
    All(PeriodKind),
    Given(Given),
    Hours(Box<[PeriodKind; 24]>),
}

impl Periods {
    /// As given, else as found in `seen`; times of the day are those of `zone`.
    ///
    /// # Errors
    /// Given periods that overlap, or that a source without dates cannot have; in one sentence.
    pub fn of(seen: &Observation, given: &Given, zone: TimeZone) -> Result<Self, String> {
        let dated = is_dated(seen);
        if given.peak.is_empty() && given.off_hours.is_empty() {
            return Ok(Self::found(seen, zone, dated));
        }
        if let Some(wrong) = given.contradiction() {
            return Err(wrong);
        }
        if !dated {
            let message = "the samples have no dates, so that no time of the day can be the peak";
            return Err(format!("{message}: leave `--peak` and `--off-hours` out"));
        }
        let words = |times: &[DayTime]| {
            let times: Vec<_> = times.iter().map(ToString::to_string).collect();
            times.join(", ")
        };
        let peak = (!given.peak.is_empty()).then(|| format!("peak {}", words(&given.peak)));
        let off =
            (!given.off_hours.is_empty()).then(|| format!("off hours {}", words(&given.off_hours)));
        let both: Vec<_> = peak.into_iter().chain(off).collect();
        Ok(Self {
            rule: format!("periods as given: {}, otherwise normal", both.join(", ")),
            how: How::Given(given.clone()),
            zone,
        })
    }

    fn found(seen: &Observation, zone: TimeZone, dated: bool) -> Self {
        let rates = if dated {
            hour_rates(seen, &zone)
        } else {
            [None; 24]
        };
        let known: Vec<(usize, f64)> = rates
            .iter()
            .enumerate()
            .filter_map(|(hour, rate)| Some((hour, (*rate)?)))
            .collect();
        let busiest = known
            .iter()
            .max_by(|left, right| left.1.total_cmp(&right.1));
        let Some((hour, most)) =
            busiest.filter(|(_, most)| known.len() >= HOURS_LEAST && *most > 0.0)
        else {
            return Self {
                how: How::All(PeriodKind::Peak),
                zone,
                rule: "rule `one-period`: less than three hours of the day were seen, so that all of it counts as \
                       the peak; `--peak 09:00-12:00` says otherwise"
                    .to_owned(),
            };
        };
        let kinds = std::array::from_fn(|of| match rates[of] {
            _ if of == *hour => PeriodKind::Peak,
            Some(rate) if rate <= most * QUIET => PeriodKind::OffHours,
            _ => PeriodKind::Normal,
        });
        Self {
            rule: format!(
                "rule `busiest-hour`: of {} hours of the day that were seen, {hour:02}:00-{:02}:00 has the most I/Os \
                 a second ({most:.0}) and is the peak; hours with a tenth of that or less are off hours",
                known.len(),
                hour + 1
            ),
            how: How::Hours(Box::new(kinds)),
            zone,
        }
    }

    /// The period of the moment `unix_ns`.
    pub fn at(&self, unix_ns: i64) -> PeriodKind {
        match &self.how {
            How::All(kind) => *kind,
            How::Given(given) => {
                let minute = minute_of_day(unix_ns, &self.zone);
                let within = |times: &[DayTime]| times.iter().any(|time| time.contains(minute));
                if within(&given.peak) {
                    PeriodKind::Peak
                } else if within(&given.off_hours) {
                    PeriodKind::OffHours
                } else {
                    PeriodKind::Normal
                }
            }
            How::Hours(kinds) => kinds[(minute_of_day(unix_ns, &self.zone) / 60) as usize % 24],
        }
    }
}

/// Whether its samples have dates.
pub fn is_dated(seen: &Observation) -> bool {
    let samples = seen.devices.iter().flat_map(|device| &device.samples);
    let mut ends = samples.map(|sample| sample.at_unix_ns);
    ends.all(|end| end >= DATED)
}

/// The moment in the middle of what ended at `end`.
pub fn middle(end: i64, length: Nanos) -> i64 {
    end.saturating_sub(i64::try_from(length.get() / 2).unwrap_or(i64::MAX))
}

fn minute_of_day(unix_ns: i64, zone: &TimeZone) -> u32 {
    let moment = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    let time = moment.to_zoned(zone.clone()).time();
    u32::from(time.hour().unsigned_abs()) * 60 + u32::from(time.minute().unsigned_abs())
}

/// I/Os a second of all devices by hour of the day, where enough of the hour was seen.
fn hour_rates(seen: &Observation, zone: &TimeZone) -> [Option<f64>; 24] {
    let (mut counts, mut longest) = ([0.0f64; 24], [Nanos::ZERO; 24]);
    for device in &seen.devices {
        let mut lengths = [Nanos::ZERO; 24];
        for sample in &device.samples {
            let moment = middle(sample.at_unix_ns, sample.length);
            let hour = (minute_of_day(moment, zone) / 60) as usize % 24;
            counts[hour] += sample.ios().unwrap_or(0.0);
            lengths[hour] = lengths[hour].saturating_add(sample.length);
        }
        for (most, length) in longest.iter_mut().zip(lengths) {
            *most = (*most).max(length);
        }
    }
    std::array::from_fn(|hour| {
        let length = longest[hour];
        (length >= SEEN_OF_HOUR).then(|| counts[hour] / length.as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Device, Ops, Sample};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let read = text.parse::<DayTime>().ok().map(|time| time.to_string());
        assert_eq!(read.as_deref(), expected, "{text}");
    }

    #[test]
    fn stretches_of_the_day_are_read() {
        check("09:00-12:00", Some("09:00-12:00"));
        check("22:30-06:00", Some("22:30-06:00"));
        check("00:00-24:00", Some("00:00-24:00"));
        for wrong in [
            "9-12",
            "09:00",
            "09:60-10:00",
            "25:00-26:00",
            "09:00-09:00",
            "24:00-01:00",
            "+9:00-12:00",
        ] {
            check(wrong, None);
        }
    }

    /// A sample a minute from 2026-11-22 00:00 UTC, with `rate` I/Os a second at each hour.
    fn seen(hours: u32, rate: impl Fn(u32) -> f64) -> Observation {
        let start = 1_795_305_600_000_000_000i64;
        let samples = (0..hours * 60).map(|minute| Sample {
            at_unix_ns: start + i64::from(minute + 1) * 60_000_000_000,
            length: Nanos::from_secs(60),
            all: Some(Ops {
                count: rate(minute / 60) * 60.0,
                ..Ops::default()
            }),
            ..Sample::default()
        });
        Observation {
            devices: vec![Device {
                samples: samples.collect(),
                ..Device::default()
            }],
            ..Observation::default()
        }
    }

    #[test]
    fn the_busiest_hour_is_the_peak() {
        let seen = seen(5, |hour| [5.0, 50.0, 400.0, 100.0, 40.0][hour as usize]);
        let periods = Periods::of(&seen, &Given::default(), TimeZone::UTC).unwrap();
        assert!(periods.rule.contains("`busiest-hour`"), "{}", periods.rule);
        let hourly = seen.devices[0].samples.iter().step_by(60);
        let kinds: Vec<_> = hourly
            .map(|it| periods.at(middle(it.at_unix_ns, it.length)).name())
            .collect();
        assert_eq!(
            kinds,
            ["off-hours", "normal", "peak", "normal", "off-hours"]
        );
    }

    #[test]
    fn a_short_look_is_one_period() {
        let seen = seen(2, |_| 100.0);
        let periods = Periods::of(&seen, &Given::default(), TimeZone::UTC).unwrap();
        assert!(periods.rule.contains("`one-period`"), "{}", periods.rule);
        assert_eq!(periods.at(0), PeriodKind::Peak);
    }

    #[test]
    fn given_periods_go_over_midnight_and_must_not_overlap() {
        let seen = seen(1, |_| 1.0);
        let time = |text: &str| text.parse::<DayTime>().unwrap();
        let given = Given {
            peak: vec![time("09:00-12:00")],
            off_hours: vec![time("22:00-06:00")],
        };
        let periods = Periods::of(&seen, &given, TimeZone::UTC).unwrap();
        let hour = 3_600_000_000_000i64;
        let at = |hours: i64| periods.at(1_795_305_600_000_000_000 + hours * hour).name();
        assert_eq!(
            [at(3), at(9), at(12), at(23)],
            ["off-hours", "peak", "normal", "off-hours"]
        );
        let overlapping = Given {
            peak: vec![time("05:00-07:00")],
            ..given
        };
        assert!(
            Periods::of(&seen, &overlapping, TimeZone::UTC)
                .unwrap_err()
                .contains("overlap")
        );
    }
}
