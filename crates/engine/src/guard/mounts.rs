//! What is mounted.

use std::fs;
use std::path::{Path, PathBuf};

use fathom_rawio::MountTable;

use super::device::DeviceNumber;
use super::kernel::told_at;

/// One mounted file system, by the device that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The device's own number, where the kernel gives it.
    pub(crate) number: Option<DeviceNumber>,
    /// What was mounted, where it is a block device.
    source: Option<DeviceNumber>,
    /// Where.
    pub(crate) place: String,
    /// Type of the file system, such as `ext4`.
    pub(crate) kind: String,
    /// Options of the mount, such as `rw,relatime`.
    pub(crate) options: String,
    /// Those of the file system itself, which all its mounts have in common.
    pub(crate) system_options: String,
}

impl Mount {
    pub(crate) fn is_on(&self, device: DeviceNumber) -> bool {
        self.number == Some(device) || self.source == Some(device)
    }
}

/// Everything mounted in this process's view. What other views have mounted shows when the device is opened for us alone.
pub(crate) fn mounts() -> Vec<Mount> {
    let text = fs::read_to_string(told_at("/proc/self/mountinfo")).unwrap_or_default();
    let table = MountTable::of(text.as_bytes());
    let lines = text.lines();
    lines.filter_map(|line| parse_mount(line, &table)).collect()
}

/// Format: `proc_pid_mountinfo(5)`. What was mounted is not looked at on a file system that may keep waiting.
fn parse_mount(line: &str, table: &MountTable) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let number = fields.nth(2)?;
    let place = unescape(fields.nth(1)?);
    let options = fields.next()?.to_owned();
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    let source = unescape(after.next()?);
    let system_options = after.next().unwrap_or_default().to_owned();
    Some(Mount {
        number: DeviceNumber::parse(number),
        source: Some(Path::new(&source))
            .filter(|source| source.is_absolute() && table.served_under(source).is_none())
            .and_then(DeviceNumber::of_device),
        place,
        kind,
        options,
        system_options,
    })
}

/// Type of the file system that files of this number are on.
pub(crate) fn kind_of(files: DeviceNumber) -> Option<String> {
    let mut all = mounts().into_iter();
    all.find(|mount| mount.number == Some(files))
        .map(|mount| mount.kind)
}

/// The block device that was mounted where `path` is: what files are on whose file system numbers them by itself, as btrfs
/// does. `None` where that is several devices, or none.
pub(crate) fn source_under(path: &Path) -> Option<DeviceNumber> {
    let path = fs::canonicalize(path).ok()?;
    source_in(&mounts(), &path).filter(|source| !is_one_of_several(*source))
}

/// What is mounted where `path`, which is there, lies.
pub(crate) fn mount_over(path: &Path) -> Option<Mount> {
    let path = fs::canonicalize(path).ok()?;
    mount_in(&mounts(), &path).cloned()
}

fn source_in(mounts: &[Mount], path: &Path) -> Option<DeviceNumber> {
    mount_in(mounts, path)?.source
}

/// The mount that `path` is within: the last one mounted there, which hides the others.
fn mount_in<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let over = mounts.iter().filter(|mount| path.starts_with(&mount.place));
    over.max_by_key(|mount| Path::new(&mount.place).components().count())
}

/// The block devices that hold the files where `path` is, where their file system numbers files by itself: several where it
/// spreads them.
pub(crate) fn sources_under(path: &Path) -> Vec<DeviceNumber> {
    let path = fs::canonicalize(path).ok();
    let source = path.and_then(|path| source_in(&mounts(), &path));
    let Some(source) = source else {
        return Vec::new();
    };
    let holding = pools().into_iter().map(|pool| pool.devices);
    let mut holding = holding.filter(|devices| devices.contains(&source));
    holding.next().unwrap_or_else(|| vec![source])
}

/// A mounted btrfs.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Its UUID.
    pub(crate) id: String,
    /// The devices that hold it.
    pub(crate) devices: Vec<DeviceNumber>,
}

/// Every btrfs that is mounted, in whoever's view.
pub(crate) fn pools() -> Vec<Pool> {
    let systems = fs::read_dir(told_at("/sys/fs/btrfs")).into_iter().flatten();
    let pool = |system: fs::DirEntry| {
        let devices = fs::read_dir(system.path().join("devices")).ok()?;
        let number = |path: PathBuf| fs::read_to_string(path.join("dev")).ok();
        let numbers = devices.flatten().filter_map(|entry| number(entry.path()));
        let mut devices: Vec<_> = numbers
            .filter_map(|text| DeviceNumber::parse(&text))
            .collect();
        devices.sort();
        let id = system.file_name().to_string_lossy().into_owned();
        Some(Pool { id, devices })
    };
    systems.flatten().filter_map(pool).collect()
}

/// Whether a btrfs spreads its files over this device and others.
fn is_one_of_several(device: DeviceNumber) -> bool {
    let mut pools = pools().into_iter();
    pools.any(|pool| pool.devices.len() > 1 && pool.devices.contains(&device))
}

/// Resolves `\040` and its like.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let octal = bytes
            .get(index + 1..index + 4)
            .filter(|_| bytes[index] == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(byte) = octal {
            out.push(byte);
            index += 4;
        } else {
            out.push(bytes[index]);
            index += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_is_read() {
        let line = "36 35 98:1 /mnt1 /mnt/my\\040disk rw,noatime master:1 - ext3 none rw";
        let mount = parse_mount(line, &MountTable::default()).unwrap();
        assert_eq!(
            (mount.place.as_str(), mount.kind.as_str()),
            ("/mnt/my disk", "ext3")
        );
        assert_eq!(mount.options, "rw,noatime");
        assert_eq!(mount.system_options, "rw");
        assert!(mount.is_on(DeviceNumber::from_packed(98 << 8 | 1)));
        assert!(!mount.is_on(DeviceNumber::from_packed(98 << 8)));
        assert_eq!(parse_mount("nonsense", &MountTable::default()), None);
    }

    #[test]
    fn the_innermost_and_last_mount_tells_what_files_are_on() {
        let mount = |place: &str, source| Mount {
            number: None,
            source,
            place: place.to_owned(),
            kind: "btrfs".to_owned(),
            options: "rw".to_owned(),
            system_options: String::new(),
        };
        let [root, hidden, data] =
            [1, 2, 3].map(|minor| Some(DeviceNumber::from_packed(8 << 8 | minor)));
        let all = [
            mount("/", root),
            mount("/mnt", hidden),
            mount("/mnt", data),
            mount("/mnt/nfs", None),
        ];
        let of = |path| source_in(&all, Path::new(path));
        assert_eq!(of("/mnt/a/b"), data);
        assert_eq!(of("/mnt2/a"), root);
        assert_eq!(of("/mnt/nfs/a"), None);
        assert_eq!(source_in(&[], Path::new("/")), None);
    }

    #[test]
    fn the_root_is_mounted() {
        assert!(mounts().iter().any(|mount| mount.place == "/"));
    }
}
