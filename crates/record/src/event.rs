//! What happens while a run goes.
//!
//! The engine and the simulator emit events; the terminal, the run folder and every other view consume them.

use fathom_units::{Bytes, Nanos};

use crate::{IntervalStats, LogChunk, OpStats, SetStats, StageRecord, StageResult};

/// Part of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Files are written before the run.
    Layout,
    /// I/O runs but is not measured yet.
    Warmup,
    /// I/O is measured.
    Measure,
}

/// An I/O that failed, or an operation on a file set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoFailure {
    /// When that was seen, ns since the epoch.
    pub at_unix_ns: u64,
    /// Index of the job within its stage.
    pub job: usize,
    /// What it was: a direction, `fsync`, or an operation on a file set.
    pub operation: &'static str,
    /// The target, or the file of a file set.
    pub path: String,
    /// Its first byte; `None` where it was no transfer.
    pub offset: Option<u64>,
    /// Bytes that were asked for.
    pub length: u64,
    /// The operating system's error number; 0 where a transfer was shorter than asked for, and [`WRONG_DATA`] where what was read
    /// is not what was written.
    pub errno: i32,
    /// What is wrong with the data, a line each; of that alone.
    pub wrong: Vec<String>,
}

/// Linux's number of "illegal byte sequence", by which wrong data is told from failed I/O, as fio does.
pub const WRONG_DATA: i32 = 84;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A file is being laid out; sent about once a second while it grows, and at the end.
    Layout {
        /// The file.
        path: &'a str,
        /// Written so far.
        done: Bytes,
        /// Its size in the end.
        total: Bytes,
    },
    /// A stage begins.
    StageStarted {
        /// Its index among all stages and repeats that will run.
        index: usize,
        /// Stages and repeats that will run.
        count: usize,
        /// Its name.
        name: &'a str,
        /// What people are told it is called, as [`crate::stage_in_words`] has it.
        words: &'a str,
        /// How long it should take, where that is known.
        expected: Option<Nanos>,
    },
    /// What one job did in the second that the next `Interval` tells of. Sent to those that [`EventSink::wants_jobs`].
    JobInterval {
        /// Index as in `StageStarted`.
        index: usize,
        /// Index of the job within its stage.
        job: usize,
        /// By [`fathom_workload::Direction`]; `None` where nothing completed. A real run knows response times too; a
        /// prediction those of the whole stage alone.
        directions: &'a [Option<OpStats>; 3],
        /// What it did to directories and files of a file set, beside reading and writing.
        set: &'a SetStats,
    },
    /// A second of a stage is over.
    Interval {
        /// Index as in `StageStarted`.
        index: usize,
        /// Whether it is measured.
        phase: Phase,
        /// What happened in it, with response times where there are rates.
        interval: &'a IntervalStats,
    },
    /// What a worker did in a measured second that was told without it: it was late to tell, on busy processors.
    IntervalLate {
        /// Index as in `StageStarted`.
        index: usize,
        /// The second by its end, with what comes on top.
        interval: &'a IntervalStats,
    },
    /// What was made durable in the second that the next `Interval` tells of, where a job counts it.
    Syncs {
        /// Index as in `StageStarted`.
        index: usize,
        /// `fsync` and `fdatasync` of all workers.
        stats: &'a OpStats,
    },
    /// More I/Os have failed, syncs, or operations on file sets, or have read wrong data; told soon after, however many did at
    /// once.
    MoreFailed {
        /// All of the run so far: as many as the records of its stages come to in the end, those that a job ignores too. Those
        /// of a stage that is not recorded are in it as long as that goes.
        count: u64,
    },
    /// A worker tells of its I/O, as its job asks for.
    IoLog {
        /// Index as in `StageStarted`.
        index: usize,
        /// Index of the job within its stage.
        job: usize,
        /// Index of the worker within the job.
        worker: u32,
        /// Wall-clock start of the worker's measurement, ns since the epoch.
        begun_unix_ns: u64,
        /// What is told.
        chunk: &'a LogChunk,
    },
    /// All that was measured of a stage: so far, where that is asked for, and at its end.
    Snapshot {
        /// Index as in `StageStarted`.
        index: usize,
        /// Whether the stage is over, and the result whole.
        over: bool,
        /// Operations up to the last whole second. Counters that are known at the end alone (depths, batches, samples,
        /// processor use, devices) are empty.
        result: &'a StageResult,
    },
    /// Something the user should know about the figures.
    Note {
        /// One sentence.
        text: &'a str,
    },
    /// Data that was read is not what was written. Told even where nothing else is shown.
    WrongData {
        /// One line: what is wrong, in which file, at which offset.
        text: &'a str,
    },
    /// An I/O failed. Told of the first of a run, as many as were asked for, soon after it happened.
    IoFailed {
        /// Index as in `StageStarted`.
        index: usize,
        /// What failed, where and why.
        failure: &'a IoFailure,
    },
    /// A job ended by an error while the others go on. Told even where nothing else is shown.
    JobFailed {
        /// What failed, where, and what to do about it.
        text: &'a str,
    },
    /// A stage is over.
    StageFinished {
        /// Index as in `StageStarted`.
        index: usize,
        /// Its part of the record.
        record: &'a StageRecord,
    },
}

/// A consumer of events. Its failures are its own: nothing it does may stop a run.
pub trait EventSink {
    /// Takes one event.
    fn event(&mut self, event: &Event<'_>);

    /// Whether it takes [`Event::JobInterval`]. Asked once, when a run begins: nobody counts them for nothing.
    fn wants_jobs(&self) -> bool {
        false
    }

    /// Whether the present stage is to end, as if its time were over. A prediction asks after each [`Event::Interval`].
    fn ends_stage(&mut self) -> bool {
        false
    }
}

/// Takes every event and does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl EventSink for Ignore {
    fn event(&mut self, _event: &Event<'_>) {}
}
