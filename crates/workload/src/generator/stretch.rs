//! A stretch of I/Os that follow each other by one rule, with nothing to look at in between.
//!
//! The rules of rounds, passes, limits and targets cost more than the arithmetic of an offset. Where a job has one target
//! and one size of block, the number of I/Os until any of them can matter is known, and so many are given from here. Their
//! offsets are drawn some at a time: each is a chain of multiplications, and several chains go side by side.
//!
//! Invariant: a stretch gives exactly what the rules would have given.

use super::permutation::Permutation;
use super::regions::Stride;
use super::rng::Xoshiro256;

/// Offsets drawn at a time.
const AHEAD: usize = 512;

/// I/Os by one rule.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Stretch {
    /// Offsets that are drawn: those from `next` to `end` are not given yet. Room for them is made when the first are.
    drawn: Box<[u64]>,
    next: usize,
    end: usize,
    /// Bytes of each I/O.
    pub(super) length: u32,
    /// I/Os left in it that are not drawn yet.
    left: u64,
    /// I/Os it began with, until they are booked; a stretch is booked only when it is used up.
    pub(super) taken_from: u64,
    /// Of the region: the next index of the permutation, or the next offset.
    pub(super) position: u64,
    /// First byte of the region.
    base: u64,
    pub(super) order: StretchOrder,
}

/// Where the next I/O lies.
#[derive(Debug)]
pub(super) enum StretchOrder {
    EachBlockOnce(Permutation, Stride),
    Sequential {
        step: u64,
    },
    Independent {
        draws: Xoshiro256,
        steps: u64,
        stride: Stride,
    },
}

impl Stretch {
    /// Of no I/O.
    pub(super) fn empty() -> Self {
        Self {
            drawn: Box::default(),
            next: 0,
            end: 0,
            left: 0,
            taken_from: 0,
            position: 0,
            base: 0,
            length: 0,
            order: StretchOrder::Sequential { step: 0 },
        }
    }

    /// Begins anew, in place: `count` I/Os of `length` bytes in the region that begins at `base`, the first at `position`.
    pub(super) fn begin(
        &mut self,
        count: u64,
        length: u32,
        (base, position): (u64, u64),
        order: StretchOrder,
    ) {
        (self.next, self.end) = (0, 0);
        (self.left, self.taken_from) = (count, count);
        (self.position, self.base) = (position, base);
        self.length = length;
        self.order = order;
    }

    /// Offset of the next I/O within its target; `None` where the rules must be asked.
    #[inline]
    pub(super) fn next_offset(&mut self) -> Option<u64> {
        if self.next == self.end {
            self.draw_ahead()?;
        }
        let offset = self.drawn.get(self.next).copied();
        self.next += 1;
        offset
    }

    /// Offsets of the next I/Os, at least one and at most `most`; `None` where the rules must be asked.
    #[inline]
    pub(super) fn next_offsets(&mut self, most: usize) -> Option<&[u64]> {
        if self.next == self.end {
            self.draw_ahead()?;
        }
        let first = self.next;
        self.next = self.end.min(first + most);
        self.drawn.get(first..self.next)
    }

    /// Offsets of the next I/Os, as far as they are drawn.
    #[inline]
    pub(super) fn upcoming(&self) -> &[u64] {
        &self.drawn[self.next..self.end]
    }

    /// Draws the next offsets; `None`: there are none.
    #[inline(never)]
    fn draw_ahead(&mut self) -> Option<()> {
        let count = self.left.min(AHEAD as u64);
        if count == 0 {
            return None;
        }
        self.left -= count;
        if self.drawn.len() < count as usize {
            self.drawn = vec![0; count as usize].into_boxed_slice();
        }
        let (base, position) = (self.base, self.position);
        let drawn = &mut self.drawn[..count as usize];
        match &mut self.order {
            StretchOrder::EachBlockOnce(permutation, stride) => {
                permutation.fill(position, drawn);
                stride.place(base, drawn);
                self.position += count;
            }
            StretchOrder::Sequential { step } => {
                for (index, offset) in (0..).zip(drawn) {
                    *offset = base + position + *step * index;
                }
                self.position += *step * count;
            }
            StretchOrder::Independent {
                draws,
                steps,
                stride,
            } => {
                for offset in drawn {
                    *offset = base + stride.offset(draws.below(*steps));
                }
            }
        }
        (self.next, self.end) = (0, count as usize);
        Some(())
    }
}
