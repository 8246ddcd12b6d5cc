//! Draws of block numbers that are not uniform.
//!
//! Ranks of Zipf and Pareto are scattered over the target by a keyed permutation, so that the frequent blocks are not
//! neighbours. Powers and logarithms are the `libm` crate's, the same on every platform.
//!
//! Invariant: a draw is below the number of blocks.

use super::permutation::Permutation;
use super::rng::Xoshiro256;
use super::zipf::ZipfRanks;
use crate::Distribution;

/// Uniform draws that make a bell: their sum has a variance of one.
const BELL_DRAWS: u64 = 12;

/// A distribution over a number of blocks.
#[derive(Debug)]
pub(super) enum Spread {
    Uniform {
        blocks: u64,
    },
    Zipf {
        ranks: ZipfRanks,
        scatter: Scatter,
    },
    Pareto {
        blocks: u64,
        power: f64,
        scatter: Scatter,
    },
    Normal {
        blocks: u64,
        width: u64,
        shift: u64,
    },
    Zoned(Box<[ZoneBlocks]>),
    Sequence {
        blocks: u64,
        list: Box<[u32]>,
        stride: bool,
    },
}

/// A zone in blocks, and the first percent of access past its own.
#[derive(Debug)]
pub(super) struct ZoneBlocks {
    past: u32,
    first: u64,
    count: u64,
}

/// What a draw may depend on beside chance.
#[derive(Debug)]
pub(super) struct Draw<'a> {
    pub(super) rng: &'a mut Xoshiro256,
    /// I/Os of the direction before this one.
    pub(super) issued: u64,
}

impl Spread {
    /// The distribution over `blocks` blocks of `block` bytes each; `key` scatters its ranks. `blocks` must not be zero.
    pub(super) fn new(distribution: &Distribution, blocks: u64, block: u64, key: u64) -> Self {
        let scatter = |center| Scatter::new(blocks, center, key);
        match distribution {
            Distribution::Uniform => Self::Uniform { blocks },
            Distribution::Zipf { theta, center } => Self::Zipf {
                ranks: ZipfRanks::new(blocks, *theta),
                scatter: scatter(*center),
            },
            Distribution::Pareto { h, center } => Self::Pareto {
                blocks,
                power: libm::log(*h) / libm::log(1.0 - h),
                scatter: scatter(*center),
            },
            Distribution::Normal { deviation, center } => {
                let width = libm::ceil(blocks as f64 * deviation / 100.0) as u64;
                let center = center.unwrap_or(0.5);
                // The bell's top lies in the middle; it is moved round to the centre.
                let shift = blocks as f64 * (center + 0.5);
                Self::Normal {
                    blocks,
                    width: width.min(blocks / 2),
                    shift: shift as u64 % blocks,
                }
            }
            Distribution::Zoned(zones) => {
                let part = |percent: u32| (u128::from(blocks) * u128::from(percent) / 100) as u64;
                let zones = zones.iter().map(|zone| (zone.access, zone.size));
                zoned(zones, blocks, part)
            }
            Distribution::ZonedAbsolute(zones) => {
                let zones = zones.iter().map(|zone| (zone.access, zone.size.get()));
                zoned(zones, blocks, |bytes| bytes / block)
            }
            Distribution::Sequence {
                blocks: list,
                stride,
            } => Self::Sequence {
                blocks,
                list: list.clone().into_boxed_slice(),
                stride: *stride,
            },
        }
    }

    /// A block number, or `None` where a sequence leaves the target.
    pub(super) fn draw(&self, draw: Draw<'_>) -> Option<u64> {
        let Draw { rng, issued } = draw;
        let block = match self {
            Self::Uniform { blocks } => rng.below(*blocks),
            Self::Zipf { ranks, scatter } => scatter.place(ranks.draw(rng) - 1),
            Self::Pareto {
                blocks,
                power,
                scatter,
            } => {
                let rank = (*blocks - 1) as f64 * power_of(unit(rng), *power);
                scatter.place((rank as u64).min(*blocks - 1))
            }
            Self::Normal {
                blocks,
                width,
                shift,
            } => {
                let sum: u128 = (0..BELL_DRAWS)
                    .map(|_| u128::from(rng.below(*blocks)))
                    .sum();
                let bell = (sum / u128::from(BELL_DRAWS)) as u64;
                let wide = bell + rng.below(width + 1) + *blocks - width / 2;
                ((u128::from(wide) + u128::from(*shift)) % u128::from(*blocks)) as u64
            }
            Self::Zoned(zones) => {
                let percent = rng.below(100) as u32;
                let zone = zones.iter().find(|zone| percent < zone.past)?;
                zone.first + rng.below(zone.count)
            }
            Self::Sequence {
                blocks,
                list,
                stride,
            } => {
                let length = list.len() as u64;
                let round = if *stride { issued / length * length } else { 0 };
                let block = round + u64::from(list[(issued % length) as usize]);
                return (block < *blocks).then_some(block);
            }
        };
        Some(block)
    }
}

/// The zones in blocks. Those that lie past the target, or are smaller than a block, give their accesses to the whole
/// target.
fn zoned<T>(zones: impl Iterator<Item = (u32, T)>, blocks: u64, part: impl Fn(T) -> u64) -> Spread
where
    T: std::ops::Add<Output = T> + Copy + Default,
{
    let mut table = Vec::new();
    let (mut past, mut start) = (0, T::default());
    for (access, size) in zones {
        let first = part(start).min(blocks);
        start = start + size;
        let end = part(start).min(blocks);
        past += access;
        let (first, count) = if end > first {
            (first, end - first)
        } else {
            (0, blocks)
        };
        table.push(ZoneBlocks { past, first, count });
    }
    Spread::Zoned(table.into_boxed_slice())
}

/// A number in [0, 1).
pub(super) fn unit(rng: &mut Xoshiro256) -> f64 {
    (rng.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// A share in [0, 1) to a power above 0. For a few digits less than `libm::pow` gives it takes half the time, and a block
/// number has no use for them.
fn power_of(share: f64, power: f64) -> f64 {
    libm::exp(power * libm::log(share))
}

/// Places of ranks: a permutation, turned so that rank 0 lies at the centre where there is one.
#[derive(Debug)]
pub(super) struct Scatter {
    order: Permutation,
    blocks: u64,
    turn: u64,
}

impl Scatter {
    fn new(blocks: u64, center: Option<f64>, key: u64) -> Self {
        let order = Permutation::new(blocks, key);
        let turn = center.map_or(0, |center| {
            let at = ((blocks as f64 * center) as u64).min(blocks - 1);
            at + blocks - order.at(0)
        });
        Self {
            order,
            blocks,
            turn,
        }
    }

    fn place(&self, rank: u64) -> u64 {
        (self.order.at(rank) + self.turn) % self.blocks
    }
}

/// Target numbers in the order of their likelihood, as peers draw files: each file has 1,024 of the distribution's blocks,
/// and nothing is scattered.
#[derive(Debug)]
pub(super) struct TargetSpread {
    distribution: Distribution,
    ranks: Option<ZipfRanks>,
    blocks: u64,
}

const BLOCKS_PER_TARGET: u64 = 1024;

impl TargetSpread {
    pub(super) fn new(distribution: &Distribution, targets: u64) -> Self {
        let blocks = targets * BLOCKS_PER_TARGET;
        let ranks = match distribution {
            Distribution::Zipf { theta, .. } => Some(ZipfRanks::new(blocks, *theta)),
            _ => None,
        };
        Self {
            distribution: distribution.clone(),
            ranks,
            blocks,
        }
    }

    pub(super) fn draw(&self, rng: &mut Xoshiro256) -> usize {
        let (rank, center) = match (&self.distribution, &self.ranks) {
            (Distribution::Zipf { center, .. }, Some(ranks)) => (ranks.draw(rng) - 1, *center),
            (Distribution::Pareto { h, center }, _) => {
                let power = libm::log(*h) / libm::log(1.0 - h);
                let rank = (self.blocks - 1) as f64 * power_of(unit(rng), power);
                (rank as u64, *center)
            }
            (other, _) => {
                let spread = Spread::new(other, self.blocks, 1, 0);
                (spread.draw(Draw { rng, issued: 0 }).unwrap_or(0), None)
            }
        };
        let shift = center.map_or(0, |center| (self.blocks as f64 * center) as u64);
        ((rank + shift) % self.blocks / BLOCKS_PER_TARGET) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Zone;
    use crate::generator::StreamKey;
    use crate::generator::rng::Purpose;
    use fathom_units::Bytes;

    fn rng() -> Xoshiro256 {
        Xoshiro256::keyed(StreamKey::default(), Purpose::Offset)
    }

    fn counts(distribution: &Distribution, blocks: u64, draws: u64) -> Vec<u64> {
        let spread = Spread::new(distribution, blocks, 4096, 77);
        let mut rng = rng();
        let mut counts = vec![0; blocks as usize];
        for issued in 0..draws {
            let draw = Draw {
                rng: &mut rng,
                issued,
            };
            counts[spread.draw(draw).unwrap() as usize] += 1;
        }
        counts
    }

    /// Frequencies of the ranks beside their exact probabilities.
    #[test]
    fn zipf_ranks_have_their_probabilities() {
        for theta in [0.5, 0.99, 1.1, 1.2, 2.5] {
            let distribution = Distribution::Zipf {
                theta,
                center: None,
            };
            let draws = 400_000;
            let mut counts = counts(&distribution, 1000, draws);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let zeta: f64 = (1..=1000).map(|k| libm::pow(f64::from(k), -theta)).sum();
            for rank in [1u32, 2, 3, 5] {
                let expected = libm::pow(f64::from(rank), -theta) / zeta * draws as f64;
                let found = counts[rank as usize - 1] as f64;
                let spread = 6.0 * expected.sqrt();
                assert!(
                    (found - expected).abs() < spread,
                    "theta {theta}, rank {rank}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn the_most_frequent_block_lies_at_the_centre() {
        for center in [0.0, 0.25, 1.0] {
            for distribution in [
                Distribution::Zipf {
                    theta: 1.2,
                    center: Some(center),
                },
                Distribution::Pareto {
                    h: 0.1,
                    center: Some(center),
                },
            ] {
                let counts = counts(&distribution, 1000, 50_000);
                let most = (0..1000).max_by_key(|index| counts[*index]).unwrap();
                assert_eq!(
                    most,
                    ((1000.0 * center) as usize).min(999),
                    "{distribution}"
                );
            }
        }
    }

    /// With h = 0.2, 80 % of the accesses go to 20 % of the blocks.
    #[test]
    fn pareto_is_self_similar() {
        let distribution = Distribution::Pareto {
            h: 0.2,
            center: None,
        };
        let mut counts = counts(&distribution, 1000, 200_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top: u64 = counts[..200].iter().sum();
        assert!((top as f64 / 200_000.0 - 0.8).abs() < 0.01, "{top}");
    }

    #[test]
    fn powers_are_as_good_as_block_numbers_need() {
        assert_eq!(power_of(0.0, 0.3).to_bits(), 0);
        for power in [0.01, 0.5, 1.0, 7.0, 450.0] {
            for share in [1e-16, 1e-6, 0.1, 0.5, 0.999_999, 1.0 - f64::EPSILON] {
                let off = (power_of(share, power) - libm::pow(share, power)).abs();
                assert!(off < 1e-13, "{share}^{power}: {off}");
            }
        }
    }

    #[test]
    fn a_bell_has_its_top_and_its_width() {
        let check = |deviation, center, mean: f64, sd: f64| {
            let distribution = Distribution::Normal { deviation, center };
            let counts = counts(&distribution, 1000, 200_000);
            let total: f64 = counts.iter().map(|count| *count as f64).sum();
            let at = |index: usize| index as f64 * counts[index] as f64;
            let found = (0..1000).map(at).sum::<f64>() / total;
            assert!((found - mean).abs() < 2.0, "{found} for {mean}");
            let square = |index: usize| (index as f64 - found).powi(2) * counts[index] as f64;
            let spread = ((0..1000).map(square).sum::<f64>() / total).sqrt();
            assert!((spread - sd).abs() < 2.0, "{spread} for {sd}");
        };
        // Twelve draws of deviation 1000 / sqrt(12) each: their mean has 1000 / 12.
        check(0.0, None, 499.0, 83.3);
        // A uniform draw of 400 adds 400 / sqrt(12).
        check(40.0, None, 499.0, 142.5);
        check(0.0, Some(0.4), 399.0, 83.3);
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access, size| Zone { access, size };
        let zones = Distribution::Zoned(vec![zone(60, 10), zone(30, 20), zone(10, 70)]);
        let counts = counts(&zones, 1000, 100_000);
        let part = |from: usize, to: usize| counts[from..to].iter().sum::<u64>();
        for (from, to, expected) in [(0, 100, 60_000u64), (100, 300, 30_000), (300, 1000, 10_000)] {
            let found = part(from, to);
            assert!(found.abs_diff(expected) < 800, "{from}..{to}: {found}");
        }
    }

    #[test]
    fn zones_in_bytes_end_with_the_target() {
        let zone = |access, size| Zone {
            access,
            size: Bytes::new(size),
        };
        let zones = vec![zone(50, 4096 * 10), zone(50, 4096 * 5000)];
        let counts = counts(&Distribution::ZonedAbsolute(zones), 100, 20_000);
        let first: u64 = counts[..10].iter().sum();
        assert!(first.abs_diff(10_000) < 400, "{first}");
    }

    #[test]
    fn sequences_repeat_or_move_on() {
        let list = |stride| Distribution::Sequence {
            blocks: vec![2, 0, 1],
            stride,
        };
        let draws = |distribution: &Distribution| -> Vec<Option<u64>> {
            let spread = Spread::new(distribution, 5, 4096, 0);
            let mut rng = rng();
            let draw = |issued| {
                spread.draw(Draw {
                    rng: &mut rng,
                    issued,
                })
            };
            (0..6).map(draw).collect()
        };
        let same = [2, 0, 1, 2, 0, 1].map(Some);
        assert_eq!(draws(&list(false)), same);
        let moved = [Some(2), Some(0), Some(1), None, Some(3), Some(4)];
        assert_eq!(draws(&list(true)), moved);
    }

    #[test]
    fn files_are_drawn_by_rank() {
        let zipf = Distribution::Zipf {
            theta: 1.2,
            center: None,
        };
        let spread = TargetSpread::new(&zipf, 8);
        let mut rng = rng();
        let mut counts = [0u32; 8];
        for _ in 0..10_000 {
            counts[spread.draw(&mut rng)] += 1;
        }
        assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    }
}
