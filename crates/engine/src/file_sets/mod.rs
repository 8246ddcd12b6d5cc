//! The file sets of a run: whose they are, what is there of them, and their removal.
//!
//! A set stands in a directory of its own, its anchor. Nothing is written to a directory that holds what Fathom did not
//! make, unless the user or the peer whose input it is allows that; and nothing but directories and files with the names
//! of a set is ever removed. An anchor that we made, or found empty, bears the mark of a file that we laid out. Vdbench's
//! own state, `vdb_control.file`, is neither read nor written: it says what Vdbench believes to be there, and Fathom
//! looks itself.

mod clean;
mod scan;
mod start;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_workload::generator::SetState;
use fathom_workload::{FileSet, FileTask, SetFormat, Stage, is_set_directory};

pub(crate) use self::clean::{Removal, clean};
pub(crate) use self::start::SetStart;
use crate::targets::{Kind, Object, Targets};
use crate::{EngineError, Overwrite, Refusal, RunOptions, marker};

/// Vdbench's state of a set.
const CONTROL_FILE: &str = "vdb_control.file";
/// What a new file system has, and no user put there.
const LOST_AND_FOUND: &str = "lost+found";
/// Most names of others that a refusal tells.
const NAMES_TOLD: usize = 3;

/// What is at an anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// Whether there is a directory.
    pub(crate) exists: bool,
    /// Whether it bears our mark.
    pub(crate) ours: bool,
    /// Whether anything is in it.
    pub(crate) empty: bool,
    /// The first names in it that are none of a set.
    pub(crate) foreign: Vec<String>,
}

/// Looks at the directory of a set.
///
/// # Errors
/// Where there is something else at its path, or it cannot be read.
pub(crate) fn look(path: &Path) -> io::Result<Anchor> {
    let mut anchor = Anchor {
        exists: false,
        ours: false,
        empty: true,
        foreign: Vec::new(),
    };
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(anchor),
        entries => entries?,
    };
    anchor.exists = true;
    anchor.ours = fs::File::open(path).is_ok_and(|directory| marker::is_ours(&directory));
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name == LOST_AND_FOUND {
            continue;
        }
        anchor.empty = false;
        let name = name.to_string_lossy();
        let of_set = is_set_directory(&name) && entry.file_type()?.is_dir();
        if !of_set && name != CONTROL_FILE && anchor.foreign.len() <= NAMES_TOLD {
            anchor.foreign.push(name.into_owned());
        }
    }
    Ok(anchor)
}

/// Why a set must not be changed, where it must not.
pub(crate) fn judge(object: &Object, anchor: &Anchor, options: &RunOptions) -> Option<Refusal> {
    let is_others = object.only_ours && !anchor.ours && !anchor.empty;
    if !is_others || options.overwrite != Overwrite::Refuse {
        return None;
    }
    let mut names: Vec<String> = (anchor.foreign.iter().take(NAMES_TOLD))
        .map(|name| format!("`{name}`"))
        .collect();
    if anchor.foreign.len() > NAMES_TOLD {
        names.push("more".to_owned());
    }
    let found = if names.is_empty() {
        "it holds a file set, and Fathom did not make it".to_owned()
    } else {
        format!("it holds {}, and Fathom did not make it", names.join(", "))
    };
    Some(Refusal {
        path: object.path.clone(),
        found: vec![found],
        remedy: "name an empty directory, or add `--overwrite`: directories and files with the names of a set are then \
                 written and removed, and all others left alone"
            .to_owned(),
    })
}

/// The sets of a run, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct FileSets {
    /// By object: the set that was last worked on there.
    known: Mutex<BTreeMap<usize, Arc<SetState>>>,
}

impl FileSets {
    /// Makes the anchors that are missing, and marks those that are ours from now on.
    ///
    /// # Errors
    /// Where that cannot be done.
    pub(crate) fn prepare(targets: &Targets) -> Result<(), EngineError> {
        for object in &targets.objects {
            let Kind::FileSet { full, anchor } = &object.kind else {
                continue;
            };
            if !object.written {
                continue;
            }
            if !anchor.exists {
                let made = fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(full);
                made.map_err(|error| EngineError::target(&object.path, "making it", error))?;
            }
            if anchor.empty
                && let Ok(directory) = fs::File::open(full)
            {
                marker::mark(&directory);
            }
        }
        Ok(())
    }

    /// What is there of each set of a stage's jobs, by job; found out where it is not known from the stage before.
    ///
    /// # Errors
    /// Where it cannot be found out, or a job finds nothing to work on.
    pub(crate) fn of_stage(
        &self,
        stage: &Stage,
        objects: &[Vec<(usize, PathBuf)>],
    ) -> Result<Vec<Vec<Arc<SetState>>>, EngineError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut states = Vec::new();
        for (job, objects) in stage.jobs.iter().zip(objects) {
            let mut of_job = Vec::new();
            let sets = job.targets.iter().map(|target| target.place.file_set());
            for (set, (object, path)) in sets.zip(objects) {
                let Some(set) = set else { continue };
                let state = match known.get(object).filter(|state| state.set() == set) {
                    Some(state) => Arc::clone(state),
                    None => scan(set, path, is_cleaned(stage, set))?,
                };
                state.begin_stage();
                known.insert(*object, Arc::clone(&state));
                of_job.push(state);
            }
            states.push(of_job);
        }
        drop(known);
        for (job, of_job) in stage.jobs.iter().zip(&states) {
            if let (Some(work), Some(state)) = (&job.features.file_work, of_job.first()) {
                check_start(stage, work.task, state)?;
            }
        }
        Ok(states)
    }
}

fn is_cleaned(stage: &Stage, set: &FileSet) -> bool {
    stage.jobs.iter().any(|job| {
        let cleans = matches!(
            job.features.file_work.as_ref().map(|work| work.task),
            Some(FileTask::Format(SetFormat::Anew | SetFormat::Clean))
        );
        let sets = job.targets.iter();
        let mut sets = sets.filter_map(|target| target.place.file_set());
        cleans && sets.any(|other| other.anchor == set.anchor)
    })
}

fn scan(set: &FileSet, path: &Path, cleaned: bool) -> Result<Arc<SetState>, EngineError> {
    let state = SetState::new(set);
    let found = scan::scan(&state, path);
    let strays =
        found.map_err(|error| EngineError::target(&set.anchor, "looking through it", error))?;
    if let Some(stray) = strays.filter(|_| !cleaned) {
        let what = format!(
            "`{stray}` is no part of a set of this depth, width and number of files: one of another shape is there; \
             remove that first, with a stage whose `file_work` is \"clean\" or \"format\" (Vdbench: `format=yes`)"
        );
        let error = io::Error::other(what);
        return Err(EngineError::target(
            &set.anchor,
            "looking through it",
            error,
        ));
    }
    Ok(Arc::new(state))
}

/// A job that finds nothing to work on would end at once, and seem to have measured something.
fn check_start(stage: &Stage, task: FileTask, state: &SetState) -> Result<(), EngineError> {
    const MAKE: &str =
        "make them first, with a stage whose `file_work` is \"format\" (Vdbench: `format=yes`)";
    const REMOVE: &str =
        "remove them first, with a stage whose `file_work` is \"clean\" (Vdbench: `format=clean`)";
    let others = |fits: fn(FileTask) -> bool| {
        let works = stage
            .jobs
            .iter()
            .filter_map(|job| job.features.file_work.as_ref());
        works.map(|work| work.task).any(fits)
    };
    let no_directories = state.existing_directories() == 0
        && !others(|task| matches!(task, FileTask::MakeDirectory | FileTask::Format(_)));
    let all_directories = state.existing_directories() == state.set().directory_count()
        && !others(|task| task == FileTask::RemoveDirectory);
    let no_files = state.existing_files() == 0
        && !others(|task| {
            matches!(
                task,
                FileTask::Create | FileTask::Write | FileTask::Format(_)
            )
        });
    let all_files = state.existing_files() == state.set().file_count()
        && !others(|task| matches!(task, FileTask::Delete | FileTask::Move));
    let found = match task {
        FileTask::Format(_) => None,
        FileTask::MakeDirectory => {
            all_directories.then_some(("all its directories are there already", REMOVE))
        }
        FileTask::Create if all_files => Some(("all its files are there already", REMOVE)),
        FileTask::RemoveDirectory | FileTask::Create | FileTask::Write => {
            no_directories.then_some(("it has no directories", MAKE))
        }
        _ => no_files.then_some(("it has no files", MAKE)),
    };
    let Some((what, remedy)) = found else {
        return Ok(());
    };
    let error = io::Error::other(format!("{what}; {remedy}"));
    Err(EngineError::target(
        &state.set().anchor,
        "working on it",
        error,
    ))
}
