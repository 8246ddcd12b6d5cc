//! Whether a run that was stopped had measured enough of what was asked for.
//!
//! What ends by itself has measured all that it was to, however soon: a steady state, a rate not kept up, a size. So only the
//! stage that the stop ended is looked at, and of it only the workers that it ended; then how many stages never began.

use fathom_units::{Bytes, group_digits};
use fathom_workload::{Access, Job, SequentialScope, Stage};

use super::{Evidence, check, jobs};
use crate::{Check, EndReason, StageResult, WorkerStats};

/// With less than half, more is unknown than known: a device that slows down after a minute, for one.
const LEAST_SHARE: f64 = 0.5;

/// Judges a run that was stopped; nothing, where it is not known how much of what was asked for it measured.
pub(super) fn cut_short(evidence: &Evidence<'_>) -> Option<Check> {
    let ended = evidence.results.last();
    let parts = ended.map_or(Vec::new(), |result| parts_of(evidence, result));
    let least = parts.into_iter().min_by(|a, b| a.share.total_cmp(&b.share));
    let share = least.as_ref().map(|part| part.share);
    let few = least.filter(|part| part.share < LEAST_SHARE);
    let finding = few.map(|part| part.words);
    let finding = finding.or_else(|| few_stages(evidence, share.unwrap_or(1.0)));
    let is_known = share.is_some() || finding.is_some() || !ended.is_some_and(was_stopped);
    // Even had the last stage done nothing, those before it may be enough.
    (is_known || few_stages(evidence, 0.0).is_none()).then(|| {
        check(
            "cut-short",
            finding,
            "half of what was asked for, or more, was measured before the run was stopped, as far as that is known",
            "let it run to its end; where that takes too long, ask for a shorter time",
        )
    })
}

/// Whether the stop ended it, and not something of its own.
fn was_stopped(result: &StageResult) -> bool {
    let mut workers = result.workers.iter();
    workers.any(|worker| worker.ended == EndReason::Interrupted)
}

/// How much of something a job did.
struct Part {
    share: f64,
    words: String,
}

/// Of each job that the stop ended in `result`, how far it had come by whatever would have ended it first.
fn parts_of(evidence: &Evidence<'_>, result: &StageResult) -> Vec<Part> {
    let last = Evidence {
        results: std::slice::from_ref(result),
        ..*evidence
    };
    let parts = jobs(&last).filter_map(|(_, job, workers)| {
        let mut all = workers.iter();
        let was_stopped = all.any(|worker| worker.ended == EndReason::Interrupted);
        let parts = [
            of_time(job, &workers),
            of_bytes(job, &workers),
            of_ios(job, &workers),
        ];
        let parts = parts.into_iter().flatten().filter(|_| was_stopped);
        let part = parts.max_by(|a, b| a.share.total_cmp(&b.share))?;
        let alone = evidence.workload.stages[result.stage].jobs.len() == 1;
        let name = if alone {
            result.name.clone()
        } else {
            format!("{} in {}", job.name, result.name)
        };
        Some(Part {
            words: format!("{name}: {}", part.words),
            ..part
        })
    });
    parts.collect()
}

fn of_time(job: &Job, workers: &[&WorkerStats]) -> Option<Part> {
    let asked = job.limits.runtime?;
    let measured = workers.iter().map(|worker| worker.measured).max()?;
    Some(Part {
        share: measured.as_secs_f64() / asked.as_secs_f64(),
        words: format!("{measured} of {asked} were measured"),
    })
}

/// What moves no bytes of its targets, or takes them from a trace, has no size that is known here; what a warm-up moves is
/// in no figure.
fn of_bytes(job: &Job, workers: &[&WorkerStats]) -> Option<Part> {
    let (limits, features) = (&job.limits, &job.features);
    let by_size =
        features.file_work.is_none() && features.operation.is_none() && features.replay.is_none();
    let by_size = by_size && features.processor_work.is_none();
    let warms_up = limits.warmup.get() > 0 || features.warmup_bytes > Bytes::ZERO;
    if limits.time_based || !by_size || warms_up {
        return None;
    }
    let lengths = job.targets.iter().map(|target| Some(target.length?.get()));
    let targets = || lengths.sum::<Option<u64>>();
    let pass = limits.bytes.map(Bytes::get).or_else(targets)?;
    let is_shared = matches!(
        job.access,
        Access::Sequential {
            scope: SequentialScope::Shared,
            ..
        }
    );
    let passes = u64::from(limits.loops.max(1));
    let times = if is_shared {
        passes
    } else {
        passes.saturating_mul(u64::from(job.workers))
    };
    let asked = pass.saturating_mul(times);
    let moved = workers.iter().map(|worker| worker.bytes()).sum::<u64>();
    Some(Part {
        share: moved as f64 / asked.max(1) as f64,
        words: format!("{} of {} were moved", Bytes::new(moved), Bytes::new(asked)),
    })
}

fn of_ios(job: &Job, workers: &[&WorkerStats]) -> Option<Part> {
    let each = job.limits.ios.filter(|_| !job.limits.time_based)?;
    let asked = each.saturating_mul(u64::from(job.workers));
    let done = workers.iter().map(|worker| worker.ios()).sum::<u64>();
    Some(Part {
        share: done as f64 / asked.max(1) as f64,
        words: format!(
            "{} of {} I/Os were done",
            group_digits(done),
            group_digits(asked)
        ),
    })
}

/// Whether most stages and repeats were never measured, where of the last one `share` was.
fn few_stages(evidence: &Evidence<'_>, share: f64) -> Option<String> {
    let reported = || {
        evidence
            .workload
            .stages
            .iter()
            .filter(|stage| !stage.discard)
    };
    let repeats = |stage: &Stage| u64::from(stage.repeats.max(1));
    let asked: u64 = reported().map(repeats).sum();
    let begun = evidence.results.len();
    let measured = begun.saturating_sub(1) as f64 + share;
    let what = match reported().count() {
        1 => "repeats",
        stages if stages as u64 == asked => "stages",
        _ => "stages and repeats",
    };
    let were = if begun == 1 { "was" } else { "were" };
    (measured < asked as f64 * LEAST_SHARE)
        .then(|| format!("{begun} of {asked} {what} {were} measured"))
}
