//! A rate limit as a theoretical arrival time (GCRA); beside it credit buckets, and the limits of one stage taken together.
//!
//! The generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling) keeps one moment: the time at which the next
//! unit would arrive if all had come at exactly the rate. It needs no timer, costs an addition per I/O, and is the same
//! code in virtual and in real time. A credit bucket ([`CreditBucket`]) is the same algorithm with a large tolerance, so
//! bursting needs no second mechanism; [`Limits`] is what one stage enforces.
//!
//! Invariants: the fraction of a nanosecond is kept as a numerator over the rate, so that the long-run rate is exact after
//! any number of I/Os; from any moment on, no more than `rate × time + tolerance × rate` and one I/O leave.

use fathom_units::Nanos;

mod billing;
mod credits;
mod pair;

pub use billing::{SecondOfUse, on_demand_transactions};
pub use credits::{CreditBucket, CreditRate};
pub use pair::{Levels, Limits, Rate};

const NANOS_PER_SEC: u128 = 1_000_000_000;

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
    /// What the last number of units cost: I/Os of a job are mostly alike, and an addition is cheaper than a division.
    last: Cost,
}

/// The time that a number of units takes at the rate.
#[derive(Debug, Clone, Copy)]
struct Cost {
    units: u64,
    whole_ns: u64,
    /// This many `rate`-ths of a nanosecond; below the rate.
    fraction: u64,
}

impl Cost {
    fn of(units: u64, rate: u64) -> Self {
        let total = u128::from(units) * NANOS_PER_SEC;
        let rate = u128::from(rate);
        Self {
            units,
            whole_ns: u64::try_from(total / rate).unwrap_or(u64::MAX),
            fraction: (total % rate) as u64,
        }
    }
}

/// Two limiters are equal where they will do the same.
impl PartialEq for Limiter {
    fn eq(&self, other: &Self) -> bool {
        let state = |limiter: &Self| {
            (
                (limiter.rate, limiter.tolerance_ns),
                (limiter.arrival_ns, limiter.arrival_fraction),
            )
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
            last: Cost::of(1, rate),
        }
    }

    /// The same with a theoretical arrival time: whole nanoseconds, and `rate`-ths of one.
    pub(crate) fn arriving(self, arrival_ns: u64, arrival_fraction: u64) -> Self {
        Self {
            arrival_ns,
            arrival_fraction,
            ..self
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
        if units != self.last.units {
            self.last = Cost::of(units, self.rate);
        }
        // Both fractions are below the rate, so that their sum is below twice the rate.
        let (sum, overflow) = fraction.overflowing_add(self.last.fraction);
        let carry = u64::from(overflow || sum >= self.rate);
        self.arrival_fraction = sum.wrapping_sub(self.rate * carry);
        let step = self.last.whole_ns.saturating_add(carry);
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

    /// Changes the rate and the tolerance at `now`. What has left and is not paid for stays owed, in units, and is paid at
    /// the new rate.
    pub fn change(&mut self, now: Nanos, rate: u64, tolerance: Nanos) {
        let rate = rate.max(1);
        let owed_ns = u128::from(self.arrival_ns.saturating_sub(now.get()));
        let owed = if self.arrival_ns < now.get() {
            0
        } else {
            owed_ns * u128::from(self.rate) + u128::from(self.arrival_fraction)
        };
        let whole = u64::try_from(owed / u128::from(rate)).unwrap_or(u64::MAX);
        self.arrival_ns = now.get().saturating_add(whole);
        self.arrival_fraction = (owed % u128::from(rate)) as u64;
        self.rate = rate;
        self.tolerance_ns = tolerance.get();
        self.last = Cost::of(1, rate);
    }

    /// Starts with `time` owed from moment zero: so much less may leave early.
    fn owe(&mut self, time: Nanos) {
        self.arrival_ns = time.get();
        self.arrival_fraction = 0;
    }
}

#[cfg(test)]
mod tests;
