//! What was counted over an interval or a run, and the figures of a row that come of it.

use fathom_record::{OpStats, SetStats};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::SetOperation;

use super::{Asks, JobSecond};

/// Clock ticks of all processors of a machine, by what they were used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processors {
    /// In programs.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
    /// Idle while I/O was waited for.
    pub wait: u64,
    /// Idle.
    pub idle: u64,
}

impl Processors {
    /// Percentages of user, system, wait and idle; zeros where the time was too short for a tick.
    pub(super) fn percent(self) -> [f64; 4] {
        let all = (self.user + self.system + self.wait + self.idle).max(1);
        [self.user, self.system, self.wait, self.idle].map(|part| part as f64 * 100.0 / all as f64)
    }

    fn add(&mut self, other: Self) {
        self.user += other.user;
        self.system += other.system;
        self.wait += other.wait;
        self.idle += other.idle;
    }
}

/// Operations that completed in some time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Sum of the lengths of the intervals.
    pub length: Nanos,
    /// Reads.
    pub reads: Option<OpStats>,
    /// Writes.
    pub writes: Option<OpStats>,
    /// What was done to directories and files.
    pub set: SetStats,
    /// The operations that were asked for, in a run on files: those that come with them are not.
    pub requested: Option<OpStats>,
    /// Ticks of the processors; `None` where they are not known, as in a prediction.
    pub processors: Option<Processors>,
}

/// The numbers of one kind of operation, times in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Kind {
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) mean: f64,
    pub(super) max: f64,
    /// Of the sample (divided by n − 1), from the mid-points of histogram buckets.
    pub(super) deviation: f64,
    /// Sum of all response times in ns.
    sum_ns: u128,
    squares: f64,
}

impl Kind {
    fn of(stats: Option<&OpStats>) -> Self {
        let Some(stats) = stats.filter(|stats| stats.ios() > 0) else {
            return Self::default();
        };
        let latency = &stats.latency;
        let count = latency.count() as f64;
        let squares = count * (latency.stddev().powi(2) + latency.mean().powi(2));
        Self::with(
            latency.count(),
            stats.bytes,
            latency.sum(),
            latency.max(),
            squares,
        )
    }

    fn with(ios: u64, bytes: u64, sum_ns: u128, max_ns: u64, squares: f64) -> Self {
        let count = ios as f64;
        let mean = sum_ns as f64 / count.max(1.0);
        let variance = (squares - count * mean * mean) / (count - 1.0);
        let deviation = if ios > 1 {
            variance.max(0.0).sqrt()
        } else {
            0.0
        };
        Self {
            ios,
            bytes,
            mean: mean / 1e6,
            max: max_ns as f64 / 1e6,
            deviation: deviation / 1e6,
            sum_ns,
            squares,
        }
    }

    fn and(self, other: Self) -> Self {
        let max_ns = (self.max.max(other.max) * 1e6).round() as u64;
        Self::with(
            self.ios + other.ios,
            self.bytes + other.bytes,
            self.sum_ns + other.sum_ns,
            max_ns,
            self.squares + other.squares,
        )
    }
}

/// The numbers of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub(super) rate: f64,
    pub(super) megabytes: f64,
    /// Mean size of an I/O, in whole bytes.
    pub(super) bytes: u64,
    pub(super) read_percent: f64,
    pub(super) all: Kind,
    pub(super) read: Kind,
    pub(super) write: Kind,
    /// Mean number of I/Os in flight, by Little's law: the sum of response times over the length.
    pub(super) queue_depth: f64,
    /// Percentages of user, system, wait, idle.
    pub(super) processors: Option<[f64; 4]>,
}

/// The numbers of a row of a run on files.
#[derive(Debug, Clone)]
pub(super) struct SetFigures {
    length: Nanos,
    megabyte: f64,
    /// What was asked for.
    pub(super) requested: Kind,
    pub(super) read: Kind,
    pub(super) write: Kind,
    pub(super) operations: Vec<(SetOperation, Kind)>,
    /// Percentages of user, system, wait, idle.
    pub(super) processors: Option<[f64; 4]>,
}

impl SetFigures {
    /// Those of one operation.
    pub(super) fn of(&self, operation: SetOperation) -> Kind {
        let mut all = self.operations.iter();
        let found = all.find(|(other, _)| *other == operation);
        found.map_or_else(Kind::default, |(_, kind)| *kind)
    }

    /// Operations a second.
    pub(super) fn rate(&self, kind: Kind) -> f64 {
        per_second(kind.ios as f64, self.length)
    }

    /// Megabytes a second.
    pub(super) fn megabytes(&self, kind: Kind) -> f64 {
        per_second(kind.bytes as f64, self.length) / self.megabyte
    }
}

fn megabyte(decimal: bool) -> f64 {
    if decimal { 1e6 } else { f64::from(1 << 20) }
}

impl Tally {
    /// Nothing, over no time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the operations of a job, of which it `asks` for some; the length stays.
    pub fn count(&mut self, job: &JobSecond<'_>, asks: Asks) {
        let [read, write, _] = job.directions;
        add(&mut self.reads, read.as_ref());
        add(&mut self.writes, write.as_ref());
        self.set.merge(job.set);
        match asks {
            Asks::Storage => {}
            Asks::Moves => {
                add(&mut self.requested, read.as_ref());
                add(&mut self.requested, write.as_ref());
            }
            Asks::Does(operation) => add(&mut self.requested, job.set.of(operation)),
        }
    }

    /// Adds all of a later one.
    pub fn append(&mut self, later: &Self) {
        self.length += later.length;
        add(&mut self.reads, later.reads.as_ref());
        add(&mut self.writes, later.writes.as_ref());
        add(&mut self.requested, later.requested.as_ref());
        self.set.merge(&later.set);
        if let Some(processors) = later.processors {
            self.processors
                .get_or_insert_with(Processors::default)
                .add(processors);
        }
    }

    /// I/Os both ways.
    pub fn ios(&self) -> u64 {
        [&self.reads, &self.writes]
            .into_iter()
            .flatten()
            .map(OpStats::ios)
            .sum()
    }

    /// Mean number of I/Os that waited for a thread, by Little's law: the sum of their waits over the length. 0 where
    /// nothing has an intended start.
    pub(super) fn waiting(&self) -> f64 {
        let stats = [&self.reads, &self.writes].into_iter().flatten();
        let waits = stats.filter_map(|stats| {
            let response = stats.response.as_ref()?;
            Some(response.sum().saturating_sub(stats.latency.sum()))
        });
        per_second(waits.sum::<u128>() as f64 / 1e9, self.length)
    }

    /// Bytes read, bytes written.
    pub fn bytes(&self) -> [u64; 2] {
        [&self.reads, &self.writes].map(|stats| stats.as_ref().map_or(0, |stats| stats.bytes))
    }

    /// I/Os a second.
    pub fn rate(&self) -> f64 {
        per_second(self.ios() as f64, self.length)
    }

    /// Mean response time of both ways in ns; 0 without an I/O.
    pub fn response(&self) -> f64 {
        let figures = self.figures(false);
        figures.all.mean * 1e6
    }

    pub(super) fn figures(&self, decimal_megabytes: bool) -> Figures {
        let (read, write) = (
            Kind::of(self.reads.as_ref()),
            Kind::of(self.writes.as_ref()),
        );
        let all = read.and(write);
        let megabyte = megabyte(decimal_megabytes);
        Figures {
            rate: self.rate(),
            megabytes: per_second(all.bytes as f64, self.length) / megabyte,
            bytes: all.bytes.checked_div(all.ios).unwrap_or(0),
            read_percent: read.ios as f64 * 100.0 / all.ios.max(1) as f64,
            all,
            read,
            write,
            queue_depth: per_second(all.sum_ns as f64 / 1e9, self.length),
            processors: self.processors.map(Processors::percent),
        }
    }

    pub(super) fn set_figures(&self, decimal_megabytes: bool) -> SetFigures {
        let of_set = self.set.0.iter();
        SetFigures {
            length: self.length,
            megabyte: megabyte(decimal_megabytes),
            requested: Kind::of(self.requested.as_ref()),
            read: Kind::of(self.reads.as_ref()),
            write: Kind::of(self.writes.as_ref()),
            operations: of_set
                .map(|(operation, stats)| (*operation, Kind::of(Some(stats))))
                .collect(),
            processors: self.processors.map(Processors::percent),
        }
    }

    /// Response times of both ways together: from submission, and from the intended start where that is known.
    pub(super) fn response_times(&self) -> (Histogram, Option<Histogram>) {
        let mut all = Histogram::new();
        let mut intended: Option<Histogram> = None;
        for stats in [&self.reads, &self.writes].into_iter().flatten() {
            all.merge(&stats.latency);
            if let Some(response) = &stats.response {
                intended.get_or_insert_with(Histogram::new).merge(response);
            }
        }
        (all, intended)
    }
}

fn add(mine: &mut Option<OpStats>, theirs: Option<&OpStats>) {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}

fn per_second(amount: f64, length: Nanos) -> f64 {
    if length == Nanos::ZERO {
        return 0.0;
    }
    amount * 1e9 / length.get() as f64
}
