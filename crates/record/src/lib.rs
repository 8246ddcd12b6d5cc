//! What a run yields: events while it goes, measurements when it ends, and the record that is stored.
//!
//! The engine and the simulator emit [`Event`]s and return [`StageResult`]s; [`Record`] is the document built from
//! them (schema `fathom.record/1`), the same for real and predicted runs.
//!
//! Invariants: nothing here does I/O or reads a clock; a key's meaning never changes within a schema version; keys end
//! in their unit.

mod asked;
mod build;
mod checks;
mod document;
mod event;
mod io_log;
mod measure;
mod merge;
mod naming;
mod rate_windows;
mod rates;
mod repeats;
mod sweep;

pub use build::{latency_record, stage_record, total_of, total_of_seconds};
pub use checks::{
    Evidence, InMemory, MachineClock, Reduced, Reducing, TargetFacts, before_colon,
    compressible_note, run_checks, verdict,
};
pub use document::{
    Check, CpuRecord, DetailRecord, DeviceCountersRecord, DirectionRecord, EmulationRecord,
    ErrorRecord, HostRecord, HostsRecord, IntervalDirection, IntervalRecord, JobRecord,
    LatencyRecord, OverTimeRecord, Record, RunKind, SCHEMA, StageRecord, StorageRecord, ToolRecord,
    TotalRecord, Verdict,
};
pub use event::{Event, EventSink, Ignore, IoFailure, Phase, WRONG_DATA};
pub use io_log::{DurationSum, LogChunk, LogHistogram, LogWindow, LoggedIo, WindowSums};
pub use measure::{
    BATCH_LEVELS, Began, CheckTimes, DEPTH_LEVELS, DeviceCounters, EndReason, FailedOperation,
    HalfSecond, IntervalStats, IoErrors, OpStats, OtherIo, OutsideCalls, SetStats, StageResult,
    SteadyOutcome, Usage, WorkerStats, batch_level, depth_level, repeat_name,
};
pub use merge::{
    HostClock, HostPart, MergeError, MissingHost, host_of, merge, merged_latency, merged_response,
};
pub use naming::{jobs_in_words, repeat_in_words, stage_in_words};
pub use rate_windows::{RateWindows, WindowCounts, Windows};
pub use rates::{resolved_stage, resolved_workload, stage_rate};
pub use repeats::{PlannedStage, planned_stages};
pub use sweep::{
    CurveRecord, KneePlace, KneeRecord, LEAST_WAITING, PointRecord, SweepRecord, sweep_record,
};
