//! Histograms against a plain sorted list of the same values, whatever is done to them and in whatever order.
//!
//! Count, sum, minimum and maximum are exact; a percentile is the value at its rank, off by at most half a bucket.

use fathom_stats::{Histogram, from_hdr_base64, percentile_95, ranks_95, to_hdr_base64};
use proptest::collection::vec;
use proptest::prelude::*;

/// The first value that has no bucket of its own: 2^44 ns, 4.9 hours.
const BEYOND: u64 = 1 << 44;
const PERCENTS: [f64; 10] = [0.0, 0.1, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.9999, 100.0];

/// Values and how often each was counted.
#[derive(Debug, Clone, Default)]
struct Plain(Vec<(u64, u64)>);

impl Plain {
    fn add(&mut self, values: &[u64]) {
        self.0.extend(values.iter().map(|value| (*value, 1)));
    }

    fn count(&self) -> u128 {
        self.0.iter().map(|(_, count)| u128::from(*count)).sum()
    }

    fn sum(&self) -> u128 {
        let each = self.0.iter();
        each.map(|(value, count)| u128::from(*value) * u128::from(*count))
            .sum()
    }

    fn mean(&self) -> f64 {
        self.sum() as f64 / self.count() as f64
    }

    fn stddev(&self) -> f64 {
        let mean = self.mean();
        let squares = self.0.iter();
        let squares = squares.map(|(value, count)| (*value as f64 - mean).powi(2) * *count as f64);
        (squares.sum::<f64>() / self.count() as f64).sqrt()
    }

    /// The value at a rank, from 1.
    fn at(&self, rank: u128) -> u64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let mut seen = 0;
        let found = sorted.iter().find(|(_, count)| {
            seen += u128::from(*count);
            seen >= rank
        });
        found.expect("the rank is one of the values'").0
    }

    fn percentile(&self, percent: f64) -> u64 {
        let millionths = (percent * 1e6).round() as u128;
        let rank = (millionths * self.count()).div_ceil(100_000_000);
        self.at(rank.max(1))
    }
}

/// Something that is done to a histogram.
#[derive(Debug, Clone)]
enum Step {
    Record(Vec<u64>),
    Many(u64, u64),
    InEach(Vec<u64>),
    Merge(Vec<u64>),
    Clone,
    Clear,
}

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..600u64,
        // Of every magnitude, and beside the borders of buckets.
        6 => (0..64u32, any::<u64>()).prop_map(|(bits, any)| any >> bits),
        2 => (0..64u32, 0..3u64).prop_map(|(bits, near)| (1u64 << bits).wrapping_add(near).wrapping_sub(1)),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => Just(1_000_000),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let some = || vec(value(), 0..6);
    prop_oneof![
        4 => some().prop_map(Step::Record),
        2 => (value(), prop_oneof![0..4u64, Just(1_000_000_000)]).prop_map(|(value, count)| Step::Many(value, count)),
        3 => some().prop_map(Step::InEach),
        3 => some().prop_map(Step::Merge),
        3 => Just(Step::Clone),
        1 => Just(Step::Clear),
    ]
}

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

fn apply(step: &Step, histogram: &mut Histogram, plain: &mut Plain) {
    match step {
        Step::Record(values) => {
            for value in values {
                histogram.record(*value);
            }
            plain.add(values);
        }
        Step::Many(value, count) => {
            histogram.record_many(*value, *count);
            if *count > 0 {
                plain.0.push((*value, *count));
            }
        }
        Step::InEach(values) => {
            let mut other = Histogram::new();
            Histogram::record_in_each([histogram, &mut other], values);
            plain.add(values);
            assert_eq!(other, histogram_of(values));
        }
        Step::Merge(values) => {
            histogram.merge(&histogram_of(values).clone());
            plain.add(values);
        }
        Step::Clone => *histogram = histogram.clone(),
        Step::Clear => {
            histogram.clear();
            plain.0.clear();
        }
    }
}

/// Whether `found` is the mid-point of the bucket that `exact` is in.
#[track_caller]
fn check_value(found: u64, exact: u64, what: f64) {
    if exact < BEYOND - BEYOND / 256 {
        let off = found.abs_diff(exact) as f64;
        assert!(
            off <= exact as f64 / 256.0 + 0.5,
            "p{what}: {found}, {exact}"
        );
    } else {
        // All of them are in the last bucket.
        assert!(found >= BEYOND - BEYOND / 128, "p{what}: {found}, {exact}");
    }
}

#[track_caller]
fn check(histogram: &Histogram, plain: &Plain) {
    assert_eq!(u128::from(histogram.count()), plain.count());
    assert_eq!(histogram.sum(), plain.sum());
    let kept: u128 = histogram
        .nonzero()
        .map(|(_, count)| u128::from(count))
        .sum();
    assert_eq!(kept, plain.count(), "counts in buckets");
    if plain.0.is_empty() {
        let nothing = (histogram.min(), histogram.max(), histogram.percentile(50.0));
        assert_eq!(nothing, (0, 0, 0));
        assert_eq!((histogram.mean(), histogram.stddev()), (0.0, 0.0));
        assert_eq!(percentile_95(histogram, 50.0), (None, None));
        return;
    }
    let (min, max) = (plain.at(1), plain.at(plain.count()));
    assert_eq!((histogram.min(), histogram.max()), (min, max));
    assert!((histogram.mean() - plain.mean()).abs() <= plain.mean() * 1e-12);
    for percent in PERCENTS {
        let found = histogram.percentile(percent);
        assert!((min..=max).contains(&found), "p{percent}: {found}");
        check_value(found, plain.percentile(percent), percent);
        if plain.percentile(percent) >= BEYOND {
            assert_eq!(found, max, "p{percent}");
        }
        let ranks = ranks_95(histogram.count(), percent);
        let (lower, upper) = percentile_95(histogram, percent);
        for (value, rank) in [(lower, ranks.lower), (upper, ranks.upper)] {
            assert_eq!(value.is_some(), rank.is_some());
            if let (Some(value), Some(rank)) = (value, rank) {
                check_value(value, plain.at(rank.into()), percent);
            }
        }
    }
    if max < BEYOND {
        // A value moves by half a bucket at most, and so does the root of the mean square.
        let exact = plain.stddev();
        let off = (histogram.stddev() - exact).abs();
        assert!(off <= max as f64 / 256.0 + 0.5, "{off} of {exact}");
    }
}

proptest! {
    #[test]
    fn whatever_is_done_figures_are_those_of_the_values(steps in vec(step(), 0..12)) {
        let (mut histogram, mut plain) = (Histogram::new(), Plain::default());
        for step in &steps {
            apply(step, &mut histogram, &mut plain);
            check(&histogram, &plain);
        }
    }

    #[test]
    fn parts_merged_in_any_order_are_the_whole(parts in vec(vec(value(), 0..8), 0..6)) {
        let all: Vec<u64> = parts.concat();
        let whole = histogram_of(&all);
        // From an empty one with all its buckets, and from one without any.
        let (mut forwards, mut backwards) = (Histogram::new(), Histogram::new().clone());
        for (one, other) in parts.iter().zip(parts.iter().rev()) {
            forwards.merge(&histogram_of(one));
            backwards.merge(&histogram_of(other).clone());
        }
        prop_assert_eq!(&forwards, &whole);
        prop_assert_eq!(&backwards, &whole);
    }

    #[test]
    fn exchange_and_storage_give_the_same_buckets(values in vec(value(), 0..40)) {
        let histogram = histogram_of(&values);
        let buckets: Vec<_> = histogram.nonzero().collect();
        let again = from_hdr_base64(&to_hdr_base64(&histogram).unwrap()).unwrap();
        prop_assert_eq!(again.nonzero().collect::<Vec<_>>(), buckets.clone());
        let (sum, min, max) = (histogram.sum(), histogram.min(), histogram.max());
        prop_assert_eq!(Histogram::from_buckets(&buckets, sum, min, max), Some(histogram));
    }

    /// Against the sum of the binomial's terms, each made from factorials alone.
    #[test]
    fn ranks_enclose_percentiles_as_the_binomial_says(count in 1..400u64, thousandths in 1..1000u64) {
        let share = thousandths as f64 / 1000.0;
        let ranks = ranks_95(count, share * 100.0);
        let log_factorial = |n: u64| (1..=n).map(|i| libm::log(i as f64)).sum::<f64>();
        let (log_below, log_above) = (libm::log(share), libm::log(1.0 - share));
        let term = |k: u64| {
            let choose = log_factorial(count) - log_factorial(k) - log_factorial(count - k);
            libm::exp(choose + k as f64 * log_below + (count - k) as f64 * log_above)
        };
        let below = |rank: u64| (0..rank).map(term).sum::<f64>();
        // Exactly at a tail of 2.5 % rounding decides.
        let (few, many) = (0.025 - 1e-9, 0.025 + 1e-9);
        let lower = ranks.lower.unwrap_or(0);
        prop_assert!(below(lower) <= many && below(lower + 1) > few);
        let upper = ranks.upper.unwrap_or(count + 1);
        prop_assert!(1.0 - below(upper) <= many && 1.0 - below(upper - 1) > few);
    }
}
