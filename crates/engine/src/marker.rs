//! The mark that a file was laid out by Fathom, and may be written again.
//!
//! An extended attribute where the file system has them; else an empty state file named after device, inode and birth
//! time, so that a file made later under the same inode is not taken for ours.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fathom_rawio::{self as rawio, Begin};

const ATTRIBUTE: &str = "user.fathom.layout";
/// Version of what a laid-out file holds: incompressible bytes throughout.
const VALUE: &[u8] = b"1";

/// Whether we laid the file out.
pub(crate) fn is_ours(file: &File) -> bool {
    match rawio::get_attribute(file, ATTRIBUTE) {
        Ok(value) => value.is_some(),
        Err(_) => state_file(file).is_some_and(|path| path.exists()),
    }
}

/// Marks a file as laid out by us. Failure costs no more than a refusal to write it in a later run.
pub(crate) fn mark(file: &File) {
    if rawio::set_attribute(file, ATTRIBUTE, VALUE).is_ok() {
        return;
    }
    let Some(path) = state_file(file) else {
        return;
    };
    let made = path
        .parent()
        .is_some_and(|parent| fs::create_dir_all(parent).is_ok());
    if made {
        let opened = rawio::open_results(&path, Begin::Emptied);
        let _ = opened.and_then(|mut file| file.write_all(VALUE));
    }
}

/// Forgets the mark of a file that is about to be removed.
pub(crate) fn forget(path: &Path) {
    if let Some(state) = File::open(path).ok().as_ref().and_then(state_file) {
        // Most marks are attributes, which go with their file.
        let _ = fs::remove_file(state);
    }
}

/// `None` where the file system does not say when the file was made, or there is no home.
fn state_file(file: &File) -> Option<PathBuf> {
    let metadata = file.metadata().ok()?;
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let name = format!(
        "{:x}-{:x}-{}",
        metadata.dev(),
        metadata.ino(),
        born.as_nanos()
    );
    Some(state_directory()?.join("layout").join(name))
}

/// `$XDG_STATE_HOME/fathom`, or `~/.local/state/fathom` (XDG base directory specification 0.8).
fn state_directory() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("fathom"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!is_ours(file.as_file()));
        mark(file.as_file());
        assert!(is_ours(&File::open(file.path()).unwrap()));
        forget(file.path());
    }
}
