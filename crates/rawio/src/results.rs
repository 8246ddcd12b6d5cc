//! Files of results: whatever is written beside the I/O that a job asks for.
//!
//! A mistyped name must not cost a disk. So a file of results is never opened such that the opening changes anything, is
//! looked at by its handle, and is emptied only once it has shown itself to be a regular file that is the storage of nothing
//! else. Block devices are refused, and so are swap files and the files of loop devices; what holds nothing (terminals, pipes,
//! `/dev/null`) is taken as it is.
//!
//! Invariant: nothing here changes a byte of a block device, whatever a path leads to and whoever changes that meanwhile, nor of
//! a file that is in use as one when it is opened.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::in_use::{FileUse, uses_of_file};

/// Where in a file results begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// In an empty one: what a regular file held is gone.
    Emptied,
    /// Behind what it holds.
    AtEnd,
    /// Behind what it holds; it must be there.
    AtEndOfExisting,
}

/// Why results are not written where somebody wants them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// A block device stands there.
    Device,
    /// What stands there is the storage of something else.
    InUse(FileUse),
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device => {
                f.write_str("it is a block device, and results are never written over one")
            }
            Self::InUse(other) => {
                write!(
                    f,
                    "{other}, and results are never written over what is in use"
                )
            }
        }
    }
}

impl std::error::Error for Kept {}

/// Opens the file at `path` for results, which is made where nothing is there. A pipe with a name is waited for until
/// somebody reads it, as every program does that writes to one.
///
/// # Errors
/// Those of `open` and `ftruncate`, and one that [`is_refusal_of_results`] tells where a block device is there, or a file that is
/// the storage of something else.
pub fn open_results(path: &Path, begin: Begin) -> io::Result<File> {
    // Not even opened, where that can be known before: closing a device that was open for writing has others look at it anew.
    look_for_results(path)?;
    let mut options = OpenOptions::new();
    match begin {
        Begin::Emptied => options.write(true).create(true).truncate(false),
        Begin::AtEnd => options.append(true).create(true),
        Begin::AtEndOfExisting => options.append(true),
    };
    // A terminal that is named is not to become this program's own.
    let file = options.custom_flags(libc::O_NOCTTY).open(path)?;
    let found = file.metadata()?;
    refuse(&found)?;
    if begin == Begin::Emptied && found.is_file() && found.len() > 0 {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Looks whether results may be written to `path`, and opens nothing. What else may keep them from it, opening tells.
///
/// # Errors
/// One that [`is_refusal_of_results`] tells where a block device is there, or a file that is the storage of something else.
pub fn look_for_results(path: &Path) -> io::Result<()> {
    fs::metadata(path).map_or(Ok(()), |found| refuse(&found))
}

fn refuse(found: &Metadata) -> io::Result<()> {
    if found.file_type().is_block_device() {
        return Err(io::Error::other(Kept::Device));
    }
    // Nobody has an empty file for storage, which most files of results are at first.
    if found.len() == 0 {
        return Ok(());
    }
    match uses_of_file(found).into_iter().next() {
        Some(other) => Err(io::Error::other(Kept::InUse(other))),
        None => Ok(()),
    }
}

/// Whether `error` says that results would have been written over a block device or a file in use as one.
pub fn is_refusal_of_results(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Kept>)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[track_caller]
    fn check(begin: Begin, before: Option<&str>, expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        let opened = open_results(&path, begin);
        let held = opened.map(|mut file| {
            file.write_all(b"new").unwrap();
            fs::read_to_string(&path).unwrap()
        });
        assert_eq!(held.ok().as_deref(), expected, "{begin:?} {before:?}");
    }

    #[test]
    fn files_begin_where_they_are_asked_to() {
        for begin in [Begin::Emptied, Begin::AtEnd] {
            check(begin, None, Some("new"));
        }
        check(Begin::AtEndOfExisting, None, None);
        check(Begin::Emptied, Some("held"), Some("new"));
        check(Begin::AtEnd, Some("held"), Some("heldnew"));
        check(Begin::AtEndOfExisting, Some("held"), Some("heldnew"));
    }

    #[test]
    fn what_holds_nothing_is_taken() {
        for begin in [Begin::Emptied, Begin::AtEnd, Begin::AtEndOfExisting] {
            let mut file = open_results(Path::new("/dev/null"), begin).unwrap();
            file.write_all(b"gone").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        std::thread::scope(|scope| {
            let heard = scope.spawn(|| {
                let mut text = String::new();
                File::open(&pipe)
                    .unwrap()
                    .read_to_string(&mut text)
                    .unwrap();
                text
            });
            let mut file = open_results(&pipe, Begin::Emptied).unwrap();
            file.write_all(b"told").unwrap();
            drop(file);
            assert_eq!(heard.join().unwrap(), "told");
        });
    }

    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn other_errors_are_no_refusals() {
        let folder = tempfile::tempdir().unwrap();
        let error = open_results(folder.path(), Begin::Emptied).unwrap_err();
        assert!(!is_refusal_of_results(&error), "{error}");
        assert!(is_refusal_of_results(&io::Error::other(Kept::Device)));
    }
}
