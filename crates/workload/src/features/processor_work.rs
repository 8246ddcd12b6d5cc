//! Work that keeps processors busy beside the I/O of other jobs.

use fathom_units::{Nanos, Percent};

/// What a job does in place of I/O: bursts of work with rests between them, so that each of its workers takes a share of one
/// processor. It moves no data and knows no target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorWork {
    /// Share of a processor's time, above 0.
    pub share: Percent,
    /// How long a burst spins; above 0. A sort takes as long as it takes.
    pub burst: Nanos,
    /// What a burst does.
    pub kind: WorkKind,
    /// It ends once the I/O of all other jobs of its stage is over. Where there are none it ends at once behind stages with I/O,
    /// unless more is to come; elsewhere this asks for nothing.
    pub ends_with_io: bool,
}

/// What a burst of work does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkKind {
    /// Rounds of a loop that does nothing.
    #[default]
    Spin,
    /// Sorts a MiB of numbers in different orders, through the processor's caches.
    Sort,
}

impl ProcessorWork {
    /// The longest burst: some minutes.
    pub const BURST_MAX: Nanos = Nanos::from_micros(u32::MAX as u64);

    /// How long it rests after a burst that took `worked`.
    pub fn rest_after(&self, worked: Nanos) -> Nanos {
        let share = u128::from(self.share.basis_points().max(1));
        let rest = u128::from(self.share.rest().basis_points());
        let rest = u128::from(worked.get()) * rest / share;
        Nanos::new(u64::try_from(rest).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_rest_come_to_its_share() {
        #[track_caller]
        fn check(basis_points: u32, worked: u64, expected: u64) {
            let work = ProcessorWork {
                share: Percent::from_basis_points(basis_points).unwrap(),
                burst: Nanos::from_millis(50),
                kind: WorkKind::Spin,
                ends_with_io: false,
            };
            assert_eq!(work.rest_after(Nanos::new(worked)), Nanos::new(expected));
        }
        check(5_000, 50_000_000, 50_000_000);
        check(2_000, 10_000_000, 40_000_000);
        check(10_000, 50_000_000, 0);
        check(100, 50_000_000, 4_950_000_000);
        check(1, u64::MAX, u64::MAX);
    }
}
