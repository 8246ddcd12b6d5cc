//! A rate limit as a theoretical arrival time (GCRA), and the two limits of one stage taken together.
//!
//! The generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling) keeps one moment: the time at which the next
//! unit would arrive if all had come at exactly the rate. It needs no timer, costs a few additions per I/O, and is the same
//! code in virtual and in real time. A credit bucket is the same algorithm with a large tolerance, so bursting needs no
//! second mechanism.
//!
//! Invariants: the fraction of a nanosecond is kept as a numerator over the rate, so that the long-run rate is exact after
//! any number of I/Os; from any moment on, no more than `rate × time + tolerance × rate` and one I/O leave.

use fathom_units::Nanos;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// What some units cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    units: u64,
    /// Whole nanoseconds.
    whole_ns: u64,
    /// The rest: this many `rate`-ths of a nanosecond.
    fraction: u64,
}

impl Cost {
    #[cold]
    fn of(units: u64, rate: u64) -> Self {
        let scaled = u128::from(units) * NANOS_PER_SEC;
        let whole = scaled / u128::from(rate);
        Self {
            units,
            whole_ns: u64::try_from(whole).unwrap_or(u64::MAX),
            fraction: (scaled % u128::from(rate)) as u64,
        }
    }
}

/// One limit: units (I/Os or bytes) a second.
#[derive(Debug, Clone)]
pub struct Limiter {
    /// Units a second; more than 0.
    rate: u64,
    /// How far ahead of the rate units may leave.
    tolerance_ns: u64,
    /// Theoretical arrival time, whole nanoseconds.
    arrival_ns: u64,
    /// Its fraction: this many `rate`-ths of a nanosecond.
    arrival_fraction: u64,
    /// Of the units that left last: most I/Os of a stage are of one size, and need no division.
    cost: Cost,
}

/// Equal limiters let the same units leave at the same times.
impl PartialEq for Limiter {
    fn eq(&self, other: &Self) -> bool {
        let state = |one: &Self| {
            let limit = (one.rate, one.tolerance_ns);
            (limit, one.arrival_ns, one.arrival_fraction)
        };
        state(self) == state(other)
    }
}

impl Eq for Limiter {}

impl Limiter {
    /// A limit of `rate` units a second (0 is taken as 1) that lets units leave up to `tolerance` early.
    pub fn new(rate: u64, tolerance: Nanos) -> Self {
        let rate = rate.max(1);
        Self {
            rate,
            tolerance_ns: tolerance.get(),
            arrival_ns: 0,
            arrival_fraction: 0,
            cost: Cost::of(1, rate),
        }
    }

    /// The first moment at which an I/O may leave.
    #[inline]
    pub fn earliest(&self) -> Nanos {
        Nanos::new(self.arrival_ns.saturating_sub(self.tolerance_ns))
    }

    /// Lets `units` leave at `now`, which must not be before [`Limiter::earliest`].
    #[inline]
    pub fn take(&mut self, now: Nanos, units: u64) {
        assert!(
            now >= self.earliest(),
            "a limiter never serves more than its allowance"
        );
        // Idle time earns nothing. Neither this nor the carry can be predicted, so neither is a branch.
        let busy = u64::from(now.get() <= self.arrival_ns);
        let fraction = self.arrival_fraction * busy;
        let arrival = self.arrival_ns.max(now.get());
        if units != self.cost.units {
            self.cost = Cost::of(units, self.rate);
        }
        // Both fractions are below the rate, so that their sum is below twice the rate.
        let (sum, overflow) = fraction.overflowing_add(self.cost.fraction);
        let carry = u64::from(overflow | (sum >= self.rate));
        self.arrival_fraction = sum.wrapping_sub(self.rate * carry);
        let step = self.cost.whole_ns.saturating_add(carry);
        self.arrival_ns = arrival.saturating_add(step);
    }

    /// When everything that has left is paid for.
    #[inline]
    pub fn paid_at(&self) -> Nanos {
        Nanos::new(self.arrival_ns)
    }

    /// How far ahead of the rate units may leave.
    pub fn tolerance(&self) -> Nanos {
        Nanos::new(self.tolerance_ns)
    }

    /// Units a second.
    pub fn rate(&self) -> u64 {
        self.rate
    }
}

/// The limits of one stage; an absent one is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// I/Os a second, in counted units.
    pub iops: Option<Limiter>,
    /// Bytes a second.
    pub bytes: Option<Limiter>,
}

impl Limits {
    /// The first moment at which both limits let an I/O leave.
    #[inline]
    pub fn earliest(&self) -> Nanos {
        earliest_of(self.iops.as_ref()).max(earliest_of(self.bytes.as_ref()))
    }

    /// Whether the limit on bytes is the later of the two.
    #[inline]
    pub fn bytes_bind(&self) -> bool {
        earliest_of(self.bytes.as_ref()) > earliest_of(self.iops.as_ref())
    }

    /// Lets one I/O of `units` and `bytes` leave at `now`: both limits or neither.
    #[inline]
    pub fn take(&mut self, now: Nanos, units: u64, bytes: u64) {
        if let Some(limiter) = &mut self.iops {
            limiter.take(now, units);
        }
        if let Some(limiter) = &mut self.bytes {
            limiter.take(now, bytes);
        }
    }

    /// When everything that has left is paid for under both limits.
    #[inline]
    pub fn paid_at(&self) -> Nanos {
        let paid = |limiter: Option<&Limiter>| limiter.map_or(Nanos::ZERO, Limiter::paid_at);
        paid(self.iops.as_ref()).max(paid(self.bytes.as_ref()))
    }
}

#[inline]
fn earliest_of(limiter: Option<&Limiter>) -> Nanos {
    limiter.map_or(Nanos::ZERO, Limiter::earliest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    /// Serves as early as allowed and returns the departure of I/O number `count`.
    fn departure_of(limiter: &mut Limiter, count: u64, units: u64) -> u64 {
        let mut now = 0;
        for _ in 0..=count {
            now = limiter.earliest().get();
            limiter.take(Nanos::new(now), units);
        }
        now
    }

    #[test]
    fn the_long_run_rate_is_exact() {
        #[track_caller]
        fn check(rate: u64, units: u64, count: u64) {
            let left = departure_of(&mut Limiter::new(rate, Nanos::ZERO), count, units);
            let exact = u128::from(count) * u128::from(units) * NANOS_PER_SEC / u128::from(rate);
            assert_eq!(u128::from(left), exact, "{rate} a second, {units} units");
        }
        check(1, 1, 1_000);
        check(7, 3, 100_000);
        check(62_500, 1, 1_000_000);
        check(64_000, 1, 1_000_000);
        check(77_777, 1, 1_000_000);
        check(512_000_000, 8192, 1_000_000);
        check(485_000_001, 4097, 1_000_000);
        check(9_999_999_967, u64::from(u32::MAX), 10_000);
    }

    /// 10^12 I/Os one by one take too long to test. But what is taken at one moment in two parts leaves the limiter as it is
    /// left when the sum is taken at once (checked for every kind of rate), so 10^6 times 10^6 is the same as 10^12 times one.
    #[test]
    fn it_does_not_drift_over_10_to_the_12_ios() {
        for rate in [1, 7, 62_500, 64_000, 77_777, 999_999_937, 9_999_999_967] {
            let (mut parts, mut whole) = (
                Limiter::new(rate, Nanos::ZERO),
                Limiter::new(rate, Nanos::ZERO),
            );
            for step in 0..1_000 {
                let (first, second) = (mix(step) % 1_000, mix(!step) % 1_000);
                let now = whole.earliest();
                whole.take(now, first + second);
                parts.take(now, first);
                parts.take(parts.earliest(), second);
                assert_eq!(parts, whole, "{rate} a second, step {step}");
            }
        }
        for rate in [62_500, 64_000, 77_777, 999_999_937] {
            let mut limiter = Limiter::new(rate, Nanos::ZERO);
            let left = departure_of(&mut limiter, 1_000_000, 1_000_000);
            let exact = 1_000_000_000_000 * NANOS_PER_SEC / u128::from(rate);
            assert_eq!(u128::from(left), exact, "{rate} a second");
        }
    }

    #[test]
    fn no_window_serves_more_than_its_allowance() {
        for seed in 0..40u64 {
            let draw = |index: u64| mix(seed.wrapping_mul(0x9e37) ^ index << 20);
            let rate = 1 + draw(0) % 1_000_000;
            let tolerance = draw(1) % 3 * 1_000_000;
            let mut limiter = Limiter::new(rate, Nanos::new(tolerance));
            let mut now = 0;
            let mut left: Vec<(u64, u64)> = Vec::new();
            for index in 2..400 {
                now += draw(index) % (3_000_000_000 / rate);
                now = now.max(limiter.earliest().get());
                let units = 1 + draw(index + 1000) % 4;
                limiter.take(Nanos::new(now), units);
                left.push((now, units));
            }
            for start in (0..left.len()).step_by(7) {
                let mut sum = 0u128;
                for end in start..left.len() {
                    // The last I/O of a window may leave on credit; those before it are paid for, to the nanosecond.
                    let span = u128::from(left[end].0 - left[start].0 + tolerance + 1);
                    assert!(
                        sum * NANOS_PER_SEC <= span * u128::from(rate) + u128::from(rate),
                        "seed {seed}: {sum} units in {span} ns at {rate} a second"
                    );
                    sum += u128::from(left[end].1);
                }
            }
        }
    }

    #[test]
    fn both_limits_are_taken_together_and_the_later_binds() {
        let limiter = |rate| Some(Limiter::new(rate, Nanos::ZERO));
        let mut limits = Limits {
            iops: limiter(64_000),
            bytes: limiter(512_000_000),
        };
        limits.take(Nanos::ZERO, 1, 8192);
        assert_eq!(limits.earliest(), Nanos::new(16_000));
        assert!(limits.bytes_bind());
        let mut limits = Limits {
            iops: limiter(64_000),
            bytes: limiter(512_000_000),
        };
        limits.take(Nanos::ZERO, 1, 4096);
        assert_eq!(limits.earliest(), Nanos::new(15_625));
        assert!(!limits.bytes_bind());
        assert_eq!(Limits::default().earliest(), Nanos::ZERO);
    }

    #[test]
    fn a_tolerance_lets_units_leave_early_once() {
        let mut limiter = Limiter::new(1000, Nanos::from_millis(5));
        for _ in 0..6 {
            limiter.take(Nanos::ZERO, 1);
        }
        assert_eq!(limiter.earliest(), Nanos::from_millis(1));
    }
}
