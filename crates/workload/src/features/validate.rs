//! What a job checks of all that was ever written where it reads and writes.
//!
//! Beside [`crate::Verify`], by which a job reads back its own writes, this is Vdbench's way: how often each block was written
//! is kept over all stages of a run, whoever wrote it, every write stamps what it writes, and every read of a block that was
//! written is compared. The work itself is in the crate `fathom-verify`; here stands what can be asked for.

/// How blocks are checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validate {
    /// Name of the storage in its stamps, of which eight bytes count: the same for all jobs on it.
    pub name: String,
    /// Whether a block that was written before is read and checked before it is written again.
    pub pre_read: bool,
    /// Whether what was written is read and checked at once.
    pub read_after_write: bool,
    /// Whether reads of blocks of which nothing is known are left out.
    pub known_only: bool,
    /// Where what is known is kept beyond the run; the same for all jobs on the storage.
    pub journal: Option<Journal>,
}

/// The journal of storage whose blocks are checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal {
    /// The file.
    pub path: String,
    /// Whether the run goes on with what it holds; else it begins anew, in the place of one that is there.
    pub recovers: bool,
    /// Whether each write waits until it is known to be durable in the journal that it begins.
    pub flushes: bool,
    /// Whether of blocks whose last write is not known to have ended nothing is said.
    pub ignores_pending: bool,
}
