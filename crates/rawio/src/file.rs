//! Files and block devices: opening, sizes, attributes, cache, discard.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fathom_units::Bytes;

/// `BLKDISCARD` of `linux/fs.h`.
const BLKDISCARD: libc::c_ulong = 0x1277;
/// `BLKSSZGET` of `linux/fs.h`.
const BLKSSZGET: libc::c_ulong = 0x1268;
/// `F_GET_RW_HINT` of `linux/fcntl.h`, and the two that set what it and its like get.
const F_GET_RW_HINT: libc::c_int = 1024 + 11;
const F_SET_RW_HINT: libc::c_int = 1024 + 12;
const F_SET_FILE_RW_HINT: libc::c_int = 1024 + 14;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    ReadWrite,
    /// Reading and writing; refused where the file exists.
    CreateNew,
    /// Reading and writing of a block device, for this opener alone (`O_EXCL`): refused where a mount, a swap area or
    /// another device uses it.
    ExclusiveDevice,
    /// Reading of a block device, for this opener alone: refused as [`Access::ExclusiveDevice`].
    ExclusiveLook,
}

/// Whether the page cache stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// `O_DIRECT`.
    Direct,
    /// Through the page cache.
    Buffered,
}

impl Caching {
    const fn flag(self) -> i32 {
        match self {
            Self::Direct => libc::O_DIRECT,
            Self::Buffered => 0,
        }
    }
}

/// Whether the page cache stands between a file and who has it open.
///
/// Of what cannot be asked it is taken to stand there.
pub(crate) fn caching_of(file: &File) -> Caching {
    // SAFETY: takes numbers alone.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags >= 0 && flags & libc::O_DIRECT != 0 {
        Caching::Direct
    } else {
        Caching::Buffered
    }
}

/// Whether a file is open for writing, through the page cache. Of what cannot be asked it is taken not to be.
pub(crate) fn writes_to_cache(file: &File) -> bool {
    // SAFETY: takes numbers alone.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT == 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}

/// What a completed write has survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing.
    None,
    /// `O_DSYNC`.
    Data,
    /// `O_SYNC`.
    Full,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenHow {
    /// What for.
    pub access: Access,
    /// Page cache or not.
    pub caching: Caching,
    /// Synchronous or not.
    pub durability: Durability,
}

impl OpenHow {
    /// Reading through the page cache, to look at a file.
    pub const LOOK: Self = Self {
        access: Access::Read,
        caching: Caching::Buffered,
        durability: Durability::None,
    };

    fn flags(self) -> i32 {
        let durability = match self.durability {
            Durability::None => 0,
            Durability::Data => libc::O_DSYNC,
            Durability::Full => libc::O_SYNC,
        };
        self.caching.flag() | durability
    }
}

/// Lets this process have as many files open as its hard limit allows: each worker opens every file of its job, and the
/// soft limit is kept low (1,024) only for programs that use `select`. Returns the limit now in force.
///
/// # Errors
/// Those of `getrlimit` and `setrlimit`.
pub fn raise_open_files_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` is a valid rlimit.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(limit.rlim_cur)
}

/// Opens a file or device.
///
/// # Errors
/// Those of `open`; `EINVAL` with [`Caching::Direct`] means that the file system has no direct I/O.
pub fn open(path: &Path, how: OpenHow) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    let exclusive = match how.access {
        Access::Read => 0,
        Access::ReadWrite => {
            options.write(true);
            0
        }
        Access::CreateNew => {
            options.write(true).create_new(true);
            0
        }
        Access::ExclusiveDevice => {
            options.write(true);
            libc::O_EXCL
        }
        Access::ExclusiveLook => libc::O_EXCL,
    };
    let flags = how.flags() | exclusive;
    // What is measured should be the I/O asked for, not notes of when a file was read. The owner of a file may ask that.
    match options.custom_flags(flags | libc::O_NOATIME).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            options.custom_flags(flags).open(path)
        }
        opened => opened,
    }
}

/// Makes a file without a name in `directory`, which is gone when its last descriptor is closed (`O_TMPFILE`).
///
/// # Errors
/// Those of `open`; `EOPNOTSUPP` or `EISDIR` mean that the file system has no such files.
pub fn open_unnamed(directory: &Path, caching: Caching) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE | caching.flag())
        .open(directory)
}

/// Opens a file a second time by its descriptor, in another way; a file without a name can be opened by this alone.
///
/// # Errors
/// Those of `open`.
pub fn reopen(file: &File, how: OpenHow) -> io::Result<File> {
    open(
        Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())),
        how,
    )
}

/// Opens a file for reading such that a read of nothing says so at once instead of waiting.
///
/// # Errors
/// Those of `open`.
pub fn open_nonblocking(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    options.open(path)
}

/// Size of a regular file or block device, in bytes.
///
/// # Errors
/// Those of `lseek`.
pub fn size_of(mut file: &File) -> io::Result<Bytes> {
    file.seek(SeekFrom::End(0)).map(Bytes::new)
}

/// Space that an ordinary user may still fill on the file system of `path`.
///
/// # Errors
/// Those of `statvfs`.
pub fn free_space(path: &Path) -> io::Result<Bytes> {
    let path = c_path(path.as_os_str().as_bytes())?;
    // SAFETY: all zeroes are a valid statvfs.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and `found` is valid for writing.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut found) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Bytes::new(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// Sets an extended attribute.
///
/// # Errors
/// Those of `fsetxattr`; `EOPNOTSUPP` where the file system has none.
pub fn set_attribute(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    let name = c_path(name.as_bytes())?;
    // SAFETY: the name ends with a zero byte; the value is `value.len()` bytes long.
    let result = unsafe {
        libc::fsetxattr(
            file.as_raw_fd(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    };
    check(result)
}

/// Reads an extended attribute of at most 255 bytes; `None` where the file bears none of this name.
///
/// # Errors
/// Those of `fgetxattr`; `EOPNOTSUPP` where the file system has none.
pub fn get_attribute(file: &File, name: &str) -> io::Result<Option<Vec<u8>>> {
    let name = c_path(name.as_bytes())?;
    let mut value = vec![0u8; 255];
    // SAFETY: the name ends with a zero byte; `value` has room for as many bytes as are said.
    let length = unsafe {
        libc::fgetxattr(
            file.as_raw_fd(),
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    if length < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENODATA) => Ok(None),
            _ => Err(error),
        };
    }
    value.truncate(length as usize);
    Ok(Some(value))
}

/// What the kernel is told of the order in which a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// At random: nothing is read ahead.
    Random,
    /// In order: more is read ahead.
    Sequential,
    /// Once: what was read is let go of sooner.
    Once,
}

/// Tells the kernel how a range of a file will be read through this descriptor; a length of 0 reaches to its end. Linux
/// heeds [`Advice::Random`] and [`Advice::Sequential`] for the whole file, whatever the range.
///
/// # Errors
/// Those of `posix_fadvise`.
pub fn advise(file: &File, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
    let number =
        |value: u64| libc::off64_t::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
    let advice = match advice {
        Advice::Random => libc::POSIX_FADV_RANDOM,
        Advice::Sequential => libc::POSIX_FADV_SEQUENTIAL,
        Advice::Once => libc::POSIX_FADV_NOREUSE,
    };
    let (offset, length) = (number(offset)?, number(length)?);
    // SAFETY: takes numbers alone.
    match unsafe { libc::posix_fadvise64(file.as_raw_fd(), offset, length, advice) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// How long what is written to a file is expected to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Nothing is known of it.
    Unknown,
    /// Short.
    Short,
    /// Longer.
    Medium,
    /// Longer still.
    Long,
    /// The longest.
    Extreme,
}

/// Tells the kernel how long what is written to a file is expected to live. Under direct I/O it is said of this descriptor
/// alone, as far as kernels have that (4.13 to 5.17), and else of the file.
///
/// # Errors
/// Those of `fcntl` with `F_SET_RW_HINT`.
pub fn set_lifetime(file: &File, lifetime: Lifetime, caching: Caching) -> io::Result<()> {
    let hint: u64 = match lifetime {
        Lifetime::Unknown => 1,
        Lifetime::Short => 2,
        Lifetime::Medium => 3,
        Lifetime::Long => 4,
        Lifetime::Extreme => 5,
    };
    let set = |command| {
        // SAFETY: both commands read one u64, which outlives the call.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const hint) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    if caching == Caching::Direct && set(F_SET_FILE_RW_HINT).is_ok() {
        return Ok(());
    }
    set(F_SET_RW_HINT)
}

/// The least and the most bytes that a write can have to be stored whole or not at all; `None` where the file offers no such
/// writes, or the kernel (before Linux 6.11) knows none.
///
/// # Errors
/// Those of `statx`.
pub fn atomic_write_sizes(file: &File) -> io::Result<Option<(u32, u32)>> {
    // SAFETY: all zeroes are a valid statx.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    let asked = libc::STATX_WRITE_ATOMIC;
    let (fd, flags) = (file.as_raw_fd(), libc::AT_EMPTY_PATH);
    // SAFETY: the empty path ends with a zero byte, and `found` is valid for writing.
    let result = unsafe { libc::statx(fd, c"".as_ptr(), flags, asked, &raw mut found) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let most = found.stx_atomic_write_unit_max;
    let offered = found.stx_mask & asked != 0 && most > 0;
    Ok(offered.then_some((found.stx_atomic_write_unit_min, most)))
}

/// The number by which the kernel knows how long what is written to the file is expected to live; 0: nobody said.
///
/// # Errors
/// Those of `fcntl` with `F_GET_RW_HINT`.
pub fn lifetime_number(file: &File) -> io::Result<u64> {
    let mut hint: u64 = 0;
    // SAFETY: the command writes one u64, which outlives the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), F_GET_RW_HINT, &raw mut hint) } {
        0 => Ok(hint),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Drops the clean pages of a range of the file from the page cache; a `length` of 0 is all up to the file's end. Pages that a
/// process has mapped stay.
///
/// # Errors
/// Those of `posix_fadvise`.
pub fn drop_cache(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let [offset, length] = [offset, length].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let (file, unwanted) = (file.as_raw_fd(), libc::POSIX_FADV_DONTNEED);
    // SAFETY: takes numbers alone.
    let code = unsafe { libc::posix_fadvise(file, offset, length, unwanted) };
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Discards a range of a block device (`BLKDISCARD`); both numbers are multiples of its sector.
///
/// # Errors
/// Those of the request; `EOPNOTSUPP` where the device has no discard.
pub fn discard(device: &File, offset: u64, length: u64) -> io::Result<()> {
    let range = [offset, length];
    // SAFETY: BLKDISCARD reads two numbers of 64 bits.
    let request = || check(unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD, range.as_ptr()) });
    match request() {
        // While another descriptor holds the device for itself, as the write guard's does, the kernel does not throw away
        // dirty pages of the range; once they are written, it drops them.
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            device.sync_data()?;
            request()
        }
        other => other,
    }
}

/// Logical sector of a block device.
///
/// # Errors
/// Those of the request; `ENOTTY` where it is no block device.
pub fn sector_size(device: &File) -> io::Result<Bytes> {
    let mut size: libc::c_int = 0;
    // SAFETY: BLKSSZGET writes one int.
    check(unsafe { libc::ioctl(device.as_raw_fd(), BLKSSZGET, &raw mut size) })?;
    Ok(Bytes::new(size.unsigned_abs().into()))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn c_path(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unnamed_file_leaves_no_name() {
        let directory = std::env::temp_dir().join(format!("fathom-unnamed-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = open_unnamed(&directory, Caching::Buffered).unwrap();
        file.set_len(8192).unwrap();
        assert_eq!(size_of(&file).unwrap(), Bytes::kib(8));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        std::fs::remove_dir(&directory).unwrap();
    }

    #[test]
    fn attributes_are_read_back() {
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        assert_eq!(get_attribute(&file, "user.fathom.test").unwrap(), None);
        set_attribute(&file, "user.fathom.test", b"1").unwrap();
        let value = get_attribute(&file, "user.fathom.test").unwrap();
        assert_eq!(value.as_deref(), Some(&b"1"[..]));
    }

    #[test]
    fn free_space_is_found_where_a_directory_is() {
        assert!(free_space(&std::env::temp_dir()).unwrap() > Bytes::ZERO);
        assert!(free_space(Path::new("/no/such/directory")).is_err());
    }
}
