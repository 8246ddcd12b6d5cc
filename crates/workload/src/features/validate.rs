//! What a job checks of all that was ever written where it reads and writes.
//!
//! Beside [`crate::Verify`], by which a job reads back its own writes, this is Vdbench's way: how often each block was written
//! is kept over all stages of a run, whoever wrote it, every write stamps what it writes, and every read of a block that was
//! written is compared. The work itself is in the crate `fathom-verify`; here stands what can be asked for.

/// How blocks are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validate {
    /// Name of the storage in its stamps, of which eight bytes count: the same for all jobs on it.
    pub name: String,
    /// Whether a block that was written before is read and checked before it is written again.
    pub pre_read: bool,
    /// Whether what was written is read and checked at once.
    pub read_after_write: bool,
}
