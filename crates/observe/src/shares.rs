//! Percentiles over time, and shares at a load.
//!
//! Intervals differ in length, so a percentile is over time, not over intervals. A share (of reads, of random I/O) at a
//! percentile is that of the I/Os of the intervals whose rate is about there: the mix that goes with that load, so that
//! the figures of one percentile belong together and the shares of reads and writes add to the whole.

use fathom_profile::{Level, Levels};
use fathom_units::{Nanos, Percent};

/// Share of the time on either side of a percentile whose intervals give its mix.
const BAND: [(Level, f64, f64); 3] = [
    (Level::P50, 0.45, 0.55),
    (Level::P90, 0.85, 0.95),
    (Level::P99, 0.98, 1.0),
];

/// What a level is as a share of the time.
pub const fn rank(level: Level) -> f64 {
    match level {
        Level::P50 => 0.50,
        Level::P90 => 0.90,
        Level::P99 => 0.99,
    }
}

/// A figure with the time for which it held.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// The figure.
    pub value: f64,
    /// For how long.
    pub length: Nanos,
}

/// The percentiles over time, each the least figure that as much of the time did not exceed.
pub fn over_time(mut held: Vec<Held>) -> Levels<f64> {
    let mut levels = Levels::default();
    held.retain(|one| one.length > Nanos::ZERO && one.value.is_finite());
    held.sort_by(|left, right| left.value.total_cmp(&right.value));
    let whole: f64 = held.iter().map(|one| one.length.get() as f64).sum();
    for level in Level::ALL {
        let (mut passed, wanted) = (0.0, rank(level) * whole);
        let found = held.iter().find(|one| {
            passed += one.length.get() as f64;
            // A rank that is reached but for rounding is reached.
            passed >= wanted * (1.0 - 1e-12)
        });
        levels.set(level, found.or(held.last()).map(|one| one.value));
    }
    levels
}

/// One interval: its rate, its length, and a part of a whole.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// I/Os a second.
    pub rate: f64,
    /// Its length.
    pub length: Nanos,
    /// The part.
    pub of: f64,
    /// Of what.
    pub whole: f64,
}

/// At each level, the sum of the parts over the sum of the wholes of the intervals with about that rate; `None` where
/// these had nothing.
pub fn at_load(mut parts: Vec<Part>) -> Levels<f64> {
    let mut levels = Levels::default();
    parts.sort_by(|left, right| left.rate.total_cmp(&right.rate));
    let time: f64 = parts.iter().map(|one| one.length.get() as f64).sum();
    for (level, from, to) in BAND {
        let (mut passed, mut part, mut whole) = (0.0, 0.0, 0.0);
        for one in &parts {
            let begin = passed;
            passed += one.length.get() as f64;
            if passed > from * time && begin < to * time {
                part += one.of;
                whole += one.whole;
            }
        }
        levels.set(level, (whole > 0.0).then(|| part / whole));
    }
    levels
}

/// The same levels in another type.
pub fn map<T: Copy + PartialEq>(levels: Levels<f64>, of: impl Fn(f64) -> T) -> Levels<T> {
    Levels {
        p50: levels.p50.map(&of),
        p90: levels.p90.map(&of),
        p99: levels.p99.map(&of),
    }
}

/// A ratio as a share, at most the whole.
pub fn percent(ratio: f64) -> Percent {
    let points = (ratio * 10_000.0).round().clamp(0.0, 10_000.0);
    Percent::from_basis_points(points as u32).unwrap_or(Percent::ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(value: f64, seconds: u64) -> Held {
        Held {
            value,
            length: Nanos::from_secs(seconds),
        }
    }

    #[track_caller]
    fn check(held: Vec<Held>, expected: [Option<f64>; 3]) {
        let found = over_time(held);
        assert_eq!([found.p50, found.p90, found.p99], expected);
    }

    #[test]
    fn percentiles_are_over_time() {
        check(vec![], [None; 3]);
        check(vec![held(7.0, 1)], [Some(7.0); 3]);
        let even: Vec<_> = (1..=100)
            .rev()
            .map(|value| held(f64::from(value), 1))
            .collect();
        check(even, [Some(50.0), Some(90.0), Some(99.0)]);
        // One long interval outweighs nine short ones.
        let mut uneven: Vec<_> = (1..=9).map(|value| held(f64::from(value), 1)).collect();
        uneven.push(held(100.0, 9));
        check(uneven, [Some(9.0), Some(100.0), Some(100.0)]);
        check(
            vec![held(1.0, 0), held(f64::NAN, 1), held(2.0, 1)],
            [Some(2.0); 3],
        );
    }

    #[test]
    fn a_mix_is_that_of_its_load() {
        // Quiet intervals read, busy ones write.
        let parts = (0..100u32).map(|place| Part {
            rate: f64::from(place),
            length: Nanos::from_secs(1),
            of: if place < 90 { 10.0 } else { 1.0 },
            whole: 10.0,
        });
        let found = at_load(parts.collect());
        assert_eq!(found.p50, Some(1.0));
        assert!((found.p90.unwrap() - 0.55).abs() < 1e-9, "{found:?}");
        assert_eq!(found.p99, Some(0.1));
        assert_eq!(at_load(vec![]), Levels::default());
    }
}
