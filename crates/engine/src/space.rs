//! Whether what a run writes fits, asked before anything is written.
//!
//! Files that are laid out, or whose space is reserved, count by what they lack; files that jobs fill as they go do not. A
//! file set that is formatted counts whole where its directory is empty.
//! Where files of a set are there already, a format may remove or keep them, and nothing is said.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_rawio as rawio;
use fathom_units::Bytes;
use fathom_workload::{FileTask, SetFormat, Workload};

use crate::EngineError;
use crate::preflight::short_size;
use crate::targets::{Kind, Object, Targets, standing, standing_above};

/// Whether everything to be written fits, for each file system at once.
///
/// # Errors
/// [`EngineError::NoSpace`] of the first file system on which it does not; [`EngineError::Target`] where it cannot be asked.
pub(crate) fn check(workload: &Workload, targets: &Targets) -> Result<(), EngineError> {
    let formats = formats(workload, targets);
    let mut needs: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    for (place, object) in targets.objects.iter().enumerate() {
        let Some((directory, bytes)) = need(object, formats.get(&place)) else {
            continue;
        };
        let metadata = fs::metadata(directory).map_err(|error| {
            EngineError::target(&object.path, "looking at its directory", error)
        })?;
        let need = needs
            .entry(metadata.dev())
            .or_insert_with(|| (directory.to_owned(), 0));
        need.1 = need.1.saturating_add(bytes);
    }
    for (directory, needed) in needs.into_values() {
        let name = directory.display().to_string();
        let free = rawio::free_space(&directory)
            .map_err(|error| EngineError::target(&name, "asking for its free space", error))?;
        if Bytes::new(needed) > free {
            return Err(EngineError::NoSpace {
                directory: name,
                needed: Bytes::new(needed),
                free,
            });
        }
    }
    Ok(())
}

/// Bytes of the file sets that a job formats, by object: the largest where several do.
fn formats(workload: &Workload, targets: &Targets) -> BTreeMap<usize, u64> {
    let mut formats = BTreeMap::new();
    for ((_, job), of_job) in workload.jobs().zip(&targets.jobs) {
        let task = job.features.file_work.as_ref().map(|work| work.task);
        let Some(FileTask::Format(SetFormat::Anew | SetFormat::Complete)) = task else {
            continue;
        };
        for (target, object) in job.targets.iter().zip(&of_job.objects) {
            let Some(set) = target.place.file_set() else {
                continue;
            };
            let bytes = set.total.unwrap_or_else(|| set.bytes()).get();
            let largest: &mut u64 = formats.entry(*object).or_default();
            *largest = bytes.max(*largest);
        }
    }
    formats
}

/// Where an object will lie, and what it will take there.
fn need<'o>(object: &'o Object, format: Option<&u64>) -> Option<(&'o Path, u64)> {
    match &object.kind {
        Kind::FileSet { full, anchor } if anchor.empty => Some((standing(full), *format?)),
        Kind::File { full, .. } => Some((standing_above(full), lacking(object)?)),
        Kind::Fresh { directory } => Some((directory, lacking(object)?)),
        Kind::FileSet { .. }
        | Kind::Device { .. }
        | Kind::Export(_)
        | Kind::Directory { .. }
        | Kind::Character
        | Kind::Nothing { .. } => None,
    }
}

/// Bytes that a file will take beyond those it has; `None` where it takes none before its jobs write.
fn lacking(object: &Object) -> Option<u64> {
    let more = object.making.filled_to.checked_sub(short_size(object)?);
    more.filter(|more| *more > 0)
}
