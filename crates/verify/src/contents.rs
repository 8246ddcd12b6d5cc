//! What verified blocks hold between their headers.
//!
//! Random bytes follow from a seed alone, and the seed of a write from its number, so that what should stand in a block
//! can be made again at any time. The generator is SplitMix64 in counter mode (Steele, Lea, Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014): not a cipher, but nothing a storage system could compress.

use fathom_workload::Pattern;
use fathom_workload::generator::StreamKey;
use multiversion::multiversion;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Sets these seeds apart from all other numbers that are drawn from the same key.
const PURPOSE: u64 = 0x7665_7269_6679_2121;

/// The finalizer of SplitMix64: a bijection of 64-bit numbers.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// What the seeds of a worker's writes are drawn from.
pub(crate) fn base(key: StreamKey) -> u64 {
    let parts = [
        key.seed,
        u64::from(key.job),
        u64::from(key.worker),
        key.salt,
    ];
    parts.into_iter().fold(PURPOSE, |hash, part| {
        mix(hash.wrapping_add(GOLDEN) ^ mix(part.wrapping_add(GOLDEN)))
    })
}

/// The seed of the write of this number.
pub(crate) const fn seed_of(base: u64, number: u64) -> u64 {
    mix(base.wrapping_add(number.wrapping_mul(GOLDEN)))
}

/// Fills `place` with the random bytes of `seed`, the same with every set of instructions.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn random(seed: u64, place: &mut [u8]) {
    let (words, rest) = place.as_chunks_mut::<8>();
    let mut counter = seed;
    for word in words {
        counter = counter.wrapping_add(GOLDEN);
        *word = mix(counter).to_le_bytes();
    }
    let last = mix(counter.wrapping_add(GOLDEN)).to_le_bytes();
    let length = rest.len();
    rest.copy_from_slice(&last[..length]);
}

/// Fills a block at `offset` with the pattern, anew every `interval` bytes.
pub(crate) fn pattern(pattern: &Pattern, interval: Option<u32>, offset: u64, place: &mut [u8]) {
    let step = interval.map_or(place.len(), |interval| interval as usize);
    let starts = (offset..).step_by(step.max(1));
    for (offset, part) in starts.zip(place.chunks_mut(step.max(1))) {
        pattern.fill(offset, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::FormatAt;

    #[test]
    fn a_seed_gives_the_same_bytes_and_another_gives_others() {
        let bytes = |seed| {
            let mut place = [0u8; 77];
            random(seed, &mut place);
            place
        };
        assert_eq!(bytes(5), bytes(5));
        assert_ne!(bytes(5), bytes(6));
        // Pinned: what was written by one release is checked by the next.
        assert_eq!(bytes(1)[..8], 0x910a_2dec_8902_5cc1_u64.to_le_bytes());
    }

    #[test]
    fn the_pattern_repeats_and_bears_the_offset() {
        let bytes = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        let with_offset = Pattern::new(bytes, vec![FormatAt(1)]).unwrap();
        let mut place = [9u8; 26];
        pattern(&with_offset, Some(13), 0x1000, &mut place);
        let first = [1, 0, 0x10, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0x10];
        let second = [1, 0x0d, 0x10, 0, 0, 0, 0, 0, 0, 2, 1, 0x0d, 0x10];
        assert_eq!(place[..13], first);
        assert_eq!(place[13..], second);
    }
}
