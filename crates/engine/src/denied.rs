//! Why a path may not be used, as far as owners and modes say it.
//!
//! "Permission denied" names the path that was asked for. What forbids it may be a directory above it, and what helps
//! depends on who owns it, so both are looked up once the system has refused.
//!
//! Invariant: nothing here decides anything; what may be opened is what the system lets be opened.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What to do about a refusal of the system, or `None` where it has refused for another reason.
pub(crate) fn remedy(path: &Path, source: &io::Error) -> Option<String> {
    if source.kind() != io::ErrorKind::PermissionDenied {
        return None;
    }
    let path = std::path::absolute(path).ok()?;
    let (culprit, metadata) = culprit(&path)?;
    let user = acting_user()?;
    let subject = if culprit == path {
        "it".to_owned()
    } else {
        format!("`{}`", culprit.display())
    };
    let owner = name_of("/etc/passwd", metadata.uid());
    let group = name_of("/etc/group", metadata.gid());
    let mode = metadata.mode() & 0o7777;
    let us = name_of("/etc/passwd", user);
    if user == 0 {
        return Some(format!(
            "{subject} belongs to {owner}, mode {mode:04o}, which does not keep {us} out: look for a read-only or immutable \
             file (`lsattr`), a share that maps root to another user, a container that was not given the device, or \
             a security module"
        ));
    }
    let found =
        format!("{subject} belongs to {owner}:{group}, mode {mode:04o}, and this is user {us}");
    let kind = metadata.file_type();
    let what = if kind.is_block_device() && mode & 0o060 != 0 && metadata.gid() != 0 {
        format!(
            "run as {owner}, or in group {group} (`usermod -aG {group} {us}`, then log in anew)"
        )
    } else if kind.is_block_device() {
        format!("run as {owner}")
    } else if kind.is_dir() {
        format!("run as {owner}, have its owner open the directory to you, or name another")
    } else {
        format!("run as {owner}, have its owner change the mode, or name another target")
    };
    Some(format!("{found}; {what}"))
}

/// What keeps a path closed: itself, or the directory below which nothing of it can be seen or made.
fn culprit(path: &Path) -> Option<(PathBuf, fs::Metadata)> {
    let mut last = None;
    let mut parts: Vec<_> = path.ancestors().collect();
    parts.reverse();
    for part in parts {
        match fs::metadata(part) {
            Ok(metadata) => last = Some((part.to_owned(), metadata)),
            // Behind a link, the directory that is closed is not above it.
            Err(_) if fs::symlink_metadata(part).is_ok() => return None,
            Err(_) => break,
        }
    }
    last
}

/// The user whose rights to files the calling thread has.
fn acting_user() -> Option<u32> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().nth(3)?.parse().ok()
}

/// The name that a table of users or groups has for a number, or the number.
fn name_of(table: &str, number: u32) -> String {
    let table = fs::read_to_string(table).unwrap_or_default();
    let number = number.to_string();
    let found = table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    });
    found.unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_rawio::FileRights;
    use std::os::unix::fs::PermissionsExt;

    /// A user that no file of a test belongs to, and that has no name.
    const OTHER: u32 = 54_321;

    /// What another user is told of a path with nobody's rights but root's.
    #[track_caller]
    fn check(path: &Path, expected: &str) {
        let rights = FileRights::of(Some(OTHER), Some(OTHER)).unwrap();
        let error = fs::File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .unwrap_err();
        let remedy = remedy(path, &error).unwrap();
        drop(rights);
        assert_eq!(remedy, expected);
    }

    #[test]
    fn what_keeps_a_path_closed_is_named() {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(directory.path(), 0o755);
        let file = directory.path().join("file");
        fs::write(&file, "x").unwrap();
        mode(&file, 0o640);
        let closed = directory.path().join("closed");
        fs::create_dir(&closed).unwrap();
        mode(&closed, 0o700);
        check(
            &file,
            "it belongs to root:root, mode 0640, and this is user 54321; run as root, have its owner change the mode, \
             or name another target",
        );
        let closed_to = |path: &Path, mode| {
            format!(
                "`{}` belongs to root:root, mode {mode}, and this is user 54321; run as root, have its owner open the \
                 directory to you, or name another",
                path.display()
            )
        };
        check(&closed.join("deep/new"), &closed_to(&closed, "0700"));
        check(
            &directory.path().join("new"),
            &closed_to(directory.path(), "0755"),
        );
        let missing = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(remedy(&file, &missing), None);
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let of_root = remedy(&file, &denied).unwrap();
        assert!(of_root.contains("does not keep root out"), "{of_root}");
    }
}
