//! What holds a worker back, and what ends it by its results, on the null backend: only our own doing shows.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{for_time, job, run_jobs};
use fathom_record::WorkerStats;
use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    AccessLine, AfterFound, Backend, Batches, DirectionRates, Flow, Job, LatencyTarget, Mix,
    Overlaps, Pacing, Poisson, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState,
    ThinkCounts, ThinkTime,
};

fn null_job(time: Nanos) -> Job {
    let mut job = job(Path::new("/nothing"), Bytes::mib(4));
    job.backend = Backend::Null;
    job.limits = for_time(time);
    job
}

fn run(jobs: Vec<Job>) -> Vec<WorkerStats> {
    run_jobs(jobs).unwrap().results.remove(0).workers
}

#[test]
fn a_search_for_a_depth_ends_its_job() {
    let mut job = null_job(Nanos::from_secs(20));
    job.features.latency_target = Some(LatencyTarget {
        most: Nanos::from_millis(50),
        window: Nanos::from_millis(20),
        percentile: 90.0,
        then: AfterFound::Ends,
    });
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.found_depth, Some(8));
    assert!(
        worker.measured < Nanos::from_secs(5),
        "{:?}",
        worker.measured
    );
}

#[test]
fn a_steady_job_ends_and_says_so() {
    let mut job = null_job(Nanos::from_secs(20));
    let rate = Pacing::Iops(Iops::new(500));
    job.arrival = fathom_workload::Arrival::Open {
        rate,
        poisson: Poisson::Fixed,
        when_full: fathom_workload::WhenFull::Queue,
    };
    job.features.steady = Some(SteadyState {
        metric: SteadyMetric::Iops,
        judgement: SteadyJudgement::Deviation,
        limit: SteadyLimit::Percent(10.0),
        window: Nanos::from_secs(2),
        ramp: Nanos::ZERO,
        interval: Nanos::from_secs(1),
    });
    let worker = run(vec![job]).remove(0);
    assert!(worker.steady.unwrap().attained);
    assert!(
        worker.measured < Nanos::from_secs(10),
        "{:?}",
        worker.measured
    );
}

#[test]
fn each_burst_waits_for_its_delay() {
    let mut job = null_job(Nanos::from_secs(5));
    (job.limits.time_based, job.limits.ios) = (false, Some(40));
    job.set_lines(vec![AccessLine {
        burst: 8,
        delay: Nanos::from_millis(20),
        ..AccessLine::of_size(Bytes::kib(4))
    }]);
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 40);
    // Five bursts; the first I/O of each is late, and none of the delays counts as latency.
    assert!(
        (Nanos::from_millis(80)..Nanos::from_millis(1000)).contains(&worker.measured),
        "{:?}",
        worker.measured
    );
    let read = worker.directions[0].as_ref().unwrap();
    assert!(read.latency.percentile(50.0) < 10_000_000);
}

#[test]
fn pauses_come_after_so_many_ios() {
    let mut job = null_job(Nanos::from_secs(1));
    (job.limits.time_based, job.limits.ios) = (false, Some(40));
    job.features.think = Some(ThinkTime {
        pause: Nanos::from_millis(10),
        spin: Nanos::ZERO,
        every: 4,
        counts: ThinkCounts::Completed,
        after: Nanos::ZERO,
    });
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 40);
    assert!(
        worker.measured >= Nanos::from_millis(90),
        "{:?}",
        worker.measured
    );
}

#[test]
fn each_direction_keeps_its_own_rate() {
    let mut job = null_job(Nanos::from_secs(1));
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.features.rates = Some(DirectionRates {
        rates: [100, 1000, 0].map(|rate| (rate > 0).then(|| Pacing::Iops(Iops::new(rate)))),
        poisson: Poisson::Fixed,
    });
    let worker = run(vec![job]).remove(0);
    let ios = worker
        .directions
        .map(|stats| stats.map_or(0, |stats| stats.ios()));
    assert!(
        ios[0].abs_diff(100) <= 3 && ios[1].abs_diff(1000) <= 30,
        "{ios:?}"
    );
}

#[test]
fn shares_of_a_flow_are_kept() {
    let jobs = [1, 3].map(|weight| {
        let mut job = null_job(Nanos::from_secs(1));
        job.features.flow = Some(Flow {
            id: 1,
            weight,
            pause: Nanos::ZERO,
        });
        job
    });
    let workers = run(jobs.into());
    let ratio = workers[1].ios() as f64 / workers[0].ios() as f64;
    assert!((2.4..3.6).contains(&ratio), "{ratio}");
}

#[test]
fn nothing_is_lost_where_blocks_overlap_or_queues_drain() {
    let mut job = null_job(Nanos::from_secs(9));
    (job.limits.time_based, job.limits.ios) = (false, Some(1000));
    job.mix = Mix::TRIM;
    job.features.overlaps = Overlaps::Serialized;
    assert_eq!(run(vec![job.clone()])[0].ios(), 1000);
    job.mix = Mix::READ;
    job.features.batches = Some(Batches {
        submit: 4,
        complete_min: 2,
        complete_max: 4,
        low: 3,
    });
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 1000);
    // Never more than four at a time, either way.
    assert!(worker.submit_batches[2..].iter().all(|calls| *calls == 0));
    assert!(worker.complete_batches[2..].iter().all(|calls| *calls == 0));
}
