//! Little's law: I/Os outstanding = rate × latency, within 0.5 % in every record of 400 mean latencies or more.
//!
//! The law holds exactly of what begins and ends within the measured time, as everything does where there is no warm-up. An
//! I/O of the warm-up that completes after it counts with all of its latency, of which a part lies before: that is why a
//! record must last a while, and longer where some I/Os take far longer than the mean; and why an open loop, which may have
//! one I/O under way then and few in all, needs many.

use fathom_model::Design;
use fathom_record::{Ignore, OpStats, StageRecord, StageResult, stage_record};
use fathom_sim::predict;
use fathom_units::Nanos;
use fathom_workload::{Arrival, Job, Workload};

use super::examples::examples;
use super::random_cases::case;

const SHARE: f64 = 0.005;
const MEAN_LATENCIES: f64 = 400.0;

/// Checks every worker's own counts and every job of the record; gives how many were long enough to be checked.
#[track_caller]
fn check(name: &str, workload: &Workload, results: &[StageResult]) -> usize {
    let mut checked = 0;
    for result in results {
        for worker in &result.workers {
            let stats = || worker.directions.iter().flatten();
            let sum: u128 = stats().map(|stats| stats.latency.sum()).sum();
            let count: u64 = stats().map(OpStats::ios).sum();
            let mean = sum as f64 / count.max(1) as f64;
            if sum == 0 || (worker.measured.get() as f64) < MEAN_LATENCIES * mean {
                continue;
            }
            let off = worker.outstanding_ns as f64 / sum as f64 - 1.0;
            let which = (worker.job, worker.worker);
            let job = &workload.stages[result.stage].jobs[worker.job];
            if !is_settled(job, count) {
                continue;
            }
            // Of `depth` I/Os always outstanding, no more than that many began before, none by more than the longest.
            let longest = stats().map(|stats| stats.latency.max()).max();
            // Of an open loop with little to do, one: its part of all latency is what counts.
            let busy = (worker.measured.get() as f64).min(sum as f64);
            let began_before = longest.unwrap_or_default() as f64 / busy;
            let allowed = if job.limits.warmup == Nanos::ZERO {
                0.0
            } else {
                SHARE.max(began_before)
            };
            assert!(
                off.abs() <= allowed,
                "{name}, {}, job and worker {which:?}: outstanding is off by {off:+.4} of rate × latency",
                result.name
            );
            checked += 1;
        }
        let stage = &workload.stages[result.stage];
        check_record(name, &stage.jobs, &stage_record(stage, result));
    }
    checked
}

/// Whether a single I/O under way at the end of the warm-up is less than what is allowed.
fn is_settled(job: &Job, ios: u64) -> bool {
    job.limits.warmup == Nanos::ZERO || job.arrival == Arrival::Closed || ios >= 1000
}

/// The same from the document alone, where all workers of a job are measured for the same time.
#[track_caller]
fn check_record(name: &str, jobs: &[Job], stage: &StageRecord) {
    for (asked, job) in jobs.iter().zip(&stage.jobs) {
        let ways = || [&job.read, &job.write, &job.trim].into_iter().flatten();
        let busy: f64 = ways().map(|way| way.ios as f64 * way.latency_ns.mean).sum();
        let ios: f64 = ways().map(|way| way.ios as f64).sum();
        let measured = job.measured_ns as f64;
        if job.workers > 1
            || busy == 0.0
            || !is_settled(asked, ios as u64)
            || measured < MEAN_LATENCIES * busy / ios
        {
            continue;
        }
        let off = job.depth_achieved * measured / busy - 1.0;
        let longest = ways()
            .map(|way| way.latency_ns.max)
            .max()
            .unwrap_or_default();
        assert!(
            off.abs() <= SHARE.max(longest as f64 / measured),
            "{name}, {}, job `{}`: depth is off by {off:+.4} of rate × latency",
            stage.name,
            job.name
        );
    }
}

/// I/Os of one worker of a lengthened case at most.
const IOS_MAX: u64 = 3_000;

fn results(name: &str, workload: &Workload, design: &Design) -> Vec<StageResult> {
    let prediction = predict(workload, design, &mut Ignore, &|| false);
    prediction
        .unwrap_or_else(|error| panic!("{error}\n{name}"))
        .results
}

/// Runs a workload as it is, and then so long that its record lasts a little more than 400 mean latencies.
#[track_caller]
fn check_lengthened(name: &str, workload: &Workload, design: &Design) -> usize {
    let short = results(name, workload, design);
    let longest = short.iter().map(longest_mean).fold(0.0, f64::max);
    let runtime = Nanos::new((longest * MEAN_LATENCIES * 1.1) as u64);
    let mut long = workload.clone();
    for job in long.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        let limits = &mut job.limits;
        limits.runtime = Some(runtime);
        limits.ios = Some(IOS_MAX);
        limits.time_based = false;
        limits.loops = u32::MAX;
    }
    check(name, workload, &short) + check(name, &long, &results(name, &long, design))
}

#[test]
fn it_holds_in_every_random_case() {
    let mut checked = 0;
    for seed in 0..50 {
        let mut case = case(seed);
        for job in case
            .workload
            .stages
            .iter_mut()
            .flat_map(|stage| &mut stage.jobs)
        {
            job.depth = job.depth.min(8);
        }
        checked += check_lengthened(&case.to_string(), &case.workload, &case.design);
    }
    assert!(checked > 100, "{checked} workers alone ran long enough");
}

#[test]
fn it_holds_in_every_example() {
    let mut checked = 0;
    for example in examples() {
        checked += check_lengthened(&example.name, &example.workload, &example.design);
    }
    assert!(checked > 20, "{checked} workers alone ran long enough");
}

/// Largest mean latency of a worker, in ns.
fn longest_mean(result: &StageResult) -> f64 {
    let means = result.workers.iter().map(|worker| {
        let stats = || worker.directions.iter().flatten();
        let sum: u128 = stats().map(|stats| stats.latency.sum()).sum();
        let count: u64 = stats().map(OpStats::ios).sum();
        sum as f64 / count.max(1) as f64
    });
    means.fold(0.0, f64::max)
}
