//! The workload model: what I/O to issue, on what, how fast and for how long; and the generator that yields it.
//!
//! Every dialect is read into a [`Workload`]; the engine runs it on real storage and the simulator on modelled storage,
//! both from the same [`generator`] so that the two records can be laid side by side.
//!
//! Invariants: nothing here knows a dialect or a backend; a worker's stream depends on (seed, job, worker, index) alone
//! and is the same on every platform.

mod access;
mod features;
mod file_set;
pub mod generator;
mod job;
pub mod native;
mod pattern;
mod presets;
mod rate_from;
mod stage;
mod sweep;
mod target;
pub mod trace;
mod validate;

pub use access::{Access, BlockSizes, Coverage, Direction, Mix, SequentialScope, WeightedSize};
pub use features::{
    AccessLine, Advice, AfterFound, Batches, Between, Calls, Dedupe, DedupeFrom, DirectionRates,
    Distribution, DistributionError, EndsOthers, ErrorHandling, Features, FileHandling,
    FileOperation, FileTask, FileWork, Filling, Flow, Growth, IoLog, IoPriority, Journal,
    LINE_ALIGNMENT, LINES_MAX, LatencyTarget, Lifetime, MinimumRates, Overlaps, PROCESSOR_MAX,
    Placement, Priorities, PriorityShare, Process, ProcessorSharing, ProcessorWork, RATE_STEPS_MAX,
    RateSamples, RateStep, RateSteps, Replay, ReplayPace, Reserve, SEQUENCE_MAX, SetChoice,
    SetFormat, SetOperation, SetRate, SizeDraw, SizeRange, StatCall, SteadyJudgement, SteadyLimit,
    SteadyMetric, SteadyState, StopAfter, Submitter, SyncRange, ThinkCounts, ThinkTime,
    ThreadPriority, TracePart, WorkKind, ZONES_MAX, Zone, ZoneStride,
};
pub use features::{
    Backlog, Checksum, Conditioning, HEADER_BYTES, HeaderCheck, MemoryPolicy, NODE_MAX, NodeSet,
    OnMismatch, TrimmedData, Validate, Verify, VerifyPhase, VerifyRepeats, VerifyTrims,
    VerifyTrust,
};
pub use file_set::{
    FileSet, FileSizes, FileSpread, SET_DEPTH_MAX, SET_MAX, is_set_directory, is_set_file,
};
pub use job::{
    Arrival, Backend, BufferContents, Caching, ExistingFiles, Job, Limits, OpenSync, Pacing,
    Poisson, ReportGroup, SyncPolicy, WhenFull,
};
pub use pattern::{FormatAt, Pattern, PatternError};
pub use presets::{preset, preset_names};
pub use rate_from::{RateFrom, RateRounding, RateShares};
pub use stage::{Stage, Workload};
pub use sweep::{POINTS_MAX, Sweep, SweepError, SweepPoint, Swept};
pub use target::{FileChoice, Place, Target};
pub use validate::{
    Contradiction, DEPTH_MAX, JOBS_MAX, REPEATS_MAX, STAGES_MAX, WORKERS_MAX, contradictions,
    unknown_to_exports, validate,
};
