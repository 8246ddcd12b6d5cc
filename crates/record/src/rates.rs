//! Rates of stages that follow from what an earlier stage reached.

use std::borrow::Cow;

use fathom_units::Nanos;
use fathom_workload::{RateShares, Stage, Workload};

use crate::{OpStats, StageResult};

const NANOS_PER_SEC: f64 = 1e9;

/// The stage as it is run after `results` were measured: with rates from an earlier stage's result where it asks for that
/// ([`fathom_workload::RateFrom`]), as it stands otherwise. Where that stage measured nothing, the stage's own rates stay.
///
/// The earlier stage's rate is the sum of what its jobs did, each over the time it was measured for.
pub fn resolved_stage<'s>(stage: &'s Stage, results: &[StageResult]) -> Cow<'s, Stage> {
    let Some(from) = stage.rate_from else {
        return Cow::Borrowed(stage);
    };
    let measured = results
        .iter()
        .rev()
        .find(|result| result.stage == from.stage);
    let Some(measured) = measured else {
        return Cow::Borrowed(stage);
    };
    let mut rates = vec![0.0; stage.jobs.len()];
    let mut total = 0.0;
    for (job, rate) in worker_rates(stage, measured) {
        total += rate;
        if let Some(of_job) = rates.get_mut(job) {
            *of_job += rate;
        }
    }
    if total <= 0.0 {
        return Cow::Borrowed(stage);
    }
    let weights = match from.shares {
        RateShares::AsGiven => stage.rate_weights(),
        RateShares::AsMeasured => rates,
    };
    Cow::Owned(stage.at_rate(from.total(total), &weights))
}

/// I/Os a second of a stage that was measured, each worker's over its own time; requests a second where `stage`, whose jobs
/// are like those that were measured, works on file sets.
pub fn stage_rate(stage: &Stage, measured: &StageResult) -> f64 {
    worker_rates(stage, measured).map(|(_, rate)| rate).sum()
}

/// The index of each worker's job, and its rate.
fn worker_rates<'r>(
    stage: &'r Stage,
    measured: &'r StageResult,
) -> impl Iterator<Item = (usize, f64)> + 'r {
    let workers = measured.workers.iter();
    let workers = workers.filter(|worker| worker.measured > Nanos::ZERO);
    workers.map(|worker| {
        let job = stage.jobs.get(worker.job);
        let work = job.and_then(|job| job.features.file_work.as_deref());
        let requests = match work.and_then(|work| work.task.asked()) {
            Some(operation) => worker.set.of(operation).map_or(0, OpStats::ios),
            None => worker.ios(),
        };
        let seconds = worker.measured.get() as f64 / NANOS_PER_SEC;
        (worker.job, requests as f64 / seconds)
    })
}

/// The workload with the rates that its stages had after `results` were measured.
pub fn resolved_workload(workload: &Workload, results: &[StageResult]) -> Workload {
    let stages = workload.stages.iter();
    Workload {
        stages: stages
            .map(|stage| resolved_stage(stage, results).into_owned())
            .collect(),
        seed: workload.seed,
    }
}
