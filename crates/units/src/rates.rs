//! Rates: limits and targets as they are configured, and the one way to compute a measured one.

use std::fmt;
use std::str::FromStr;

use crate::decimal::{Form, ParseUnitError, group_digits, parse_whole, too_large};
use crate::{Bytes, Nanos};

/// Events a second, computed at the edge from a count and a time; zero where no time has passed.
pub fn per_second(count: u64, over: Nanos) -> f64 {
    if over == Nanos::ZERO {
        0.0
    } else {
        count as f64 / over.as_secs_f64()
    }
}

/// A configured rate of I/Os a second (a limit or a target, never a measurement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Iops(u64);

impl Iops {
    /// I/Os a second.
    pub const fn new(per_sec: u64) -> Self {
        Self(per_sec)
    }

    /// I/Os a second.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} IOPS", group_digits(self.0)))
    }
}

/// Reads `20000/s` or `20k/s` (k = 1,000: a rate is no size). The `/s` is required.
impl FromStr for Iops {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let scale = |unit: &str| match unit {
            "/s" => Some(1),
            "k/s" => Some(1_000),
            "M/s" => Some(1_000_000),
            _ => None,
        };
        let form = Form {
            expected: "a rate such as `20000/s` or `20k/s`",
            most: "18,446,744,073,709,551,615 I/Os a second",
        };
        parse_whole(text, &form, "I/Os a second", scale).map(Self)
    }
}

/// A configured rate of bytes a second (a limit or a target, never a measurement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BytesPerSec(u64);

impl BytesPerSec {
    /// Bytes a second.
    pub const fn new(per_sec: u64) -> Self {
        Self(per_sec)
    }

    /// The clouds' "MB/s": 10^6 bytes a second.
    pub const fn mb(count: u64) -> Self {
        Self(count * 1_000_000)
    }

    /// Bytes a second.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Prints 10^6 bytes a second where that is exact (the clouds' unit), IEC units otherwise.
impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1_000_000 && self.0.is_multiple_of(1_000_000) {
            f.pad(&format!("{} MB/s", group_digits(self.0 / 1_000_000)))
        } else {
            f.pad(&format!("{}/s", Bytes::new(self.0)))
        }
    }
}

/// Reads `500MB/s`, `64MiB/s`. The `B` and the `/s` are required: `500/s` and `20k/s` would be rates of I/Os elsewhere.
impl FromStr for BytesPerSec {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let error = || ParseUnitError {
            text: text.to_owned(),
            reason: "is not a rate of bytes such as `500MB/s` or `64MiB/s`".to_owned(),
        };
        let size = text.trim().strip_suffix("/s").ok_or_else(error)?;
        if !size.trim_end().ends_with(['B', 'b']) {
            return Err(error());
        }
        size.parse::<Bytes>()
            .map(|bytes| Self(bytes.get()))
            .map_err(|inner| {
                if inner.is_too_large() {
                    let reason = too_large("a byte less than `16EiB/s`");
                    ParseUnitError { reason, ..error() }
                } else {
                    error()
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_printed() {
        assert_eq!("20k/s".parse::<Iops>().unwrap(), Iops::new(20_000));
        assert_eq!("1.5k/s".parse::<Iops>().unwrap(), Iops::new(1_500));
        for fraction in ["1.9/s", "0.5/s", "0.0001k/s"] {
            let error = fraction.parse::<Iops>().unwrap_err();
            let expected = format!("`{fraction}` is no whole number of I/Os a second");
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(Iops::new(64_000).to_string(), "64,000 IOPS");
        assert_eq!(
            "500MB/s".parse::<BytesPerSec>().unwrap(),
            BytesPerSec::mb(500)
        );
        assert_eq!(BytesPerSec::mb(512).to_string(), "512 MB/s");
        assert_eq!(
            "64MiB/s".parse::<BytesPerSec>().unwrap().to_string(),
            "64 MiB/s"
        );
        assert!("20000".parse::<Iops>().is_err());
        assert!("500MB".parse::<BytesPerSec>().is_err());
        for of_ios in ["500/s", "1.5/s", "20k/s", "20 M/s"] {
            assert!(of_ios.parse::<BytesPerSec>().is_err(), "{of_ios}");
        }
        let beyond = "99999999999TB/s";
        let error = beyond.parse::<BytesPerSec>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{beyond}` is too large: the most is a byte less than `16EiB/s`")
        );
    }

    #[test]
    fn no_time_gives_no_rate() {
        assert!(per_second(5, Nanos::ZERO).abs() < f64::EPSILON);
        assert!((per_second(50, Nanos::from_secs(2)) - 25.0).abs() < 1e-9);
    }
}
