//! A factor by which rates or times are multiplied, exact to a millionth.
//!
//! Invariant: it is never 0, so that what is multiplied or divided by it stays a rate.

use std::fmt;
use std::str::FromStr;

/// Parts of one.
const ONE: u64 = 1_000_000;
/// The largest.
const MOST: u64 = 1_000_000 * ONE;

/// A factor from 0.000001 to 1,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u64);

/// Why a text is no factor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no factor: write a decimal number from 0.000001 to 1000000, such as 0.05")]
pub struct FactorError(String);

impl Factor {
    /// Changes nothing.
    pub const ONE: Self = Self(ONE);

    /// So many millionths; `None` where it is out of range.
    pub fn from_millionths(millionths: u64) -> Option<Self> {
        (1..=MOST).contains(&millionths).then_some(Self(millionths))
    }

    /// The nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// `value` multiplied, to the nearest whole number, and at most the largest there is.
    pub fn times(self, value: u64) -> u64 {
        rounded(
            u128::from(value) * u128::from(self.0) + u128::from(ONE / 2),
            ONE,
        )
    }

    /// `value` divided, to the nearest whole number, and at most the largest there is.
    pub fn divides(self, value: u64) -> u64 {
        rounded(
            u128::from(value) * u128::from(ONE) + u128::from(self.0 / 2),
            self.0,
        )
    }
}

fn rounded(product: u128, by: u64) -> u64 {
    u64::try_from(product / u128::from(by)).unwrap_or(u64::MAX)
}

impl Default for Factor {
    fn default() -> Self {
        Self::ONE
    }
}

impl FromStr for Factor {
    type Err = FactorError;

    fn from_str(text: &str) -> Result<Self, FactorError> {
        let refused = || FactorError(text.to_owned());
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let known = digits(whole) && digits(part) && part.len() <= 6;
        if !known || (whole.is_empty() && part.is_empty()) {
            return Err(refused());
        }
        let number = |text: &str| match text {
            "" => Some(0),
            text => text.parse::<u64>().ok(),
        };
        let parts = number(&format!("{part:0<6}")).ok_or_else(refused)?;
        let whole = number(whole).and_then(|whole| whole.checked_mul(ONE));
        let millionths = whole.and_then(|whole| whole.checked_add(parts));
        millionths
            .and_then(Self::from_millionths)
            .ok_or_else(refused)
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / ONE, self.0 % ONE);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_and_printed_exactly() {
        #[track_caller]
        fn check(text: &str, millionths: Option<u64>, printed: &str) {
            let read = text.parse::<Factor>();
            assert_eq!(read.clone().ok().map(|factor| factor.0), millionths);
            match read {
                Ok(factor) => assert_eq!(factor.to_string(), printed),
                Err(error) => assert!(error.to_string().contains(text)),
            }
        }
        check("1", Some(ONE), "1");
        check("0.05", Some(50_000), "0.05");
        check(".5", Some(500_000), "0.5");
        check("12.", Some(12_000_000), "12");
        check("0.000001", Some(1), "0.000001");
        check("1000000", Some(MOST), "1000000");
        for wrong in [
            "",
            ".",
            "0",
            "-1",
            "1e3",
            "0.0000001",
            "1000000.1",
            "x",
            "1.2.3",
            "99999999999999999999",
        ] {
            check(wrong, None, "");
        }
    }

    #[test]
    fn products_and_quotients_are_the_nearest() {
        let tenth: Factor = "0.1".parse().unwrap();
        assert_eq!((tenth.times(5_000), tenth.times(4)), (500, 0));
        assert_eq!((tenth.times(5), tenth.divides(7)), (1, 70));
        let three: Factor = "3".parse().unwrap();
        assert_eq!((three.divides(10), three.divides(11)), (3, 4));
        assert_eq!(three.times(u64::MAX), u64::MAX);
    }
}
