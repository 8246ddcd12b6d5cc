//! What carries nothing, and by which rule.

use std::collections::BTreeMap;

/// A rule that left a machine size out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// No disks that it takes carry one of the volumes.
    NoDisks,
    /// Its own limits are too low.
    Machine,
    /// Its pages print no limits of disk traffic.
    NoLimitsPrinted,
    /// It, or what it needs, is on no price list.
    NoPrice,
    /// What carries the need costs more than allowed.
    TooDear,
}

impl Rule {
    /// The rule in words, after "N machine sizes:".
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoDisks => "no disks that they take, as many as they take, carry the volume",
            Self::Machine => "their own limits are too low",
            Self::NoLimitsPrinted => "their pages print no limits of disk traffic",
            Self::NoPrice => "the price list has no price of them",
            Self::TooDear => "what carries the need costs more than --max-price",
        }
    }
}

/// Machine sizes left out, by rule: how many, and one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuledOut(pub BTreeMap<Rule, (usize, String)>);

impl RuledOut {
    /// Counts one more.
    pub fn add(&mut self, rule: Rule, example: String) {
        let (count, _) = self.0.entry(rule).or_insert((0, example));
        *count += 1;
    }
}
