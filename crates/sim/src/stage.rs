//! One stage in virtual time: what it is run with, what is under way, and what comes of it.
//!
//! Invariant: the clock only goes forward, and every wake-up of the model is delivered at its time.

mod events;
mod issue;
mod results;
mod start;

use fathom_model::{Completed, IoError, Storage};
use fathom_record::{Event, EventSink, StageResult};
use fathom_units::Nanos;
use fathom_workload::{Backend, FileOperation};

pub use self::results::storage_rows;
use crate::agenda::{Agenda, Due};
use crate::flows::Flows;
use crate::gauges::Gauges;
use crate::intervals::Intervals;
use crate::io_logs::IoLogs;
use crate::plan::{PlannedJob, PlannedTarget};
use crate::worker::Worker;

/// How many times storage goes on (each time by hundreds of events at most) between two looks at the stop signal.
const EVENTS_PER_LOOK: u32 = 1 << 10;

/// What a stage is run with.
pub(crate) struct Setup<'a> {
    pub jobs: &'a [PlannedJob<'a>],
    pub seed: u64,
    /// Index among all stages and repeats.
    pub index: usize,
    /// Which repeat of its stage, counted from 0.
    pub repeat: u32,
    /// When it starts on the run's clock.
    pub start: Nanos,
    /// I/Os that have failed in the stages before.
    pub failed_before: u64,
}

impl Setup<'_> {
    /// What the number of a worker's first I/O is moved by where storage's chances are drawn: nothing in the first repeat,
    /// and in every other so far from all the rest that none takes another's. Repeats do the same I/O, and what storage does
    /// to it by chance (media latency, failures of media) is new each time; otherwise they were copies, and their spread
    /// nothing.
    ///
    /// Multiples of 2^64 / golden ratio lie evenly (Knuth, The Art of Computer Programming, 6.4): as many as a stage has
    /// repeats at most are 2^50 apart.
    pub fn first_draw(&self) -> u64 {
        u64::from(self.repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// What came of a stage.
pub(crate) struct Finished {
    pub result: StageResult,
    /// When its last event happened, and its measurement ended.
    pub end: Nanos,
    pub interrupted: Interrupted,
}

/// Whether the user stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    No,
    Yes,
}

/// Where the I/O of one worker goes, and what it is.
struct Route<'a> {
    /// Index of its job within the stage.
    job: usize,
    targets: &'a [PlannedTarget],
    stream: u64,
    first_draw: u64,
    backend: Backend,
    /// Whether it is reads and writes of storage alone.
    plain: bool,
    /// What stands in place of reads and writes.
    operation: Option<FileOperation>,
    /// Writes are durable when they complete.
    fua: bool,
}

/// The tag of requests that nothing waits for.
const UNWATCHED: u64 = u64::MAX;

/// A stage under way.
pub(crate) struct Run<'a, 'r> {
    setup: &'r Setup<'a>,
    storage: &'r mut Storage,
    sink: &'r mut dyn EventSink,
    agenda: Agenda,
    completed: Vec<Completed>,
    workers: Vec<Worker>,
    routes: Vec<Route<'r>>,
    flows: Flows,
    logs: IoLogs,
    intervals: Intervals,
    gauges: Gauges,
    measure: Nanos,
    now: Nanos,
    /// Whether a consumer of events has ended it.
    is_cut: bool,
}

impl Run<'_, '_> {
    /// Runs to the end, or until `stop` says so.
    pub fn run(mut self, name: &str, stage: usize, stop: &dyn Fn() -> bool) -> Finished {
        self.storage.unwatched_until(self.measure);
        self.agenda.push(self.measure, Due::Measure);
        for (index, worker) in self.workers.iter().enumerate() {
            self.agenda
                .push(worker.times.first, Due::Worker(index as u32));
        }
        let mut interrupted = Interrupted::No;
        let mut events = 0;
        while self.happen() {
            if self.is_cut && !self.storage.has_requests() {
                // What was waited for comes no more.
                break;
            }
            events += 1;
            if events % EVENTS_PER_LOOK == 0 && stop() {
                interrupted = Interrupted::Yes;
                self.workers.iter_mut().for_each(Worker::interrupt);
                // What storage knows ahead has been counted.
                while self.now < self.storage.known_until() && self.happen() {}
                break;
            }
        }
        // A worker that time ended has measured beyond its last I/O: what comes next comes after that.
        let ends = self.workers.iter().map(Worker::end).max();
        self.now = self.now.max(ends.unwrap_or_default());
        let end = self.now;
        let result = self.finish(name, stage);
        Finished {
            result,
            end,
            interrupted,
        }
    }
}

/// The number that Linux has for an error: `EMFILE` where too many handles are open, `EIO`, `ENODEV`.
pub(crate) const fn errno_of(error: IoError) -> i32 {
    match error {
        IoError::TooManyHandles => 24,
        IoError::Io => 5,
        IoError::Gone => 19,
    }
}

/// A stage's announcement.
pub(crate) fn announce(
    sink: &mut dyn EventSink,
    (index, count): (usize, usize),
    (name, words): (&str, &str),
    jobs: &[PlannedJob<'_>],
) {
    let ends = jobs.iter().map(|planned| {
        let limits = &planned.job.limits;
        let before = limits.start_delay.saturating_add(limits.warmup);
        limits.runtime.map(|runtime| before.saturating_add(runtime))
    });
    let ends: Option<Vec<Nanos>> = ends.collect();
    let expected = ends.and_then(|ends| ends.into_iter().max());
    sink.event(&Event::StageStarted {
        index,
        count,
        name,
        words,
        expected,
    });
}
