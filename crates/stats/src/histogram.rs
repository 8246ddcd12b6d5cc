//! A log-linear histogram of durations.
//!
//! Values below 256 ns have a bucket each; above, every octave has 128 equal buckets, so that a bucket is at most 1/128
//! of its value wide and its mid-point is off by at most 0.4 %. This is the bucket layout of HdrHistogram with two
//! significant digits, which makes the exchange format exact. Recording is a shift, an add and an increment.
//!
//! ```
//! use fathom_stats::Histogram;
//! let mut histogram = Histogram::new();
//! for value in 1..=1000 {
//!     histogram.record(value * 1000);
//! }
//! assert_eq!(histogram.count(), 1000);
//! assert!((histogram.percentile(99.0) as f64 / 990_000.0 - 1.0).abs() < 0.01);
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

const SUB_BITS: u32 = 7;
const SUB_COUNT: usize = 1 << SUB_BITS;
/// Largest power of two that has buckets of its own: 2^44 ns is 4.9 hours.
const MAX_BITS: u32 = 44;
const MAX_TRACKED: u64 = (1 << MAX_BITS) - 1;
const BUCKETS: usize = (MAX_BITS - SUB_BITS + 1) as usize * SUB_COUNT;
/// Least value of the last bucket, which has all that is above, too.
const LAST_BUCKET: u64 = (1 << MAX_BITS) - (1 << (MAX_BITS - SUB_BITS - 1));

/// Counts of durations in nanoseconds, with exact count, sum, minimum and maximum.
///
/// Values above 2^44 ns are counted in the last bucket; minimum, maximum and sum stay exact for them too.
///
/// A new histogram has all its buckets (19 KiB), so that recording allocates only where a bucket has counted 2^32 values,
/// which takes far longer than the second that a worker's histogram is for; a clone has those between its extremes alone,
/// and takes more when it needs them. A run keeps a clone for each second.
pub struct Histogram {
    /// Counts but for what they have carried: most never grow that large, and those that stand close together share a line of
    /// the cache.
    buckets: Box<[u32]>,
    /// How many times 2^32 was counted besides, by the number of the bucket.
    carried: Carried,
    /// Number of the first bucket that is there.
    first: usize,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// What few histograms have: the pointer is null in all others.
type Carried = Option<Box<BTreeMap<usize, u64>>>;

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Histogram {
    fn clone(&self) -> Self {
        let used = self.used();
        let within = used.start - self.first..used.end - self.first;
        Self {
            buckets: self.buckets[within].into(),
            carried: self.carried.clone(),
            first: used.start,
            ..*self
        }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let exact =
            |histogram: &Self| (histogram.count, histogram.sum, histogram.min, histogram.max);
        exact(self) == exact(other) && self.nonzero().eq(other.nonzero())
    }
}

impl Eq for Histogram {}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Histogram({} values, {:?} to {:?})",
            self.count,
            self.min(),
            self.max()
        )
    }
}

impl Histogram {
    /// An empty histogram with all its buckets.
    pub fn new() -> Self {
        Self {
            buckets: vec![0; BUCKETS].into_boxed_slice(),
            carried: None,
            first: 0,
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// The histogram of which [`Self::nonzero`] gave `buckets`, with its exact sum, minimum and maximum; `None` where
    /// these do not belong together.
    pub fn from_buckets(buckets: &[(u64, u64)], sum: u128, min: u64, max: u64) -> Option<Self> {
        let mut histogram = Self::new();
        for (value, count) in buckets {
            histogram.record_many(*value, *count);
        }
        if histogram.count == 0 {
            return (sum == 0).then_some(histogram);
        }
        let same = bucket_of(histogram.min) == bucket_of(min)
            && bucket_of(histogram.max) == bucket_of(max)
            && min <= max;
        (histogram.sum, histogram.min, histogram.max) = (sum, min, max);
        same.then_some(histogram)
    }

    /// Counts one duration.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.add(bucket_of(value), 1);
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts all of `values` in each of `histograms`. Faster than one by one: a value's bucket is found once, and sums and
    /// extremes are kept aside meanwhile.
    pub fn record_in_each<const N: usize>(mut histograms: [&mut Self; N], values: &[u64]) {
        let (mut sum, mut min, mut max) = (0, u64::MAX, 0);
        for value in values {
            let bucket = bucket_of(*value);
            sum += u128::from(*value);
            (min, max) = (min.min(*value), max.max(*value));
            for histogram in &mut histograms {
                histogram.add(bucket, 1);
            }
        }
        for histogram in histograms {
            histogram.count += values.len() as u64;
            histogram.sum += sum;
            histogram.min = histogram.min.min(min);
            histogram.max = histogram.max.max(max);
        }
    }

    /// Counts `count` durations of one value.
    #[inline]
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.add(bucket_of(value), count);
        self.count += count;
        self.sum += u128::from(value) * u128::from(count);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds to a bucket.
    #[expect(clippy::inline_always, reason = "as of `record`")]
    #[inline(always)]
    fn add(&mut self, bucket: usize, count: u64) {
        let Some(there) = self.buckets.get_mut(bucket.wrapping_sub(self.first)) else {
            return self.add_anywhere(bucket, count);
        };
        match u32::try_from(u64::from(*there) + count) {
            Ok(sum) => *there = sum,
            Err(_) => self.add_anywhere(bucket, count),
        }
    }

    /// The same for a bucket that is not there, or cannot count so far.
    #[cold]
    #[inline(never)]
    fn add_anywhere(&mut self, bucket: usize, count: u64) {
        self.cover(&(bucket..bucket + 1));
        let there = &mut self.buckets[bucket - self.first];
        let low = u64::from(*there) + (count & u64::from(u32::MAX));
        *there = low as u32;
        self.carry(bucket, (count >> 32) + (low >> 32));
    }

    /// Adds to what a bucket has carried.
    fn carry(&mut self, bucket: usize, count: u64) {
        if count > 0 {
            *self
                .carried
                .get_or_insert_default()
                .entry(bucket)
                .or_default() += count;
        }
    }

    /// What a bucket counts that is there.
    fn counted(&self, bucket: usize) -> u64 {
        let carried = self.carried.as_ref();
        let carried = carried.and_then(|carried| carried.get(&bucket));
        (carried.copied().unwrap_or(0) << 32) + u64::from(self.buckets[bucket - self.first])
    }

    /// Adds every value of `other`, exactly.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let theirs = other.used();
        self.cover(&theirs);
        for bucket in theirs {
            self.add(bucket, other.counted(bucket));
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets every value; keeps the memory.
    pub fn clear(&mut self) {
        if self.count > 0 {
            let used = self.used();
            self.buckets[used.start - self.first..used.end - self.first].fill(0);
            self.carried = None;
            (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum of all values in ns.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest value in ns, exact; 0 when empty.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Largest value in ns, exact; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Mean in ns, exact up to f64; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// Standard deviation (of the population) in ns, from bucket mid-points within the exact minimum and maximum.
    pub fn stddev(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self
            .nonzero()
            .map(|(value, count)| {
                let value = value.clamp(self.min(), self.max);
                (value as f64 - mean).powi(2) * count as f64
            })
            .sum();
        (squares / self.count as f64).sqrt()
    }

    /// The value in ns below or at which `percent` (0 to 100) of all values lie: the mid-point of the bucket that
    /// holds the ⌈percent/100 × count⌉-th smallest, never outside the exact minimum and maximum; 0 when empty. The largest of
    /// all is the exact maximum. Of what lies above 2^44 ns only the maximum is known, and that is given: too much, where less
    /// would hide it. `percent` counts to six decimals.
    pub fn percentile(&self, percent: f64) -> u64 {
        // In integers: in binary fractions 99.9 % of 1,000 is a little over 999, and its ceiling one rank too far.
        let millionths = (percent.clamp(0.0, 100.0) * 1e6).round() as u128;
        let rank = (millionths * u128::from(self.count))
            .div_ceil(100_000_000)
            .max(1);
        if rank >= u128::from(self.count) {
            return self.max;
        }
        let mut seen = 0;
        for (value, count) in self.nonzero() {
            seen += u128::from(count);
            if seen >= rank {
                return self.at_most(value);
            }
        }
        self.max
    }

    /// What a value in the bucket of `midpoint` is held to be, where too much is better than too little.
    pub(crate) fn at_most(&self, midpoint: u64) -> u64 {
        if midpoint >= LAST_BUCKET && self.max > MAX_TRACKED {
            self.max
        } else {
            midpoint.clamp(self.min(), self.max)
        }
    }

    /// Every non-empty bucket, smallest first: its mid-point in ns and its count.
    pub fn nonzero(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.used().map(|bucket| (bucket, self.counted(bucket)));
        let filled = counts.filter(|(_, count)| *count > 0);
        filled.map(|(bucket, count)| (midpoint_of(bucket), count))
    }

    /// Numbers of the buckets from the smallest value's to the largest's: those outside are empty, and memory that was
    /// never touched stays so.
    fn used(&self) -> Range<usize> {
        if self.count == 0 {
            return self.first..self.first;
        }
        bucket_of(self.min)..bucket_of(self.max) + 1
    }

    /// Makes the buckets of `range` that are not there.
    fn cover(&mut self, range: &Range<usize>) {
        let there = self.first..self.first + self.buckets.len();
        if there.start <= range.start && range.end <= there.end {
            return;
        }
        let wanted = if there.is_empty() {
            range.clone()
        } else {
            there.start.min(range.start)..there.end.max(range.end)
        };
        let mut buckets = vec![0; wanted.len()].into_boxed_slice();
        if !there.is_empty() {
            buckets[there.start - wanted.start..][..there.len()].copy_from_slice(&self.buckets);
        }
        (self.buckets, self.first) = (buckets, wanted.start);
    }
}

#[inline]
fn bucket_of(value: u64) -> usize {
    let value = value.min(MAX_TRACKED);
    let shift = (63 - SUB_BITS) - (value | SUB_COUNT as u64).leading_zeros();
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

fn midpoint_of(index: usize) -> u64 {
    if index < 2 * SUB_COUNT {
        return index as u64;
    }
    let shift = (index >> SUB_BITS) as u32 - 1;
    let lowest = ((index & (SUB_COUNT - 1)) as u64 + SUB_COUNT as u64) << shift;
    lowest + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_within_one_percent_of_its_bucket() {
        let mut value = 1u64;
        while value < MAX_TRACKED {
            for near in [value - 1, value, value + 1] {
                let mid = midpoint_of(bucket_of(near));
                assert!(
                    mid.abs_diff(near) as f64 <= near as f64 * 0.004 + 0.5,
                    "{near} gave {mid}"
                );
            }
            value = value * 5 / 4 + 1;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        for index in 1..BUCKETS {
            assert_eq!(bucket_of(midpoint_of(index)), index);
        }
    }

    #[test]
    fn a_histogram_comes_back_from_its_buckets() {
        let mut histogram = Histogram::new();
        for value in [0, 7, 300, 1_000_003, u64::MAX] {
            histogram.record(value);
        }
        let buckets: Vec<_> = histogram.nonzero().collect();
        let (min, max) = (histogram.min(), histogram.max());
        let again = Histogram::from_buckets(&buckets, histogram.sum(), min, max);
        assert_eq!(again, Some(histogram));
        assert_eq!(Histogram::from_buckets(&buckets, 1, 9, max), None);
        assert_eq!(
            Histogram::from_buckets(&[], 0, 0, 0),
            Some(Histogram::new())
        );
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut left, mut right, mut both) =
            (Histogram::new(), Histogram::new(), Histogram::new());
        for value in 0..10_000u64 {
            let duration = value * value;
            if value % 3 == 0 {
                left.record(duration);
            } else {
                right.record(duration);
            }
            both.record(duration);
        }
        left.merge(&right);
        assert_eq!(left, both);
    }

    #[test]
    fn a_clone_counts_on() {
        let mut whole = Histogram::new();
        let mut copy = whole.clone();
        for value in [5_000, 70_000, 1, u64::MAX, 5_000, 3_000_000_000] {
            let mut one = Histogram::new();
            one.record(value);
            copy.merge(&one.clone());
            copy = copy.clone();
            copy.record(value);
            copy.record_many(value, 3);
            whole.record_many(value, 5);
            assert_eq!(copy, whole, "{value}");
            assert_eq!(copy.percentile(60.0), whole.percentile(60.0));
        }
        copy.clear();
        assert_eq!(copy, Histogram::new());
        assert_eq!(copy.clone(), copy);
        copy.record(9);
        assert_eq!((copy.count(), copy.percentile(50.0)), (1, 9));
    }

    #[test]
    fn a_bucket_counts_further_than_32_bits() {
        let most = u64::from(u32::MAX);
        let mut histogram = Histogram::new();
        histogram.record_many(7_000, most);
        histogram.record(7_000);
        histogram.record_many(90, 5 * most);
        Histogram::record_in_each([&mut histogram], &[7_000, 7_000]);
        let counts = |histogram: &Histogram| -> Vec<_> {
            histogram.nonzero().map(|(_, count)| count).collect()
        };
        assert_eq!(counts(&histogram), [5 * most, most + 3]);
        assert_eq!(histogram.count(), 6 * most + 3);
        assert_eq!((histogram.percentile(83.0), histogram.max()), (90, 7_000));

        // A count of which nothing is left but what was carried is no empty one.
        let mut round = Histogram::new();
        round.record_many(7_000, most + 1);
        assert_eq!(counts(&round), [most + 1]);
        round.merge(&histogram.clone());
        assert_eq!(counts(&round), [5 * most, 2 * most + 4]);
        let buckets: Vec<_> = round.nonzero().collect();
        let again = Histogram::from_buckets(&buckets, round.sum(), 90, 7_000);
        assert_eq!(again.as_ref(), Some(&round));
        round.clear();
        round.record(7_000);
        assert_eq!(counts(&round), [1]);
    }

    #[test]
    fn recording_in_several_is_recording_one_by_one() {
        let values = [5_000, 70_000, 1, u64::MAX, 5_000, 3_000_000_000];
        let mut before = Histogram::new();
        before.record(80_000);
        // A clone lacks the buckets of most values, and each has other ones.
        let (mut one, mut other) = (before.clone(), Histogram::new());
        Histogram::record_in_each([&mut one, &mut other], &values);
        Histogram::record_in_each([&mut one], &[]);
        let mut plain = Histogram::new();
        for value in values {
            plain.record(value);
        }
        assert_eq!(other, plain);
        before.merge(&plain);
        assert_eq!(one, before);
        assert_eq!(one.percentile(60.0), before.percentile(60.0));
    }

    #[test]
    fn percentiles_stay_within_the_extremes() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.percentile(50.0), 0);
        histogram.record(1_000_003);
        for percent in [0.0, 50.0, 99.99, 100.0] {
            assert_eq!(histogram.percentile(percent), 1_000_003);
        }
    }

    #[test]
    fn the_largest_of_all_is_the_exact_maximum() {
        let mut histogram = Histogram::new();
        histogram.record_many(1_000, 998);
        histogram.record(900_000);
        histogram.record(1_003_000);
        assert!(midpoint_of(bucket_of(1_003_000)) < 1_003_000);
        for percent in [99.95, 99.99, 100.0] {
            assert_eq!(histogram.percentile(percent), 1_003_000);
        }
        let before = midpoint_of(bucket_of(900_000));
        assert_eq!(histogram.percentile(99.9), before);
    }

    #[test]
    fn a_percentile_past_the_last_bucket_is_the_maximum() {
        let mut histogram = Histogram::new();
        histogram.record_many(60_000_000_000_000, 99);
        histogram.record(1_000);
        histogram.record(131_000_000_000_000);
        assert_eq!(histogram.percentile(0.5), midpoint_of(bucket_of(1_000)));
        assert_eq!(histogram.percentile(50.0), 131_000_000_000_000);
        assert_eq!(bucket_of(LAST_BUCKET), BUCKETS - 1);
        assert_eq!(bucket_of(LAST_BUCKET - 1), BUCKETS - 2);
    }

    #[test]
    fn a_percentile_is_the_value_of_its_exact_rank() {
        #[track_caller]
        fn check(count: u64, percent: f64, rank: u64) {
            let mut histogram = Histogram::new();
            // Values below 256 have buckets of their own, so that ranks show one by one.
            histogram.record_many(1, rank - 1);
            histogram.record(2);
            histogram.record_many(3, count - rank);
            assert_eq!(histogram.percentile(percent), 2, "p{percent} of {count}");
        }
        for count in [10, 100, 1_000, 10_000, 100_000, 1_000_000] {
            check(count, 50.0, count / 2);
            check(count, 90.0, count / 10 * 9);
        }
        for count in [1_000, 10_000, 123_000, 1_000_000] {
            check(count, 99.9, count / 1_000 * 999);
            check(count + 1, 99.9, count / 1_000 * 999 + 1);
        }
        check(10_000, 99.99, 9_999);
        check(100, 0.0, 1);
        check(100, 100.0, 100);
    }

    #[test]
    fn equal_values_have_no_deviation() {
        let mut histogram = Histogram::new();
        histogram.record_many(1_000_003, 7);
        assert!(histogram.stddev() < 1e-9);
    }

    #[test]
    fn stddev_of_two_values() {
        let mut histogram = Histogram::new();
        histogram.record(100);
        histogram.record(200);
        assert!((histogram.mean() - 150.0).abs() < 1e-9);
        assert!((histogram.stddev() - 50.0).abs() < 1e-9);
    }
}
