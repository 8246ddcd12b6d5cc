//! Whether jobs kept the I/Os outstanding that they asked for, and what to do where one did not.
//!
//! The remedy is that of the job: who runs an asynchronous engine already is not told to use one.

use fathom_units::Nanos;
use fathom_workload::{Arrival, Backend, Caching, Job};

use super::processor::{MOST_LIMITED, MOST_WAITED};
use super::{Evidence, before_colon, check, jobs};
use crate::{Check, RunKind, StageResult, WorkerStats};

const LEAST_SHARE: f64 = 0.9;

/// A closed loop that keeps less than 90 % of its depth outstanding measures something else than was asked for.
pub(super) fn achieved_depth(evidence: &Evidence<'_>) -> Check {
    let found = jobs(evidence).find_map(|(result, job, workers)| {
        let words = shallow(job, &workers)?;
        Some((words, remedy(evidence.kind, result, (job, &workers))))
    });
    let (finding, remedy) = found.unzip();
    check(
        "achieved-depth",
        finding,
        "every job kept its queue depth",
        &format!(
            "{}; the figures are those of the lower depth",
            remedy.unwrap_or_default()
        ),
    )
}

/// What a job kept outstanding, where that is too little.
fn shallow(job: &Job, workers: &[&WorkerStats]) -> Option<String> {
    let wanted = f64::from(job.effective_depth());
    let time: u64 = workers.iter().map(|worker| worker.measured.get()).sum();
    let outstanding: u128 = workers.iter().map(|worker| worker.outstanding_ns).sum();
    // Work on a file set waits for its turn, and does much between its calls that is no I/O; an operation on a file
    // blocks its worker whatever the engine.
    let on_set = job.features.file_work.is_some() || job.features.operation.is_some();
    let judged = keeps_its_depth(job) && job.backend != Backend::Null && !on_set && time > 0;
    let long_enough = workers
        .iter()
        .all(|worker| worker.measured >= Nanos::from_millis(100));
    let achieved = outstanding as f64 / time.max(1) as f64;
    (judged && long_enough && achieved < wanted * LEAST_SHARE).then(|| {
        format!(
            "{}: {achieved:.1} I/Os outstanding of {wanted:.0} asked for, per worker",
            before_colon(&job.name)
        )
    })
}

/// Whether nothing but the storage and the engine keeps a job from its depth: no rate, and no pause that it asks for.
pub(super) fn keeps_its_depth(job: &Job) -> bool {
    let features = &job.features;
    let pauses = features.think.is_some()
        || features.think_cycles > 0
        || features.flow.is_some()
        || features.latency_target.is_some()
        || features.replay.is_some()
        || features.lines.iter().any(|line| line.delay > Nanos::ZERO);
    job.arrival == Arrival::Closed && features.rates.is_none() && !pauses
}

/// What raises the depth of such a job.
fn remedy(
    kind: RunKind,
    result: &StageResult,
    (job, workers): (&Job, &[&WorkerStats]),
) -> &'static str {
    if kind == RunKind::Predict {
        return "measure longer, or ask for a lower depth: the job had no more I/Os to begin";
    }
    if result.limited_share > MOST_LIMITED {
        return "give the container more processor time: its limit held the workers back";
    }
    let waited = WorkerStats::waited_share(workers.iter().copied());
    if waited.is_some_and(|share| share > MOST_WAITED) {
        return "use no more workers than processors, and end what else runs here: the workers waited for a processor";
    }
    match (job.backend, job.caching) {
        (Backend::Sync | Backend::Mmap, _) => {
            "use more workers, or an asynchronous engine with direct I/O: this one waits for each I/O, and its own work comes between them"
        }
        (Backend::Nbd, _) => {
            "use more workers, or a lower depth: the server answered I/Os sooner than one worker begins the next"
        }
        (_, Caching::Buffered) => {
            "use direct I/O, or more workers: buffered I/O that the page cache can take or give is over before the next begins, whatever the engine"
        }
        (Backend::IoUring | Backend::Libaio | Backend::Null, Caching::Direct) => {
            "use more workers, or a lower depth: I/Os were over sooner than one worker begins the next, or the file system ends each before it takes another"
        }
    }
}
