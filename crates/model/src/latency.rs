//! Media latency: a log-normal distribution as tables of quantiles in whole nanoseconds.
//!
//! A tier is known by its median and 99th percentile. A log-normal law through the two is the usual shape of storage
//! latency without queueing; tables make a draw two loads and a multiplication, and the same on every platform.
//!
//! Invariant: the tables come from `libm`, never from the platform's mathematics, so a seed gives the same times
//! everywhere.

use std::sync::OnceLock;

use fathom_units::Nanos;

/// Quantiles in steps of 1/4096; the last step is refined by a table of its own, in steps of 1/4096².
const STEPS: usize = 4096;

/// Standard normal quantiles: the body, and the upper tail beyond 4095/4096.
struct NormalQuantiles {
    body: Vec<f64>,
    tail: Vec<f64>,
}

/// A drawn latency's law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyTable {
    body: Vec<u64>,
    tail: Vec<u64>,
    /// The body in half the memory, which every I/O goes to; empty where a latency is above four seconds.
    narrow: Vec<u32>,
}

impl LatencyTable {
    /// The log-normal law with this median and 99th percentile (at least the median).
    pub fn log_normal(median: Nanos, p99: Nanos) -> Self {
        static NORMAL: OnceLock<NormalQuantiles> = OnceLock::new();
        let normal = NORMAL.get_or_init(normal_quantiles);
        let median_ns = median.get().max(1) as f64;
        let ratio = (p99.get() as f64 / median_ns).max(1.0);
        let sigma = libm::log(ratio) / upper_quantile(0.01, 0.0);
        let quantile = |z: &f64| libm::round(median_ns * libm::exp(sigma * z)) as u64;
        let body: Vec<u64> = normal.body.iter().map(quantile).collect();
        let narrow = body.iter().map(|time| u32::try_from(*time).ok());
        Self {
            narrow: narrow.collect::<Option<_>>().unwrap_or_default(),
            body,
            tail: normal.tail.iter().map(quantile).collect(),
        }
    }

    /// The law of this latency, each time as `change` says; longer times must stay the longer ones.
    #[must_use]
    pub fn changed(&self, change: impl Fn(u64) -> u64) -> Self {
        let body: Vec<u64> = self.body.iter().map(|time| change(*time)).collect();
        let narrow = body.iter().map(|time| u32::try_from(*time).ok());
        Self {
            narrow: narrow.collect::<Option<_>>().unwrap_or_default(),
            tail: self.tail.iter().map(|time| change(*time)).collect(),
            body,
        }
    }

    /// The latency at the quantile `number` / 2^64.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn at(&self, number: u64) -> Nanos {
        let step = (number >> 52) as usize;
        if let (true, Some([low, high])) = (step < STEPS - 1, self.narrow.get(step..step + 2)) {
            let (low, high) = (u64::from(*low), u64::from(*high));
            return Nanos::new(low + (((high - low) * (number >> 36 & 0xffff)) >> 16));
        }
        self.at_wide(number)
    }

    /// The same in the tail, or where latencies are long.
    fn at_wide(&self, number: u64) -> Nanos {
        let step = (number >> 52) as usize;
        let (table, step, rest) = if step == STEPS - 1 {
            (
                &self.tail,
                (number >> 40) as usize & (STEPS - 1),
                number >> 24,
            )
        } else {
            (&self.body, step, number >> 36)
        };
        let (low, high) = (table[step], table[step + 1]);
        Nanos::new(low + (((high - low) * (rest & 0xffff)) >> 16))
    }
}

fn normal_quantiles() -> NormalQuantiles {
    let step = 1.0 / STEPS as f64;
    // The upper half from the middle outwards; each quantile starts the search for the next.
    let mut upper = vec![0.0];
    for index in 1..STEPS / 2 {
        let start = upper[index - 1];
        upper.push(upper_quantile(0.5 - index as f64 * step, start));
    }
    let mut tail = Vec::with_capacity(STEPS + 1);
    let mut start = upper[STEPS / 2 - 1];
    for index in 0..=STEPS {
        // Half a step stands for the end, whose quantile is infinite.
        let share = ((STEPS - index) as f64).max(0.5) * step * step;
        start = upper_quantile(share, start);
        tail.push(start);
    }
    let lowest = -upper_quantile(step / 2.0, 0.0);
    let lower = upper.iter().skip(1).rev().map(|z| -z);
    let body = std::iter::once(lowest)
        .chain(lower)
        .chain(upper.iter().copied());
    let mut body: Vec<f64> = body.collect();
    body.push(tail[0]);
    NormalQuantiles { body, tail }
}

/// The z above which the share `share` (0 to 0.5) of a standard normal law lies, by Newton's method from `start`, which
/// must not be above it: the upper share is convex there, so the steps never overshoot.
fn upper_quantile(share: f64, start: f64) -> f64 {
    let mut z = start;
    for _ in 0..60 {
        let above = 0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2);
        let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * std::f64::consts::PI);
        let next = z + (above - share) / density;
        if next - z < 1e-12 {
            break;
        }
        z = next;
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_met() {
        #[track_caller]
        fn check(share: f64, expected_ns: f64) {
            let table =
                LatencyTable::log_normal(Nanos::from_micros(2000), Nanos::from_micros(8000));
            let number = (share * 2f64.powi(64)) as u64;
            let found = table.at(number).get() as f64;
            assert!(
                (found / expected_ns - 1.0).abs() < 0.002,
                "{share}: {found}"
            );
        }
        // median × exp(sigma × z), sigma = ln 4 / 2.326348.
        check(0.5, 2_000_000.0);
        check(0.99, 8_000_000.0);
        check(0.01, 500_000.0);
        check(0.999, 2e6 * libm::exp(0.595_909 * 3.090_232));
        check(0.9999, 2e6 * libm::exp(0.595_909 * 3.719_016));
        check(0.999_999, 2e6 * libm::exp(0.595_909 * 4.753_424));
    }

    #[test]
    fn the_table_never_falls_and_covers_every_number() {
        let table = LatencyTable::log_normal(Nanos::from_micros(400), Nanos::from_micros(1500));
        assert!(table.body.is_sorted() && table.tail.is_sorted());
        assert_eq!((table.body.len(), table.tail.len()), (STEPS + 1, STEPS + 1));
        assert!(table.at(0) > Nanos::ZERO && table.at(u64::MAX) < Nanos::from_secs(1));
    }

    #[test]
    fn equal_quantiles_give_a_constant() {
        let table = LatencyTable::log_normal(Nanos::from_millis(1), Nanos::from_millis(1));
        assert_eq!(table.at(0), table.at(u64::MAX));
    }
}
