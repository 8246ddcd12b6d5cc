//! What was seen, whoever saw it: samples over time of devices and of the machine.
//!
//! Counts are kept as counts and times as times; rates and percentiles are read from them at the edge. `None` is
//! "the source cannot know", which is another thing than zero.

use fathom_stats::Histogram;
use fathom_units::{Bytes, Nanos, Percent};
use jiff::tz::{Offset, TimeZone};

/// What was seen of one machine.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// Where it comes from, in one sentence: "iostat's JSON `db1.json`".
    pub source: String,
    /// In the order of the source.
    pub devices: Vec<Device>,
    /// Processors and memory.
    pub machine: Machine,
    /// What the source cannot know, each once.
    pub unknown: Vec<Unknown>,
    /// What makes a figure doubtful: a gap, a clock that jumped, a counter that went back.
    pub doubts: Vec<String>,
    /// Whose hours of the day its times are told in.
    pub zone: Zone,
}

/// Whose hours of the day an observation's times are told in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Zone {
    /// This machine's: it was watched itself, or the times are told in UTC whatever clock the other machine had.
    #[default]
    Own,
    /// As they are written: the source does not tell its zone, and its times were read as if they were UTC.
    Written,
    /// Of a clock that goes so many seconds before Greenwich's, as the source says.
    East(i32),
}

impl Zone {
    /// The zone that hours of the day are read in.
    pub fn time_zone(self) -> TimeZone {
        match self {
            Self::Own => TimeZone::system(),
            Self::Written => TimeZone::UTC,
            Self::East(seconds) => {
                Offset::from_seconds(seconds).map_or(TimeZone::UTC, TimeZone::fixed)
            }
        }
    }
}

/// A figure that the source cannot know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The figure, in the words of the checklist: "latency, 99th percentile".
    pub figure: &'static str,
    /// Why: "iostat gives averages of an interval, and an average hides it".
    pub reason: &'static str,
}

/// One device, in order of time.
#[derive(Debug, Clone, Default)]
pub struct Device {
    /// As the source names it.
    pub name: String,
    /// Physical disks behind it, where known: queue verdicts are per disk.
    pub disks: Option<u32>,
    /// Space in use or in all, where known.
    pub capacity: Option<Bytes>,
    /// Intervals that do not overlap.
    pub samples: Vec<Sample>,
    /// Each I/O, where every one was seen.
    pub traced: Option<Traced>,
    /// The same by stretches of time, in order; empty where the source has it as a whole alone.
    pub stretches: Vec<Stretch>,
    /// Share of the time in which I/Os were traced; `None` is all of it.
    pub sampled: Option<Percent>,
}

/// What happened on a device in one interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// Its end, as nanoseconds of the Unix epoch; of the source's own zero where it has no date.
    pub at_unix_ns: i64,
    /// Its length.
    pub length: Nanos,
    /// Reads that completed.
    pub reads: Option<Ops>,
    /// Writes that completed.
    pub writes: Option<Ops>,
    /// Where the source does not tell reads from writes: both.
    pub all: Option<Ops>,
    /// I/Os outstanding, averaged over the interval's time.
    pub queue: Option<f64>,
    /// Share of the interval in which an I/O was outstanding.
    pub busy: Option<Percent>,
    /// I/Os a second that were split into several.
    pub split: Option<f64>,
    /// Where its I/Os began.
    pub placed: Option<Placed>,
    /// The least latency of any of its I/Os.
    pub fastest: Option<Nanos>,
}

impl Sample {
    /// I/Os of both directions that completed.
    pub fn ios(&self) -> Option<f64> {
        self.sum(|ops| Some(ops.count))
    }

    /// Bytes of both directions.
    pub fn bytes(&self) -> Option<f64> {
        self.sum(|ops| ops.bytes)
    }

    /// Nanoseconds that the I/Os of both directions took in all.
    pub fn time(&self) -> Option<f64> {
        self.sum(|ops| ops.time.map(|time| time.get() as f64))
    }

    /// `what` a second.
    pub fn per_second(&self, what: f64) -> f64 {
        if self.length == Nanos::ZERO {
            0.0
        } else {
            what / self.length.as_secs_f64()
        }
    }

    fn sum(&self, of: impl Fn(&Ops) -> Option<f64>) -> Option<f64> {
        if let Some(all) = &self.all {
            return of(all);
        }
        Some(of(self.reads.as_ref()?)? + of(self.writes.as_ref()?)?)
    }
}

/// Where I/Os began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Placed {
    /// I/Os that began elsewhere than where the last of their process and direction ended.
    pub random: u64,
    /// I/Os whose place could be judged.
    pub judged: u64,
}

/// Operations of one direction in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ops {
    /// How many completed. A fraction where the source gives a rounded rate.
    pub count: f64,
    /// Bytes they moved.
    pub bytes: Option<f64>,
    /// Time they took in all; divided by `count` their mean latency.
    pub time: Option<Nanos>,
    /// Adjacent requests that were merged into these.
    pub merged: Option<f64>,
}

/// What is known when every I/O of a device was seen.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// From issue to completion, in nanoseconds.
    pub read_latency: Histogram,
    /// From issue to completion, in nanoseconds.
    pub write_latency: Histogram,
    /// In bytes.
    pub read_size: Histogram,
    /// In bytes.
    pub write_size: Histogram,
    /// Time at each queue depth, in nanoseconds: place is depth.
    pub depth: Vec<u64>,
    /// I/Os that began elsewhere than where the last of their process and direction ended.
    pub random: u64,
    /// I/Os whose place could be judged.
    pub judged: u64,
    /// I/Os of each process by name, most first; buffered writes are "writeback".
    pub processes: Vec<(String, u64)>,
    /// I/Os that the kernel's buffers lost.
    pub lost: u64,
    /// Flushes without data, which the kernel's counters have among the writes.
    pub flushes: u64,
}

/// Traced I/Os of one stretch of time, reads and writes together.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    /// Its end, as of [`Sample::at_unix_ns`].
    pub at_unix_ns: i64,
    /// Its length.
    pub length: Nanos,
    /// From issue to completion, in nanoseconds.
    pub latency: Histogram,
    /// In bytes.
    pub size: Histogram,
    /// Time at each queue depth, in nanoseconds: place is depth.
    pub depth: Vec<u64>,
}

/// The machine's own samples.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// As the source names it.
    pub name: Option<String>,
    /// Logical processors.
    pub processors: Option<u64>,
    /// Memory in all.
    pub memory: Option<Bytes>,
    /// In order of time.
    pub samples: Vec<MachineSample>,
}

/// Processors and memory in one interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct MachineSample {
    /// Its end, as of [`Sample::at_unix_ns`].
    pub at_unix_ns: i64,
    /// Share of all processors in use.
    pub processors: Option<Percent>,
    /// Memory in use.
    pub memory: Option<Bytes>,
}
