//! What written buffers hold, beyond [`crate::BufferContents`].
//!
//! Storage that compresses or removes duplicates is measured with data that compresses and repeats as much as asked for,
//! and no more.

use fathom_units::Bytes;

use crate::Pattern;

/// Patterns, compressibility and duplicates; each is off where it is `None` or 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filling {
    /// Bytes that are repeated over the buffer; together with `compress`, over the compressible part of each piece.
    pub pattern: Option<Pattern>,
    /// Each write begins anywhere in the pattern, at a multiple of 512 bytes, in place of its start. It counts where nothing
    /// is compressed or repeated otherwise.
    pub anywhere: bool,
    /// Percent of each piece that compresses to almost nothing; 0 to 100.
    pub compress: u8,
    /// Length of the pieces; `None`: of the smallest write.
    pub chunk: Option<Bytes>,
    /// Equal blocks.
    pub dedupe: Option<Dedupe>,
}

/// How many blocks are equal to others, and to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dedupe {
    /// Percent of the blocks that have been written before; 1 to 100.
    pub percent: u8,
    /// Which blocks are repeated.
    pub from: DedupeFrom,
}

/// Which blocks are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeFrom {
    /// The last new one.
    Last,
    /// One of a set that all writes draw from.
    WorkingSet {
        /// Size of the set in percent of the bytes of a pass; 1 to 100.
        percent: u8,
        /// Whether all jobs of the workload share one set.
        global: bool,
    },
}
