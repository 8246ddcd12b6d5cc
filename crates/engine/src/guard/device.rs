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

    /// Its number among the partitions of its disk; `None` where it is whole.
    pub(crate) fn partition_number(&self) -> Option<String> {
        self.attribute("partition")
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
