//! Files read and written by copies to and from a mapping.
//!
//! A mapping is as long as its file was when it was made; a request beyond that is refused. Whoever cuts a mapped file
//! shorter takes pages away that a copy may be in: the kernel then ends the process with SIGBUS, as it does for every
//! user of `mmap`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use crate::one_by_one::Performer;
use crate::plain::perform;
use crate::{Advice, Operation, Request, size_of};

/// What stands between the copy and the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappedWrites {
    /// The page cache.
    Cached,
    /// Nothing that outlasts the request: its pages are written back and dropped at its end.
    Through,
}

/// Copies to and from mapped files.
#[derive(Debug)]
pub struct MappedFiles {
    files: Vec<File>,
    maps: Vec<Map>,
    writes: MappedWrites,
}

#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    length: usize,
    writable: bool,
}

impl Map {
    fn new(file: &File) -> io::Result<Self> {
        let length = usize::try_from(size_of(file)?.get());
        let length = length.ok().filter(|length| *length > 0);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: takes numbers alone.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        let writable = flags >= 0 && flags & libc::O_ACCMODE == libc::O_RDWR;
        let write = if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new shared mapping of an open file; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | write,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            start,
            length,
            writable,
        })
    }

    /// The address of a range that lies within the mapping.
    fn range(&self, offset: u64, length: usize) -> Result<*mut u8, i32> {
        let offset = usize::try_from(offset).map_err(|_| libc::EINVAL)?;
        let end = offset.checked_add(length).ok_or(libc::EINVAL)?;
        if end > self.length {
            return Err(libc::EINVAL);
        }
        // SAFETY: the offset lies within the mapping.
        Ok(unsafe { self.start.as_ptr().add(offset) })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl MappedFiles {
    /// Maps all of each file, for writing too where it is open for that.
    ///
    /// # Errors
    /// Those of `mmap`; an empty file cannot be mapped.
    pub fn new(files: Vec<File>, writes: MappedWrites) -> io::Result<Self> {
        let maps = files.iter().map(Map::new).collect::<io::Result<_>>()?;
        Ok(Self {
            files,
            maps,
            writes,
        })
    }

    /// Tells the kernel how all of each mapping will be read; [`Advice::Once`] is not known of mappings, and says nothing.
    ///
    /// # Errors
    /// Those of `madvise`.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        let advice = match advice {
            Advice::Random => libc::MADV_RANDOM,
            Advice::Sequential => libc::MADV_SEQUENTIAL,
            Advice::Once => return Ok(()),
        };
        self.maps.iter().try_for_each(|map| {
            // SAFETY: this is a mapping of ours; the advice changes nothing of its contents.
            let result = unsafe { libc::madvise(map.start.as_ptr().cast(), map.length, advice) };
            if result == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
        })
    }

    fn write_back(map: &Map, offset: u64, length: usize) -> Result<(), i32> {
        const PAGE: u64 = 4096;
        let first = offset / PAGE * PAGE;
        let length = length + (offset - first) as usize;
        let start = map.range(first, length)?;
        // SAFETY: the range lies within the mapping and starts at a page.
        if unsafe { libc::msync(start.cast(), length, libc::MS_SYNC) } != 0 {
            return Err(last_error());
        }
        // SAFETY: as above; the mapping is shared, so its pages' contents stay in the file.
        unsafe { libc::madvise(start.cast(), length, libc::MADV_DONTNEED) };
        Ok(())
    }
}

impl Performer for MappedFiles {
    fn perform(&mut self, request: Request, buffer: &mut [u8]) -> Result<u32, i32> {
        let file = request.file as usize;
        let map = &self.maps[file];
        match request.operation {
            Operation::Read => {
                let from = map.range(request.offset, buffer.len())?;
                // SAFETY: both ranges are that long; the buffer is no part of the mapping. Another writer of the file may
                // change the bytes meanwhile: nothing depends on what they are.
                unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) };
            }
            Operation::Write | Operation::WriteThrough if map.writable => {
                let to = map.range(request.offset, buffer.len())?;
                // SAFETY: as above, and the mapping may be written to.
                unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), to, buffer.len()) };
            }
            Operation::Write | Operation::WriteThrough => return Err(libc::EBADF),
            Operation::Fsync | Operation::Fdatasync => {
                return perform(&self.files[file], request, buffer);
            }
        }
        if self.writes == MappedWrites::Through || request.operation == Operation::WriteThrough {
            Self::write_back(map, request.offset, buffer.len())?;
        }
        Ok(request.length)
    }

    fn files(&self) -> &[File] {
        &self.files
    }
}

fn last_error() -> i32 {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Caching, open_unnamed};

    fn request(operation: Operation, offset: u64, length: u32) -> Request {
        Request {
            slot: 0,
            file: 0,
            operation,
            offset,
            length,
        }
    }

    #[track_caller]
    fn check(writes: MappedWrites) {
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        file.set_len(16384).unwrap();
        let mut mapped = MappedFiles::new(vec![file], writes).unwrap();
        let mut block = [7; 1000];
        let write = request(Operation::Write, 8191, 1000);
        assert_eq!(mapped.perform(write, &mut block), Ok(1000));
        let mut back = [0; 1000];
        let read = request(Operation::Read, 8191, 1000);
        assert_eq!(mapped.perform(read, &mut back), Ok(1000));
        assert_eq!(back, block);
        let sync = request(Operation::Fsync, 0, 0);
        assert_eq!(mapped.perform(sync, &mut []), Ok(0));
        let mut plain = [0; 1000];
        let length = std::os::unix::fs::FileExt::read_at(&mapped.files()[0], &mut plain, 8191);
        assert_eq!((length.unwrap(), plain), (1000, block));
        let past = request(Operation::Read, 16000, 1000);
        assert_eq!(mapped.perform(past, &mut back), Err(libc::EINVAL));
    }

    #[test]
    fn what_is_copied_in_is_copied_out() {
        check(MappedWrites::Cached);
        check(MappedWrites::Through);
    }

    #[test]
    fn an_empty_file_cannot_be_mapped() {
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        assert!(MappedFiles::new(vec![file], MappedWrites::Cached).is_err());
    }
}
