//! Where I/Os fall, how large they are, and which way data moves.

use fathom_units::{Bytes, Percent};

/// Which way data moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Direction {
    /// Storage to memory.
    Read = 0,
    /// Memory to storage.
    Write = 1,
    /// Discard of a range.
    Trim = 2,
}

impl Direction {
    /// All directions, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// `read`, `write` or `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// Shares of the directions; each I/O draws its own. The shares add up to 100 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Share of reads.
    pub read: Percent,
    /// Share of writes.
    pub write: Percent,
    /// Share of trims.
    pub trim: Percent,
}

impl Mix {
    /// Reads alone.
    pub const READ: Self = Self {
        read: Percent::ALL,
        write: Percent::ZERO,
        trim: Percent::ZERO,
    };
    /// Writes alone.
    pub const WRITE: Self = Self {
        read: Percent::ZERO,
        write: Percent::ALL,
        trim: Percent::ZERO,
    };
    /// Trims alone.
    pub const TRIM: Self = Self {
        read: Percent::ZERO,
        write: Percent::ZERO,
        trim: Percent::ALL,
    };

    /// `read` of the I/Os read, the rest write.
    pub const fn reads(read: Percent) -> Self {
        Self {
            read,
            write: read.rest(),
            trim: Percent::ZERO,
        }
    }

    /// Share of one direction.
    pub const fn share(self, direction: Direction) -> Percent {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
            Direction::Trim => self.trim,
        }
    }

    /// Whether anything is written or discarded.
    pub fn changes_data(self) -> bool {
        self.read != Percent::ALL
    }
}

/// The order of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// One block after another; at the end, from the start again.
    Sequential {
        /// Bytes skipped after each I/O; negative steps are not offered.
        gap: Bytes,
        /// Who shares a position.
        scope: SequentialScope,
    },
    /// Uniformly random.
    Random {
        /// Whether a pass visits each block once.
        coverage: Coverage,
        /// I/Os issued one after another from each random offset (1: every I/O is random).
        run: u32,
    },
    /// `random` of the I/Os at uniformly random offsets, the rest right after the worker's last I/O.
    Mixed {
        /// Share of random I/Os.
        random: Percent,
    },
}

/// Who shares the position of a sequential access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SequentialScope {
    /// Each worker goes through the whole target by itself.
    #[default]
    PerWorker,
    /// All workers of the job take the next block of one shared position.
    Shared,
}

/// What a pass over a target visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Each block once, in the order of a keyed permutation; the next pass uses another key. Where block sizes are not
    /// uniform, offsets are independent draws (and `explain` says so).
    EachBlockOnce,
    /// Independent draws: some blocks twice, some never.
    Independent,
}

/// Block sizes by direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSizes {
    /// Sizes of reads; never empty, weights add up to more than 0.
    pub read: Vec<WeightedSize>,
    /// Sizes of writes.
    pub write: Vec<WeightedSize>,
    /// Sizes of trims.
    pub trim: Vec<WeightedSize>,
    /// Random offsets are multiples of this; `None` means of the smallest block of the job.
    pub alignment: Option<Bytes>,
}

/// One size of a list, with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeightedSize {
    /// Size of the I/O.
    pub size: Bytes,
    /// Relative weight.
    pub weight: u32,
}

impl BlockSizes {
    /// One size for all.
    pub fn uniform(size: Bytes) -> Self {
        let one = vec![WeightedSize { size, weight: 1 }];
        Self {
            read: one.clone(),
            write: one.clone(),
            trim: one,
            alignment: None,
        }
    }

    /// The list of one direction.
    pub fn of(&self, direction: Direction) -> &[WeightedSize] {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }

    /// The only size over the directions that `mix` uses, or `None` where there are several.
    pub fn single_size(&self, mix: Mix) -> Option<Bytes> {
        let mut sizes = self.used(mix);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// Largest size over the directions that `mix` uses.
    pub fn largest(&self, mix: Mix) -> Bytes {
        self.used(mix).max().unwrap_or(Bytes::ZERO)
    }

    /// Smallest size over the directions that `mix` uses.
    pub fn smallest(&self, mix: Mix) -> Bytes {
        self.used(mix).min().unwrap_or(Bytes::ZERO)
    }

    fn used(&self, mix: Mix) -> impl Iterator<Item = Bytes> + '_ {
        let used = Direction::ALL
            .into_iter()
            .filter(move |way| mix.share(*way) > Percent::ZERO);
        used.flat_map(|way| {
            self.of(way)
                .iter()
                .filter(|entry| entry.weight > 0)
                .map(|entry| entry.size)
        })
    }
}
