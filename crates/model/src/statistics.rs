//! What passed a part of the model while it was watched.

use fathom_units::Nanos;

/// Figures of one part of the model (a machine's budget, a disk, a volume, a share) over a window of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartStatistics {
    /// `vm`, `disk`, `volume`, `device`, `share`, `channel` or `metadata`.
    pub kind: &'static str,
    /// I/Os that reached it (parts of striped I/Os count one by one, but at volumes).
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Time-weighted mean of I/Os in it, waiting or served.
    pub depth: f64,
    /// Share (0 to 1) of the window in which its limits left nothing over; `None` where it has no limits.
    pub busy_share: Option<f64>,
    /// Reads that could be served by the host cache (parts of striped reads one by one); `None` where nothing is cached.
    pub cached_reads: Option<u64>,
    /// Share (0 to 1) of reads that the host cache served; `None` where nothing is cached.
    pub hit_share: Option<f64>,
    /// Share (0 to 1) of reads that the host cache served from memory; `None` where that is no tier of its own.
    pub memory_share: Option<f64>,
    /// The limits it enforces, in words with units.
    pub limits: Vec<String>,
}

/// What a part of the model holds at a moment, and has done since the statistics began: cheap enough for every second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge<'a> {
    /// The part's name, as in [`crate::Storage::statistics`].
    pub name: &'a str,
    /// Reads that reached a cached volume; 0 for other parts.
    pub reads: u64,
    /// Those of them that the host cache served.
    pub hits: u64,
    /// Share (0 to 1) of the bucket of I/O credits that is left; `None` where there is none.
    pub iops_credits: Option<f64>,
    /// Share (0 to 1) of the bucket of byte credits that is left; `None` where there is none.
    pub bytes_credits: Option<f64>,
    /// Bytes in the host cache that are not on a disk yet; `None` where writes are not cached.
    pub dirty_bytes: Option<u64>,
}

/// Running counts of one part.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    pub ios: u64,
    pub bytes: u64,
    /// I/Os in the part now.
    inside: u64,
    /// Sum of the times at which I/Os left, less those at which they came: with `inside` × now added, the integral of the
    /// depth over the window. Each I/O costs an addition; 128 bits never overflow.
    passed: i128,
    /// Time in which the limits left nothing over, up to `busy_until`.
    busy: u64,
    busy_until: Nanos,
    since: Nanos,
}

impl Meter {
    #[inline]
    pub fn enter(&mut self, now: Nanos) {
        self.inside += 1;
        self.passed -= i128::from(now.get());
    }

    #[inline]
    pub fn leave(&mut self, now: Nanos) {
        self.inside -= 1;
        self.passed += i128::from(now.get());
    }

    /// One more is inside from `from` to `to`, which is later.
    #[inline]
    pub fn passes(&mut self, from: Nanos, to: Nanos) {
        self.passed += i128::from((to - from).get());
    }

    /// One less is inside from `from` to `to`, which is later.
    #[inline]
    pub fn is_away(&mut self, from: Nanos, to: Nanos) {
        self.passed -= i128::from((to - from).get());
    }

    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.ios += 1;
        self.bytes += bytes;
    }

    /// The limits left nothing over from `now` (or from the end of the last such time) to `until`.
    #[inline]
    pub fn busy(&mut self, now: Nanos, until: Nanos) {
        let from = self.busy_until.max(now);
        self.busy += until.saturating_sub(from).get();
        self.busy_until = self.busy_until.max(until);
    }

    /// The same where `until` is neither before `now` nor before what was said last.
    #[inline]
    pub fn busy_on(&mut self, now: Nanos, until: Nanos) {
        let from = self.busy_until.max(now);
        self.busy = self.busy.wrapping_add(until.get().wrapping_sub(from.get()));
        self.busy_until = until;
    }

    /// The limits have changed, and leave nothing over until `until` alone.
    pub fn busy_until_only(&mut self, now: Nanos, until: Nanos) {
        let until = until.max(now);
        self.busy -= self.busy_until.saturating_sub(until).get();
        self.busy_until = self.busy_until.min(until);
        self.busy(now, until);
    }

    /// Begins a new window at `now`; what is inside stays inside.
    pub fn restart(&mut self, now: Nanos) {
        self.ios = 0;
        self.bytes = 0;
        self.passed = -i128::from(self.inside) * i128::from(now.get());
        self.since = now;
        self.busy = self.busy_until.saturating_sub(now).get();
    }

    /// Mean depth over the window that ends at `now`.
    pub fn depth(&self, now: Nanos) -> f64 {
        let area = self.passed + i128::from(self.inside) * i128::from(now.get());
        ratio(area as f64, now.saturating_sub(self.since))
    }

    /// Busy share of the window that ends at `now`.
    pub fn busy_share(&self, now: Nanos) -> f64 {
        let beyond = self.busy_until.saturating_sub(now).get();
        let busy = self.busy.saturating_sub(beyond);
        ratio(busy as f64, now.saturating_sub(self.since)).min(1.0)
    }
}

fn ratio(value: f64, over: Nanos) -> f64 {
    if over == Nanos::ZERO {
        0.0
    } else {
        value / over.get() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn depth_and_busy_time_are_weighted_by_time() {
        let at = Nanos::new;
        let mut meter = Meter::default();
        meter.enter(at(0));
        meter.enter(at(10));
        meter.busy(at(10), at(30));
        meter.leave(at(20));
        close(meter.depth(at(20)), (10.0 + 20.0) / 20.0);
        close(meter.busy_share(at(20)), 0.5);
        meter.restart(at(20));
        close(meter.depth(at(40)), 1.0);
        close(meter.busy_share(at(40)), 0.5);
        close(meter.depth(at(20)), 0.0);
    }

    /// What is said of a time that was idle before, and of one that begins within the last.
    #[test]
    fn busy_time_is_counted_once_and_idle_time_never() {
        let at = Nanos::new;
        let mut meter = Meter::default();
        meter.busy_on(at(10), at(20));
        meter.busy_on(at(15), at(30));
        meter.busy_on(at(50), at(60));
        close(meter.busy_share(at(100)), (20.0 + 10.0) / 100.0);
    }

    /// A limit that is raised takes back the time that it was to be busy for.
    #[test]
    fn time_that_is_no_longer_busy_is_taken_back() {
        let at = Nanos::new;
        let mut meter = Meter::default();
        meter.busy(at(0), at(80));
        meter.busy_until_only(at(20), at(50));
        close(meter.busy_share(at(100)), 0.5);
        meter.busy(at(60), at(70));
        close(meter.busy_share(at(100)), 0.6);
    }
}
