//! Requests after the handshake.

use crate::bytes::Reader;
use crate::handshake::ProtocolError;
use crate::reply::NbdError;

/// Bytes of a request on the wire, before the data of a write.
pub const REQUEST_BYTES: usize = 28;
/// Smallest and alignment unit of requests that is advertised: any.
pub const BLOCK_MIN: u32 = 1;
/// Size and alignment that is served best.
pub const BLOCK_PREFERRED: u32 = 4096;
/// Longest read or write, as clients expect it where nothing is said.
pub const BLOCK_MAX: u32 = 32 << 20;

pub(crate) const MAGIC: u32 = 0x2560_9513;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Bytes of the export.
    Read,
    /// Bytes to the export; they follow the request.
    Write,
    /// The client leaves; nothing is answered.
    Disconnect,
    /// What was written is made durable.
    Flush,
    /// A range is no longer needed.
    Trim,
    /// A range becomes zeroes.
    WriteZeroes,
    /// Which parts of a range are allocated.
    BlockStatus,
    /// Something else.
    Other(u16),
}

/// Flags of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    const FUA: u16 = 1;
    /// Zeroes must take space; here they never do.
    const NO_HOLE: u16 = 2;
    const DONT_FRAGMENT: u16 = 4;
    const REQUEST_ONE: u16 = 8;

    /// What is written is durable when the reply comes.
    pub const fn fua(self) -> bool {
        self.0 & Self::FUA != 0
    }

    /// One extent is enough.
    pub const fn request_one(self) -> bool {
        self.0 & Self::REQUEST_ONE != 0
    }

    /// Whether there are others than those.
    const fn has_others(self) -> bool {
        self.0 & !(Self::FUA | Self::NO_HOLE | Self::DONT_FRAGMENT | Self::REQUEST_ONE) != 0
    }
}

/// A request as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What it asks for.
    pub command: Command,
    /// Its flags.
    pub flags: Flags,
    /// Given back in the reply.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

impl Request {
    /// The request at the front of `input`; `None`: it is not whole yet.
    ///
    /// # Errors
    ///
    /// What ends the connection: no request, or a write of more than can be taken in.
    #[inline]
    pub fn read(input: &[u8]) -> Result<Option<Self>, ProtocolError> {
        if input.len() < REQUEST_BYTES {
            return Ok(None);
        }
        let mut reader = Reader(input);
        if reader.u32() != Some(MAGIC) {
            return Err(ProtocolError::Magic);
        }
        let request = Self::body(&mut reader).ok_or(ProtocolError::Magic)?;
        if request.command == Command::Write && request.length > BLOCK_MAX {
            return Err(ProtocolError::TooLong);
        }
        Ok(Some(request))
    }

    #[inline]
    fn body(reader: &mut Reader<'_>) -> Option<Self> {
        let flags = Flags(reader.u16()?);
        let command = match reader.u16()? {
            0 => Command::Read,
            1 => Command::Write,
            2 => Command::Disconnect,
            3 => Command::Flush,
            4 => Command::Trim,
            6 => Command::WriteZeroes,
            7 => Command::BlockStatus,
            other => Command::Other(other),
        };
        Some(Self {
            command,
            flags,
            cookie: reader.u64()?,
            offset: reader.u64()?,
            length: reader.u32()?,
        })
    }

    /// Bytes of data that follow it.
    pub const fn payload(&self) -> u32 {
        match self.command {
            Command::Write => self.length,
            _ => 0,
        }
    }
}

/// Whether a request may be done on an export of `size` bytes; `allocation`: `base:allocation` was agreed on.
///
/// # Errors
///
/// What the client is told.
#[inline]
pub fn check(request: &Request, size: u64, allocation: bool) -> Result<(), NbdError> {
    let end = request.offset.checked_add(u64::from(request.length));
    let within = end.is_some_and(|end| end <= size);
    if request.flags.has_others() {
        return Err(NbdError::Invalid);
    }
    match request.command {
        Command::Read if request.length > BLOCK_MAX => Err(NbdError::Overflow),
        Command::Flush => Ok(()),
        Command::Read | Command::Trim | Command::Write | Command::WriteZeroes if within => Ok(()),
        Command::Write | Command::WriteZeroes => Err(NbdError::NoSpace),
        Command::BlockStatus if allocation && within && request.length > 0 => Ok(()),
        _ => Err(NbdError::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(magic: u32, flags: u16, command: u16, offset: u64, length: u32) -> Vec<u8> {
        let mut bytes = magic.to_be_bytes().to_vec();
        bytes.extend(flags.to_be_bytes());
        bytes.extend(command.to_be_bytes());
        bytes.extend(7u64.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes
    }

    #[test]
    fn requests_are_read_when_they_are_whole() {
        let bytes = wire(MAGIC, 1, 1, 4096, 512);
        assert_eq!(Request::read(&bytes[..27]), Ok(None));
        let request = Request::read(&bytes).unwrap().unwrap();
        assert_eq!((request.command, request.cookie), (Command::Write, 7));
        assert_eq!((request.offset, request.payload()), (4096, 512));
        assert!(request.flags.fua());
        let wrong = wire(MAGIC + 1, 0, 0, 0, 0);
        assert_eq!(Request::read(&wrong), Err(ProtocolError::Magic));
        let longest = Request::read(&wire(MAGIC, 0, 1, 0, BLOCK_MAX));
        assert_eq!(longest.unwrap().unwrap().payload(), BLOCK_MAX);
        let long = wire(MAGIC, 0, 1, 0, BLOCK_MAX + 1);
        assert_eq!(Request::read(&long), Err(ProtocolError::TooLong));
    }

    #[track_caller]
    fn refused(command: u16, flags: u16, range: (u64, u32), expected: Result<(), NbdError>) {
        let bytes = wire(MAGIC, flags, command, range.0, range.1);
        let request = Request::read(&bytes).unwrap().unwrap();
        assert_eq!(check(&request, 8192, true), expected);
    }

    #[test]
    fn ranges_and_flags_are_checked() {
        refused(0, 0, (0, 8192), Ok(()));
        refused(0, 0, (1, 8192), Err(NbdError::Invalid));
        refused(0, 0, (0, BLOCK_MAX + 1), Err(NbdError::Overflow));
        refused(1, 1, (4096, 4096), Ok(()));
        refused(1, 0, (8192, 1), Err(NbdError::NoSpace));
        refused(1, 0, (u64::MAX, 1), Err(NbdError::NoSpace));
        refused(4, 0, (u64::MAX, u32::MAX), Err(NbdError::Invalid));
        refused(6, 16, (0, 1), Err(NbdError::Invalid));
        refused(7, 0, (0, 0), Err(NbdError::Invalid));
        refused(7, 8, (0, 8192), Ok(()));
        refused(9, 0, (0, 0), Err(NbdError::Invalid));
    }
}
