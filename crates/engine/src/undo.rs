//! What was done to files before a run begins, undone unless all goes well.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{StopFlag, marker};

/// Removes the files that were made, and cuts those again that were made longer, unless it is told to keep them.
#[derive(Debug)]
pub(crate) struct Undo<'a> {
    stop: &'a StopFlag,
    made: Mutex<Vec<PathBuf>>,
    longer: Mutex<Vec<(PathBuf, u64)>>,
}

impl<'a> Undo<'a> {
    /// Nothing to be undone yet. Until [`Undo::settle`], a second signal removes what was made.
    pub(crate) fn new(stop: &'a StopFlag) -> Self {
        Self {
            stop,
            made: Mutex::new(Vec::new()),
            longer: Mutex::new(Vec::new()),
        }
    }

    /// A file was made at `path`.
    pub(crate) fn made(&self, path: &Path) {
        self.stop.add_temporary(path);
        locked(&self.made).push(path.to_owned());
    }

    /// A file is made longer than `size`.
    pub(crate) fn longer(&self, path: &Path, size: u64) {
        locked(&self.longer).push((path.to_owned(), size));
    }

    /// A signal removes nothing of it any more.
    pub(crate) fn settle(&self) {
        self.stop.forget_all(&locked(&self.made));
    }

    /// All went well: nothing is undone.
    pub(crate) fn keep(&self) {
        self.settle();
        locked(&self.made).clear();
        locked(&self.longer).clear();
    }
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        // Cleaning up as far as it goes: the error that brought us here is the one to report.
        for path in &*locked(&self.made) {
            marker::forget(path);
            let _ = fs::remove_file(path);
        }
        self.settle();
        for (path, size) in &*locked(&self.longer) {
            if let Ok(file) = fs::OpenOptions::new().write(true).open(path) {
                let _ = file.set_len(*size);
            }
        }
    }
}

fn locked<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
