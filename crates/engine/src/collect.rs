//! The control plane's sums: intervals over workers, totals over time.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use fathom_record::{
    Event, EventSink, IntervalStats, OpStats, Phase, SetStats, StageResult, WorkerStats,
};
use fathom_units::Nanos;

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

/// By [`fathom_workload::Direction`].
type Directions = [Option<OpStats>; 3];

/// By direction, what was made durable, and what was done to file sets.
#[derive(Debug, Clone, Default)]
struct Latencies {
    directions: Directions,
    sync: Option<OpStats>,
    set: SetStats,
}

impl Latencies {
    /// What is kept of an interval: what is in its record, and no response times.
    fn kept(mut self) -> Self {
        self.sync = None;
        let of_set = self.set.0.iter_mut().map(|(_, stats)| stats);
        for stats in self.directions.iter_mut().flatten().chain(of_set) {
            stats.response = None;
        }
        self
    }
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
        if set.phase == Phase::Measure || is_before {
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

/// Without the two parts of latency.
fn undivided(stats: &OpStats) -> OpStats {
    OpStats {
        bytes: stats.bytes,
        latency: stats.latency.clone(),
        response: stats.response.clone(),
        submit: None,
        complete: None,
    }
}

fn add_latencies(mine: &mut Latencies, theirs: Latencies) {
    add_directions(&mut mine.directions, theirs.directions);
    merge_one(&mut mine.sync, theirs.sync.as_ref());
    mine.set.merge(&theirs.set);
}

fn add_directions(mine: &mut [Option<OpStats>; 3], theirs: [Option<OpStats>; 3]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        match (mine, theirs) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (_, None) => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Direction, preset};

    /// (measured, end and length in ms, reads) of each interval told.
    #[derive(Default)]
    struct Told(Vec<(bool, u64, u64, u64)>);

    impl EventSink for Told {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::Interval {
                phase, interval, ..
            } = event
            {
                let millis = |time: Nanos| time.get() / 1_000_000;
                let reads = interval.directions[Direction::Read as usize].as_ref();
                self.0.push((
                    *phase == Phase::Measure,
                    millis(interval.at),
                    millis(interval.length),
                    reads.map_or(0, OpStats::ios),
                ));
            }
        }
    }

    const START: Nanos = Nanos::from_secs(100);

    fn collector(warmup: Nanos) -> Collector {
        let times = Times {
            start: START,
            origin: START + warmup,
            awake: Nanos::ZERO,
        };
        let (give_back, _) = std::sync::mpsc::sync_channel(1);
        Collector::new(0, times, vec![give_back])
    }

    /// (end in ms, reads) of what was told late.
    #[derive(Default)]
    struct ToldLate(Vec<(u64, u64)>);

    impl EventSink for ToldLate {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::IntervalLate { interval, .. } = event {
                let reads = interval.directions[0].as_ref().map_or(0, OpStats::ios);
                self.0.push((interval.at.get() / 1_000_000, reads));
            }
        }
    }

    /// Once, whether the next second or the end comes first; what was in time is told with its second alone.
    #[test]
    fn what_came_late_of_a_second_is_told_on_top() {
        let mut collector = collector(Nanos::ZERO);
        let mut told = ToldLate::default();
        let second = Nanos::from_secs;
        let shown = |seconds| START + second(seconds) + GRACE;
        collector.show(shown(1), &mut told);
        collector.add(&set(second(1), Phase::Measure, 20));
        collector.add(&set(second(1), Phase::Measure, 3));
        collector.add(&set(second(2), Phase::Measure, 30));
        collector.show(shown(2), &mut told);
        assert_eq!(told.0, [(1000, 23)]);
        collector.add(&set(second(2), Phase::Measure, 7));
        collector.add(&set(second(3), Phase::Measure, 40));
        collector.finish(&mut result(second(3), Nanos::ZERO), &mut told);
        assert_eq!(told.0, [(1000, 23), (2000, 7)]);
    }

    /// A set of `ios` reads in the second that ends `end` after the start.
    fn set(end: Nanos, phase: Phase, ios: u64) -> IntervalSet {
        let workload = preset("quick", "/mnt").unwrap();
        let mut set = IntervalSet::new(0, &workload.stages[0].jobs[0]);
        (set.end, set.phase) = (START + end, phase);
        let reads = set.directions[Direction::Read as usize].as_mut().unwrap();
        reads.latency.record_many(50_000, ios);
        set
    }

    fn result(measured: Nanos, started: Nanos) -> StageResult {
        let mut worker = WorkerStats::new(0, 0);
        (worker.measured, worker.started) = (measured, started);
        StageResult {
            workers: vec![worker],
            ..StageResult::new("", 0)
        }
    }

    /// One that ended has the time that it took, however long others go on, and one that began late has its own.
    #[test]
    fn results_in_between_have_the_time_of_each_worker() {
        let times = Times {
            start: START,
            origin: START,
            awake: Nanos::ZERO,
        };
        let (give_back, _) = std::sync::mpsc::sync_channel(1);
        let mut collector = Collector::new(0, times, vec![give_back.clone(), give_back]);
        let ms = Nanos::from_millis;
        let mut take = |worker, end, until| {
            let mut set = set(ms(end), Phase::Measure, 10);
            (set.worker, set.until) = (worker, START + ms(until));
            collector.add(&set);
        };
        take(0, 1000, 1000);
        take(0, 2000, 1500);
        take(1, 2000, 2000);
        take(1, 3000, 3000);
        let mut late = WorkerStats::new(1, 0);
        late.started = ms(1000);
        let told = collector.snapshot(vec![WorkerStats::new(0, 0), late]);
        let times: Vec<Nanos> = told.iter().map(|worker| worker.measured).collect();
        assert_eq!(times, [ms(1500), ms(2000)]);
    }

    #[test]
    fn intervals_have_their_true_lengths_and_the_last_is_told() {
        let half = Nanos::from_millis(500);
        let mut collector = collector(half);
        let mut told = Told::default();
        collector.add(&set(half, Phase::Warmup, 7));
        collector.add(&set(Nanos::from_millis(1500), Phase::Measure, 20));
        collector.show(START + Nanos::from_millis(1600), &mut told);
        collector.add(&set(Nanos::from_millis(2500), Phase::Measure, 30));
        // Late, for a second that was shown already; then the rest.
        collector.add(&set(Nanos::from_millis(1500), Phase::Measure, 1));
        collector.add(&set(Nanos::from_millis(3500), Phase::Measure, 5));
        let mut result = result(Nanos::from_millis(2250), half);
        collector.finish(&mut result, &mut told);
        let expected = [
            (false, 500, 500, 7),
            (true, 1500, 1000, 20),
            (true, 2500, 1000, 30),
            (true, 2750, 250, 5),
        ];
        assert_eq!(told.0, expected);
        let kept: Vec<_> = result
            .intervals
            .iter()
            .map(|interval| {
                let reads = interval.directions[0].as_ref().unwrap();
                (interval.length.get() / 1_000_000, reads.ios())
            })
            .collect();
        assert_eq!(kept, [(1000, 21), (1000, 30), (250, 5)]);
        let total = result.workers[0].directions[0].as_ref().unwrap();
        assert_eq!(total.ios(), 56);
    }

    /// Counts of response times of reads, and of syncs, each second.
    #[derive(Default)]
    struct BesideTold(Vec<u64>, Vec<u64>);

    impl EventSink for BesideTold {
        fn event(&mut self, event: &Event<'_>) {
            match event {
                Event::Interval { interval, .. } => {
                    let reads = interval.directions[0].as_ref();
                    let response = reads.and_then(|reads| reads.response.as_ref());
                    self.0
                        .push(response.map_or(0, fathom_stats::Histogram::count));
                }
                Event::Syncs { stats, .. } => self.1.push(stats.ios()),
                _ => {}
            }
        }
    }

    #[test]
    fn response_times_and_syncs_are_told_and_not_kept() {
        let mut collector = collector(Nanos::ZERO);
        let mut told = BesideTold::default();
        for (second, count) in [(1, 4), (2, 3)] {
            let mut set = set(Nanos::from_secs(second), Phase::Measure, count);
            let response = &mut set.directions[0].as_mut().unwrap().response;
            let response = response.get_or_insert_default();
            response.record_many(70_000, count);
            let sync = set.sync.get_or_insert_with(|| OpStats::new(false, false));
            sync.latency.record_many(90_000, count + 10);
            collector.add(&set);
        }
        collector.show(START + Nanos::from_millis(1100), &mut told);
        let mut result = result(Nanos::from_secs(2), Nanos::ZERO);
        collector.finish(&mut result, &mut told);
        assert_eq!((told.0, told.1), (vec![4, 3], vec![14, 13]));
        let kept = result.intervals.iter().map(|interval| {
            let reads = interval.directions[0].as_ref().unwrap();
            (reads.ios(), reads.response.is_some())
        });
        assert_eq!(kept.collect::<Vec<_>>(), [(4, false), (3, false)]);
        let total = &result.workers[0];
        let response = total.directions[0].as_ref().unwrap().response.as_ref();
        assert_eq!(response.map(fathom_stats::Histogram::count), Some(7));
        assert_eq!(total.sync.as_ref().map(OpStats::ios), Some(27));
    }

    #[derive(Default)]
    struct JobsTold(Vec<(usize, u64)>);

    impl EventSink for JobsTold {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::JobInterval {
                job, directions, ..
            } = event
            {
                let reads = directions[Direction::Read as usize].as_ref();
                self.0.push((*job, reads.map_or(0, OpStats::ios)));
            }
        }
    }

    #[test]
    fn jobs_are_told_second_by_second_and_nothing_is_lost() {
        let mut collector = collector(Nanos::ZERO).with_jobs(vec![3]);
        let mut told = JobsTold::default();
        collector.add(&set(Nanos::from_secs(1), Phase::Measure, 20));
        collector.show(START + Nanos::from_millis(1100), &mut told);
        collector.add(&set(Nanos::from_secs(2), Phase::Measure, 30));
        // Late, for a second that was shown already.
        collector.add(&set(Nanos::from_secs(1), Phase::Measure, 1));
        collector.show(START + Nanos::from_millis(2100), &mut told);
        collector.add(&set(Nanos::from_secs(3), Phase::Measure, 5));
        let mut result = result(Nanos::from_millis(2500), Nanos::ZERO);
        collector.finish(&mut result, &mut told);
        assert_eq!(told.0, [(3, 20), (3, 31), (3, 5)]);
    }

    #[test]
    fn a_rest_too_short_for_a_rate_goes_with_the_last_second() {
        let mut collector = collector(Nanos::ZERO);
        let mut told = Told::default();
        for second in 1..=3 {
            collector.add(&set(Nanos::from_secs(second), Phase::Measure, second));
        }
        let mut result = result(Nanos::from_millis(2004), Nanos::ZERO);
        collector.finish(&mut result, &mut told);
        assert_eq!(told.0, [(true, 1000, 1000, 1), (true, 2004, 1004, 2 + 3)]);
        let lengths = result.intervals.iter().map(|interval| interval.length);
        let lengths: Vec<_> = lengths.map(|length| length.get() / 1_000_000).collect();
        assert_eq!(lengths, [1000, 1004]);
    }

    #[test]
    fn a_long_stage_keeps_a_bounded_number_of_intervals() {
        let mut collector = collector(Nanos::ZERO);
        let mut told = Told::default();
        let seconds = MOST as u64 * 2 + 3;
        for second in 1..=seconds {
            collector.add(&set(Nanos::from_secs(second), Phase::Measure, second));
            collector.show(START + Nanos::from_secs(second) + GRACE, &mut told);
        }
        let mut result = result(Nanos::from_secs(seconds), Nanos::ZERO);
        collector.finish(&mut result, &mut told);
        assert_eq!(told.0.len() as u64, seconds);
        assert_eq!(result.intervals.len(), MOST / 2 + 1);
        let kept = |interval: &IntervalStats| interval.directions[0].as_ref().unwrap().ios();
        let sum: u64 = result.intervals.iter().map(kept).sum();
        assert_eq!(sum, seconds * (seconds + 1) / 2);
        assert_eq!(result.intervals[0].length, Nanos::from_secs(4));
        assert_eq!(kept(&result.intervals[0]), 1 + 2 + 3 + 4);
    }
}
