//! What is below the files of a run, looked for once for those that lie side by side.
//!
//! The kernel is asked for its mounts and devices: 0.2 ms a file, and a job may have ten thousand.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_record::{InMemory, Reducing};

use super::{BlockDevice, memory_under, reducing_under, whole_device_under};

/// Answers that were given before.
#[derive(Debug, Default)]
pub(crate) struct Below {
    devices: Known<BlockDevice>,
    memory: Known<InMemory>,
    reducing: Known<Reducing>,
}

type Known<T> = HashMap<Beside, Option<T>>;

/// Files of one directory and one file system: the same is below all of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Beside {
    directory: PathBuf,
    /// `st_dev`: another file system may be mounted at one of them, and its files lie elsewhere.
    file_system: u64,
}

impl Beside {
    /// Where a regular file is; `None` for anything else, and where nothing is.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            directory: path.parent()?.to_owned(),
            file_system: found.dev(),
        })
    }
}

impl Below {
    /// [`whole_device_under`].
    pub(crate) fn device(&mut self, path: &Path) -> Option<BlockDevice> {
        known(&mut self.devices, path, whole_device_under)
    }

    /// [`memory_under`].
    pub(crate) fn memory(&mut self, path: &Path) -> Option<InMemory> {
        known(&mut self.memory, path, memory_under)
    }

    /// [`reducing_under`].
    pub(crate) fn reducing(&mut self, path: &Path) -> Option<Reducing> {
        known(&mut self.reducing, path, reducing_under)
    }
}

fn known<T: Clone>(
    known: &mut Known<T>,
    path: &Path,
    look: impl FnOnce(&Path) -> Option<T>,
) -> Option<T> {
    match Beside::of(path) {
        Some(beside) => known.entry(beside).or_insert_with(|| look(path)).clone(),
        None => look(path),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::guard::made::Kernel;

    #[test]
    fn files_side_by_side_are_looked_at_once() {
        let kernel = Kernel::new("tmpfs");
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = place.path().join(name);
            fs::write(&path, "").unwrap();
            path
        };
        let memory = Some(InMemory::FileSystem("tmpfs".to_owned()));
        let mut below = Below::default();
        assert_eq!(below.memory(&file("a")), memory);
        // What the kernel says by now is for those that nobody asked about before.
        kernel.mounts("");
        assert_eq!(below.memory(&file("b")), memory);
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        assert_eq!(below.memory(&other), None);
        fs::write(other.join("a"), "").unwrap();
        assert_eq!(below.memory(&other.join("a")), None);
    }

    #[test]
    fn a_link_to_another_file_system_is_looked_at_by_itself() {
        let kernel = Kernel::new("tmpfs");
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("own");
        fs::write(&own, "").unwrap();
        let link = place.path().join("link");
        symlink("/proc/self/stat", &link).unwrap();
        let mut below = Below::default();
        assert_ne!(below.memory(&own), None);
        kernel.mounts("");
        assert_eq!(below.memory(&link), None);
    }
}
