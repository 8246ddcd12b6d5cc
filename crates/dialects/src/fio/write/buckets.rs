//! fio's buckets of latencies.
//!
//! Values below 128 ns have a bucket each; above, every octave has 64, and a bucket is told by its mid-point (fio 3.42,
//! `stat.h`). Each of them is made of whole buckets of our histograms, which have 128 an octave, so that the counts are
//! exact.

use fathom_stats::Histogram;

/// Buckets that fio has; in its histogram logs the last one holds everything above.
pub const BUCKETS: usize = 29 * 64;

/// The number of the bucket of `value` ns, without an end.
fn bucket_of(value: u64) -> usize {
    if value < 128 {
        return value as usize;
    }
    let shift = value.ilog2() - 6;
    ((shift as usize + 1) << 6) + ((value >> shift) & 63) as usize
}

/// The value in ns that stands for a bucket.
fn value_of(bucket: usize) -> u64 {
    if bucket < 128 {
        return bucket as u64;
    }
    let shift = (bucket >> 6) - 1;
    (1u64 << (shift + 6)) + ((bucket as u64 & 63) << shift) + ((1u64 << shift) >> 1)
}

/// Values and counts of the buckets that are not empty, smallest first.
pub fn filled(histogram: &Histogram) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (value, count) in histogram.nonzero() {
        let mid = value_of(bucket_of(value));
        match found.last_mut() {
            Some((last, sum)) if *last == mid => *sum += count,
            _ => found.push((mid, count)),
        }
    }
    found
}

/// Counts of all of fio's buckets, added up in groups of two to the power of `coarseness`.
pub fn counts(histogram: &Histogram, coarseness: u32) -> Vec<u64> {
    let mut counts = vec![0; BUCKETS >> coarseness];
    for (value, count) in histogram.nonzero() {
        counts[bucket_of(value).min(BUCKETS - 1) >> coarseness] += count;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_and_hold_their_mid_points() {
        for bucket in 0..BUCKETS + 64 {
            assert_eq!(bucket_of(value_of(bucket)), bucket);
        }
        assert!(value_of(BUCKETS - 1) < 1 << 34);
        assert_eq!(bucket_of(u64::MAX), 59 * 64 - 1);
        // A few of fio's own.
        assert_eq!(
            [10, 8082, 128, 129, 130].map(|it| value_of(bucket_of(it))),
            [10, 8096, 129, 129, 131]
        );
    }

    #[test]
    fn counts_add_up_whatever_the_grouping() {
        let mut histogram = Histogram::new();
        let mut value = 1;
        while value < 1 << 40 {
            histogram.record(value);
            value = value * 9 / 8 + 1;
        }
        for coarseness in 0..=6 {
            let counts = counts(&histogram, coarseness);
            assert_eq!(counts.len(), BUCKETS >> coarseness);
            assert_eq!(counts.iter().sum::<u64>(), histogram.count());
        }
        let filled = filled(&histogram);
        assert_eq!(
            filled.iter().map(|(_, count)| count).sum::<u64>(),
            histogram.count()
        );
        assert!(filled.is_sorted());
    }
}
