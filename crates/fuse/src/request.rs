//! What the kernel asks for.

use crate::wire::Reader;

/// The longest write that is asked for.
pub const WRITE_MOST: u32 = 1 << 20;
/// Room for the heads of a request: 40 bytes of every request, 40 of a write.
const HEADS: usize = 4096;
/// Bytes that one read of the device must have room for.
pub const REQUEST_MOST: usize = WRITE_MOST as usize + HEADS;

/// Why a request cannot be understood at all: the kernel does not speak this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It has no whole head, or another length than its head says.
    #[error("the kernel sent {0} bytes that are no request of FUSE")]
    Head(usize),
    /// It is shorter than its kind needs.
    #[error("the kernel sent a request of kind {0} that is too short")]
    Body(u32),
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Given back in the reply.
    pub unique: u64,
    /// The file or directory that it is about.
    pub node: u64,
    /// What is wanted.
    pub what: What<'a>,
}

/// What is wanted of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
    /// The first request: which version and which abilities the kernel has.
    Init(Init),
    /// The last request before the end.
    Destroy,
    /// A name in a directory.
    Lookup(&'a [u8]),
    /// Nodes are no longer known to the kernel: not answered.
    Forget,
    /// The earlier request of this number is no longer wanted. This one is not answered.
    Interrupt(u64),
    /// Attributes.
    GetAttributes,
    /// New attributes.
    SetAttributes(NewAttributes),
    /// A name comes, goes, or becomes another: nothing that a tree that never changes permits.
    ChangeName,
    /// A file is opened.
    Open,
    /// A directory is opened.
    OpenDirectory,
    /// Names in a directory, from a place on, in so many bytes.
    ReadDirectory {
        /// Where the last answer ended.
        offset: u64,
        /// Room for the answer.
        size: u32,
    },
    /// A file or directory is closed, or a descriptor of it: nothing is to be done.
    Done,
    /// Space of the file system.
    Space,
    /// Something with a range of a file, or its durability.
    File(FileOp<'a>),
    /// Anything else.
    Other(u32),
}

/// A time that a node is to have been changed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewTime {
    /// The present one.
    Now,
    /// In nanoseconds of the Unix epoch.
    At(u64),
}

/// Attributes that a node is to have; `None`: as it has them. The time of its last use is not among them, as nobody keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewAttributes {
    /// Permission bits, with those of set-user-ID and the like.
    pub mode: Option<u32>,
    /// Owner.
    pub user: Option<u32>,
    /// Group.
    pub group: Option<u32>,
    /// Bytes.
    pub size: Option<u64>,
    /// When it was changed.
    pub time: Option<NewTime>,
}

/// What is wanted of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOp<'a> {
    /// Bytes of it.
    Read(Transfer),
    /// Bytes to it.
    Write(Transfer, &'a [u8]),
    /// What was written is made durable.
    Sync,
    /// Space is given or taken back.
    Allocate(Fallocate),
    /// The next place with data, or with none.
    Seek(Seek),
}

/// A range that is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
    /// The descriptor's flags, as `open` took them.
    pub flags: u32,
}

impl Transfer {
    /// Whether the descriptor asks for durable writes (`O_DSYNC`, of which `O_SYNC` is a part).
    pub const fn is_durable(&self) -> bool {
        const DSYNC: u32 = 0o10_000;
        self.flags & DSYNC != 0
    }
}

/// `fallocate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fallocate {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Its mode.
    pub mode: u32,
}

impl Fallocate {
    const KEEP_SIZE: u32 = 1;
    const PUNCH_HOLE: u32 = 2;
    const ZERO_RANGE: u32 = 16;

    /// Whether the range is taken back.
    pub const fn punches(&self) -> bool {
        self.mode == Self::PUNCH_HOLE | Self::KEEP_SIZE
    }

    /// Whether the range becomes zeroes.
    pub const fn zeroes(&self) -> bool {
        self.mode & !Self::KEEP_SIZE == Self::ZERO_RANGE
    }

    /// Whether space is given to the range.
    pub const fn allocates(&self) -> bool {
        self.mode & !Self::KEEP_SIZE == 0
    }
}

/// `lseek` for what a file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seek {
    /// From where on.
    pub offset: u64,
    /// As `lseek` takes it.
    pub whence: u32,
}

impl Seek {
    const DATA: u32 = 3;
    const HOLE: u32 = 4;

    /// Whether data is looked for; `None`: neither that nor a hole, and the kernel knows the answer itself.
    pub const fn for_data(&self) -> Option<bool> {
        match self.whence {
            Self::DATA => Some(true),
            Self::HOLE => Some(false),
            _ => None,
        }
    }
}

/// What the kernel says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Init {
    /// Its version.
    pub major: u32,
    /// Its version, second part.
    pub minor: u32,
    /// What it reads ahead at most.
    pub max_readahead: u32,
    /// What it can do: the first 32 in the low half.
    pub flags: u64,
}

impl Init {
    /// The flag that says that there are more than 32.
    const EXTENDED: u64 = 1 << 30;
}

impl<'a> Request<'a> {
    /// The request that one read of the device brought.
    ///
    /// # Errors
    /// Where it is none.
    pub fn parse(input: &'a [u8]) -> Result<Self, Malformed> {
        let malformed = Malformed::Head(input.len());
        let mut reader = Reader(input);
        let length = reader.u32().ok_or(malformed)?;
        let kind = reader.u32().ok_or(malformed)?;
        let unique = reader.u64().ok_or(malformed)?;
        let node = reader.u64().ok_or(malformed)?;
        // User, group and process, and the length of extensions, of which none is asked for.
        reader.take(16).ok_or(malformed)?;
        if length as usize != input.len() {
            return Err(malformed);
        }
        let what = what(kind, reader).ok_or(Malformed::Body(kind))?;
        Ok(Self { unique, node, what })
    }
}

/// A request of `fallocate` for what is left of its range behind the first `done` bytes; `None`: it is no such request.
pub fn without_start(request: &[u8], done: u64) -> Option<Vec<u8>> {
    /// Where the range stands: behind the head and the handle.
    const OFFSET: usize = 48;
    let What::File(FileOp::Allocate(range)) = Request::parse(request).ok()?.what else {
        return None;
    };
    let rest = [
        range.offset.checked_add(done)?,
        range.length.checked_sub(done)?,
    ];
    let mut request = request.to_vec();
    let place = request.get_mut(OFFSET..OFFSET + 16)?;
    place[..8].copy_from_slice(&rest[0].to_ne_bytes());
    place[8..].copy_from_slice(&rest[1].to_ne_bytes());
    Some(request)
}

fn what(kind: u32, mut body: Reader<'_>) -> Option<What<'_>> {
    Some(match kind {
        1 => What::Lookup(body.name()?),
        2 | 42 => What::Forget,
        3 => What::GetAttributes,
        4 => What::SetAttributes(new_attributes(&mut body)?),
        // symlink, mknod, mkdir, unlink, rmdir, rename, link, create, rename2.
        6 | 8..=13 | 35 | 45 => What::ChangeName,
        14 => What::Open,
        15 => What::File(FileOp::Read(transfer(&mut body)?)),
        16 => {
            let transfer = transfer(&mut body)?;
            let data = body.0.get(..transfer.size as usize)?;
            What::File(FileOp::Write(transfer, data))
        }
        17 => What::Space,
        18 | 25 | 29 => What::Done,
        20 | 30 => What::File(FileOp::Sync),
        26 => What::Init(init(&mut body)?),
        27 => What::OpenDirectory,
        28 => {
            body.u64()?;
            let (offset, size) = (body.u64()?, body.u32()?);
            What::ReadDirectory { offset, size }
        }
        36 => What::Interrupt(body.u64()?),
        38 => What::Destroy,
        43 => {
            body.u64()?;
            What::File(FileOp::Allocate(Fallocate {
                offset: body.u64()?,
                length: body.u64()?,
                mode: body.u32()?,
            }))
        }
        46 => {
            body.u64()?;
            What::File(FileOp::Seek(Seek {
                offset: body.u64()?,
                whence: body.u32()?,
            }))
        }
        other => What::Other(other),
    })
}

/// `struct fuse_setattr_in`: a set of those that are given, and all of them at fixed places.
fn new_attributes(body: &mut Reader<'_>) -> Option<NewAttributes> {
    const PERMISSIONS: u32 = 0o7777;
    let given = body.u32()?;
    let is_given = |bit: u32| given & (1 << bit) != 0;
    // Padding and the handle; after the size the owner of a lock, and the times of use, change and status, with their parts of
    // a second behind.
    body.take(12)?;
    let size = body.u64()?;
    body.take(16)?;
    let seconds = body.u64()?;
    body.take(12)?;
    let parts = body.u32()?;
    body.u32()?;
    let at = seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(parts));
    let time = if is_given(8) {
        NewTime::Now
    } else {
        NewTime::At(at)
    };
    let mode = body.u32()?;
    body.u32()?;
    let (user, group) = (body.u32()?, body.u32()?);
    Some(NewAttributes {
        mode: is_given(0).then_some(mode & PERMISSIONS),
        user: is_given(1).then_some(user),
        group: is_given(2).then_some(group),
        size: is_given(3).then_some(size),
        time: is_given(5).then_some(time),
    })
}

/// The head of a read or a write.
fn transfer(body: &mut Reader<'_>) -> Option<Transfer> {
    // The handle; then after the size flags of the request and the owner of a lock.
    body.u64()?;
    let (offset, size) = (body.u64()?, body.u32()?);
    body.u32()?;
    body.u64()?;
    let flags = body.u32()?;
    body.u32()?;
    Some(Transfer {
        offset,
        size,
        flags,
    })
}

fn init(body: &mut Reader<'_>) -> Option<Init> {
    let (major, minor) = (body.u32()?, body.u32()?);
    let max_readahead = body.u32()?;
    let mut flags = u64::from(body.u32()?);
    if flags & Init::EXTENDED != 0 {
        flags |= u64::from(body.u32()?) << 32;
    }
    Some(Init {
        major,
        minor,
        max_readahead,
        flags,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Put as _;

    /// A request as the kernel lays it out.
    fn message(kind: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        message.put32(40 + body.len() as u32);
        message.put32(kind);
        message.put64(77);
        message.put64(node);
        message.extend([0; 16]);
        message.extend(body);
        message
    }

    fn transfer_body(offset: u64, size: u32, flags: u32, data: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        body.put64(1);
        body.put64(offset);
        body.put32(size);
        body.put32(0);
        body.put64(0);
        body.put32(flags);
        body.put32(0);
        body.extend(data);
        body
    }

    fn seek(offset: u64, whence: u32) -> Vec<u8> {
        let mut body = Vec::new();
        body.put64(1);
        body.put64(offset);
        body.put32(whence);
        body.put32(0);
        body
    }

    #[test]
    fn requests_are_understood() {
        let read = transfer_body(4096, 512, 0, &[]);
        let write = transfer_body(8192, 3, 0o10_000, b"abc");
        let mut set = Vec::new();
        // Mode, group, size and time are given.
        set.put32(1 | 1 << 2 | 1 << 3 | 1 << 5);
        set.extend([0; 12]);
        set.put64(9);
        set.extend([0; 16]);
        for word in [3, 5] {
            set.put64(word);
        }
        for word in [0, 4, 0] {
            set.put32(word);
        }
        for word in [0o100_640, 0, 7, 8, 0] {
            set.put32(word);
        }
        let wished = NewAttributes {
            mode: Some(0o640),
            user: None,
            group: Some(8),
            size: Some(9),
            time: Some(NewTime::At(3_000_000_004)),
        };
        let wanted = Seek {
            offset: 4096,
            whence: 4,
        };
        let transfer = |offset, size, flags| Transfer {
            offset,
            size,
            flags,
        };
        for (kind, body, expected) in [
            (1, b"data\0".to_vec(), What::Lookup(b"data")),
            (15, read, What::File(FileOp::Read(transfer(4096, 512, 0)))),
            (
                16,
                write,
                What::File(FileOp::Write(transfer(8192, 3, 0o10_000), b"abc")),
            ),
            (20, vec![0; 16], What::File(FileOp::Sync)),
            (46, seek(4096, 4), What::File(FileOp::Seek(wanted))),
            (10, b"data\0".to_vec(), What::ChangeName),
            (45, vec![0; 16], What::ChangeName),
            (4, set, What::SetAttributes(wished)),
            (36, 5u64.to_ne_bytes().to_vec(), What::Interrupt(5)),
            (999, vec![], What::Other(999)),
        ] {
            let message = message(kind, 2, &body);
            let request = Request::parse(&message).unwrap();
            assert_eq!((request.unique, request.node), (77, 2));
            assert_eq!(request.what, expected);
        }
        assert!(transfer(0, 1, 0o10_000).is_durable());
        assert!(!transfer(0, 1, 0o2).is_durable());
        for (whence, expected) in [
            (0, None),
            (2, None),
            (3, Some(true)),
            (4, Some(false)),
            (5, None),
        ] {
            let found = Seek { offset: 0, whence };
            assert_eq!(found.for_data(), expected);
        }
    }

    #[test]
    fn a_range_goes_on_behind_its_start() {
        let mut body = Vec::new();
        for word in [1, 4096, 10_000] {
            body.put64(word);
        }
        body.put32(3);
        body.put32(0);
        let whole = message(43, 2, &body);
        let rest = without_start(&whole, 4000).unwrap();
        let range = Fallocate {
            offset: 8096,
            length: 6000,
            mode: 3,
        };
        let expected = What::File(FileOp::Allocate(range));
        let request = Request::parse(&rest).unwrap();
        assert_eq!((request.unique, request.node), (77, 2));
        assert_eq!(request.what, expected);
        assert_eq!(without_start(&whole, 10_001), None);
        assert_eq!(without_start(&message(20, 2, &[0; 16]), 1), None);
    }

    #[test]
    fn what_is_cut_off_is_no_request() {
        let write = message(16, 2, &transfer_body(0, 4, 0, b"abc"));
        assert_eq!(Request::parse(&write), Err(Malformed::Body(16)));
        let whole = message(1, 1, b"name\0");
        for length in 0..whole.len() {
            assert!(Request::parse(&whole[..length]).is_err(), "{length}");
        }
        assert_eq!(
            Request::parse(&message(1, 1, b"no end")),
            Err(Malformed::Body(1))
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(kind in 0u32..60, body in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = Request::parse(&message(kind, 1, &body));
        }
    }
}
