//! A span of time, or a moment of a run's own clock.

use std::cell::Cell;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

use crate::decimal::{
    Form, ParseUnitError, is_negative, negative, parse_scaled, three_digits, too_large,
};

/// Nanoseconds: a span, or a moment counted from the start of a run. Printed in the unit that reads best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(u64);

impl Nanos {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// Nanoseconds as they are.
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Units of 1,000 ns.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Units of 1,000,000 ns.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Units of 10^9 ns.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// The number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Seconds, for rates at the edge.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The difference, or zero where `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, or [`Nanos::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

/// Prints three significant digits: `512 ns`, `51.2 µs`, `3.81 ms`, `60 s`, `90 min`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let (value, unit) = if ns < 999.5 {
            (ns, "ns")
        } else if ns < 999.5e3 {
            (ns / 1e3, "µs")
        } else if ns < 999.5e6 {
            (ns / 1e6, "ms")
        } else if ns < 599.5e9 {
            (ns / 1e9, "s")
        } else {
            (ns / 60e9, "min")
        };
        f.pad(&format!("{} {unit}", three_digits(value)))
    }
}

const FORM: Form = Form {
    expected: "a time with its unit, such as `30s`, `1.5ms`, `10min` or `1h30m`",
    // 2^64 nanoseconds.
    most: "`213503d`, which are 584 years",
};

/// Reads `30s`, `1.5ms`, `200us`, `10min`, `1h`, `2d`, and several of them from the largest unit to the smallest: `1h30m`.
/// A unit is required.
impl FromStr for Nanos {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let error = |reason: String| ParseUnitError {
            text: text.to_owned(),
            reason,
        };
        if is_negative(text.trim()) {
            return Err(error(negative(FORM.expected)));
        }
        let mut total: u64 = 0;
        let mut before = u64::MAX;
        for part in parts(text) {
            let unit = Cell::new(0);
            let scale = |name: &str| scale_of(name).inspect(|scale| unit.set(*scale));
            let value = parse_scaled(part, &FORM, scale).map_err(|failed| error(failed.reason))?;
            if unit.get() >= before {
                let reason = "names a unit behind one that is no larger; expected".to_owned();
                return Err(error(format!("{reason} {}", FORM.expected)));
            }
            before = unit.get();
            let sum = total.checked_add(value);
            total = sum.ok_or_else(|| error(too_large(FORM.most)))?;
        }
        Ok(Self(total))
    }
}

fn scale_of(unit: &str) -> Option<u64> {
    match unit {
        "ns" => Some(1),
        "us" | "µs" | "μs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        "d" => Some(86_400_000_000_000),
        _ => None,
    }
}

/// A number and its unit each; at least one, which is the whole text where there are no several.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest?;
        let in_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | ',');
        let unit = whole.find(|c: char| !in_number(c) && !c.is_whitespace());
        let after = unit.and_then(|unit| {
            let digit = whole[unit..].find(|c: char| c.is_ascii_digit())?;
            Some(unit + digit)
        });
        let (part, behind) = whole.split_at(after.unwrap_or(whole.len()));
        rest = after.map(|_| behind);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, nanos: u64, printed: &str) {
        let parsed: Nanos = text.parse().unwrap();
        assert_eq!(parsed, Nanos::new(nanos), "{text}");
        assert_eq!(parsed.to_string(), printed, "{text}");
    }

    #[track_caller]
    fn refused(text: &str, part: &str) {
        let error = text.parse::<Nanos>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{text}`")), "{error}");
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn times_are_read_and_printed() {
        check("0s", 0, "0 ns");
        check("512ns", 512, "512 ns");
        check("51.2us", 51_200, "51.2 µs");
        check("1.5ms", 1_500_000, "1.5 ms");
        check("30s", 30_000_000_000, "30 s");
        check("2h", 7_200_000_000_000, "120 min");
    }

    #[test]
    fn a_time_of_several_units_is_their_sum() {
        check("1h30m", 5_400_000_000_000, "90 min");
        check("1h 30min", 5_400_000_000_000, "90 min");
        check(" 1m0.5s ", 60_500_000_000, "60.5 s");
        check("1s500ms", 1_500_000_000, "1.5 s");
        refused("1h30", "has no unit");
        refused("30m1h", "behind one that is no larger");
        refused("1m1min", "behind one that is no larger");
        refused("1h30x", "the unknown unit `x`");
        refused("1h-30m", "the unknown unit `h-`");
        refused("200000d100000d", "no larger");
        refused("213503d24h", "is too large: the most is `213503d`");
        refused("213504d", "is too large: the most is `213503d`");
        refused("-1s", "is below 0; expected a time");
    }

    #[test]
    fn a_unit_is_required() {
        for text in ["30", "", "s", "5 minutes", "1e3s", "1h30"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }
}
