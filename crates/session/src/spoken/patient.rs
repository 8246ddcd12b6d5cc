//! Reading files that may keep the reader waiting.
//!
//! A named pipe is opened when another program writes to it, and gives its text when that one has ended. Where nobody does,
//! the program would stand still without a word.

use std::fs;
use std::io::{self, BufRead};
use std::os::unix::fs::FileTypeExt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fathom_dialects::fio::{FileStatus, Files, SystemFiles};
use fathom_engine::export_size;
use fathom_workload::Place;

use crate::Console;

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads the file at `path` by `read`; where that is a pipe which keeps it waiting, it is told.
pub(crate) fn told<T>(path: &str, console: &dyn Console, read: impl FnOnce() -> T) -> T {
    if !fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) {
        return read();
    }
    std::thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                console.tell(&format!(
                    "note: `{path}` is a pipe: it is read when another program has written to it and closed it"
                ));
            }
        });
        let read = read();
        drop(done);
        read
    })
}

/// What stands at a path; an export is as large as its server says, if that answers.
pub(super) fn status(path: &str) -> FileStatus {
    if !Place::Path(path.to_owned()).is_export() {
        return SystemFiles.status(path);
    }
    match export_size(path) {
        Some(size) => FileStatus::Special(Some(size)),
        None => FileStatus::Missing,
    }
}

/// The files of this machine; it is told where one keeps the reader waiting.
#[derive(Clone, Copy)]
pub struct PatientFiles<'a>(pub &'a dyn Console);

impl Files for PatientFiles<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        told(path, self.0, || SystemFiles.read_text(path))
    }

    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        told(path, self.0, || SystemFiles.read_bytes(path))
    }

    fn status(&self, path: &str) -> FileStatus {
        status(path)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        SystemFiles.open(path)
    }

    fn device(&self, number: &str) -> Option<String> {
        SystemFiles.device(number)
    }

    fn list(&self, directory: &str, most: usize) -> io::Result<Vec<String>> {
        SystemFiles.list(directory, most)
    }
}
