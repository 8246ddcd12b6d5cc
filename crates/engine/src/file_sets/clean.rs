//! Removing a file set.
//!
//! Invariant: nothing is removed but regular files with the name of a set's file, in directories with the name of a set's
//! directory, and those directories where they are empty; links are not followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fathom_workload::{is_set_directory, is_set_file};

/// One thing to be removed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Removal<'a> {
    /// A file.
    File(&'a Path),
    /// A directory, which is empty unless there is something of others in it.
    Directory(&'a Path),
}

impl Removal<'_> {
    /// Removes it.
    ///
    /// # Errors
    /// Those of the call.
    pub(crate) fn perform(self) -> io::Result<()> {
        match self {
            Self::File(path) => fs::remove_file(path),
            Self::Directory(path) => fs::remove_dir(path),
        }
    }

    /// What is removed.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Directory(path) => path,
        }
    }
}

/// Goes through all sets below `anchor`, of whatever shape, and gives what is to be removed to `remove`, children before
/// their directories, until that says no.
///
/// # Errors
/// Where a directory cannot be read.
pub(crate) fn clean(
    anchor: &Path,
    remove: &mut dyn FnMut(Removal<'_>) -> Result<(), ()>,
) -> io::Result<()> {
    // Each directory twice: to be listed, and to be removed when all in it is.
    let mut next = vec![(anchor.to_owned(), Visit::List)];
    while let Some((path, visit)) = next.pop() {
        let goes_on = match visit {
            Visit::Remove => remove(Removal::Directory(&path)),
            Visit::List => list(&path, path == anchor, &mut next, remove)?,
        };
        if goes_on.is_err() {
            break;
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    List,
    Remove,
}

fn list(
    path: &Path,
    is_anchor: bool,
    next: &mut Vec<(PathBuf, Visit)>,
    remove: &mut dyn FnMut(Removal<'_>) -> Result<(), ()>,
) -> io::Result<Result<(), ()>> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() && is_set_directory(&name) {
            next.push((entry.path(), Visit::Remove));
            next.push((entry.path(), Visit::List));
        } else if kind.is_file() && !is_anchor && is_set_file(&name) {
            let removed = remove(Removal::File(&entry.path()));
            if removed.is_err() {
                return Ok(removed);
            }
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bears_the_names_of_a_set_is_removed() {
        let anchor = tempfile::tempdir().unwrap();
        let at = |name: &str| anchor.path().join(name);
        fs::create_dir_all(at("vdb1_1.dir/vdb2_1.dir")).unwrap();
        fs::create_dir_all(at("vdb1_2.dir")).unwrap();
        fs::create_dir_all(at("other.dir")).unwrap();
        let kept = [
            "vdb_f0009.file",
            "vdb_control.file",
            "notes.txt",
            "vdb1_1.dir/mine.txt",
            "other.dir/vdb_f0001.file",
        ];
        let gone = [
            "vdb1_1.dir/vdb2_1.dir/vdb_f0000.file",
            "vdb1_2.dir/vdb_f12345.file",
        ];
        for name in kept.into_iter().chain(gone) {
            fs::write(at(name), "data").unwrap();
        }
        std::os::unix::fs::symlink(at("other.dir"), at("vdb1_3.dir")).unwrap();
        let mut refused = Vec::new();
        clean(anchor.path(), &mut |removal| {
            if removal.perform().is_err() {
                refused.push(removal.path().to_owned());
            }
            Ok(())
        })
        .unwrap();
        assert!(kept.into_iter().all(|name| at(name).exists()));
        assert!(!gone.into_iter().any(|name| at(name).exists()));
        assert!(!at("vdb1_2.dir").exists() && !at("vdb1_1.dir/vdb2_1.dir").exists());
        assert!(at("vdb1_3.dir/vdb_f0001.file").exists());
        assert_eq!(refused, [at("vdb1_1.dir")]);
    }
}
