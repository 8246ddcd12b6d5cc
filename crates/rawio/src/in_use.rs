//! Regular files that this machine uses as storage of something else: swap areas, loop devices, mounted images.
//!
//! To write to such a file is to write behind the back of what uses it. The kernel keeps others out of an active swap file; it
//! does nothing of the kind for the file of a loop device.
//!
//! Files are told apart by device and inode, as the kernel has them: whatever name leads to a file, and whether the name that
//! it was attached by is still there. A loop device that this user may not look at is known by that name alone.
//!
//! Invariant: what lies on a file system that others serve, whose server may be gone, is looked at only where the question is of
//! a file on the same one.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::file::{OpenHow, open};
use crate::mount_table::{MountTable, unescaped};

/// `LOOP_GET_STATUS64` of `linux/loop.h`.
const LOOP_GET_STATUS64: libc::c_ulong = 0x4c05;
/// `LOOP_MAJOR` of `linux/major.h`.
const LOOP_MAJOR: libc::c_uint = 7;
/// What the kernel adds to the name of a file that was removed.
const DELETED: &str = " (deleted)";

/// What a regular file is the storage of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileUse {
    /// The kernel swaps to it.
    Swap,
    /// The loop device of this kernel name is attached to it.
    LoopDevice(String),
    /// A file system is mounted from it at this place, without a block device between, as FUSE and EROFS do.
    Mount(PathBuf),
}

impl fmt::Display for FileUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swap => f.write_str("it is in use as swap"),
            Self::LoopDevice(name) => write!(f, "it is the storage of the block device {name}"),
            Self::Mount(place) => write!(f, "it is mounted at {}", place.display()),
        }
    }
}

impl FileUse {
    /// How a file of this use becomes free.
    pub fn remedy(&self) -> String {
        match self {
            Self::Swap => "`swapoff` frees it".to_owned(),
            Self::LoopDevice(name) => format!(
                "`losetup --detach /dev/{name}` frees it, once nothing uses that device (`lsblk /dev/{name}` shows what does)"
            ),
            Self::Mount(place) => format!("`umount {}` frees it", place.display()),
        }
    }
}

/// Every file that this machine uses as storage of something else, at one moment.
#[derive(Debug)]
pub struct FilesInUse {
    /// Files, each with what it is the storage of.
    files: Vec<(FileId, FileUse)>,
    /// What is named on file systems that others serve, with the device of that file system. It is looked at once there is need.
    served: Vec<(u64, Named, FileUse)>,
}

/// How the kernel tells of a file that is in use.
#[derive(Debug)]
enum Named {
    /// By a path.
    Path(PathBuf),
    /// As that of the loop device of this name; by a path too.
    Loop(String, PathBuf),
}

impl Named {
    fn path(&self) -> &Path {
        match self {
            Self::Path(path) | Self::Loop(_, path) => path,
        }
    }

    /// The file itself. Whoever asks waits for the file system that it is on.
    fn file(&self) -> Option<FileId> {
        match self {
            Self::Path(path) => FileId::at(path),
            Self::Loop(name, path) => status_of(name).ok().or_else(|| FileId::at(path)),
        }
    }
}

impl FilesInUse {
    /// As the kernel tells them.
    pub fn now() -> Self {
        let table = MountTable::now();
        let swaps = active_swap_areas().into_iter();
        let swaps = swaps.map(|area| (Named::Path(area), FileUse::Swap));
        let loops = loop_devices().into_iter().filter_map(|name| {
            let backing = fs::read(format!("/sys/block/{name}/loop/backing_file")).ok()?;
            let named = Named::Loop(name.clone(), backing_path(backing));
            Some((named, FileUse::LoopDevice(name)))
        });
        let mounts = table.of_paths().map(|(source, place)| {
            let named = Named::Path(source.to_owned());
            (named, FileUse::Mount(place.to_owned()))
        });
        Self::of(swaps.chain(loops).chain(mounts), &table)
    }

    fn of(named: impl Iterator<Item = (Named, FileUse)>, table: &MountTable) -> Self {
        let (mut files, mut served) = (Vec::new(), Vec::new());
        for (named, what) in named {
            match table.served_under(named.path()) {
                Some(device) => served.push((device, named, what)),
                None => files.extend(named.file().map(|file| (file, what))),
            }
        }
        Self { files, served }
    }

    /// What the file of this metadata is the storage of; nothing where it is no regular file.
    pub fn uses_of(&self, found: &Metadata) -> Vec<FileUse> {
        if !found.is_file() {
            return Vec::new();
        }
        let file = FileId::of(found);
        let known = self.files.iter().filter(|(used, _)| *used == file);
        // The file system of what is asked about has answered a moment ago.
        let beside = self.served.iter().filter(|(on, ..)| *on == file.device);
        let beside = beside.filter(|(_, named, _)| named.file() == Some(file));
        let beside = beside.map(|(.., what)| what);
        known.map(|(_, what)| what).chain(beside).cloned().collect()
    }
}

/// What the file of this metadata is the storage of by now ([`FilesInUse`]).
pub fn uses_of_file(found: &Metadata) -> Vec<FileUse> {
    if found.is_file() {
        FilesInUse::now().uses_of(found)
    } else {
        Vec::new()
    }
}

/// Devices and files that the kernel swaps to: the active ones of `/proc/swaps`.
pub fn active_swap_areas() -> Vec<PathBuf> {
    swap_areas(&fs::read("/proc/swaps").unwrap_or_default())
}

/// Device and inode of a file, packed as `st_dev` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
        }
    }

    /// Of what stands at a whole path; `None` where nothing does.
    fn at(path: &Path) -> Option<Self> {
        let found = path.is_absolute().then(|| fs::metadata(path).ok())?;
        found.map(|found| Self::of(&found))
    }
}

/// Paths of a table such as `/proc/swaps` has (`proc_swaps(5)`): a line of titles, then lines that begin with a path.
fn swap_areas(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let paths = lines.filter_map(|line| line.split(|byte| matches!(byte, b' ' | b'\t')).next());
    let paths = paths.filter(|path| !path.is_empty());
    paths.map(unescaped).collect()
}

/// Kernel names of the loop devices.
fn loop_devices() -> Vec<String> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|name| name.starts_with("loop")).collect();
    found.sort();
    found
}

/// The path of `backing_file`, whose file may have been removed since.
fn backing_path(mut told: Vec<u8>) -> PathBuf {
    told.truncate(told.strip_suffix(b"\n").map_or(told.len(), <[u8]>::len));
    told.truncate(
        told.strip_suffix(DELETED.as_bytes())
            .map_or(told.len(), <[u8]>::len),
    );
    PathBuf::from(OsString::from_vec(told))
}

/// `struct loop_info64` of `linux/loop.h`, of whose 232 bytes two numbers matter.
#[repr(C)]
struct LoopStatus {
    device: u64,
    inode: u64,
    others: [u64; 27],
}

/// The file that a loop device is attached to, as the kernel tells who may read the device.
fn status_of(name: &str) -> io::Result<FileId> {
    let device: File = open(&Path::new("/dev").join(name), OpenHow::LOOK)?;
    let found = device.metadata()?;
    if !found.file_type().is_block_device() || libc::major(found.rdev()) != LOOP_MAJOR {
        return Err(io::Error::other("it is no loop device"));
    }
    let mut status = LoopStatus {
        device: 0,
        inode: 0,
        others: [0; 27],
    };
    // SAFETY: LOOP_GET_STATUS64 writes one structure of that size, and the device is a loop device.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, &raw mut status) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(FileId {
        device: status.device,
        inode: status.inode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_swaps(table: &str, expected: &[&str]) {
        let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(swap_areas(table.as_bytes()), expected);
    }

    #[test]
    fn active_swap_areas_are_read() {
        const TITLES: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        check_swaps("", &[]);
        check_swaps(TITLES, &[]);
        let partition = "/dev/vda2                               partition\t4190204\t\t0\t\t-2\n";
        let file = "/var/my\\040swap\\011\\134                     file\t\t4092\t\t0\t\t-3\n";
        let both = format!("{TITLES}{partition}{file}");
        check_swaps(&both, &["/dev/vda2", "/var/my swap\t\\"]);
        check_swaps(&format!("{TITLES}/swap\tfile\t4092\t0\t-2"), &["/swap"]);
    }

    /// Which sources are looked at: those that nothing keeps waiting, and those beside what is asked about.
    #[test]
    fn what_others_serve_is_looked_at_only_from_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        fs::write(&image, "x").unwrap();
        let found = fs::metadata(&image).unwrap();
        let own = (libc::major(found.dev()), libc::minor(found.dev()));
        let what = FileUse::Mount("/mnt/image".into());
        let uses = |kind: &str, (major, minor): (u32, u32)| {
            let root = "28 1 8:1 / / rw - ext4 /dev/sda1 rw";
            let place = folder.path().display();
            let table = format!("{root}\n37 28 {major}:{minor} / {place} rw - {kind} a rw\n");
            let named = [
                (Named::Path(image.clone()), what.clone()),
                // No device has this name, so that its file is known by its path.
                (
                    Named::Loop("loopnone".to_owned(), image.clone()),
                    FileUse::Swap,
                ),
            ];
            let all = FilesInUse::of(named.into_iter(), &MountTable::of(table.as_bytes()));
            (all.files.len(), all.uses_of(&found))
        };
        let both = vec![what.clone(), FileUse::Swap];
        let other = (own.0, own.1 + 1);
        assert_eq!(uses("xfs", other), (2, both.clone()));
        for kind in ["nfs4", "cifs", "fuse.sshfs", "9p"] {
            assert_eq!(uses(kind, other), (0, vec![]), "{kind}");
            assert_eq!(uses(kind, own), (0, both.clone()), "{kind}");
        }
    }

    #[test]
    fn the_file_of_a_loop_device_keeps_its_name_when_it_is_removed() {
        let path = |told: &str| backing_path(told.as_bytes().to_vec());
        assert_eq!(path("/srv/image\n"), Path::new("/srv/image"));
        assert_eq!(path("/srv/image (deleted)\n"), Path::new("/srv/image"));
        assert_eq!(path("/srv/two\nlines\n"), Path::new("/srv/two\nlines"));
    }

    #[test]
    fn the_status_of_a_loop_device_has_the_size_that_the_kernel_writes() {
        assert_eq!(size_of::<LoopStatus>(), 232);
    }

    #[test]
    fn a_file_of_ones_own_is_used_by_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = fs::metadata(file.path()).unwrap();
        assert_eq!(uses_of_file(&found), []);
        let folder = fs::metadata(std::env::temp_dir()).unwrap();
        assert_eq!(uses_of_file(&folder), []);
    }
}
