//! A file that was read once, for dialects that ask for it by its name.
//!
//! A pipe gives its bytes once, and so does the standard input: who told the dialect by the text has the text. Every other
//! file is read as it is.

use std::io::{self, BufRead};

use fathom_dialects::fio::{FileStatus, Files, SystemFiles};

use super::{File, patient};

/// The files of this machine, of which one was read.
#[derive(Clone, Copy)]
pub(super) struct Held<'a>(pub &'a File<'a>);

impl Held<'_> {
    /// Whether `path` names the file that is held; readers write a `./` before a name that begins with `-`.
    fn is_held(self, path: &str) -> bool {
        path == self.0.path || path.strip_prefix("./") == Some(self.0.path)
    }
}

impl Files for Held<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        if self.is_held(path) && self.0.raw.is_none() {
            return Ok(self.0.text.clone());
        }
        let bytes = self.read_bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        if !self.is_held(path) {
            return SystemFiles.read_bytes(path);
        }
        let text = || self.0.text.clone().into_bytes();
        Ok(self.0.raw.clone().unwrap_or_else(text))
    }

    fn status(&self, path: &str) -> FileStatus {
        patient::status(path)
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
