//! Measurements of one stage as the engine and the simulator take them.
//!
//! These are the shapes that the data plane writes into: everything is allocated before the first I/O, and recording
//! is an index, an add and an increment.

use std::collections::BTreeMap;

use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Direction, FileOperation, SetOperation};

use crate::{RateWindows, WRONG_DATA};

/// Operations of one kind: how many, how large, how long.
#[derive(Debug, Clone, PartialEq)]
pub struct OpStats {
    /// Bytes moved by successful operations.
    pub bytes: u64,
    /// Submission to completion, in ns; its count is the number of successful operations.
    pub latency: Histogram,
    /// Intended start to completion, in ns; open loops only.
    pub response: Option<Histogram>,
    /// Start of preparation to the end of the submitting call, in ns; where the job asks for the split.
    pub submit: Option<Histogram>,
    /// End of the submitting call to completion, in ns; where the job asks for the split.
    pub complete: Option<Histogram>,
}

impl OpStats {
    /// Empty, with the histograms that the job needs.
    pub fn new(open_loop: bool, split: bool) -> Self {
        Self {
            bytes: 0,
            latency: Histogram::new(),
            response: open_loop.then(Histogram::new),
            submit: split.then(Histogram::new),
            complete: split.then(Histogram::new),
        }
    }

    /// Number of successful operations.
    pub fn ios(&self) -> u64 {
        self.latency.count()
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        merge_optional(&mut self.response, other.response.as_ref());
        merge_optional(&mut self.submit, other.submit.as_ref());
        merge_optional(&mut self.complete, other.complete.as_ref());
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.latency.clear();
        for histogram in [&mut self.response, &mut self.submit, &mut self.complete]
            .into_iter()
            .flatten()
        {
            histogram.clear();
        }
    }
}

fn merge_optional(mine: &mut Option<Histogram>, theirs: Option<&Histogram>) {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}

/// What was done to the directories and files of a file set, by operation: only those that a job may do are there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SetStats(pub Vec<(SetOperation, OpStats)>);

impl SetStats {
    /// Empty, with a place for each of these operations.
    pub fn new(operations: &[SetOperation], open_loop: bool) -> Self {
        let stats = operations.iter();
        Self(
            stats
                .map(|operation| (*operation, OpStats::new(open_loop, false)))
                .collect(),
        )
    }

    /// Those of one operation.
    pub fn of(&self, operation: SetOperation) -> Option<&OpStats> {
        let mut all = self.0.iter();
        all.find(|(other, _)| *other == operation)
            .map(|(_, stats)| stats)
    }

    /// Those of one operation, to be added to.
    pub fn of_mut(&mut self, operation: SetOperation) -> Option<&mut OpStats> {
        let mut all = self.0.iter_mut();
        all.find(|(other, _)| *other == operation)
            .map(|(_, stats)| stats)
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (operation, theirs) in &other.0 {
            match self.of_mut(*operation) {
                Some(mine) => mine.merge(theirs),
                None => self.0.push((*operation, theirs.clone())),
            }
        }
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|(_, stats)| stats.clear());
    }
}

/// What failed where it was neither a read, a write nor a trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOperation {
    /// Making data durable.
    Sync,
    /// An operation on a file set.
    OnSet(SetOperation),
    /// An operation on a file in place of reads, writes and trims; it counts as what its direction does.
    OnFile(FileOperation, Direction),
}

impl FailedOperation {
    /// As the record calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::OnSet(operation) => operation.name(),
            Self::OnFile(operation, way) => operation.name_by(way),
        }
    }
}

/// Failed I/Os of one direction and error number, failed syncs, or failed operations on a file set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoErrors {
    /// Direction of the I/Os; of anything else it means nothing.
    pub direction: Direction,
    /// What else it was; `None`: it was I/O.
    pub operation: Option<FailedOperation>,
    /// The operating system's error number; 0 where a transfer was shorter than asked for.
    pub errno: i32,
    /// How many.
    pub count: u64,
    /// Index of the target and offset of the first few.
    pub first_offsets: Vec<(u32, u64)>,
}

impl IoErrors {
    /// Whether it counts in its direction: it was I/O, or an operation in place of it.
    pub const fn is_of_direction(&self) -> bool {
        matches!(self.operation, None | Some(FailedOperation::OnFile(..)))
    }

    /// What failed, as the record calls it.
    pub fn name(&self) -> &'static str {
        let operation = self.operation.map(FailedOperation::name);
        operation.unwrap_or(self.direction.name())
    }

    /// Why, in the system's words.
    pub fn reason(&self) -> String {
        match self.errno {
            // The kernel has no word for a transfer that ended early.
            0 => "transfer shorter than asked for".to_owned(),
            // Nor one of its own for wrong data: "illegal byte sequence" would be understood by nobody.
            WRONG_DATA => format!("data that is not what was written (os error {WRONG_DATA})"),
            number => std::io::Error::from_raw_os_error(number).to_string(),
        }
    }
}

/// Lower bounds of the queue-depth classes in [`WorkerStats::depth_levels`].
pub const DEPTH_LEVELS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Upper bounds of the batch classes in [`WorkerStats::submit_batches`]; the last class is 64 and more.
pub const BATCH_LEVELS: [u32; 7] = [0, 4, 8, 16, 32, 64, u32::MAX];

/// Class of a queue depth: the number of its highest bit, 64 and more in the last class.
#[inline]
pub fn depth_level(depth: u32) -> usize {
    depth.max(1).ilog2().min(6) as usize
}

/// Class of a batch: 0; 1–4; 5–8; 9–16; 17–32; 33–63; 64 and more.
#[inline]
pub fn batch_level(batch: u32) -> usize {
    match batch {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=63 => 5,
        _ => 6,
    }
}

/// Operations completed in half a second, by direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HalfSecond {
    /// Time from the worker's first measured I/O to the end of the sample.
    pub at: Nanos,
    /// I/Os of each [`Direction`].
    pub ios: [u64; 3],
    /// Bytes of each [`Direction`].
    pub bytes: [u64; 3],
}

/// Time of a worker's thread outside the system calls that carry its I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutsideCalls {
    /// From one call's return to the next call, summed.
    pub time: Nanos,
    /// Those calls.
    pub calls: u64,
}

/// What a worker's thread used of the processor while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// User time.
    pub user: Nanos,
    /// System time.
    pub system: Nanos,
    /// Context switches, both kinds.
    pub context_switches: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// For how long it could have run and other threads had the processors.
    pub waited: Nanos,
    /// Its time outside system calls, where that was measured.
    pub outside_calls: Option<OutsideCalls>,
}

/// What was found of a job that ends when its results are steady; over all workers that are judged together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SteadyOutcome {
    /// Whether they became steady.
    pub attained: bool,
    /// The deviation or slope that was held against the limit, in percent of the mean where the limit is; 0 before the
    /// window was full.
    pub criterion: f64,
    /// Largest distance of a value of the window from its mean; 0 where the slope is judged.
    pub max_deviation: f64,
    /// Slope per value; 0 where the deviation is judged.
    pub slope: f64,
    /// I/Os a second of each interval of the last window, oldest first.
    pub iops: Vec<f64>,
    /// Bytes a second, likewise.
    pub bytes_per_sec: Vec<f64>,
    /// Mean latencies in ns, likewise.
    pub latency_ns: Vec<f64>,
}

/// Why a worker stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndReason {
    /// Its time was over.
    #[default]
    Time,
    /// It had moved its bytes or done its I/Os.
    Done,
    /// The user stopped the run.
    Interrupted,
    /// An I/O failed.
    Failed,
    /// It did not keep up a rate that it was to.
    TooSlow,
}

/// How a worker that checks what it wrote shared its time. The rest went into the passes themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckTimes {
    /// Checks after a pass.
    pub checks: Nanos,
    /// Making durable what a pass wrote, and dropping it from the page cache.
    pub settling: Nanos,
    /// Whether there were reads within the passes too.
    pub reads_in_passes: bool,
}

/// Everything measured of one worker, warm-up excluded.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerStats {
    /// Index of the job within the stage.
    pub job: usize,
    /// Index of the worker within the job.
    pub worker: u32,
    /// By [`Direction`]; `None` where the job never goes that way.
    pub directions: [Option<OpStats>; 3],
    /// `fsync` and `fdatasync`.
    pub sync: Option<OpStats>,
    /// Operations on a file set.
    pub set: SetStats,
    /// Failed I/Os.
    pub errors: Vec<IoErrors>,
    /// Transfers shorter than asked for, by [`Direction`]; they are counted with the bytes they moved.
    pub short_ios: [u64; 3],
    /// Start of its measurement, from the start of the stage.
    pub started: Nanos,
    /// From the start of its measurement to its last completion.
    pub measured: Nanos,
    /// Integral of outstanding I/Os over time, in I/O-nanoseconds; divided by `measured` it is the depth achieved.
    pub outstanding_ns: u128,
    /// Depth found at each submission, in classes of [`DEPTH_LEVELS`].
    pub depth_levels: [u64; 7],
    /// I/Os per submitting call, in classes of [`BATCH_LEVELS`].
    pub submit_batches: [u64; 7],
    /// I/Os per reaping call, in classes of [`BATCH_LEVELS`].
    pub complete_batches: [u64; 7],
    /// Half-second samples.
    pub samples: Vec<HalfSecond>,
    /// Samples of other lengths, where the job asks for them.
    pub windows: Option<Box<RateWindows>>,
    /// Processor use; zero in predictions.
    pub usage: Usage,
    /// Predictions: by direction, how long I/Os waited for each limit, in ns. Keys as in the record's `bound_by`.
    pub waited_ns: [BTreeMap<String, u128>; 3],
    /// I/Os and bytes of each [`Direction`] that were counted but not issued: a peer's check of what an earlier run wrote
    /// counts that run's writes as its own. They are in no other figure.
    pub unissued: [(u64, u64); 3],
    /// How its time was shared, where what it wrote was checked after each pass.
    pub checks: Option<CheckTimes>,
    /// How steady its results were, where the job is to end when they are.
    pub steady: Option<Box<SteadyOutcome>>,
    /// The depth that a search for a latency found; 0 where one I/O at a time was too slow already.
    pub found_depth: Option<u32>,
    /// Traces with times: from the start of its measurement to when the last I/O that it took from its trace was to start.
    pub intended_end: Option<Nanos>,
    /// Whether the processor's counter disagreed with the kernel's clock, and was given up.
    pub clock_deviated: bool,
    /// Why it stopped.
    pub ended: EndReason,
}

impl WorkerStats {
    /// Nothing measured yet.
    pub fn new(job: usize, worker: u32) -> Self {
        Self {
            job,
            worker,
            directions: [None, None, None],
            sync: None,
            set: SetStats::default(),
            errors: Vec::new(),
            short_ios: [0; 3],
            started: Nanos::ZERO,
            measured: Nanos::ZERO,
            outstanding_ns: 0,
            depth_levels: [0; 7],
            submit_batches: [0; 7],
            complete_batches: [0; 7],
            samples: Vec::new(),
            windows: None,
            usage: Usage::default(),
            waited_ns: [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()],
            unissued: [(0, 0); 3],
            checks: None,
            steady: None,
            found_depth: None,
            intended_end: None,
            clock_deviated: false,
            ended: EndReason::Time,
        }
    }

    /// Share (0 to 1) of the time of all these workers in which they could have run and other threads had the processors;
    /// `None` where they worked for less than a second together, of which it would mean nothing.
    pub fn waited_share<'a>(workers: impl IntoIterator<Item = &'a Self>) -> Option<f64> {
        let (mut waited, mut measured) = (Nanos::ZERO, Nanos::ZERO);
        for worker in workers {
            waited += worker.usage.waited;
            measured += worker.measured;
        }
        (measured >= Nanos::from_secs(1)).then(|| waited.get() as f64 / measured.get() as f64)
    }

    /// Successful I/Os of all directions.
    pub fn ios(&self) -> u64 {
        self.directions.iter().flatten().map(OpStats::ios).sum()
    }

    /// Successful I/Os, and operations on a file set.
    pub fn operations(&self) -> u64 {
        let of_set = self.set.0.iter();
        self.ios() + of_set.map(|(_, stats)| stats.ios()).sum::<u64>()
    }

    /// How long I/O of this direction was done: all of `measured`, unless writes and the checks of what they wrote took
    /// turns.
    pub fn time_of(&self, way: Direction) -> Nanos {
        let Some(times) = self.checks else {
            return self.measured;
        };
        let passes = self.measured.saturating_sub(times.checks + times.settling);
        match way {
            Direction::Read if times.reads_in_passes => passes + times.checks,
            Direction::Read => times.checks,
            Direction::Write | Direction::Trim => passes,
        }
    }

    /// Bytes of all I/Os.
    pub fn bytes(&self) -> u64 {
        let stats = self.directions.iter().flatten();
        stats.map(|stats| stats.bytes).sum()
    }
}

/// One second of a stage, over all workers.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalStats {
    /// End of the interval, from the start of the stage.
    pub at: Nanos,
    /// Its length (the last one may be shorter).
    pub length: Nanos,
    /// By [`Direction`]; `None` where nothing goes that way.
    pub directions: [Option<OpStats>; 3],
    /// Operations on file sets.
    pub set: SetStats,
}

/// Counters of a block device over a stage, as the kernel keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Kernel name.
    pub name: String,
    /// Completed reads and writes.
    pub ios: [u64; 2],
    /// 512-byte sectors read and written.
    pub sectors: [u64; 2],
    /// Merged reads and writes.
    pub merges: [u64; 2],
    /// Milliseconds spent by reads and writes.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in queue.
    pub in_queue_ms: u64,
    /// Milliseconds with any I/O in flight.
    pub busy_ms: u64,
    /// Length of the observation.
    pub over: Nanos,
}

/// I/O of other programs on the devices under the targets while a stage was measured. Reads come first in each pair, then
/// writes; whole devices are meant, and all of them together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OtherIo {
    /// Kernel names of the devices.
    pub devices: Vec<String>,
    /// Bytes that the devices moved for the run itself.
    pub own: [u64; 2],
    /// Bytes that they moved beside those.
    pub bytes: [u64; 2],
    /// I/Os that they completed, whoever asked for them.
    pub ios: [u64; 2],
    /// Whether bytes written beside the run's own are those of others: a file system and the page cache add some of theirs.
    pub writes_known: bool,
    /// Length of the observation.
    pub over: Nanos,
}

/// Name of a repeat of a stage, counted from 1: the stage's own, then `stage #2`, `stage #3`.
pub fn repeat_name(stage: &str, repeat: u32) -> String {
    match repeat {
        0 | 1 => stage.to_owned(),
        later => format!("{stage} #{later}"),
    }
}

/// When the measurement of a stage began: its first worker's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Began {
    /// By the run's monotonic clock.
    pub at: Nanos,
    /// By the wall clock, ns since the epoch.
    pub unix_ns: u64,
}

/// Everything measured of one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageResult {
    /// Name of the stage, as [`repeat_name`] gives it.
    pub name: String,
    /// Index of the stage in the workload.
    pub stage: usize,
    /// Wall-clock start, ns since the epoch; 0 in predictions.
    pub started_unix_ns: u64,
    /// When measurement really began; `None` in predictions, and where nothing was measured.
    pub began: Option<Began>,
    /// From the first measured I/O to the last completion.
    pub measured: Nanos,
    /// Jobs in order, workers of a job in order.
    pub workers: Vec<WorkerStats>,
    /// Intervals of one second, warm-up excluded.
    pub intervals: Vec<IntervalStats>,
    /// Modelled parts (predictions): by name.
    pub storage: BTreeMap<String, crate::StorageRecord>,
    /// What the devices under the targets did for other programs; `None` in predictions, and where that cannot be told.
    pub others: Option<OtherIo>,
    /// Real devices under the targets.
    pub devices: Vec<DeviceCounters>,
    /// Share (0 to 1) of the time measured for which a processor limit (control group) held the workers back, of the
    /// processors that they could have used; 0 in predictions.
    pub limited_share: f64,
    /// What a reader should know about these figures.
    pub notes: Vec<String>,
}

impl StageResult {
    /// Of the stage of that name and index, of which nothing is measured yet.
    pub fn new(name: &str, stage: usize) -> Self {
        Self {
            name: name.to_owned(),
            stage,
            started_unix_ns: 0,
            began: None,
            measured: Nanos::ZERO,
            workers: Vec::new(),
            intervals: Vec::new(),
            storage: BTreeMap::new(),
            others: None,
            devices: Vec::new(),
            limited_share: 0.0,
            notes: Vec::new(),
        }
    }
}
