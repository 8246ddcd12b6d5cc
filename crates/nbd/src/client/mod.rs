//! The NBD protocol as a client speaks it.
//!
//! - [`Hello`] takes a server from its greeting to requests, or to what it says of an export.
//! - [`Offer`] is what it then offers.
//! - [`request`] makes the heads of requests, and [`Reply`] reads those of simple replies: others are not asked for.
//!
//! Invariants: no answer of a server makes it panic, and memory is bounded whatever lengths and counts a server claims.

mod hello;

pub use hello::{Hello, HelloError, LISTED_MAX, NAMES_MAX, Purpose, Step};

use crate::bytes::Reader;
use crate::handshake::ProtocolError;
use crate::request::{BLOCK_MAX, BLOCK_MIN, BLOCK_PREFERRED, MAGIC, REQUEST_BYTES};

/// Bytes of a simple reply, before the data of a read.
pub const REPLY_BYTES: usize = 16;

/// What a server offers of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Bytes of the export.
    pub size: u64,
    /// What may be asked of it.
    pub flags: OfferFlags,
    /// Sizes of requests.
    pub blocks: BlockLimits,
}

/// What may be asked of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfferFlags(pub u16);

impl OfferFlags {
    /// Nothing may be written.
    pub const fn is_read_only(self) -> bool {
        self.0 & (1 << 1) != 0
    }

    /// What was written can be made durable.
    pub const fn has_flush(self) -> bool {
        self.0 & (1 << 2) != 0
    }

    /// A write can be durable when its reply comes.
    pub const fn has_fua(self) -> bool {
        self.0 & (1 << 3) != 0
    }

    /// It says that its medium rotates.
    pub const fn is_rotational(self) -> bool {
        self.0 & (1 << 4) != 0
    }

    /// A range can be told to be no longer needed.
    pub const fn has_trim(self) -> bool {
        self.0 & (1 << 5) != 0
    }

    /// A range can be made zeroes without sending them.
    pub const fn has_write_zeroes(self) -> bool {
        self.0 & (1 << 6) != 0
    }

    /// What one connection has written and flushed is what others read, and is durable for all of them.
    pub const fn has_multi_conn(self) -> bool {
        self.0 & (1 << 8) != 0
    }
}

/// Sizes of requests that a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLimits {
    /// Offsets and lengths are multiples of it.
    pub minimum: u32,
    /// What is served best.
    pub preferred: u32,
    /// Longest read or write.
    pub maximum: u32,
    /// Whether the server said so: otherwise it is what the protocol has clients assume.
    pub told: bool,
}

impl Default for BlockLimits {
    fn default() -> Self {
        Self {
            minimum: BLOCK_MIN,
            preferred: BLOCK_PREFERRED,
            maximum: BLOCK_MAX,
            told: false,
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Bytes of the export.
    Read,
    /// Bytes to the export, which follow.
    Write,
    /// The same, durable when the reply comes.
    WriteThrough,
    /// What was written is made durable.
    Flush,
    /// A range of the export is no longer needed.
    Trim,
    /// The client leaves; nothing is answered.
    Disconnect,
}

/// A request as it stands on the wire.
#[inline]
pub fn request(ask: Ask, cookie: u64, offset: u64, length: u32) -> [u8; REQUEST_BYTES] {
    let (flags, command): (u16, u16) = match ask {
        Ask::Read => (0, 0),
        Ask::Write => (0, 1),
        Ask::WriteThrough => (1, 1),
        Ask::Disconnect => (0, 2),
        Ask::Flush => (0, 3),
        Ask::Trim => (0, 4),
    };
    let mut bytes = [0; REQUEST_BYTES];
    bytes[..4].copy_from_slice(&MAGIC.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&command.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// The head of a simple reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Of the request.
    pub cookie: u64,
    /// What became of it: nothing else follows an error, and what was read follows a success.
    pub result: Result<(), i32>,
}

impl Reply {
    /// The reply at the front of `input`; `None`: its head is not whole yet.
    ///
    /// # Errors
    /// Where it is no simple reply.
    #[inline]
    pub fn read(input: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let mut reader = Reader(input);
        let (Some(magic), Some(error), Some(cookie)) = (reader.u32(), reader.u32(), reader.u64())
        else {
            return Ok(None);
        };
        if magic != crate::reply::SIMPLE {
            return Err(ProtocolError::Magic);
        }
        let result = if error == 0 {
            Ok(())
        } else {
            Err(errno_of(error))
        };
        Ok(Some(Self { cookie, result }))
    }
}

/// The error number of Linux: the protocol's are the same, and unknown ones mean `EINVAL`.
const fn errno_of(error: u32) -> i32 {
    match error {
        1 | 5 | 12 | 22 | 28 | 75 | 95 | 108 => error.cast_signed(),
        _ => 22,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, NbdError, Request, reply};

    #[track_caller]
    fn check(ask: Ask, command: Command, fua: bool) {
        let bytes = request(ask, 7, 4096, 512);
        let read = Request::read(&bytes).unwrap().unwrap();
        assert_eq!((read.command, read.flags.fua()), (command, fua));
        assert_eq!((read.cookie, read.offset, read.length), (7, 4096, 512));
    }

    #[test]
    fn requests_are_those_that_a_server_reads() {
        check(Ask::Read, Command::Read, false);
        check(Ask::Write, Command::Write, false);
        check(Ask::WriteThrough, Command::Write, true);
        check(Ask::Flush, Command::Flush, false);
        check(Ask::Trim, Command::Trim, false);
        check(Ask::Disconnect, Command::Disconnect, false);
    }

    #[test]
    fn replies_are_read_when_their_heads_are_whole() {
        let done = reply::simple(9, None);
        for length in 0..REPLY_BYTES {
            assert_eq!(Reply::read(&done.bytes()[..length]), Ok(None));
        }
        let read = Reply::read(done.bytes()).unwrap().unwrap();
        assert_eq!((read.cookie, read.result), (9, Ok(())));
        let failed = reply::simple(9, Some(NbdError::NoSpace));
        assert_eq!(
            Reply::read(failed.bytes()).unwrap().unwrap().result,
            Err(28)
        );
        assert_eq!(errno_of(4242), 22);
        let structured = reply::done(9);
        assert!(Reply::read(structured.bytes()).is_err());
    }
}
