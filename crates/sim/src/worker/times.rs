//! When a worker in virtual time begins, measures and ends.

use fathom_record::EndReason;
use fathom_units::Nanos;

/// Times of a worker, on the clock of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Start of the stage.
    pub stage: Nanos,
    /// First I/O.
    pub first: Nanos,
    /// Start of measurement.
    pub measure: Nanos,
    /// Nothing is issued from here on.
    pub deadline: Option<Nanos>,
}

impl Times {
    /// Until when a worker has measured that ended for `reason`: where time ended it, to the end of its time at least,
    /// however long nothing had come by then.
    pub fn measured_until(&self, reason: EndReason, last_completion: Nanos) -> Nanos {
        let end = last_completion.max(self.measure);
        match (reason, self.deadline) {
            (EndReason::Time, Some(deadline)) => end.max(deadline),
            _ => end,
        }
    }
}
