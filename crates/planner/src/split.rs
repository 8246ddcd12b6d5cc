//! Large I/Os, which storage takes in pieces: the rates that a latency goal asks for by itself.
//!
//! A stripe takes an I/O in a piece for each stripe unit that it touches, a volume over NFS in a call for each `rsize`, and
//! machines begin theirs together. A limit lets the first go at once, and each of the others after as long as the one before
//! takes at its rate (docs/model.md, "Rates"). So an I/O of 4 MiB that is to be over after 10 ms asks for 420 MB/s, however
//! rarely it comes.

use fathom_units::{BytesPerSec, Iops, Nanos};

use crate::need::{Load, VolumeNeed};

/// Time that an I/O, all of its pieces, may take at the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByGoals {
    within: Nanos,
}

/// What the tightest goal of a volume asks of its limits with so many percent of headroom; `None` where it has no goal.
pub(crate) fn goals_ask(volume: &VolumeNeed, percent: u64) -> Option<ByGoals> {
    let goal = volume.goal.iter().map(|(_, goal)| *goal).min()?;
    let within = u128::from(goal.get()) * 100 / u128::from(100 + percent);
    Some(ByGoals {
        within: Nanos::new(u64::try_from(within).unwrap_or(u64::MAX).max(1)),
    })
}

impl ByGoals {
    /// Raises a load of all machines together to what lets one I/O of each through in time.
    pub(crate) fn raise(self, load: &mut Load, machines: u32) {
        let each_second = 1_000_000_000_u64.div_ceil(self.within.get());
        let ios = each_second.saturating_mul(u64::from(machines));
        let bytes = ios.saturating_mul(load.size.get());
        load.iops = load.iops.max(Iops::new(ios));
        load.bandwidth = load.bandwidth.max(BytesPerSec::new(bytes));
    }
}

#[cfg(test)]
mod tests {
    use fathom_profile::{Level, PeriodKind, Role};
    use fathom_units::{Bytes, Percent};

    use super::*;

    fn load(iops: u64, size: Bytes) -> Load {
        Load {
            period: PeriodKind::Peak,
            iops: Iops::new(iops),
            bandwidth: BytesPerSec::new(iops * size.get()),
            size,
            reads: None,
            random: Percent::ALL,
        }
    }

    fn volume(goal: &[(Level, u64)]) -> VolumeNeed {
        let goal = goal.iter().map(|(at, ms)| (*at, Nanos::from_millis(*ms)));
        VolumeNeed {
            name: "d".to_owned(),
            slug: "d".to_owned(),
            role: Role::Data,
            capacity: Bytes::ZERO,
            goal: goal.collect(),
            loads: Vec::new(),
            by_goals: None,
            left_out: Vec::new(),
        }
    }

    #[test]
    fn the_tightest_goal_asks_for_the_rate_of_one_io_of_each_machine() {
        #[track_caller]
        fn check(percent: u64, machines: u32, iops: u64, expected: u64) {
            let volume = volume(&[(Level::P50, 10), (Level::P99, 25)]);
            let mut load = load(iops, Bytes::mib(4));
            let asked = goals_ask(&volume, percent).unwrap();
            asked.raise(&mut load, machines);
            assert_eq!(load.iops.get(), expected);
            assert_eq!(load.bandwidth.get(), expected << 22);
        }
        check(0, 1, 2, 100);
        check(100, 1, 2, 200);
        check(0, 3, 2, 300);
        // What is needed anyway stays.
        check(0, 1, 400, 400);
        assert_eq!(goals_ask(&volume(&[]), 0), None);
    }
}
