//! Temporary files of a run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fathom_rawio::{self as rawio, Access, Caching, Durability, OpenHow};

use crate::StopFlag;

/// A file that only this run knows.
///
/// Without a name where the file system has such files, so that not even SIGKILL leaves it behind; else under a name
/// that is removed when this is dropped, or at the second signal.
#[derive(Debug)]
pub(crate) struct FreshFile {
    file: File,
    named: Option<PathBuf>,
    stop: StopFlag,
}

impl FreshFile {
    /// Makes one in `directory`; `number` sets it apart from others of this process.
    pub(crate) fn new(directory: &Path, number: usize, stop: &StopFlag) -> io::Result<Self> {
        let stop = stop.clone();
        if let Ok(file) = rawio::open_unnamed(directory, Caching::Buffered) {
            let named = None;
            return Ok(Self { file, named, stop });
        }
        Self::named(directory, number, stop)
    }

    fn named(directory: &Path, number: usize, stop: StopFlag) -> io::Result<Self> {
        let path = directory.join(format!("fathom-{}-{number}.tmp", std::process::id()));
        let how = OpenHow {
            access: Access::CreateNew,
            caching: Caching::Buffered,
            durability: Durability::None,
        };
        let file = rawio::open(&path, how)?;
        stop.add_temporary(&path);
        let named = Some(path);
        Ok(Self { file, named, stop })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for FreshFile {
    fn drop(&mut self) {
        if let Some(path) = &self.named {
            // It may have been removed by another hand; then nothing is left either.
            let _ = fs::remove_file(path);
            self.stop.forget_temporary(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_file_with_a_name_goes_with_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let stop = StopFlag::new();
        let fresh = FreshFile::named(directory.path(), 3, stop.clone()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let panicked = std::panic::catch_unwind(move || {
            let _fresh = fresh;
            panic!("on purpose");
        });
        assert!(panicked.is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
