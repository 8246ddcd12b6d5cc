//! Choices from a seed.

/// A source of choices: SplitMix64.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn number(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low + 1)
    }

    /// A number from `low` to `high`, small ones as often as large ones (each octave alike).
    pub fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let octaves = (high / low).max(1).ilog2();
        let base = low << self.number(0, u64::from(octaves));
        self.number(base, (base * 2).min(high).max(base))
    }

    /// Whether something of this chance in a hundred is so.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.number(1, 100) <= percent
    }

    /// One of several.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.number(0, choices.len() as u64 - 1) as usize]
    }
}
