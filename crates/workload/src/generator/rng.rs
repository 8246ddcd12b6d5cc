//! Seeded random numbers: the frozen algorithms behind every stream.
//!
//! A run must be repeatable on another machine years later, so the generator is no library's "default": keys are hashed
//! and states seeded by SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
//! and numbers come from xoshiro256++ 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
//! 47, 2021). Both are in the public domain.
//!
//! Invariant: the numbers of a key never change; the tests pin the first of several streams.

use super::StreamKey;

/// 2^64 divided by the golden ratio, made odd: the increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a stream of random numbers decides. Each purpose has its own stream, so that one choice never shifts another:
/// turning a job of reads into a mix leaves its offsets as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Purpose {
    Offset = 1,
    Direction = 2,
    Size = 3,
    Target = 4,
    Jump = 5,
    Arrival = 6,
    Contents = 7,
}

/// The finalizer of SplitMix64: a bijection of 64-bit numbers in which every input bit moves every output bit.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// SplitMix64: seeds states and derives keys.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

/// One 64-bit number that stands for (seed, job, worker, salt, purpose).
pub(crate) fn hash_key(key: StreamKey, purpose: Purpose) -> u64 {
    let parts = [
        u64::from(key.job),
        u64::from(key.worker),
        key.salt,
        purpose as u64,
    ];
    let start = mix(key.seed.wrapping_add(GOLDEN));
    parts.into_iter().fold(start, |hash, part| {
        mix(hash.wrapping_add(GOLDEN) ^ mix(part.wrapping_add(GOLDEN)))
    })
}

/// The numbers that the streams of a worker start from, in the order of their purposes: offsets, directions, sizes,
/// targets, jumps, arrivals, contents. Equal numbers draw alike, on any machine.
pub fn stream_seeds(key: StreamKey) -> [u64; 7] {
    [
        Purpose::Offset,
        Purpose::Direction,
        Purpose::Size,
        Purpose::Target,
        Purpose::Jump,
        Purpose::Arrival,
        Purpose::Contents,
    ]
    .map(|purpose| hash_key(key, purpose))
}

/// xoshiro256++ 1.0.
#[derive(Debug, Clone)]
pub(crate) struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// The stream of one purpose of one worker.
    pub(crate) fn keyed(key: StreamKey, purpose: Purpose) -> Self {
        Self::seeded(hash_key(key, purpose))
    }

    fn seeded(seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        // SplitMix64 gives each 64-bit number once a period, so the four cannot all be zero.
        Self {
            state: [seeds.next(), seeds.next(), seeds.next(), seeds.next()],
        }
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c2 = c ^ a;
        let d2 = d ^ b;
        self.state = [a ^ d2, b ^ c2, c2 ^ (b << 17), d2.rotate_left(45)];
        result
    }

    /// A number below `bound`, without a division: the high half of the product with 64 random bits. The bias is at most
    /// `bound` / 2^64, less than one part in a thousand million for any storage that exists. Zero for a bound of zero.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementations by the authors give these.
    #[test]
    fn the_reference_numbers_come_out() {
        let mut seeds = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([seeds.next(), seeds.next(), seeds.next()], expected);
        let mut rng = Xoshiro256 {
            state: [1, 2, 3, 4],
        };
        let expected = [41_943_041, 58_720_359, 3_588_806_011_781_223];
        assert_eq!([rng.next(), rng.next(), rng.next()], expected);
    }

    #[test]
    fn purposes_workers_jobs_and_salts_have_streams_of_their_own() {
        let key = |seed, job, worker, salt| StreamKey {
            seed,
            job,
            worker,
            salt,
        };
        let keys = [
            key(1, 0, 0, 0),
            key(0, 1, 0, 0),
            key(0, 0, 1, 0),
            key(0, 0, 0, 1),
            key(0, 0, 0, 0),
        ];
        let mut firsts: Vec<u64> = keys
            .into_iter()
            .flat_map(|key| {
                [Purpose::Offset, Purpose::Direction, Purpose::Arrival]
                    .map(|purpose| Xoshiro256::keyed(key, purpose).next())
            })
            .collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 15);
    }

    #[test]
    fn bounded_numbers_stay_below_and_spread_evenly() {
        let mut rng = Xoshiro256::seeded(7);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7) as usize] += 1;
        }
        // Standard deviation of each count is 93.
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 465),
            "{counts:?}"
        );
        assert_eq!(rng.below(0), 0);
    }
}
