//! Where a worker's I/O comes from, and what may hook into its way.
//!
//! A job without features takes its I/O from a [`WorkerStream`] and nothing hooks in: [`Source::HOOKS`] is `false`, and
//! the compiler leaves every hook out of the *plain* worker. All else goes through [`super::full::Full`], the *full*
//! worker's source, where each feature (pauses, replay, checks of what was written, logs) has its place.

use fathom_rawio::{Completion, Operation};
use fathom_record::CheckTimes;
use fathom_units::Nanos;
use fathom_workload::IoPriority;
use fathom_workload::generator::{Alike, Io, WorkerStream};

use super::Slot;
use crate::EngineError;

/// What a source has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An I/O that may start now, or at its own time where it has one.
    Io(Sourced),
    /// A sync of this target, which starts at once.
    Sync(Operation, u32),
    /// Nothing before this moment; the source is asked again then, or after any completion.
    NotBefore(Nanos),
    /// Nothing before something in flight completes.
    AfterCompletion,
    /// Nothing in flight: all files are to be made durable and dropped from the page cache before the next is asked for.
    Settle,
    /// Nothing any more.
    End,
}

/// What a source found out about data that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not what was written.
    WrongData,
    /// It is not what was written, and the job ends with it.
    EndOfJob,
}

/// What a source has to say when its worker ends.
#[derive(Debug, Default)]
pub(crate) struct Leftover {
    /// Lines for whoever watches.
    pub(crate) lines: Vec<String>,
    /// I/Os and bytes of each direction that were counted but not issued.
    pub(crate) unissued: [(u64, u64); 3],
    /// When the last I/O of a trace with times was to start, on the clock's scale.
    pub(crate) intended_end: Option<Nanos>,
    /// How the worker's time was shared, where it checked what it wrote.
    pub(crate) checks: Option<CheckTimes>,
    /// What it did not do of what was asked: a trace of its I/O that is not whole, one that was not replayed to its end, or
    /// writes that were not checked.
    pub(crate) problem: Option<EngineError>,
}

impl Next {
    /// An I/O that may start as the job's schedule has it, or the end.
    pub(crate) fn of(io: Option<Io>) -> Self {
        io.map_or(Self::End, |io| Self::Io(Sourced::of(io)))
    }
}

/// An I/O with what its source wants to know when it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sourced {
    pub(crate) io: Io,
    /// Its own intended start, on the clock's scale; `None`: as the job's schedule has it, or now.
    pub(crate) at: Option<Nanos>,
    /// Given back to [`Source::completed`].
    pub(crate) tag: u64,
    /// Whether a write is to be durable when it completes, by itself.
    pub(crate) durable: bool,
}

impl Sourced {
    /// An I/O of no time of its own.
    pub(crate) fn of(io: Io) -> Self {
        Self {
            io,
            at: None,
            tag: 0,
            durable: false,
        }
    }
}

/// What a worker takes its I/O from. All hooks run on the worker's thread.
pub(crate) trait Source {
    /// Whether any method but those of I/O in the simplest case is ever called.
    const HOOKS: bool;

    /// What its I/O is drawn from, where that is a stream which may tell of targets that begin anew.
    fn stream(&mut self) -> Option<&mut WorkerStream> {
        None
    }

    /// The next I/O in the simplest case; `None` at the end.
    fn next_io(&mut self) -> Option<Io>;

    /// The next I/Os in the simplest case, up to `most`, where they differ in their place alone; `None` says nothing.
    fn next_alike(&mut self, most: usize) -> Option<Alike<'_>> {
        let _ = most;
        None
    }

    /// The next I/O, with `in_flight` outstanding.
    fn next(&mut self, now: Nanos, in_flight: u32) -> Next {
        let _ = (now, in_flight);
        Next::of(self.next_io())
    }

    /// An I/O that follows from one that has completed, before anything else is drawn or waited for: it starts at once, whatever
    /// the job's rate and pauses.
    fn follow_up(&mut self, now: Nanos) -> Option<Sourced> {
        let _ = now;
        None
    }

    /// What is wrong with the data of the I/O that [`Self::completed`] failed last, a line each.
    fn take_wrong(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// A write is about to be submitted with these bytes, which may be changed.
    fn before_write(&mut self, io: &Io, tag: u64, buffer: &mut [u8]) {
        let _ = (io, tag, buffer);
    }

    /// The priority of an I/O that goes into `slot`.
    fn priority(&mut self, io: &Io, slot: u32) -> IoPriority {
        let _ = (io, slot);
        IoPriority::default()
    }

    /// A batch was submitted: its slots have their stamps.
    fn submitted(&mut self, slots: &[Slot], batch: &[u32]) {
        let _ = (slots, batch);
    }

    /// An I/O completed at `now`; `buffer` holds what was read. An error number fails the I/O, which otherwise succeeded.
    fn completed(
        &mut self,
        slot: &Slot,
        completion: &Completion,
        buffer: &mut [u8],
        now: Nanos,
    ) -> Result<(), i32> {
        let _ = (slot, completion, buffer, now);
        Ok(())
    }

    /// A sync is about to be submitted; what is returned is the tag of its slot.
    fn sync_begins(&mut self) -> u64 {
        0
    }

    /// Whether the I/O that was given last stands before any sync that is due.
    fn holds_syncs(&self) -> bool {
        false
    }

    /// Whether the order of I/O is over, or a pass of it, with bytes left that no I/O fits into: fio then looks for one more
    /// before it ends, and has a sync that is due go first.
    fn looks_for_more(&mut self) -> bool {
        (self.stream()).is_some_and(|stream| stream.fell_short())
    }

    /// What was found out about the data of the last completion, once.
    fn take_verdict(&mut self) -> Option<Verdict> {
        None
    }

    /// The last words, after [`Self::finished`].
    fn leave(&mut self) -> Leftover {
        Leftover::default()
    }

    /// Whether the job has moved what its warm-up asks for; never where time ends it.
    fn is_warm(&self) -> bool {
        false
    }

    /// Whether the measurement begins anew, once: what was measured by now was a search for what is to be measured.
    fn begins_anew(&mut self) -> bool {
        false
    }

    /// The measurement begins.
    fn measuring(&mut self, now: Nanos) {
        let _ = now;
    }

    /// The length of a pause that is over since this was last asked, and in which the job's rate stood still.
    fn take_stood(&mut self) -> Nanos {
        Nanos::ZERO
    }

    /// How long it took to write ranges of files back, where that was done since this was last asked.
    fn take_written_back(&mut self) -> Option<Nanos> {
        None
    }

    /// When the pause that followed the last I/O was over, if one did.
    fn rested_until(&self) -> Option<Nanos> {
        None
    }

    /// Grows whenever what is done begins to be, or is, something else than the job's own I/O: rates are not judged across.
    fn stretch(&self) -> u64 {
        0
    }

    /// When the I/O that it holds back longest is, or was, due, where it keeps a schedule of its own.
    fn oldest_due(&self) -> Option<Nanos> {
        None
    }

    /// The depth that a search has found.
    fn found_depth(&self) -> Option<u32> {
        None
    }

    /// All files are about to be synced, since the job has done what it was to do.
    fn syncing_all(&mut self, now: Nanos) {
        let _ = now;
    }

    /// The worker has come to its end: nothing is in flight.
    fn finished(&mut self, now: Nanos) {
        let _ = now;
    }
}

impl Source for WorkerStream {
    const HOOKS: bool = false;

    #[inline]
    fn stream(&mut self) -> Option<&mut WorkerStream> {
        Some(self)
    }

    #[inline]
    fn next_io(&mut self) -> Option<Io> {
        Self::next_io(self)
    }

    #[inline]
    fn next_alike(&mut self, most: usize) -> Option<Alike<'_>> {
        Self::next_alike(self, most)
    }
}
