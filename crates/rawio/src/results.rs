//! Files of results: whatever is written beside the I/O that a job asks for.
//!
//! A mistyped name must not cost a disk. So a file of results is never opened such that the opening changes anything, is
//! looked at by its handle, and is emptied only once it has shown itself to be a regular file. Block devices are refused; what
//! holds nothing (terminals, pipes, `/dev/null`) is taken as it is.
//!
//! Invariant: nothing here changes a byte of a block device, whatever a path leads to and whoever changes that meanwhile.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

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

/// Why results are not written: what stands in their place is a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OnDevice;

impl fmt::Display for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is a block device, and results are never written over one")
    }
}

impl std::error::Error for OnDevice {}

/// Opens the file at `path` for results, which is made where nothing is there. A pipe with a name is waited for until
/// somebody reads it, as every program does that writes to one.
///
/// # Errors
/// Those of `open` and `ftruncate`, and one that [`is_device_in_place_of_results`] tells where a block device is there.
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
    refuse_device(&found)?;
    if begin == Begin::Emptied && found.is_file() && found.len() > 0 {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Looks whether results may be written to `path`, and opens nothing. What else may keep them from it, opening tells.
///
/// # Errors
/// One that [`is_device_in_place_of_results`] tells where a block device is there.
pub fn look_for_results(path: &Path) -> io::Result<()> {
    fs::metadata(path).map_or(Ok(()), |found| refuse_device(&found))
}

fn refuse_device(found: &Metadata) -> io::Result<()> {
    if found.file_type().is_block_device() {
        return Err(io::Error::other(OnDevice));
    }
    Ok(())
}

/// Whether `error` says that results would have been written over a block device.
pub fn is_device_in_place_of_results(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<OnDevice>)
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
    fn other_errors_are_none_of_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let error = open_results(folder.path(), Begin::Emptied).unwrap_err();
        assert!(!is_device_in_place_of_results(&error), "{error}");
        assert!(is_device_in_place_of_results(&io::Error::other(OnDevice)));
    }
}
