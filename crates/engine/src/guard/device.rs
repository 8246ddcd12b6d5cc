//! What the kernel says of a block device: names, partitions, holders.
//!
//! Everything is read from sysfs by device number, so that symbolic links and second names of a device make no
//! difference.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::kernel::told_at;

/// Major and minor number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DeviceNumber {
    major: u64,
    minor: u64,
}

impl DeviceNumber {
    /// From `st_dev` or `st_rdev`, as Linux packs them.
    pub(crate) fn from_packed(packed: u64) -> Self {
        Self {
            major: ((packed >> 8) & 0xfff) | ((packed >> 32) & 0xffff_f000),
            minor: (packed & 0xff) | ((packed >> 12) & 0xffff_ff00),
        }
    }

    /// Of the block device at `path`; `None` where it is none.
    pub(crate) fn of_device(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        metadata
            .file_type()
            .is_block_device()
            .then(|| Self::from_packed(metadata.rdev()))
    }

    /// From `MAJOR:MINOR`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A block device in sysfs.
#[derive(Debug, Clone)]
pub(crate) struct BlockDevice {
    /// Its number.
    pub(crate) number: DeviceNumber,
    /// Its kernel name.
    pub(crate) name: String,
    directory: PathBuf,
}

impl BlockDevice {
    /// The device of a number.
    pub(crate) fn find(number: DeviceNumber) -> io::Result<Self> {
        let directory = fs::canonicalize(told_at(&format!("/sys/dev/block/{number}")))?;
        Ok(Self::at(number, directory))
    }

    /// The device of a kernel name.
    pub(crate) fn named(name: &str) -> io::Result<Self> {
        let number = fs::read_to_string(told_at(&format!("/sys/class/block/{name}/dev")))?;
        let number = DeviceNumber::parse(&number);
        Self::find(number.ok_or_else(|| io::Error::other("its number is none"))?)
    }

    fn at(number: DeviceNumber, directory: PathBuf) -> Self {
        let name = directory
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self {
            number,
            name,
            directory,
        }
    }

    /// The whole devices that it is made of; none where it stands on no other.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let names = names_in(&self.directory.join("slaves"));
        let found = names.iter().filter_map(|name| Self::named(name).ok());
        found.map(|part| part.parent().unwrap_or(part)).collect()
    }

    /// The file behind a loop device, and whether that is read and written directly.
    pub(crate) fn loop_file(&self) -> Option<(PathBuf, bool)> {
        let said = |key: &str| fs::read_to_string(self.directory.join("loop").join(key)).ok();
        let file = PathBuf::from(said("backing_file")?.trim_end_matches('\n'));
        Some((file, said("dio")?.trim() == "1"))
    }

    /// Its special file, as the kernel names it.
    pub(crate) fn special_file(&self) -> PathBuf {
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    /// The whole device that it is a part of; `None` where it is whole.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.directory.join("partition").exists().then_some(())?;
        let directory = self.directory.parent()?;
        let number = fs::read_to_string(directory.join("dev")).ok()?;
        Some(Self::at(
            DeviceNumber::parse(&number)?,
            directory.to_owned(),
        ))
    }

    /// Its partitions that the kernel knows.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        let mut found: Vec<_> = entries
            .filter(|entry| entry.path().join("partition").exists())
            .filter_map(|entry| {
                let number = fs::read_to_string(entry.path().join("dev")).ok()?;
                Some(Self::at(DeviceNumber::parse(&number)?, entry.path()))
            })
            .collect();
        found.sort_by(|left, right| left.name.cmp(&right.name));
        found
    }

    /// Kernel names of the devices built upon it.
    pub(crate) fn holders(&self) -> Vec<String> {
        names_in(&self.directory.join("holders"))
    }

    /// Names that `--destroy-data` takes for it, the one to be shown first. Never empty.
    pub(crate) fn destroy_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        match self.parent() {
            None => names.extend(self.serial()),
            // A partition's own name, made of the disk's serial, so that naming a disk never means a part or the reverse.
            Some(parent) => {
                let part = fs::read_to_string(self.directory.join("partition"));
                let part = part.unwrap_or_default();
                let serial = parent.serial();
                names.extend(serial.map(|serial| format!("{serial}-part{}", part.trim())));
            }
        }
        names.extend(self.by_id_names());
        if names.is_empty() {
            names.push(self.name.clone());
        }
        names
    }

    /// Whether `name` of `--destroy-data` means this device and no other.
    pub(crate) fn is_meant_by(&self, name: &str) -> bool {
        if self.destroy_names().iter().any(|full| full == name) {
            return true;
        }
        let devices = by_id_links()
            .filter(|(full, _)| is_tail(full, name))
            .map(|(_, number)| number);
        let mut devices: Vec<_> = devices.collect();
        devices.dedup();
        devices == [self.number]
    }

    /// Its serial number, as it tells it.
    pub(crate) fn serial(&self) -> Option<String> {
        let serial = self.attribute("serial");
        serial.or_else(|| self.attribute("device/serial"))
    }

    /// What its file `key` in sysfs says, without blanks around it; `None` where that is nothing.
    pub(crate) fn attribute(&self, key: &str) -> Option<String> {
        let text = fs::read_to_string(self.directory.join(key)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Its place in sysfs.
    pub(crate) fn place(&self) -> &Path {
        &self.directory
    }

    fn by_id_names(&self) -> Vec<String> {
        let own = by_id_links().filter(|(_, number)| *number == self.number);
        let mut names: Vec<_> = own.map(|(name, _)| name).collect();
        names.sort();
        names
    }
}

/// Every name under `/dev/disk/by-id` with the device that it leads to.
fn by_id_links() -> impl Iterator<Item = (String, DeviceNumber)> {
    let entries = fs::read_dir("/dev/disk/by-id")
        .into_iter()
        .flatten()
        .flatten();
    entries.filter_map(|entry| {
        let number = DeviceNumber::of_device(&entry.path())?;
        Some((entry.file_name().to_string_lossy().into_owned(), number))
    })
}

/// Whether `name` is the end of the by-id name `full`, from a separator on. A partition's number alone names no device.
fn is_tail(full: &str, name: &str) -> bool {
    let digits = name.strip_prefix("part").unwrap_or(name);
    let is_number = digits.chars().all(|c| c.is_ascii_digit()) && digits.len() < 4;
    let rest = full.strip_suffix(name);
    !is_number && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '-']))
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Every whole block device, by name.
pub(crate) fn all_devices() -> Vec<BlockDevice> {
    let names = names_in(&told_at("/sys/block")).into_iter();
    names
        .filter_map(|name| BlockDevice::named(&name).ok())
        .collect()
}

/// Every loop device with a file behind it: its kernel name and that file.
pub(crate) fn loop_backing_files() -> Vec<(String, PathBuf)> {
    let devices = names_in(&told_at("/sys/block")).into_iter();
    devices
        .filter_map(|name| {
            let text = fs::read_to_string(told_at(&format!("/sys/block/{name}/loop/backing_file")))
                .ok()?;
            Some((name, PathBuf::from(text.trim_end_matches('\n'))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(packed: u64, expected: &str) {
        assert_eq!(DeviceNumber::from_packed(packed).to_string(), expected);
    }

    #[test]
    fn the_end_of_a_name_is_enough_but_not_a_number_of_a_part() {
        let disk = "nvme-Samsung_SSD_980_S64DNX0R";
        let part = "nvme-Samsung_SSD_980_S64DNX0R-part1";
        assert!(is_tail(disk, "S64DNX0R") && is_tail(disk, disk));
        assert!(is_tail(part, "S64DNX0R-part1"));
        assert!(!is_tail(part, "S64DNX0R"));
        for short in ["", "X0R", "R", "980_S64", "part1"] {
            assert!(!is_tail(disk, short) && !is_tail(part, short), "{short}");
        }
        assert!(!is_tail(part, "1") && !is_tail("scsi-0_12", "12"));
    }

    #[test]
    fn device_numbers_are_unpacked() {
        check(0x0700, "7:0");
        check(0xfe01, "254:1");
        check(0x0010_0801, "8:257");
        check(0x1000_0000_0000, "4096:0");
    }
}
