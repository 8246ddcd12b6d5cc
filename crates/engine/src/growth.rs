//! What becomes of missing and short files before the run: laid out in full, or reserved and left to the jobs' own writes.
//!
//! The rule is fio's. Jobs are looked at in the order of the workload, each with the size that the file has by then. A job
//! that finds it long enough asks for nothing. For one whose files grow, space is reserved up to what it needs, in its own
//! way; for any other, the file is laid out up to what that one needs. A file has the size that laying out, `fallocate` or
//! `ftruncate` gives it, or that a job gives it which writes all of it ([`Growth::Whole`]); space behind its end gives it none.
//!
//! Unlike fio, which unlinks a short file before it makes it anew, what a file holds already stays.

use std::fs::File;
use std::io;
use std::path::Path;

use fathom_rawio::{self as rawio, Access, Caching, Durability, OpenHow, ReservedSize};
use fathom_workload::{Backend, Growth, Job, Reserve};

use crate::store::Store;
use crate::targets::{Kind, Targets};
use crate::undo::Undo;
use crate::{EngineError, StopFlag, marker};

/// What a file's jobs ask for before the run, all together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Making {
    /// Its size when the last job looked at it; `None`: what it is has no size that could change.
    size: Option<u64>,
    /// End of what is laid out; 0 where nothing is.
    pub(crate) laid_to: u64,
    /// What is reserved, in this order: how, and up to where.
    pub(crate) reserved: Vec<(Reserve, u64)>,
    /// End of what takes space before the run, or is sure to take it in the run.
    pub(crate) filled_to: u64,
}

impl Making {
    /// Of an object that no job has looked at yet.
    pub(crate) fn new(kind: &Kind) -> Self {
        let size = match kind {
            Kind::File { existing, .. } => Some(existing.map_or(0, |file| file.size)),
            Kind::Fresh { .. } => Some(0),
            Kind::Directory { .. }
            | Kind::FileSet { .. }
            | Kind::Device { .. }
            | Kind::Export(_)
            | Kind::Character
            | Kind::Nothing { .. } => None,
        };
        Self {
            size,
            ..Self::default()
        }
    }

    /// `job` needs it up to `end`.
    pub(crate) fn need(&mut self, job: &Job, end: u64) {
        let Some(size) = self.size.as_mut().filter(|size| **size < end) else {
            return;
        };
        let growth = match job.backend {
            // What is mapped does not grow.
            Backend::Mmap => Growth::No,
            _ => job.features.files.grows,
        };
        let (how, gives_size, takes_space) = match growth {
            Growth::No => {
                *size = end;
                self.laid_to = end;
                self.filled_to = self.filled_to.max(end);
                return;
            }
            Growth::Whole => (Reserve::Nothing, true, true),
            Growth::Reserved(how) => (
                how,
                matches!(how, Reserve::Allocate | Reserve::Truncate),
                matches!(how, Reserve::Allocate | Reserve::KeepSize),
            ),
        };
        if gives_size {
            *size = end;
        }
        if takes_space {
            self.filled_to = self.filled_to.max(end);
        }
        if self.reserved.last() != Some(&(how, end)) {
            self.reserved.push((how, end));
        }
    }
}

/// Makes and reserves the files that are left to their jobs' writes.
///
/// # Errors
/// The first file that cannot be made, or whose space cannot be reserved; everything made so far is undone.
pub(crate) fn make<'a>(
    targets: &Targets,
    store: &Store,
    stop: &'a StopFlag,
) -> Result<Undo<'a>, EngineError> {
    let undo = Undo::new(stop);
    for (index, object) in targets.objects.iter().enumerate() {
        let making = &object.making;
        if making.reserved.is_empty() || stop.is_requested() {
            continue;
        }
        let made;
        let file = match (&object.kind, store.fresh(index)) {
            (_, Some(file)) => file,
            (Kind::File { full, existing }, None) => {
                let there = existing.is_some() || making.laid_to > 0;
                let opened = if there {
                    longer(full, &undo)
                } else {
                    new(full, &undo)
                };
                made = opened
                    .map_err(|error| EngineError::target(&object.path, "making it", error))?;
                &made
            }
            _ => continue,
        };
        for (how, to) in &making.reserved {
            reserve(file, *how, *to).map_err(|error| {
                EngineError::target(&object.path, "reserving its space before the run", error)
            })?;
        }
    }
    undo.settle();
    Ok(undo)
}

fn how(access: Access) -> OpenHow {
    OpenHow {
        access,
        caching: Caching::Buffered,
        durability: Durability::None,
    }
}

fn new(path: &Path, undo: &Undo<'_>) -> io::Result<File> {
    let file = rawio::open(path, how(Access::CreateNew))?;
    undo.made(path);
    marker::mark(&file);
    Ok(file)
}

fn longer(path: &Path, undo: &Undo<'_>) -> io::Result<File> {
    let file = rawio::open(path, how(Access::ReadWrite))?;
    undo.longer(path, file.metadata()?.len());
    Ok(file)
}

/// A file system without `fallocate` reserves nothing; the file gets its size all the same, for those who count on it.
fn reserve(file: &File, how: Reserve, to: u64) -> io::Result<()> {
    let unsupported = |error: &io::Error| error.kind() == io::ErrorKind::Unsupported;
    match how {
        Reserve::Nothing => Ok(()),
        Reserve::Truncate => extend(file, to),
        Reserve::KeepSize => match rawio::reserve(file, ReservedSize::Stays, to) {
            Err(error) if unsupported(&error) => Ok(()),
            done => done,
        },
        Reserve::Allocate => match rawio::reserve(file, ReservedSize::Grows, to) {
            Err(error) if unsupported(&error) => extend(file, to),
            done => done,
        },
    }
}

fn extend(file: &File, to: u64) -> io::Result<()> {
    if file.metadata()?.len() < to {
        file.set_len(to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fathom_workload::preset;

    use super::*;
    use crate::targets::Existing;

    /// What jobs that need these bytes make of a file: where it is laid out to, what is reserved, what takes space.
    #[track_caller]
    fn check(
        has: Option<u64>,
        jobs: &[(Growth, u64)],
        laid_to: u64,
        reserved: &[(Reserve, u64)],
        filled_to: u64,
    ) {
        let existing = has.map(|size| Existing { size, ours: false });
        let full = "/unused".into();
        let mut making = Making::new(&Kind::File { full, existing });
        for (grows, end) in jobs {
            let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
            job.features.files.grows = *grows;
            making.need(&job, *end);
        }
        let found = (making.laid_to, making.reserved, making.filled_to);
        assert_eq!(found, (laid_to, reserved.to_vec(), filled_to), "{jobs:?}");
    }

    #[test]
    fn each_job_asks_for_what_it_lacks() {
        use Growth::{No, Reserved, Whole};
        use Reserve::{Allocate, KeepSize, Nothing, Truncate};
        check(None, &[], 0, &[], 0);
        check(Some(8), &[(No, 8), (Reserved(Allocate), 8)], 0, &[], 0);
        check(None, &[(No, 8), (Reserved(Allocate), 8)], 8, &[], 8);
        check(Some(4), &[(Reserved(Allocate), 8)], 0, &[(Allocate, 8)], 8);
        for (how, taken) in [(Allocate, 8), (Truncate, 0)] {
            // What is reserved is long enough for the reader; more than that is laid out, from the file's own end.
            let writer = (Reserved(how), 8);
            check(None, &[writer, (No, 8)], 0, &[(how, 8)], taken);
            check(None, &[writer, (No, 9)], 9, &[(how, 8)], 9);
        }
        for (how, taken) in [(Nothing, 0), (KeepSize, 8)] {
            let writer = (Reserved(how), 8);
            check(None, &[writer], 0, &[(how, 8)], taken);
            check(None, &[writer, writer], 0, &[(how, 8)], taken);
            check(None, &[writer, (No, 4)], 4, &[(how, 8)], taken.max(4));
        }
        check(None, &[(Whole, 8), (No, 8)], 0, &[(Nothing, 8)], 8);
        let more = [(Reserved(Allocate), 4), (Reserved(Nothing), 8), (No, 4)];
        check(None, &more, 0, &[(Allocate, 4), (Nothing, 8)], 4);
    }

    #[test]
    fn what_is_mapped_does_not_grow() {
        let kind = Kind::Fresh {
            directory: "/unused".into(),
        };
        let mut making = Making::new(&kind);
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.features.files.grows = Growth::Reserved(Reserve::Allocate);
        job.backend = Backend::Mmap;
        making.need(&job, 8);
        assert_eq!((making.laid_to, making.reserved), (8, Vec::new()));
    }

    /// ramfs has no `fallocate`.
    #[test]
    fn without_fallocate_a_file_gets_its_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display().to_string();
        let system = |program: &str, arguments: &[&str]| {
            let status = std::process::Command::new(program).args(arguments).status();
            assert!(status.unwrap().success(), "{program} needs root");
        };
        system("mount", &["-t", "ramfs", "ramfs", &path]);
        let file = File::create(directory.path().join("file")).unwrap();
        let none = rawio::reserve(&file, ReservedSize::Grows, 8192).map_err(|error| error.kind());
        let sizes = [Reserve::Nothing, Reserve::KeepSize, Reserve::Allocate]
            .map(|how| reserve(&file, how, 8192).map(|()| file.metadata().unwrap().len()));
        drop(file);
        system("umount", &[&path]);
        assert_eq!(none, Err(io::ErrorKind::Unsupported));
        assert_eq!(sizes.map(Result::unwrap), [0, 0, 8192]);
        fs::remove_dir(directory.path()).unwrap();
    }
}
