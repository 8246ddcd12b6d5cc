//! The memory that volumes may take: for the data that they hold, and for what a crash may bring back.
//!
//! Data is there until a client gives it back, so it is bounded whatever comes. Copies of what is written over go by themselves,
//! once disks have what replaced it: who needs their room waits for it.
//!
//! Invariant: data alone never takes more than there is, but for what a crash puts back.

/// Blocks of memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// How many may still hold data, as though nothing were kept.
    for_data: i64,
    /// How many hold copies for a crash.
    kept: i64,
}

impl Budget {
    /// So many blocks, of which none is taken.
    pub fn new(blocks: u64) -> Self {
        Self {
            for_data: blocks.cast_signed(),
            kept: 0,
        }
    }

    /// Blocks that nothing has; below zero where more is kept than there is room.
    #[inline]
    pub fn left(&self) -> i64 {
        self.for_data - self.kept
    }

    /// Blocks that may still hold data once no copy is kept any more.
    #[inline]
    pub fn for_data(&self) -> i64 {
        self.for_data
    }

    /// Blocks that hold copies.
    #[inline]
    pub fn kept(&self) -> i64 {
        self.kept
    }

    /// Takes so many for data, even where there are fewer.
    #[inline]
    pub fn take(&mut self, blocks: u64) {
        self.for_data -= blocks.cast_signed();
    }

    /// So many hold data no more.
    #[inline]
    pub fn give_back(&mut self, blocks: u64) {
        self.for_data += blocks.cast_signed();
    }

    /// So many more hold copies, or fewer.
    #[inline]
    pub fn keep(&mut self, more: i64) {
        self.kept += more;
    }
}
