//! A count of bytes.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use crate::decimal::{Form, ParseUnitError, parse_scaled, three_digits};

/// A count of bytes. Printed in IEC units (`64 KiB`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// A number of bytes as it is.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Units of 1,024 bytes.
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// Units of 1,024² bytes.
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// Units of 1,024³ bytes.
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The difference, or zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, or `None` past 2^64 bytes.
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }

    /// The sum, or `None` past 2^64 bytes.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

/// Prints the largest IEC unit that keeps three significant digits: `4 KiB`, `1.5 GiB`, `512 B`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1023.5 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        f.pad(&format!("{} {}", three_digits(value), UNITS[unit]))
    }
}

/// Reads Fathom's own sizes: `k`, `K` and `KiB` are 1,024; `kB` and `KB` are 1,000. Peers' readers have their own rules.
impl FromStr for Bytes {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let scale = |unit: &str| {
            let (letter, rest) = match unit.chars().next() {
                None => return Some(1),
                Some(letter) => (letter.to_ascii_lowercase(), &unit[letter.len_utf8()..]),
            };
            if letter == 'b' && rest.is_empty() {
                return Some(1);
            }
            let power = "kmgtpe".find(letter)? as u32 + 1;
            match rest {
                "" | "i" | "iB" | "ib" => 1024u64.checked_pow(power),
                "B" | "b" => 1000u64.checked_pow(power),
                _ => None,
            }
        };
        let form = Form {
            expected: "a size such as `4KiB`, `1.5GiB` or `500MB`",
            most: "a byte less than `16EiB`",
        };
        parse_scaled(text, &form, scale).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes: u64, printed: &str) {
        let parsed: Bytes = text.parse().unwrap();
        assert_eq!(parsed, Bytes::new(bytes), "{text}");
        assert_eq!(parsed.to_string(), printed, "{text}");
    }

    #[test]
    fn sizes_are_read_and_printed() {
        check("0", 0, "0 B");
        check("512", 512, "512 B");
        check("1,048,576", 1 << 20, "1 MiB");
        check("1_048_576", 1 << 20, "1 MiB");
        check("4k", 4096, "4 KiB");
        check("4KiB", 4096, "4 KiB");
        check("4kB", 4000, "3.91 KiB");
        check("500 MB", 500_000_000, "477 MiB");
        check("1.5g", 1_610_612_736, "1.5 GiB");
        check("17TiB", 17 << 40, "17 TiB");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "k",
            "4x",
            "1.2.3k",
            "4KiBs",
            "99999999999t",
            "-1k",
            "1,5g",
            "1000,000",
            ",500",
            "1.5,000k",
            "340282366920938463463374607431768211455.999k",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        let told = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        let most = "`17EiB` is too large: the most is a byte less than `16EiB`";
        assert_eq!(told("17EiB"), most);
        assert!(told("-1k").starts_with("`-1k` is below 0; expected a size"));
    }
}
