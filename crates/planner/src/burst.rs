//! What credits add to a limit.
//!
//! A full bucket holds (burst limit − base) × seconds. Over a peak of some length it adds a constant rate: what it holds over
//! that length, at most up to the burst limit. Credits are spent in the period `peak` alone; the others save them.

use fathom_catalog::{BurstMode, Limits, VmSize};
use fathom_profile::PeriodKind;
use fathom_units::{BytesPerSec, Iops, Nanos};

use crate::candidate::{Choice, Disks};

/// A limit with its credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// What it gives at any time; `u64::MAX`: no page prints a limit.
    pub steady: u64,
    /// The burst limit; 0: none.
    pub burst: u64,
    /// Seconds that a full bucket lasts at the burst limit.
    pub seconds: u64,
}

/// Credits of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credits {
    /// Spent in each second of the peak.
    pub spent: u64,
    /// Saved in each second of the busiest other period, until the bucket is full; without another period, of idleness.
    pub saved: u64,
}

impl Credits {
    /// How long after a peak of so long the bucket is as full as before; `None`: never.
    pub fn refill(&self, peak: Nanos) -> Option<Nanos> {
        let spent = u128::from(self.spent) * u128::from(peak.get());
        let time = spent.div_ceil(u128::from(self.saved).max(1));
        (self.saved > 0).then(|| Nanos::new(u64::try_from(time).unwrap_or(u64::MAX)))
    }
}

impl Given {
    /// A limit without credits.
    pub const fn steady(steady: u64) -> Self {
        Self {
            steady,
            burst: 0,
            seconds: 0,
        }
    }

    /// Of so many alike together.
    pub const fn times(self, count: u64) -> Self {
        Self {
            steady: self.steady.saturating_mul(count),
            burst: self.burst.saturating_mul(count),
            seconds: self.seconds,
        }
    }

    /// What it gives in a period, where credits are to last for `peak`.
    pub fn in_period(&self, period: PeriodKind, peak: Option<Nanos>) -> u64 {
        match peak {
            Some(peak) if period == PeriodKind::Peak => self.over(peak),
            _ => self.steady,
        }
    }

    /// The credits that a peak of `asked` spends, if it spends any, and what the busiest other period leaves to save.
    pub fn credits(&self, asked: &[(u64, PeriodKind)]) -> Option<Credits> {
        let of = |is_peak: bool| {
            let alike = asked
                .iter()
                .filter(|it| (it.1 == PeriodKind::Peak) == is_peak);
            alike.map(|(need, _)| *need).max().unwrap_or(0)
        };
        let spent = of(true).saturating_sub(self.steady);
        (spent > 0).then(|| Credits {
            spent,
            saved: self.steady.saturating_sub(of(false)),
        })
    }

    /// What a full bucket makes of it for so long.
    fn over(&self, peak: Nanos) -> u64 {
        let above = u128::from(self.burst.saturating_sub(self.steady));
        let bucket = above * u128::from(self.seconds) * 1_000_000_000;
        let rate = (bucket / u128::from(peak.get().max(1))).min(above);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.steady.saturating_add(rate)
    }
}

/// I/Os and bytes a second of one disk. On demand, which is paid for, it has its burst limits at any time.
pub fn of_disk(disks: &Disks, vm: &VmSize) -> [Given; 2] {
    let base = [disks.kind.iops(vm), disks.kind.bandwidth()];
    let steady = base.map(Given::steady);
    let Choice::Named(named) = disks.kind else {
        return steady;
    };
    let Some(burst) = named.burst else {
        return steady;
    };
    match burst.mode {
        BurstMode::OnDemand if disks.on_demand => {
            let iops = burst.limits.iops.map_or(0, Iops::get);
            let bandwidth = burst.limits.bandwidth.map_or(0, BytesPerSec::get);
            [iops.max(base[0]), bandwidth.max(base[1])].map(Given::steady)
        }
        // A machine that limits each of its disks does so whatever the disk could.
        BurstMode::Credits if vm.data_disk_iops_each.is_none() => {
            let base = Limits {
                iops: Some(Iops::new(base[0])),
                bandwidth: Some(BytesPerSec::new(base[1])),
            };
            of_pair(&base, &burst.limits, burst.seconds.unwrap_or(0))
        }
        _ => steady,
    }
}

/// I/Os and bytes a second of a pair of limits and of its burst limits.
pub fn of_pair(base: &Limits, raised: &Limits, seconds: u32) -> [Given; 2] {
    let given = |steady: Option<u64>, burst: Option<u64>| Given {
        steady: steady.unwrap_or(u64::MAX),
        burst: burst.unwrap_or(0),
        seconds: u64::from(seconds),
    };
    [
        given(base.iops.map(Iops::get), raised.iops.map(Iops::get)),
        given(
            base.bandwidth.map(BytesPerSec::get),
            raised.bandwidth.map(BytesPerSec::get),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_lasts_its_seconds_at_the_highest_rate_and_longer_below_it() {
        #[track_caller]
        fn check(given: &Given, minutes: u64, expected: u64) {
            let peak = Some(Nanos::from_secs(minutes * 60));
            assert_eq!(given.in_period(PeriodKind::Peak, peak), expected);
            assert_eq!(given.in_period(PeriodKind::Normal, peak), given.steady);
        }
        // P4: 120 I/Os a second, 3,500 while credits last, 30 minutes from a full bucket.
        let p4 = Given {
            steady: 120,
            burst: 3500,
            seconds: 1800,
        };
        check(&p4, 1, 3500);
        check(&p4, 30, 3500);
        check(&p4, 60, 120 + 1690);
        check(&p4, 300, 120 + 338);
        check(&p4.times(4), 60, 4 * (120 + 1690));
        check(&Given::steady(500), 60, 500);
        assert_eq!(p4.in_period(PeriodKind::Peak, None), 120);
    }
}
