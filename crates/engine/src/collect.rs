//! The control plane's sums: intervals over workers, totals over time.

mod latencies;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use fathom_record::{
    Event, EventSink, IntervalStats, OpStats, Phase, SetStats, StageResult, WorkerStats,
};
use fathom_units::Nanos;

use self::latencies::{
    Directions, Latencies, add_directions, add_latencies, merge, merge_one, undivided,
};
use crate::interval::IntervalSet;
use crate::timing::{INTERVAL, Times};

/// How long after its end an interval is shown: by then the sets of all workers that are not stuck have come.
const GRACE: Nanos = Nanos::from_millis(60);

/// A shorter rest, as it is left where the last I/Os are waited for, is counted with the second before it: its rate would
/// mean nothing.
const SHORTEST: Nanos = Nanos::from_millis(100);

/// Most intervals kept of a stage. Beyond, neighbours are merged and those kept become twice as long: a run of days must
/// not take the memory of the machine it measures.
const MOST: usize = 3600;

/// Adds up what the workers send.
#[derive(Debug)]
pub(crate) struct Collector {
    times: Times,
    index: usize,
    totals: Vec<Totals>,
    /// By end on the run's clock: intervals of a second that were not shown yet.
    intervals: BTreeMap<Nanos, Latencies>,
    /// What came of intervals after they were shown, and was not told yet.
    late: BTreeMap<Nanos, Latencies>,
    /// Measured intervals that were shown, by end; each is `step` long.
    kept: BTreeMap<Nanos, Latencies>,
    step: Nanos,
    /// End of the next interval to be shown.
    next_shown: Nanos,
    returns: Vec<SyncSender<Box<IntervalSet>>>,
    /// Whether a worker's measurement began anew: intervals before the first that counts are left out.
    begun_anew: bool,
    /// Where somebody wants them.
    jobs: Option<JobIntervals>,
}

/// What each job did in intervals that were not shown yet.
#[derive(Debug)]
struct JobIntervals {
    /// Job of each worker.
    of_worker: Vec<usize>,
    /// By end on the run's clock, then by job.
    by_end: BTreeMap<Nanos, BTreeMap<usize, Latencies>>,
}

#[derive(Debug, Default)]
struct Totals {
    /// Up to when they tell, on the run's clock: workers begin and end each at its own time.
    until: Nanos,
    directions: Directions,
    sync: Option<OpStats>,
    set: SetStats,
}

impl Collector {
    /// For the stage that is the `index`th of the run; `returns` are the ways back to its workers.
    pub(crate) fn new(
        index: usize,
        times: Times,
        returns: Vec<SyncSender<Box<IntervalSet>>>,
    ) -> Self {
        Self {
            times,
            index,
            totals: returns.iter().map(|_| Totals::default()).collect(),
            intervals: BTreeMap::new(),
            late: BTreeMap::new(),
            kept: BTreeMap::new(),
            step: INTERVAL,
            next_shown: crate::timing::interval_end_after(times.origin, times.start),
            returns,
            begun_anew: false,
            jobs: None,
        }
    }

    /// Tells of each job too; `of_worker` says to which each worker belongs.
    pub(crate) fn with_jobs(mut self, of_worker: Vec<usize>) -> Self {
        self.jobs = Some(JobIntervals {
            of_worker,
            by_end: BTreeMap::new(),
        });
        self
    }

    /// Adds a set and sends it back to its worker.
    pub(crate) fn take(&mut self, mut set: Box<IntervalSet>) {
        self.add(&set);
        set.clear();
        let worker = set.worker;
        // The worker may have ended; its set is not needed any more then.
        let _ = self.returns[worker].try_send(set);
    }

    /// Adds a set.
    pub(crate) fn add(&mut self, set: &IntervalSet) {
        let is_before = set.end <= self.times.origin;
        if set.is_io && (set.phase == Phase::Measure || is_before) {
            self.add_to_job(set);
            let of_set = set.set.0.iter();
            let of_set = of_set.map(|(operation, stats)| (*operation, undivided(stats)));
            let directions = set.directions.each_ref();
            let latencies = Latencies {
                directions: directions.map(|stats| stats.as_ref().map(undivided)),
                sync: set.sync.clone(),
                set: SetStats(of_set.collect()),
            };
            // A worker that was stuck sends what was shown without it.
            if set.end < self.next_shown {
                if set.phase == Phase::Measure && !is_before {
                    add_latencies(self.late.entry(set.end).or_default(), latencies.clone());
                }
                self.keep(set.end, latencies);
            } else {
                add_latencies(self.intervals.entry(set.end).or_default(), latencies);
            }
        }
        if set.phase == Phase::Measure {
            let totals = &mut self.totals[set.worker];
            if set.begins_anew {
                *totals = Totals::default();
                self.begun_anew = true;
            }
            totals.until = totals.until.max(set.until);
            merge(&mut totals.directions, &set.directions);
            merge_one(&mut totals.sync, set.sync.as_ref());
            totals.set.merge(&set.set);
        }
    }

    /// Adds a set to its job; what comes late counts where it is shown.
    fn add_to_job(&mut self, set: &IntervalSet) {
        let Some(jobs) = &mut self.jobs else {
            return;
        };
        let end = set.end.max(self.next_shown);
        let job = jobs.of_worker[set.worker];
        let of_end = jobs.by_end.entry(end).or_default();
        let of_job = of_end.entry(job).or_default();
        merge(&mut of_job.directions, &set.directions);
        of_job.set.merge(&set.set);
    }

    /// Tells what each job did up to `end`.
    fn tell_jobs(&mut self, end: Nanos, sink: &mut dyn EventSink) {
        let Some(jobs) = &mut self.jobs else {
            return;
        };
        let mut told: BTreeMap<usize, Latencies> = BTreeMap::new();
        while let Some(first) = jobs
            .by_end
            .first_entry()
            .filter(|first| *first.key() <= end)
        {
            for (job, more) in first.remove() {
                let of_job = told.entry(job).or_default();
                merge(&mut of_job.directions, &more.directions);
                of_job.set.merge(&more.set);
            }
        }
        for (job, did) in &told {
            sink.event(&Event::JobInterval {
                index: self.index,
                job: *job,
                directions: &did.directions,
                set: &did.set,
            });
        }
    }

    /// Shows every interval that is over by `now`.
    pub(crate) fn show(&mut self, now: Nanos, sink: &mut dyn EventSink) {
        self.tell_late(sink);
        while now >= self.next_shown + GRACE {
            let end = self.next_shown;
            self.next_shown += INTERVAL;
            if end <= self.times.start {
                continue;
            }
            // Intervals are counted from the measurement's start both ways: the first of a warm-up may be a shorter one.
            let from = end.saturating_sub(INTERVAL).max(self.times.start);
            let shown = self.intervals.remove(&end).unwrap_or_default();
            let interval = IntervalStats {
                at: end.saturating_sub(self.times.start),
                length: end.saturating_sub(from),
                directions: shown.directions,
                set: shown.set,
            };
            let phase = if end > self.times.origin {
                Phase::Measure
            } else {
                Phase::Warmup
            };
            self.tell_jobs(end, sink);
            self.emit(phase, &interval, shown.sync.as_ref(), sink);
            if phase == Phase::Measure {
                let IntervalStats {
                    directions, set, ..
                } = interval;
                let shown = Latencies {
                    directions,
                    sync: None,
                    set,
                };
                self.keep(end, shown);
            }
        }
    }

    /// Keeps what was measured in the second that ends at `end`.
    fn keep(&mut self, end: Nanos, shown: Latencies) {
        if end <= self.times.origin {
            return;
        }
        let key = self.end_of_kept(end);
        add_latencies(self.kept.entry(key).or_default(), shown.kept());
        if self.kept.len() > MOST {
            self.step = self.step * 2;
            for (end, directions) in std::mem::take(&mut self.kept) {
                let key = self.end_of_kept(end);
                add_latencies(self.kept.entry(key).or_default(), directions);
            }
        }
    }

    /// End of the kept interval that holds the second, or the kept interval, that ends at `end`.
    fn end_of_kept(&self, end: Nanos) -> Nanos {
        let steps = end.saturating_sub(self.times.origin).get();
        self.times.origin + self.step * steps.div_ceil(self.step.get())
    }

    fn emit(
        &self,
        phase: Phase,
        interval: &IntervalStats,
        syncs: Option<&OpStats>,
        sink: &mut dyn EventSink,
    ) {
        if let Some(stats) = syncs {
            sink.event(&Event::Syncs {
                index: self.index,
                stats,
            });
        }
        sink.event(&Event::Interval {
            index: self.index,
            phase,
            interval,
        });
    }

    /// Tells what came of seconds that were told without it.
    fn tell_late(&mut self, sink: &mut dyn EventSink) {
        for (end, late) in std::mem::take(&mut self.late) {
            let Latencies {
                directions, set, ..
            } = late;
            let interval = IntervalStats {
                at: end.saturating_sub(self.times.start),
                length: INTERVAL,
                directions,
                set,
            };
            sink.event(&Event::IntervalLate {
                index: self.index,
                interval: &interval,
            });
        }
    }

    /// All that `workers` sent so far. Of each, where it belongs and when its measurement should have begun, from the
    /// start of the stage, are known; its counters are not.
    pub(crate) fn snapshot(&self, mut workers: Vec<WorkerStats>) -> Vec<WorkerStats> {
        for (worker, totals) in workers.iter_mut().zip(&self.totals) {
            let span = totals.until.saturating_sub(self.times.start);
            worker.directions.clone_from(&totals.directions);
            worker.sync.clone_from(&totals.sync);
            worker.set.clone_from(&totals.set);
            if worker.ios() > 0 {
                worker.measured = span.saturating_sub(worker.started);
            }
        }
        workers
    }

    /// When [`Collector::show`] has something to show.
    pub(crate) fn next_show(&self) -> Nanos {
        self.next_shown + GRACE
    }

    /// Puts the sums into `result`, whose workers' counters are there already, and shows the intervals that were not
    /// shown yet: at least the last, which is over when the workers are.
    pub(crate) fn finish(mut self, result: &mut StageResult, sink: &mut dyn EventSink) {
        for (worker, totals) in result.workers.iter_mut().zip(&mut self.totals) {
            let totals = std::mem::take(totals);
            worker.directions = totals.directions;
            worker.sync = totals.sync;
            worker.set = totals.set;
        }
        let measured = |worker: &&WorkerStats| worker.measured > Nanos::ZERO;
        let measured = result.workers.iter().filter(measured);
        let start = measured.clone().map(|worker| worker.started).min();
        let end = measured
            .map(|worker| worker.started + worker.measured)
            .max();
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        result.measured = end.saturating_sub(start);
        self.show_rest(start + result.measured, sink);
        self.push_kept(start + result.measured, result);
        if self.begun_anew {
            result.intervals.retain(|interval| interval.at > start);
            for interval in &mut result.intervals {
                let measured = interval.at.saturating_sub(start);
                interval.length = interval.length.min(measured);
            }
        }
    }

    /// Shows the intervals up to `end`, from the start of the stage; the last may be a shorter one.
    fn show_rest(&mut self, end: Nanos, sink: &mut dyn EventSink) {
        let end = self.times.start + end;
        if end <= self.times.origin {
            return;
        }
        self.tell_late(sink);
        while self.next_shown <= self.times.origin || self.next_shown + SHORTEST < end {
            self.show(self.next_shown + GRACE, sink);
        }
        let from = self.next_shown.saturating_sub(INTERVAL);
        let mut rest = Latencies::default();
        for (key, latencies) in std::mem::take(&mut self.intervals) {
            add_latencies(&mut rest, latencies.clone());
            self.keep(key, latencies);
        }
        let last = IntervalStats {
            at: end.saturating_sub(self.times.start),
            length: end.saturating_sub(from),
            directions: rest.directions,
            set: rest.set,
        };
        if last.length > Nanos::ZERO {
            self.tell_jobs(Nanos::MAX, sink);
            self.emit(Phase::Measure, &last, rest.sync.as_ref(), sink);
        }
    }

    fn push_kept(&mut self, end: Nanos, result: &mut StageResult) {
        let mut from = self.times.origin.saturating_sub(self.times.start);
        while from < end {
            let whole = from + self.step;
            let at = if whole + SHORTEST < end { whole } else { end };
            let kept = self.kept.remove(&(self.times.start + whole));
            let Latencies {
                directions, set, ..
            } = kept.unwrap_or_default();
            result.intervals.push(IntervalStats {
                at,
                length: at.saturating_sub(from),
                directions,
                set,
            });
            from = whole.max(at);
        }
        // What completed in too short a rest belongs to the last interval.
        for rest in std::mem::take(&mut self.kept).into_values() {
            if let Some(last) = result.intervals.last_mut() {
                add_directions(&mut last.directions, rest.directions);
                last.set.merge(&rest.set);
            }
        }
    }
}
