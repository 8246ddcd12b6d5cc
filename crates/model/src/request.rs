//! What goes into the model and what comes out: I/Os, and their completions.

use crate::design::{ClientId, VolumeId};
use crate::limit::Waits;

/// A file of a [`crate::Layout`]; numbers are dense and start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// No file: what is known of single files (limits, handles) does not apply.
    pub const NONE: Self = Self(u32::MAX);

    pub(crate) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// Its index among the layout's files; `None` for [`FileId::NONE`].
    pub const fn index(self) -> Option<usize> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0 as usize)
        }
    }
}

/// An operation on a file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetadataOp {
    /// Makes the file and opens it.
    Create,
    /// Opens it.
    Open,
    /// Closes it.
    Close,
    /// Removes it.
    Delete,
    /// Asks for its attributes.
    Stat,
}

/// What an I/O does to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    /// Moves data to the host.
    Read,
    /// Moves data to storage. So does what fills a range with zeroes, which is charged as if they were sent.
    Write,
    /// Says that the data of a range is not needed any more. Charged as one I/O of no bytes at each disk that it touches;
    /// the host cache stays as it is.
    Trim,
    /// Completes when every write of the volume that completed before it was submitted is durable.
    Flush,
    /// Does something to the file itself.
    Metadata(MetadataOp),
}

/// One I/O of an application.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Where it goes.
    pub volume: VolumeId,
    /// Which machine it comes from.
    pub client: ClientId,
    /// Which file it is for.
    pub file: FileId,
    /// What it does.
    pub kind: IoKind,
    /// Of a write: it is durable when it completes.
    pub fua: bool,
    /// First byte on the volume.
    pub offset: u64,
    /// Bytes; the I/O must end within the volume. 0 for flushes and metadata; a trim has those of its range.
    pub length: u32,
    /// Which stream it belongs to; with `index` it chooses the I/O's media latency.
    pub stream: u64,
    /// Its index within the stream.
    pub index: u64,
    /// Given back when it completes.
    pub tag: u64,
}

/// Why an I/O failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum IoError {
    /// A file, or the whole share, has as many open handles as it may have.
    #[error("too many open handles")]
    TooManyHandles,
    /// Its volume fails ([`crate::Action::Fail`]).
    #[error("input/output error")]
    Io,
    /// Its volume is detached ([`crate::Action::Detach`]).
    #[error("no such device")]
    Gone,
}

/// A finished I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed {
    /// As submitted.
    pub tag: u64,
    /// What it waited for.
    pub waits: Waits,
    /// Why it failed; `None` where it did not.
    pub error: Option<IoError>,
}
