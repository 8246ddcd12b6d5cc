//! Whether a run survives another failed I/O.
//!
//! Invariant: all workers of a run ask the same tolerance, so that a limit is one of the run.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ErrorPolicy;

/// What failed I/Os do to a run, and how many there were.
#[derive(Debug)]
pub(crate) struct Tolerance {
    policy: ErrorPolicy,
    /// Those counted against a limit, where there is one.
    failed: AtomicU64,
}

impl Tolerance {
    pub(crate) fn new(policy: ErrorPolicy) -> Self {
        Self {
            policy,
            failed: AtomicU64::new(0),
        }
    }

    /// Counts a failed I/O, and says whether its worker goes on.
    pub(crate) fn survives_another(&self) -> bool {
        match self.policy {
            ErrorPolicy::Stop | ErrorPolicy::EndWorker => false,
            ErrorPolicy::Continue => true,
            ErrorPolicy::StopAt(limit) => {
                self.failed.fetch_add(1, Ordering::Relaxed) + 1 < limit.get()
            }
        }
    }

    /// Whether a worker whose I/O failed ends by itself, and not the run with it.
    pub(crate) fn workers_fail_alone(&self) -> bool {
        self.policy == ErrorPolicy::EndWorker
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    #[track_caller]
    fn check(policy: ErrorPolicy, survived: [bool; 4]) {
        let tolerance = Tolerance::new(policy);
        assert_eq!([(); 4].map(|()| tolerance.survives_another()), survived);
    }

    #[test]
    fn a_limit_is_reached_by_the_failures_of_all() {
        let at = |limit| ErrorPolicy::StopAt(NonZeroU64::new(limit).unwrap());
        check(ErrorPolicy::Stop, [false; 4]);
        check(ErrorPolicy::EndWorker, [false; 4]);
        check(ErrorPolicy::Continue, [true; 4]);
        check(at(1), [false; 4]);
        check(at(3), [true, true, false, false]);
        check(at(50), [true; 4]);
    }
}
