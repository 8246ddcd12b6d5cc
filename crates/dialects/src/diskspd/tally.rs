//! What each thread did on each target: totals, and I/Os by buckets of time (`-D`).

use std::collections::BTreeMap;

use fathom_record::{LogChunk, LogHistogram, LogWindow, LoggedIo, StageResult, WorkerStats};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::Direction;

use super::DiskspdInput;

/// Most buckets that are kept: more than any table of them is read.
const BUCKETS_MAX: u64 = 1 << 20;

/// Bytes and latencies of one direction.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// Bytes moved.
    pub bytes: u64,
    /// In ns; its count is that of the I/Os.
    pub latency: Histogram,
}

impl Way {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
    }
}

/// Reads and writes, and their buckets where `-D` asks for them.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Reads, then writes.
    pub ways: [Way; 2],
    /// Over time.
    pub buckets: Option<Buckets>,
}

impl Figures {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.ways.iter_mut().zip(&other.ways) {
            mine.merge(theirs);
        }
        match (&mut self.buckets, &other.buckets) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

/// One row of the result tables: a thread's I/O on a target.
#[derive(Debug, Clone)]
pub struct Row {
    /// Number of the thread.
    pub thread: u32,
    /// Index of the target.
    pub target: usize,
    /// What it did.
    pub figures: Figures,
}

/// What a worker tells of its I/O while it runs, by target of its job.
#[derive(Debug, Clone)]
pub struct Tally {
    targets: Vec<Figures>,
    /// Whether a worker's totals hold for one target.
    is_single: bool,
}

impl Tally {
    /// One for each worker of a stage; of a cool-down none.
    pub fn of_stage(input: &DiskspdInput, stage: usize) -> Vec<Self> {
        let asked = input.profile.spans.get(input.span_of(stage));
        let Some((asked, places)) = asked.zip(input.places.get(stage)) else {
            return Vec::new();
        };
        let buckets = asked.deviation.then(|| {
            let length = Nanos::from_millis(asked.bucket_ms);
            Buckets::new(length, Nanos::from_secs(asked.duration), input.is_xml())
        });
        let tally = |count: usize| {
            let figures = Figures {
                buckets: buckets.clone(),
                ..Figures::default()
            };
            Self {
                targets: vec![figures; count],
                is_single: count == 1,
            }
        };
        places
            .iter()
            .map(|place| tally(place.targets.len()))
            .collect()
    }

    /// Counts what the worker tells.
    pub fn add(&mut self, chunk: &LogChunk) {
        for io in &chunk.ios {
            self.io(io);
        }
        let buckets = self.targets.first_mut().and_then(|it| it.buckets.as_mut());
        if let Some(buckets) = buckets {
            chunk
                .windows
                .iter()
                .for_each(|window| buckets.window(window));
            let histograms = chunk.histograms.iter();
            histograms.for_each(|histogram| buckets.histogram(histogram));
        }
    }

    fn io(&mut self, io: &LoggedIo) {
        let Some(figures) = self.targets.get_mut(io.target as usize) else {
            return;
        };
        let Some(way) = way(io.direction) else {
            return;
        };
        figures.ways[way].bytes += u64::from(io.bytes);
        figures.ways[way].latency.record(io.latency.get());
        if let Some(buckets) = &mut figures.buckets {
            buckets.io(io.completed, way, io.latency);
        }
    }
}

/// Place of a direction among reads and writes.
fn way(direction: Direction) -> Option<usize> {
    match direction {
        Direction::Read => Some(0),
        Direction::Write => Some(1),
        Direction::Trim => None,
    }
}

/// The rows of the timespan of `result`, thread by thread and target by target.
pub fn rows(input: &DiskspdInput, result: &StageResult, tallies: &[Tally]) -> Vec<Row> {
    let places = input.places.get(result.stage);
    let places = places.into_iter().flatten().enumerate();
    let mut rows: BTreeMap<(u32, usize), Figures> = BTreeMap::new();
    for ((index, place), worker) in places.zip(&result.workers) {
        let tally = tallies.get(index);
        for (at, target) in place.targets.iter().enumerate() {
            let told = tally.and_then(|tally| tally.targets.get(at));
            let figures = if tally.is_none_or(|tally| tally.is_single) {
                Figures {
                    ways: totals(worker),
                    buckets: told.and_then(|told| told.buckets.clone()),
                }
            } else {
                told.cloned().unwrap_or_default()
            };
            let row = rows.entry((place.thread, *target)).or_default();
            row.merge(&figures);
        }
    }
    let rows = rows.into_iter().map(|((thread, target), figures)| Row {
        thread,
        target,
        figures,
    });
    rows.collect()
}

fn totals(worker: &WorkerStats) -> [Way; 2] {
    [Direction::Read, Direction::Write].map(|direction| {
        let stats = worker.directions[direction as usize].as_ref();
        stats.map_or_else(Way::default, |stats| Way {
            bytes: stats.bytes,
            latency: stats.latency.clone(),
        })
    })
}

/// Latencies of a bucket in ns: how many, extremes, and sums for mean and deviation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    /// Sum of the squares of the distances from the mean.
    squares: f64,
}

impl Moments {
    fn of(histogram: &Histogram) -> Self {
        let count = histogram.count();
        let deviation = histogram.stddev();
        Self {
            count,
            min: histogram.min(),
            max: histogram.max(),
            mean: histogram.mean(),
            squares: deviation * deviation * count as f64,
        }
    }

    fn one(latency: Nanos) -> Self {
        Self {
            count: 1,
            min: latency.get(),
            max: latency.get(),
            mean: latency.get() as f64,
            squares: 0.0,
        }
    }

    /// Adds all of `other` (Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
    /// Variances", 1979).
    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        self.squares += other.squares + apart * apart * mine * theirs / (mine + theirs);
        self.mean += apart * theirs / (mine + theirs);
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Smallest, largest, mean and standard deviation in milliseconds.
    pub fn milliseconds(&self) -> [f64; 4] {
        let deviation = match self.count {
            0 => 0.0,
            count => (self.squares / count as f64).sqrt(),
        };
        [self.min as f64, self.max as f64, self.mean, deviation].map(|nanos| nanos / 1e6)
    }
}

/// Counts of I/Os in buckets of one length: reads and writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    length: Nanos,
    most: usize,
    counts: Vec<[u64; 2]>,
    /// As long as `counts`, where latencies are kept.
    latencies: Option<Vec<[Moments; 2]>>,
}

impl Buckets {
    /// Empty buckets of `length` over `duration`; whole ones, the last rounded up.
    pub fn new(length: Nanos, duration: Nanos, keeps_latencies: bool) -> Self {
        let length = Nanos::new(length.get().max(1));
        let most = duration.get().div_ceil(length.get()).min(BUCKETS_MAX);
        Self {
            length,
            most: most as usize,
            counts: Vec::new(),
            latencies: keeps_latencies.then(Vec::new),
        }
    }

    /// The bucket that ends at or after `at`, made where it is not there yet.
    fn index(&mut self, at: Nanos) -> Option<usize> {
        let number = at.get().div_ceil(self.length.get()).max(1) - 1;
        let index = usize::try_from(number).ok().filter(|at| *at < self.most)?;
        self.reach(index + 1);
        Some(index)
    }

    fn reach(&mut self, count: usize) {
        if self.counts.len() < count {
            self.counts.resize(count, [0; 2]);
            if let Some(latencies) = &mut self.latencies {
                latencies.resize(count, [Moments::default(); 2]);
            }
        }
    }

    fn window(&mut self, window: &LogWindow) {
        if let Some(index) = self.index(window.end) {
            for (count, sums) in self.counts[index].iter_mut().zip(&window.directions) {
                *count += sums.ios;
            }
        }
    }

    fn histogram(&mut self, told: &LogHistogram) {
        if let (Some(way), Some(index)) = (way(told.direction), self.index(told.end)) {
            self.counts[index][way] += told.complete.count();
            self.latency(index, way, &Moments::of(&told.complete));
        }
    }

    fn io(&mut self, at: Nanos, way: usize, latency: Nanos) {
        if let Some(index) = self.index(at) {
            self.counts[index][way] += 1;
            self.latency(index, way, &Moments::one(latency));
        }
    }

    fn latency(&mut self, index: usize, way: usize, moments: &Moments) {
        if let Some(latencies) = &mut self.latencies {
            latencies[index][way].merge(moments);
        }
    }

    /// Adds those of another worker, bucket by bucket.
    pub fn merge(&mut self, other: &Self) {
        self.reach(other.counts.len());
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            mine[0] += theirs[0];
            mine[1] += theirs[1];
        }
        if let (Some(mine), Some(theirs)) = (&mut self.latencies, &other.latencies) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine[0].merge(&theirs[0]);
                mine[1].merge(&theirs[1]);
            }
        }
    }

    /// Milliseconds to the end of each bucket, its I/Os a second and its latencies: reads, then writes. Up to the last
    /// with an I/O.
    pub fn series(&self) -> impl Iterator<Item = (u64, [(f64, Moments); 2])> + '_ {
        let used = self.used(|counts| counts[0] + counts[1]);
        let seconds = self.length.as_secs_f64();
        (0..used).map(move |index| {
            let end = self.length.get().saturating_mul(index as u64 + 1) / 1_000_000;
            let latencies = self.latencies.as_ref().and_then(|all| all.get(index));
            let latencies = latencies.copied().unwrap_or_default();
            let rate = |way: usize| (self.counts[index][way] as f64 / seconds, latencies[way]);
            (end, [rate(0), rate(1)])
        })
    }

    /// Buckets up to the last with an I/O of those that `count` picks.
    fn used(&self, count: impl Fn(&[u64; 2]) -> u64) -> usize {
        let last = self.counts.iter().rposition(|counts| count(counts) > 0);
        last.map_or(0, |at| at + 1)
    }

    /// Population standard deviation of I/Os a second over the buckets up to the last with an I/O; `count` picks what is
    /// counted of reads and writes. `None` without any I/O.
    pub fn deviation(&self, count: impl Fn(&[u64; 2]) -> u64) -> Option<f64> {
        let used = self.used(&count);
        if used == 0 {
            return None;
        }
        let seconds = self.length.as_secs_f64();
        let rates = || {
            self.counts[..used]
                .iter()
                .map(|it| count(it) as f64 / seconds)
        };
        let mean = rates().sum::<f64>() / used as f64;
        let squares: f64 = rates().map(|rate| (rate - mean).powi(2)).sum();
        Some((squares / used as f64).sqrt())
    }
}
