//! When is traced: always, or in parts of the time.
//!
//! A cycle has a part that counts, a tail in which the I/Os that began in it still end, and a rest. The tail ends with the
//! last of them, or with the tail's most.

use fathom_units::Nanos;

/// Between two readings of the kernel's buffers.
const TICK: Nanos = Nanos::from_millis(100);
/// Between two looks whether the tail is over: every event in it costs, and counts for nothing.
const TAIL_TICK: Nanos = Nanos::from_millis(5);
/// From one traced part to the next.
const CYCLE: Nanos = Nanos::from_secs(2);
/// What a slow I/O may take before its part is given up.
const TAIL_MOST: Nanos = Nanos::from_secs(1);
/// What it aims at when it used too much, of what it may use.
const WANTED: f64 = 0.6;
/// Least part of a cycle that is traced.
const DUTY_LEAST: f64 = 0.05;
/// Most of it, so that the tail has room.
const DUTY_MOST: f64 = 0.45;

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// I/Os that begin count.
    On,
    /// Those that began are waited for.
    Tail,
    /// Nothing is recorded.
    Off,
}

/// The cycle.
#[derive(Debug, Clone)]
pub struct Sampling {
    phase: Phase,
    /// Share of a cycle that counts; 1 is all the time.
    duty: f64,
    /// Share of one processor that the program may use.
    use_most: f64,
    /// What it used since the last decision, as time of a processor and of the clock.
    used: (f64, Nanos),
    begun: Nanos,
    /// End of the phase; `None` for no end.
    until: Option<Nanos>,
    /// When the part that counts began.
    from: Nanos,
    /// Parts that counted and are over.
    parts: Vec<(Nanos, Nanos)>,
}

impl Sampling {
    /// All the time, as long as the program uses no more than `use_most` of one processor.
    pub fn new(use_most: f64) -> Self {
        Self {
            phase: Phase::On,
            duty: 1.0,
            use_most,
            used: (0.0, Nanos::ZERO),
            begun: Nanos::ZERO,
            until: None,
            from: Nanos::ZERO,
            parts: Vec::new(),
        }
    }

    /// What is going on.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether only parts of the time are traced.
    pub fn is_sampling(&self) -> bool {
        self.duty < 1.0
    }

    /// A part that counts begins.
    pub fn begin(&mut self, now: Nanos) {
        self.phase = Phase::On;
        self.begun = now;
        self.from = now;
        self.until = self.is_sampling().then(|| now + self.part());
    }

    fn part(&self) -> Nanos {
        Nanos::new((CYCLE.get() as f64 * self.duty) as u64)
    }

    /// The end of the part that counts, where `moment` lies behind it; from then on it is the tail.
    #[inline]
    pub fn ends_by(&mut self, moment: u64) -> Option<u64> {
        let end = self
            .until
            .filter(|end| self.phase == Phase::On && moment > end.get())?;
        self.phase = Phase::Tail;
        self.until = Some(end + TAIL_MOST);
        self.parts.push((self.from, end));
        Some(end.get())
    }

    /// The parts of the time up to `now` in which I/Os that began count, by the run's clock.
    pub fn parts(&self, now: Nanos) -> Vec<(Nanos, Nanos)> {
        let mut parts = self.parts.clone();
        if self.phase == Phase::On {
            parts.push((self.from, now.max(self.from)));
        }
        parts
    }

    /// Whether the phase's time is over.
    pub fn is_over(&self, moment: Nanos) -> bool {
        self.until.is_some_and(|until| moment >= until)
    }

    /// The tail is over: nothing is recorded until the cycle ends.
    pub fn rest(&mut self, now: Nanos) {
        self.phase = Phase::Off;
        self.until = Some((self.begun + CYCLE).max(now));
    }

    /// When to look again.
    pub fn wake_at(&self, now: Nanos) -> Nanos {
        let tick = if self.phase == Phase::Tail {
            TAIL_TICK
        } else {
            TICK
        };
        let tick = now + tick;
        match (self.phase, self.until) {
            (_, None) => tick,
            (Phase::Off, Some(until)) => until,
            (_, Some(until)) => tick.min(until + Nanos::new(1)),
        }
    }

    /// The program used the share `used` of a processor for `length`: where that is too much over some seconds, less of
    /// the time is traced from now on.
    pub fn adapt(&mut self, used: f64, length: Nanos, now: Nanos) {
        self.used.0 += used * length.as_secs_f64();
        self.used.1 = self.used.1.saturating_add(length);
        // A cycle at least, so that its parts weigh as they should; a spike is no habit.
        if self.used.1 < CYCLE {
            return;
        }
        let used = self.used.0 / self.used.1.as_secs_f64();
        self.used = (0.0, Nanos::ZERO);
        if used <= self.use_most {
            return;
        }
        self.duty = (self.duty * WANTED * self.use_most / used).clamp(DUTY_LEAST, DUTY_MOST);
        if self.phase == Phase::On {
            self.begun = now;
            self.until = Some(now + self.part());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_use_makes_it_sample() {
        let second = Nanos::from_secs(1);
        let mut sampling = Sampling::new(0.02);
        sampling.begin(second);
        sampling.adapt(0.019, CYCLE, second);
        assert!(!sampling.is_sampling());
        assert_eq!(sampling.ends_by(u64::MAX), None);
        sampling.adapt(0.12, second, second);
        assert!(!sampling.is_sampling(), "a spike is no habit");
        sampling.adapt(0.12, second, second);
        assert!(sampling.is_sampling());
        let end = second + Nanos::from_millis(200);
        assert_eq!(sampling.ends_by(end.get()), None);
        assert_eq!(sampling.ends_by(end.get() + 1), Some(end.get()));
        assert_eq!(sampling.phase(), Phase::Tail);
        assert!(!sampling.is_over(end));
        sampling.rest(end + second);
        assert_eq!(sampling.wake_at(end + second), second * 3);
        sampling.begin(second * 3);
        let parts = [(second, end), (second * 3, second * 4)];
        assert_eq!(sampling.parts(second * 4), parts);
    }
}
