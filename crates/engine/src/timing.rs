//! The moments of a stage at which a worker does something else than I/O.

use fathom_record::{EndReason, HalfSecond};
use fathom_units::Nanos;

/// Length of an interval.
pub(crate) const INTERVAL: Nanos = Nanos::from_secs(1);
/// Length of a sample.
const SAMPLE: Nanos = Nanos::from_millis(500);

/// The moments that all workers of a stage share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Start of the stage.
    pub(crate) start: Nanos,
    /// Start of the first measurement: intervals are counted from here, both ways.
    pub(crate) origin: Nanos,
}

/// Sum, count and largest of some durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gauge {
    pub(crate) count: u64,
    pub(crate) sum: u128,
    pub(crate) max: Nanos,
}

impl Gauge {
    #[inline]
    pub(crate) fn add(&mut self, value: Nanos) {
        self.count += 1;
        self.sum += u128::from(value.get());
        self.max = self.max.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn mean(&self) -> Nanos {
        Nanos::new((self.sum / u128::from(self.count.max(1))) as u64)
    }
}

/// The next of each kind of moment, and the earliest of all: one comparison a batch.
#[derive(Debug, Default)]
pub(crate) struct Boundaries {
    next: Nanos,
    next_without_completions: Nanos,
    origin: Nanos,
    /// End of the present interval.
    pub(crate) interval_end: Nanos,
    /// End of the warm-up.
    pub(crate) warm_end: Nanos,
    /// When issuing ends; [`Nanos::MAX`] where time does not end it.
    pub(crate) run_end: Nanos,
    sample_end: Nanos,
    /// When rates to be kept up are judged again; [`Nanos::MAX`] where there are none.
    pub(crate) judged_at: Nanos,
    /// What completed in the present sample; `at` is not used.
    pub(crate) sample: HalfSecond,
}

impl Boundaries {
    /// Of a worker that starts at `now`.
    pub(crate) fn new(origin: Nanos, now: Nanos, warm_end: Nanos, runtime: Option<Nanos>) -> Self {
        let run_end = runtime.map_or(Nanos::MAX, |time| warm_end.saturating_add(time));
        let mut boundaries = Self {
            next: Nanos::ZERO,
            next_without_completions: Nanos::ZERO,
            origin,
            interval_end: Nanos::ZERO,
            warm_end,
            run_end,
            sample_end: warm_end.saturating_add(SAMPLE),
            judged_at: Nanos::MAX,
            sample: HalfSecond::default(),
        };
        boundaries.next_interval(now);
        boundaries.update(now);
        if run_end <= now {
            boundaries.next = now;
            boundaries.next_without_completions = now;
        }
        boundaries
    }

    /// Ends the warm-up at `now`, where its end was not known before.
    pub(crate) fn end_warm_up(&mut self, now: Nanos, runtime: Option<Nanos>) {
        self.warm_end = now;
        self.run_end = runtime.map_or(Nanos::MAX, |time| now.saturating_add(time));
        self.sample_end = now.saturating_add(SAMPLE);
    }

    /// The earliest moment at which something is to be done.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.next
    }

    /// The same for a worker with nothing in flight: rates are judged by completions, and none will come meanwhile.
    pub(crate) fn next_without_completions(&self) -> Nanos {
        self.next_without_completions
    }

    /// Goes to the interval that holds `now`.
    pub(crate) fn next_interval(&mut self, now: Nanos) {
        self.interval_end = interval_end_after(self.origin, now);
    }

    /// Ends every sample that is over by `now`.
    pub(crate) fn take_samples(
        &mut self,
        now: Nanos,
        measure_start: Nanos,
        samples: &mut Vec<HalfSecond>,
    ) {
        while now >= self.sample_end {
            let at = self.sample_end.saturating_sub(measure_start);
            samples.push(HalfSecond { at, ..self.sample });
            self.sample = HalfSecond::default();
            self.sample_end += SAMPLE;
        }
    }

    /// Forgets what completed before the measurement.
    pub(crate) fn restart_samples(&mut self) {
        self.sample = HalfSecond::default();
    }

    /// Until when a worker has measured that ended for `reason`: where time ended it, to the end of its time at least,
    /// however long nothing had come by then.
    pub(crate) fn measured_until(&self, reason: EndReason, last_completion: Nanos) -> Nanos {
        match reason {
            EndReason::Time if self.run_end < Nanos::MAX => last_completion.max(self.run_end),
            _ => last_completion,
        }
    }

    /// Finds the earliest moment after `now` again, after any of them moved.
    pub(crate) fn update(&mut self, now: Nanos) {
        let later = |moment: Nanos| if moment > now { moment } else { Nanos::MAX };
        self.next_without_completions = self
            .interval_end
            .min(self.sample_end)
            .min(later(self.warm_end))
            .min(later(self.run_end));
        self.next = self.next_without_completions.min(self.judged_at);
    }
}

/// End of the interval, counted from `origin` both ways, that holds `now`.
pub(crate) fn interval_end_after(origin: Nanos, now: Nanos) -> Nanos {
    if now >= origin {
        let whole = now.saturating_sub(origin).get() / INTERVAL.get();
        origin + INTERVAL * (whole + 1)
    } else {
        let before = (origin.get() - now.get() - 1) / INTERVAL.get();
        origin.saturating_sub(INTERVAL * before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(now_ms: u64, end_ms: u64) {
        let origin = Nanos::from_millis(10_300);
        let end = interval_end_after(origin, Nanos::from_millis(now_ms));
        assert_eq!(end, Nanos::from_millis(end_ms));
    }

    #[test]
    fn intervals_are_counted_from_the_origin_both_ways() {
        check(10_300, 11_300);
        check(11_299, 11_300);
        check(11_300, 12_300);
        check(10_299, 10_300);
        check(9_300, 10_300);
        check(9_299, 9_300);
    }

    #[test]
    fn a_stall_leaves_empty_samples() {
        let start = Nanos::from_secs(5);
        let mut boundaries = Boundaries::new(start, start, start, None);
        let mut samples = Vec::new();
        boundaries.sample.ios[0] = 7;
        boundaries.take_samples(start + Nanos::from_millis(1600), start, &mut samples);
        let seen: Vec<_> = samples
            .iter()
            .map(|sample| (sample.at.get() / 1_000_000, sample.ios[0]))
            .collect();
        assert_eq!(seen, [(500, 7), (1000, 0), (1500, 0)]);
    }
}
