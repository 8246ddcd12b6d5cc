//! The time whose pages a row was read from.

use std::fmt;

/// Name of an era: `2016`, `2020`, `2016-article` (a variant printed beside the size page), or `current`.
///
/// Two eras of one year are different eras; [`Era::year`] orders them in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Era(&'static str);

impl Era {
    /// The newest pages known; later than every year.
    pub const CURRENT: Self = Self("current");

    /// An era by its name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The year at the start of its name; `u32::MAX` for `current` and for names without a year.
    pub fn year(self) -> u32 {
        let digits = self.0.get(..4).unwrap_or_default();
        digits.parse().unwrap_or(u32::MAX)
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eras_have_years() {
        assert_eq!(Era::new("2016-article").year(), 2016);
        assert_eq!(Era::new("2020").year(), 2020);
        assert!(Era::CURRENT.year() > Era::new("2026").year());
    }
}
