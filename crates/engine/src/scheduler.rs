//! The kernel's I/O scheduler of the disks under a job's files.
//!
//! A disk has one for everything that uses it. A job that asks for another switches it, and it stays so beyond the run, as
//! fio's jobs leave it: a later run is to find what this one has left. What was there before is therefore told.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use fathom_workload::{Job, Workload};

use crate::calls::path_of;
use crate::guard::{self, BlockDevice, DeviceNumber};
use crate::targets::Targets;
use crate::{About, Capability, EngineError};

/// The one scheduler of a disk that can have no other.
const NOT_TUNABLE: &str = "none";

fn setting(disk: &BlockDevice) -> String {
    format!("/sys/block/{}/queue/scheduler", disk.name)
}

/// The word in brackets of a list such as `none [mq-deadline] bfq`.
fn chosen(list: &str) -> Option<&str> {
    list.split_once('[')?
        .1
        .split_once(']')
        .map(|(name, _)| name)
}

/// Looks whether the disks under the jobs' files can be switched as they ask for, and notes what they have now.
///
/// # Errors
/// [`EngineError::Unsupported`] of the first that has no such scheduler, or may not be switched.
pub(crate) fn check(
    workload: &Workload,
    targets: &Targets,
    notes: &mut Vec<String>,
) -> Result<(), EngineError> {
    for ((_, job), of_job) in workload.jobs().zip(&targets.jobs) {
        let Some(wanted) = &job.features.process.scheduler else {
            continue;
        };
        for index in &of_job.objects {
            let object = &targets.objects[*index];
            let Some(disk) = path_of(object).and_then(guard::whole_device_under) else {
                continue;
            };
            let note = match look(job, wanted, &disk)? {
                Found::This => continue,
                Found::Other(now) => format!(
                    "the I/O scheduler of {} is switched from {now} to {wanted}, and stays so after the run",
                    disk.name
                ),
                Found::None => format!("{} has no I/O scheduler to be switched", disk.name),
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(())
}

/// What a disk has now.
enum Found {
    /// What is asked for.
    This,
    /// Another.
    Other(String),
    /// There is nothing to choose.
    None,
}

fn look(job: &Job, wanted: &str, disk: &BlockDevice) -> Result<Found, EngineError> {
    let setting = setting(disk);
    let list = fs::read_to_string(&setting).unwrap_or_else(|_| NOT_TUNABLE.to_owned());
    let list = list.trim();
    if list == NOT_TUNABLE {
        return Ok(Found::None);
    }
    let now = chosen(list).unwrap_or_default();
    if now == wanted {
        return Ok(Found::This);
    }
    let known = |name: &str| name.trim_matches(['[', ']']) == wanted;
    if !list.split_whitespace().any(known) {
        return Err(EngineError::Unsupported {
            capability: Capability::Scheduler,
            about: About::Job(job.name.clone()),
            what: format!("job `{}`: the I/O scheduler `{wanted}`", job.name),
            why: format!("{} has {list} ({setting})", disk.name),
            remedy: "name one of these, or load the kernel's module of the other".to_owned(),
        });
    }
    match fs::OpenOptions::new().write(true).open(&setting) {
        Ok(_) => Ok(Found::Other(now.to_owned())),
        Err(error) => Err(refused(job, wanted, &setting, &error)),
    }
}

fn refused(job: &Job, wanted: &str, setting: &str, why: &io::Error) -> EngineError {
    EngineError::Unsupported {
        capability: Capability::Scheduler,
        about: About::Job(job.name.clone()),
        what: format!(
            "job `{}`: switching to the I/O scheduler `{wanted}`",
            job.name
        ),
        why: format!("{setting}: {why}"),
        remedy: "run as root, or leave the scheduler (fio: `ioscheduler`) as it is".to_owned(),
    }
}

/// Switches the disks under a job's files, and looks whether they have switched.
///
/// # Errors
/// Where one has not.
pub(crate) fn switch(job: &Job, files: &[File]) -> Result<(), EngineError> {
    let Some(wanted) = &job.features.process.scheduler else {
        return Ok(());
    };
    for file in files {
        let Some(disk) = disk_of(file) else { continue };
        if let Found::Other(_) = look(job, wanted, &disk)? {
            let setting = setting(&disk);
            fs::write(&setting, wanted).map_err(|error| refused(job, wanted, &setting, &error))?;
            if let Found::Other(now) = look(job, wanted, &disk)? {
                let why = io::Error::other(format!("it stayed with `{now}`"));
                return Err(refused(job, wanted, &setting, &why));
            }
        }
    }
    Ok(())
}

/// The whole disk that a file lies on, or that a block device is.
fn disk_of(file: &File) -> Option<BlockDevice> {
    let metadata = file.metadata().ok()?;
    let kind = metadata.file_type();
    let number = if kind.is_block_device() {
        metadata.rdev()
    } else if kind.is_file() {
        metadata.dev()
    } else {
        return None;
    };
    let device = BlockDevice::find(DeviceNumber::from_packed(number)).ok()?;
    Some(device.parent().unwrap_or(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), Some("mq-deadline"));
        assert_eq!(chosen("[none] mq-deadline"), Some("none"));
        assert_eq!(chosen("none"), None);
    }
}
