//! How much more an application will need.

use std::fmt;
use std::str::FromStr;

/// A factor from 1 to 100, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Growth(u32);

/// Why a text is no growth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no growth: a factor from 1x to 100x, such as `1.5x`")]
pub struct GrowthError(String);

impl Growth {
    /// None.
    pub const NONE: Self = Self(100);
    /// The least and the most, in hundredths.
    const BOUNDS: std::ops::RangeInclusive<u32> = 100..=10_000;

    /// The factor in hundredths: 150 for `1.5x`.
    pub const fn hundredths(self) -> u32 {
        self.0
    }

    /// `figure` after growth, rounded up.
    pub fn of(self, figure: u64) -> u64 {
        let grown = u128::from(figure) * u128::from(self.0);
        u64::try_from(grown.div_ceil(100)).unwrap_or(u64::MAX)
    }
}

impl Default for Growth {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match (self.0 / 100, self.0 % 100) {
            (whole, 0) => format!("{whole}x"),
            (whole, part) if part % 10 == 0 => format!("{whole}.{}x", part / 10),
            (whole, part) => format!("{whole}.{part:02}x"),
        };
        f.pad(&text)
    }
}

impl FromStr for Growth {
    type Err = GrowthError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || GrowthError(text.to_owned());
        let digits = text.trim().trim_end_matches(['x', 'X']);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |digits: &str| {
            (1..=5).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit())
        };
        if !is_number(whole) || !is_number(part) || part.len() > 2 {
            return Err(wrong());
        }
        let part = format!("{part:0<2}");
        let (whole, part) = (whole.parse::<u32>(), part.parse::<u32>());
        let (Ok(whole), Ok(part)) = (whole, part) else {
            return Err(wrong());
        };
        let hundredths = whole * 100 + part;
        let growth = Self::BOUNDS
            .contains(&hundredths)
            .then_some(Self(hundredths));
        growth.ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u32>) {
        let growth = text.parse::<Growth>().ok();
        assert_eq!(growth.map(Growth::hundredths), expected, "{text}");
        if let Some(growth) = growth {
            assert_eq!(growth.to_string().parse(), Ok(growth));
        }
    }

    #[test]
    fn growth_is_read_and_printed() {
        check("1x", Some(100));
        check("1.5x", Some(150));
        check("1.05", Some(105));
        check("100x", Some(10_000));
        for wrong in [
            "0.9x", "101x", "", "x", "1.x", "1.555x", "-2x", "1e3x", "９x",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn figures_grow_upwards() {
        let growth: Growth = "1.5x".parse().expect("a growth");
        assert_eq!((growth.of(3), growth.of(u64::MAX)), (5, u64::MAX));
    }
}
