//! A worker's clock: the processor's time-stamp counter, held to the kernel's clock.
//!
//! Reading the counter takes a third of the time of `clock_gettime`, which matters where each I/O costs a few dozen
//! nanoseconds. It is not calibrated by waiting: the pair (counter, kernel's time) is taken when the process begins and
//! again when the worker does, and the rate follows from the two; later pairs, taken at growing distances, make the rate
//! exact and catch every deviation.
//!
//! The counter is used only where the kernel itself keeps time by it (`clocksource` is `tsc`: it was found constant and
//! equal on all processors). Elsewhere, and from the moment at which it disagrees with the kernel's clock, every reading
//! is the kernel's.
//!
//! Invariants: readings of one clock never go back; they differ from [`Clock::now`] by less than a microsecond, unless
//! [`CycleClock::is_kernels`] is true, and then not at all.

use std::sync::OnceLock;

use fathom_units::Nanos;

use crate::Clock;

/// A rate from a shorter span would be too coarse: the two readings of a pair lie up to 100 ns apart, and 100 ns are
/// 50 millionths of this.
const SPAN_MIN: Nanos = Nanos::from_millis(2);
/// First distance between two pairs; each later one is twice as long, so that a rate is used for as long again as it was
/// measured over, and its error stays near that of one pair.
const FIRST_DISTANCE: Nanos = Nanos::from_millis(2);
/// Longest distance between two pairs.
const LAST_DISTANCE: Nanos = Nanos::from_secs(1);
/// A deviation above this, and above one part in 5,000 of the distance, is the counter's fault: a virtual machine was
/// moved or stopped.
const DEVIATION_MAX: Nanos = Nanos::from_micros(5);

/// A reading of both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    cycles: u64,
    time: Nanos,
}

impl Pair {
    /// The best of a few tries: the one with the shortest time between two readings of the counter around the kernel's.
    fn take() -> Self {
        let mut best = (
            u64::MAX,
            Self {
                cycles: 0,
                time: Nanos::ZERO,
            },
        );
        for _ in 0..4 {
            let before = cycles();
            let time = Clock::now();
            let after = cycles();
            let span = after.wrapping_sub(before);
            if span < best.0 {
                best = (
                    span,
                    Self {
                        cycles: before + span / 2,
                        time,
                    },
                );
            }
        }
        best.1
    }
}

/// The counter, 0 where there is none.
#[inline]
pub(crate) fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// The pair taken when the process began to look at the clock, where the counter can be used.
fn first_pair() -> Option<Pair> {
    static FIRST: OnceLock<Option<Pair>> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = std::fs::read_to_string(path).ok()?;
        (cfg!(target_arch = "x86_64") && source.trim() == "tsc").then(Pair::take)
    })
}

/// Whether the kernel keeps time by the counter, so that it goes evenly and alike on all processors.
pub(crate) fn counter_keeps_time() -> bool {
    first_pair().is_some()
}

/// Takes the first pair early, so that the first worker has a span to find the rate from.
pub fn prepare_cycle_clock() {
    first_pair();
}

/// What one reading of a worker's clock takes: the mean of the quickest of many rounds, so that a thread that had to wait
/// for a processor meanwhile changes nothing. It takes 0.1 ms, or one round of a clock that is slower than that.
pub fn clock_reading() -> Nanos {
    const ROUNDS: u32 = 64;
    const READINGS: u32 = 32;
    const LONGEST: Nanos = Nanos::from_micros(100);
    let any_rate = first_pair().map(|anchor| Rate {
        anchor,
        scale: 1 << 31,
    });
    let begun = Clock::now();
    let mut quickest = Nanos::MAX;
    for _ in 0..ROUNDS {
        let start = Clock::now();
        for _ in 0..READINGS {
            std::hint::black_box(any_rate.map_or_else(kernel_clock, |rate| rate.at(cycles())));
        }
        let end = Clock::now();
        quickest = quickest.min(end.saturating_sub(start));
        if end.saturating_sub(begun) > LONGEST {
            break;
        }
    }
    Nanos::new(quickest.get().div_ceil(u64::from(READINGS)))
}

/// The clock of one worker.
#[derive(Debug, Clone)]
pub struct CycleClock {
    /// `None`: the kernel's clock is read.
    rate: Option<Rate>,
    first: Option<Pair>,
    next_pair: Nanos,
    distance: Nanos,
    deviated: bool,
}

/// Time from cycles since an anchor.
#[derive(Debug, Clone, Copy)]
struct Rate {
    anchor: Pair,
    /// Nanoseconds a cycle, in units of 2^-32.
    scale: u64,
}

impl Rate {
    /// From two pairs far enough apart; `now` becomes the anchor.
    fn between(first: Pair, now: Pair) -> Option<Self> {
        let span = now.time.saturating_sub(first.time);
        let cycles = now
            .cycles
            .checked_sub(first.cycles)
            .filter(|cycles| *cycles > 0)?;
        if span < SPAN_MIN {
            return None;
        }
        let scale = (u128::from(span.get()) << 32) / u128::from(cycles);
        let scale = u64::try_from(scale).ok()?;
        Some(Self { anchor: now, scale })
    }

    #[inline]
    fn at(&self, cycles: u64) -> Nanos {
        let since = u128::from(cycles.saturating_sub(self.anchor.cycles));
        self.anchor.time + Nanos::new(((since * u128::from(self.scale)) >> 32) as u64)
    }
}

/// The kernel's clock, out of the way of whoever reads the counter.
#[cold]
#[inline(never)]
fn kernel_clock() -> Nanos {
    Clock::now()
}

impl Default for CycleClock {
    fn default() -> Self {
        Self::new()
    }
}

impl CycleClock {
    /// A clock that is right from now on.
    pub fn new() -> Self {
        let mut clock = Self {
            rate: None,
            first: first_pair(),
            next_pair: Nanos::ZERO,
            distance: FIRST_DISTANCE,
            deviated: false,
        };
        clock.hold(Clock::now());
        clock
    }

    /// The present moment on the scale of [`Clock::now`].
    #[inline]
    pub fn now(&self) -> Nanos {
        match &self.rate {
            Some(rate) => rate.at(cycles()),
            None => kernel_clock(),
        }
    }

    /// When [`Self::hold`] is due.
    #[inline]
    pub fn next_hold(&self) -> Nanos {
        self.next_pair
    }

    /// Compares with the kernel's clock, and takes its rate anew; `now` is the last reading.
    pub fn hold(&mut self, now: Nanos) {
        let Some(first) = self.first else {
            self.next_pair = Nanos::MAX;
            return;
        };
        let pair = Pair::take();
        if let Some(rate) = &self.rate {
            let told = rate.at(pair.cycles);
            let deviation = told
                .saturating_sub(pair.time)
                .max(pair.time.saturating_sub(told));
            let span = pair.time.saturating_sub(rate.anchor.time);
            if deviation > DEVIATION_MAX && deviation.get() > span.get() / 5_000 {
                (self.rate, self.first, self.deviated) = (None, None, true);
                self.next_pair = Nanos::MAX;
                return;
            }
        }
        self.rate = Rate::between(first, pair).map(|mut rate| {
            // A clock must not go back: one that was fast stands still until the other has come up.
            rate.anchor.time = rate.anchor.time.max(now);
            rate
        });
        self.next_pair = pair.time + self.distance;
        self.distance = (self.distance * 2).min(LAST_DISTANCE);
    }

    /// Whether the kernel's clock is read every time.
    pub fn is_kernels(&self) -> bool {
        self.rate.is_none()
    }

    /// Whether the counter was given up because it disagreed with the kernel's clock.
    pub fn has_deviated(&self) -> bool {
        self.deviated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_kernels_time_and_never_goes_back() {
        prepare_cycle_clock();
        let begun = Clock::now();
        let mut clock = CycleClock::new();
        let mut last = clock.now();
        let mut worst = 0u64;
        while Clock::now() < begun + Nanos::from_millis(150) {
            let now = clock.now();
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
            if now >= clock.next_hold() {
                clock.hold(now);
            }
            // Between two readings of the kernel's clock, or the thread was interrupted in between.
            let (before, told, after) = (Clock::now(), clock.now(), Clock::now());
            if after.saturating_sub(before) < Nanos::from_micros(1) {
                let early = before.saturating_sub(told).get();
                let late = told.saturating_sub(after).get();
                worst = worst.max(early).max(late);
            }
        }
        assert!(!clock.has_deviated());
        assert!(worst < 5_000, "off by {worst} ns");
    }

    #[test]
    fn a_counter_that_disagrees_is_given_up() {
        let Some(first) = first_pair() else {
            return assert!(CycleClock::new().is_kernels());
        };
        let mut clock = CycleClock::new();
        let now = Clock::now();
        let rate = Rate {
            anchor: Pair {
                time: now.saturating_sub(Nanos::from_millis(40)),
                ..first
            },
            scale: 1,
        };
        clock.rate = Some(rate);
        clock.hold(now);
        assert!(clock.has_deviated() && clock.is_kernels());
        assert!(clock.now() >= now);
    }

    /// A clock that traps into a hypervisor takes some 2 µs, one of a slow bus some 5.
    #[test]
    fn a_reading_takes_what_readings_take() {
        let reading = clock_reading();
        let within = Nanos::new(1)..Nanos::from_micros(20);
        assert!(within.contains(&reading), "{reading}");
    }

    #[test]
    fn the_rate_of_two_pairs_is_exact() {
        let at = |cycles, micros| Pair {
            cycles,
            time: Nanos::from_micros(micros),
        };
        let rate = Rate::between(at(1_000, 10), at(1_000 + 26_000_000, 10_010)).unwrap();
        assert_eq!(rate.at(26_001_000).get(), 10_010_000);
        assert_eq!(
            rate.at(26_001_000 + 2_600_000_000).get(),
            10_010_000 + 999_999_999
        );
        assert!(Rate::between(at(0, 0), at(100, 1_999)).is_none());
    }
}
