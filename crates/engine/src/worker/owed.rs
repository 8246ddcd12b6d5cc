//! What an open loop still owes when its time is over.
//!
//! I/Os that were due by then and had not begun are issued as far as [`is_owed`] says, and waited for like what is in
//! flight.

use fathom_rawio::Queue;
use fathom_record::EndReason;
use fathom_units::Nanos;
use fathom_workload::generator::is_owed;

use super::source::Source;
use super::{State, Worker};

impl<Q: Queue, S: Source> Worker<'_, Q, S> {
    /// Ends the worker, unless something is still owed: then it ends when that has begun.
    #[cold]
    pub(super) fn time_is_over(&mut self) {
        let end = self.boundaries.run_end;
        let start = self.measure_start;
        let owes = self
            .oldest_due()
            .is_some_and(|due| is_owed(due, start, end));
        if self.is_issuing() && owes {
            self.state = State::Owing;
        } else {
            self.end_with(EndReason::Time);
        }
    }

    /// When the next I/O of an open loop is, or was, due; `None` of any other job, and where that is not known.
    ///
    /// What is checked meanwhile has a course of its own, which its time cuts off.
    fn oldest_due(&self) -> Option<Nanos> {
        let features = &self.parts.job.features;
        if features.verify.is_some() {
            return None;
        }
        if features.rates.is_some() {
            let pending = self.pending.as_ref().map(|next| next.due);
            return pending.or_else(|| self.parts.source.oldest_due());
        }
        let schedule = self.parts.schedule.as_ref()?;
        let from_base = || Some(self.base?.saturating_add(Nanos::new(schedule.peek())));
        let pending = self.pending.as_ref().map(|next| next.due);
        pending.or_else(from_base)
    }

    /// The moment whose I/Os are to begin: now, or the last that still counts.
    #[inline]
    pub(super) fn schedule_now(&self) -> Nanos {
        if self.state == State::Owing {
            return self.boundaries.run_end.saturating_sub(Nanos::new(1));
        }
        self.now
    }
}
