//! Seconds of a stage as they go by.
//!
//! Invariant: memory is bounded. Past [`MOST`] intervals, neighbours are merged and intervals become twice as long.

use fathom_record::{Event, EventSink, IntervalStats, OpStats, Phase, SetStats};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Direction, SetOperation};

use crate::file_sets::Done;
use crate::recent::Recent;

/// Most intervals kept: an hour of seconds, some kB each and direction.
const MOST: usize = 3600;

/// The interval that is going on, and those that are over.
pub(crate) struct Intervals {
    index: usize,
    phase: Phase,
    /// Start of the present interval, from the start of the stage.
    from: Nanos,
    length: Nanos,
    present: [Option<OpStats>; 3],
    /// Operations on file sets in it.
    set: SetStats,
    /// Whether anything was counted in the present interval.
    count: u64,
    /// Syncs in it; `None` where there was none yet.
    syncs: Option<OpStats>,
    /// I/Os that have failed so far, in this stage and before.
    failed: u64,
    /// How many of those were told.
    told: u64,
    kept: Vec<IntervalStats>,
    /// What each job did in the present interval; empty where nobody wants it.
    jobs: Vec<OfJob>,
}

/// What one job did in an interval.
struct OfJob {
    directions: [Option<OpStats>; 3],
    set: SetStats,
}

impl Intervals {
    /// Intervals of stage `index`, of which `used` says which directions it goes.
    pub fn new(index: usize, used: [bool; 3]) -> Self {
        Self {
            index,
            phase: Phase::Warmup,
            from: Nanos::ZERO,
            length: Nanos::from_secs(1),
            present: empty(used),
            set: SetStats::default(),
            count: 0,
            syncs: None,
            failed: 0,
            told: 0,
            kept: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// Goes on from so many failed I/Os of the stages before.
    pub fn after_failures(self, failed: u64) -> Self {
        Self {
            failed,
            told: failed,
            ..self
        }
    }

    /// Counts for each of `jobs` jobs too, going the directions that each is given with.
    pub fn with_jobs(mut self, jobs: impl Iterator<Item = [bool; 3]>) -> Self {
        let of_job = |goes| OfJob {
            directions: empty(goes),
            set: SetStats::default(),
        };
        self.jobs = jobs.map(of_job).collect();
        self
    }

    /// When the present interval ends, from the start of the stage: what completes then or later is counted after
    /// [`Self::roll`].
    #[inline]
    pub fn end(&self) -> Nanos {
        self.from.saturating_add(self.length)
    }

    /// Takes note of I/Os that completed in the present interval, and gives where they are counted.
    pub fn counting(&mut self, direction: Direction) -> Option<&mut OpStats> {
        let present = self.present[direction as usize].as_mut();
        self.count += u64::from(present.is_some());
        present
    }

    /// Counts I/Os for their job.
    pub fn count_for_job(&mut self, job: usize, direction: Direction, recent: &Recent) {
        let of_job = self.jobs.get_mut(job);
        let stats = of_job.and_then(|of_job| of_job.directions[direction as usize].as_mut());
        if let Some(stats) = stats {
            recent.count_in([stats]);
        }
    }

    /// Counts an I/O for its job, after [`Intervals::record`] took it.
    #[inline]
    pub fn record_job(&mut self, job: usize, direction: Direction, io: (u64, Nanos)) {
        let of_job = self.jobs.get_mut(job);
        let stats = of_job.and_then(|of_job| of_job.directions[direction as usize].as_mut());
        if let Some(stats) = stats {
            stats.bytes += io.0;
            stats.latency.record(io.1.get());
        }
    }

    /// Counts an I/O that completed at `now`, from the start of the stage.
    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    pub fn record(
        &mut self,
        now: Nanos,
        direction: Direction,
        io: (u64, Nanos),
        sink: &mut dyn EventSink,
    ) {
        self.roll(now, sink);
        if let Some(stats) = &mut self.present[direction as usize] {
            stats.bytes += io.0;
            stats.latency.record(io.1.get());
            self.count += 1;
        }
    }

    /// Counts how long after its intended start an I/O completed, after [`Intervals::record`] took it.
    pub fn record_response(&mut self, direction: Direction, time: Nanos) {
        if let Some(stats) = &mut self.present[direction as usize] {
            stats
                .response
                .get_or_insert_with(Histogram::new)
                .record(time.get());
        }
    }

    /// Counts a sync that completed at `now`, from the start of the stage; told beside the interval, and kept in no figure of it.
    pub fn record_sync(&mut self, now: Nanos, latency: Nanos, sink: &mut dyn EventSink) {
        self.roll(now, sink);
        let syncs = &mut self.syncs;
        let syncs = syncs.get_or_insert_with(|| OpStats::new(false, false));
        syncs.latency.record(latency.get());
    }

    /// Counts an I/O that failed at `now`, from the start of the stage.
    pub fn record_failure(&mut self, now: Nanos, sink: &mut dyn EventSink) {
        self.roll(now, sink);
        self.failed += 1;
    }

    /// Tells of more failed I/Os, where there are.
    fn tell_failed(&mut self, sink: &mut dyn EventSink) {
        if self.told < self.failed {
            self.told = self.failed;
            sink.event(&Event::MoreFailed { count: self.failed });
        }
    }

    /// Counts what was done to a file set by `now`, from the start of the stage.
    pub fn record_act(&mut self, now: Nanos, done: Done, sink: &mut dyn EventSink) {
        let Some(operation) = done.operation else {
            let (direction, bytes) = done.moved.unwrap_or((Direction::Read, 0));
            self.record(now, direction, (bytes, done.latency), sink);
            if let Some(time) = done.response {
                self.record_response(direction, time);
            }
            return;
        };
        self.roll(now, sink);
        add_to_set(&mut self.set, operation, done.latency);
        if let Some((stats, time)) = self.set.of_mut(operation).zip(done.response) {
            stats
                .response
                .get_or_insert_with(Histogram::new)
                .record(time.get());
        }
        self.count += 1;
    }

    /// Counts for its job what was done to a file set, after [`Intervals::record_act`] took it.
    pub fn record_job_act(&mut self, job: usize, done: Done) {
        let Some(operation) = done.operation else {
            let (direction, bytes) = done.moved.unwrap_or((Direction::Read, 0));
            return self.record_job(job, direction, (bytes, done.latency));
        };
        if let Some(of_job) = self.jobs.get_mut(job) {
            add_to_set(&mut of_job.set, operation, done.latency);
        }
    }

    /// Closes every interval that ends at or before `now`.
    #[inline]
    pub fn roll(&mut self, now: Nanos, sink: &mut dyn EventSink) {
        while now.saturating_sub(self.from) >= self.length {
            self.close(self.from + self.length, sink);
            // Years of quiet (a long start delay) are one interval.
            let quiet = now.saturating_sub(self.from).get() / self.length.get();
            if quiet > MOST as u64 {
                self.close(self.from + self.length * quiet, sink);
            }
        }
    }

    /// Measurement begins at `now`: what was before is not kept.
    pub fn measure(&mut self, now: Nanos, sink: &mut dyn EventSink) {
        self.roll(now, sink);
        if now > self.from {
            self.close(now, sink);
        }
        self.phase = Phase::Measure;
    }

    /// Closes the last interval at `now` and gives all measured ones.
    pub fn finish(mut self, now: Nanos, sink: &mut dyn EventSink) -> Vec<IntervalStats> {
        self.roll(now, sink);
        if now > self.from || self.count > 0 {
            self.close(now, sink);
        }
        self.tell_failed(sink);
        self.kept
    }

    fn close(&mut self, end: Nanos, sink: &mut dyn EventSink) {
        // A clone has no more buckets than it needs; the present ones are used again, and are near.
        let directions = self.present.clone();
        self.present.iter_mut().flatten().for_each(OpStats::clear);
        let length = end.saturating_sub(self.from);
        let interval = IntervalStats {
            at: end,
            length,
            directions,
            set: std::mem::take(&mut self.set),
        };
        for (job, OfJob { directions, set }) in self.jobs.iter_mut().enumerate() {
            let mut stats = directions.iter().flatten();
            let mut acts = set.0.iter().map(|(_, stats)| stats);
            if stats.all(|stats| stats.ios() == 0) && acts.all(|stats| stats.ios() == 0) {
                continue;
            }
            sink.event(&Event::JobInterval {
                index: self.index,
                job,
                directions,
                set,
            });
            directions.iter_mut().flatten().for_each(OpStats::clear);
            set.clear();
        }
        if let Some(syncs) = &mut self.syncs {
            sink.event(&Event::Syncs {
                index: self.index,
                stats: syncs,
            });
            syncs.clear();
        }
        self.tell_failed(sink);
        sink.event(&Event::Interval {
            index: self.index,
            phase: self.phase,
            interval: &interval,
        });
        self.from = end;
        self.count = 0;
        if matches!(self.phase, Phase::Measure) {
            self.kept.push(interval);
            if self.kept.len() >= MOST {
                self.coarsen();
            }
        }
    }

    fn coarsen(&mut self) {
        let mut merged: Vec<IntervalStats> = Vec::with_capacity(MOST);
        for (index, interval) in self.kept.drain(..).enumerate() {
            match merged.last_mut() {
                Some(first) if index % 2 == 1 => {
                    first.at = interval.at;
                    first.length += interval.length;
                    first.set.merge(&interval.set);
                    for (mine, theirs) in first.directions.iter_mut().zip(&interval.directions) {
                        if let (Some(mine), Some(theirs)) = (mine, theirs) {
                            mine.merge(theirs);
                        }
                    }
                }
                _ => merged.push(interval),
            }
        }
        self.kept = merged;
        self.length = self.length * 2;
    }
}

fn add_to_set(set: &mut SetStats, operation: SetOperation, latency: Nanos) {
    if set.of(operation).is_none() {
        set.0.push((operation, OpStats::new(false, false)));
    }
    if let Some(stats) = set.of_mut(operation) {
        stats.latency.record(latency.get());
    }
}

fn empty(used: [bool; 3]) -> [Option<OpStats>; 3] {
    used.map(|used| used.then(|| OpStats::new(false, false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::Ignore;

    #[test]
    fn seconds_are_kept_from_the_start_of_measurement() {
        let mut intervals = Intervals::new(0, [true, false, false]);
        let record = |intervals: &mut Intervals, millis: u64| {
            let now = Nanos::from_millis(millis);
            intervals.record(now, Direction::Read, (4096, Nanos::new(7)), &mut Ignore);
        };
        record(&mut intervals, 200);
        intervals.measure(Nanos::from_millis(500), &mut Ignore);
        for millis in [600, 1499, 1500, 3600] {
            record(&mut intervals, millis);
        }
        let kept = intervals.finish(Nanos::from_millis(3700), &mut Ignore);
        let found: Vec<_> = kept
            .iter()
            .map(|interval| {
                let ios = interval.directions[0].as_ref().map_or(0, OpStats::ios);
                (
                    interval.at.get() / 1_000_000,
                    interval.length.get() / 1_000_000,
                    ios,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (1500, 1000, 2),
                (2500, 1000, 1),
                (3500, 1000, 0),
                (3700, 200, 1)
            ]
        );
    }

    #[test]
    fn jobs_are_counted_where_they_are_wanted() {
        struct Told(Vec<(usize, u64)>);
        impl EventSink for Told {
            fn event(&mut self, event: &Event<'_>) {
                if let Event::JobInterval {
                    job, directions, ..
                } = event
                {
                    self.0
                        .push((*job, directions[0].as_ref().map_or(0, OpStats::ios)));
                }
            }
        }
        let used = [true, false, false];
        let mut intervals = Intervals::new(0, used).with_jobs([used; 2].into_iter());
        let mut told = Told(Vec::new());
        for (millis, job) in [(100, 0), (200, 1), (300, 1), (1200, 0)] {
            let io = (4096, Nanos::new(7));
            intervals.record(Nanos::from_millis(millis), Direction::Read, io, &mut told);
            intervals.record_job(job, Direction::Read, io);
        }
        intervals.finish(Nanos::from_millis(1300), &mut told);
        assert_eq!(told.0, [(0, 1), (1, 2), (0, 1)]);
    }

    /// Syncs of each second, and failures of the run so far, each told before its second.
    #[test]
    fn syncs_and_failures_are_told_with_their_second() {
        #[derive(Default)]
        struct Told(Vec<(&'static str, u64)>);
        impl EventSink for Told {
            fn event(&mut self, event: &Event<'_>) {
                match event {
                    Event::Syncs { stats, .. } => self.0.push(("syncs", stats.ios())),
                    Event::MoreFailed { count } => self.0.push(("failed", *count)),
                    Event::Interval { interval, .. } => {
                        self.0.push(("second", interval.at.get() / 1_000_000));
                    }
                    _ => {}
                }
            }
        }
        let mut intervals = Intervals::new(0, [false; 3]).after_failures(5);
        let (mut told, ms) = (Told::default(), Nanos::from_millis);
        intervals.roll(ms(1000), &mut told);
        intervals.record_sync(ms(1100), ms(3), &mut told);
        intervals.record_sync(ms(1999), ms(3), &mut told);
        intervals.record_failure(ms(1999), &mut told);
        intervals.record_failure(ms(2000), &mut told);
        intervals.roll(ms(3000), &mut told);
        intervals.record_failure(ms(3000), &mut told);
        let kept = intervals.finish(ms(3000), &mut told);
        let expected = [
            ("second", 1000),
            ("syncs", 2),
            ("failed", 6),
            ("second", 2000),
            ("syncs", 0),
            ("failed", 7),
            ("second", 3000),
            ("failed", 8),
        ];
        assert_eq!((told.0.as_slice(), kept.len()), (&expected[..], 0));
    }

    #[test]
    fn years_of_quiet_are_one_interval() {
        let mut intervals = Intervals::new(0, [true, false, false]);
        let year = Nanos::from_secs(365 * 86_400);
        intervals.measure(year * 100, &mut Ignore);
        let io = (4096, Nanos::new(7));
        intervals.record(year * 101, Direction::Read, io, &mut Ignore);
        let kept = intervals.finish(year * 101, &mut Ignore);
        assert_eq!(kept.len(), 3);
        assert_eq!(kept[1].at, year * 101);
    }

    #[test]
    fn long_stages_get_longer_intervals_and_lose_nothing() {
        let mut intervals = Intervals::new(0, [false, true, false]);
        intervals.measure(Nanos::ZERO, &mut Ignore);
        for second in 0..8000 {
            let now = Nanos::from_secs(second);
            intervals.record(now, Direction::Write, (1, Nanos::new(7)), &mut Ignore);
        }
        let kept = intervals.finish(Nanos::from_secs(8000), &mut Ignore);
        assert!(kept.len() < MOST);
        let ios: u64 = kept
            .iter()
            .flat_map(|one| &one.directions)
            .flatten()
            .map(OpStats::ios)
            .sum();
        assert_eq!(ios, 8000);
        let length: u64 = kept.iter().map(|interval| interval.length.get()).sum();
        assert_eq!(length, 8_000_000_000_000);
    }
}
