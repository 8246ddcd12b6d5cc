//! Which blocks of a target were visited, where sizes differ and a permutation alone cannot tell.
//!
//! One bit a block of the smallest size: 64 MiB for 2 TiB in blocks of 4 KiB, the most that a worker may have.

/// Most blocks of all targets of a worker together; beyond, offsets are drawn independently.
pub const MAP_BLOCKS_MAX: u64 = 1 << 29;

/// One bit a block.
#[derive(Debug)]
pub(super) struct Bitmap {
    words: Box<[u64]>,
    blocks: u64,
}

impl Bitmap {
    /// All blocks free.
    pub(super) fn new(blocks: u64) -> Self {
        let words = vec![0; blocks.div_ceil(64) as usize];
        Self {
            words: words.into_boxed_slice(),
            blocks,
        }
    }

    /// Whether a block is free; those past the end are not.
    pub(super) fn is_free(&self, block: u64) -> bool {
        block < self.blocks && self.words[(block / 64) as usize] >> (block % 64) & 1 == 0
    }

    /// Takes up to `count` free blocks from `first` on and says how many were free.
    pub(super) fn take(&mut self, first: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && self.is_free(first + taken) {
            let block = first + taken;
            self.words[(block / 64) as usize] |= 1 << (block % 64);
            taken += 1;
        }
        taken
    }

    /// All blocks free again.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_at_the_first_block_in_use() {
        let mut map = Bitmap::new(130);
        assert_eq!(map.take(60, 10), 10);
        assert_eq!(map.take(55, 10), 5);
        assert_eq!(map.take(60, 1), 0);
        assert_eq!(map.take(125, 10), 5);
        assert!(map.is_free(54) && !map.is_free(55) && !map.is_free(69) && map.is_free(70));
        assert!(!map.is_free(130));
        map.clear();
        assert_eq!(map.take(0, 200), 130);
    }
}
