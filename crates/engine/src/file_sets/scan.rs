//! Finding out what is there of a set.

use std::fs;
use std::io;
use std::path::Path;

use fathom_workload::generator::{FoundFile, SetState};
use fathom_workload::{FileSet, is_set_directory, is_set_file};

/// Tells `state`, of which nothing is known, what is below `anchor`. Gives the path of something with a name of a set that
/// is no part of this one, where there is such.
///
/// # Errors
/// Where a directory cannot be read.
pub(super) fn scan(state: &SetState, anchor: &Path) -> io::Result<Option<String>> {
    // The anchor may be made only later.
    if !anchor.exists() {
        return Ok(None);
    }
    let mut stray = None;
    let mut next = vec![(None, anchor.to_owned())];
    while let Some((directory, path)) = next.pop() {
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // What a link points to is not looked at.
            let kind = entry.file_type()?;
            if kind.is_dir() && is_set_directory(&name) {
                match directory_named(state.set(), directory, &name) {
                    Some(number) => {
                        state.found_directory(number);
                        next.push((Some(number), entry.path()));
                    }
                    None => stray = Some(entry.path().display().to_string()),
                }
            } else if kind.is_file() && directory.is_some() && is_set_file(&name) {
                match file_named(state.set(), directory, &name) {
                    Some(file) => {
                        let whole = entry.metadata()?.len() >= state.set().size(file).get();
                        let found = if whole {
                            FoundFile::Whole
                        } else {
                            FoundFile::Short
                        };
                        state.found_file(file, found);
                    }
                    None => stray = Some(entry.path().display().to_string()),
                }
            }
        }
    }
    Ok(stray)
}

fn directory_named(set: &FileSet, parent: Option<u32>, name: &str) -> Option<u32> {
    let mut children = set.directories_in(parent);
    let (_, number) = name.strip_suffix(".dir")?.split_once('_')?;
    let place: usize = number.parse().ok()?;
    let child = children.nth(place.checked_sub(1)?)?;
    (set.directory_name(child) == name).then_some(child)
}

fn file_named(set: &FileSet, directory: Option<u32>, name: &str) -> Option<u32> {
    let number = name.strip_prefix("vdb_f")?.strip_suffix(".file")?;
    let file: u32 = number.parse().ok()?;
    let there = set.files_in(directory?).contains(&file);
    (there && FileSet::name_of_file(file) == name).then_some(file)
}
