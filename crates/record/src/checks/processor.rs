//! Whether the workers had the processor time that they needed.

use fathom_units::Nanos;
use fathom_workload::{Backend, Job};

use super::{Evidence, check, jobs};
use crate::{Check, WorkerStats};

/// A worker whose own user time takes most of a core measures itself, and workers that wait for one measure who has it.
pub(super) fn generator_headroom(evidence: &Evidence<'_>) -> Check {
    let finding = jobs(evidence).find_map(|(_, job, workers)| {
        (job.backend != Backend::Null)
            .then(|| busy_worker(job, &workers).or_else(|| waiting_workers(job, &workers)))?
    });
    check(
        "generator-headroom",
        finding,
        "the workers had processor time to spare",
        "use a cheaper buffer content and more workers, but no more than processors, and end what else runs here",
    )
}

fn busy_worker(job: &Job, workers: &[&WorkerStats]) -> Option<String> {
    let busy = workers.iter().find(|worker| {
        worker.measured > Nanos::from_millis(100)
            && worker.usage.user.get() > worker.measured.get() / 10 * 8
    })?;
    let share = busy.usage.user.get() as f64 / busy.measured.get() as f64 * 100.0;
    Some(format!(
        "{}: a worker spent {share:.0} % of its time in its own code",
        job.name
    ))
}

/// Where a fifth of the time is waited away, most latencies of storage that answers soon hold some of it.
pub(super) const MOST_WAITED: f64 = 0.2;

fn waiting_workers(job: &Job, workers: &[&WorkerStats]) -> Option<String> {
    let share = WorkerStats::waited_share(workers.iter().copied())?;
    (share > MOST_WAITED).then(|| {
        format!(
            "{}: {:.0} % of the workers' time went by in waiting for a processor",
            job.name,
            share * 100.0
        )
    })
}

/// What a limit of the container holds back for more than one time in twenty measures the limit: the 95th percentile of
/// latency holds it too.
pub(super) const MOST_LIMITED: f64 = 0.05;

pub(super) fn processor_limit(evidence: &Evidence<'_>) -> Check {
    let mut results = evidence.results.iter();
    let finding = results.find(|result| result.limited_share > MOST_LIMITED);
    let finding = finding.map(|result| {
        format!(
            "{}: the processor limit of this container held what runs in it back for {:.0} % of the time",
            result.name,
            result.limited_share * 100.0
        )
    });
    check(
        "processor-limit",
        finding,
        "no processor limit held the workers back for long",
        "give the container more processor time (`cpu.max` of its control group, `--cpus`), end what else runs in it (the kernel \
         counts its programs together), or ask for less I/O: these are the figures of the limit",
    )
}
