//! Missing directories above the files of a run.
//!
//! A job that asks for it (`make_parents`) has them made, with rights for their owner alone, as fio makes them. They stay behind
//! the run, whatever becomes of its files, but where the first stage does not begin: then those that hold nothing go again.
//!
//! A misspelt mount point is such a directory too, and would have the files written to another disk than was meant, so that
//! each run that makes some says which.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::EngineError;
use crate::targets::{Kind, Object, Targets, standing};

/// Directories that a note names at most.
const NAMED_MAX: usize = 5;

/// The directories that were made, in the order of making.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    made: Vec<PathBuf>,
    kept: Cell<bool>,
}

impl Parents {
    /// Makes all that are missing.
    ///
    /// # Errors
    /// The first that cannot be made; those before it are gone again.
    pub(crate) fn make(targets: &Targets) -> Result<Self, EngineError> {
        let mut parents = Self::default();
        for object in &targets.objects {
            for directory in missing(object) {
                match fs::DirBuilder::new().mode(0o700).create(&directory) {
                    Ok(()) => parents.made.push(directory),
                    // It has been made since it was looked for.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => {
                        let name = directory.display().to_string();
                        return Err(EngineError::target(&name, "making this directory", error));
                    }
                }
            }
        }
        Ok(parents)
    }

    /// A stage has begun: they stay.
    pub(crate) fn keep(&self) {
        self.kept.set(true);
    }
}

impl Drop for Parents {
    fn drop(&mut self) {
        if !self.kept.get() {
            for directory in self.made.iter().rev() {
                // What is not empty any more stays.
                let _ = fs::remove_dir(directory);
            }
        }
    }
}

/// What a user should know of the directories that a run makes; `None` where it makes none.
pub(crate) fn note(targets: &Targets) -> Option<String> {
    let all = targets.objects.iter().filter_map(|object| {
        let deepest = missing(object).pop()?;
        Some((standing(&deepest).to_owned(), deepest))
    });
    let all: BTreeSet<(PathBuf, PathBuf)> = all.collect();
    let (there, _) = all.first()?;
    let quoted = |path: &Path| format!("`{}`", path.display());
    let named: Vec<_> = all.iter().map(|(_, path)| quoted(path)).collect();
    let more = match named.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (them, are) = match named.len() {
        1 => ("the missing directory", "it lies"),
        _ => ("the missing directories", "they lie"),
    };
    Some(format!(
        "{them} {}{more} will be made, with all above: {are} on the file system of {}; where one was to be the place of a \
         mount, end the run and mount it first",
        named[..named.len().min(NAMED_MAX)].join(", "),
        quoted(there),
    ))
}

/// The directories above a file that are not there, from the highest to the deepest.
fn missing(object: &Object) -> Vec<PathBuf> {
    let Kind::File {
        full,
        existing: None,
    } = &object.kind
    else {
        return Vec::new();
    };
    let above = full.ancestors().skip(1);
    let mut missing: Vec<_> = above
        .take_while(|directory| !directory.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}
