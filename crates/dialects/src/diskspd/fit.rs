//! What a line's targets are on the machine that runs it.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::Workload;

use crate::fio::{FileStatus, Files};

/// Whether a target is a whole disk (`#1`) or volume (`E:`), which is never made.
pub fn is_device(path: &str) -> bool {
    let is_disk = path
        .strip_prefix('#')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit()));
    is_disk || (path.len() == 2 && is_on_drive(path)) || path.starts_with("\\\\.\\")
}

/// Whether a path means something to Windows alone: on a drive, with backslashes, or a disk by its number.
pub fn is_windows_path(path: &str) -> bool {
    is_on_drive(path) || path.contains('\\') || is_device(path)
}

fn is_on_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
}

/// Has the missing directories made of files that are made (`-c`), and ends each job's range where its file ends, so that a
/// file that must be there is never made longer. Gives a warning for each file that is shorter than what was asked for.
pub fn fit_to_files(workload: &mut Workload, files: &dyn Files) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    let mut told = BTreeSet::new();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for job in jobs.filter(|job| !job.features.files.must_exist) {
        let mut targets = job.targets.iter();
        job.features.files.make_parents =
            targets.any(|target| lacks_directory(target.place.path(), files));
    }
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for job in jobs.filter(|job| job.features.files.must_exist) {
        for target in &mut job.targets {
            let path = target.place.path();
            if let (Some(length), FileStatus::Regular(size)) = (target.length, files.status(path)) {
                let there = size.saturating_sub(target.offset);
                if there < length && told.insert(path.to_owned()) {
                    warnings.push(too_short(path, size, target.offset + length));
                }
                target.length = Some(length.min(there).max(Bytes::new(1)));
            }
        }
    }
    warnings
}

/// Whether the directory of a file is missing that DISKSPD makes: one of a whole path, which on Windows names a drive.
fn lacks_directory(path: &str, files: &dyn Files) -> bool {
    let path = Path::new(path);
    let parent = path.parent().filter(|_| path.is_absolute());
    let parent = parent.and_then(Path::to_str);
    parent.is_some_and(|parent| files.status(parent) == FileStatus::Missing)
}

fn too_short(path: &str, size: Bytes, end: Bytes) -> Diagnostic {
    let message =
        format!("`{path}` has {size}, and is asked for up to {end}: it is used to its end");
    Diagnostic::warning(message).hint("have it made in that size (`-c`), or ask for less (`-f`)")
}
