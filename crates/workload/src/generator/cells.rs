//! A target cut into I/Os of differing sizes, which are then visited in random order.
//!
//! Each block is visited once, and sizes come out as they were asked for: taking random offsets and what is still free
//! there would leave more and more gaps that are smaller than the sizes. A segment is cut when it is first met, so that
//! the work is spread over the pass. What is permuted are slots, of which a segment has as many as I/Os on average; where
//! it has more, some slots give several, far apart from each other.
//!
//! Invariants: the I/Os of a round cover every block of the map once; a size is cut short at the end of its segment alone.

use super::bitmap::Bitmap;

/// Mean sizes, and largest ones, that a segment holds at least: few are cut short at its end.
const MEANS_PER_SEGMENT: u64 = 512;
const LARGEST_PER_SEGMENT: u64 = 128;

/// Sizes that a target is cut into, in blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellSizes {
    pub(super) mean: u64,
    pub(super) largest: u64,
}

/// The cuts of one target.
#[derive(Debug)]
pub(super) struct Cells {
    /// Blocks at which an I/O starts.
    starts: Bitmap,
    /// Segments that are cut.
    cut: Bitmap,
    /// Blocks of a segment, a multiple of 64.
    segment: u64,
    slots_per_segment: u64,
    blocks: u64,
    /// The segment and the number of the I/O within it that the present slot gives next.
    more: Option<(u64, u64)>,
}

impl Cells {
    /// A target of `blocks` blocks with nothing cut.
    pub(super) fn new(blocks: u64, sizes: CellSizes) -> Self {
        let mean = sizes.mean.max(1);
        let by_mean = mean.saturating_mul(MEANS_PER_SEGMENT);
        let by_largest = sizes.largest.saturating_mul(LARGEST_PER_SEGMENT);
        let segment = by_mean
            .max(by_largest)
            .min(blocks.max(1))
            .next_multiple_of(64);
        Self {
            starts: Bitmap::new(blocks),
            cut: Bitmap::new(blocks.div_ceil(segment)),
            segment,
            slots_per_segment: segment.div_ceil(mean),
            blocks,
            more: None,
        }
    }

    /// Slots to be visited in a round.
    pub(super) fn slots(&self) -> u64 {
        self.blocks.div_ceil(self.segment) * self.slots_per_segment
    }

    /// First block and number of blocks of the next I/O; `slot` gives the next slot to visit, and `draw` a size of at most
    /// as many blocks as it is told.
    pub(super) fn next(
        &mut self,
        mut slot: impl FnMut() -> Option<u64>,
        mut draw: impl FnMut(u64) -> u64,
    ) -> Option<(u64, u64)> {
        loop {
            let (segment, number) = if let Some(more) = self.more.take() {
                more
            } else {
                let (slot, per_segment) = (slot()?, self.slots_per_segment);
                (slot / per_segment, slot % per_segment)
            };
            let first = segment * self.segment;
            let end = (first + self.segment).min(self.blocks);
            if self.cut.take(segment, 1) == 1 {
                let mut start = first;
                while start < end {
                    self.starts.take(start, 1);
                    start += draw(end - start).clamp(1, end - start);
                }
            }
            if let Some(start) = self.starts.nth_taken(first, end, number) {
                self.more = Some((segment, number + self.slots_per_segment));
                return Some((start, self.starts.next_taken(start + 1, end) - start));
            }
        }
    }

    /// Nothing cut again, for the next round.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cut.clear();
        self.more = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_each_block_once() {
        for blocks in [1u64, 7, 64, 4096, 10_000] {
            for largest in [1u64, 5, 300] {
                let mean = largest.div_ceil(2);
                let mut cells = Cells::new(blocks, CellSizes { mean, largest });
                for _round in 0..2 {
                    let mut slots = 0..cells.slots();
                    let mut sizes = (1..=largest).cycle();
                    let mut seen = vec![false; blocks as usize];
                    while let Some((start, count)) =
                        cells.next(|| slots.next(), |room| sizes.next().unwrap().min(room))
                    {
                        assert!(count <= largest);
                        for block in start..start + count {
                            assert!(!std::mem::replace(&mut seen[block as usize], true));
                        }
                    }
                    assert!(
                        seen.into_iter().all(|seen| seen),
                        "{blocks} blocks, {largest}"
                    );
                    cells.clear();
                }
            }
        }
    }
}
