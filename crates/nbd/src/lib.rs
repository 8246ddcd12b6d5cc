//! The NBD protocol as a server speaks it: bytes in, meaning out, and back.
//!
//! Spoken is the fixed newstyle handshake with structured replies and the metadata context `base:allocation`, as the
//! protocol's own document has it (`doc/proto.md` of NetworkBlockDevice/nbd), and that TLS is asked for first where it is
//! wanted; who deciphers it is another's matter. What is not spoken (extended headers, resizing) is answered as that document asks, so that clients go on without it.
//!
//! - [`Handshake`] takes a client from its first byte to the choice of an export.
//! - [`Request`] is a client's request after that, and [`check`] says whether it may be done.
//! - [`reply`] makes the heads of replies; the bytes read follow them on the wire.
//!
//! Invariants: nothing here does I/O or reads a clock; no input makes it panic, and memory is bounded by
//! [`OPTION_MAX`] whatever lengths a client claims.

mod bytes;
mod handshake;
mod options;
pub mod reply;
mod request;

pub use handshake::{GREETING, Handshake, Outcome, ProtocolError, Session};
pub use options::{ExportFacts, Exports, OPTION_MAX};
pub use reply::NbdError;
pub use request::{
    BLOCK_MAX, BLOCK_MIN, BLOCK_PREFERRED, Command, Flags, REQUEST_BYTES, Request, check,
};
