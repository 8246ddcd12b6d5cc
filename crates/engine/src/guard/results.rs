//! What a run writes beside its I/O: traces, states, saved data, output of commands, and what a caller adds.
//!
//! None of it may go to a block device, nor to a file that is the storage of something else, whatever `--destroy-data` says:
//! that allows the I/O of jobs, and a name that is mistyped is asked for by nobody. All of it is looked at before the run
//! begins, and again by the handle when it is opened ([`fathom_rawio::open_results`]).

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use fathom_rawio::{is_refusal_of_results, look_for_results};
use fathom_workload::{Job, Workload};

use crate::shell::{self, When};
use crate::worker::{state_part, trace_file};
use crate::{EngineError, Refusal, merged};

/// What is found at a path that results are not written to; `None` where they may be.
fn judge_result(path: &Path) -> Option<Refusal> {
    let error = look_for_results(path).err()?;
    Some(refusal(&path.display().to_string(), &error))
}

fn refusal(path: &str, found: &io::Error) -> Refusal {
    Refusal {
        path: path.to_owned(),
        found: vec![found.to_string()],
        remedy: "name another file in its place; `--destroy-data` allows the I/O of jobs alone"
            .to_owned(),
    }
}

/// Refuses each of `paths` that results must not be written to: what a caller writes beside what the workload says.
///
/// # Errors
/// [`EngineError::Refused`]: block devices and files in use as such, all at once.
pub fn refuse_results<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
) -> Result<(), EngineError> {
    let paths = paths.into_iter();
    let refusals: Vec<_> = paths
        .filter_map(|path| judge_result(path.as_ref()))
        .collect();
    if refusals.is_empty() {
        Ok(())
    } else {
        Err(EngineError::Refused(refusals))
    }
}

/// Why results are not at `path`: a refusal of the guard's, or what the system said while `action` was tried.
pub(crate) fn unwritten(path: &str, action: &'static str, error: io::Error) -> EngineError {
    if is_refusal_of_results(&error) {
        return EngineError::Refused(vec![refusal(path, &error)]);
    }
    EngineError::target(path, action, error)
}

/// Every refusal of what the jobs of `workload` write beside their I/O, each path once.
pub(crate) fn judge_results_of(workload: &Workload) -> Vec<Refusal> {
    let jobs = workload.jobs();
    let mut paths: BTreeSet<String> = jobs.flat_map(|(_, job)| written_by(job)).collect();
    for (into, _) in merged::wanted(workload) {
        paths.extend([into.to_owned(), merged::unfinished(into)]);
    }
    let paths = paths.iter().map(Path::new);
    paths.filter_map(judge_result).collect()
}

/// Paths of what a job writes beside its I/O. The names of saved data are made of offsets that nobody knows before.
fn written_by(job: &Job) -> Vec<String> {
    let features = &job.features;
    let mut paths = Vec::new();
    for (command, when) in [
        (&features.process.command_before, When::Before),
        (&features.process.command_after, When::After),
    ] {
        paths.extend(command.iter().map(|_| shell::output_path(&job.name, when)));
    }
    if let Some(path) = &features.trace_to {
        paths.extend((0..job.workers).map(|worker| trace_file(path, worker)));
    }
    let verify = features.verify.as_deref();
    if let Some(path) = verify.and_then(|verify| verify.save_state.as_deref()) {
        paths.extend([path.to_owned(), state_part(path)]);
    }
    paths
}
