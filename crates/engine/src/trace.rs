//! Whether a trace that a job replays fits the job.
//!
//! The write guard judges a job's targets, and buffers are as large as its blocks: a trace that names more files, goes
//! other ways or moves larger blocks than its job says is refused before anything is written. A trace that a job of an
//! earlier stage writes is looked at when the stage that replays it begins: until then it is that of an earlier run, or none.

use std::fs::File;
use std::io::BufReader;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::counted;
use fathom_workload::trace::{TraceReader, TraceSummary, merged_summary};
use fathom_workload::{Direction, Job, Replay, Workload};

use crate::{EngineError, merged};

/// Adds to `problems` what of the traces does not fit that are there before the run, and to `notes` what of them is done
/// otherwise.
pub(crate) fn check_all(workload: &Workload, problems: &mut Diagnostics, notes: &mut Vec<String>) {
    merged::check_all(workload, problems);
    let mut known = Known::default();
    for (index, stage) in workload.stages.iter().enumerate() {
        let there = (stage.jobs.iter()).filter(|job| !is_recorded_before(workload, index, job));
        for job in there {
            if let Some(summary) = check(job, &mut known, problems) {
                notes.extend(note_on_zeroes(job, &summary));
            }
        }
    }
}

/// The traces that were looked through, each once however many jobs share it: with what of [`Replay`] they were read, but
/// for the files that are one job's.
#[derive(Debug, Default)]
struct Known(Vec<(Replay, Result<TraceSummary, String>)>);

impl Known {
    /// What `replay` comes to; the sentence on what is wrong names the trace where several are merged.
    fn summary(&mut self, replay: &Replay) -> Result<TraceSummary, String> {
        let whole = Replay {
            files: Vec::new(),
            redirected: false,
            ..replay.clone()
        };
        let known = self.0.iter().position(|(known, _)| *known == whole);
        let at = known.unwrap_or_else(|| {
            let summary = summary(&whole);
            self.0.push((whole, summary));
            self.0.len() - 1
        });
        let summary = self.0[at].1.as_ref().map_err(Clone::clone)?;
        Ok(match replay.files.as_slice() {
            [] => summary.clone(),
            files => summary.of_files(files),
        })
    }
}

/// Zeroes have no request of their own here.
fn note_on_zeroes(job: &Job, summary: &TraceSummary) -> Option<String> {
    if summary.zeroes == 0 {
        return None;
    }
    let requests = counted(summary.zeroes, ("request", "requests"));
    let name = &job.name;
    Some(format!(
        "job `{name}`: {requests} of its trace wrote zeroes without sending them; they are written as data, in pieces of 1 MiB, \
         which takes longer and wears more"
    ))
}

/// Looks at the traces of a stage that earlier ones have written.
///
/// # Errors
/// What of them does not fit.
pub(crate) fn check_recorded(workload: &Workload, stage: usize) -> Result<(), EngineError> {
    let (mut problems, mut known) = (Diagnostics::default(), Known::default());
    let jobs = workload.stages[stage].jobs.iter();
    for job in jobs.filter(|job| is_recorded_before(workload, stage, job)) {
        check(job, &mut known, &mut problems);
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

/// Adds to `problems` what of the job's trace does not fit; gives what it comes to.
fn check(job: &Job, known: &mut Known, problems: &mut Diagnostics) -> Option<TraceSummary> {
    let replay = job.features.replay.as_ref()?;
    let mut complain = |what: String, hint: &str| {
        let text = format!("job `{}`: {what}", job.name);
        problems.push(Diagnostic::error(text).hint(hint));
    };
    let path = &replay.path;
    let summary = match known.summary(replay) {
        Ok(summary) => summary,
        Err(what) if replay.merged.is_empty() => {
            complain(
                format!("trace `{path}`: {what}"),
                "name a trace that can be read",
            );
            return None;
        }
        Err(what) => {
            complain(what, merged::HINT);
            return None;
        }
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
    Some(summary)
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
