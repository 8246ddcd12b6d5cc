//! The user and group that a thread acts as.
//!
//! Users and groups belong to threads in Linux; that all threads of a program change together is the C library's doing, which
//! these calls go past.

use std::io;

/// No change of a user or group, in calls that take three of them.
const UNCHANGED: u32 = u32::MAX;

/// Opens files with the rights of another user and group on the calling thread, until it is dropped.
#[derive(Debug)]
#[must_use = "the rights end when it is dropped"]
pub struct FileRights {
    user: u32,
    group: u32,
}

impl FileRights {
    /// Takes the rights of `user` and `group` (`None`: the thread's own).
    ///
    /// # Errors
    /// `EPERM` where the thread may not.
    pub fn of(user: Option<u32>, group: Option<u32>) -> io::Result<Self> {
        let before = Self {
            user: file_user(UNCHANGED),
            group: file_group(UNCHANGED),
        };
        // The group first: a user without privileges cannot change it.
        if let Some(group) = group {
            file_group(group);
        }
        if let Some(user) = user {
            file_user(user);
        }
        let has = |wanted: Option<u32>, found| wanted.is_none_or(|wanted| wanted == found);
        if has(user, file_user(UNCHANGED)) && has(group, file_group(UNCHANGED)) {
            return Ok(before);
        }
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

impl Drop for FileRights {
    fn drop(&mut self) {
        file_user(self.user);
        file_group(self.group);
    }
}

/// Has the calling thread run as `user` and `group` for good (`None`: as before), as `setgid` and `setuid` do it for a process.
///
/// # Errors
/// `EPERM` where it may not.
pub fn become_user(user: Option<u32>, group: Option<u32>) -> io::Result<()> {
    for (call, id) in [(libc::SYS_setgid, group), (libc::SYS_setuid, user)] {
        let Some(id) = id else { continue };
        // SAFETY: takes a number alone, and changes nothing but the calling thread's rights.
        if unsafe { libc::syscall(call, id) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Sets the user of file accesses, where the thread may, and says which it was.
fn file_user(user: u32) -> u32 {
    // SAFETY: takes a number alone, and changes nothing but the calling thread's rights.
    unsafe { libc::syscall(libc::SYS_setfsuid, user) as u32 }
}

fn file_group(group: u32) -> u32 {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_setfsgid, group) as u32 }
}
