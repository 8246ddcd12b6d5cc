//! What contradicts itself in a rate that follows from an earlier stage.

use super::Found;
use crate::{Arrival, FileTask, Job, Pacing, Stage};

/// Largest percentage of an earlier stage's rate.
const PERCENT_MAX: f64 = 10_000.0;

/// Checks `stage`, which comes after `earlier`.
pub(super) fn check(stage: &Stage, earlier: &[Stage], found: &mut Found) {
    let Some(rate) = stage.rate_from else {
        return;
    };
    found.job = None;
    found.prefix = format!("stage `{}`: ", stage.name);
    let mut add = |message: String, hint| found.add("rate_from", message, hint);
    if !(rate.percent > 0.0 && rate.percent <= PERCENT_MAX) {
        let message = format!("{} % is no share of a rate", rate.percent);
        add(message, "give more than 0 % and at most 10000 %");
    }
    match earlier.get(rate.stage) {
        None => add(
            "its rate is to follow from a stage that does not come before it".to_owned(),
            "name an earlier stage",
        ),
        Some(measured) if measured.discard => add(
            format!(
                "`{}`, which its rate follows from, is not reported",
                measured.name
            ),
            "leave `discard` out there",
        ),
        Some(_) => {}
    }
    let measured = earlier.get(rate.stage).map_or(&[][..], |stage| &stage.jobs);
    for (number, job) in stage.jobs.iter().enumerate() {
        let Some(task) = task(job) else {
            continue;
        };
        if measured.get(number).and_then(self::task) != Some(task) {
            let message = format!(
                "job `{}` is on a file set, and the stage that is measured has no job like it in its place",
                job.name
            );
            add(message, "give both stages the same jobs, in one order");
        }
    }
    let paced = |job: &Job| match (job.arrival, job.features.file_work.as_deref()) {
        (_, Some(work)) => work.rate.is_some(),
        (Arrival::Open { rate, .. }, None) => {
            matches!(rate, Pacing::Iops(_)) && job.features.rate_steps.is_none()
        }
        (Arrival::Closed, None) => false,
    };
    let unpaced = stage.jobs.iter().find(|job| !paced(job));
    if let Some(job) = unpaced {
        let message = format!(
            "the stage has `rate_from`, but job `{}` has no rate in I/Os a second",
            job.name
        );
        add(
            message,
            "give each of its jobs an open arrival with a rate in IOPS",
        );
    }
}

fn task(job: &Job) -> Option<FileTask> {
    Some(job.features.file_work.as_deref()?.task)
}
