//! The control plane's sums: intervals over workers, totals over time.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use fathom_record::{Event, EventSink, IntervalStats, OpStats, Phase, StageResult, WorkerStats};
use fathom_units::Nanos;

use crate::interval::IntervalSet;
use crate::timing::{INTERVAL, Times};

/// How long after its end an interval is shown: by then the sets of all workers that are not stuck have come.
const GRACE: Nanos = Nanos::from_millis(60);

/// Adds up what the workers send.
#[derive(Debug)]
pub(crate) struct Collector {
    times: Times,
    index: usize,
    totals: Vec<Totals>,
    /// By end on the run's clock.
    intervals: BTreeMap<Nanos, [Option<OpStats>; 3]>,
    /// End of the next interval to be shown.
    next_shown: Nanos,
    returns: Vec<SyncSender<Box<IntervalSet>>>,
}

#[derive(Debug, Default)]
struct Totals {
    directions: [Option<OpStats>; 3],
    sync: Option<OpStats>,
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
            next_shown: crate::timing::interval_end_after(times.origin, times.start),
            returns,
        }
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
        if set.phase == Phase::Measure || is_before {
            merge(self.intervals.entry(set.end).or_default(), &set.directions);
        }
        if set.phase == Phase::Measure {
            let totals = &mut self.totals[set.worker];
            merge(&mut totals.directions, &set.directions);
            merge_one(&mut totals.sync, set.sync.as_ref());
        }
    }

    /// Shows every interval that is over by `now`.
    pub(crate) fn show(&mut self, now: Nanos, sink: &mut dyn EventSink) {
        while now >= self.next_shown + GRACE {
            let end = self.next_shown;
            self.next_shown += INTERVAL;
            if end <= self.times.start {
                continue;
            }
            // Intervals are counted from the measurement's start both ways: the first of a warm-up may be a shorter one.
            let from = end.saturating_sub(INTERVAL).max(self.times.start);
            let interval = IntervalStats {
                at: end.saturating_sub(self.times.start),
                length: end.saturating_sub(from),
                directions: self.intervals.get(&end).cloned().unwrap_or_default(),
            };
            let phase = if end > self.times.origin {
                Phase::Measure
            } else {
                Phase::Warmup
            };
            self.emit(phase, &interval, sink);
        }
    }

    fn emit(&self, phase: Phase, interval: &IntervalStats, sink: &mut dyn EventSink) {
        sink.event(&Event::Interval {
            index: self.index,
            phase,
            interval,
        });
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
        }
        let measured = |worker: &&WorkerStats| worker.measured > Nanos::ZERO;
        let measured = result.workers.iter().filter(measured);
        let start = measured.clone().map(|worker| worker.started).min();
        let end = measured
            .map(|worker| worker.started + worker.measured)
            .max();
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        result.measured = end.saturating_sub(start);
        let origin = self.times.origin.saturating_sub(self.times.start);
        let mut from = origin;
        while from < end {
            let whole = from + INTERVAL;
            let key = self.times.start + whole;
            let at = whole.min(end);
            let directions = self.intervals.remove(&key).unwrap_or_default();
            result.intervals.push(IntervalStats {
                at,
                length: at.saturating_sub(from),
                directions,
            });
            from = whole;
        }
        // What completed exactly at the end of the last interval belongs to the one that begins there.
        if let (Some(last), Some(rest)) = (
            result.intervals.last_mut(),
            self.intervals.remove(&(self.times.start + from + INTERVAL)),
        ) {
            merge(&mut last.directions, &rest);
        }
        let shown = self
            .next_shown
            .saturating_sub(INTERVAL)
            .saturating_sub(self.times.start);
        for interval in result
            .intervals
            .iter()
            .filter(|interval| interval.at > shown.max(origin))
        {
            self.emit(Phase::Measure, interval, sink);
        }
    }
}

fn merge(mine: &mut [Option<OpStats>; 3], theirs: &[Option<OpStats>; 3]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        merge_one(mine, theirs.as_ref());
    }
}

fn merge_one(mine: &mut Option<OpStats>, theirs: Option<&OpStats>) {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}
