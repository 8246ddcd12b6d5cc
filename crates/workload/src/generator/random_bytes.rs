//! Random bytes by the buffer: what a write costs the processor beside its I/O.
//!
//! Sixteen xorshift generators side by side (Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003,
//! with the shifts 13, 7 and 17), which a compiler turns into vector instructions of any width. No cipher and no source for
//! choices, for which there is xoshiro256++, but nothing that storage could compress or find twice.

use multiversion::multiversion;

use super::rng::SplitMix64;

const LANES: usize = 16;
/// Bytes that one step makes.
const STEP: usize = 8 * LANES;

/// An endless row of random bytes.
#[derive(Debug)]
pub(super) struct RandomBytes {
    lanes: [u64; LANES],
}

impl RandomBytes {
    /// The bytes that follow from one number.
    pub(super) fn new(seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        // A lane of zero would stay zero.
        Self {
            lanes: std::array::from_fn(|_| seeds.next() | 1),
        }
    }

    /// Fills `buffer` with the next bytes.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) {
        let (steps, rest) = buffer.as_chunks_mut();
        take_steps(&mut self.lanes, steps);
        if !rest.is_empty() {
            let mut last = [[0; STEP]];
            take_steps(&mut self.lanes, &mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
        }
    }
}

/// The next bytes of the lanes, the same with every set of instructions.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn take_steps(lanes: &mut [u64; LANES], steps: &mut [[u8; STEP]]) {
    // Copied, the lanes stay in registers.
    let mut words = *lanes;
    for place in steps {
        let (places, _) = place.as_chunks_mut::<8>();
        for (word, place) in words.iter_mut().zip(places) {
            *word ^= *word << 13;
            *word ^= *word >> 7;
            *word ^= *word << 17;
            *place = word.to_le_bytes();
        }
    }
    *lanes = words;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_gives_the_numbers_of_the_paper() {
        // The first numbers of xorshift64 (13, 7, 17) from a state of 1.
        let mut lanes = [1; LANES];
        let mut place = [[0; STEP]];
        for expected in [0x4082_2041, 0x1000_4106_0c01_1441, 0x9b1e_842f_6e86_2629] {
            take_steps(&mut lanes, &mut place);
            assert_eq!(lanes, [expected; LANES]);
            assert_eq!(place[0][8..16], u64::to_le_bytes(expected));
        }
    }

    #[test]
    fn bytes_go_on_from_buffer_to_buffer_and_fill_odd_lengths() {
        let mut bytes = RandomBytes::new(7);
        let mut two = [[0u8; STEP]; 2];
        bytes.fill(&mut two[0]);
        bytes.fill(&mut two[1]);
        let mut whole = [0u8; 2 * STEP];
        RandomBytes::new(7).fill(&mut whole);
        assert_eq!(two.concat(), whole);
        let mut odd = [0u8; STEP + 5];
        RandomBytes::new(7).fill(&mut odd);
        assert_eq!(odd[..], whole[..STEP + 5]);
    }

    #[test]
    fn no_word_comes_twice() {
        let mut buffer = vec![0u8; 1 << 20];
        RandomBytes::new(0).fill(&mut buffer);
        let mut words: Vec<_> = buffer.chunks(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 1 << 17);
    }
}
