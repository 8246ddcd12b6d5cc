//! How much of a file is really on its device.
//!
//! Reading a hole, or an extent that was reserved but never written, moves no data from the device; a measurement over
//! such a file measures nothing. The kernel tells which is which (`FS_IOC_FIEMAP`, `linux/fiemap.h`).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use fathom_units::Bytes;

const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_ENCRYPTED: u32 = 0x80;
const EXTENT_INLINE: u32 = 0x200;
const EXTENT_UNWRITTEN: u32 = 0x800;
const BATCH: usize = 256;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved2: [u32; 3],
}

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// Parts of a range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtentShares {
    /// Holds data.
    pub written: Bytes,
    /// Reserved but never written: reads as zeroes without the device.
    pub unwritten: Bytes,
    /// Not there at all.
    pub hole: Bytes,
}

/// How much of `length` bytes from `offset` is written, unwritten and missing.
///
/// # Errors
/// Those of the request; `EOPNOTSUPP` where the file system does not tell (tmpfs, for one).
pub fn extent_shares(file: &File, offset: Bytes, length: Bytes) -> io::Result<ExtentShares> {
    let mut shares = ExtentShares::default();
    let range = offset.get()..offset.get().saturating_add(length.get());
    walk(file, range, usize::MAX, |flags, bytes| {
        let part = if flags & EXTENT_UNWRITTEN == 0 {
            &mut shares.written
        } else {
            &mut shares.unwritten
        };
        *part += bytes;
    })?;
    shares.hole = length.saturating_sub(shares.written + shares.unwritten);
    Ok(shares)
}

/// Share (0 to 1) of a file's data that its file system keeps in another form, as one that compresses does; what is encrypted
/// and what stands among the metadata is left out. Of a file of very many extents the first 16,384 are looked at.
///
/// # Errors
/// As of [`extent_shares`].
pub fn encoded_share(file: &File) -> io::Result<f64> {
    const BATCHES_MOST: usize = 64;
    let (mut encoded, mut data) = (0, 0);
    walk(file, 0..u64::MAX, BATCHES_MOST, |flags, bytes| {
        if flags & (EXTENT_UNWRITTEN | EXTENT_INLINE) != 0 {
            return;
        }
        data += bytes.get();
        if flags & EXTENT_ENCODED != 0 && flags & EXTENT_ENCRYPTED == 0 {
            encoded += bytes.get();
        }
    })?;
    Ok(encoded as f64 / data.max(1) as f64)
}

/// Gives flags and length of each extent, as far as it lies in `range`, to `each`; at most that many batches of them.
fn walk(
    file: &File,
    range: Range<u64>,
    batches_most: usize,
    mut each: impl FnMut(u32, Bytes),
) -> io::Result<()> {
    let mut position = range.start;
    let mut request = Box::new(Request {
        start: 0,
        length: 0,
        flags: 0,
        mapped: 0,
        count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    let mut batches = 0;
    while position < range.end && batches < batches_most {
        batches += 1;
        request.start = position;
        request.length = range.end - position;
        request.mapped = 0;
        let address = std::ptr::from_mut(request.as_mut());
        // SAFETY: FS_IOC_FIEMAP reads the header and writes at most `count` extents after it, which are there.
        if unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, address) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let found = &request.extents[..(request.mapped as usize).min(BATCH)];
        for extent in found {
            let first = extent.logical.max(position);
            let last = extent.logical.saturating_add(extent.length).min(range.end);
            if last <= first {
                continue;
            }
            each(extent.flags, Bytes::new(last - first));
            position = last;
        }
        let is_last = found
            .last()
            .is_none_or(|extent| extent.flags & EXTENT_LAST != 0);
        if is_last {
            break;
        }
    }
    Ok(())
}

/// How many of `length` bytes from `offset` are holes or unwritten extents of which the page cache holds nothing either
/// (`lseek` with `SEEK_DATA`): bytes that were written and wait for write-back are data. None where the file system does not
/// tell them apart.
///
/// # Errors
/// Those of `lseek`.
pub fn bytes_without_data(file: &File, offset: Bytes, length: Bytes) -> io::Result<Bytes> {
    let end = offset.get().saturating_add(length.get());
    let seek = |from: u64, whence: libc::c_int| {
        let from = libc::off_t::try_from(from).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: takes numbers alone.
        let found = unsafe { libc::lseek(file.as_raw_fd(), from, whence) };
        match u64::try_from(found) {
            Ok(found) => Ok(Some(found)),
            Err(_) => match io::Error::last_os_error() {
                // Nothing comes any more.
                error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
                error => Err(error),
            },
        }
    };
    let (mut position, mut without) = (offset.get(), 0);
    while position < end {
        let data = seek(position, libc::SEEK_DATA)?.unwrap_or(end).min(end);
        without += data.saturating_sub(position);
        if data >= end {
            break;
        }
        position = seek(data, libc::SEEK_HOLE)?.unwrap_or(end).max(data + 1);
    }
    Ok(Bytes::new(without))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_and_data_are_told_apart() {
        let file = crate::open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&vec![7; 65536], 65536).unwrap();
        file.sync_all().unwrap();
        let shares = extent_shares(&file, Bytes::ZERO, Bytes::mib(1)).unwrap();
        assert_eq!(shares.written, Bytes::kib(64));
        assert_eq!(shares.unwritten, Bytes::ZERO);
        assert_eq!(shares.hole, Bytes::kib(960));
    }

    #[test]
    fn what_waits_for_write_back_is_data() {
        let file = crate::open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        crate::reserve(&file, crate::ReservedSize::Grows, 1 << 20).unwrap();
        let without = |offset| bytes_without_data(&file, offset, Bytes::kib(512)).unwrap();
        assert_eq!(without(Bytes::ZERO), Bytes::kib(512));
        file.write_all_at(&vec![7; 65536], 65536).unwrap();
        assert_eq!(without(Bytes::ZERO), Bytes::kib(448));
        assert_eq!(without(Bytes::kib(64)), Bytes::kib(448));
        assert_eq!(without(Bytes::mib(2)), Bytes::kib(512));
    }
}
