//! What a job does beyond issuing I/O as fast, or as scheduled, as it can.
//!
//! All of it is off in [`Features::default`]. A job without features runs in the engine's plain worker, whose I/O costs
//! nothing that it did not ask for.

mod calls;
mod distribution;
mod errors;
mod file_work;
mod files;
mod filling;
mod io_log;
mod lines;
mod pacing;
mod placement;
mod priority;
mod process;
mod processor_work;
mod replay;
mod validate;
mod verify;

use fathom_units::{Bytes, Nanos};

pub use calls::{Advice, Calls, Lifetime, PROCESSOR_MAX, Submitter};
pub use distribution::{Distribution, DistributionError, SEQUENCE_MAX, ZONES_MAX, Zone};
pub use errors::ErrorHandling;
pub use file_work::{FileTask, FileWork, SetChoice, SetFormat, SetOperation, SetRate, StopAfter};
pub use files::{FileHandling, FileOperation, Growth, Reserve, StatCall, SyncRange};
pub use filling::{Dedupe, DedupeFrom, Filling};
pub use io_log::{IoLog, RateSamples};

pub use lines::{AccessLine, LINE_ALIGNMENT, LINES_MAX};
pub use pacing::{
    AfterFound, DirectionRates, Flow, LatencyTarget, MinimumRates, Overlaps, RATE_STEPS_MAX,
    RateStep, RateSteps, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState,
};
pub use placement::{Between, Conditioning, Placement, SizeDraw, SizeRange, ZoneStride};
pub use priority::{IoPriority, Priorities, PriorityShare};
pub use process::{
    EndsOthers, MemoryPolicy, NODE_MAX, NodeSet, Process, ProcessorSharing, ThreadPriority,
};
pub use processor_work::{ProcessorWork, WorkKind};
pub use replay::{Replay, ReplayPace, TracePart};
pub use validate::{Journal, Validate};
pub use verify::{
    Backlog, Checksum, HEADER_BYTES, HeaderCheck, OnMismatch, TrimmedData, Verify, VerifyPhase,
    VerifyRepeats, VerifyTrims, VerifyTrust,
};

/// Pauses, batches and whatever else a job asks for; nothing by default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features {
    /// Pauses between I/Os.
    pub think: Option<ThinkTime>,
    /// Rounds of an idle loop that the processor spins through after each I/O.
    pub think_cycles: u32,
    /// How I/Os are gathered for submission and completion, where a peer's input says so.
    pub batches: Option<Batches>,
    /// How written data is checked.
    pub verify: Option<Box<Verify>>,
    /// How all blocks that were ever written are checked.
    pub validate: Option<Box<Validate>>,
    /// A rate of its own for each direction; where it is given, it counts instead of [`crate::Job::arrival`].
    pub rates: Option<DirectionRates>,
    /// Rates that follow one another; where they are given, they count instead of that of [`crate::Job::arrival`], which must
    /// be open and says how their gaps are drawn.
    pub rate_steps: Option<Box<RateSteps>>,
    /// Rates below which the job fails.
    pub minimum: Option<MinimumRates>,
    /// The job's share within its flow.
    pub flow: Option<Flow>,
    /// A search for the depth that keeps a latency.
    pub latency_target: Option<LatencyTarget>,
    /// Ends the job when its results are steady.
    pub steady: Option<SteadyState>,
    /// Whether overlapping I/Os may be outstanding together.
    pub overlaps: Overlaps,
    /// Where I/Os fall, beyond what access and block sizes say.
    pub placement: Option<Box<Placement>>,
    /// Lines that are drawn burst by burst, each with its own size and shares; where there are any, they count instead of
    /// the job's mix, access and sizes, which then say what the lines come to ([`crate::Job::set_lines`]).
    pub lines: Vec<AccessLine>,
    /// What written buffers hold, beyond [`crate::BufferContents`].
    pub filling: Option<Box<Filling>>,
    /// What is told of single I/Os, or of short windows, while the job runs.
    pub io_log: IoLog,
    /// Windows over which its rates are sampled, beside the half seconds of every job.
    pub rate_samples: Option<RateSamples>,
    /// Priorities of single I/Os.
    pub priorities: Option<Box<Priorities>>,
    /// Where workers run, when they begin, and what they end.
    pub process: Process,
    /// What the kernel is told with or before the I/O.
    pub calls: Calls,
    /// What is done to files beside the I/O.
    pub files: FileHandling,
    /// Which failures are survived.
    pub errors: ErrorHandling,
    /// An operation on files in place of reads and writes.
    pub operation: Option<FileOperation>,
    /// Work on a file set, which the job's target then is.
    pub file_work: Option<Box<FileWork>>,
    /// What it does in place of I/O, to keep processors busy beside that of others; its backend then is
    /// [`crate::Backend::Null`], and its target means nothing.
    pub processor_work: Option<ProcessorWork>,
    /// The trace that its I/O comes from.
    pub replay: Option<Replay>,
    /// File that a trace of its I/O is written to.
    pub trace_to: Option<String>,
    /// Bytes that the job moves before its measurement begins, instead of the time of [`crate::Limits::warmup`]; zero: none.
    /// Jobs of a group that is reported together move them together.
    pub warmup_bytes: Bytes,
}

/// A pause after a number of I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkTime {
    /// Length of the pause.
    pub pause: Nanos,
    /// As much of it at its start as the processor spins through instead of sleeping.
    pub spin: Nanos,
    /// I/Os from one pause to the next; at least 1, and [`u32::MAX`] where time alone leads to a pause.
    pub every: u32,
    /// Which I/Os are counted.
    pub counts: ThinkCounts,
    /// A pause also begins once the job ran for this long since the last; zero: only I/Os lead to one.
    pub after: Nanos,
    /// The job's rates stand still in a pause: the next I/O is due as it ends, and nothing of it is caught up with.
    pub stops_rate: bool,
}

/// Which I/Os lead to a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkCounts {
    /// Completed ones; the queue is empty when the pause begins.
    #[default]
    Completed,
    /// Issued ones; what is in flight goes on.
    Issued,
}

/// Sizes of the groups in which I/Os are submitted and completions are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// I/Os gathered before they are submitted together; at least 1.
    pub submit: u32,
    /// Completions waited for at least; 0: none, what is there is taken.
    pub complete_min: u32,
    /// Completions taken at most at a time; at least 1.
    pub complete_max: u32,
    /// Once the queue was full, it drains to this depth before more is submitted; 0: it never drains.
    pub low: u32,
}
