//! Where a worker works: a volume by its drive or folder, or a disk by its device.
//!
//! On a volume, Iometer works on one file of its own in the root. A workload's file in a folder is that file of the folder.

use std::collections::BTreeSet;

use fathom_dialects::iometer::TEST_FILE;
use fathom_units::Bytes;
use fathom_workload::{Job, Place, Target};

use crate::draft::Draft;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Longest name of a target, in bytes; Iometer reads 199 of a line.
const NAME_MAX: usize = 190;

/// A target's name and the sectors that are used of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) start: u64,
    /// 0: all of it.
    pub(super) max_size: u64,
}

/// The targets of a job. What a range or a name cannot say is told.
pub(super) fn of_job(job: &Job, number: usize, draft: &mut Draft) -> Vec<Disk> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut disks = Vec::new();
    for target in &job.targets {
        let Target {
            place,
            offset,
            length,
        } = target;
        let name = match place {
            Place::Path(path) => of_path(path, number, draft),
            Place::FreshFileIn(folder) => {
                let message = format!(
                    "a fresh file in `{folder}` is its `{TEST_FILE}`, which Iometer leaves there"
                );
                draft.lost(number, "target", message);
                folder.clone()
            }
            Place::FileSet(set) => {
                let message =
                    format!("Iometer knows no file sets; it works on `{TEST_FILE}` instead");
                draft.lost(number, "target", message);
                set.anchor.clone()
            }
        };
        if !is_sayable(&name) {
            let message = format!("Iometer cannot name `{name}`");
            draft.lost(number, "target", message);
        }
        let name = super::names::one_line(&name, NAME_MAX);
        if !names.insert(name.clone()) {
            let message = format!("several targets of it are `{TEST_FILE}` of `{name}`, one file");
            draft.lost(number, "target", message);
        }
        sectors(target, number, draft);
        disks.push(Disk {
            name,
            start: offset.get() / SECTOR,
            // 0 sectors would be all of it.
            max_size: length.map_or(0, |length| (length.get() / SECTOR).max(1)),
        });
    }
    if disks.len() > 1 {
        let message = "each of its targets is one of a worker of its own";
        draft.lost(number, "target", message);
    }
    disks
}

/// What is used of a target is whole sectors.
fn sectors(target: &Target, number: usize, draft: &mut Draft) {
    let odd = |bytes: Bytes| !bytes.get().is_multiple_of(SECTOR);
    if odd(target.offset) || target.length.is_some_and(odd) {
        let message =
            format!("Iometer counts in sectors of {SECTOR} bytes; the range is rounded down");
        draft.lost(number, "target", message);
    }
}

fn is_sayable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_MAX
        && !name.contains(char::is_control)
        && name.trim() == name
}

/// The volume or device of a path.
fn of_path(path: &str, number: usize, draft: &mut Draft) -> String {
    let starts = |start: &str| {
        let own = path.get(..start.len());
        own.is_some_and(|own| own.eq_ignore_ascii_case(start))
    };
    if starts("/dev/") || starts("\\\\.\\") || starts("PHYSICALDRIVE") {
        return path.to_owned();
    }
    let mut letters = path.chars();
    let is_drive =
        letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
    let (name, file) = if is_drive {
        (path[..2].to_owned(), format!("{}\\{TEST_FILE}", &path[..2]))
    } else {
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let name = if folder.is_empty() { "/" } else { folder };
        (name.to_owned(), format!("{folder}/{TEST_FILE}"))
    };
    if file != path {
        let message = format!("Iometer's file on that volume is `{file}`, in place of `{path}`");
        draft.differs(number, "target", message);
    }
    name
}
