//! One job: a number of equal workers doing one kind of I/O.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent, common_divisor};

use crate::{Access, BlockSizes, Direction, Features, FileChoice, FileOperation, Mix, Target};

/// A number of equal workers that do one kind of I/O on the same targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Shown in reports; jobs that peers clone share a name.
    pub name: String,
    /// Jobs of one group are reported together where a peer asks for that.
    pub group: ReportGroup,
    /// The machine of a design or cluster that runs it; `None` means this one, or a design's only one.
    pub host: Option<String>,
    /// At least one.
    pub targets: Vec<Target>,
    /// How each I/O picks its target.
    pub file_choice: FileChoice,
    /// Threads, each with its own stream of I/O. At least 1.
    pub workers: u32,
    /// I/Os outstanding per worker in a closed loop; the most outstanding in an open one. At least 1.
    pub depth: u32,
    /// Shares of reads, writes and trims.
    pub mix: Mix,
    /// The order of offsets.
    pub access: Access,
    /// Sizes of I/Os.
    pub block: BlockSizes,
    /// When I/Os start.
    pub arrival: Arrival,
    /// What ends the job.
    pub limits: Limits,
    /// When written data is made durable.
    pub sync: SyncPolicy,
    /// What written buffers hold.
    pub contents: BufferContents,
    /// How I/O is issued.
    pub backend: Backend,
    /// Whether the page cache is used.
    pub caching: Caching,
    /// Which existing files may be written.
    pub existing: ExistingFiles,
    /// Whether submission and completion are timed apart (peers print both; costs a clock reading more).
    pub split_latency: bool,
    /// Drop the parts of the targets that are used from the page cache before the job starts; with buffered I/O, also
    /// whenever a worker begins a target anew (not where workers share a position, nor by lines or a stride). Of mapped
    /// files, dirty pages are written back, and all stay. What a pass has written is made durable and dropped before it is
    /// verified.
    pub drop_cache: bool,
    /// Remove the job's regular files after it.
    pub unlink: bool,
    /// Changes the job's random streams beside seed and index; jobs of equal salt, index and seed draw alike.
    pub salt: u64,
    /// What it does beyond plain I/O.
    pub features: Features,
}

impl Job {
    /// I/Os that a worker can really have outstanding: `depth`, but one where I/O is issued one at a time.
    pub const fn effective_depth(&self) -> u32 {
        let features = &self.features;
        let is_alone = features.operation.is_some() || features.file_work.is_some();
        if is_alone || features.processor_work.is_some() {
            return 1;
        }
        match self.backend {
            Backend::Sync | Backend::Mmap => 1,
            _ => self.depth,
        }
    }

    /// Largest block that goes through a buffer. A trim moves no data, so that only one whose write follows it, as
    /// large, counts here, and one that stands for an operation on a name, which is a request as any other.
    pub fn largest_buffer(&self) -> Bytes {
        let placement = self.features.placement.as_ref();
        let operation = self.features.operation;
        if placement.is_some_and(|placement| placement.trim_then_write)
            || operation.is_some_and(FileOperation::is_of_names)
        {
            return self.block.largest(self.mix);
        }
        let moving = Mix {
            trim: Percent::ZERO,
            ..self.mix
        };
        self.block.largest(moving)
    }
}

impl Job {
    /// The mix of I/Os that comes about where each direction keeps the rate it has of its own ([`crate::DirectionRates`]); a
    /// rate in bytes counts in its direction's smallest blocks. It is [`Self::mix`], by which the next direction is drawn
    /// where several are behind their rates, for jobs of which a direction has none, and for pairs of trim and write.
    pub fn mix_at_rates(&self) -> Mix {
        let placement = self.features.placement.as_deref();
        let in_pairs = placement.is_some_and(|rules| rules.trim_then_write);
        let paces = Direction::ALL.map(|way| self.pace_of(way));
        let (false, [Some(read), Some(write), Some(trim)]) = (in_pairs, paces) else {
            return self.mix;
        };
        let points = |part: u128| {
            let share = (part * 10_000).checked_div(read + write + trim);
            share.map_or(0, |share| share as u32)
        };
        let (read, trim) = (points(read), points(trim));
        let shares = [read, 10_000 - read - trim, trim].map(Percent::from_basis_points);
        match shares {
            [Some(read), Some(write), Some(trim)] => Mix { read, write, trim },
            _ => self.mix,
        }
    }

    /// Thousandths of an I/O a second that a direction's own rate comes to, which keeps the ratio of slow rates in bytes;
    /// zero where the job does not go that way, `None` where it has no such rate.
    fn pace_of(&self, way: Direction) -> Option<u128> {
        if self.mix.share(way) == Percent::ZERO {
            return Some(0);
        }
        Some(match self.features.rates?.rates[way as usize]? {
            Pacing::Iops(rate) => u128::from(rate.get()) * 1000,
            Pacing::Bytes(rate) => {
                let sizes = self.block.of(way).iter().map(|it| it.size.get());
                let smallest = sizes.min().unwrap_or(1).max(1);
                u128::from(rate.get()) * 1000 / u128::from(smallest)
            }
        })
    }

    /// Time before its measurement begins, after its start; zero where bytes end its warm-up.
    pub fn warmup_time(&self) -> Nanos {
        match self.features.warmup_bytes {
            Bytes::ZERO => self.limits.warmup,
            _ => Nanos::ZERO,
        }
    }

    /// Whether I/O of this direction may come: by the mix, or from checks of what was written.
    pub fn moves(&self, way: Direction) -> bool {
        if let Some(work) = &self.features.file_work {
            return work.task.moves(way, self.mix);
        }
        let checks = self
            .features
            .verify
            .as_ref()
            .is_some_and(|verify| match way {
                Direction::Read => verify.phase.reads_back() || verify.backlog.is_some(),
                Direction::Trim => verify.trims.is_some(),
                Direction::Write => false,
            });
        let validate = self.features.validate.as_ref();
        let checks = checks
            || validate.is_some_and(|validate| {
                let journal = validate.journal.as_ref();
                let reads = validate.pre_read
                    || validate.read_after_write
                    || journal.is_some_and(|journal| journal.recovers);
                way == Direction::Read && reads && self.mix.changes_data()
            });
        checks || self.mix.share(way).basis_points() > 0
    }

    /// The largest size that divides all its transfers, the distances between them and what they are aligned to; none where there
    /// are none.
    pub fn unit(&self) -> Bytes {
        let used = Direction::ALL.into_iter();
        let used = used.filter(|way| self.mix.share(*way).basis_points() > 0);
        let sizes = used.flat_map(|way| self.block.of(way));
        let sizes = sizes
            .filter(|entry| entry.weight > 0)
            .map(|entry| entry.size.get());
        let gap = match self.access {
            Access::Sequential { gap, .. } => gap.get(),
            _ => 0,
        };
        let alignment = self.block.alignment.map_or(0, Bytes::get);
        Bytes::new(sizes.chain([gap, alignment]).fold(0, common_divisor))
    }
}

/// Identifies jobs that are reported together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ReportGroup {
    /// Number of the group within the workload.
    pub id: u32,
    /// Whether the group's jobs are shown as one.
    pub together: bool,
}

/// When I/Os start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Each completion lets the next start; `depth` are outstanding.
    Closed,
    /// I/Os have intended start times that completions never move.
    Open {
        /// Target rate of each worker.
        rate: Pacing,
        /// Poisson process (exponential gaps) instead of equal gaps.
        poisson: Poisson,
        /// What happens to an arrival that finds `depth` I/Os outstanding.
        when_full: WhenFull,
    },
}

/// A target rate of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// I/Os a second.
    Iops(Iops),
    /// Bytes a second: the next start lies (size of the last I/O / rate) after the last.
    Bytes(BytesPerSec),
}

/// The gaps between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Poisson {
    /// Equal gaps.
    #[default]
    Fixed,
    /// Exponentially distributed gaps with the same mean.
    Exponential,
    /// Gaps evenly between nothing and twice the mean.
    Uniform,
}

/// What happens to an arrival of an open loop that finds the most I/Os outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// It waits, keeping its intended time; response time shows the wait.
    #[default]
    Queue,
}

/// What ends a job, and what comes before its measurement. The first limit reached ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Wait from the start of the stage to the first I/O.
    pub start_delay: Nanos,
    /// Runs before measurement starts; comes on top of `runtime`.
    pub warmup: Nanos,
    /// Longest measured time.
    pub runtime: Option<Nanos>,
    /// Start over when `bytes` (or a whole pass) is done, until `runtime` is over; `ios` and `loops` then end nothing.
    pub time_based: bool,
    /// Bytes each worker moves in one pass; `None` means the size of its targets (of all workers together, where they
    /// share a sequential position). Only whole blocks count.
    pub bytes: Option<Bytes>,
    /// I/Os each worker does at most, over all passes; not for time-based jobs.
    pub ios: Option<u64>,
    /// Passes; 0 counts as 1.
    pub loops: u32,
}

impl Limits {
    /// I/Os a worker does at most, over all passes; `u64::MAX` where nothing limits them.
    pub(crate) fn most_ios(&self) -> u64 {
        let limit = self.ios.filter(|_| !self.time_based);
        limit.unwrap_or(u64::MAX)
    }

    /// Bytes a worker moves at most, over all passes of `pass` bytes; `u64::MAX` where the job is time-based.
    pub(crate) fn most_bytes(&self, pass: u64) -> u64 {
        if self.time_based {
            return u64::MAX;
        }
        pass.saturating_mul(u64::from(self.loops.max(1)))
    }
}

/// When written data is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncPolicy {
    /// Flags the target is opened with.
    pub open: OpenSync,
    /// `fsync` after this many writes; 0: never.
    pub fsync_every: u32,
    /// `fdatasync` after this many writes; 0: never.
    pub fdatasync_every: u32,
    /// `fsync` once when the job's I/O is done.
    pub at_end: bool,
    /// `fsync` when a file is closed.
    pub on_close: bool,
}

/// Synchronisation asked for when a target is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenSync {
    /// None.
    #[default]
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    Dsync,
}

/// What written buffers hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BufferContents {
    /// Random bytes, made anew for every write: nothing to compress or deduplicate.
    #[default]
    RandomEachWrite,
    /// Random bytes made once and stamped differently for every write: no equal blocks, but cheap to make.
    RandomStamped,
    /// Random bytes made once and written over and over: deduplicates.
    RandomOnce,
    /// Zeroes: compresses to nothing.
    Zeroes,
}

/// How I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// `io_uring`.
    #[default]
    IoUring,
    /// Linux native asynchronous I/O (`io_submit`).
    Libaio,
    /// One `pread` or `pwrite` at a time.
    Sync,
    /// Copies to and from a mapped file, one at a time.
    Mmap,
    /// Requests to exports of NBD servers.
    Nbd,
    /// Completes at once without I/O: measures the generator itself.
    Null,
}

impl Backend {
    /// Fathom's own name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Sync => "sync",
            Self::Mmap => "mmap",
            Self::Nbd => "nbd",
            Self::Null => "null",
        }
    }

    /// Whether it opens files and devices of this machine, which the page cache and direct I/O are of.
    pub const fn opens_files(self) -> bool {
        !matches!(self, Self::Nbd | Self::Null)
    }
}

/// Whether the page cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caching {
    /// `O_DIRECT`.
    #[default]
    Direct,
    /// Through the page cache.
    Buffered,
}

/// Which existing regular files may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingFiles {
    /// Only files that Fathom laid out, unless the user allowed others (native jobs).
    #[default]
    OnlyOurs,
    /// Any, as the peer whose input this was does.
    AsPeer,
}
