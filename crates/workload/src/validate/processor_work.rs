//! What contradicts itself in a job that works in place of I/O.

use fathom_units::{Nanos, Percent};

use crate::{Arrival, Backend, Features, Job, Mix, ProcessorWork};

use super::Found;

pub(super) fn check(job: &Job, found: &mut Found) {
    let features = &job.features;
    let Some(work) = features.processor_work else {
        return;
    };
    let mut add = |message: &str, hint| found.add("processor_work", message, hint);
    if work.share == Percent::ZERO {
        add("its share of a processor is 0", "give 1% to 100%");
    }
    if work.burst == Nanos::ZERO || work.burst > ProcessorWork::BURST_MAX {
        let message = format!("its bursts are {} long", work.burst);
        add(&message, "give 1us to 4294s");
    }
    if job.backend != Backend::Null {
        let message = "it does no I/O, and has a backend for some";
        add(message, "say `backend = \"null\"`");
    }
    if job.arrival != Arrival::Closed {
        let message = "it has a rate, and bursts follow each other by its share alone";
        add(message, "leave `arrival` out");
    }
    if job.mix != Mix::READ {
        add("it has a mix, and moves no data", "leave `mix` out");
    }
    for what in beside(features) {
        let message = format!("it has {what} beside work in place of I/O");
        add(&message, "leave one of them out");
    }
}

/// What is of I/O alone.
fn beside(features: &Features) -> Vec<&'static str> {
    let all = [
        (features.think.is_some(), "pauses of its own (`think`)"),
        (features.verify.is_some(), "checks (`verify`)"),
        (features.validate.is_some(), "checks (`validate`)"),
        (features.rates.is_some(), "rates"),
        (features.minimum.is_some(), "rates to keep up"),
        (features.rate_steps.is_some(), "steps of a rate"),
        (features.flow.is_some(), "a share in a flow"),
        (features.latency_target.is_some(), "a search for a depth"),
        (features.steady.is_some(), "an end by steady results"),
        (!features.lines.is_empty(), "lines of its own sizes"),
        (features.operation.is_some(), "an operation on files"),
        (features.file_work.is_some(), "work on a file set"),
        (features.replay.is_some(), "a trace that it replays"),
        (features.trace_to.is_some(), "a trace that it writes"),
    ];
    let found = all.into_iter().filter(|(is_there, _)| *is_there);
    found.map(|(_, what)| what).collect()
}
