//! Jobs that end when their results are steady.
//!
//! The control thread sees every worker's second; it adds up those that are judged together (a job's own workers, or all of
//! a group that is reported together), and once a window of values is steady it lets their workers end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_record::{Phase, SteadyOutcome, WorkerStats};
use fathom_stats::{largest_deviation, mean, slope};
use fathom_units::Nanos;
use fathom_workload::{
    Job, ReportGroup, Stage, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState,
};

use crate::interval::IntervalSet;
use crate::timing::INTERVAL;

/// How long after its end an interval is judged: by then the sets of all workers that are not stuck have come.
const GRACE: Nanos = Nanos::from_millis(60);

/// Which workers are judged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Together {
    Group(u32),
    Job(usize),
}

/// Sums of an interval.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    ios: u64,
    bytes: u64,
    latency: u128,
}

/// One judgement that goes on.
#[derive(Debug)]
struct Judged {
    rules: SteadyState,
    enough: Arc<AtomicBool>,
    /// By end of the second on the run's clock.
    seconds: BTreeMap<Nanos, Sums>,
    /// What of the present value is there.
    part: (u64, Sums),
    outcome: SteadyOutcome,
}

/// All judgements of a stage.
#[derive(Debug, Default)]
pub(crate) struct SteadyWatch {
    judged: BTreeMap<Together, Judged>,
    /// By job of the stage.
    jobs: Vec<Option<Together>>,
    /// By worker of the stage: its job.
    job_of: Vec<usize>,
    origin: Nanos,
}

impl SteadyWatch {
    /// Of the jobs of `stage`.
    pub(crate) fn new(stage: &Stage) -> Self {
        let mut watch = Self::default();
        for (index, job) in stage.jobs.iter().enumerate() {
            watch.job_of.extend((0..job.workers).map(|_| index));
            let together = job.features.steady.map(|rules| {
                let together = together(job, index);
                watch.judged.entry(together).or_insert_with(|| Judged {
                    rules,
                    enough: Arc::default(),
                    seconds: BTreeMap::new(),
                    part: (0, Sums::default()),
                    outcome: SteadyOutcome::default(),
                });
                together
            });
            watch.jobs.push(together);
        }
        watch
    }

    /// Set once the results of a job are steady.
    pub(crate) fn enough(&self, job: usize) -> Option<Arc<AtomicBool>> {
        let judged = self.judged.get(self.jobs[job].as_ref()?)?;
        Some(Arc::clone(&judged.enough))
    }

    /// Intervals are counted from `origin`.
    pub(crate) fn begin(self, origin: Nanos) -> Self {
        Self { origin, ..self }
    }

    /// Adds a worker's second.
    pub(crate) fn take(&mut self, set: &IntervalSet) {
        let job = self.job_of[set.worker];
        let Some(judged) = self.jobs[job].and_then(|it| self.judged.get_mut(&it)) else {
            return;
        };
        let counts = set.end > self.origin + judged.rules.ramp;
        if set.phase != Phase::Measure || !counts {
            return;
        }
        let sums = judged.seconds.entry(set.end).or_default();
        for stats in set.directions.iter().flatten() {
            sums.ios += stats.ios();
            sums.bytes += stats.bytes;
            sums.latency += stats.latency.sum();
        }
    }

    /// Adds what a worker did last, where that is a whole second.
    pub(crate) fn take_last(&mut self, set: &IntervalSet) {
        if set.until >= set.end {
            self.take(set);
        }
    }

    /// Judges what is over by `now`.
    pub(crate) fn judge(&mut self, now: Nanos) {
        for judged in self.judged.values_mut() {
            while let Some((end, sums)) = judged.seconds.pop_first() {
                if end + GRACE > now {
                    judged.seconds.insert(end, sums);
                    break;
                }
                judged.add_second(sums);
            }
        }
    }

    /// Judges the rest, now that nothing more comes, and leaves what was found with the workers.
    pub(crate) fn finish(mut self, workers: &mut [WorkerStats]) {
        self.judge(Nanos::MAX);
        for worker in workers {
            let judged = self.jobs[worker.job].and_then(|it| self.judged.get(&it));
            worker.steady = judged.map(|judged| Box::new(judged.outcome.clone()));
        }
    }
}

fn together(job: &Job, index: usize) -> Together {
    match job.group {
        ReportGroup { id, together: true } => Together::Group(id),
        ReportGroup { .. } => Together::Job(index),
    }
}

impl Judged {
    fn add_second(&mut self, sums: Sums) {
        if self.outcome.attained {
            return;
        }
        let (seconds, part) = &mut self.part;
        *seconds += 1;
        part.ios += sums.ios;
        part.bytes += sums.bytes;
        part.latency += sums.latency;
        let wanted = self.rules.interval.get().div_ceil(INTERVAL.get()).max(1);
        if *seconds < wanted {
            return;
        }
        let (seconds, part) = std::mem::take(&mut self.part);
        let outcome = &mut self.outcome;
        outcome.iops.push(part.ios as f64 / seconds as f64);
        outcome
            .bytes_per_sec
            .push(part.bytes as f64 / seconds as f64);
        let latency = part.latency as f64 / part.ios.max(1) as f64;
        outcome.latency_ns.push(latency);
        let values = (self.rules.window.get() / (wanted * INTERVAL.get())).max(2) as usize;
        let SteadyOutcome {
            iops,
            bytes_per_sec,
            latency_ns,
            ..
        } = outcome;
        for list in [iops, bytes_per_sec, latency_ns] {
            if list.len() > values {
                list.remove(0);
            }
        }
        if self.outcome.iops.len() == values {
            self.judge_window();
        }
    }

    fn judge_window(&mut self) {
        let outcome = &mut self.outcome;
        let values = match self.rules.metric {
            SteadyMetric::Iops => &outcome.iops,
            SteadyMetric::Bandwidth => &outcome.bytes_per_sec,
            SteadyMetric::Latency => &outcome.latency_ns,
        };
        let found = match self.rules.judgement {
            SteadyJudgement::Deviation => {
                outcome.max_deviation = largest_deviation(values).unwrap_or_default();
                outcome.max_deviation
            }
            SteadyJudgement::Slope => {
                outcome.slope = slope(values).unwrap_or_default();
                outcome.slope
            }
        };
        let average = mean(values).unwrap_or_default();
        let limit = match self.rules.limit {
            SteadyLimit::Absolute(limit) => {
                outcome.criterion = found;
                limit
            }
            SteadyLimit::Percent(limit) => {
                outcome.criterion = if average > 0.0 {
                    found * 100.0 / average
                } else {
                    0.0
                };
                limit
            }
        };
        // Nothing done is not a steady result.
        if average > 0.0 && outcome.criterion.abs() < limit {
            outcome.attained = true;
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Bytes;
    use fathom_workload::preset;

    /// A stage of one job of one worker that is judged over three seconds, after one.
    fn judged_stage(judgement: SteadyJudgement, percent: f64) -> Stage {
        let mut stage = preset("quick", "/unused").unwrap().stages.remove(0);
        stage.jobs.truncate(1);
        stage.jobs[0].workers = 1;
        stage.jobs[0].block = fathom_workload::BlockSizes::uniform(Bytes::kib(4));
        stage.jobs[0].features.steady = Some(SteadyState {
            metric: SteadyMetric::Iops,
            judgement,
            limit: SteadyLimit::Percent(percent),
            window: Nanos::from_secs(3),
            ramp: Nanos::from_secs(1),
            interval: Nanos::from_secs(1),
        });
        stage
    }

    /// The set of the second that ends at `second`, with `ios` I/Os.
    fn of_second(job: &Job, second: u64, ios: u64) -> IntervalSet {
        let mut set = IntervalSet::new(0, job);
        set.end = Nanos::from_secs(second);
        (set.until, set.phase) = (set.end, Phase::Measure);
        if let Some(stats) = set.directions.iter_mut().flatten().next() {
            stats.latency.record_many(1000, ios);
        }
        set
    }

    /// Seconds of I/Os a second until the results count as steady.
    #[track_caller]
    fn check(judgement: SteadyJudgement, percent: f64, iops: &[u64], expected: Option<usize>) {
        let stage = judged_stage(judgement, percent);
        let mut watch = SteadyWatch::new(&stage).begin(Nanos::ZERO);
        let enough = watch.enough(0).unwrap();
        let mut steady_after = None;
        for (second, ios) in (1u64..).zip(iops) {
            watch.take(&of_second(&stage.jobs[0], second, *ios));
            watch.judge(Nanos::from_secs(second) + GRACE);
            if enough.load(Ordering::Relaxed) && steady_after.is_none() {
                steady_after = Some(second as usize);
            }
        }
        assert_eq!(steady_after, expected);
    }

    /// A job whose time is up as its window is full is judged by all of it, but not by a part of a second.
    #[test]
    fn the_last_second_is_judged_where_it_is_whole() {
        let stage = judged_stage(SteadyJudgement::Deviation, 5.0);
        let job = &stage.jobs[0];
        for (until, expected) in [(4000, true), (3600, false)] {
            let mut watch = SteadyWatch::new(&stage).begin(Nanos::ZERO);
            for second in 1..=3 {
                watch.take(&of_second(job, second, 100));
            }
            let mut last = of_second(job, 4, 100);
            last.until = Nanos::from_millis(until);
            watch.take_last(&last);
            let mut workers = [WorkerStats::new(0, 0)];
            watch.finish(&mut workers);
            let outcome = workers[0].steady.take().expect("it is judged");
            assert_eq!(outcome.attained, expected, "{until}");
        }
    }

    #[test]
    fn a_job_is_over_when_its_window_is_steady() {
        use SteadyJudgement::{Deviation, Slope};
        check(Deviation, 5.0, &[50, 100, 100, 101, 100], Some(4));
        check(Deviation, 5.0, &[100, 100, 150, 100, 100, 101], Some(6));
        check(Slope, 5.0, &[10, 100, 150, 100, 100], Some(4));
        check(Slope, 1.0, &[10, 100, 110, 120, 130, 140], None);
        check(Deviation, 5.0, &[0, 0, 0, 0, 0, 0], None);
    }
}
