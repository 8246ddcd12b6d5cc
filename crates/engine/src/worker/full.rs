//! The source of a job with features.
//!
//! Each feature has its own file beside this one and its own field here; what they do to an I/O happens in the order in
//! which [`Full`] calls them. Pauses come first, since they decide whether anything is issued at all.

use fathom_rawio::Completion;
use fathom_units::Nanos;
use fathom_workload::Job;
use fathom_workload::generator::{Io, WorkerStream};

use super::Slot;
use super::source::{Next, Source, Sourced};
use super::think::Pauses;

/// Everything a job does beyond plain I/O.
pub(crate) struct Full<'a> {
    stream: Box<dyn IoSource + 'a>,
    pauses: Option<Pauses>,
}

/// What the I/O itself comes from: the job's stream, or something that replaces or surrounds it.
pub(crate) trait IoSource {
    /// The next I/O, with `in_flight` outstanding.
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next;
}

impl IoSource for WorkerStream {
    fn next(&mut self, _now: Nanos, _in_flight: u32) -> Next {
        self.next_io().map_or(Next::End, |io| {
            Next::Io(Sourced {
                io,
                at: None,
                tag: 0,
            })
        })
    }
}

impl<'a> Full<'a> {
    /// Whether a job needs it.
    pub(crate) fn is_needed(job: &Job) -> bool {
        job.features.think.is_some()
    }

    /// All features of `job`, with `stream` as what its I/O is drawn from.
    pub(crate) fn new(job: &'a Job, stream: WorkerStream) -> Self {
        Self {
            stream: Box::new(stream),
            pauses: job.features.think.map(Pauses::new),
        }
    }
}

impl Source for Full<'_> {
    const HOOKS: bool = true;

    fn next_io(&mut self) -> Option<Io> {
        None
    }

    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        if let Some(wait) = self
            .pauses
            .as_mut()
            .and_then(|pauses| pauses.wait(now, in_flight))
        {
            return wait;
        }
        let next = self.stream.next(now, in_flight);
        if let (Some(pauses), Next::Io(_)) = (&mut self.pauses, next) {
            pauses.issued(now);
        }
        next
    }

    fn completed(
        &mut self,
        _slot: &Slot,
        _completion: &Completion,
        _buffer: &mut [u8],
        _now: Nanos,
    ) -> Result<(), i32> {
        if let Some(pauses) = &mut self.pauses {
            pauses.completed();
        }
        Ok(())
    }
}
