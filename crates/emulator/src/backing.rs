//! Where the bytes of volumes are: in memory, or in a sparse file each.
//!
//! Reads are answered straight out of a mapping. Writes to memory are copied or received there; writes to files go through
//! `pwrite`, so that a full disk is an error of that write.
//!
//! Invariants: no client takes memory beyond the budget, a write that needs more fails with "no space"; holes take neither
//! memory nor disk, whoever reads them.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_nbd::NbdError;
use fathom_nbd::reply::Extent;
use fathom_rawio::{FileUse, Piece, Region, uses_of_file};
use rustix::fs::{FallocateFlags, FlockOperation, MemfdFlags, SeekFrom};

use crate::allocation::{Allocation, BLOCK};
use crate::budget::Budget;
use crate::punch::{Hole, SLICE};

/// What holes are answered with.
static ZEROES: [u8; 256 << 10] = [0; 256 << 10];

/// Where bytes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Medium {
    /// In memory; gone at the end.
    Memory,
    /// In files of this directory.
    Directory(PathBuf),
}

/// A volume could not be given its bytes.
#[derive(Debug, thiserror::Error)]
pub enum BackingError {
    /// A file could not be made, opened or mapped.
    #[error("`{path}` cannot back the volume `{volume}`: {source}")]
    File {
        /// The file.
        path: String,
        /// The export.
        volume: String,
        /// Why.
        source: io::Error,
    },
    /// A file has another size.
    #[error(
        "`{path}` has {found} bytes, and the volume `{volume}` has {needed}: it belongs to another design\n  hint: move it \
         away, or name another directory"
    )]
    Size {
        /// The file.
        path: String,
        /// The export.
        volume: String,
        /// Its bytes.
        found: u64,
        /// What it should have.
        needed: u64,
    },
    /// It is the storage of something else of this machine.
    #[error("`{path}` cannot back a volume: {found}\n  hint: {remedy}, or name another directory")]
    Storage {
        /// The file.
        path: String,
        /// What it is the storage of.
        found: FileUse,
        /// How it becomes free.
        remedy: String,
    },
    /// Another server has it.
    #[error(
        "`{path}` is in use by another server\n  hint: stop that one first, or name another directory"
    )]
    Busy {
        /// The file.
        path: String,
    },
}

/// The bytes of one volume.
#[derive(Debug)]
pub(crate) struct Disk {
    file: Arc<File>,
    region: Region,
    allocation: Allocation,
    in_memory: bool,
    size: u64,
    /// How many times a range was given back.
    discards: u64,
    /// How many times its bytes may have become others.
    changes: u64,
}

impl Disk {
    /// Bytes for a volume of `size`.
    pub fn new(medium: &Medium, volume: &str, size: u64) -> Result<Self, BackingError> {
        match medium {
            Medium::Memory => Self::in_memory(volume, size).map_err(|source| BackingError::File {
                path: "memory".to_owned(),
                volume: volume.to_owned(),
                source,
            }),
            Medium::Directory(directory) => Self::in_file(directory, volume, size),
        }
    }

    fn in_memory(volume: &str, size: u64) -> io::Result<Self> {
        let file = rustix::fs::memfd_create(file_name(volume), MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, size)?;
        let file = File::from(file);
        Ok(Self {
            region: Region::new(&file, size)?,
            file: Arc::new(file),
            allocation: Allocation::new(size),
            in_memory: true,
            size,
            discards: 0,
            changes: 0,
        })
    }

    fn in_file(directory: &Path, volume: &str, size: u64) -> Result<Self, BackingError> {
        let path = directory.join(file_name(volume));
        let failed = |source| BackingError::File {
            path: path.display().to_string(),
            volume: volume.to_owned(),
            source,
        };
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = opened.map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if !facts.is_file() {
            return Err(failed(io::Error::other("it is no regular file")));
        }
        if let Some(found) = uses_of_file(&facts).into_iter().next() {
            return Err(BackingError::Storage {
                path: path.display().to_string(),
                remedy: found.remedy(),
                found,
            });
        }
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let path = path.display().to_string();
            return Err(BackingError::Busy { path });
        }
        if facts.len() == 0 {
            file.set_len(size).map_err(failed)?;
        } else if facts.len() != size {
            return Err(BackingError::Size {
                path: path.display().to_string(),
                volume: volume.to_owned(),
                found: facts.len(),
                needed: size,
            });
        }
        let allocation = allocated(&file, size).map_err(failed)?;
        Ok(Self {
            region: Region::new(&file, size).map_err(failed)?,
            file: Arc::new(file),
            allocation,
            in_memory: false,
            size,
            discards: 0,
            changes: 0,
        })
    }

    /// What its bytes are kept in.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The file, where writes to it are durable only after it was synchronised.
    pub fn durable_file(&self) -> Option<&Arc<File>> {
        (!self.in_memory).then_some(&self.file)
    }

    /// The region that data may be received into at once.
    pub fn landing(&self) -> Option<&Region> {
        self.in_memory.then_some(&self.region)
    }

    /// Takes the room that a write to a range needs.
    #[inline]
    pub fn reserve(
        &mut self,
        budget: &mut Budget,
        offset: u64,
        length: u64,
    ) -> Result<(), NbdError> {
        let missing = self.missing(offset, length);
        if missing > 0 && missing.cast_signed() > budget.for_data() {
            return Err(NbdError::NoSpace);
        }
        budget.take(missing);
        self.allocation.mark(offset, length);
        Ok(())
    }

    /// The same for what a crash puts back, even where the budget is used up: what a disk had must be there again.
    pub fn reserve_anyway(&mut self, budget: &mut Budget, offset: u64, length: u64) {
        budget.take(self.missing(offset, length));
        self.allocation.mark(offset, length);
    }

    /// Blocks of memory that a write to a range takes.
    #[inline]
    pub fn missing(&self, offset: u64, length: u64) -> u64 {
        if self.in_memory {
            self.allocation.missing(offset, length)
        } else {
            0
        }
    }

    /// Blocks of memory that a range gives back which becomes zeroes.
    pub fn gives_back(&self, offset: u64, length: u64) -> u64 {
        if self.in_memory {
            self.allocation.taken(offset, length)
        } else {
            0
        }
    }

    /// How many times a range was given back: a write that took its room before may have none now.
    #[inline]
    pub fn discards(&self) -> u64 {
        self.discards
    }

    /// How many times its bytes may have become others.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Bytes of it may have become others.
    #[inline]
    pub fn has_changed(&mut self) {
        self.changes += 1;
    }

    /// Writes bytes to a range that has its room.
    #[inline]
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), NbdError> {
        let written = if self.in_memory {
            self.region.copy_in(offset, bytes)
        } else {
            self.file.write_all_at(bytes, offset)
        };
        written.map_err(|error| told(&error))
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads a range; what cannot be read is zeroes.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) {
        let read = if self.in_memory {
            self.region.copy_out(offset, bytes)
        } else {
            self.file.read_exact_at(bytes, offset)
        };
        if read.is_err() {
            bytes.fill(0);
        }
    }

    /// Makes a range read as zeroes, and gives its room back where it can. A large hole is still to be punched then, before
    /// anything else changes its bytes.
    pub fn discard(
        &mut self,
        budget: &mut Budget,
        offset: u64,
        length: u64,
    ) -> Result<Option<Hole>, NbdError> {
        if length == 0 {
            return Ok(None);
        }
        self.discards += 1;
        let (first, last) = self.allocation.whole(offset, length);
        let taken = self.allocation.taken(offset, length);
        let end = offset + length;
        if first >= last {
            return self.zero_parts(offset, end).map(|()| None);
        }
        let (start, stop) = (first * BLOCK, (last * BLOCK).min(end));
        self.zero_parts(offset, start)?;
        self.zero_parts(stop, end)?;
        let blocks = if self.in_memory { taken } else { 0 };
        let length = (last - first) * BLOCK;
        if taken == 0 {
            return Ok(None);
        }
        if length > SLICE {
            self.allocation.clear(first, last);
            return Ok(Some(Hole {
                start,
                length,
                blocks,
            }));
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(&*self.file, flags, start, length).is_err() {
            return self.zero_parts(start, stop).map(|()| None);
        }
        self.allocation.clear(first, last);
        budget.give_back(blocks);
        Ok(None)
    }

    /// Writes zeroes over what holds data between two offsets.
    fn zero_parts(&self, from: u64, end: u64) -> Result<(), NbdError> {
        let mut at = from;
        while at < end {
            let (stop, holds) = self.allocation.run(at, end);
            let stop = stop.min(at + ZEROES.len() as u64);
            if holds {
                self.write(at, &ZEROES[..(stop - at) as usize])?;
            }
            at = stop;
        }
        Ok(())
    }

    /// Where the data, or the hole, ends that is at an offset within; whether it is data.
    pub fn run(&self, offset: u64) -> (u64, bool) {
        self.allocation.run(offset, self.size)
    }

    /// Bytes of blocks that hold data.
    pub fn held(&self) -> u64 {
        self.allocation.held() * BLOCK
    }

    /// Whether a range is one hole.
    pub fn is_hole(&self, offset: u64, length: u32) -> bool {
        let end = offset + u64::from(length);
        length > 0 && self.allocation.run(offset, end) == (end, false)
    }

    /// The bytes of a range as they are sent, at most `most` pieces.
    #[inline]
    pub fn pieces<'a>(&'a self, offset: u64, end: u64, most: usize, pieces: &mut Vec<Piece<'a>>) {
        let mut at = offset;
        while at < end && pieces.len() < most {
            let (stop, holds) = self.allocation.run(at, end);
            let stop = if holds {
                stop
            } else {
                stop.min(at + ZEROES.len() as u64)
            };
            let length = (stop - at) as usize;
            pieces.push(if holds {
                Piece::Mapped(&self.region, at, length)
            } else {
                Piece::Bytes(&ZEROES[..length])
            });
            at = stop;
        }
    }

    /// What a range is made of, at most `most` extents from its start.
    pub fn extents(&self, offset: u64, length: u32, most: usize) -> Vec<Extent> {
        let (mut at, end, mut extents) = (offset, offset + u64::from(length), Vec::new());
        while at < end && extents.len() < most {
            let (stop, holds) = self.allocation.run(at, end);
            extents.push(Extent {
                length: (stop - at) as u32,
                hole: !holds,
            });
            at = stop;
        }
        extents
    }
}

pub(crate) fn told(error: &io::Error) -> NbdError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => NbdError::NoSpace,
        _ => NbdError::Io,
    }
}

/// Blocks of a file that hold data, as its file system tells.
fn allocated(file: &File, size: u64) -> io::Result<Allocation> {
    let mut allocation = Allocation::new(size);
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(start))?;
        allocation.mark(start, end.min(size) - start);
        at = end;
    }
    Ok(allocation)
}

/// The file of a volume: its name with what file names cannot hold replaced, so that no two are the same.
pub(crate) fn file_name(volume: &str) -> String {
    let mut name = String::new();
    for byte in volume.bytes() {
        match byte {
            b'/' => name.push('+'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                name.push(char::from(byte));
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{other:02X}");
            }
        }
    }
    name + ".img"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(disk: &Disk, offset: u64, length: u64) -> Vec<u8> {
        let mut all = Vec::new();
        let mut pieces = Vec::new();
        disk.pieces(offset, offset + length, 1000, &mut pieces);
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => all.extend_from_slice(bytes),
                Piece::Mapped(region, offset, length) => {
                    let mut copy = vec![0; length];
                    region.copy_out(offset, &mut copy).unwrap();
                    all.extend(copy);
                }
            }
        }
        all
    }

    #[track_caller]
    fn check(medium: &Medium) {
        const SIZE: u64 = 1 << 20;
        let mut disk = Disk::new(medium, "vm/a b", SIZE).unwrap();
        let mut budget = Budget::new(100);
        let mut expected = vec![0u8; SIZE as usize];
        for (offset, length) in [
            (0, 5000),
            (70_000, 1),
            (SIZE - 10_000, 10_000),
            (4096, 8192),
        ] {
            disk.reserve(&mut budget, offset, length).unwrap();
            let block = vec![(offset % 251) as u8 + 1; length as usize];
            disk.write(offset, &block).unwrap();
            expected[offset as usize..(offset + length) as usize].copy_from_slice(&block);
            assert_eq!(bytes(&disk, 0, SIZE), expected);
        }
        for (offset, length) in [(100, 200), (3000, 6000), (SIZE - 9000, 9000)] {
            disk.discard(&mut budget, offset, length).unwrap();
            expected[offset as usize..(offset + length) as usize].fill(0);
            assert_eq!(bytes(&disk, 0, SIZE), expected);
        }
        let small = disk.discard(&mut budget, 0, 4096).unwrap();
        assert_eq!(small, None);
        disk.reserve(&mut budget, 0, 4096).unwrap();
        disk.write(0, &expected[..4096]).unwrap();
        let extents = disk.extents(0, SIZE as u32, 100);
        let lengths: Vec<_> = extents.iter().map(|it| (it.length, it.hole)).collect();
        let data: u32 = lengths.iter().filter(|it| !it.1).map(|it| it.0).sum();
        assert_eq!(data, 4 * BLOCK as u32);
        assert!(disk.is_hole(16_384, 4096) && !disk.is_hole(0, 4096));
    }

    #[test]
    fn what_is_written_is_read_and_what_is_discarded_is_zero() {
        check(&Medium::Memory);
        let directory = tempfile::tempdir().unwrap();
        let medium = Medium::Directory(directory.path().to_owned());
        check(&medium);
        // It is there again, holes and all; and has one user at a time.
        let again = Disk::new(&medium, "vm/a b", 1 << 20).unwrap();
        assert!(again.is_hole(16_384, 4096) && !again.is_hole(0, 4096));
        let busy = Disk::new(&medium, "vm/a b", 1 << 20);
        assert!(matches!(busy, Err(BackingError::Busy { .. })));
        drop(again);
        let other = Disk::new(&medium, "vm/a b", 1 << 21);
        assert!(matches!(other, Err(BackingError::Size { .. })));
    }

    #[test]
    fn memory_is_taken_up_to_the_budget() {
        let mut disk = Disk::new(&Medium::Memory, "a", 1 << 40).unwrap();
        let mut budget = Budget::new(2);
        disk.reserve(&mut budget, 1 << 39, 4097).unwrap();
        assert_eq!(disk.reserve(&mut budget, 0, 1), Err(NbdError::NoSpace));
        disk.discard(&mut budget, 1 << 39, 8192).unwrap();
        disk.reserve(&mut budget, 0, 1).unwrap();
    }

    #[test]
    fn a_large_hole_is_one_at_once_and_is_punched_later() {
        let mut disk = Disk::new(&Medium::Memory, "a", 1 << 30).unwrap();
        let mut budget = Budget::new(1000);
        disk.reserve(&mut budget, 0, 3 * SLICE).unwrap();
        disk.write(0, &vec![9; 3 * SLICE as usize]).unwrap();
        let left = budget.left();
        let hole = disk.discard(&mut budget, 100, 2 * SLICE).unwrap().unwrap();
        let blocks = 2 * SLICE / BLOCK - 1;
        let expected = Hole {
            start: BLOCK,
            length: blocks * BLOCK,
            blocks,
        };
        // Its memory is counted as taken until it has been given back.
        assert_eq!((hole, budget.left()), (expected, left));
        let mut expected = vec![9; 3 * SLICE as usize];
        expected[100..100 + 2 * SLICE as usize].fill(0);
        assert_eq!(bytes(&disk, 0, 3 * SLICE), expected);
        // Nothing is left to be punched there.
        assert_eq!(disk.discard(&mut budget, 100, 2 * SLICE).unwrap(), None);
    }

    #[test]
    fn no_two_volumes_share_a_file() {
        let names = ["a/b", "a+b", "a b", "a%20b", "a"].map(file_name);
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }
}
