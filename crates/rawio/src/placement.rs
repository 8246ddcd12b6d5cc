//! Where and how readily a thread runs, and calls on whole files and file systems.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`; a thread counts as a process here.
const IOPRIO_WHO_PROCESS: libc::c_int = 1;
const IOPRIO_CLASS_SHIFT: u32 = 13;
const IOPRIO_HINT_SHIFT: u32 = 3;

/// Lets the calling thread run on these processors alone.
///
/// # Errors
/// Those of `sched_setaffinity`; `EINVAL` where none of them exists.
pub fn run_on(processors: &[u32]) -> io::Result<()> {
    // SAFETY: all zeroes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let most = 8 * size_of::<libc::cpu_set_t>();
    for processor in processors {
        let processor = *processor as usize;
        if processor >= most {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the number lies within the set.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    // SAFETY: `set` is a valid set of the size given; 0 is the calling thread.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })
}

/// The processors that the calling thread may run on.
///
/// # Errors
/// Those of `sched_getaffinity`; `EINVAL` where the machine has more than 1,024.
pub fn allowed_processors() -> io::Result<Vec<u32>> {
    // SAFETY: all zeroes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for writing, and of the size given; 0 is the calling thread.
    check(unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) })?;
    let all = 0..8 * size_of::<libc::cpu_set_t>();
    // SAFETY: each number lies within the set.
    let allowed = all.filter(|at| unsafe { libc::CPU_ISSET(*at, &set) });
    Ok(allowed.map(|at| at as u32).collect())
}

/// Sets the nice value of the calling thread, -20 to 19.
///
/// # Errors
/// `EACCES` or `EPERM` where that is not allowed.
pub fn be_nice(value: i32) -> io::Result<()> {
    // SAFETY: takes numbers alone; 0 is the calling thread.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) })
}

/// Sets the I/O priority of the calling thread (`ioprio_set`).
///
/// # Errors
/// `EPERM` where the class is not allowed, `EINVAL` where the kernel does not know it.
pub fn set_io_priority(class: u8, level: u8, hint: u16) -> io::Result<()> {
    let value = u32::from(class) << IOPRIO_CLASS_SHIFT
        | u32::from(hint) << IOPRIO_HINT_SHIFT
        | u32::from(level);
    // SAFETY: takes numbers alone; 0 is the calling thread.
    let result = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            IOPRIO_WHO_PROCESS,
            0,
            value.cast_signed(),
        )
    };
    check(result as libc::c_int)
}

/// What a call of [`sync_range`] does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncParts {
    /// Wait for what is being written.
    pub wait_before: bool,
    /// Start writing what is dirty.
    pub write: bool,
    /// Wait for that.
    pub wait_after: bool,
}

/// Writes back a range of a file (`sync_file_range`); a length of 0 reaches to its end.
///
/// # Errors
/// Those of the call; `ESPIPE` where it is neither a file nor a block device.
pub fn sync_range(file: &File, offset: u64, length: u64, parts: SyncParts) -> io::Result<()> {
    let number =
        |value: u64| libc::off64_t::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
    let flags = [
        (parts.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE),
        (parts.write, libc::SYNC_FILE_RANGE_WRITE),
        (parts.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER),
    ];
    let flags = flags.into_iter().filter(|(on, _)| *on);
    let flags = flags.fold(0, |sum, (_, flag)| sum | flag);
    let (offset, length) = (number(offset)?, number(length)?);
    // SAFETY: takes numbers alone.
    check(unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) })
}

/// Writes back everything of the file system that holds `file` (`syncfs`).
///
/// # Errors
/// Those of the call.
pub fn sync_file_system(file: &File) -> io::Result<()> {
    // SAFETY: takes a number alone.
    check(unsafe { libc::syncfs(file.as_raw_fd()) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_put() {
        let placed = std::thread::spawn(|| {
            run_on(&[0]).unwrap();
            be_nice(5).unwrap();
            set_io_priority(2, 6, 0).unwrap();
            let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let allowed = text
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let nice = stat.rsplit(')').next().unwrap().split_whitespace().nth(16);
            assert_eq!((allowed.unwrap().trim(), nice), ("0", Some("5")));
        });
        placed.join().unwrap();
    }

    #[test]
    fn processors_that_do_not_exist_are_an_error() {
        assert!(run_on(&[]).is_err());
        assert!(run_on(&[1_000_000]).is_err());
    }

    #[test]
    fn files_are_written_back() {
        let file = crate::open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        file.set_len(8192).unwrap();
        let parts = SyncParts {
            write: true,
            wait_after: true,
            ..SyncParts::default()
        };
        sync_range(&file, 0, 0, parts).unwrap();
        sync_file_system(&file).unwrap();
    }
}
