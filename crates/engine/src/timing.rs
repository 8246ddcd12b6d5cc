//! The moments of a stage at which a worker does something else than I/O.

use fathom_rawio::Clock;
use fathom_record::{EndReason, HalfSecond, RateWindows};
use fathom_units::Nanos;
use fathom_workload::RateSamples;

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
    /// How long before its first I/O a worker is awake.
    pub(crate) awake: Nanos,
}

/// When a stage begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    /// The moment, no later than a few milliseconds from now.
    pub(crate) at: Nanos,
    /// How long before it its workers are awake.
    pub(crate) awake: Nanos,
    /// How late that is.
    pub(crate) late: Nanos,
}

impl Begin {
    /// At once.
    pub(crate) fn now() -> Self {
        Self {
            at: Clock::now(),
            awake: Nanos::ZERO,
            late: Nanos::ZERO,
        }
    }
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
    /// Samples of other lengths, where the job asks for them.
    windows: Option<Box<RatesSoFar>>,
    window_end: Nanos,
}

/// Windows, and what was done in the half seconds that are over.
#[derive(Debug)]
struct RatesSoFar {
    windows: RateWindows,
    done: Done,
}

/// I/Os and bytes of each direction that completed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub(crate) ios: [u64; 3],
    pub(crate) bytes: [u64; 3],
}

impl Done {
    pub(crate) fn add(&mut self, sample: &HalfSecond) {
        for way in 0..3 {
            self.ios[way] += sample.ios[way];
            self.bytes[way] += sample.bytes[way];
        }
    }
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
            windows: None,
            window_end: Nanos::MAX,
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
        if now >= self.window_end {
            self.close_windows(now, measure_start);
        }
        while now >= self.sample_end {
            if let Some(so_far) = &mut self.windows {
                so_far.done.add(&self.sample);
            }
            let at = self.sample_end.saturating_sub(measure_start);
            samples.push(HalfSecond { at, ..self.sample });
            self.sample = HalfSecond::default();
            self.sample_end += SAMPLE;
        }
    }

    fn close_windows(&mut self, now: Nanos, measure_start: Nanos) {
        let Some(so_far) = &mut self.windows else {
            return;
        };
        let mut done = so_far.done;
        done.add(&self.sample);
        let windows = &mut so_far.windows;
        windows.close(now.saturating_sub(measure_start), (done.ios, done.bytes));
        self.window_end = measure_start.saturating_add(windows.next_end());
    }

    /// Forgets what completed before the measurement, which began at `measure_start`.
    pub(crate) fn restart_samples(&mut self, measure_start: Nanos, asked: Option<RateSamples>) {
        self.sample = HalfSecond::default();
        self.windows = asked.map(|asked| {
            let windows = RateWindows::new(asked);
            self.window_end = measure_start.saturating_add(windows.next_end());
            Box::new(RatesSoFar {
                windows,
                done: Done::default(),
            })
        });
        self.next = self.next.min(self.window_end);
        self.next_without_completions = self.next_without_completions.min(self.window_end);
    }

    /// The windows that are over, where the job asks for any.
    pub(crate) fn take_windows(&mut self) -> Option<Box<RateWindows>> {
        Some(Box::new(self.windows.take()?.windows))
    }

    /// Until when a worker has measured that ended for `reason` at `now`: where time ended it, to the end of its time at least,
    /// and where it was stopped to that moment, however long nothing had come by then.
    pub(crate) fn measured_until(
        &self,
        reason: EndReason,
        last_completion: Nanos,
        now: Nanos,
    ) -> Nanos {
        match reason {
            EndReason::Time if self.run_end < Nanos::MAX => last_completion.max(self.run_end),
            EndReason::Interrupted => last_completion.max(now.min(self.run_end)),
            _ => last_completion,
        }
    }

    /// Finds the earliest moment after `now` again, after any of them moved.
    pub(crate) fn update(&mut self, now: Nanos) {
        let later = |moment: Nanos| if moment > now { moment } else { Nanos::MAX };
        self.next_without_completions = self
            .interval_end
            .min(self.sample_end)
            .min(self.window_end)
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
    fn windows_are_counted_across_half_seconds() {
        let (start, ms) = (Nanos::from_secs(5), Nanos::from_millis);
        let mut boundaries = Boundaries::new(start, start, start, None);
        let asked = RateSamples {
            bandwidth: ms(300),
            iops: ms(700),
        };
        boundaries.restart_samples(start, Some(asked));
        let mut samples = Vec::new();
        for at in (1..=2100).map(ms) {
            let now = start + at;
            if now >= boundaries.next() {
                boundaries.take_samples(now, start, &mut samples);
                boundaries.next_interval(now);
                boundaries.update(now);
            }
            boundaries.sample.ios[1] += 1;
            boundaries.sample.bytes[1] += 512;
        }
        let windows = boundaries.take_windows().unwrap();
        let seen = [&windows.bytes, &windows.ios].map(|windows| {
            let writes = &windows.counts[1];
            (writes.windows, writes.least, writes.most)
        });
        // What is counted at a window's end is the next one's.
        assert_eq!(seen, [(7, 299 * 512, 300 * 512), (3, 699, 700)]);
        assert_eq!(samples.len(), 4);
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
