//! Rates of nothing, and steps of a rate that no open loop can take.

use fathom_units::Nanos;

use crate::{Arrival, Job, Pacing, RATE_STEPS_MAX, RateSteps};

use super::Found;

pub(super) fn check(job: &Job, found: &mut Found) {
    check_arrival(job, found);
    check_rate_steps(job, found);
}

fn check_arrival(job: &Job, found: &mut Found) {
    let Arrival::Open { rate, .. } = job.arrival else {
        return;
    };
    let per_sec = match rate {
        Pacing::Iops(iops) => iops.get(),
        Pacing::Bytes(bytes) => bytes.get(),
    };
    if per_sec == 0 {
        let hint = "give a rate such as `20000/s`, or leave arrival out for a closed loop";
        found.add("arrival", "its rate is 0", hint);
    }
}

fn check_rate_steps(job: &Job, found: &mut Found) {
    let Some(RateSteps { steps, .. }) = job.features.rate_steps.as_deref() else {
        return;
    };
    let mut add = |message: String, hint| found.add("rate_steps", message, hint);
    if job.arrival == Arrival::Closed || job.features.rates.is_some() {
        let message =
            "they say how the rate of an open loop changes, and the job has none".to_owned();
        let hint = "give `arrival` a rate, and leave `rates` out";
        add(message, hint);
    }
    if steps.is_empty() || steps.len() > RATE_STEPS_MAX {
        let message = format!("{} steps; 1 to {RATE_STEPS_MAX} are possible", steps.len());
        add(message, "give fewer, longer steps");
    }
    if steps.iter().any(|step| step.length < Nanos::from_millis(1)) {
        add(
            "a step is shorter than 1 ms".to_owned(),
            "give longer steps",
        );
    }
    let is_none = |rate: Pacing| {
        matches!(rate, Pacing::Iops(iops) if iops.get() == 0)
            || matches!(rate, Pacing::Bytes(bytes) if bytes.get() == 0)
    };
    let rates = || steps.iter().filter_map(|step| step.rate);
    if rates().all(is_none) {
        add("no step has a rate".to_owned(), "give one of them a rate");
    }
    let of_bytes = rates()
        .filter(|rate| matches!(rate, Pacing::Bytes(_)))
        .count();
    if of_bytes > 0 && of_bytes < rates().count() {
        let message = "some rates are in I/Os and others in bytes".to_owned();
        add(message, "give all in one of them");
    }
}
