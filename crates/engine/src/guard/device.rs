//! What the kernel says of a block device: names, partitions, holders.
//!
//! Everything is read from sysfs by device number, so that symbolic links and second names of a device make no
//! difference.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

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
        let directory = fs::canonicalize(format!("/sys/dev/block/{number}"))?;
        Ok(Self::at(number, directory))
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
                let digits = self.name.trim_start_matches(|c: char| !c.is_ascii_digit());
                let part = fs::read_to_string(self.directory.join("partition"));
                let part = part.map_or_else(|_| digits.to_owned(), |text| text.trim().to_owned());
                names.extend(parent.serial().map(|serial| format!("{serial}-part{part}")));
            }
        }
        names.extend(self.by_id_names());
        if names.is_empty() {
            names.push(self.name.clone());
        }
        names
    }

    /// Whether `name` of `--destroy-data` means this device.
    pub(crate) fn is_meant_by(&self, name: &str) -> bool {
        let is_tail = |full: &String| {
            full.strip_suffix(name)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '-']))
        };
        !name.is_empty() && self.destroy_names().iter().any(|full| full == name)
            || !name.is_empty() && self.by_id_names().iter().any(is_tail)
    }

    fn serial(&self) -> Option<String> {
        let read = |file: &str| fs::read_to_string(self.directory.join(file)).ok();
        let serial = read("serial").or_else(|| read("device/serial"))?;
        let serial = serial.trim();
        (!serial.is_empty()).then(|| serial.to_owned())
    }

    fn by_id_names(&self) -> Vec<String> {
        let entries = fs::read_dir("/dev/disk/by-id")
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<_> = entries
            .filter(|entry| DeviceNumber::of_device(&entry.path()) == Some(self.number))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Every loop device with a file behind it: its kernel name and that file.
pub(crate) fn loop_backing_files() -> Vec<(String, PathBuf)> {
    let devices = names_in(Path::new("/sys/block")).into_iter();
    devices
        .filter_map(|name| {
            let text = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
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
    fn device_numbers_are_unpacked() {
        check(0x0700, "7:0");
        check(0xfe01, "254:1");
        check(0x0010_0801, "8:257");
        check(0x1000_0000_0000, "4096:0");
    }
}
