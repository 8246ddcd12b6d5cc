//! Whether a trace that a job replays fits the job.
//!
//! The write guard judges a job's targets, and buffers are as large as its blocks: a trace that names more files, goes
//! other ways or moves larger blocks than its job says is refused before anything is written. A trace that a job of an
//! earlier stage writes is looked at when the stage that replays it begins: until then it is that of an earlier run, or none.

use std::fs::File;
use std::io::BufReader;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_workload::trace::{TraceReader, TraceSummary, merged_summary};
use fathom_workload::{Direction, Job, Replay, Workload};

use crate::{EngineError, merged};

/// Adds to `problems` what of the traces does not fit that are there before the run.
pub(crate) fn check_all(workload: &Workload, problems: &mut Diagnostics) {
    merged::check_all(workload, problems);
    for (index, stage) in workload.stages.iter().enumerate() {
        let there = (stage.jobs.iter()).filter(|job| !is_recorded_before(workload, index, job));
        for job in there {
            check(job, problems);
        }
    }
}

/// Looks at the traces of a stage that earlier ones have written.
///
/// # Errors
/// What of them does not fit.
pub(crate) fn check_recorded(workload: &Workload, stage: usize) -> Result<(), EngineError> {
    let mut problems = Diagnostics::default();
    let jobs = workload.stages[stage].jobs.iter();
    for job in jobs.filter(|job| is_recorded_before(workload, stage, job)) {
        check(job, &mut problems);
    }
    if problems.has_errors() {
        return Err(EngineError::Invalid(problems));
    }
    Ok(())
}

/// Whether a job of a stage before `stage` writes the trace that `job` replays.
fn is_recorded_before(workload: &Workload, stage: usize, job: &Job) -> bool {
    let Some(replay) = &job.features.replay else {
        return false;
    };
    let mut earlier = workload.stages[..stage]
        .iter()
        .flat_map(|stage| &stage.jobs);
    earlier.any(|other| other.features.trace_to.as_ref() == Some(&replay.path))
}

/// Adds to `problems` what of the job's trace does not fit.
fn check(job: &Job, problems: &mut Diagnostics) {
    let Some(replay) = &job.features.replay else {
        return;
    };
    let mut complain = |what: String, hint: &str| {
        let text = format!("job `{}`: {what}", job.name);
        problems.push(Diagnostic::error(text).hint(hint));
    };
    let path = &replay.path;
    let summary = match summary(replay) {
        Ok(summary) => summary,
        Err(what) if replay.merged.is_empty() => {
            let what = format!("trace `{path}`: {what}");
            return complain(what, "name a trace that can be read");
        }
        Err(what) => return complain(what, merged::HINT),
    };
    let mut complain = |what: String, hint: &str| {
        complain(format!("trace `{path}`: {what}"), hint);
    };
    let (files, targets) = (summary.files.len(), job.targets.len());
    if !replay.redirected && files > targets {
        let what = format!("it names {files} files, but the job has {targets} targets");
        complain(
            what,
            "name its files as targets, in the order in which it names them",
        );
    }
    for way in Direction::ALL {
        let largest = summary.largest[way as usize];
        if largest == 0 {
            continue;
        }
        if job.mix.share(way).basis_points() == 0 {
            let what = format!("it has {}s, which the job's mix leaves out", way.name());
            complain(what, "give them a share of the mix, or skip them");
        }
        let sizes = job.block.of(way).iter().map(|entry| entry.size.get());
        let most = sizes.max().unwrap_or(0);
        // Trims take no buffer.
        if way != Direction::Trim && u64::from(largest) > most {
            let what = format!(
                "its largest {} has {largest} bytes, but the job's blocks at most {most}",
                way.name()
            );
            complain(what, "make the job's block as large");
        }
    }
}

/// The sentence on what is wrong names the trace where several are merged.
fn summary(replay: &Replay) -> Result<TraceSummary, String> {
    if !replay.merged.is_empty() {
        return merged_summary(&merged::open, replay);
    }
    let file = File::open(&replay.path).map_err(|error| error.to_string())?;
    let trace = TraceReader::new(Box::new(BufReader::new(file)));
    let summary = trace.and_then(|trace| TraceSummary::of(trace, replay));
    summary.map_err(|error| error.to_string())
}
