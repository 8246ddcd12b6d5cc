//! What is answered: a head, then what its request asked for.

use crate::request::{Init, WRITE_MOST};
use crate::tree::Attributes;
use crate::wire::Put as _;

/// Bytes of the head of every reply.
pub const HEAD_BYTES: usize = 16;
/// The oldest kernel whose sizes are spoken: 4.20 said 7.28.
const MINOR_LEAST: u32 = 28;
/// The version that is spoken.
const VERSION: (u32, u32) = (7, 45);
/// Requests that the kernel may have under way beside those that somebody waits for.
const BACKGROUND: u16 = 1024;
/// How long names and attributes of directories may be kept: they never change.
const VALID_SECONDS: u64 = 3600;

/// Abilities that are asked for where the kernel has them.
mod ability {
    /// Reads need not come in order.
    pub const ASYNC_READ: u64 = 1;
    /// Writes of more than one page.
    pub const BIG_WRITES: u64 = 1 << 5;
    /// Direct I/O without waiting for one to end.
    pub const ASYNC_DIRECT: u64 = 1 << 15;
    /// Directories are read side by side.
    pub const PARALLEL_DIRECTORIES: u64 = 1 << 18;
    /// More than 32 pages a request.
    pub const MAX_PAGES: u64 = 1 << 22;
    /// There are more than 32 abilities.
    pub const EXTENDED: u64 = 1 << 30;
    /// Mapped files beside direct I/O.
    pub const DIRECT_MAP: u64 = 1 << 36;
    /// All of them.
    pub const WANTED: u64 = ASYNC_READ
        | BIG_WRITES
        | ASYNC_DIRECT
        | PARALLEL_DIRECTORIES
        | MAX_PAGES
        | EXTENDED
        | DIRECT_MAP;
}

/// The head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head([u8; HEAD_BYTES]);

impl Head {
    /// As it is written.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The head of a reply that is followed by `length` bytes.
pub fn head(unique: u64, length: u32) -> Head {
    make(unique, 0, length)
}

/// The whole reply to what failed with an error number.
pub fn failed(unique: u64, errno: i32) -> Head {
    make(unique, errno, 0)
}

fn make(unique: u64, errno: i32, length: u32) -> Head {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..4].copy_from_slice(&(HEAD_BYTES as u32 + length).to_ne_bytes());
    bytes[4..8].copy_from_slice(&(-errno).to_ne_bytes());
    bytes[8..].copy_from_slice(&unique.to_ne_bytes());
    Head(bytes)
}

/// A whole reply: head and body.
fn whole(unique: u64, body: &[u8]) -> Vec<u8> {
    let mut reply = head(unique, body.len() as u32).0.to_vec();
    reply.extend_from_slice(body);
    reply
}

/// The answer to the first request; `None`: the kernel is too old, or speaks another protocol.
pub fn initialised(unique: u64, asked: &Init) -> Option<Vec<u8>> {
    if asked.major != VERSION.0 || asked.minor < MINOR_LEAST {
        return None;
    }
    let flags = asked.flags & ability::WANTED;
    let mut body = Vec::with_capacity(64);
    body.put32(VERSION.0);
    body.put32(VERSION.1.min(asked.minor));
    body.put32(asked.max_readahead);
    body.put32(flags as u32);
    body.put16(BACKGROUND);
    body.put16(BACKGROUND / 4 * 3);
    body.put32(WRITE_MOST);
    // Times to the nanosecond.
    body.put32(1);
    body.put16((WRITE_MOST / 4096) as u16);
    body.put16(0);
    body.put32((flags >> 32) as u32);
    body.resize(64, 0);
    Some(whole(unique, &body))
}

/// A name was found.
pub fn entry(unique: u64, of: &Attributes) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    body.put64(of.node);
    // The generation, and how long the name and the attributes may be kept.
    for value in [0, VALID_SECONDS, valid_seconds(of), 0] {
        body.put64(value);
    }
    put_attributes(&mut body, of);
    whole(unique, &body)
}

/// Attributes of a node.
pub fn attributes(unique: u64, of: &Attributes) -> Vec<u8> {
    let mut body = Vec::with_capacity(104);
    body.put64(valid_seconds(of));
    body.put64(0);
    put_attributes(&mut body, of);
    whole(unique, &body)
}

/// How long attributes may be kept: what a file holds changes, also by other ways than the kernel's.
fn valid_seconds(of: &Attributes) -> u64 {
    if of.is_directory { VALID_SECONDS } else { 0 }
}

fn put_attributes(body: &mut Vec<u8>, of: &Attributes) {
    const DIRECTORY: u32 = 0o040_000;
    const FILE: u32 = 0o100_000;
    const SECOND: u64 = 1_000_000_000;
    let kind = if of.is_directory { DIRECTORY } else { FILE };
    body.put64(of.node);
    body.put64(of.size);
    body.put64(of.held.div_ceil(512));
    for seconds in [of.time / SECOND; 3] {
        body.put64(seconds);
    }
    for parts in [of.time % SECOND; 3] {
        body.put32(parts as u32);
    }
    body.put32(kind | of.permissions());
    body.put32(if of.is_directory { 2 } else { 1 });
    body.put32(of.owner.0);
    body.put32(of.owner.1);
    body.put32(0);
    body.put32(4096);
    body.put32(0);
}

/// A file was opened: for direct I/O, several at a time.
pub fn opened(unique: u64) -> Vec<u8> {
    const DIRECT: u32 = 1;
    const NO_FLUSH: u32 = 1 << 5;
    const PARALLEL_WRITES: u32 = 1 << 6;
    let mut body = Vec::with_capacity(16);
    body.put64(0);
    body.put32(DIRECT | NO_FLUSH | PARALLEL_WRITES);
    body.put32(0);
    whole(unique, &body)
}

/// So many bytes were written.
pub fn written(unique: u64, bytes: u32) -> [u8; HEAD_BYTES + 8] {
    let mut reply = [0; HEAD_BYTES + 8];
    reply[..HEAD_BYTES].copy_from_slice(head(unique, 8).bytes());
    reply[HEAD_BYTES..HEAD_BYTES + 4].copy_from_slice(&bytes.to_ne_bytes());
    reply
}

/// What was looked for in a file is at `offset`.
pub fn sought(unique: u64, offset: u64) -> [u8; HEAD_BYTES + 8] {
    let mut reply = [0; HEAD_BYTES + 8];
    reply[..HEAD_BYTES].copy_from_slice(head(unique, 8).bytes());
    reply[HEAD_BYTES..].copy_from_slice(&offset.to_ne_bytes());
    reply
}

/// Space of a file system whose files never become more, nor larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Files.
    pub files: u64,
    /// Bytes that they have in all.
    pub bytes: u64,
    /// Bytes of these that hold data.
    pub held: u64,
    /// Bytes that data can still be written to, as far as there is room for it.
    pub available: u64,
}

/// Space of the file system.
pub fn space(unique: u64, space: &Space) -> Vec<u8> {
    const BLOCK: u64 = 4096;
    let blocks = space.bytes.div_ceil(BLOCK);
    let free = blocks.saturating_sub(space.held.div_ceil(BLOCK));
    let available = free.min(space.available / BLOCK);
    let mut body = Vec::with_capacity(80);
    for value in [blocks, free, available, space.files, 0] {
        body.put64(value);
    }
    for value in [BLOCK as u32, 255, BLOCK as u32] {
        body.put32(value);
    }
    body.resize(80, 0);
    whole(unique, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks in all, free, and available.
    #[track_caller]
    fn check_space((held, available): (u64, u64), expected: [u64; 3]) {
        let space = Space {
            files: 3,
            bytes: 100 * 4096 - 1,
            held,
            available,
        };
        let reply = super::space(9, &space);
        let words = reply[HEAD_BYTES..].chunks_exact(8);
        let words: Vec<_> = words
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!((&words[..3], &words[3..5]), (&expected[..], &[3, 0][..]));
    }

    #[test]
    fn space_is_what_files_hold_and_what_can_still_be_held() {
        check_space((0, u64::MAX), [100, 100, 100]);
        check_space((10 * 4096, u64::MAX), [100, 90, 90]);
        check_space((10 * 4096, 20 * 4096 - 1), [100, 90, 19]);
        check_space((100 * 4096, 0), [100, 0, 0]);
        check_space((u64::MAX, u64::MAX), [100, 0, 0]);
    }

    #[test]
    fn replies_have_the_sizes_of_the_header() {
        let of = Attributes {
            node: 2,
            is_directory: false,
            size: 1 << 30,
            held: 4096,
            time: 5,
            owner: (0, 0),
        };
        let init = Init {
            major: 7,
            minor: 45,
            max_readahead: 131_072,
            flags: u64::MAX,
        };
        let space = Space {
            files: 3,
            bytes: 1 << 30,
            held: 0,
            available: 0,
        };
        for (reply, size) in [
            (entry(9, &of), 16 + 128),
            (attributes(9, &of), 16 + 104),
            (opened(9), 16 + 16),
            (super::space(9, &space), 16 + 80),
            (initialised(9, &init).unwrap(), 16 + 64),
            (written(9, 4096).to_vec(), 16 + 8),
            (sought(9, 4096).to_vec(), 16 + 8),
            (failed(9, 5).bytes().to_vec(), 16),
        ] {
            assert_eq!(reply.len(), size);
            let length = u32::from_ne_bytes(reply[..4].try_into().unwrap());
            assert_eq!(length as usize, size);
            assert_eq!(u64::from_ne_bytes(reply[8..16].try_into().unwrap()), 9);
        }
        assert_eq!(failed(9, 5).bytes()[4..8], (-5i32).to_ne_bytes());
    }

    #[test]
    fn times_are_told_to_the_nanosecond() {
        let of = Attributes {
            node: 2,
            is_directory: false,
            size: 0,
            held: 0,
            time: 7_000_000_009,
            owner: (0, 0),
        };
        // After the head, how long they may be kept, and number, size and blocks.
        let reply = attributes(9, &of);
        let times = &reply[HEAD_BYTES + 16 + 24..];
        let seconds = times[..24].chunks_exact(8);
        for second in seconds {
            assert_eq!(second, 7u64.to_ne_bytes());
        }
        for parts in times[24..36].chunks_exact(4) {
            assert_eq!(parts, 9u32.to_ne_bytes());
        }
    }

    #[test]
    fn old_kernels_are_refused() {
        let old = Init {
            major: 7,
            minor: 19,
            max_readahead: 0,
            flags: 0,
        };
        assert_eq!(initialised(1, &old), None);
    }
}
