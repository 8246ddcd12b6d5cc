//! Which block devices are watched: those named, else all physical disks, the lowest layer once.
//!
//! Invariant: no I/O is seen twice. A device made of others (md, dm) is watched by the disks it lies on; loop devices,
//! partitions and devices in memory only where they are named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_units::Bytes;

/// Bytes of a sector, as the kernel counts them everywhere.
pub const SECTOR: u64 = 512;
/// Most devices watched at once.
const MOST: usize = 1024;
/// Layers of devices upon devices that are followed.
const LAYERS: usize = 16;

/// A device to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The kernel's name, as in /proc/diskstats.
    pub name: String,
    /// Number of the whole disk as the tracepoints write it: major in the upper 12 bits of 32, minor in the lower 20.
    pub number: u32,
    /// The part of the disk's sectors that counts; all of it but for a partition.
    pub sectors: std::ops::Range<u64>,
    /// Its size.
    pub capacity: Option<Bytes>,
}

/// What is watched, and what a reader should know of the choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// In the order of their names.
    pub devices: Vec<Watched>,
    /// One sentence each.
    pub notes: Vec<String>,
}

/// Chooses among what `sys` (`/sys`) shows.
///
/// # Errors
/// Every name that is no device, or that there is none to watch; in one text.
pub fn choose(sys: &Path, names: &[String]) -> Result<Chosen, String> {
    let known = list(&sys.join("block"));
    let mut chosen = Chosen::default();
    let mut wanted = BTreeSet::new();
    if names.is_empty() {
        wanted.extend(known.iter().filter(|name| is_physical(sys, name)).cloned());
        if wanted.is_empty() {
            let all = known.join(", ");
            return Err(format!(
                "no physical disk was found under `{}`: name a device with `--device`; there are {all}",
                sys.join("block").display()
            ));
        }
    }
    let mut wrong = Vec::new();
    for given in names {
        let name = kernel_name(given);
        if name.is_empty() || !sys.join("class/block").join(&name).exists() {
            wrong.push(format!("`{given}`"));
            continue;
        }
        let lowest = lowest(sys, &name);
        if lowest != [name.as_str()] {
            let disks = lowest.join(", ");
            chosen.notes.push(format!(
                "`{given}` is watched by the disks it lies on: {disks}"
            ));
        }
        wanted.extend(lowest);
    }
    if !wrong.is_empty() {
        let are_none = if wrong.len() == 1 {
            "is no block device"
        } else {
            "are no block devices"
        };
        return Err(format!(
            "{} {are_none} here: there are {}",
            wrong.join(", "),
            known.join(", ")
        ));
    }
    // A partition of a disk that is watched as a whole would be counted twice.
    let partitions: Vec<String> = wanted
        .iter()
        .filter(|name| disk_of(sys, name).is_some_and(|disk| wanted.contains(&disk)))
        .cloned()
        .collect();
    for name in partitions {
        chosen.notes.push(format!(
            "`{name}` is part of a disk that is watched as a whole"
        ));
        wanted.remove(&name);
    }
    if wanted.len() > MOST {
        return Err(format!(
            "{} devices are more than the {MOST} that can be watched: name some with `--device`",
            wanted.len()
        ));
    }
    for name in wanted {
        match watched(sys, &name) {
            Some(device) => chosen.devices.push(device),
            None => {
                return Err(format!(
                    "`{name}` went away while it was looked at: start again"
                ));
            }
        }
    }
    Ok(chosen)
}

fn list(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `/dev/disk/by-id/x`, `/dev/sda` and `sda` are all `sda`; a slash in a kernel name is an exclamation mark in sysfs.
fn kernel_name(given: &str) -> String {
    let path = PathBuf::from(given);
    let real = if given.starts_with('/') {
        fs::canonicalize(&path).unwrap_or(path)
    } else {
        path
    };
    let text = real.to_string_lossy();
    text.strip_prefix("/dev/")
        .unwrap_or(&text)
        .replace('/', "!")
}

/// A disk with hardware (or a hypervisor) behind it and a size; no optical or floppy drive, nothing made of others.
fn is_physical(sys: &Path, name: &str) -> bool {
    let place = sys.join("block").join(name);
    let is_other = ["loop", "ram", "zram", "sr", "fd", "nbd"]
        .iter()
        .any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()))
        });
    !is_other
        && place.join("device").exists()
        && list(&place.join("slaves")).is_empty()
        && number(&place.join("size")).is_some_and(|sectors| sectors > 0)
        && number(&place.join("hidden")) != Some(1)
}

/// Whether a device of `sys` has no sector.
pub fn is_empty(sys: &Path, name: &str) -> bool {
    number(&sys.join("class/block").join(name).join("size")) == Some(0)
}

/// The devices below `name`, down to those that lie on none.
fn lowest(sys: &Path, name: &str) -> Vec<String> {
    let mut layer = BTreeSet::from([name.to_owned()]);
    for _ in 0..LAYERS {
        let mut below = BTreeSet::new();
        for name in &layer {
            let slaves = list(&sys.join("class/block").join(name).join("slaves"));
            if slaves.is_empty() {
                below.insert(name.clone());
            }
            below.extend(slaves);
        }
        if below == layer {
            break;
        }
        layer = below;
    }
    layer.into_iter().collect()
}

/// The disk that `name` is a partition of.
fn disk_of(sys: &Path, name: &str) -> Option<String> {
    let place = sys.join("class/block").join(name);
    if !place.join("partition").exists() {
        return None;
    }
    let real = fs::canonicalize(place).ok()?;
    Some(real.parent()?.file_name()?.to_string_lossy().into_owned())
}

fn watched(sys: &Path, name: &str) -> Option<Watched> {
    let place = sys.join("class/block").join(name);
    let sectors = number(&place.join("size"))?;
    let start = number(&place.join("start")).unwrap_or(0);
    let is_part = place.join("partition").exists();
    let disk =
        disk_of(sys, name).map_or_else(|| place.clone(), |disk| sys.join("class/block").join(disk));
    let text = fs::read_to_string(disk.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    Some(Watched {
        name: name.to_owned(),
        number: major << 20 | (minor & 0xf_ffff),
        sectors: if is_part {
            start..start.saturating_add(sectors)
        } else {
            0..u64::MAX
        },
        capacity: (sectors > 0).then(|| Bytes::new(sectors.saturating_mul(SECTOR))),
    })
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Disks sda (with sda1), sdb, sdc; md0 on sdb and sdc; dm-0 on md0; loop0; an empty card reader sdd.
    fn sys() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let class = root.path().join("class/block");
        fs::create_dir_all(&class).unwrap();
        fs::create_dir_all(root.path().join("block")).unwrap();
        for (minor, (name, sectors, hardware, slaves)) in [
            ("sda", 4096, true, vec![]),
            ("sdb", 2048, true, vec![]),
            ("sdc", 2048, true, vec![]),
            ("sdd", 0, true, vec![]),
            ("md0", 4096, false, vec!["sdb", "sdc"]),
            ("dm-0", 4096, false, vec!["md0"]),
            ("loop0", 64, false, vec![]),
        ]
        .into_iter()
        .enumerate()
        {
            let place = root.path().join("devices").join(name);
            fs::create_dir_all(place.join("slaves")).unwrap();
            fs::write(place.join("size"), format!("{sectors}\n")).unwrap();
            fs::write(place.join("dev"), format!("8:{minor}\n")).unwrap();
            if hardware {
                fs::create_dir(place.join("device")).unwrap();
            }
            for slave in slaves {
                fs::create_dir(place.join("slaves").join(slave)).unwrap();
            }
            for link in [class.join(name), root.path().join("block").join(name)] {
                std::os::unix::fs::symlink(&place, link).unwrap();
            }
        }
        let part = root.path().join("devices/sda/sda1");
        fs::create_dir(&part).unwrap();
        for (file, text) in [
            ("size", "100"),
            ("start", "8"),
            ("partition", "1"),
            ("dev", "8:99"),
        ] {
            fs::write(part.join(file), text).unwrap();
        }
        std::os::unix::fs::symlink(&part, class.join("sda1")).unwrap();
        root
    }

    #[track_caller]
    fn check(names: &[&str], expected: Result<&[&str], &str>) {
        let root = sys();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        match (choose(root.path(), &names), expected) {
            (Ok(chosen), Ok(expected)) => {
                let found: Vec<_> = chosen.devices.iter().map(|it| it.name.as_str()).collect();
                assert_eq!(found, expected);
            }
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, _) => panic!("{names:?} gave {found:?}"),
        }
    }

    #[test]
    fn each_disk_is_watched_once() {
        check(&[], Ok(&["sda", "sdb", "sdc"]));
        check(&["dm-0"], Ok(&["sdb", "sdc"]));
        check(&["md0", "sdb", "/dev/sda"], Ok(&["sda", "sdb", "sdc"]));
        check(&["loop0"], Ok(&["loop0"]));
        check(&["sda1", "sda"], Ok(&["sda"]));
        check(
            &["sdx", "sda", "nope"],
            Err("`sdx`, `nope` are no block devices here"),
        );
        check(&[""], Err("`` is no block device here"));
    }

    #[test]
    fn a_partition_is_a_part_of_its_disk() {
        let root = sys();
        let chosen = choose(root.path(), &["sda1".to_owned()]).unwrap();
        let expected = Watched {
            name: "sda1".to_owned(),
            number: 8 << 20,
            sectors: 8..108,
            capacity: Some(Bytes::new(100 * 512)),
        };
        assert_eq!(chosen.devices, [expected]);
    }
}
