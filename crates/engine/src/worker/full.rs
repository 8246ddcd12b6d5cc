//! The source of a job with features.
//!
//! Each feature has its own file beside this one and its own field here; what they do to an I/O happens in the order in
//! which [`Full`] calls them. Pauses come first, since they decide whether anything is issued at all.

use fathom_rawio::Completion;
use fathom_units::Nanos;
use fathom_workload::Job;
use fathom_workload::generator::{Io, WorkerStream};

use super::Slot;
use super::source::{Leftover, Next, Source, Sourced, Verdict};
use super::think::Pauses;
use super::verify::Verification;

/// Everything a job does beyond plain I/O.
pub(crate) struct Full<'a> {
    stream: Box<dyn IoSource + 'a>,
    pauses: Option<Pauses>,
}

/// What the I/O itself comes from: the job's stream, or something that replaces or surrounds it.
pub(crate) trait IoSource {
    /// The next I/O, with `in_flight` outstanding.
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next;

    /// As [`Source::holds_syncs`].
    fn holds_syncs(&self) -> bool {
        false
    }

    /// As [`Source::before_write`].
    fn before_write(&mut self, tag: u64, buffer: &mut [u8]) {
        let _ = (tag, buffer);
    }

    /// A read, write or discard has ended; `buffer` holds what was read.
    fn completed(&mut self, tag: u64, result: Result<u32, i32>, buffer: &mut [u8]) {
        let _ = (tag, result, buffer);
    }

    /// As [`Source::sync_begins`].
    fn sync_begins(&mut self) -> u64 {
        0
    }

    /// The sync of this tag has succeeded.
    fn sync_ended(&mut self, tag: u64) {
        let _ = tag;
    }

    /// As [`Source::take_verdict`].
    fn take_verdict(&mut self) -> Option<Verdict> {
        None
    }

    /// As [`Source::leave`].
    fn leave(&mut self) -> Leftover {
        Leftover::default()
    }
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
        job.features.think.is_some() || job.features.verify.is_some()
    }

    /// All features of `job`, with `stream` as what its I/O is drawn from, unless `verification` draws it.
    pub(crate) fn new(
        job: &'a Job,
        stream: WorkerStream,
        verification: Option<Verification<'a>>,
    ) -> Self {
        Self {
            stream: match verification {
                Some(verification) => Box::new(verification),
                None => Box::new(stream),
            },
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

    fn before_write(&mut self, _io: &Io, tag: u64, buffer: &mut [u8]) {
        self.stream.before_write(tag, buffer);
    }

    fn trimmed(&mut self, tag: u64, result: Result<u32, i32>) {
        self.stream.completed(tag, result, &mut []);
    }

    fn sync_begins(&mut self) -> u64 {
        self.stream.sync_begins()
    }

    fn holds_syncs(&self) -> bool {
        self.stream.holds_syncs()
    }

    fn take_verdict(&mut self) -> Option<Verdict> {
        self.stream.take_verdict()
    }

    fn leave(&mut self) -> Leftover {
        self.stream.leave()
    }

    fn completed(
        &mut self,
        slot: &Slot,
        completion: &Completion,
        buffer: &mut [u8],
        _now: Nanos,
    ) -> Result<(), i32> {
        if !slot.is_sync() {
            self.stream.completed(slot.tag, completion.result, buffer);
        } else if completion.result.is_ok() {
            self.stream.sync_ended(slot.tag);
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.completed();
        }
        Ok(())
    }
}
