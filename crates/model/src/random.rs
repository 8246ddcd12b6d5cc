//! Counter-based randomness: a number that depends on its key alone.
//!
//! A drawn latency depends on (seed, disk, stream, index), not on how many were drawn before, so that a change of order
//! somewhere does not shift every sample after it.

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): a bijection
/// of 64 bits in which each input bit changes about half of the output bits.
#[inline]
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A number for one part of one I/O at one disk.
#[inline]
pub(crate) const fn draw(disk_key: u64, stream: u64, index: u64, part: u64) -> u64 {
    mix(mix(disk_key ^ stream.rotate_left(32)) ^ index ^ part.rotate_left(48))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_every_part_of_the_key_and_are_even() {
        let base = draw(1, 2, 3, 4);
        assert_eq!(base, draw(1, 2, 3, 4));
        for other in [
            draw(2, 2, 3, 4),
            draw(1, 3, 3, 4),
            draw(1, 2, 4, 4),
            draw(1, 2, 3, 5),
        ] {
            assert_ne!(base, other);
        }
        let mean = (0..100_000)
            .map(|i| (draw(7, 1, i, 0) >> 40) as f64)
            .sum::<f64>()
            / 100_000.0;
        assert!((mean / f64::from(1u32 << 23) - 1.0).abs() < 0.01, "{mean}");
    }
}
