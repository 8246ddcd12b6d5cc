//! Tests of the sums: what is told of each second, what comes late, and what is kept of a long stage.

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
