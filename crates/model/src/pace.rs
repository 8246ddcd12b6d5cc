//! The limits of a stage without credits, on the way of every I/O: two theoretical arrival times side by side.
//!
//! The rule is that of [`Limits`], to the nanosecond. What is left out is what a plain stage does not need: an absent limit
//! is one that costs nothing, both have one tolerance, and the cost of an I/O is kept until one of another size comes.
//! Where I/Os of one size follow each other and none leaves early, only the limit that they cost more of is looked at: the
//! other is paid sooner each time, so that what it says follows from when the last I/O left.
//!
//! Invariant: it lets the same I/Os go at the same times as the [`Limits`] that it is made of.

use fathom_units::Nanos;

use crate::limiter::{Limiter, Limits};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// One limit.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// Units a second; `None`: no limit.
    limit: Option<u64>,
    /// The same as a divisor of nanoseconds; 1 where there is no limit.
    per_sec: u64,
    /// Theoretical arrival time: whole nanoseconds, and `per_sec`-ths of one.
    arrival_ns: u64,
    fraction: u64,
    /// What the I/O size of [`Pace::bytes`] costs: whole nanoseconds, and `per_sec`-ths of one.
    cost_ns: u64,
    cost_fraction: u64,
}

impl Rate {
    fn of(limiter: Option<&Limiter>) -> Self {
        let limit = limiter.map(Limiter::rate);
        Self {
            limit,
            per_sec: limit.unwrap_or(1),
            arrival_ns: 0,
            fraction: 0,
            cost_ns: 0,
            cost_fraction: 0,
        }
    }

    fn price(&mut self, units: u64) {
        if let Some(limit) = self.limit {
            let scaled = u128::from(units) * NANOS_PER_SEC;
            // At most 2^32 units at one a second: less than 2^62.
            self.cost_ns = (scaled / u128::from(limit)) as u64;
            self.cost_fraction = (scaled % u128::from(limit)) as u64;
        }
    }

    /// One I/O leaves at `now`. Whether time was idle and whether the fraction carries cannot be predicted, so neither is
    /// a branch.
    #[inline]
    fn take(&mut self, now: u64) -> u64 {
        // Most limits divide a second: then there never is a fraction.
        if self.fraction | self.cost_fraction == 0 {
            self.arrival_ns = self.arrival_ns.max(now).saturating_add(self.cost_ns);
            return self.arrival_ns;
        }
        // Idle time earns nothing.
        let fraction = if now > self.arrival_ns {
            0
        } else {
            self.fraction
        };
        let sum = fraction + self.cost_fraction;
        let carry = sum >= self.per_sec;
        self.fraction = sum.min(sum.wrapping_sub(self.per_sec));
        let step = self.cost_ns + u64::from(carry);
        self.arrival_ns = self.arrival_ns.max(now).saturating_add(step);
        self.arrival_ns
    }
}

/// Which limits are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    Both,
    /// The other is as it is after an I/O that left when the last did, and found it paid.
    Ios,
    /// The same.
    Bytes,
}

/// Two limits taken together.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    ios: Rate,
    bytes_rate: Rate,
    tolerance_ns: u64,
    /// Size of the I/O that the costs are for.
    bytes: u64,
    looked: Looked,
    /// Which limits are enough once an I/O of this size has left.
    enough: Looked,
    /// Where not both are looked at: when the last I/O left.
    last: u64,
}

/// What a stage knows after an I/O left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// When everything that has left is paid for.
    pub paid_at: Nanos,
    /// When the next may leave.
    pub open_at: Nanos,
    /// Whether the limit on bytes is the later of the two.
    pub bytes_bind: bool,
}

impl Pace {
    /// The pace of limits that nothing has passed yet; `None` where their rules are not that plain.
    pub fn of(limits: &Limits) -> Option<Self> {
        let both = [limits.iops.as_ref(), limits.bytes.as_ref()];
        let mut tolerances = both.iter().flatten().map(|limiter| limiter.tolerance());
        let tolerance = tolerances.next().unwrap_or_default();
        let same = tolerances.all(|other| other == tolerance);
        // Sums of two fractions must fit.
        let small = both
            .iter()
            .flatten()
            .all(|limiter| limiter.rate() < 1 << 62);
        let plain = !limits.has_credits() && limits.paid_at() == Nanos::ZERO;
        (same && small && plain).then(|| Self {
            ios: Rate::of(both[0]),
            bytes_rate: Rate::of(both[1]),
            tolerance_ns: tolerance.get(),
            bytes: u64::MAX,
            looked: Looked::Both,
            enough: Looked::Both,
            last: 0,
        })
    }

    /// One I/O of `bytes`, which counts as the units that `count` says, leaves at `now`.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn take(&mut self, now: Nanos, bytes: u64, count: impl Fn(u64) -> u64) -> Taken {
        if bytes != self.bytes {
            self.price(bytes, count(bytes));
        }
        let now = now.get();
        if self.looked != Looked::Both {
            self.last = now;
            let bytes_bind = self.looked == Looked::Bytes;
            let rate = if bytes_bind {
                &mut self.bytes_rate
            } else {
                &mut self.ios
            };
            let paid = Nanos::new(rate.take(now));
            return Taken {
                paid_at: paid,
                open_at: paid,
                bytes_bind,
            };
        }
        let by_ios = self.ios.take(now);
        let by_bytes = self.bytes_rate.take(now);
        let paid = by_ios.max(by_bytes);
        self.looked = self.enough;
        self.last = now;
        Taken {
            paid_at: Nanos::new(paid),
            open_at: Nanos::new(paid.saturating_sub(self.tolerance_ns)),
            bytes_bind: by_bytes > by_ios,
        }
    }

    /// Both limits are as they are when both are looked at.
    fn settle(&mut self) {
        let other = match self.looked {
            Looked::Both => return,
            Looked::Ios => &mut self.bytes_rate,
            Looked::Bytes => &mut self.ios,
        };
        other.arrival_ns = self.last.saturating_add(other.cost_ns);
        other.fraction = other.cost_fraction;
        self.looked = Looked::Both;
    }

    /// The same as limits that anything can become of.
    pub fn limits(&self) -> Limits {
        let mut settled = self.clone();
        settled.settle();
        let limiter = |rate: &Rate| {
            let limit = Limiter::new(rate.limit?, Nanos::new(self.tolerance_ns));
            Some(limit.arriving(rate.arrival_ns, rate.fraction))
        };
        Limits::of_limiters(limiter(&settled.ios), limiter(&settled.bytes_rate))
    }

    #[cold]
    fn price(&mut self, bytes: u64, units: u64) {
        self.settle();
        self.bytes = bytes;
        self.ios.price(units);
        self.bytes_rate.price(bytes);
        // An I/O that finds both paid costs this or a nanosecond more. A tolerance lets it leave before.
        let more = |one: &Rate, other: &Rate| one.cost_ns >= other.cost_ns.saturating_add(2);
        self.enough = if self.tolerance_ns > 0 {
            Looked::Both
        } else if more(&self.ios, &self.bytes_rate) {
            Looked::Ios
        } else if more(&self.bytes_rate, &self.ios) {
            Looked::Bytes
        } else {
            Looked::Both
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter;
    use crate::random::mix;

    #[test]
    fn it_is_the_rule_of_the_limits_that_it_is_made_of() {
        let rates = [
            None,
            Some(1),
            Some(7),
            Some(5_000),
            Some(77_777),
            Some(512_000_001),
        ];
        for (seed, (ios, bytes)) in rates
            .into_iter()
            .flat_map(|ios| rates.map(|bytes| (ios, bytes)))
            .enumerate()
        {
            let tolerance = Nanos::from_millis(2 * (seed as u64 % 2));
            let rate = |rate: Option<u64>| rate.map(limiter::Rate::Steady);
            let mut limits = Limits::new(rate(ios), rate(bytes), tolerance);
            let mut pace = Pace::of(&limits).unwrap();
            let mut now = Nanos::ZERO;
            for step in 0..500 {
                let draw = mix(seed as u64 ^ mix(step));
                // Some of one size follow each other.
                let size = mix(seed as u64 ^ mix(step / [1, 5, 40][seed % 3]));
                let size = [512, 4096, 4096, 65_536, 300_000][(size % 5) as usize];
                limits.take(now, size / 4096, size);
                let taken = pace.take(now, size, |bytes| bytes / 4096);
                assert_eq!(taken.open_at.max(now), limits.earliest().max(now));
                assert_eq!(taken.paid_at.max(now), limits.paid_at().max(now));
                if limits.earliest() > now {
                    assert_eq!(taken.bytes_bind, limits.bytes_bind(), "{ios:?} {bytes:?}");
                }
                if (draw >> 8).is_multiple_of(10) {
                    let same = pace.limits();
                    assert_eq!(same.earliest().max(now), limits.earliest().max(now));
                    assert_eq!(same.paid_at().max(now), limits.paid_at().max(now));
                }
                let idle = if (draw >> 20).is_multiple_of(4) {
                    draw >> 40
                } else {
                    0
                };
                now = now.max(limits.earliest()).saturating_add(Nanos::new(idle));
            }
        }
    }
}
