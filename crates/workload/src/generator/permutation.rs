//! Keyed permutation of block numbers: each block once, in random order, without a map of what was visited.
//!
//! A Feistel network of four rounds over a rectangle of block numbers: the right half has a power of two of values, so
//! that splitting needs no division, and the left half as many as are needed to hold all blocks. Left values are moved by
//! modular addition, right ones by exclusive or (the generalised networks of Black, Rogaway, "Ciphers with arbitrary
//! finite domains", CT-RSA 2002). The few numbers past the end, less than one in the square root of the size, are walked
//! on until they fall inside. Memory is constant where a bitmap of a petabyte would need gigabytes. The round function
//! is a multiplication: the order must look random to storage, not withstand an attacker.
//!
//! Invariant: for every key and size the function is a bijection of `0..size`.

use super::rng::SplitMix64;
use super::side_by_side::{GROUP, SideBySide};

pub(super) const ROUNDS: usize = 4;

/// Odd, with bits well spread: a multiplier of L'Ecuyer's tables ("Tables of linear congruential generators of different
/// sizes and good lattice structure", Mathematics of Computation 68, 1999).
pub(super) const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// A bijection of `0..size`.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    size: u64,
    /// Values of the left half, 1 to 2^32.
    left_size: u64,
    right_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..size` under `key`. A size of zero is taken as one.
    pub(crate) fn new(size: u64, key: u64) -> Self {
        let size = size.max(1);
        let bits = u64::BITS - (size - 1).leading_zeros();
        let right_bits = bits.div_ceil(2);
        let mut keys = SplitMix64::new(key);
        Self {
            size,
            left_size: ((size - 1) >> right_bits) + 1,
            right_bits,
            keys: std::array::from_fn(|_| keys.next()),
        }
    }

    /// The number at `index`; `index` must be below the size.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.size, "index past the permutation's size");
        let value = self.encrypt(index);
        if value < self.size {
            return value;
        }
        self.walk(value)
    }

    /// The numbers at as many indices from `first` on as `into` has places, all of which must be below the size.
    pub(crate) fn fill(&self, first: u64, into: &mut [u64]) {
        debug_assert!(first + into.len() as u64 <= self.size, "past the size");
        let (groups, rest) = into.as_chunks_mut::<GROUP>();
        let together = (groups.len() * GROUP) as u64;
        let ways = SideBySide::of(self.left_size, self.right_bits, self.keys);
        let is_past = if let Some(ways) = ways {
            ways.encrypt(first, groups, self.size)
        } else {
            self.encrypt_each(first, groups.as_flattened_mut());
            true
        };
        if is_past {
            for value in groups.as_flattened_mut() {
                if *value >= self.size {
                    *value = self.walk(*value);
                }
            }
        }
        for (index, value) in (first + together..).zip(rest) {
            *value = self.at(index);
        }
    }

    /// Numbers so large that they do not go side by side, one after the other.
    #[cold]
    fn encrypt_each(&self, first: u64, into: &mut [u64]) {
        for (index, value) in (first..).zip(into) {
            *value = self.encrypt(index);
        }
    }

    /// The first number inside on the way from one past the end.
    #[cold]
    #[inline(never)]
    fn walk(&self, mut value: u64) -> u64 {
        while value >= self.size {
            value = self.encrypt(value);
        }
        value
    }

    #[inline]
    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1u64 << self.right_bits) - 1;
        let mut left = value >> self.right_bits;
        let mut right = value & mask;
        left = self.shift(left, round(right, self.keys[0]));
        right ^= round(left, self.keys[1]) & mask;
        left = self.shift(left, round(right, self.keys[2]));
        right ^= round(left, self.keys[3]) & mask;
        (left << self.right_bits) | right
    }

    /// `left` plus a number below the left size made of 32 random bits, modulo that size.
    #[inline]
    fn shift(&self, left: u64, random: u64) -> u64 {
        let sum = left + ((random * self.left_size) >> 32);
        sum.min(sum.wrapping_sub(self.left_size))
    }
}

/// 32 bits that all depend on each bit of `half`. One multiplication alone would send equal steps of `half` to equal
/// steps of the result, and neighbouring blocks would rise too often.
#[inline]
const fn round(half: u64, key: u64) -> u64 {
    let product = (half ^ key).wrapping_mul(MULTIPLIER);
    (product ^ (product >> 32)).wrapping_mul(MULTIPLIER) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_bijection(size: u64, key: u64) {
        let permutation = Permutation::new(size, key);
        let mut seen = vec![false; size as usize];
        for index in 0..size {
            let value = permutation.at(index) as usize;
            assert!(!seen[value], "{value} twice in size {size}, key {key}");
            seen[value] = true;
        }
    }

    #[test]
    fn every_small_size_is_a_bijection() {
        for size in 1..600 {
            check_bijection(size, size * 31);
        }
        for power in [1u64 << 12, 1 << 16, 1 << 17] {
            for size in [power - 1, power, power + 1] {
                check_bijection(size, 5);
            }
        }
    }

    #[test]
    fn the_largest_sizes_stay_in_range() {
        for size in [u64::MAX, 1 << 63, (1 << 63) + 1, 1 << 52] {
            let permutation = Permutation::new(size, 3);
            for index in [0, 1, size / 2, size - 1] {
                assert!(permutation.at(index) < size);
            }
        }
    }

    /// Neighbours in time must not be neighbours in place, or "random" I/O would be half sequential.
    #[test]
    fn the_order_looks_random() {
        for (size, key) in [(100_000u64, 1u64), (1 << 17, 2), (99_991, 3), (1 << 15, 4)] {
            let permutation = Permutation::new(size, key);
            let values: Vec<u64> = (0..size).map(|index| permutation.at(index)).collect();
            let close = |pair: &&[u64]| pair[0].abs_diff(pair[1]) <= size / 1000;
            let neighbours = values.windows(2).filter(close).count() as f64;
            let expected = size as f64 * 0.002;
            assert!(
                (neighbours - expected).abs() < 5.0 * expected.sqrt(),
                "{neighbours} of {expected}"
            );
            let rising = values.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
            let half = size as f64 / 2.0;
            assert!(
                (rising - half).abs() < 5.0 * (half / 6.0).sqrt(),
                "{rising} of {half}"
            );
            // Mean of the first tenth of the values, to find a drift over the pass.
            let tenth = size as usize / 10;
            let mean = values[..tenth].iter().sum::<u64>() as f64 / tenth as f64;
            assert!((mean / size as f64 - 0.5).abs() < 0.02, "{mean} of {size}");
        }
    }

    proptest! {
        #[test]
        fn any_size_is_a_bijection(size in 1u64..5_000, key: u64) {
            check_bijection(size, key);
        }

        /// Whatever instructions are taken, and however many numbers are left over by the widest of them.
        #[test]
        fn many_at_once_are_the_same(
            bits in 0u32..64,
            low: u64,
            key: u64,
            skip: u64,
            count in 0usize..200,
        ) {
            // As many small sizes as large ones.
            let size = (1 << bits) | (low & ((1 << bits) - 1));
            let permutation = Permutation::new(size, key);
            let first = skip % size;
            let mut many = vec![0; count.min((size - first) as usize)];
            permutation.fill(first, &mut many);
            let each: Vec<u64> = (first..).take(many.len()).map(|index| permutation.at(index)).collect();
            prop_assert_eq!(many, each);
        }

        #[test]
        fn keys_give_different_orders(size in 1_000u64..1 << 60, key: u64) {
            let first = Permutation::new(size, key);
            let second = Permutation::new(size, key.wrapping_add(1));
            let same = (0..100).filter(|index| first.at(*index) == second.at(*index)).count();
            prop_assert!(same < 10);
        }
    }
}
