//! What carries nothing, and by which rule.

use std::collections::BTreeMap;

use crate::goal::Slow;
use crate::line::Line;

/// A rule that left a machine size out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// No storage that it takes carries one of the volumes.
    NoStorage,
    /// The latency of all storage that it takes and that carries a volume is above a goal.
    TooSlow,
    /// Its own limits are too low.
    Machine,
    /// Its processors run at full speed on credits alone.
    BurstableProcessors,
    /// Its pages print no limits of traffic to disks, or over the network.
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
            Self::NoStorage => "no storage carries the volume, however much of it they take",
            Self::TooSlow => {
                "of all storage that they take and that carries the volume, the latency alone is above a goal"
            }
            Self::Machine => "their own limits are too low",
            Self::BurstableProcessors => {
                "their processors are at full speed on credits alone, and no --series names them"
            }
            Self::NoLimitsPrinted => {
                "their pages print no limits of such traffic, and no --series names them"
            }
            Self::NoPrice => "the price list has no price of them",
            Self::TooDear => "what carries the need costs more than --max-price",
        }
    }
}

/// Machine sizes left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuledOut {
    /// By rule: how many, and one of them.
    pub rules: BTreeMap<Rule, (usize, String)>,
    /// Of all limits that are too low, the one that misses least.
    pub closest: Option<Line>,
    /// Of all storage whose latency alone is above a goal, what misses it least, and the volume's name.
    pub slow: Option<(String, Slow)>,
    /// Of all that carries the need and is too dear, the price a month in millionths and the name of the cheapest.
    pub dear: Option<(u64, String)>,
}

impl RuledOut {
    /// Counts one more.
    pub fn add(&mut self, rule: Rule, example: String, missed: Option<Line>) {
        let (count, _) = self.rules.entry(rule).or_insert((0, example));
        *count += 1;
        let Some(missed) = missed else {
            return;
        };
        let is_closer = |known: &Line| missed.missing() < known.missing();
        if self.closest.as_ref().is_none_or(is_closer) {
            self.closest = Some(missed);
        }
    }

    /// Notes storage that is too slow by itself.
    pub fn add_slow(&mut self, slow: Option<(String, Slow)>) {
        let is_closer = |(_, slow): &(String, Slow)| {
            self.slow
                .as_ref()
                .is_none_or(|(_, it)| slow.misses() < it.misses())
        };
        if let Some(slow) = slow.filter(is_closer) {
            self.slow = Some(slow);
        }
    }

    /// Notes what carries the need and is too dear.
    pub fn add_dear(&mut self, dear: Option<(u64, String)>) {
        let is_cheaper = |dear: &(u64, String)| self.dear.as_ref().is_none_or(|it| dear.0 < it.0);
        if let Some(dear) = dear.filter(is_cheaper) {
            self.dear = Some(dear);
        }
    }
}
