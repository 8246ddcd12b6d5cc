//! What one worker did in one interval, and how it reaches the control thread.
//!
//! A worker owns a few sets, all made before its first I/O: it fills one while the others wait to be used. At each tick
//! it sends the full one and takes an empty one from those that came back; both ways are bounded channels, so nothing is
//! allocated or locked between ticks. The control thread adds the sets up: over workers to intervals, over time to each
//! worker's totals, so that the worker never does.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use fathom_record::{OpStats, Phase, SetStats};
use fathom_units::Nanos;
use fathom_workload::{Arrival, Direction, ExistingFiles, Job, Replay, ReplayPace};

use crate::io_log::LogBatch;

/// Workers of a stage from which on each has one set less.
const MANY_WORKERS: usize = 16;

/// Sets of each worker of a stage that has so many: one in use, and two for a control thread that is late. Of many workers
/// each has but one to spare, since memory that is used for the first time in the second or third second adds up: a set
/// that is not back in time lets two intervals become one, and nothing is lost.
pub(crate) fn sets_per_worker(workers: usize) -> usize {
    if workers < MANY_WORKERS { 3 } else { 2 }
}

/// Operations of one worker that completed in one interval.
#[derive(Debug)]
pub(crate) struct IntervalSet {
    /// Index of the worker within the stage.
    pub(crate) worker: usize,
    /// End of the interval on the run's clock.
    pub(crate) end: Nanos,
    /// When the worker ended, where that was within the interval; the interval's end otherwise.
    pub(crate) until: Nanos,
    /// Whether it is measured.
    pub(crate) phase: Phase,
    /// Whether the worker's measurement began anew with it: what it has sent before does not count.
    pub(crate) begins_anew: bool,
    /// Whether it is part of what the stage does: work in place of I/O is not.
    pub(crate) is_io: bool,
    /// By [`Direction`]; `None` where the job never goes that way.
    pub(crate) directions: [Option<OpStats>; 3],
    /// `fsync` and `fdatasync`, where the job does any.
    pub(crate) sync: Option<OpStats>,
    /// Operations on a file set, those that the job may do.
    pub(crate) set: SetStats,
}

impl IntervalSet {
    /// An empty set for a worker of `job`.
    pub(crate) fn new(worker: usize, job: &Job) -> Self {
        let timed = |replay: &Replay| matches!(replay.pace, ReplayPace::Timed(_));
        let open = job.arrival != Arrival::Closed
            || job.features.rates.is_some()
            || job.features.replay.as_ref().is_some_and(timed);
        let work = job.features.file_work.as_deref();
        let open = open || work.is_some_and(|work| work.rate.is_some());
        Self {
            worker,
            end: Nanos::ZERO,
            until: Nanos::ZERO,
            phase: Phase::Warmup,
            begins_anew: false,
            is_io: job.features.processor_work.is_none(),
            directions: Direction::ALL.map(|way| {
                job.moves(way)
                    .then(|| OpStats::new(open, job.split_latency))
            }),
            sync: syncs(job).then(|| OpStats::new(false, false)),
            set: work.map_or_else(SetStats::default, |work| {
                SetStats::new(&work.task.operations(work.delete_first), open)
            }),
        }
    }

    /// Forgets everything; keeps the memory.
    pub(crate) fn clear(&mut self) {
        for stats in self.directions.iter_mut().chain([&mut self.sync]).flatten() {
            stats.clear();
        }
        self.set.clear();
        self.begins_anew = false;
    }

    fn merge(&mut self, other: &Self) {
        let mine = self.directions.iter_mut().chain([&mut self.sync]);
        let theirs = other.directions.iter().chain([&other.sync]);
        for (mine, theirs) in mine.zip(theirs) {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.merge(theirs);
            }
        }
        self.set.merge(&other.set);
        self.begins_anew |= other.begins_anew;
    }
}

/// Whether syncs of a job are counted. fio counts those between I/Os, and not those of a job's end.
fn syncs(job: &Job) -> bool {
    let sync = &job.sync;
    let at_end = (sync.at_end || sync.on_close) && job.existing != ExistingFiles::AsPeer;
    let of_ranges = job.features.files.sync_range.is_some();
    let asked = sync.fsync_every > 0 || sync.fdatasync_every > 0 || at_end || of_ranges;
    if job.features.file_work.is_some() {
        return sync.on_close && job.moves(Direction::Write);
    }
    (asked && job.mix.changes_data()) || job.features.replay.is_some()
}

/// What workers send to the control thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// What a worker did in an interval.
    Interval(Box<IntervalSet>),
    /// The same of one that ended within its interval.
    Last(Box<IntervalSet>),
    /// What a worker tells of its I/O.
    Log(Box<LogBatch>),
}

/// The phase of a worker's interval.
pub(crate) fn phase(measuring: bool) -> Phase {
    if measuring {
        Phase::Measure
    } else {
        Phase::Warmup
    }
}

/// A worker's ends of the two channels, and the set it fills.
#[derive(Debug)]
pub(crate) struct Handover {
    /// The set in use.
    pub(crate) current: Box<IntervalSet>,
    full: SyncSender<Message>,
    spares: Receiver<Box<IntervalSet>>,
}

impl Handover {
    pub(crate) fn new(
        first: Box<IntervalSet>,
        full: SyncSender<Message>,
        spares: Receiver<Box<IntervalSet>>,
    ) -> Self {
        Self {
            current: first,
            full,
            spares,
        }
    }

    /// Forgets what was filled, and has what was sent before forgotten too.
    pub(crate) fn forget(&mut self) {
        self.current.clear();
        self.current.begins_anew = true;
    }

    /// Sends what was filled as that of the interval that ends at `end`. Where no spare is there, the control thread is
    /// late: what is measured then stays for the next interval, what is not is dropped.
    pub(crate) fn send(&mut self, end: Nanos, phase: Phase) {
        let Ok(spare) = self.spares.try_recv() else {
            if phase != Phase::Measure {
                self.current.clear();
            }
            return;
        };
        let mut full = std::mem::replace(&mut self.current, spare);
        (full.end, full.until, full.phase) = (end, end, phase);
        let sent = self.full.try_send(Message::Interval(full));
        if let Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) = sent
            && let Message::Interval(set) = back
        {
            self.current.merge(&set);
        }
    }

    /// Sends what was filled as the worker's last, at once: others may go on for long, and what it did belongs to the
    /// interval that ends at `end`, in which it ended at `until`. This may wait for room, since the worker has nothing else to
    /// do.
    pub(crate) fn finish(self, end: Nanos, until: Nanos, phase: Phase) {
        let mut last = self.current;
        (last.end, last.until, last.phase) = (end, until, phase);
        // Without a control thread nobody asks for it.
        let _ = self.full.send(Message::Last(last));
    }
}
