//! A file's bytes in memory, moved to and from sockets without a copy in between.
//!
//! A server of blocks answers out of a mapping: the kernel copies from there into the socket, and from the socket into
//! there. Only the kernel touches a file's pages in those calls, so that a page that cannot be had (a full disk, a failed
//! read) is an error of the call and not a signal. [`Region::copy_in`] and [`Region::fill_zero`] touch them directly and are for
//! files in memory alone.
//!
//! Invariants: no reference to mapped bytes ever exists, since other processes may change them at any time; every range is
//! held against the mapping's length before its address is used.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Most pieces of one call to a socket, well under what the kernel takes (1,024).
const PIECES_MAX: usize = 256;
/// Most pieces of one call to a file, which must take them all.
const WRITTEN_MAX: usize = 1000;
/// Pieces of most calls: laying out room for more takes longer than the call needs for them.
const FEW: usize = 8;

/// A shared mapping of a file.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to no thread, and all access is by copies whose results nothing relies on.
unsafe impl Send for Region {}

impl Region {
    /// Maps the first `length` bytes of a file that is open for reading and writing.
    ///
    /// # Errors
    ///
    /// Those of `mmap`; an empty range cannot be mapped.
    pub fn new(file: &File, length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a new shared mapping of an open file; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The address of a range that lies within the mapping.
    #[inline]
    fn range(&self, offset: u64, length: usize) -> io::Result<*mut u8> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let end = offset
            .checked_add(length)
            .ok_or(io::ErrorKind::InvalidInput)?;
        if end > self.length {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the offset lies within the mapping.
        Ok(unsafe { self.start.as_ptr().add(offset) })
    }

    /// Copies `bytes` to `offset`. For files in memory: where a page cannot be had, the kernel ends the process.
    ///
    /// # Errors
    ///
    /// A range beyond the mapping.
    #[inline]
    pub fn copy_in(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let to = self.range(offset, bytes.len())?;
        // SAFETY: both ranges are that long; `bytes` is no part of the mapping, to which no references exist.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// Copies from `offset` to `bytes`. For files in memory, like [`Self::copy_in`].
    ///
    /// # Errors
    ///
    /// A range beyond the mapping.
    pub fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let from = self.range(offset, bytes.len())?;
        // SAFETY: both ranges are that long; `bytes` is no part of the mapping. Another writer may change the mapped bytes
        // meanwhile: nothing depends on what they are.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Writes zeroes to a range. For files in memory, like [`Self::copy_in`].
    ///
    /// # Errors
    ///
    /// A range beyond the mapping.
    pub fn fill_zero(&self, offset: u64, length: usize) -> io::Result<()> {
        let to = self.range(offset, length)?;
        // SAFETY: the range lies within the mapping, to which no references exist.
        unsafe { std::ptr::write_bytes(to, 0, length) };
        Ok(())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Bytes to be sent.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// These.
    Bytes(&'a [u8]),
    /// So many of a region from an offset on.
    Mapped(&'a Region, u64, usize),
}

const NO_VECTOR: libc::iovec = libc::iovec {
    iov_base: std::ptr::null_mut(),
    iov_len: 0,
};

/// Lays pieces out for the kernel; gives how many there was room for.
fn fill(vectors: &mut [libc::iovec], pieces: &[Piece<'_>]) -> io::Result<usize> {
    for (vector, piece) in vectors.iter_mut().zip(pieces) {
        *vector = match *piece {
            Piece::Bytes(bytes) => libc::iovec {
                iov_base: bytes.as_ptr().cast_mut().cast(),
                iov_len: bytes.len(),
            },
            Piece::Mapped(region, offset, length) => libc::iovec {
                iov_base: region.range(offset, length)?.cast(),
                iov_len: length,
            },
        };
    }
    Ok(pieces.len().min(vectors.len()))
}

/// Writes all pieces to a file in one call, as devices want it that take whole messages; gives the bytes that went.
///
/// # Errors
///
/// Those of `writev`; more than 1,000 pieces cannot be written in one call.
pub fn write_pieces(file: BorrowedFd<'_>, pieces: &[Piece<'_>]) -> io::Result<usize> {
    if pieces.len() <= FEW {
        return write_vectors(file, &mut [NO_VECTOR; FEW], pieces);
    }
    write_vectors(file, &mut [NO_VECTOR; WRITTEN_MAX], pieces)
}

fn write_vectors(
    file: BorrowedFd<'_>,
    vectors: &mut [libc::iovec],
    pieces: &[Piece<'_>],
) -> io::Result<usize> {
    let count = fill(vectors, pieces)?;
    if count < pieces.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let count = libc::c_int::try_from(count).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: each vector is a range of borrowed bytes or of a borrowed mapping, which the kernel only reads.
    let written = unsafe { libc::writev(file.as_raw_fd(), vectors.as_ptr(), count) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Sends pieces one after another in one call that never waits; gives the bytes that went. Pieces past the 256th are left.
///
/// # Errors
///
/// Those of `sendmsg`: `WouldBlock` where the socket takes nothing now, `EFAULT` where a mapped page cannot be read.
pub fn send_pieces(socket: BorrowedFd<'_>, pieces: &[Piece<'_>]) -> io::Result<usize> {
    if pieces.len() <= FEW {
        return send_vectors(socket, &mut [NO_VECTOR; FEW], pieces);
    }
    send_vectors(socket, &mut [NO_VECTOR; PIECES_MAX], pieces)
}

fn send_vectors(
    socket: BorrowedFd<'_>,
    vectors: &mut [libc::iovec],
    pieces: &[Piece<'_>],
) -> io::Result<usize> {
    let count = fill(vectors, pieces)?;
    // SAFETY: all zeroes are a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_mut_ptr();
    message.msg_iovlen = count;
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: each vector is a range of borrowed bytes or of a borrowed mapping, which the kernel only reads.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives at most `length` bytes into a region at `offset`, in one call that never waits; 0: the other side has closed.
///
/// # Errors
///
/// Those of `recv`: `WouldBlock` where nothing is there, `EFAULT` where a mapped page cannot be had.
pub fn receive_into(
    socket: BorrowedFd<'_>,
    region: &Region,
    offset: u64,
    length: usize,
) -> io::Result<usize> {
    let to = region.range(offset, length)?;
    // SAFETY: the range lies within the mapping, to which no references exist.
    let received = unsafe { libc::recv(socket.as_raw_fd(), to.cast(), length, libc::MSG_DONTWAIT) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

/// Memory that holds what was sent and the other side has not read yet, in bytes, with what the kernel keeps beside it: of Unix
/// sockets. Of others, what has not arrived yet.
///
/// # Errors
///
/// Those of `ioctl`: `ENOTTY` where it is no socket.
pub fn unread_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: TIOCOUTQ writes one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes.unsigned_abs().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Caching, open_unnamed};
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    fn region(length: u64) -> Region {
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        file.set_len(length).unwrap();
        Region::new(&file, length).unwrap()
    }

    #[test]
    fn what_nobody_has_read_is_counted() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        assert_eq!(unread_bytes(here.as_fd()).unwrap(), 0);
        here.write_all(&[5; 3000]).unwrap();
        assert!(unread_bytes(here.as_fd()).unwrap() >= 3000);
        there.read_exact(&mut [0; 3000]).unwrap();
        assert_eq!(unread_bytes(here.as_fd()).unwrap(), 0);
        let file = open_unnamed(&std::env::temp_dir(), Caching::Buffered).unwrap();
        assert!(unread_bytes(file.as_fd()).is_err());
    }

    #[test]
    fn bytes_go_from_a_socket_to_a_region_and_back() {
        let region = region(8192);
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(&[5; 3000]).unwrap();
        let mut got = 0;
        while got < 3000 {
            let left = 3000 - got;
            got += receive_into(there.as_fd(), &region, 100 + got as u64, left).unwrap();
        }
        let none = receive_into(there.as_fd(), &region, 0, 1).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        region.copy_in(99, &[7]).unwrap();
        region.fill_zero(101, 1).unwrap();
        let pieces = [Piece::Bytes(b"head"), Piece::Mapped(&region, 99, 4)];
        assert_eq!(send_pieces(there.as_fd(), &pieces).unwrap(), 8);
        let mut back = [0; 8];
        here.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"head\x07\x05\x00\x05");
        let mut copy = [0; 2];
        region.copy_out(99, &mut copy).unwrap();
        assert_eq!(copy, [7, 5]);
    }

    #[test]
    fn ranges_beyond_the_region_are_refused() {
        let region = region(4096);
        let (_here, there) = UnixStream::pair().unwrap();
        assert!(region.copy_in(4095, &[0; 2]).is_err());
        assert!(region.fill_zero(u64::MAX, 2).is_err());
        assert!(receive_into(there.as_fd(), &region, 4096, 1).is_err());
        let beyond = [Piece::Mapped(&region, 4000, 97)];
        assert!(send_pieces(there.as_fd(), &beyond).is_err());
    }
}
