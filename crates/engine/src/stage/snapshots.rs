//! When a stage's results so far are told while it runs, where somebody asked for that every so often.

use fathom_units::Nanos;

use crate::timing::INTERVAL;

/// When the next snapshot is due.
pub(super) struct Snapshots {
    every: Option<Nanos>,
    next: Nanos,
}

impl Snapshots {
    pub(super) fn new(every: Option<Nanos>, origin: Nanos) -> Self {
        // Whole intervals: between them nothing new is known.
        let whole = |every: Nanos| INTERVAL * every.get().div_ceil(INTERVAL.get()).max(1);
        let every = every.map(whole);
        Self {
            every,
            next: every.map_or(Nanos::MAX, |every| origin + every),
        }
    }

    /// Whether one is due, with all intervals shown that end before `next_show`.
    pub(super) fn is_due(&mut self, next_show: Nanos) -> bool {
        let Some(every) = self.every else {
            return false;
        };
        if next_show <= self.next + INTERVAL {
            return false;
        }
        self.next += every;
        true
    }

    /// Whether one that was due by `now` was not told: of a stage that ends with its interval nothing more will be shown.
    pub(super) fn is_left(&mut self, now: Nanos) -> bool {
        let Some(every) = self.every.filter(|_| now >= self.next) else {
            return false;
        };
        self.next += every;
        true
    }
}
