//! Whether a run survives another failed I/O, and which of them are told as they happen.
//!
//! A worker that had none takes no lock here: the list is written to once for each failed I/O that is told, and never again
//! when as many were told as are asked for.
//!
//! Invariant: all workers of a run ask the same tolerance, so that a limit is one of the run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fathom_record::IoFailure;

use crate::{ErrorPolicy, RunOptions};

/// What failed I/Os do to a run, and how many there were.
#[derive(Debug)]
pub(crate) struct Tolerance {
    policy: ErrorPolicy,
    /// Those that are not ignored; they are counted against a limit, where there is one.
    failed: AtomicU64,
    /// All that a record counts: those that are ignored, and reads of wrong data, too.
    counted: AtomicU64,
    /// How many of those the control thread has told of.
    told: AtomicU64,
    /// Those that may yet be told.
    to_tell: AtomicU64,
    /// Those that the control thread has yet to tell.
    untold: Mutex<Vec<IoFailure>>,
}

impl Tolerance {
    pub(crate) fn new(options: &RunOptions) -> Self {
        Self {
            policy: options.on_error,
            failed: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            told: AtomicU64::new(0),
            to_tell: AtomicU64::new(options.tell_failures),
            untold: Mutex::new(Vec::new()),
        }
    }

    /// Keeps a failed I/O to be told, where one more is.
    pub(crate) fn tell(&self, failure: impl FnOnce() -> IoFailure) {
        let one_less = |left: u64| left.checked_sub(1);
        let relaxed = Ordering::Relaxed;
        if self
            .to_tell
            .fetch_update(relaxed, relaxed, one_less)
            .is_ok()
        {
            let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
            untold.push(failure());
        }
    }

    /// Those that failed since this was last asked.
    pub(crate) fn take_untold(&self) -> Vec<IoFailure> {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut untold)
    }

    /// Counts a failure for what is told while the run goes; whoever puts one into a worker's errors calls this.
    pub(crate) fn count(&self) {
        self.counted.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a failed I/O that is not ignored, and says whether its worker goes on.
    pub(crate) fn survives_another(&self) -> bool {
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        match self.policy {
            ErrorPolicy::Stop | ErrorPolicy::EndWorker => false,
            ErrorPolicy::Continue => true,
            ErrorPolicy::StopAt(limit) => failed < limit.get(),
        }
    }

    /// How many were counted so far, where those are more than when this was last asked.
    pub(crate) fn take_more_failed(&self) -> Option<u64> {
        let counted = self.counted.load(Ordering::Relaxed);
        (self.told.swap(counted, Ordering::Relaxed) < counted).then_some(counted)
    }

    /// All that were counted so far.
    pub(crate) fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    /// Counts no more than `before` any longer, and says how many are forgotten so: those of a stage of which the record tells
    /// nothing.
    pub(crate) fn forget_beyond(&self, before: u64) -> u64 {
        let counted = self.counted.swap(before, Ordering::Relaxed);
        self.told.store(before, Ordering::Relaxed);
        counted.saturating_sub(before)
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
        let options = RunOptions {
            on_error: policy,
            ..RunOptions::default()
        };
        let tolerance = Tolerance::new(&options);
        assert_eq!([(); 4].map(|()| tolerance.survives_another()), survived);
    }

    #[test]
    fn all_that_are_counted_are_told_whether_they_are_ignored_or_not() {
        let tolerance = Tolerance::new(&RunOptions::default());
        assert_eq!(tolerance.take_more_failed(), None);
        for _ in 0..3 {
            tolerance.count();
        }
        tolerance.survives_another();
        assert_eq!(tolerance.take_more_failed(), Some(3));
        assert_eq!(tolerance.take_more_failed(), None);
        // A stage of which nothing is told.
        let before = tolerance.counted();
        tolerance.count();
        assert_eq!(tolerance.take_more_failed(), Some(4));
        assert_eq!(
            (tolerance.forget_beyond(before), tolerance.counted()),
            (1, 3)
        );
        assert_eq!(tolerance.take_more_failed(), None);
        tolerance.count();
        assert_eq!(tolerance.take_more_failed(), Some(4));
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

    #[test]
    fn as_many_are_told_as_are_asked_for() {
        let failure = |offset| IoFailure {
            at_unix_ns: 0,
            job: 0,
            operation: "read",
            path: "/f".to_owned(),
            offset: Some(offset),
            length: 4096,
            errno: 5,
            wrong: Vec::new(),
        };
        for (asked, told) in [(0, vec![]), (2, vec![0, 1]), (9, vec![0, 1, 2])] {
            let options = RunOptions {
                tell_failures: asked,
                ..RunOptions::default()
            };
            let tolerance = Tolerance::new(&options);
            for offset in 0..3 {
                tolerance.tell(|| failure(offset));
            }
            let offsets: Vec<u64> = (tolerance.take_untold().iter())
                .filter_map(|failure| failure.offset)
                .collect();
            assert_eq!(offsets, told, "{asked} asked for");
            assert!(tolerance.take_untold().is_empty());
        }
    }
}
