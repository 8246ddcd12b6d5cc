//! Where a worker works: a volume by its drive or folder, or a disk by its device.
//!
//! On a volume, Iometer works on one file of its own in the root. A workload's file in a folder is that file of the folder.

use std::collections::{BTreeMap, BTreeSet};

use fathom_dialects::iometer::TEST_FILE;
use fathom_units::Bytes;
use fathom_workload::{Job, Place, Target, Workload};

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

/// How many places of a workload become each volume's file.
#[derive(Debug)]
pub(super) struct Volumes(BTreeMap<String, BTreeSet<String>>);

impl Volumes {
    /// Those of a whole workload.
    pub(super) fn of(workload: &Workload) -> Self {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (number, (_, job)) in workload.jobs().enumerate() {
            for (index, target) in job.targets.iter().enumerate() {
                let place = match &target.place {
                    Place::Path(path) => path.clone(),
                    // No path is two lines.
                    Place::FreshFileIn(_) | Place::FileSet(_) => format!("\n{number} {index}"),
                };
                places
                    .entry(name_of(&target.place))
                    .or_default()
                    .insert(place);
            }
        }
        Self(places)
    }

    fn count(&self, name: &str) -> usize {
        self.0.get(name).map_or(0, BTreeSet::len)
    }
}

/// The targets of a job. What a range or a name cannot say is told.
pub(super) fn of_job(job: &Job, number: usize, volumes: &Volumes, draft: &mut Draft) -> Vec<Disk> {
    let mut disks = Vec::new();
    for target in &job.targets {
        let Target {
            place,
            offset,
            length,
        } = target;
        let name = name_of(place);
        tell(place, &name, volumes, number, draft);
        sectors(target, number, draft);
        disks.push(Disk {
            name: super::names::one_line(&name, NAME_MAX),
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

/// Tells what becomes of a place.
fn tell(place: &Place, name: &str, volumes: &Volumes, number: usize, draft: &mut Draft) {
    if !is_sayable(name) {
        let message = format!("Iometer cannot name `{name}`");
        draft.lost(number, "target", message);
    }
    let file = file_of(name);
    match place {
        Place::Path(path) if file.as_ref().is_none_or(|file| file == path) => {}
        Place::Path(_) => {
            let message = format!("Iometer's file there is `{}`", file.unwrap_or_default());
            draft.differs(number, "target", message);
        }
        Place::FreshFileIn(folder) => {
            let message = format!(
                "a fresh file in `{folder}` is its `{TEST_FILE}`, which Iometer leaves there"
            );
            draft.lost(number, "target", message);
        }
        Place::FileSet(_) => {
            let message = format!("Iometer knows no file sets; it works on `{TEST_FILE}` instead");
            draft.lost(number, "target", message);
        }
    }
    let count = volumes.count(name);
    if count > 1 {
        let message = format!("{count} files in `{name}` become one, its `{TEST_FILE}`");
        draft.lost(number, "target", message);
    }
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

/// Whether a path is a device, which has no file on it.
fn is_device(path: &str) -> bool {
    let starts = |start: &str| {
        let own = path.get(..start.len());
        own.is_some_and(|own| own.eq_ignore_ascii_case(start))
    };
    starts("/dev/") || starts("\\\\.\\") || starts("PHYSICALDRIVE")
}

fn is_drive(path: &str) -> bool {
    let mut letters = path.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':')
}

/// The volume or device of a place.
fn name_of(place: &Place) -> String {
    let path = match place {
        Place::FreshFileIn(folder) => return folder.clone(),
        Place::FileSet(set) => return set.anchor.clone(),
        Place::Path(path) => path,
    };
    if is_device(path) {
        return path.clone();
    }
    if is_drive(path) {
        return path[..2].to_owned();
    }
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    if folder.is_empty() { "/" } else { folder }.to_owned()
}

/// The file that Iometer works on there.
fn file_of(name: &str) -> Option<String> {
    if is_device(name) {
        return None;
    }
    Some(if is_drive(name) {
        format!("{}\\{TEST_FILE}", &name[..2])
    } else {
        format!("{}/{TEST_FILE}", name.trim_end_matches('/'))
    })
}
