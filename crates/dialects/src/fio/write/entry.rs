//! One entry of fio's report: a job, or the jobs of a group together.
//!
//! Invariant: percentiles come from merged histograms. Means and deviations of the half-second samples of a group are
//! sums over its jobs, as fio makes them.

use fathom_record::{
    DeviceCounters, EndReason, HalfSecond, IoErrors, OpStats, RateWindows, StageResult,
    SteadyOutcome, WindowCounts, Windows, WorkerStats,
};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Backend, Direction, Features, FileOperation, Job, OnMismatch, Stage};
use serde::{Deserialize, Serialize};

use super::priorities::ByPriority;
use super::{FioRun, wire_histogram};
use crate::fio::errno::EILSEQ;
use crate::fio::input::{FioInput, FioJobMeta};

/// Linux's number for an input/output error, for transfers that came up short.
const EIO: i32 = 5;
/// Of an I/O that took longer than allowed.
const ETIMEDOUT: i32 = 110;

/// The jobs of one entry, as indices into [`FioInput::jobs`].
pub type Members = std::ops::Range<usize>;

/// Which jobs are shown together: neighbours of one group that asks for it. Jobs that are not reported are left out.
pub fn members(input: &FioInput) -> Vec<Members> {
    let mut entries: Vec<Members> = Vec::new();
    for (index, job) in input.jobs.iter().enumerate() {
        match entries.last_mut() {
            _ if !job.stats => {}
            Some(last)
                if last.end == index
                    && job.group_reporting
                    && input.jobs[last.start].group == job.group =>
            {
                last.end = index + 1;
            }
            _ => entries.push(index..index + 1),
        }
    }
    entries
}

/// The workers of each job of the input; none where its stage was not reached.
pub fn workers<'a>(
    input: &FioInput,
    run: &FioRun<'a>,
) -> Vec<Vec<(&'a StageResult, &'a WorkerStats)>> {
    let mut firsts = Vec::new();
    let mut next = 0;
    for stage in &input.workload.stages {
        firsts.push(next);
        next += stage.jobs.len();
    }
    let mut found = vec![Vec::new(); input.jobs.len()];
    for result in run.results {
        for worker in &result.workers {
            let index = firsts.get(result.stage).map(|first| first + worker.job);
            if let Some(slot) = index.and_then(|index| found.get_mut(index)) {
                slot.push((result, worker));
            }
        }
    }
    found
}

/// Samples of half a second each, or of windows as long as the job asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub count: u64,
    squares: f64,
}

impl Samples {
    fn of(values: &[u64]) -> Self {
        let count = values.len() as u64;
        let mean =
            values.iter().map(|value| *value as f64).sum::<f64>() / values.len().max(1) as f64;
        Self {
            min: values.iter().copied().min().unwrap_or(0),
            max: values.iter().copied().max().unwrap_or(0),
            mean,
            count,
            squares: values
                .iter()
                .map(|value| (*value as f64 - mean).powi(2))
                .sum(),
        }
    }

    /// Of windows in which so much was done; `rate` makes what was done in one the rate in it.
    fn of_windows(counts: &WindowCounts, rate: impl Fn(f64) -> f64) -> Self {
        Self {
            min: rate(counts.least as f64) as u64,
            max: rate(counts.most as f64) as u64,
            mean: rate(counts.mean()),
            count: counts.windows,
            squares: counts.squares() * rate(1.0).powi(2),
        }
    }

    fn add(&mut self, other: &Self) {
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.count += other.count;
        self.squares += other.squares;
    }

    /// Sample standard deviation.
    pub fn deviation(&self) -> f64 {
        if self.count > 1 {
            (self.squares / (self.count as f64 - 1.0)).sqrt()
        } else {
            0.0
        }
    }
}

/// One direction of an entry.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Way {
    pub bytes: u64,
    pub ios: u64,
    pub short: u64,
    pub runtime_ms: u64,
    /// Total, submission and completion latency. Submission is empty with synchronous engines.
    #[serde(with = "wire_histogram")]
    pub total: Option<Histogram>,
    #[serde(with = "wire_histogram")]
    pub submit: Option<Histogram>,
    #[serde(with = "wire_histogram")]
    pub complete: Option<Histogram>,
    /// Latencies by priority, where I/Os have priorities of their own.
    pub priorities: ByPriority,
    pub bandwidth: Samples,
    pub iops: Samples,
}

impl Way {
    /// Bytes a second over the runtime.
    pub fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// I/Os a second over the runtime.
    pub fn ios_per_second(&self) -> f64 {
        if self.runtime_ms == 0 {
            0.0
        } else {
            1000.0 * self.ios as f64 / self.runtime_ms as f64
        }
    }

    /// Adds another direction of the same jobs.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.short += other.short;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        for (mine, theirs) in [
            (&mut self.total, &other.total),
            (&mut self.submit, &other.submit),
            (&mut self.complete, &other.complete),
        ] {
            if let Some(theirs) = theirs {
                merge(mine, theirs);
            }
        }
        self.priorities.add(&other.priorities);
        self.bandwidth.add(&other.bandwidth);
        self.iops.add(&other.iops);
    }

    fn add(&mut self, worker: &WorkerStats, stats: &OpStats, direction: Direction, job: &Job) {
        let way = direction as usize;
        // Work in place of I/O is counted, and has no time of I/O.
        let is_io = !works(job);
        self.bytes += stats.bytes;
        self.ios += stats.ios();
        self.short += worker.short_ios[way];
        if is_io && stats.ios() > 0 {
            self.runtime_ms = self.runtime_ms.max(millis(worker.time_of(direction)));
        }
        merge(&mut self.total, &stats.latency);
        merge(
            &mut self.complete,
            stats.complete.as_ref().unwrap_or(&stats.latency),
        );
        if let Some(submit) = &stats.submit {
            merge(&mut self.submit, submit);
        }
    }
}

/// Whole units a second, rounded down; 0 where no time has passed.
pub fn per_second(count: u64, runtime_ms: u64) -> u64 {
    let rate = (u128::from(count) * 1000)
        .checked_div(u128::from(runtime_ms))
        .unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Begun milliseconds.
fn millis(span: Nanos) -> u64 {
    span.get().div_ceil(1_000_000)
}

/// Adds all of `from`.
pub fn merge(into: &mut Option<Histogram>, from: &Histogram) {
    match into {
        Some(histogram) => histogram.merge(from),
        None => *into = Some(from.clone()),
    }
}

/// KiB a second and I/Os a second of each sample in which the direction did anything. What fills none is in none.
fn samples(worker: &WorkerStats, direction: Direction) -> [Samples; 2] {
    let way = direction as usize;
    if let Some(RateWindows { bytes, ios }) = worker.windows.as_deref() {
        let seconds = |windows: &Windows| windows.length.get() as f64 / 1e9;
        let (bandwidth, iops) = (seconds(bytes), seconds(ios));
        return [
            Samples::of_windows(&bytes.counts[way], |count| count / bandwidth / 1024.0),
            Samples::of_windows(&ios.counts[way], |count| count / iops),
        ];
    }
    let rates = |count: &dyn Fn(&HalfSecond) -> u64| {
        let mut before = Nanos::ZERO;
        let mut rates = Vec::new();
        for half in &worker.samples {
            let spent = half.at.saturating_sub(before).get() / 1_000_000;
            before = half.at;
            if spent > 0 && half.ios[way] > 0 {
                rates.push(per_second(count(half), spent));
            }
        }
        rates
    };
    let bandwidth = rates(&|half| half.bytes[way]);
    let bandwidth: Vec<u64> = bandwidth.iter().map(|rate| rate / 1024).collect();
    let iops = rates(&|half| half.ios[way]);
    [Samples::of(&bandwidth), Samples::of(&iops)]
}

/// Whether a job works in place of I/O.
fn works(job: &Job) -> bool {
    job.features.processor_work.is_some()
}

/// Whether a job goes on after errors that it can meet.
fn survives(job: &Job) -> bool {
    let errors = &job.features.errors;
    let verify = job.features.verify.as_deref();
    errors.go_on != [false; 3]
        || errors.ignored.iter().any(|list| !list.is_empty())
        || verify.is_some_and(|verify| verify.on_mismatch == OnMismatch::GoOn)
}

/// I/Os of one direction that failed, which fio counts among those that it did. Wrong data was read, and what took too long
/// was done.
fn failed(job: &Job, worker: &WorkerStats, direction: Direction) -> u64 {
    let limits = &job.features.errors.latency_max;
    let timed = *limits != [None; 3] || job.features.latency_target.is_some();
    let errors = worker.errors.iter().filter(|error| {
        let was_done = error.errno == EILSEQ || timed && error.errno == ETIMEDOUT;
        error.direction == direction && error.is_of_direction() && !was_done
    });
    errors.map(|error| error.count).sum()
}

/// Whether `error` is one of `total_err`: the job survives it, or it ends a job of a synchronous engine that survives others of
/// its kind.
fn is_counted(job: &Job, error: &IoErrors, number: i32) -> bool {
    if number == EILSEQ {
        let verify = job.features.verify.as_deref();
        return verify.is_some_and(|verify| verify.on_mismatch == OnMismatch::GoOn);
    }
    let (errors, way) = (&job.features.errors, error.direction as usize);
    let ignored = &errors.ignored[way];
    let in_order = matches!(job.backend, Backend::Sync | Backend::Mmap);
    errors.go_on[way] || ignored.contains(&number) || in_order && !ignored.is_empty()
}

/// Whether an error counts against a job: one that it was not told to survive.
pub fn ended_by_error(job: &Job, worker: &WorkerStats) -> bool {
    // A job whose command before it failed has no error of I/O.
    let failed = matches!(worker.ended, EndReason::TooSlow | EndReason::Failed);
    failed || !worker.errors.is_empty() && !survives(job)
}

/// One entry of the report.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The first job's.
    pub meta: &'a FioJobMeta,
    /// The last job's: fio gives its options, percentiles, latency target and steady state beside the first one's name, and tells
    /// of survived errors where that one survives them.
    pub last: &'a FioJobMeta,
    pub members: usize,
    /// Whether any of its jobs began.
    pub began: bool,
    /// Error number of the first failed I/O, also where the job survived it; 0: none.
    pub error: i32,
    /// Where jobs survive errors: how many fio counts of them, and the number of the first.
    pub survived: Option<(u64, i32)>,
    pub started_unix_ms: u64,
    pub ways: [Way; 3],
    pub sync: Option<Histogram>,
    pub runtime_ms: u64,
    pub user_ms: f64,
    pub system_ms: f64,
    pub context_switches: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub depth_levels: [u64; 7],
    pub submit_batches: [u64; 7],
    pub complete_batches: [u64; 7],
    /// What the last job asks for beyond plain I/O.
    pub features: Option<&'a Features>,
    /// How steady its results were, where it ends by them.
    pub steady: Option<SteadyOutcome>,
    /// The depth that a search found.
    pub found_depth: Option<u32>,
}

impl<'a> Entry<'a> {
    /// Merges the workers of the jobs `members`.
    pub fn new(
        input: &'a FioInput,
        members: &Members,
        workers: &[Vec<(&StageResult, &WorkerStats)>],
    ) -> Self {
        let last = members.clone().last().unwrap_or(members.start);
        let mut entry = Self {
            meta: &input.jobs[members.start],
            last: &input.jobs[last],
            members: members.len(),
            began: false,
            error: 0,
            survived: Some((0, 0)),
            started_unix_ms: 0,
            ways: Default::default(),
            sync: None,
            runtime_ms: 0,
            user_ms: 0.0,
            system_ms: 0.0,
            context_switches: 0,
            minor_faults: 0,
            major_faults: 0,
            depth_levels: [0; 7],
            submit_batches: [0; 7],
            complete_batches: [0; 7],
            features: (input.workload.jobs().nth(last)).map(|(_, job)| &job.features),
            steady: None,
            found_depth: None,
        };
        let jobs: Vec<&Job> = input.workload.jobs().map(|(_, job)| job).collect();
        for index in members.clone() {
            let Some(job) = jobs.get(index) else { continue };
            for (result, worker) in &workers[index] {
                entry.add(job, worker);
                entry.tell_start(input, job, (result, worker));
            }
        }
        entry.survived = entry.survived.filter(|_| entry.last.tells_errors);
        entry
    }

    /// Adds the latencies by priority of `members`: where the I/Os of a job have but one, those of all of them.
    pub fn add_priorities(
        &mut self,
        input: &FioInput,
        run: &FioRun<'_>,
        members: &Members,
        workers: &[Vec<(&StageResult, &WorkerStats)>],
    ) {
        let Some(latencies) = run.priorities else {
            return;
        };
        for index in members.clone() {
            let job = &input.jobs[index];
            if job.has_priorities {
                let theirs = latencies.of(index).into_iter().flatten();
                for (mine, theirs) in self.ways.iter_mut().zip(theirs) {
                    mine.priorities.add(theirs);
                }
                continue;
            }
            for (_, worker) in &workers[index] {
                for (mine, stats) in self.ways.iter_mut().zip(&worker.directions) {
                    let Some(stats) = stats else { continue };
                    let complete = stats.complete.as_ref();
                    let histogram = complete.filter(|_| !job.percentiles.total);
                    let histogram = histogram.unwrap_or(&stats.latency);
                    mine.priorities.of(job.priority).merge(histogram);
                }
            }
        }
    }

    /// The first start of its jobs: the end of a job's delay, with its warm-up still to come.
    fn tell_start(
        &mut self,
        input: &FioInput,
        job: &Job,
        (result, worker): (&StageResult, &WorkerStats),
    ) {
        // One whose run ended before its delay was over never began, nor did one that was refused: its error is of no operation.
        let was_refused = worker.errors.iter().any(|error| error.count == 0);
        let has_started = worker.started >= job.limits.start_delay && !was_refused;
        let began = has_started || worker.measured > Nanos::ZERO;
        self.began |= began;
        if self.started_unix_ms == 0 && began {
            // A stage's start is that of its measurement.
            let stage = input.workload.stages.get(result.stage);
            let lead = stage.map_or(Nanos::ZERO, Stage::lead);
            let begun = result.started_unix_ns.saturating_sub(lead.get());
            // One that waits for another begins when that is over, whatever its delay.
            let after = match job.features.process.after {
                Some(_) => worker.started.saturating_sub(job.warmup_time()),
                None => job.limits.start_delay,
            };
            self.started_unix_ms = (begun + after.get()) / 1_000_000;
        }
    }

    fn add(&mut self, job: &Job, worker: &WorkerStats) {
        for error in &worker.errors {
            let number = if error.errno == 0 { EIO } else { error.errno };
            if self.error == 0 {
                self.error = number;
            }
            if let Some((total, first)) = &mut self.survived
                && error.count > 0
                && is_counted(job, error, number)
            {
                *total += error.count;
                *first = if *first == 0 { number } else { *first };
            }
        }
        if self.error == 0 && worker.ended == EndReason::TooSlow {
            self.error = EIO;
        }
        for direction in Direction::ALL {
            if let Some(stats) = &worker.directions[direction as usize] {
                let way = &mut self.ways[direction as usize];
                way.add(worker, stats, direction, job);
                let [bandwidth, iops] = samples(worker, direction);
                if !works(job) {
                    way.bandwidth.add(&bandwidth);
                }
                way.iops.add(&iops);
            }
            let failed = failed(job, worker, direction);
            if failed > 0 {
                let way = &mut self.ways[direction as usize];
                way.ios += failed;
                way.runtime_ms = way.runtime_ms.max(millis(worker.time_of(direction)));
            }
            let (ios, bytes) = worker.unissued[direction as usize];
            self.ways[direction as usize].ios += ios;
            self.ways[direction as usize].bytes += bytes;
            // A dry run goes one by one, at whatever depth.
            self.depth_levels[0] += ios;
        }
        if job
            .features
            .operation
            .is_some_and(FileOperation::is_of_names)
        {
            // fio has completion latencies of them alone.
            for way in &mut self.ways {
                way.total = None;
            }
        }
        if let Some(sync) = worker.sync.as_ref().filter(|sync| sync.ios() > 0) {
            merge(&mut self.sync, &sync.latency);
        }
        self.steady = worker.steady.as_deref().cloned();
        self.found_depth = worker.found_depth;
        self.runtime_ms += millis(worker.measured);
        self.user_ms += worker.usage.user.get() as f64 / 1e6;
        self.system_ms += worker.usage.system.get() as f64 / 1e6;
        self.context_switches += worker.usage.context_switches;
        self.minor_faults += worker.usage.minor_faults;
        self.major_faults += worker.usage.major_faults;
        self.add_levels(job, worker);
    }

    fn add_levels(&mut self, job: &Job, worker: &WorkerStats) {
        let add = |mine: &mut [u64; 7], theirs: &[u64; 7]| {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        };
        add(&mut self.depth_levels, &worker.depth_levels);
        // fio's null engine does what comes one by one without a call, and counts none.
        let is_called = job.backend != Backend::Null || works(job);
        if is_called || job.depth > 1 {
            add(&mut self.submit_batches, &worker.submit_batches);
            add(&mut self.complete_batches, &worker.complete_batches);
        }
        // As a sync, each call takes the place of an I/O; none follows the last write.
        if let Some(range) = job.features.files.sync_range {
            let writes = worker.directions[Direction::Write as usize].as_ref();
            let writes = writes.map_or(0, OpStats::ios);
            let level = job.depth.max(1).ilog2().min(6) as usize;
            self.depth_levels[level] += writes.saturating_sub(1) / u64::from(range.every.max(1));
        }
    }

    /// I/Os of all directions.
    pub fn ios(&self) -> u64 {
        self.ways.iter().map(|way| way.ios).sum()
    }

    /// Processor time as a percentage of all jobs' runtime: user, system.
    pub fn processor_percent(&self) -> [f64; 2] {
        let runtime = self.runtime_ms as f64;
        [self.user_ms, self.system_ms].map(|used| {
            if self.runtime_ms == 0 {
                0.0
            } else {
                used * 100.0 / runtime
            }
        })
    }

    /// Depth, submission and completion classes in percent; a class that was met shows at least 0.1 %.
    ///
    /// Depths are a share of the I/Os, so that an `fsync` between them can make it more than 100 %.
    pub fn distributions(&self) -> [[f64; 7]; 3] {
        let total = |classes: &[u64; 7]| classes.iter().sum();
        [
            percents(&self.depth_levels, self.ios(), 0.1),
            percents(&self.submit_batches, total(&self.submit_batches), 0.1),
            percents(&self.complete_batches, total(&self.complete_batches), 0.1),
        ]
    }

    /// Completion latencies below a microsecond, as a percentage of all I/Os.
    pub fn percent_below_micro(&self) -> f64 {
        let (nanos, ..) = self.latency_counts();
        let [share] = percents(&[nanos.iter().sum()], self.ios(), 0.0);
        share
    }

    /// Shares of completion latency in percent: ten classes of ns, ten of µs, twelve of ms.
    pub fn latency_classes(&self) -> ([f64; 10], [f64; 10], [f64; 12]) {
        let (nanos, micros, millis) = self.latency_counts();
        let total = self.ios();
        (
            percents(&nanos, total, 0.01),
            percents(&micros, total, 0.01),
            percents(&millis, total, 0.01),
        )
    }

    fn latency_counts(&self) -> ([u64; 10], [u64; 10], [u64; 12]) {
        let (mut nanos, mut micros, mut millis) = ([0; 10], [0; 10], [0; 12]);
        for (value, count) in self
            .ways
            .iter()
            .filter_map(|way| way.complete.as_ref())
            .flat_map(Histogram::nonzero)
        {
            match value {
                0..1_000 => nanos[class(value)] += count,
                1_000..1_000_000 => micros[class(value / 1_000)] += count,
                1_000_000..1_000_000_000 => millis[class(value / 1_000_000)] += count,
                1_000_000_000..2_000_000_000 => millis[10] += count,
                _ => millis[11] += count,
            }
        }
        (nanos, micros, millis)
    }
}

/// Upper bounds (not included) of the classes of a unit.
const CLASS_BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

fn class(value: u64) -> usize {
    CLASS_BOUNDS
        .iter()
        .position(|bound| value < *bound)
        .unwrap_or(9)
}

fn percents<const N: usize>(counts: &[u64; N], total: u64, least: f64) -> [f64; N] {
    counts.map(|count| match (count, total) {
        (0, _) | (_, 0) => 0.0,
        _ => (count as f64 / total as f64 * 100.0).max(least),
    })
}

/// What a group did in one direction: bytes, and runtimes and rates of its entries.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct GroupWay {
    pub bytes: u64,
    pub runtime_ms: (u64, u64),
    pub rates: (u64, u64),
}

impl GroupWay {
    /// Bytes a second over the longest runtime.
    pub fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms.1)
    }
}

/// Every reporting group by its number.
pub fn groups(
    input: &FioInput,
    entries: &[Members],
    workers: &[Vec<(&StageResult, &WorkerStats)>],
) -> Vec<[GroupWay; 3]> {
    let count = input
        .jobs
        .iter()
        .map(|job| job.group as usize + 1)
        .max()
        .unwrap_or(0);
    let mut groups = vec![[GroupWay::default(); 3]; count];
    let jobs: Vec<&Job> = input.workload.jobs().map(|(_, job)| job).collect();
    let does_io = |index: &usize| (jobs.get(*index)).is_some_and(|it| !works(it));
    for members in entries {
        let group = &mut groups[input.jobs[members.start].group as usize];
        for direction in Direction::ALL {
            let (mut bytes, mut runtime) = (0u64, 0);
            let of_io = members.clone().filter(does_io);
            for (_, worker) in of_io.flat_map(|index| &workers[index]) {
                if let Some(stats) = &worker.directions[direction as usize]
                    && stats.ios() > 0
                {
                    bytes += stats.bytes;
                    runtime = runtime.max(millis(worker.time_of(direction)));
                }
            }
            if runtime == 0 {
                continue;
            }
            let way = &mut group[direction as usize];
            let rate = per_second(bytes, runtime);
            let widen = |(least, most): (u64, u64), value: u64, first: bool| {
                if first {
                    (value, value)
                } else {
                    (least.min(value), most.max(value))
                }
            };
            let first = way.runtime_ms.1 == 0;
            way.bytes += bytes;
            way.rates = widen(way.rates, rate, first);
            way.runtime_ms = widen(way.runtime_ms, runtime, first);
        }
    }
    groups
}

/// Mean bandwidth of an entry as a percentage of its group's, at most 100.
pub fn share_of_group(way: &Way, group: &GroupWay) -> f64 {
    let all = group.bytes_per_second();
    if all > 1024 {
        (way.bandwidth.mean.trunc() * 100.0 / (all as f64 / 1024.0)).min(100.0)
    } else {
        100.0
    }
}

/// Sample standard deviation, which is what fio shows.
pub fn deviation(histogram: &Histogram) -> f64 {
    let count = histogram.count() as f64;
    if count > 1.0 {
        histogram.stddev() * (count / (count - 1.0)).sqrt()
    } else {
        0.0
    }
}

/// Counters of each disk over all stages.
pub fn disks(input: &FioInput, run: &FioRun<'_>) -> Vec<DeviceCounters> {
    let mut disks: Vec<DeviceCounters> = Vec::new();
    if !input.jobs.iter().any(|job| job.disk_util) {
        return disks;
    }
    for device in run.results.iter().flat_map(|result| &result.devices) {
        let Some(disk) = disks.iter_mut().find(|disk| disk.name == device.name) else {
            disks.push(device.clone());
            continue;
        };
        for (mine, theirs) in [
            (&mut disk.ios, device.ios),
            (&mut disk.sectors, device.sectors),
            (&mut disk.merges, device.merges),
            (&mut disk.ticks_ms, device.ticks_ms),
        ] {
            mine[0] += theirs[0];
            mine[1] += theirs[1];
        }
        disk.in_queue_ms += device.in_queue_ms;
        disk.busy_ms += device.busy_ms;
        disk.over = disk.over.saturating_add(device.over);
    }
    disks
}

/// Share of the time in which a disk was busy, in percent.
pub fn utilisation(disk: &DeviceCounters) -> f64 {
    let over = disk.over.get() as f64 / 1e6;
    if over > 0.0 {
        (disk.busy_ms as f64 * 100.0 / over).min(100.0)
    } else {
        0.0
    }
}
