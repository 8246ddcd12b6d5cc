//! The mount of a tree of files by the kernel's FUSE.
//!
//! A mount is made and undone by this process. A server that was killed leaves one that answers nothing any more;
//! [`stale`] finds those.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, UnmountFlags};

/// Type of our mounts, as `/proc/self/mountinfo` tells it.
const TYPE: &str = "fuse.fathom";
/// The kernel's side of every FUSE mount.
const DEVICE: &str = "/dev/fuse";

/// Why files cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The place is none, or is taken.
    #[error("`{path}` cannot show the volumes: {why}")]
    Place {
        /// The directory.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel has no FUSE for us.
    #[error(
        "`{DEVICE}` cannot be opened: {error}\n  hint: {}, or serve over NBD alone",
        device_remedy(error)
    )]
    Device {
        /// Why.
        error: io::Error,
    },
    /// The kernel refused.
    #[error(
        "`{path}` cannot be mounted on: {source}\n  hint: mounting needs root, serving over NBD does not"
    )]
    Mount {
        /// The directory.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// What to do where the device cannot be opened.
fn device_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run as root, as mounting needs it",
        _ => "load the kernel's module `fuse`",
    }
}

/// A mount, and the device through which its requests come. Undone when dropped.
#[derive(Debug)]
pub(crate) struct Mount {
    path: PathBuf,
    device: OwnedFd,
}

impl Mount {
    /// Mounts on a directory. Its requests wait until somebody reads them.
    pub fn new(path: &Path) -> Result<Self, MountError> {
        let place = |why: String| MountError::Place {
            path: path.display().to_string(),
            why,
        };
        if is_dead(path) {
            return Err(place(
                "a server that was killed has left its mount there\n  hint: `fathom serve --clean` removes it"
                    .to_owned(),
            ));
        }
        let found = fs::metadata(path);
        let found = found.map_err(|error| {
            place(format!(
                "{error}\n  hint: name an empty directory that is there"
            ))
        })?;
        if !found.is_dir() {
            return Err(place(
                "it is no directory\n  hint: name an empty one".to_owned(),
            ));
        }
        let mut entries = fs::read_dir(path).map_err(|error| place(error.to_string()))?;
        if entries.next().is_some() {
            return Err(place(
                "it is not empty\n  hint: name an empty directory".to_owned(),
            ));
        }
        let path = fs::canonicalize(path).map_err(|error| place(error.to_string()))?;
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let device = rustix::fs::open(DEVICE, flags, Mode::empty());
        let device = device.map_err(|error| MountError::Device {
            error: error.into(),
        })?;
        mount(&path, device.as_fd()).map_err(|source| MountError::Mount {
            path: path.display().to_string(),
            source,
        })?;
        Ok(Self { path, device })
    }

    /// Where its requests come, and their replies go.
    pub fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // One that somebody else has unmounted is gone already.
        let _ = rustix::mount::unmount(&self.path, UnmountFlags::DETACH);
    }
}

/// Whether nobody answers in a mount any more. Space is asked for since the kernel keeps nothing of it: attributes it still
/// tells when their server is gone.
fn is_dead(path: &Path) -> bool {
    rustix::fs::statfs(path).is_err_and(|error| error == rustix::io::Errno::NOTCONN)
}

fn mount(path: &Path, device: BorrowedFd<'_>) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    let options = format!(
        "fd={},rootmode=40700,user_id={},group_id={}",
        device.as_raw_fd(),
        user.as_raw(),
        group.as_raw()
    );
    let options = std::ffi::CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(rustix::mount::mount(
        "fathom",
        path,
        TYPE,
        flags,
        Some(options.as_c_str()),
    )?)
}

/// Our mounts whose server is gone.
pub(crate) fn stale() -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let ours = table.lines().filter_map(place_of_ours);
    Ok(ours.filter(|path| is_dead(path)).collect())
}

/// Where everything is mounted.
pub(crate) fn places() -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let places = table.lines().filter_map(|line| line.split(' ').nth(4));
    Ok(places.map(|place| unescaped(place).into()).collect())
}

/// Removes a mount whose server is gone.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(path, UnmountFlags::DETACH)?)
}

/// The directory of a line of `mountinfo`, where the mount is one of ours.
fn place_of_ours(line: &str) -> Option<PathBuf> {
    let (fields, rest) = line.split_once(" - ")?;
    if rest.split(' ').next()? != TYPE {
        return None;
    }
    Some(PathBuf::from(unescaped(fields.split(' ').nth(4)?)))
}

/// `mountinfo` writes blanks, tabs, line ends and backslashes as three octal digits.
pub(crate) fn unescaped(field: &str) -> String {
    let marks = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let mut text = field.to_owned();
    for (mark, character) in marks {
        text = text.replace(mark, character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_mount_is_not_sent_to_load_a_module() {
        let told = |kind: io::ErrorKind| MountError::Device { error: kind.into() }.to_string();
        let denied = told(io::ErrorKind::PermissionDenied);
        assert!(
            denied.ends_with("hint: run as root, as mounting needs it, or serve over NBD alone")
        );
        assert!(told(io::ErrorKind::NotFound).contains("hint: load the kernel's module `fuse`"));
    }

    #[test]
    fn our_mounts_are_known_by_their_type() {
        let ours = r"36 35 0:42 / /mnt/my\040disks rw,nosuid - fuse.fathom fathom rw,user_id=0";
        assert_eq!(place_of_ours(ours), Some(PathBuf::from("/mnt/my disks")));
        for other in [
            "36 35 0:42 / /mnt/x rw shared:7 - fuse.sshfs host rw",
            "36 35 8:1 / / rw - ext4 /dev/sda1 rw",
            "nonsense",
        ] {
            assert_eq!(place_of_ours(other), None, "{other}");
        }
    }
}
