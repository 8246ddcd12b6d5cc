//! What contradicts itself in a rate that follows from an earlier stage.

use super::Found;
use crate::{Arrival, Pacing, Stage};

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
    let paced = |arrival: Arrival| {
        matches!(
            arrival,
            Arrival::Open {
                rate: Pacing::Iops(_),
                ..
            }
        )
    };
    let unpaced = stage.jobs.iter().find(|job| !paced(job.arrival));
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
