//! Memory that a machine cannot use for anything else.
//!
//! Locked pages are no page cache: what a worker reads and writes meets a machine with so much less memory.

use std::io;
use std::ptr::NonNull;

/// A mapping whose pages are all there and stay (`mlock`), until it is dropped.
#[derive(Debug)]
pub struct LockedMemory {
    start: NonNull<libc::c_void>,
    length: usize,
}

impl LockedMemory {
    /// Takes `length` bytes of memory, more than none.
    ///
    /// # Errors
    /// Those of `mmap` and `mlock`: `ENOMEM` or `EPERM` where the limit of locked memory (`RLIMIT_MEMLOCK`) is lower.
    pub fn new(length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a new private mapping of no file; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = Self { start, length };
        // SAFETY: the range is the mapping above, which is there until `memory` is dropped.
        if unsafe { libc::mlock(memory.start.as_ptr(), memory.length) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(memory)
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing refers to its bytes.
        unsafe { libc::munmap(self.start.as_ptr(), self.length) };
    }
}
