//! What contradicts itself in a workload.
//!
//! Every dialect's reader ends here, so that nothing impossible reaches the engine or the simulator, whoever wrote it. All
//! contradictions are told at once.

mod batches;
mod calls;
mod ends;
mod exports;
mod file_set;
mod files;
mod lines;
mod minimum;
mod pace;
mod placement;
mod processor_work;
mod rate_from;
mod requests;
mod targets;
mod validation;
mod verify;

pub use exports::unknown_to_exports;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;

use crate::{Caching, Job, Stage, Workload};

/// Most workers of one job: more threads than any host carries.
pub const WORKERS_MAX: u32 = 65_536;
/// Most I/Os outstanding per worker.
pub const DEPTH_MAX: u32 = 1 << 20;
/// Most repeats of a stage.
pub const REPEATS_MAX: u32 = 10_000;
/// Most stages of a workload.
pub const STAGES_MAX: usize = 10_000;
/// Most jobs over all stages.
pub const JOBS_MAX: usize = 100_000;

/// Direct I/O is done in multiples of this at least; many devices ask for 4 KiB.
const DIRECT_UNIT: Bytes = Bytes::new(512);

/// Checks a workload for contradictions.
///
/// # Errors
/// All contradictions found, each naming its stage and job. They have no location, since any dialect may have been the
/// source.
pub fn validate(workload: &Workload) -> Result<(), Diagnostics> {
    let problems = problems(workload);
    if problems.is_empty() {
        return Ok(());
    }
    let diagnostics = problems.into_iter().map(Problem::into_diagnostic);
    Err(Diagnostics(diagnostics.collect()))
}

/// One contradiction, with the place in the model it is about.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Index of the stage.
    pub(crate) stage: Option<usize>,
    /// Index of the job within the stage.
    pub(crate) job: Option<usize>,
    /// The key of the native file that is at fault.
    pub(crate) key: &'static str,
    message: String,
    /// How many bytes of the message name the stage and the job.
    prefix: usize,
    hint: &'static str,
}

/// A contradiction for a reader that knows what in its own text a job came from.
#[derive(Debug)]
pub struct Contradiction {
    /// Index of the stage.
    pub stage: Option<usize>,
    /// Index of the job within the stage.
    pub job: Option<usize>,
    /// Whether it is about what the job works on.
    pub is_of_target: bool,
    /// What is wrong, without the names of stage and job.
    pub message: String,
    /// What to do.
    pub hint: &'static str,
    /// The complaint for whoever knows no place.
    pub diagnostic: Diagnostic,
}

/// What [`validate`] finds, for readers that tell it in their own places.
pub fn contradictions(workload: &Workload) -> Vec<Contradiction> {
    let found = problems(workload).into_iter();
    let found = found.map(|problem| Contradiction {
        stage: problem.stage,
        job: problem.job,
        is_of_target: problem.key == "target",
        message: problem.message[problem.prefix..].to_owned(),
        hint: problem.hint,
        diagnostic: problem.into_diagnostic(),
    });
    found.collect()
}

impl Problem {
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic::error(self.message).hint(self.hint)
    }
}

/// All contradictions of a workload.
pub(crate) fn problems(workload: &Workload) -> Vec<Problem> {
    let mut found = Found {
        problems: Vec::new(),
        texts: 0,
        stage: None,
        job: None,
        prefix: String::new(),
    };
    if workload.stages.is_empty() {
        found.add(
            "stage",
            "the workload has no stages",
            "give at least one stage",
        );
    }
    if workload.stages.len() > STAGES_MAX || workload.jobs().count() > JOBS_MAX {
        let message = format!("the workload has over {STAGES_MAX} stages or {JOBS_MAX} jobs");
        found.add("stage", message, "split it, or give a job more workers");
        return found.problems;
    }
    let mut names = std::collections::HashSet::new();
    for (index, stage) in workload.stages.iter().enumerate() {
        found.stage = Some(index);
        found.job = None;
        found.prefix = format!("stage `{}`: ", stage.name);
        if !names.insert(stage.name.as_str()) {
            found.add("name", "another stage has this name", "give each its own");
        }
        check_stage(stage, &mut found);
        rate_from::check(stage, &workload.stages[..index], &mut found);
    }
    found.problems
}

/// Contradictions are told until their texts have this many bytes: a hundred thousand jobs may all have the same one.
const TEXTS_MAX: usize = 4 << 20;

struct Found {
    problems: Vec<Problem>,
    /// Bytes of their texts.
    texts: usize,
    stage: Option<usize>,
    job: Option<usize>,
    prefix: String,
}

impl Found {
    fn add(&mut self, key: &'static str, message: impl AsRef<str>, hint: &'static str) {
        if self.texts > TEXTS_MAX {
            return;
        }
        self.texts += self.prefix.len() + message.as_ref().len();
        self.problems.push(Problem {
            stage: self.stage,
            job: self.job,
            key,
            message: format!("{}{}", self.prefix, message.as_ref()),
            prefix: self.prefix.len(),
            hint,
        });
    }

    fn in_range(&mut self, key: &'static str, value: u32, max: u32, what: &str) {
        if value == 0 {
            self.add(key, format!("it has 0 {what}"), "give at least 1");
        } else if value > max {
            let message = format!("it has {value} {what}; at most {max} are possible");
            self.add(key, message, "give fewer");
        }
    }
}

fn check_stage(stage: &Stage, found: &mut Found) {
    if stage.name.is_empty() {
        found.add("name", "it has no name", "name it after what it measures");
    }
    if stage.jobs.is_empty() {
        found.add("job", "it has no jobs", "give it at least one job");
    }
    found.in_range("repeats", stage.repeats, REPEATS_MAX, "repeats");
    for (index, job) in stage.jobs.iter().enumerate() {
        found.job = Some(index);
        found.prefix = format!("job `{}`: ", job.name);
        check_job(job, found);
    }
}

fn check_job(job: &Job, found: &mut Found) {
    found.in_range("workers", job.workers, WORKERS_MAX, "workers");
    found.in_range("depth", job.depth, DEPTH_MAX, "I/Os outstanding");
    requests::check(job, found);
    verify::check(job, found);
    validation::check(job, found);
    placement::check(job, found);
    batches::check(job, found);
    calls::check(job, found);
    lines::check(job, found);
    file_set::check(job, found);
    files::check(job, found);
    exports::check(job, found);
    pace::check(job, found);
    minimum::check(job, found);
    processor_work::check(job, found);
    ends::check(job, found);
    if job.targets.is_empty() {
        found.add(
            "target",
            "it has no target",
            "name a file, a device or a directory",
        );
    }
    for target in &job.targets {
        if target.place.file_set().is_none() {
            targets::check(target, job, found);
        }
    }
    if job.caching == Caching::Direct && job.backend.opens_files() {
        requests::check_direct(job, found);
    }
}

#[cfg(test)]
mod tests;
