//! Character devices that jobs read and write: those that store nothing.
//!
//! fio takes them, as a way to measure calls without storage. Others (memory, terminals, raw disks) may do anything when they
//! are written to, and are refused.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use fathom_workload::{Backend, Job};

use crate::complaints::Complaint;
use crate::targets::{Kind, Targets};

/// `null`, `zero`, `full`, `random` and `urandom`: major 1 and these minors (the kernel's `admin-guide/devices.txt`), as
/// `st_rdev` packs them.
const TAKEN: [u64; 5] = [0x103, 0x105, 0x107, 0x108, 0x109];

/// Whether it is one of those.
pub(crate) fn is_taken(metadata: &fs::Metadata) -> bool {
    metadata.file_type().is_char_device() && TAKEN.contains(&metadata.rdev())
}

/// What a job may not ask of one.
///
/// # Errors
/// The first of what it asks for.
pub(crate) fn check(job: &Job) -> Result<(), Complaint> {
    let files = &job.features.files;
    let (what, hint) = if job.backend == Backend::Mmap {
        (
            "it is a character device, and has no size that could be mapped",
            "choose another engine",
        )
    } else if files.pre_read {
        (
            "it is a character device, and has no end to be read to before",
            "leave that reading out",
        )
    } else if files.made_anew {
        (
            "it is a character device, and is not removed",
            "name a regular file",
        )
    } else if job.features.operation.is_some() {
        (
            "it is a character device, and no file to operate on",
            "name a regular file",
        )
    } else {
        return Ok(());
    };
    Err(Complaint::new(what).hint(hint))
}

/// What a user should know of them; `None` where there are none.
pub(crate) fn note(targets: &Targets) -> Option<String> {
    let mut characters = targets
        .objects
        .iter()
        .filter(|it| matches!(it.kind, Kind::Character));
    let first = characters.next()?;
    Some(format!(
        "`{}` is a character device, and no storage: what is measured is the kernel's own work",
        first.path
    ))
}
