//! Ranks of Zipf's distribution, exact for every size.
//!
//! The first ranks, which most draws give, come from a table (Vose, "A linear algorithm for generating random numbers with a
//! given distribution", IEEE Transactions on Software Engineering 17, 1991): one random number, one look. One place of the
//! table stands for all other ranks. Those come from rejection-inversion (Hörmann, Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", ACM TOMACS 6, 1996), which needs none. Powers and logarithms
//! are the `libm` crate's, the same on every platform.
//!
//! Invariant: a rank is at least 1 and at most the number of ranks.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::rng::Xoshiro256;
use super::spread::unit;

/// Places of a table; the last one is that of all ranks past the others'.
const PLACES: usize = 512;

/// Ranks 1 to `count` with probabilities in proportion to rank ^ -theta.
#[derive(Debug)]
pub(super) struct ZipfRanks {
    table: Arc<Table>,
    tail: Tail,
}

impl ZipfRanks {
    pub(super) fn new(count: u64, theta: f64) -> Self {
        Self {
            table: Table::shared(count, theta),
            tail: Tail::new(PLACES as u64, count, theta),
        }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256) -> u64 {
        let places = &self.table.places;
        // The place, and beside it a number as random as what is left of the bits.
        let product = u128::from(rng.next()) * places.len() as u128;
        let (drawn, rest) = ((product >> 64) as usize, product as u64);
        let place = &places[drawn];
        let chosen = if rest < place.own {
            drawn as u64
        } else {
            u64::from(place.other)
        };
        if chosen < PLACES as u64 - 1 {
            return chosen + 1;
        }
        self.tail.draw(rng)
    }
}

/// A place of a table: its own rank in `own` of 2^64 cases, and else another place's.
#[derive(Debug, Clone, Copy)]
struct Place {
    own: u64,
    other: u32,
}

/// The first ranks of a distribution.
#[derive(Debug)]
struct Table {
    count: u64,
    theta: f64,
    places: Box<[Place]>,
}

/// Tables in use: jobs have many workers and files of one size.
static IN_USE: Mutex<Vec<Weak<Table>>> = Mutex::new(Vec::new());

impl Table {
    /// The table of this distribution that another has, or a new one.
    fn shared(count: u64, theta: f64) -> Arc<Self> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|table| table.strong_count() > 0);
        let mut tables = in_use.iter().filter_map(Weak::upgrade);
        let same =
            |table: &Arc<Self>| table.count == count && table.theta.to_bits() == theta.to_bits();
        if let Some(table) = tables.find(same) {
            return table;
        }
        let table = Arc::new(Self::new(count, theta));
        in_use.push(Arc::downgrade(&table));
        table
    }

    fn new(count: u64, theta: f64) -> Self {
        let curve = Curve { theta, base: 1.0 };
        let alone = count.clamp(1, PLACES as u64 - 1);
        let mut weights: Vec<f64> = (1..=alone).map(|rank| curve.density(rank as f64)).collect();
        if count > alone {
            weights.push(sum_of(alone + 1, count, theta));
        }
        Self {
            count,
            theta,
            places: places(&weights),
        }
    }
}

/// Places that are drawn as often as their weights say.
fn places(weights: &[f64]) -> Box<[Place]> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    // What of each place's weight is not given out yet, in places.
    let mut left: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let (mut less, mut more): (Vec<usize>, Vec<usize>) =
        (0..left.len()).partition(|place| left[*place] < 1.0);
    let own = Place {
        own: u64::MAX,
        other: 0,
    };
    let mut places = vec![own; left.len()];
    for (index, place) in places.iter_mut().enumerate() {
        place.other = index as u32;
    }
    while let (Some(small), Some(large)) = (less.pop(), more.pop()) {
        places[small] = Place {
            own: (left[small] * 2f64.powi(64)) as u64,
            other: large as u32,
        };
        left[large] -= 1.0 - left[small];
        if left[large] < 1.0 {
            less.push(large);
        } else {
            more.push(large);
        }
    }
    places.into_boxed_slice()
}

/// Ranks `first` to `last` of the distribution.
#[derive(Debug)]
struct Tail {
    curve: Curve,
    first: f64,
    last: f64,
    least_area: f64,
    most_area: f64,
    shortcut: f64,
}

impl Tail {
    fn new(first: u64, last: u64, theta: f64) -> Self {
        let (first, last) = (first as f64, last.max(first) as f64);
        let base = first - 0.5;
        let curve = Curve { theta, base };
        let second = curve.integral(first + 1.5) - curve.density(first + 1.0);
        Self {
            curve,
            first,
            last,
            least_area: curve.integral(first + 0.5) - curve.density(first),
            most_area: curve.integral(last + 0.5),
            shortcut: first + 1.0 - curve.inverse(second),
        }
    }

    #[inline(never)]
    fn draw(&self, rng: &mut Xoshiro256) -> u64 {
        let curve = self.curve;
        loop {
            let area = self.most_area + unit(rng) * (self.least_area - self.most_area);
            let x = curve.inverse(area);
            let rank = libm::floor(x + 0.5).clamp(self.first, self.last);
            if rank - x <= self.shortcut || area >= curve.integral(rank + 0.5) - curve.density(rank)
            {
                return rank as u64;
            }
        }
    }
}

/// (x / base) ^ -theta; theta is not 1. Numbers about the base are told apart however steep the curve is.
#[derive(Debug, Clone, Copy)]
struct Curve {
    theta: f64,
    base: f64,
}

impl Curve {
    fn density(self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x / self.base))
    }

    /// Its integral from the base to `x`.
    fn integral(self, x: f64) -> f64 {
        let rest = 1.0 - self.theta;
        self.base * libm::expm1(rest * libm::log(x / self.base)) / rest
    }

    /// The inverse of the integral.
    fn inverse(self, area: f64) -> f64 {
        let rest = 1.0 - self.theta;
        let grown = libm::log1p((area / self.base * rest).max(-1.0)) / rest;
        self.base * libm::exp(grown)
    }
}

/// The sum of rank ^ -theta from `first` to `last`: the integral around them, and the first term by which the sum differs
/// (Euler and Maclaurin's formula for midpoints). The next one is below 10^-9 of the sum where `first` is that of a table's
/// last place.
fn sum_of(first: u64, last: u64, theta: f64) -> f64 {
    let (low, high) = (first as f64 - 0.5, last as f64 + 0.5);
    let curve = Curve { theta, base: low };
    let slope = |x: f64| -theta * curve.density(x) / x;
    let sum = curve.integral(high) - (slope(high) - slope(low)) / 24.0;
    sum * libm::exp(-theta * libm::log(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::StreamKey;
    use crate::generator::rng::Purpose;

    const THETAS: [f64; 7] = [0.2, 0.5, 0.99, 1.01, 1.2, 2.5, 10.0];

    fn zeta(theta: f64, ranks: std::ops::RangeInclusive<u64>) -> f64 {
        // The small ones first, so that they are not lost beside the sum.
        ranks.rev().map(|rank| libm::pow(rank as f64, -theta)).sum()
    }

    #[test]
    fn the_sum_of_all_other_ranks_is_known() {
        for theta in THETAS {
            for last in [512, 513, 1000, 2_000_000] {
                let found = sum_of(512, last, theta);
                let expected = zeta(theta, 512..=last);
                let off = (found / expected - 1.0).abs();
                assert!(off < 1e-9, "theta {theta}, to {last}: {off}");
            }
        }
    }

    /// Each rank's probability by the table alone, added up over its places.
    #[test]
    fn a_table_holds_the_exact_probabilities() {
        for theta in THETAS {
            for count in [1, 2, 10, 511, 512, 513, 100_000] {
                let table = Table::new(count, theta);
                let size = table.places.len();
                let mut found = vec![0.0; size];
                for (index, place) in table.places.iter().enumerate() {
                    let own = place.own as f64 / 2f64.powi(64);
                    found[index] += own / size as f64;
                    found[place.other as usize] += (1.0 - own) / size as f64;
                }
                let all = zeta(theta, 1..=count);
                for (index, found) in found.into_iter().enumerate() {
                    let rank = index as u64 + 1;
                    let expected = match rank {
                        512 => zeta(theta, 512..=count),
                        _ => libm::pow(rank as f64, -theta),
                    } / all;
                    assert!(
                        (found - expected).abs() < 1e-12,
                        "theta {theta}, {count} ranks, rank {rank}: {found} for {expected}"
                    );
                }
            }
        }
    }

    /// Ranks past the table, in classes that double.
    #[test]
    fn the_ranks_past_the_table_have_their_probabilities() {
        for theta in [0.2, 0.5, 0.99, 1.2] {
            let count = 20_000;
            let ranks = ZipfRanks::new(count, theta);
            let mut rng = Xoshiro256::keyed(StreamKey::default(), Purpose::Offset);
            let draws = 1_000_000;
            let mut found = [0u32; 16];
            for _ in 0..draws {
                let rank = ranks.draw(&mut rng);
                assert!((1..=count).contains(&rank));
                found[rank.ilog2() as usize] += 1;
            }
            let all = zeta(theta, 1..=count);
            for (class, found) in found.into_iter().enumerate() {
                let (low, high) = (1 << class, (2 << class) - 1);
                let share = zeta(theta, low..=high.min(count)) / all;
                let expected = share * f64::from(draws);
                let spread = 6.0 * expected.sqrt() + 1.0;
                assert!(
                    (f64::from(found) - expected).abs() < spread,
                    "theta {theta}, from {low}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn the_last_rank_is_drawn_and_none_past_it() {
        for count in [1, 2, 511, 512, 513, 600] {
            let ranks = ZipfRanks::new(count, 0.1);
            let mut rng = Xoshiro256::keyed(StreamKey::default(), Purpose::Offset);
            let most = (0..50_000).map(|_| ranks.draw(&mut rng)).max();
            assert_eq!(most, Some(count));
        }
    }

    /// So steep that a tail is never met: it still ends, and holds its own.
    #[test]
    fn steep_tails_are_drawn_alike() {
        let tail = Tail::new(512, 1_000_000, 40.0);
        let mut rng = Xoshiro256::keyed(StreamKey::default(), Purpose::Offset);
        let draws = 100_000;
        let firsts = (0..draws).filter(|_| tail.draw(&mut rng) == 512).count();
        let expected = f64::from(draws) * (1.0 - libm::exp(-40.0 / 512.5));
        let off = firsts as f64 - expected;
        assert!(off.abs() < 6.0 * expected.sqrt(), "{firsts}, {expected}");
    }

    #[test]
    fn equal_distributions_share_a_table() {
        let (one, other) = (ZipfRanks::new(77_777, 0.7), ZipfRanks::new(77_777, 0.7));
        assert!(Arc::ptr_eq(&one.table, &other.table));
        let apart = ZipfRanks::new(77_778, 0.7);
        assert!(!Arc::ptr_eq(&one.table, &apart.table));
    }
}
