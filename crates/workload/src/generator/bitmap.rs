//! Which blocks of a target were visited, where sizes differ and a permutation alone cannot tell.
//!
//! One bit a block of the smallest size: 64 MiB for 2 TiB in blocks of 4 KiB, the most that a worker may have.

use multiversion::multiversion;

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

    /// The taken block with `number` taken ones before it, counted from `from`; `None` where there are fewer before `end`.
    pub(super) fn nth_taken(&self, from: u64, end: u64, number: u64) -> Option<u64> {
        let first = from / 64;
        let words = self.words.get(first as usize..end.div_ceil(64) as usize)?;
        let found = nth_one(words, from % 64, number)?;
        Some(first * 64 + found).filter(|block| *block < end)
    }

    /// The first taken block from `from` on, or `end`.
    pub(super) fn next_taken(&self, from: u64, end: u64) -> u64 {
        let first = from / 64;
        let words = self.words.get(first as usize..end.div_ceil(64) as usize);
        let mut hidden = (1 << (from % 64)) - 1;
        for (index, word) in words.unwrap_or_default().iter().enumerate() {
            let bits = word & !std::mem::take(&mut hidden);
            if bits != 0 {
                let block = (first + index as u64) * 64 + u64::from(bits.trailing_zeros());
                return block.min(end);
            }
        }
        end
    }

    /// All blocks free again.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}

/// The bit that is set with `number` such bits before it, counted from bit `from` of the first word. Counting the bits of
/// a word is one instruction, which not every processor has.
#[multiversion(targets("x86_64+popcnt+bmi1"))]
fn nth_one(words: &[u64], from: u64, number: u64) -> Option<u64> {
    let hidden = (1 << from) - 1;
    let mut left = number + u64::from((words.first()? & hidden).count_ones());
    for (index, word) in words.iter().enumerate() {
        let count = u64::from(word.count_ones());
        if left < count {
            let mut bits = *word;
            for _ in 0..left {
                bits &= bits - 1;
            }
            return Some(index as u64 * 64 + u64::from(bits.trailing_zeros()));
        }
        left -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_blocks_are_found_by_number() {
        let mut map = Bitmap::new(300);
        let taken = [0u64, 5, 63, 64, 130, 255, 299];
        for block in taken {
            map.take(block, 1);
        }
        for from in 0..300 {
            for end in from..=300 {
                let within = || {
                    taken
                        .into_iter()
                        .filter(|block| (from..end).contains(block))
                };
                for number in 0..8 {
                    let expected = within().nth(number);
                    assert_eq!(map.nth_taken(from, end, number as u64), expected);
                }
                assert_eq!(map.next_taken(from, end), within().next().unwrap_or(end));
            }
        }
    }

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
