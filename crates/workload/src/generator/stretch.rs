//! A stretch of I/Os that follow each other by one rule, with nothing to look at in between.
//!
//! The rules of rounds, passes, limits and targets cost more than the arithmetic of an offset. Where a job has one target
//! and one size of block, the number of I/Os until any of them can matter is known, and so many are given from here.
//!
//! Invariant: a stretch gives exactly what the rules would have given.

use super::permutation::Permutation;
use super::regions::Stride;

/// I/Os by one rule.
#[derive(Debug)]
pub(super) struct Stretch {
    /// I/Os left in it.
    pub(super) left: u64,
    /// I/Os it began with, until they are booked; a stretch is booked only when it is used up.
    pub(super) taken_from: u64,
    /// Of the region: the next index of the permutation, or the next offset.
    pub(super) position: u64,
    /// First byte of the region.
    pub(super) base: u64,
    /// Bytes of each I/O.
    pub(super) length: u32,
    pub(super) order: StretchOrder,
}

/// Where the next I/O lies.
#[derive(Debug)]
pub(super) enum StretchOrder {
    EachBlockOnce(Permutation, Stride),
    Sequential { step: u64 },
}

impl Stretch {
    pub(super) const EMPTY: Self = Self {
        left: 0,
        taken_from: 0,
        position: 0,
        base: 0,
        length: 0,
        order: StretchOrder::Sequential { step: 0 },
    };

    /// Offset of the next I/O within its target; `None` where the rules must be asked.
    #[inline]
    pub(super) fn next_offset(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let position = self.position;
        Some(match &self.order {
            StretchOrder::EachBlockOnce(permutation, stride) => {
                self.position += 1;
                self.base + stride.offset(permutation.at(position))
            }
            StretchOrder::Sequential { step } => {
                self.position += step;
                self.base + position
            }
        })
    }
}
