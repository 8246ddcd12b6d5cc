//! Heads of replies: what comes before the bytes read, and replies without any.

use crate::bytes::Put;
use crate::options::ALLOCATION_ID;

pub(crate) const SIMPLE: u32 = 0x6744_6698;
const STRUCTURED: u32 = 0x668e_33ef;
const DONE: u16 = 1;
const CHUNK_NONE: u16 = 0;
const CHUNK_DATA: u16 = 1;
const CHUNK_HOLE: u16 = 2;
const CHUNK_STATUS: u16 = 5;
const CHUNK_ERROR: u16 = (1 << 15) + 1;

/// Longest head that [`Head`] holds.
const HEAD_MAX: usize = 32;

/// Errors that a client can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NbdError {
    /// The storage failed.
    Io = 5,
    /// The request makes no sense, or was not agreed on.
    Invalid = 22,
    /// It is beyond the end, or there is no room for it.
    NoSpace = 28,
    /// It is longer than can be served.
    Overflow = 75,
    /// The server is about to go.
    Shutdown = 108,
}

/// The head of a reply.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    bytes: [u8; HEAD_MAX],
    length: u8,
}

impl Head {
    #[inline]
    fn new(parts: &[&[u8]]) -> Self {
        let mut head = Self {
            bytes: [0; HEAD_MAX],
            length: 0,
        };
        for part in parts {
            let start = usize::from(head.length);
            head.bytes[start..start + part.len()].copy_from_slice(part);
            head.length += part.len() as u8;
        }
        head
    }

    /// As it stands on the wire.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A simple reply; what was read follows.
#[inline]
pub fn simple(cookie: u64, error: Option<NbdError>) -> Head {
    let error = error.map_or(0, |error| error as u32);
    Head::new(&[
        &SIMPLE.to_be_bytes(),
        &error.to_be_bytes(),
        &cookie.to_be_bytes(),
    ])
}

#[inline]
fn chunk(kind: u16, cookie: u64, length: u32, body: &[&[u8]]) -> Head {
    let mut head = Head::new(&[
        &STRUCTURED.to_be_bytes(),
        &DONE.to_be_bytes(),
        &kind.to_be_bytes(),
        &cookie.to_be_bytes(),
        &length.to_be_bytes(),
    ]);
    for part in body {
        let start = usize::from(head.length);
        head.bytes[start..start + part.len()].copy_from_slice(part);
        head.length += part.len() as u8;
    }
    head
}

/// The only chunk of a structured reply: `length` bytes at `offset`, which follow.
#[inline]
pub fn data(cookie: u64, offset: u64, length: u32) -> Head {
    let body = length + 8;
    chunk(CHUNK_DATA, cookie, body, &[&offset.to_be_bytes()])
}

/// The only chunk of a structured reply: `length` zeroes at `offset`, which need not follow.
pub fn hole(cookie: u64, offset: u64, length: u32) -> Head {
    let body: [&[u8]; 2] = [&offset.to_be_bytes(), &length.to_be_bytes()];
    chunk(CHUNK_HOLE, cookie, 12, &body)
}

/// The only chunk of a structured reply that holds nothing: it was done.
pub fn done(cookie: u64) -> Head {
    chunk(CHUNK_NONE, cookie, 0, &[])
}

/// The only chunk of a structured reply: it was not done.
pub fn failed(cookie: u64, error: NbdError) -> Head {
    let body: [&[u8]; 2] = [&(error as u32).to_be_bytes(), &0u16.to_be_bytes()];
    chunk(CHUNK_ERROR, cookie, 6, &body)
}

/// A run of bytes that is allocated, or a hole that reads as zeroes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes; at least 1.
    pub length: u32,
    /// Whether it is a hole.
    pub hole: bool,
}

/// The whole reply that tells of `extents`, of which there is at least one.
pub fn status(cookie: u64, extents: &[Extent]) -> Vec<u8> {
    const HOLE_AND_ZERO: u32 = 3;
    let mut reply = Vec::with_capacity(24 + extents.len() * 8);
    let body = 4 + extents.len() as u32 * 8;
    reply.extend_from_slice(chunk(CHUNK_STATUS, cookie, body, &[]).bytes());
    reply.put32(ALLOCATION_ID);
    for extent in extents {
        reply.put32(extent.length);
        reply.put32(if extent.hole { HOLE_AND_ZERO } else { 0 });
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structured reply of one chunk, as the wire has it.
    fn wire(kind: u16, length: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = 0x668e_33efu32.to_be_bytes().to_vec();
        bytes.extend([0, 1]);
        bytes.extend(kind.to_be_bytes());
        bytes.extend(0x0102_0304_0506_0708u64.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn replies_are_as_the_wire_has_them() {
        let cookie = 0x0102_0304_0506_0708;
        let head = simple(cookie, Some(NbdError::Io));
        let expected = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(head.bytes(), expected);
        // The data that follows counts in the chunk's length.
        let offset = [0, 0, 0, 0, 0, 1, 0, 0];
        let head = data(cookie, 1 << 16, 4096);
        assert_eq!(head.bytes(), wire(1, 4104, &offset));
        let head = hole(cookie, 1 << 16, 4096);
        let body = [&offset[..], &[0, 0, 16, 0]].concat();
        assert_eq!(head.bytes(), wire(2, 12, &body));
        assert_eq!(done(cookie).bytes(), wire(0, 0, &[]));
        let head = failed(cookie, NbdError::NoSpace);
        assert_eq!(head.bytes(), wire(0x8001, 6, &[0, 0, 0, 28, 0, 0]));
        let extents = [(4096, false), (8192, true)];
        let extents = extents.map(|(length, hole)| Extent { length, hole });
        let body = [
            [0, 0, 0, 1],
            [0, 0, 16, 0],
            [0, 0, 0, 0],
            [0, 0, 32, 0],
            [0, 0, 0, 3],
        ];
        assert_eq!(status(cookie, &extents), wire(5, 20, &body.concat()));
    }
}
