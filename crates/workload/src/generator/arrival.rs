//! Open-loop arrival schedule.
//!
//! Turns a target rate into intended start times. Response time is measured from the *intended* time, so a stalled device
//! cannot hide queued work (coordinated omission).
//!
//! Invariants: intended times never move because of completions, and never drift: with equal gaps the start of I/O *n* is
//! the exact time rounded down to a nanosecond, whatever *n* is, since the remainder of each division is carried on.

use super::StreamKey;
use super::rng::{Purpose, Xoshiro256};
use super::steps::Steps;
use crate::{Arrival, Job, Pacing, Poisson};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Bits of a nanosecond's fraction that are carried on between exponential gaps.
const FRACTION_BITS: u32 = 32;

/// Intended start times of one worker's I/Os.
#[derive(Debug)]
pub struct ArrivalSchedule {
    pacing: Pacing,
    /// I/Os or bytes a second; at least 1.
    rate: u64,
    /// The next start, ns from the first.
    next: u64,
    /// Beside `next`: with equal gaps in units of 1/rate ns, with exponential ones of 2^-32 ns.
    remainder: u64,
    /// Present gap: (bytes it is for, whole ns, remainder).
    gap: (u32, u64, u64),
    draws: Option<Xoshiro256>,
    poisson: Poisson,
    /// Rates that follow one another.
    steps: Option<Steps>,
}

impl ArrivalSchedule {
    /// The schedule of the worker named by `key` at `rate`. A rate of zero is taken as one a second; validation refuses
    /// it before.
    pub fn new(rate: Pacing, poisson: Poisson, key: StreamKey) -> Self {
        let per_sec = match rate {
            Pacing::Iops(iops) => iops.get(),
            Pacing::Bytes(bytes) => bytes.get(),
        };
        let per_sec = per_sec.clamp(1, u64::MAX / 2);
        let draws = match poisson {
            Poisson::Fixed => None,
            Poisson::Exponential | Poisson::Uniform => {
                Some(Xoshiro256::keyed(key, Purpose::Arrival))
            }
        };
        Self {
            pacing: rate,
            rate: per_sec,
            next: 0,
            remainder: 0,
            gap: (1, NANOS_PER_SEC / per_sec, NANOS_PER_SEC % per_sec),
            draws,
            poisson,
            steps: None,
        }
    }

    /// The schedule of a job's worker named by `key`; `None` where it is a closed loop.
    pub fn of(job: &Job, key: StreamKey) -> Option<Self> {
        let Arrival::Open { rate, poisson, .. } = job.arrival else {
            return None;
        };
        let steps = job.features.rate_steps.as_deref().map(Steps::new);
        Some(Self {
            steps,
            ..Self::new(rate, poisson, key)
        })
    }

    /// Intended start of the next I/O, of `length` bytes, in ns from the worker's first arrival (which is at 0). The gap
    /// after it is 1 / rate, or `length` / rate where bytes are paced. Stays at `u64::MAX` (584 years) once there.
    #[inline]
    pub fn next_start(&mut self, length: u32) -> u64 {
        if self.steps.is_some() {
            return self.next_of_steps(length);
        }
        let start = self.next;
        let units = match self.pacing {
            Pacing::Iops(_) => 1,
            Pacing::Bytes(_) => length,
        };
        if units != self.gap.0 {
            // At most 2^32 * 10^9, less than 2^62.
            let scaled = u64::from(units) * NANOS_PER_SEC;
            self.gap = (units, scaled / self.rate, scaled % self.rate);
        }
        match &mut self.draws {
            None => self.step_fixed(),
            Some(draws) => {
                let uniform = (draws.next() >> 11) + 1;
                self.step_drawn(uniform);
            }
        }
        start
    }

    /// What [`Self::next_start`] will give next, in ns from the first arrival.
    pub fn peek(&self) -> u64 {
        self.steps.as_ref().map_or(self.next, Steps::peek)
    }

    #[cold]
    fn next_of_steps(&mut self, length: u32) -> u64 {
        let gap = match &mut self.draws {
            None => 1.0,
            Some(draws) => mean_gaps(self.poisson, (draws.next() >> 11) + 1),
        };
        self.steps
            .as_mut()
            .map_or(u64::MAX, |steps| steps.next_start(length, gap))
    }

    #[inline]
    fn step_fixed(&mut self) {
        let (_, whole, part) = self.gap;
        // Both are below the rate, which is at most half of what fits.
        self.remainder += part;
        let carry = if self.remainder >= self.rate {
            self.remainder -= self.rate;
            1
        } else {
            0
        };
        self.next = self.next.saturating_add(whole).saturating_add(carry);
    }

    /// Adds -ln(u) mean gaps, where u = `uniform` / 2^53 lies in (0, 1]: the inverse of the exponential distribution. The
    /// logarithm is the `libm` crate's, the same on every platform. Even gaps are 2u means.
    fn step_drawn(&mut self, uniform: u64) {
        let (_, whole, part) = self.gap;
        let mean = whole as f64 + part as f64 / self.rate as f64;
        let gap = mean * mean_gaps(self.poisson, uniform);
        // A gap is at most 37 times 2^62 ns, so its units of 2^-32 ns fit into 128 bits.
        let scaled = (gap * (1u64 << FRACTION_BITS) as f64) as u128 + u128::from(self.remainder);
        self.remainder = scaled as u64 & ((1 << FRACTION_BITS) - 1);
        let step = u64::try_from(scaled >> FRACTION_BITS).unwrap_or(u64::MAX);
        self.next = self.next.saturating_add(step);
    }
}

/// A gap in units of their mean, where u = `uniform` / 2^53 lies in (0, 1].
fn mean_gaps(poisson: Poisson, uniform: u64) -> f64 {
    let unit = uniform as f64 / (1u64 << 53) as f64;
    match poisson {
        Poisson::Uniform => 2.0 * unit,
        _ => -libm::log(unit),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{RateStep, RateSteps, WhenFull, preset};
    use fathom_units::{BytesPerSec, Iops, Nanos};
    use proptest::prelude::*;

    const KEY: StreamKey = StreamKey {
        seed: 1,
        job: 0,
        worker: 0,
        salt: 0,
    };

    fn fixed(rate: Pacing) -> ArrivalSchedule {
        ArrivalSchedule::new(rate, Poisson::Fixed, KEY)
    }

    proptest! {
        #[test]
        fn equal_gaps_are_exact(rate in 1u64..3_000_000_000, count in 1usize..2_000) {
            let mut schedule = fixed(Pacing::Iops(Iops::new(rate)));
            for index in 0..count as u128 {
                let exact = index * u128::from(NANOS_PER_SEC) / u128::from(rate);
                prop_assert_eq!(u128::from(schedule.next_start(4096)), exact);
            }
        }

        #[test]
        fn paced_bytes_are_exact_for_any_sizes(
            rate in 1u64..1 << 40,
            lengths in proptest::collection::vec(1u32..1 << 24, 1..200),
        ) {
            let mut schedule = fixed(Pacing::Bytes(BytesPerSec::new(rate)));
            let mut moved = 0u128;
            for length in lengths {
                let exact = moved * u128::from(NANOS_PER_SEC) / u128::from(rate);
                prop_assert_eq!(u128::from(schedule.next_start(length)), exact.min(u128::from(u64::MAX)));
                moved += u128::from(length);
            }
        }
    }

    /// The state after 10^12 arrivals, reached through the invariant that time and remainder hold the exact time.
    #[test]
    fn a_million_million_arrivals_do_not_drift() {
        let rate = 300_007u64;
        let mut schedule = fixed(Pacing::Iops(Iops::new(rate)));
        let done = 1_000_000_000_000u128;
        let exact = done * u128::from(NANOS_PER_SEC);
        schedule.next = (exact / u128::from(rate)) as u64;
        schedule.remainder = (exact % u128::from(rate)) as u64;
        for index in 0..1_000_000u128 {
            let exact = (done + index) * u128::from(NANOS_PER_SEC) / u128::from(rate);
            assert_eq!(u128::from(schedule.next_start(1)), exact);
        }
    }

    #[test]
    fn exponential_gaps_have_their_mean_and_spread() {
        let rate = Pacing::Iops(Iops::new(1_000_000));
        let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, KEY);
        let starts: Vec<u64> = (0..200_001).map(|_| schedule.next_start(4096)).collect();
        let gaps: Vec<f64> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        // The mean of 200,000 gaps has a standard error of 2.2 ns.
        assert!((mean - 1000.0).abs() < 11.0, "{mean}");
        // The deviation of an exponential distribution equals its mean.
        assert!((variance.sqrt() - 1000.0).abs() < 25.0, "{variance}");
        let long = gaps.iter().filter(|gap| **gap > 3000.0).count() as f64 / count;
        assert!((long - libm::exp(-3.0)).abs() < 0.003, "{long}");
    }

    /// Pinned: a change here breaks the comparison with every earlier record.
    #[test]
    fn the_first_exponential_starts_are_frozen() {
        let rate = Pacing::Iops(Iops::new(1_000));
        let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, KEY);
        let starts: Vec<u64> = (0..5).map(|_| schedule.next_start(4096)).collect();
        assert_eq!(starts, [0, 1_381_427, 2_538_527, 2_805_148, 3_275_426]);
    }

    /// Pinned too: the first repeat has the starts of a stage without repeats, and each other its own.
    #[test]
    fn the_starts_of_repeats_are_frozen() {
        let starts = |repeat| {
            let rate = Pacing::Iops(Iops::new(1_000));
            let key = KEY.of_repeat(repeat);
            let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, key);
            [(); 3].map(|()| schedule.next_start(4096))
        };
        assert_eq!(starts(0), [0, 1_381_427, 2_538_527]);
        assert_eq!(starts(1), [0, 1_215_071, 1_483_243]);
        assert_eq!(starts(9_999), [0, 2_178_392, 3_782_766]);
        assert_eq!(KEY.of_repeat(0), KEY);
    }

    /// Pinned as well: the first host has the starts of one that is alone, and each other its own, in every repeat.
    #[test]
    fn the_starts_of_hosts_are_frozen() {
        let starts = |repeat, host| {
            let rate = Pacing::Iops(Iops::new(1_000));
            let key = KEY.of_repeat(repeat).of_host(host);
            let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, key);
            [(); 3].map(|()| schedule.next_start(4096))
        };
        assert_eq!(starts(0, 0), [0, 1_381_427, 2_538_527]);
        assert_eq!(starts(0, 1), [0, 195_318, 1_516_860]);
        let all = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (0, 4_095)].map(|(r, h)| starts(r, h));
        let drawn: BTreeSet<_> = all.into_iter().collect();
        assert_eq!(drawn.len(), all.len());
        assert_eq!(KEY.of_host(0), KEY);
    }

    fn stepped(rates: &[(u64, u64)], together: bool, poisson: Poisson) -> ArrivalSchedule {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.arrival = Arrival::Open {
            rate: Pacing::Iops(Iops::new(1)),
            poisson,
            when_full: WhenFull::Queue,
        };
        let step = |(rate, seconds): &(u64, u64)| RateStep {
            rate: (*rate > 0).then(|| Pacing::Iops(Iops::new(*rate))),
            length: Nanos::from_secs(*seconds),
        };
        job.features.rate_steps = Some(Box::new(RateSteps {
            steps: rates.iter().map(step).collect(),
            together,
        }));
        ArrivalSchedule::of(&job, KEY).unwrap()
    }

    /// Starts in each of the first seconds.
    fn in_seconds(schedule: &mut ArrivalSchedule, seconds: usize) -> Vec<u64> {
        let mut counts = vec![0; seconds];
        while let Some(count) = counts.get_mut((schedule.next_start(4096) / NANOS_PER_SEC) as usize)
        {
            *count += 1;
        }
        counts
    }

    #[test]
    fn rates_follow_one_another_over_and_over() {
        let rates = [(100, 2), (0, 1), (5, 1)];
        let expected = [100, 100, 0, 5, 100, 100, 0, 5];
        let mut fixed = stepped(&rates, false, Poisson::Fixed);
        assert_eq!(in_seconds(&mut fixed, 8), expected);
        let mut late = stepped(&[(0, 3), (2, 1)], false, Poisson::Fixed);
        assert_eq!(
            [late.next_start(1), late.next_start(1), late.next_start(1)],
            [3_000_000_000, 3_500_000_000, 7_000_000_000]
        );
        let mut drawn = stepped(
            &[(10_000, 1), (0, 1), (1_000, 1)],
            false,
            Poisson::Exponential,
        );
        let counts = in_seconds(&mut drawn, 300);
        let of = |second: usize| counts.iter().skip(second).step_by(3).sum::<u64>();
        // Over 100 seconds each: the deviation of a Poisson count is its root.
        assert!(of(0).abs_diff(1_000_000) < 4_000, "{}", of(0));
        assert_eq!(of(1), 0);
        assert!(of(2).abs_diff(100_000) < 1_300, "{}", of(2));
    }

    /// What comes next is known before it is taken, also where a pause lies before it.
    #[test]
    fn the_next_start_is_known_before_it_is_taken() {
        let rates: [&[(u64, u64)]; 5] = [
            &[(2, 1)],
            &[(0, 3), (2, 1)],
            &[(2, 1), (0, 3)],
            &[(0, 1), (0, 2), (7, 1), (0, 1)],
            &[(0, 1)],
        ];
        for rates in rates {
            for together in [false, true] {
                for poisson in [Poisson::Fixed, Poisson::Exponential] {
                    let mut schedule = stepped(rates, together, poisson);
                    for _ in 0..20 {
                        let next = schedule.peek();
                        assert_eq!(next, schedule.next_start(1), "{rates:?} {together}");
                    }
                }
            }
        }
        let late = stepped(&[(0, 3), (2, 1)], false, Poisson::Fixed);
        assert_eq!(late.peek(), 3_000_000_000);
    }

    #[test]
    fn the_starts_of_a_second_may_stand_together() {
        let mut spikes = stepped(&[(3, 1), (0, 2)], true, Poisson::Exponential);
        let starts: Vec<u64> = (0..7)
            .map(|_| spikes.next_start(4096) / NANOS_PER_SEC)
            .collect();
        assert_eq!(starts, [0, 0, 0, 3, 3, 3, 6]);
        let mut idle = stepped(&[(0, 1)], true, Poisson::Fixed);
        assert_eq!(idle.next_start(1), u64::MAX);
    }

    #[test]
    fn extreme_rates_neither_panic_nor_go_back() {
        for rate in [0, 1, u64::MAX] {
            for pacing in [
                Pacing::Iops(Iops::new(rate)),
                Pacing::Bytes(BytesPerSec::new(rate)),
            ] {
                for poisson in [Poisson::Fixed, Poisson::Exponential] {
                    let mut schedule = ArrivalSchedule::new(pacing, poisson, KEY);
                    let starts: Vec<u64> =
                        (0..100).map(|_| schedule.next_start(u32::MAX)).collect();
                    assert!(starts.is_sorted(), "{pacing:?}");
                }
            }
        }
    }
}
