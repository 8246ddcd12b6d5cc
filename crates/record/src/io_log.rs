//! What a worker tells of its I/O while it runs, where its job asks for that (`workload::IoLog`).
//!
//! It comes in chunks of bounded size, in the order of completion; all times count from the start of the worker's
//! measurement. What is told is not kept: it is for those who write it somewhere as it comes.

use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Direction, IoPriority};

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedIo {
    /// When it was handed to the system: the end of the submitting call where the job splits latency, its start
    /// otherwise.
    pub issued: Nanos,
    /// When its completion was seen.
    pub completed: Nanos,
    /// From the start of the submitting call to its end, where the job splits latency.
    pub submit: Option<Nanos>,
    /// From the start of the submitting call to completion.
    pub latency: Nanos,
    /// Its direction.
    pub direction: Direction,
    /// Index of its target within the job.
    pub target: u32,
    /// Where it began within its target, in bytes.
    pub offset: u64,
    /// Bytes moved.
    pub bytes: u32,
    /// Its priority.
    pub priority: IoPriority,
}

impl LoggedIo {
    /// From the end of the submitting call to completion.
    pub fn complete(&self) -> Nanos {
        self.latency
            .saturating_sub(self.submit.unwrap_or(Nanos::ZERO))
    }
}

/// Sum and largest of some durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DurationSum {
    /// Sum in ns.
    pub sum_ns: u128,
    /// The largest.
    pub max: Nanos,
}

impl DurationSum {
    fn add(&mut self, value: Nanos) {
        self.sum_ns += u128::from(value.get());
        self.max = self.max.max(value);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sum_ns += other.sum_ns;
        self.max = self.max.max(other.max);
    }
}

/// I/Os of one direction within a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowSums {
    /// How many completed.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Their submission latencies; zero where the job does not split latency.
    pub submit: DurationSum,
    /// Their completion latencies.
    pub complete: DurationSum,
    /// Their total latencies.
    pub total: DurationSum,
}

impl WindowSums {
    /// Counts one I/O.
    pub fn add(&mut self, io: &LoggedIo) {
        self.ios += 1;
        self.bytes += u64::from(io.bytes);
        self.submit.add(io.submit.unwrap_or(Nanos::ZERO));
        self.complete.add(io.complete());
        self.total.add(io.latency);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.submit.merge(&other.submit);
        self.complete.merge(&other.complete);
        self.total.merge(&other.total);
    }
}

/// What completed in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogWindow {
    /// End of the window.
    pub end: Nanos,
    /// Its length; the last one may be shorter.
    pub length: Nanos,
    /// By [`Direction`].
    pub directions: [WindowSums; 3],
}

/// Completion latencies of one direction within a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHistogram {
    /// End of the window.
    pub end: Nanos,
    /// The direction.
    pub direction: Direction,
    /// Completion latencies in ns.
    pub complete: Histogram,
}

/// A part of what one worker tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogChunk {
    /// Start of the worker's measurement, on the run's clock.
    pub begun: Nanos,
    /// I/Os, where each is told.
    pub ios: Vec<LoggedIo>,
    /// Windows that ended, where they are told. Those without any I/O are left out, but for the last.
    pub windows: Vec<LogWindow>,
    /// Histograms of windows that ended, where they are told; those without any I/O are left out.
    pub histograms: Vec<LogHistogram>,
}

impl LogChunk {
    /// Whether it tells nothing.
    pub fn is_empty(&self) -> bool {
        self.ios.is_empty() && self.windows.is_empty() && self.histograms.is_empty()
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.ios.clear();
        self.windows.clear();
        self.histograms.clear();
    }
}
