//! What the targets of a workload are on the machine that runs it.
//!
//! A file that exists is used at its size, as Iometer uses it; one that does not is made up to Maximum Disk Size. Iometer
//! fills the disk where there is none; here it is asked for.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_workload::{Job, Place, Workload};

use super::names::TEST_FILE;
use crate::fio::{FileStatus, Files};

/// Fits the ranges of all jobs to what their targets are.
///
/// # Errors
/// Every target that cannot be used, once.
pub fn fit_to_machine(workload: &mut Workload, files: &dyn Files) -> Result<(), Diagnostics> {
    let mut complaints = Diagnostics::default();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for job in jobs {
        // Managers are machines of a design; here all are this one.
        job.host = None;
        if let Err(complaint) = fit(job, files)
            && !complaints.0.contains(&complaint)
        {
            complaints.push(complaint);
        }
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    Ok(())
}

fn fit(job: &mut Job, files: &dyn Files) -> Result<(), Diagnostic> {
    for target in &mut job.targets {
        let named = target.place.path().to_owned();
        let wrong = |message: String, hint: String| {
            let complaint = Diagnostic::error(message).hint(hint);
            // Workers that share a target are of one complaint.
            Err(complaint.about("", named.as_str()))
        };
        let mut path = target.place.path().to_owned();
        if !path.contains('/') {
            path = match beside(&path, files) {
                Ok(beside) => beside,
                Err((message, hint)) => return wrong(message, hint),
            };
            target.place = Place::Path(path.clone());
        }
        let mut status = files.status(&path);
        let folder = path
            .strip_suffix(TEST_FILE)
            .map(|folder| folder.trim_end_matches('/'));
        if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
            match files.status(folder) {
                FileStatus::Directory => {}
                FileStatus::Missing => {
                    let message = format!("there is no `{folder}` to have a file in");
                    return wrong(
                        message,
                        "name a folder, a file or a device that is there".to_owned(),
                    );
                }
                // A file or a device was named where a volume might have been.
                found => {
                    path = folder.to_owned();
                    status = found;
                    target.place = Place::Path(path.clone());
                }
            }
        }
        let size = match status {
            FileStatus::Regular(size) => Some(size).filter(|size| *size > Bytes::ZERO),
            FileStatus::Special(size) => size,
            FileStatus::Directory => {
                let message = format!("`{path}` is a folder");
                return wrong(message, "name a file or a device".to_owned());
            }
            FileStatus::Missing => None,
        };
        let is_device = matches!(status, FileStatus::Special(_));
        job.features.files.must_exist = is_device || size.is_some();
        match (size, target.length) {
            (Some(size), length) => {
                let there = size.saturating_sub(target.offset);
                if there == Bytes::ZERO {
                    let message = format!("the starting sector lies past the {size} of `{path}`");
                    return wrong(message, "use a smaller one, or a larger file".to_owned());
                }
                target.length = Some(length.map_or(there, |length| length.min(there)));
            }
            (None, None) if !is_device => {
                let message = format!(
                    "`{path}` does not exist, and no Maximum Disk Size says how large to make it: Iometer would fill the disk"
                );
                let hint =
                    "give `--size`, such as `--size 10GiB`, or set the worker's Maximum Disk Size";
                return wrong(message, hint.to_owned());
            }
            (None, _) => {}
        }
    }
    Ok(())
}

/// What a word without a slash is in this directory: the test file of a folder, or a file or device itself. Else what is wrong,
/// and what to do.
fn beside(name: &str, files: &dyn Files) -> Result<String, (String, String)> {
    match files.status(name) {
        FileStatus::Missing => {
            let hint = format!(
                "say where it is with `--map '{name}=/PATH'`, or name a folder, a file or a device that is there"
            );
            Err((
                format!("`{name}` is a target that nothing serves here"),
                hint,
            ))
        }
        FileStatus::Directory => Ok(format!("./{name}/{TEST_FILE}")),
        FileStatus::Regular(_) | FileStatus::Special(_) => Ok(format!("./{name}")),
    }
}
