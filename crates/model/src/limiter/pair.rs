//! The limits of one stage: I/Os and bytes, each with credits where it can burst, taken together.
//!
//! Invariant: an I/O leaves when all of them let it, and is charged to all of them at that moment.

use fathom_units::Nanos;

use super::{CreditBucket, CreditRate, Limiter};

/// One limit as a design has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Units a second, always: also the burst rate where bursting is paid for on demand.
    Steady(u64),
    /// A base rate that credits can raise.
    Credits(CreditRate),
}

impl Rate {
    /// Most units a second.
    const fn highest(&self) -> u64 {
        match self {
            Self::Steady(rate) => *rate,
            Self::Credits(rate) => rate.burst,
        }
    }

    /// The same with every rate as `change` says, at least 1 a second; buckets as `bucket` says.
    #[must_use]
    pub(crate) fn changed(self, change: impl Fn(u64) -> u64, bucket: impl Fn(u64) -> u64) -> Self {
        let rate = |rate| change(rate).max(1);
        match self {
            Self::Steady(units) => Self::Steady(rate(units)),
            Self::Credits(credits) => Self::Credits(CreditRate {
                base: rate(credits.base),
                burst: rate(credits.burst),
                bucket: bucket(credits.bucket),
                start: credits.start,
            }),
        }
    }

    fn bucket(&self) -> Option<CreditBucket> {
        match self {
            Self::Steady(_) => None,
            Self::Credits(rate) => Some(CreditBucket::new(rate)),
        }
    }
}

/// Credits left, as shares (0 to 1) of full buckets; `None` where there is no bucket.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Levels {
    /// Of the limit on I/Os.
    pub iops: Option<f64>,
    /// Of the limit on bytes.
    pub bytes: Option<f64>,
}

/// The limits of one stage; an absent one is no limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// I/Os a second, in counted units: the highest rate.
    pub iops: Option<Limiter>,
    /// Bytes a second: the highest rate.
    pub bytes: Option<Limiter>,
    /// Buckets of those that burst by credits. Few stages have them, so they stand apart from the path of all I/Os.
    credits: Option<Box<Credits>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Credits {
    iops: Option<CreditBucket>,
    bytes: Option<CreditBucket>,
}

impl Limits {
    /// The limits `iops` and `bytes`, which let I/Os leave up to `tolerance` early. Buckets have none beside their own.
    pub fn new(iops: Option<Rate>, bytes: Option<Rate>, tolerance: Nanos) -> Self {
        let limiter = |rate: Rate| Limiter::new(rate.highest(), tolerance);
        let credits = Credits {
            iops: iops.as_ref().and_then(Rate::bucket),
            bytes: bytes.as_ref().and_then(Rate::bucket),
        };
        let any = credits.iops.is_some() || credits.bytes.is_some();
        Self {
            iops: iops.map(limiter),
            bytes: bytes.map(limiter),
            credits: any.then(|| Box::new(credits)),
        }
    }

    /// Two limits as they stand, with one tolerance and without credits.
    pub(crate) fn of_limiters(iops: Option<Limiter>, bytes: Option<Limiter>) -> Self {
        Self {
            iops,
            bytes,
            credits: None,
        }
    }

    /// The limits on I/Os and on bytes, without what has passed.
    pub(crate) fn rates(&self) -> (Option<Rate>, Option<Rate>) {
        let credits = self.credits.as_deref();
        let rate = |limiter: &Limiter, bucket: Option<&CreditBucket>| match bucket {
            None => Rate::Steady(limiter.rate()),
            Some(bucket) => Rate::Credits(bucket.rate(limiter.rate())),
        };
        let iops_bucket = credits.and_then(|credits| credits.iops.as_ref());
        let bytes_bucket = credits.and_then(|credits| credits.bytes.as_ref());
        (
            self.iops.as_ref().map(|limiter| rate(limiter, iops_bucket)),
            self.bytes
                .as_ref()
                .map(|limiter| rate(limiter, bytes_bucket)),
        )
    }

    /// Changes the limits at `now`. What has left stays owed, and what was spent of credits stays spent.
    pub(crate) fn change(
        &mut self,
        now: Nanos,
        (iops, bytes): (Option<Rate>, Option<Rate>),
        tolerance: Nanos,
    ) {
        let mut credits = self.credits.take().unwrap_or_default();
        for (limiter, bucket, rate) in [
            (&mut self.iops, &mut credits.iops, iops),
            (&mut self.bytes, &mut credits.bytes, bytes),
        ] {
            match (&mut *limiter, &rate) {
                (Some(limiter), Some(rate)) => limiter.change(now, rate.highest(), tolerance),
                (_, rate) => {
                    *limiter = rate.map(|rate| Limiter::new(rate.highest(), tolerance));
                }
            }
            match (&mut *bucket, &rate) {
                (Some(bucket), Some(Rate::Credits(rate))) => bucket.change(now, rate),
                (_, rate) => *bucket = rate.as_ref().and_then(Rate::bucket),
            }
        }
        let any = credits.iops.is_some() || credits.bytes.is_some();
        self.credits = any.then_some(credits);
    }

    /// The first moment at which all limits let an I/O leave.
    #[inline]
    pub fn earliest(&self) -> Nanos {
        let plain = earliest_of(self.iops.as_ref()).max(earliest_of(self.bytes.as_ref()));
        match &self.credits {
            None => plain,
            Some(credits) => plain.max(credits.iops_earliest().max(credits.bytes_earliest())),
        }
    }

    /// Whether a limit on bytes is later than those on I/Os.
    #[inline]
    pub fn bytes_bind(&self) -> bool {
        let mut bytes = earliest_of(self.bytes.as_ref());
        let mut iops = earliest_of(self.iops.as_ref());
        if let Some(credits) = &self.credits {
            bytes = bytes.max(credits.bytes_earliest());
            iops = iops.max(credits.iops_earliest());
        }
        bytes > iops
    }

    /// Lets one I/O of `units` and `bytes` leave at `now`: all limits or none.
    #[inline]
    pub fn take(&mut self, now: Nanos, units: u64, bytes: u64) {
        if let Some(limiter) = &mut self.iops {
            limiter.take(now, units);
        }
        if let Some(limiter) = &mut self.bytes {
            limiter.take(now, bytes);
        }
        if let Some(credits) = &mut self.credits {
            credits.take(now, units, bytes);
        }
    }

    /// Until when the limits leave nothing over: what has left is paid for, and buckets are not empty.
    #[inline]
    pub fn paid_at(&self) -> Nanos {
        let paid = |limiter: Option<&Limiter>| limiter.map_or(Nanos::ZERO, Limiter::paid_at);
        let plain = paid(self.iops.as_ref()).max(paid(self.bytes.as_ref()));
        match &self.credits {
            None => plain,
            Some(credits) => plain.max(credits.iops_earliest().max(credits.bytes_earliest())),
        }
    }

    /// Whether a limit bursts by credits.
    pub fn has_credits(&self) -> bool {
        self.credits.is_some()
    }

    /// Credits left at `now`.
    pub fn levels(&self, now: Nanos) -> Levels {
        let Some(credits) = &self.credits else {
            return Levels::default();
        };
        Levels {
            iops: credits.iops.as_ref().map(|bucket| bucket.level(now)),
            bytes: credits.bytes.as_ref().map(|bucket| bucket.level(now)),
        }
    }
}

impl Credits {
    fn iops_earliest(&self) -> Nanos {
        bucket_earliest(self.iops.as_ref())
    }

    fn bytes_earliest(&self) -> Nanos {
        bucket_earliest(self.bytes.as_ref())
    }

    fn take(&mut self, now: Nanos, units: u64, bytes: u64) {
        if let Some(bucket) = &mut self.iops {
            bucket.take(now, units);
        }
        if let Some(bucket) = &mut self.bytes {
            bucket.take(now, bytes);
        }
    }
}

#[inline]
fn earliest_of(limiter: Option<&Limiter>) -> Nanos {
    limiter.map_or(Nanos::ZERO, Limiter::earliest)
}

fn bucket_earliest(bucket: Option<&CreditBucket>) -> Nanos {
    bucket.map_or(Nanos::ZERO, CreditBucket::earliest)
}
