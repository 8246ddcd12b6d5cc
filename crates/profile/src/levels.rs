//! One figure at three percentiles.

use std::fmt;

/// A percentile of the checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    P99,
}

impl Level {
    /// Every percentile of the checklist, in order.
    pub const ALL: [Self; 3] = [Self::P50, Self::P90, Self::P99];

    /// Its key in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A figure at each percentile; `None` where it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels<T> {
    /// The median over time.
    pub p50: Option<T>,
    /// The 90th percentile.
    pub p90: Option<T>,
    /// The 99th percentile.
    pub p99: Option<T>,
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self {
            p50: None,
            p90: None,
            p99: None,
        }
    }
}

impl<T: Copy + PartialOrd> Levels<T> {
    /// Two neighbouring percentiles of which the higher has the lower figure, if there are such.
    pub fn falls(&self) -> Option<(Level, Level)> {
        let known = Level::ALL.map(|level| (level, self.at(level)));
        let mut known = known
            .iter()
            .filter_map(|(level, figure)| Some((*level, (*figure)?)));
        let mut before = known.next()?;
        known.find_map(|here| {
            let falls = here.1 < before.1;
            let lower = std::mem::replace(&mut before, here).0;
            falls.then_some((lower, here.0))
        })
    }
}

impl<T: Copy + PartialEq> Levels<T> {
    /// The same figure at each percentile.
    pub fn all(figure: T) -> Self {
        Self {
            p50: Some(figure),
            p90: Some(figure),
            p99: Some(figure),
        }
    }

    /// The figure at `level`.
    pub fn at(&self, level: Level) -> Option<T> {
        match level {
            Level::P50 => self.p50,
            Level::P90 => self.p90,
            Level::P99 => self.p99,
        }
    }

    /// Sets the figure at `level`.
    pub fn set(&mut self, level: Level, figure: Option<T>) {
        match level {
            Level::P50 => self.p50 = figure,
            Level::P90 => self.p90 = figure,
            Level::P99 => self.p99 = figure,
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        Level::ALL.iter().all(|level| self.at(*level).is_none())
    }

    /// The one figure that holds at every percentile, if there is one.
    pub fn same(&self) -> Option<T> {
        self.p50
            .filter(|_| self.p50 == self.p90 && self.p90 == self.p99)
    }
}
