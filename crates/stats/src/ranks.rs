//! Confidence intervals of percentiles, whatever the distribution.
//!
//! Of `n` independent values, how many lie below the true percentile `p` is binomial (`n`, `p`), so that ranks chosen by the
//! binomial's tails enclose the percentile with at least the chosen confidence: H. A. David and H. N. Nagaraja, "Order
//! Statistics", 3rd ed. (2003), section 7.1. Latencies that follow each other are not independent, so that the true
//! interval is wider.

use crate::Histogram;

/// Share of each tail that is left out of a 95 % interval.
const TAIL: f64 = 0.025;
/// Above this variance ranks come from the normal approximation with its correction for skewness (Cornish and Fisher, 1937),
/// which is then off by less than one rank in a hundred standard deviations.
const LARGE_VARIANCE: f64 = 1e4;

/// Ranks (from 1, the smallest value's) that enclose a percentile with at least 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks95 {
    /// Lower rank; `None`: there are too few values for any to be low enough.
    pub lower: Option<u64>,
    /// Upper rank; `None`: there are too few values for any to be high enough.
    pub upper: Option<u64>,
}

/// The ranks for percentile `percent` (0 to 100) of `count` values.
pub fn ranks_95(count: u64, percent: f64) -> Ranks95 {
    let share = (percent / 100.0).clamp(0.0, 1.0);
    // Below the lower rank lie its number less one: at most a tail of the binomial may be so few.
    let lower = too_few(count, share);
    // Seen from above, the same: values at or above the upper rank.
    let above = too_few(count, 1.0 - share);
    Ranks95 {
        lower: (lower > 0).then_some(lower),
        upper: (above > 0).then(|| count + 1 - above),
    }
}

/// Values (in ns) that enclose the percentile of what `histogram` counts: mid-points of buckets within the exact extremes.
/// `None` where there are too few values for a bound.
pub fn percentile_95(histogram: &Histogram, percent: f64) -> (Option<u64>, Option<u64>) {
    let ranks = ranks_95(histogram.count(), percent);
    let value = |rank: u64| {
        let mut seen = 0;
        let mut buckets = histogram.nonzero();
        let found = buckets.find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(value, _)| value)
    };
    let lower = ranks.lower.and_then(value);
    let upper = ranks.upper.and_then(value);
    (
        lower.map(|value| value.clamp(histogram.min(), histogram.max())),
        upper.map(|value| histogram.at_most(value)),
    )
}

/// The largest `r` of which P(B < `r`) is at most [`TAIL`], for B binomial (`count`, `share`); 0: there is none above.
fn too_few(count: u64, share: f64) -> u64 {
    let (n, p, q) = (count as f64, share, 1.0 - share);
    if count == 0 || p <= 0.0 {
        return 0;
    }
    if q <= 0.0 {
        return count;
    }
    let variance = n * p * q;
    if variance > LARGE_VARIANCE {
        const Z: f64 = 1.959_964;
        let skewed = (q - p) * (Z * Z - 1.0) / 6.0;
        let rank = n * p - Z * variance.sqrt() + skewed;
        return rank.floor().max(0.0) as u64;
    }
    // From far below, where nothing is: P(B < n p − 12 deviations) is far below rounding.
    let from = (n * p - 12.0 * variance.sqrt() - 60.0).max(0.0).floor();
    let log_choose =
        libm::lgamma(n + 1.0) - libm::lgamma(from + 1.0) - libm::lgamma(n - from + 1.0);
    let mut one = libm::exp(log_choose + from * libm::log(p) + (n - from) * libm::log(q));
    let (mut below, mut rank) = (one, from);
    while below <= TAIL && rank < n {
        one *= (n - rank) / (rank + 1.0) * (p / q);
        below += one;
        rank += 1.0;
    }
    rank as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: u64, percent: f64, lower: Option<u64>, upper: Option<u64>) {
        let expected = Ranks95 { lower, upper };
        assert_eq!(ranks_95(count, percent), expected, "p{percent} of {count}");
    }

    /// Ranks of the median's 95 % interval as printed in tables of the sign test (W. J. Conover, "Practical Nonparametric
    /// Statistics", 3rd ed., section 3.2 with table A3).
    #[test]
    fn the_medians_ranks_are_as_published() {
        check(5, 50.0, None, None);
        for (count, lower) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (10, 2),
            (12, 3),
            (15, 4),
            (20, 6),
            (25, 8),
            (30, 10),
            (50, 18),
            (100, 40),
        ] {
            check(count, 50.0, Some(lower), Some(count + 1 - lower));
        }
    }

    #[test]
    fn high_percentiles_need_many_values() {
        // 0.99 to the power of n is at most 0.025 from 368 values on (0.99 ^ 367 = 0.02500 and a little, 0.99 ^ 368 = 0.0248).
        assert_eq!(ranks_95(367, 99.0).upper, None);
        assert_eq!(ranks_95(368, 99.0).upper, Some(368));
        check(0, 50.0, None, None);
    }

    #[test]
    fn both_ways_to_the_ranks_agree() {
        for percent in [50.0, 99.0, 99.9] {
            let share = percent / 100.0;
            // The last number of values that is counted exactly, and the first that is not.
            let count = LARGE_VARIANCE / share / (1.0 - share);
            let exact = ranks_95(count.floor() as u64 - 1, percent);
            let approximate = ranks_95(count.ceil() as u64 + 1, percent);
            let near = |a: Option<u64>, b: Option<u64>| a.unwrap().abs_diff(b.unwrap()) <= 4;
            assert!(
                near(exact.lower, approximate.lower),
                "{exact:?} {approximate:?}"
            );
            assert!(
                near(exact.upper, approximate.upper),
                "{exact:?} {approximate:?}"
            );
        }
    }

    #[test]
    fn values_stand_at_their_ranks() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|value| histogram.record(value));
        assert_eq!(percentile_95(&histogram, 50.0), (Some(40), Some(61)));
        let (lower, upper) = percentile_95(&histogram, 99.0);
        assert!(lower.is_some_and(|lower| (94..99).contains(&lower)));
        assert_eq!(upper, None);
    }
}
