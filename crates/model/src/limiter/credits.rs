//! Credit-based bursting of one limit.
//!
//! A provider's disk below its base rate saves what it does not use, up to a full bucket, and spends it above the base
//! rate, up to the burst rate. The same as a rate limit: the base rate with a tolerance of `bucket ÷ base` lets a whole
//! bucket leave ahead of the base rate, and earns `base − used` a second. A second limiter at the burst rate bounds the
//! speed at which it is spent; an I/O leaves when both let it.
//!
//! The bucket is not printed as a formula. "30 minutes at the maximum burst rate" (managed-disks-bursting-2.md,
//! 14 January 2025) means `(burst − base) × 1,800 s` for disks and machines; a file share has `(burst − baseline) × 3,600`
//! I/Os (understanding-billing.md). Both are [`CreditRate::for_seconds`].
//!
//! Invariant: over any window, no more than `base × time + bucket` and one I/O leave.

use fathom_units::Nanos;

use super::{Limiter, NANOS_PER_SEC};

/// A rate that credits can raise. The unit is I/Os or bytes, for all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditRate {
    /// Units a second that are always there; what earns credits.
    pub base: u64,
    /// Most units a second while credits last.
    pub burst: u64,
    /// Units that a full bucket holds.
    pub bucket: u64,
    /// Share (0 to 1) of the bucket that is there at the start.
    pub start: f64,
}

impl CreditRate {
    /// The rate whose full bucket lasts `seconds` at the burst rate, full at the start.
    pub fn for_seconds(base: u64, burst: u64, seconds: u64) -> Self {
        Self {
            base,
            burst,
            bucket: burst.saturating_sub(base).saturating_mul(seconds),
            start: 1.0,
        }
    }

    /// The same with another share (0 to 1) of the bucket at the start.
    #[must_use]
    pub fn starting_at(self, share: f64) -> Self {
        Self {
            start: share.clamp(0.0, 1.0),
            ..self
        }
    }

    /// How long a full bucket lasts at `used` units a second; `None` at or below the base rate, where it never ends.
    pub fn lasts(&self, used: u64) -> Option<Nanos> {
        let above = used.min(self.burst).checked_sub(self.base)?;
        let time = (u128::from(self.bucket) * NANOS_PER_SEC).checked_div(u128::from(above))?;
        Some(Nanos::new(u64::try_from(time).unwrap_or(u64::MAX)))
    }

    /// How long an empty bucket takes to fill at `used` units a second; `None` at or above the base rate.
    pub fn refills(&self, used: u64) -> Option<Nanos> {
        let below = self.base.checked_sub(used)?;
        let time = (u128::from(self.bucket) * NANOS_PER_SEC).checked_div(u128::from(below))?;
        Some(Nanos::new(u64::try_from(time).unwrap_or(u64::MAX)))
    }
}

/// The credits of one limit.
#[derive(Debug, Clone, PartialEq)]
pub struct CreditBucket {
    limiter: Limiter,
    tolerance: Nanos,
    /// Units that it holds when full.
    units: u64,
}

impl CreditBucket {
    /// The bucket of `rate`, at moment zero.
    pub fn new(rate: &CreditRate) -> Self {
        let tolerance = tolerance_of(rate.base, rate.bucket);
        let mut limiter = Limiter::new(rate.base, tolerance);
        let spent = 1.0 - rate.start.clamp(0.0, 1.0);
        limiter.owe(Nanos::new((tolerance.get() as f64 * spent).round() as u64));
        Self {
            limiter,
            tolerance,
            units: rate.bucket,
        }
    }

    /// What it is the bucket of, where units leave at `burst` a second at most; with a full bucket.
    pub(crate) fn rate(&self, burst: u64) -> CreditRate {
        CreditRate {
            base: self.limiter.rate(),
            burst,
            bucket: self.units,
            start: 1.0,
        }
    }

    /// The first moment at which an I/O may leave.
    #[inline]
    pub fn earliest(&self) -> Nanos {
        self.limiter.earliest()
    }

    /// Lets `units` leave at `now`, which must not be before [`CreditBucket::earliest`].
    #[inline]
    pub fn take(&mut self, now: Nanos, units: u64) {
        self.limiter.take(now, units);
    }

    /// Share (0 to 1) of a full bucket that is left at `now`.
    pub fn level(&self, now: Nanos) -> f64 {
        if self.tolerance == Nanos::ZERO {
            return 0.0;
        }
        let owed = self.limiter.paid_at().saturating_sub(now).get() as f64;
        (1.0 - owed / self.tolerance.get() as f64).clamp(0.0, 1.0)
    }

    /// Changes base rate and bucket at `now`; what has been spent stays spent, in units.
    pub fn change(&mut self, now: Nanos, rate: &CreditRate) {
        self.tolerance = tolerance_of(rate.base, rate.bucket);
        self.units = rate.bucket;
        self.limiter.change(now, rate.base, self.tolerance);
    }
}

/// `bucket ÷ base`, rounded down.
fn tolerance_of(base: u64, bucket: u64) -> Nanos {
    let time = u128::from(bucket) * NANOS_PER_SEC / u128::from(base.max(1));
    Nanos::new(u64::try_from(time).unwrap_or(u64::MAX))
}
