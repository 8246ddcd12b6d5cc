//! The time a thread spends outside the system calls that carry its I/O, by the processor's counter.
//!
//! The kernel tells user from system time by what its ticks happen upon, and both ticks and a profiler's samples count an
//! interrupt that waited for the kernel's return as the program's. Here the counter is read right before each call and right
//! after it, so that the rest is what the program itself takes, less what it takes to read the counter: interrupts and other threads
//! that come meanwhile are in it.

use std::time::Duration;

use fathom_units::Nanos;

use crate::Clock;
use crate::cycles::{counter_keeps_time, cycles};

/// Time outside system calls that carry I/O, and how many those were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutsideCalls {
    /// Time from one call's return to the next call, summed.
    pub time: Nanos,
    /// Those calls.
    pub calls: u64,
}

/// Readings of the counter in a row, of which the two nearest to each other tell what one takes.
const READINGS: u32 = 100;

/// Reads the counter around calls, once it is asked to; where the kernel does not keep time by it, it never does.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct CallTimer {
    is_on: bool,
    /// Cycles.
    outside: u64,
    /// When the last call returned.
    returned: u64,
    calls: u64,
    /// Cycles from one reading to the next with nothing in between: so many of each time outside are the counter's own.
    reading: u64,
    /// Counter and time when it was asked to.
    begun: (u64, Nanos),
}

impl CallTimer {
    /// Begins anew.
    pub(crate) fn begin(&mut self) {
        *self = Self {
            is_on: counter_keeps_time(),
            reading: cycles_of_a_reading(),
            begun: (cycles(), Clock::now()),
            ..Self::default()
        };
        self.returned = self.begun.0;
    }

    /// Does one system call. All of it is inlined: after a call, the processor foresees no return of a function rightly.
    #[inline]
    pub(crate) fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        if self.is_on {
            // It may differ by a few between processors.
            self.outside += cycles().saturating_sub(self.returned);
            self.calls += 1;
        }
        let result = call();
        if self.is_on {
            self.returned = cycles();
        }
        result
    }

    /// What was outside of calls since it began; `None` where it never did.
    pub(crate) fn told(&self) -> Option<OutsideCalls> {
        if !self.is_on {
            return None;
        }
        let all = cycles().saturating_sub(self.begun.0).max(1);
        let time = Duration::from_nanos(Clock::now().saturating_sub(self.begun.1).get());
        let outside = self.outside.saturating_sub(self.calls * self.reading);
        let time = time.mul_f64(outside as f64 / all as f64);
        Some(OutsideCalls {
            time: Nanos::new(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            calls: self.calls,
        })
    }
}

/// Cycles from one reading of the counter to the next.
fn cycles_of_a_reading() -> u64 {
    let apart = |_| {
        let first = cycles();
        cycles().saturating_sub(first)
    };
    (0..READINGS).map(apart).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(time: Nanos) {
        let until = Clock::now() + time;
        while Clock::now() < until {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn readings_themselves_do_not_count() {
        let mut timer = CallTimer::default();
        timer.begin();
        if !counter_keeps_time() {
            return;
        }
        for _ in 0..1_000_000 {
            timer.around(|| ());
        }
        let (first, _) = timer.begun;
        let all = cycles().saturating_sub(first);
        let readings = timer.calls * timer.reading;
        assert!(timer.reading > 0 && 2 * readings <= all, "{timer:?}");
        let told = timer.told().unwrap();
        let elapsed = Clock::now().saturating_sub(timer.begun.1).get() as f64;
        let share = (timer.outside - readings) as f64 / all as f64;
        assert!(told.time.get() as f64 <= elapsed * share, "{timer:?}");
    }

    #[test]
    fn what_is_within_calls_does_not_count() {
        let mut timer = CallTimer::default();
        assert_eq!(timer.told(), None);
        timer.around(|| busy(Nanos::from_millis(1)));
        assert_eq!(timer.told(), None);
        timer.begin();
        if !counter_keeps_time() {
            return assert_eq!(timer.told(), None);
        }
        let begun = Clock::now();
        for _ in 0..10 {
            busy(Nanos::from_millis(1));
            timer.around(|| busy(Nanos::from_millis(3)));
        }
        let all = Clock::now().saturating_sub(begun);
        let told = timer.told().unwrap();
        assert_eq!(told.calls, 10);
        // A busy machine may hold the thread up anywhere, but not make a call shorter.
        let least = Nanos::from_micros(9_990);
        let most = all.saturating_sub(Nanos::from_micros(29_990));
        assert!(told.time >= least && told.time <= most, "{told:?} of {all}");
    }
}
