//! Which blocks of a volume hold data; all others read as zeroes.
//!
//! A mapping of a sparse file would take memory for every hole that is read. Here holes are known without asking the file,
//! and are answered from a page of zeroes. Blocks are counted in groups too, so that a run of terabytes is found in some
//! microseconds, in which nobody else is served.
//!
//! Invariants: a block whose bit is clear takes no room in the file; a group's count is that of its set bits.

/// Bytes of a block: a page.
pub(crate) const BLOCK: u64 = 4096;
/// Blocks that are counted together: the bits of a page.
const GROUP: u64 = 8 * 4096;

/// One bit a block.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// Pages of it that were never written take no memory.
    bits: Vec<u64>,
    /// How many blocks of each group hold data.
    counts: Vec<u32>,
    size: u64,
}

impl Allocation {
    /// A volume of `size` bytes, all holes.
    pub fn new(size: u64) -> Self {
        let blocks = size.div_ceil(BLOCK);
        Self {
            bits: vec![0; blocks.div_ceil(64) as usize],
            counts: vec![0; blocks.div_ceil(GROUP) as usize],
            size,
        }
    }

    #[inline]
    fn holds(&self, block: u64) -> bool {
        let word = self.bits.get((block / 64) as usize).copied();
        word.unwrap_or(0) >> (block % 64) & 1 == 1
    }

    /// The run of equal blocks that begins at `offset` and goes no farther than `end`: where it ends, and whether it holds
    /// data. `offset` must be less than `end`.
    #[inline]
    pub fn run(&self, offset: u64, end: u64) -> (u64, bool) {
        let (first, last) = (offset / BLOCK, (end - 1) / BLOCK);
        let state = self.holds(first);
        let mut block = first + 1;
        while block <= last {
            if block.is_multiple_of(GROUP) && self.is_alike(block / GROUP, state) {
                block += GROUP;
                continue;
            }
            let word = self.bits.get((block / 64) as usize).copied().unwrap_or(0);
            let others = if state { !word } else { word } >> (block % 64);
            if others != 0 {
                block += u64::from(others.trailing_zeros());
                break;
            }
            block += 64 - block % 64;
        }
        ((block * BLOCK).min(end), state)
    }

    /// Whether all of a group's blocks are in one state.
    fn is_alike(&self, group: u64, state: bool) -> bool {
        let count = self.counts.get(group as usize).copied().unwrap_or(0);
        u64::from(count) == if state { GROUP } else { 0 }
    }

    /// Blocks that hold data.
    pub fn held(&self) -> u64 {
        self.counts.iter().copied().map(u64::from).sum()
    }

    /// Blocks of a range that are holes.
    pub fn missing(&self, offset: u64, length: u64) -> u64 {
        let (mut at, end, mut missing) = (offset, offset + length, 0);
        while at < end {
            let (stop, holds) = self.run(at, end);
            if !holds {
                missing += (stop - 1) / BLOCK - at / BLOCK + 1;
            }
            at = stop;
        }
        missing
    }

    /// Blocks that lie within a range as a whole and hold data.
    pub fn taken(&self, offset: u64, length: u64) -> u64 {
        let (first, last) = self.whole(offset, length);
        if first >= last {
            return 0;
        }
        let start = first * BLOCK;
        let stop = (last * BLOCK).min(offset + length);
        last - first - self.missing(start, stop - start)
    }

    /// Every block that a range touches holds data from now on.
    #[inline]
    pub fn mark(&mut self, offset: u64, length: u64) {
        if length > 0 {
            self.change(offset / BLOCK, (offset + length - 1) / BLOCK, true);
        }
    }

    /// Blocks `first..last` become holes.
    pub fn clear(&mut self, first: u64, last: u64) {
        if first < last {
            self.change(first, last - 1, false);
        }
    }

    fn change(&mut self, first: u64, last: u64, holds: bool) {
        let mut block = first;
        while block <= last {
            let (bit, count) = (block % 64, (64 - block % 64).min(last - block + 1));
            let mask = (u64::MAX >> (64 - count)) << bit;
            let group = self.counts.get_mut((block / GROUP) as usize);
            if let Some((word, group)) = self.bits.get_mut((block / 64) as usize).zip(group) {
                let before = word.count_ones();
                *word = if holds { *word | mask } else { *word & !mask };
                *group = *group + word.count_ones() - before;
            }
            block += count;
        }
    }

    /// The blocks that lie within a range as a whole, as `first..last`. The last block of a volume may be short.
    pub fn whole(&self, offset: u64, length: u64) -> (u64, u64) {
        let end = offset + length;
        let last = if end == self.size {
            end.div_ceil(BLOCK)
        } else {
            end / BLOCK
        };
        (offset.div_ceil(BLOCK), last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against one flag a block.
    #[test]
    fn runs_are_those_of_single_blocks() {
        const BLOCKS: u64 = 300;
        let mut allocation = Allocation::new(BLOCKS * BLOCK - 100);
        let mut flags = [false; BLOCKS as usize];
        let mut state = 1u64;
        for step in 0..2000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let first = (state >> 33) % BLOCKS;
            let last = (first + 1 + (state >> 50) % 90).min(BLOCKS);
            let holds = step % 3 != 0;
            if holds {
                allocation.mark(first * BLOCK + 7, (last - first) * BLOCK - 107);
            } else {
                allocation.clear(first, last);
            }
            flags[first as usize..last as usize].fill(holds);
            let missing = flags.iter().filter(|flag| !**flag).count() as u64;
            assert_eq!(allocation.held(), BLOCKS - missing);
            assert_eq!(allocation.missing(0, BLOCKS * BLOCK - 100), missing);
            let start = first * BLOCK + 1;
            let (end, found) = allocation.run(start, BLOCKS * BLOCK - 100);
            let same = flags[first as usize..].iter();
            let same = same
                .take_while(|flag| **flag == flags[first as usize])
                .count() as u64;
            assert_eq!(found, flags[first as usize]);
            assert_eq!(end, ((first + same) * BLOCK).min(BLOCKS * BLOCK - 100));
        }
    }

    /// Runs that are longer than groups, and those that end within one or at its end.
    #[test]
    fn runs_of_whole_groups_end_where_they_do() {
        const BLOCKS: u64 = 5 * GROUP + 100;
        let mut allocation = Allocation::new(BLOCKS * BLOCK);
        let end = BLOCKS * BLOCK;
        let check = |allocation: &Allocation, block: u64, expected: (u64, bool)| {
            let (stop, holds) = allocation.run(block * BLOCK, end);
            assert_eq!((stop / BLOCK, holds), expected, "{block}");
        };
        check(&allocation, 0, (BLOCKS, false));
        for (first, last) in [
            (3 * GROUP, 4 * GROUP),
            (GROUP + 1, 3 * GROUP),
            (5 * GROUP + 99, BLOCKS),
        ] {
            allocation.mark(first * BLOCK, (last - first) * BLOCK);
        }
        assert_eq!(allocation.held(), 3 * GROUP);
        for (block, expected) in [
            (0, (GROUP + 1, false)),
            (GROUP, (GROUP + 1, false)),
            (GROUP + 1, (4 * GROUP, true)),
            (2 * GROUP, (4 * GROUP, true)),
            (4 * GROUP, (5 * GROUP + 99, false)),
            (5 * GROUP + 99, (BLOCKS, true)),
        ] {
            check(&allocation, block, expected);
        }
        allocation.clear(2 * GROUP + 5, 2 * GROUP + 6);
        check(&allocation, GROUP + 1, (2 * GROUP + 5, true));
        check(&allocation, 2 * GROUP + 6, (4 * GROUP, true));
        allocation.clear(0, BLOCKS);
        check(&allocation, GROUP - 1, (BLOCKS, false));
        assert_eq!(allocation.held(), 0);
    }

    #[test]
    fn whole_blocks_lie_within_the_range() {
        let allocation = Allocation::new(10_000);
        for (offset, length, expected) in [
            (0, 4096, (0, 1)),
            (1, 8191, (1, 2)),
            (4096, 5904, (1, 3)),
            (4096, 5000, (1, 2)),
            (5000, 100, (2, 1)),
        ] {
            assert_eq!(allocation.whole(offset, length), expected);
        }
    }
}
