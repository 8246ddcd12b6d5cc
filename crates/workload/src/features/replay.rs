//! I/O that comes from a recorded trace, and the recording of one.

/// A trace that a job replays instead of making up its I/O. The trace's files are the job's targets, in the order in which
/// the trace first names them, or in that of `files`, unless `redirected`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    /// The trace, of any format that [`crate::trace`] reads.
    pub path: String,
    /// When I/Os start.
    pub pace: ReplayPace,
    /// Divisor of offsets; 0 counts as 1.
    pub scale: u32,
    /// Offsets, and lengths of a `blktrace`, become multiples of this many bytes, which is 0 (as they are) or a power of two.
    pub align: u32,
    /// Kinds left out: reads, writes, trims, syncs.
    pub skip: [bool; 4],
    /// The trace's files that are replayed, by their names; all of them where it is empty. Times are those of the whole trace.
    pub files: Vec<String>,
    /// Every I/O goes to the job's only target, whatever file the trace names.
    pub redirected: bool,
    /// Of a binary trace of `blktrace`, flushes before writes are left out, and that writes are durable, as in fio.
    pub plain_writes: bool,
    /// Binary traces that `path` is made of before the run; none where it is there.
    pub merged: Vec<TracePart>,
}

/// A binary trace that is merged with others into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracePart {
    /// Its path.
    pub path: String,
    /// Its times, in percent of what they are: 50 makes it twice as fast.
    pub scale: u32,
    /// How often it comes, one pass after another.
    pub passes: u32,
}

/// When the I/Os of a trace start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPace {
    /// At the trace's own times, which run at this many percent of their speed: each I/O has an intended start, from which
    /// its response time counts.
    Timed(u32),
    /// As soon as the depth allows.
    AtOnce,
}

impl Default for ReplayPace {
    fn default() -> Self {
        Self::Timed(100)
    }
}
