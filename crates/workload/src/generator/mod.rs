//! The generator: each worker's I/Os, their intended start times and what written buffers hold.
//!
//! The engine and the simulator draw from it alike, so that a real and a predicted run issue the same I/O and their
//! records can be laid side by side. [`WorkerStream`] yields direction, target, offset and size; [`ArrivalSchedule`] the
//! intended starts of an open loop; [`BufferFill`] the bytes to write.
//!
//! Invariants: a stream depends on its [`StreamKey`], the job and the targets' ranges alone (with a [`SharedCursor`] also
//! on the order in which workers reach it), and is the same on every platform and in every release; offsets, directions,
//! sizes and targets come from streams of their own, so that changing one leaves the others as they were; after
//! construction nothing here allocates, locks or makes a system call.
//!
//! ```
//! use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
//! let workload = fathom_workload::preset("quick", "/mnt/data").unwrap();
//! let job = &workload.stages[0].jobs[0];
//! let key = StreamKey { seed: workload.seed, job: 0, worker: 0, salt: job.salt };
//! let range = TargetRange { offset: 1 << 20, length: 1 << 30 };
//! let mut stream = WorkerStream::new(job, key, &[range], &SharedCursor::new()).unwrap();
//! let io = stream.next_io().unwrap();
//! assert_eq!((io.index, io.length, io.offset % 4096), (0, 4096, 0));
//! ```

mod arrival;
mod bitmap;
mod cells;
mod conditioning;
mod course;
mod cursor;
mod fill;
mod filler;
#[cfg(test)]
mod filler_tests;
mod lines;
#[cfg(test)]
mod lines_tests;
mod owed;
mod permutation;
mod picker;
mod random_bytes;
mod regions;
mod restarts;
mod rng;
mod set_state;
mod set_stream;
#[cfg(test)]
mod set_tests;
mod shared;
mod side_by_side;
mod sizes;
mod spread;
mod steps;
mod stream;
#[cfg(test)]
mod stream_tests;
mod stretch;
mod walk;
mod walk_region;
mod walk_sizes;
#[cfg(test)]
mod walk_tests;
mod zipf;

pub use arrival::ArrivalSchedule;
pub use bitmap::MAP_BLOCKS_MAX;
pub use cursor::SharedCursor;
pub use fill::BufferFill;
pub use owed::is_owed;
pub(crate) use rng::mix;
pub use rng::stream_seeds;
pub use set_state::{FoundFile, SetShare, SetState};
pub use set_stream::{ActEnd, RequestPart, SetAct, SetFile, SetNext, SetStream};
pub use stream::WorkerStream;

use fathom_diagnostics::Diagnostic;
use fathom_units::Bytes;

use crate::{Direction, Job, Mix};

/// A number below `bound` that 64 random bits give.
pub(crate) const fn below(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// The bytes of a target that a job uses, as found when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetRange {
    /// First byte used.
    pub offset: u64,
    /// Bytes used from `offset`.
    pub length: u64,
}

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Number of the I/O within its stream, from 0.
    pub index: u64,
    /// Which way data moves.
    pub direction: Direction,
    /// Index of the target within the job.
    pub target: u32,
    /// First byte, counted from the start of the target (not of its range).
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

/// I/Os that follow each other and differ in nothing but their number and their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike<'a> {
    /// Number of the first within its stream; the others follow.
    pub first_index: u64,
    /// Which way data moves.
    pub direction: Direction,
    /// Index of the target within the job.
    pub target: u32,
    /// Bytes of each.
    pub length: u32,
    /// First byte of each, in order, counted from the start of the target.
    pub offsets: &'a [u64],
}

impl Alike<'_> {
    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = Io> {
        (self.first_index..)
            .zip(self.offsets)
            .map(|(index, offset)| Io {
                index,
                direction: self.direction,
                target: self.target,
                offset: *offset,
                length: self.length,
            })
    }
}

/// What a worker's random streams depend on. Equal keys draw alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamKey {
    /// [`crate::Workload::seed`].
    pub seed: u64,
    /// Index of the job over the whole workload.
    pub job: u32,
    /// Index of the worker within the job.
    pub worker: u32,
    /// [`Job::salt`].
    pub salt: u64,
}

impl StreamKey {
    /// The key of what `repeat` of the stage, counted from 0, draws anew: when its I/Os come, and what its writes hold. What
    /// its I/Os are comes from the key itself in every repeat. The first repeat has the draws of a stage without repeats.
    #[must_use]
    pub const fn of_repeat(self, repeat: u32) -> Self {
        Self {
            salt: self.salt.wrapping_add((repeat as u64) << 32),
            ..self
        }
    }

    /// The key of what each of several hosts that do one workload together draws by itself: when its I/Os come. `host` is
    /// counted from 0; the first has the draws of a workload that one host does alone.
    #[must_use]
    pub const fn of_host(self, host: u32) -> Self {
        Self {
            // 0 is mixed to 0. Neighbouring numbers come out far from each other, and from what repeats add.
            salt: self.salt.wrapping_add(mix(host as u64)),
            ..self
        }
    }
}

/// Why a job has no stream of I/O on its targets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("job `{job}`: {reason}")]
pub struct StreamError {
    /// Name of the job.
    pub job: String,
    /// What is wrong.
    pub reason: Rejection,
}

impl StreamError {
    pub(crate) fn new(job: &Job, reason: Rejection) -> Self {
        let job = job.name.clone();
        Self { job, reason }
    }
}

impl From<&StreamError> for Diagnostic {
    fn from(error: &StreamError) -> Self {
        let complaint = Self::error(error.to_string());
        match error.reason.hint() {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        }
    }
}

impl Rejection {
    /// What would be right, where the message does not say it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoTargets => Some("name at least one"),
            Self::ZeroAlignment => Some("leave it out for that of the block size"),
            Self::EmptyTarget(_) => Some("give it a size, or a smaller offset"),
            Self::BlockExceedsTarget { .. } => Some("use a smaller block or a larger target"),
            Self::RangeOverflow(_) => Some("use a smaller offset or size"),
            Self::LimitBelowBlock { .. } => Some("raise the limit or use a smaller block"),
            Self::OrderBeyondMemory { .. } => Some(
                "use less of the targets or larger blocks, or leave the rates or the checks out",
            ),
            Self::CacheBeyondRegion { .. } => Some("name fewer regions"),
            Self::ConditioningBeyondMemory { .. } => Some("name more regions"),
            Self::TooManyTargets(_) | Self::Mix(_) | Self::BlockSize(_) | Self::NoSize(_) => None,
        }
    }
}

/// What is wrong with a job or its targets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Nothing to do I/O on.
    #[error("it has no targets")]
    NoTargets,
    /// More targets than an I/O can number.
    #[error("it has {0} targets; at most {max} can be told apart", max = u32::MAX)]
    TooManyTargets(usize),
    /// Shares of more or less than the whole.
    #[error("its mix ({}) does not add up to 100 %", sizes::describe(*.0))]
    Mix(Mix),
    /// A size that no I/O can have.
    #[error("its block size of {} bytes is outside 1 byte to 4 GiB - 1", .0.get())]
    BlockSize(Bytes),
    /// A direction in use without sizes.
    #[error("it has no block size with a weight for {0}s")]
    NoSize(&'static str),
    /// Offsets cannot be multiples of nothing.
    #[error("its alignment is 0 bytes")]
    ZeroAlignment,
    /// A target without bytes.
    #[error("`{0}` has no bytes to use")]
    EmptyTarget(String),
    /// A block that fits nowhere.
    #[error("its blocks of {block} do not fit into the {length} of `{target}`")]
    BlockExceedsTarget {
        /// Largest block of the job.
        block: Bytes,
        /// The target.
        target: String,
        /// Bytes of the target in use.
        length: Bytes,
    },
    /// A range past the largest offset there is.
    #[error("the range of `{0}` ends past 2^63 bytes")]
    RangeOverflow(String),
    /// A limit that allows no I/O.
    #[error("its limit of {bytes} is less than one block of {block}")]
    LimitBelowBlock {
        /// The limit of each pass.
        bytes: Bytes,
        /// Largest block of the job.
        block: Bytes,
    },
    /// Reads and writes are held to rates of their own, and their order is to be known when a pass is checked.
    #[error(
        "its reads and writes have rates of their own, and of the {ios} I/Os of a pass that is checked the order of {most} at most is kept"
    )]
    OrderBeyondMemory {
        /// I/Os of a pass.
        ios: u64,
        /// As many as there may be.
        most: u64,
    },
    /// A cache that would hold all of a region, where it is to be written out before its blocks are written again.
    #[error("a cache of {cache} is larger than the {region} of a region of its conditioning")]
    CacheBeyondRegion {
        /// The cache.
        cache: Bytes,
        /// Bytes of each region.
        region: Bytes,
    },
    /// What is to be written again is kept in memory until then.
    #[error(
        "{waiting} blocks of a region of its conditioning are written again, and {most} at most are kept in memory"
    )]
    ConditioningBeyondMemory {
        /// Blocks that would wait.
        waiting: u64,
        /// As many as there may be.
        most: u64,
    },
}
