//! The random numbers of a campaign: SplitMix64 (Steele, Lea and Flood, 2014).

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    /// One of a list; `None` where it is empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// A range within `length` bytes, short ones more often.
    pub fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = match self.below(4) {
            0 => length,
            1 => 64,
            _ => 8,
        };
        let end = start + self.below(most + 1).min(length - start);
        start..end
    }
}
