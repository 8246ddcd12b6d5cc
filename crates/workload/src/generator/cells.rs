//! A target cut into I/Os of differing sizes, which are then visited in random order.
//!
//! Each block is visited once, and sizes come out as they were asked for: taking random offsets and what is still free
//! there would leave more and more gaps that are smaller than the sizes. A segment is cut when it is first met, so that
//! the work is spread over the pass.
//!
//! Invariants: the I/Os of a round cover every block of the map once; a size is cut short at the end of its segment alone.

use super::bitmap::Bitmap;

/// Segments have at least as many blocks, and as many of the largest size.
const BLOCKS_PER_SEGMENT: u64 = 4096;
const LARGEST_PER_SEGMENT: u64 = 64;

/// The cuts of one target.
#[derive(Debug)]
pub(super) struct Cells {
    /// Blocks at which an I/O starts.
    starts: Bitmap,
    /// Segments that are cut.
    cut: Bitmap,
    segment: u64,
    blocks: u64,
}

impl Cells {
    /// A target of `blocks` blocks with nothing cut; the largest size has `largest` blocks.
    pub(super) fn new(blocks: u64, largest: u64) -> Self {
        let segment = BLOCKS_PER_SEGMENT.max(largest.saturating_mul(LARGEST_PER_SEGMENT));
        Self {
            starts: Bitmap::new(blocks),
            cut: Bitmap::new(blocks.div_ceil(segment)),
            segment,
            blocks,
        }
    }

    /// The number of blocks of the I/O that starts at `block`, or `None` where none does. `draw` gives a size of at most
    /// as many blocks as it is told.
    pub(super) fn at(&mut self, block: u64, mut draw: impl FnMut(u64) -> u64) -> Option<u64> {
        let segment = block / self.segment;
        let first = segment * self.segment;
        let end = (first + self.segment).min(self.blocks);
        if self.cut.take(segment, 1) == 1 {
            let mut start = first;
            while start < end {
                self.starts.take(start, 1);
                start += draw(end - start).clamp(1, end - start);
            }
        }
        if self.starts.is_free(block) {
            return None;
        }
        let mut next = block + 1;
        while next < end && self.starts.is_free(next) {
            next += 1;
        }
        Some(next - block)
    }

    /// Nothing cut again, for the next round.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cut.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_each_block_once() {
        for blocks in [1, 7, 4096, 10_000] {
            let mut cells = Cells::new(blocks, 5);
            let mut sizes = (1..=5).cycle();
            let mut covered = 0;
            for block in 0..blocks {
                let size = cells.at(block, |room| sizes.next().unwrap().min(room));
                if let Some(size) = size {
                    assert_eq!(block, covered, "I/Os meet");
                    covered += size;
                }
            }
            assert_eq!(covered, blocks);
            cells.clear();
            assert_eq!(cells.at(0, |_| 1), Some(1));
        }
    }
}
