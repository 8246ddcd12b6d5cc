//! A share of a whole.

use std::fmt;
use std::str::FromStr;

use crate::decimal::{Form, ParseUnitError, parse_scaled, three_digits};

/// A share from 0 % to 100 %, kept in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Percent(u32);

impl Percent {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The whole.
    pub const ALL: Self = Self(10_000);

    /// Whole percents; `None` above 100.
    pub fn whole(percent: u32) -> Option<Self> {
        (percent <= 100).then_some(Self(percent * 100))
    }

    /// Hundredths of a percent; `None` above 10,000.
    pub fn from_basis_points(points: u32) -> Option<Self> {
        (points <= 10_000).then_some(Self(points))
    }

    /// Hundredths of a percent, 0 to 10,000.
    pub const fn basis_points(self) -> u32 {
        self.0
    }

    /// What is left to the whole.
    #[must_use]
    pub const fn rest(self) -> Self {
        Self(10_000 - self.0)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", three_digits(f64::from(self.0) / 100.0)))
    }
}

/// Reads `70%` or `12.5%`. The sign is required.
impl FromStr for Percent {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let form = Form {
            expected: "a percentage such as `70%`",
            most: "`100%`",
        };
        let points = parse_scaled(text, &form, |unit| (unit == "%").then_some(100))?;
        u32::try_from(points)
            .ok()
            .and_then(Self::from_basis_points)
            .ok_or_else(|| ParseUnitError {
                text: text.to_owned(),
                reason: "is more than 100%".to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_and_printed() {
        assert_eq!("70%".parse::<Percent>().unwrap().to_string(), "70 %");
        assert_eq!("12.5%".parse::<Percent>().unwrap().basis_points(), 1250);
        assert!("101%".parse::<Percent>().is_err());
        assert!("70".parse::<Percent>().is_err());
    }
}
