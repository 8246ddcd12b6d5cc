//! Operations on files and directories in place of reads and writes.
//!
//! Each stands for the request whose place it takes: a request of 4,096 bytes that makes a file has moved 4,096 bytes as
//! far as counters go. Its offset and buffer mean nothing to operations on names.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use crate::one_by_one::Performer;
use crate::plain::perform;
use crate::{Operation, Request};

/// What is done to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOperation {
    /// `open` for reading and writing, making the file where it is missing.
    Create,
    /// `stat`.
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx` of everything.
    Statx,
    /// `unlink`.
    Unlink,
    /// `mkdir`.
    MakeDirectory,
    /// `rmdir`.
    RemoveDirectory,
}

/// Does one operation to names, one name a request.
#[derive(Debug)]
pub struct Names {
    operation: NameOperation,
    paths: Vec<PathBuf>,
    terminated: Vec<CString>,
    /// The file made last: closed when the next is made, so that closing is not timed with making.
    open: Option<File>,
}

impl Names {
    /// `operation` on `paths`, which requests name by their `file`.
    ///
    /// # Errors
    /// A path with a zero byte.
    pub fn new(operation: NameOperation, paths: Vec<PathBuf>) -> io::Result<Self> {
        let terminated = paths.iter().map(|path| {
            CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput)
        });
        Ok(Self {
            operation,
            terminated: terminated.collect::<Result<_, _>>()?,
            paths,
            open: None,
        })
    }

    fn statx(path: &CString) -> io::Result<()> {
        // SAFETY: all zeroes are a valid statx.
        let mut found: libc::statx = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends with a zero byte, and `found` is valid for writing.
        let result = unsafe {
            libc::statx(
                libc::AT_FDCWD,
                path.as_ptr(),
                0,
                libc::STATX_ALL,
                &raw mut found,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn act(&mut self, file: usize) -> io::Result<()> {
        let path = &self.paths[file];
        match self.operation {
            NameOperation::Create => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).mode(0o600);
                self.open = Some(options.truncate(false).open(path)?);
                Ok(())
            }
            NameOperation::Stat => fs::metadata(path).map(drop),
            NameOperation::Lstat => fs::symlink_metadata(path).map(drop),
            NameOperation::Statx => Self::statx(&self.terminated[file]),
            NameOperation::Unlink => fs::remove_file(path),
            NameOperation::MakeDirectory => fs::DirBuilder::new().mode(0o700).create(path),
            NameOperation::RemoveDirectory => fs::remove_dir(path),
        }
    }
}

impl Performer for Names {
    fn perform(&mut self, request: Request, _buffer: &mut [u8]) -> Result<u32, i32> {
        match request.operation {
            Operation::Read | Operation::Write | Operation::WriteThrough => {
                let done = self.act(request.file as usize);
                done.map(|()| request.length).map_err(|error| code(&error))
            }
            Operation::Fsync | Operation::Fdatasync => Ok(0),
        }
    }

    fn prepare(&mut self) {
        self.open = None;
    }

    fn files(&self) -> &[File] {
        &[]
    }
}

/// What is done to a range of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeOperation {
    /// `fallocate`: reads reserve space within the file's size, writes may make it longer.
    Allocate,
    /// `ftruncate` to the offset of a write.
    Truncate,
}

/// Does one operation to ranges of files.
#[derive(Debug)]
pub struct Ranges {
    operation: RangeOperation,
    files: Vec<File>,
}

impl Ranges {
    /// `operation` on `files`.
    pub fn new(operation: RangeOperation, files: Vec<File>) -> Self {
        Self { operation, files }
    }
}

impl Performer for Ranges {
    fn perform(&mut self, request: Request, buffer: &mut [u8]) -> Result<u32, i32> {
        let file = &self.files[request.file as usize];
        let done = match (request.operation, self.operation) {
            (Operation::Fsync | Operation::Fdatasync, _) => return perform(file, request, buffer),
            (Operation::Read, RangeOperation::Allocate) => allocate(
                file,
                libc::FALLOC_FL_KEEP_SIZE,
                request.offset,
                request.length.into(),
            ),
            (Operation::Write | Operation::WriteThrough, RangeOperation::Allocate) => {
                allocate(file, 0, request.offset, request.length.into())
            }
            (Operation::Write | Operation::WriteThrough, RangeOperation::Truncate) => {
                file.set_len(request.offset)
            }
            (Operation::Read, RangeOperation::Truncate) => return Err(libc::EINVAL),
        };
        done.map(|()| request.length).map_err(|error| code(&error))
    }

    fn files(&self) -> &[File] {
        &self.files
    }
}

/// Punches a hole into a file.
///
/// # Errors
/// Those of `fallocate`.
pub fn punch_hole(file: &File, offset: u64, length: u32) -> io::Result<()> {
    let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    allocate(file, flags, offset, length.into())
}

/// Whether a file becomes longer by what is reserved of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservedSize {
    /// Its size covers what is reserved.
    Grows,
    /// Its size stays as it is.
    Stays,
}

/// Reserves the first `length` bytes of a file, without writing them.
///
/// # Errors
/// Those of `fallocate`: [`io::ErrorKind::Unsupported`] where the file system has none.
pub fn reserve(file: &File, size: ReservedSize, length: u64) -> io::Result<()> {
    let flags = match size {
        ReservedSize::Grows => 0,
        ReservedSize::Stays => libc::FALLOC_FL_KEEP_SIZE,
    };
    loop {
        match allocate(file, flags, 0, length) {
            // A signal's handler has run; the call starts over.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn allocate(file: &File, flags: libc::c_int, offset: u64, length: u64) -> io::Result<()> {
    let number = |value: u64| libc::off_t::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
    let (offset, length) = (number(offset)?, number(length)?);
    // SAFETY: takes numbers alone.
    if unsafe { libc::fallocate(file.as_raw_fd(), flags, offset, length) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(operation: Operation, offset: u64) -> Request {
        Request {
            slot: 0,
            file: 0,
            operation,
            offset,
            length: 4096,
        }
    }

    #[track_caller]
    fn check(operation: NameOperation, path: &std::path::Path, expected: Result<u32, i32>) {
        let mut names = Names::new(operation, vec![path.to_owned()]).unwrap();
        let done = names.perform(request(Operation::Read, 0), &mut []);
        assert_eq!(done, expected, "{operation:?}");
    }

    #[test]
    fn names_are_made_looked_at_and_removed() {
        use NameOperation::{Create, Lstat, MakeDirectory, RemoveDirectory, Stat, Statx, Unlink};
        let name = format!("fathom-names-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        for missing in [Stat, Lstat, Statx, Unlink, RemoveDirectory] {
            check(missing, &path, Err(libc::ENOENT));
        }
        for file in [Create, Create, Stat, Lstat, Statx] {
            check(file, &path, Ok(4096));
        }
        check(MakeDirectory, &path, Err(libc::EEXIST));
        check(RemoveDirectory, &path, Err(libc::ENOTDIR));
        check(Unlink, &path, Ok(4096));
        for directory in [MakeDirectory, Stat, Statx, RemoveDirectory] {
            check(directory, &path, Ok(4096));
        }
        assert!(!path.exists());
    }

    #[test]
    fn space_is_reserved_with_and_without_size() {
        use std::os::unix::fs::MetadataExt;
        let file = crate::open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        for (size, expected) in [(ReservedSize::Stays, 0), (ReservedSize::Grows, 1 << 20)] {
            reserve(&file, size, 1 << 20).unwrap();
            let found = file.metadata().unwrap();
            assert_eq!(found.len(), expected);
            assert!(found.blocks() >= 2048);
        }
        let error = reserve(&file, ReservedSize::Grows, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn ranges_change_sizes() {
        let file = crate::open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        let size = |ranges: &Ranges| ranges.files()[0].metadata().unwrap().len();
        let mut ranges = Ranges::new(RangeOperation::Allocate, vec![file]);
        let read = ranges.perform(request(Operation::Read, 8192), &mut []);
        assert_eq!((read, size(&ranges)), (Ok(4096), 0));
        let write = ranges.perform(request(Operation::Write, 8192), &mut []);
        assert_eq!((write, size(&ranges)), (Ok(4096), 12288));
        punch_hole(&ranges.files()[0], 8192, 4096).unwrap();
        assert_eq!(size(&ranges), 12288);
        ranges.operation = RangeOperation::Truncate;
        let write = ranges.perform(request(Operation::Write, 100), &mut []);
        assert_eq!((write, size(&ranges)), (Ok(4096), 100));
        let read = ranges.perform(request(Operation::Read, 100), &mut []);
        assert_eq!(read, Err(libc::EINVAL));
    }
}
