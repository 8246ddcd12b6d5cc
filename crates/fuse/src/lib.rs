//! The kernel's FUSE protocol, as far as a tree of files of fixed size needs it.
//!
//! Requests are parsed from what one read of `/dev/fuse` brings, replies are made for one write to it. There is no I/O here:
//! who reads and writes the device does that in its own loop, and sends the bytes of a read from where they lie.
//! Names, numbers and shapes are those of the kernel's public header `linux/fuse.h`, version 7.45; numbers are in the
//! machine's own order.
//!
//! Invariants: no input can make it panic; what is not understood is answered with `ENOSYS`.

mod reply;
mod request;
mod tree;
mod wire;

pub use reply::{
    HEAD_BYTES, Head, Space, attributes, entry, failed, head, initialised, opened, sought, space,
    written,
};
pub use request::{
    Fallocate, FileOp, Init, Malformed, NewAttributes, NewTime, REQUEST_MOST, Request, Seek,
    Transfer, WRITE_MOST, What, without_start,
};
pub use tree::{Attributes, ROOT, Tree, TreeError};

/// Error numbers that replies carry.
pub mod errno {
    /// Not permitted.
    pub const PERM: i32 = 1;
    /// No such file.
    pub const NO_ENTRY: i32 = 2;
    /// A signal came first.
    pub const INTERRUPTED: i32 = 4;
    /// An I/O failed.
    pub const IO: i32 = 5;
    /// No such place: beyond the end of a file, or of its data.
    pub const NO_PLACE: i32 = 6;
    /// A directory where a file was wanted.
    pub const IS_DIRECTORY: i32 = 21;
    /// An argument makes no sense.
    pub const INVALID: i32 = 22;
    /// No space left: beyond the end of a file that does not grow.
    pub const NO_SPACE: i32 = 28;
    /// Not implemented.
    pub const NO_SYSTEM_CALL: i32 = 38;
    /// Not supported for this file.
    pub const NOT_SUPPORTED: i32 = 95;
}
