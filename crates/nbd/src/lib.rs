//! The NBD protocol: bytes in, meaning out, and back; as a server speaks it, and in [`client`] as a client does.
//!
//! Spoken is the fixed newstyle handshake with structured replies and the metadata context `base:allocation`, as the
//! protocol's own document has it (`doc/proto.md` of NetworkBlockDevice/nbd), and that TLS is asked for first where it is
//! wanted; who deciphers it is another's matter. What is not spoken (extended headers, resizing) is answered as that document asks, so that clients go on without it.
//!
//! - [`Handshake`] takes a client from its first byte to the choice of an export.
//! - [`Request`] is a client's request after that, and [`check`] says whether it may be done.
//! - [`reply`] makes the heads of replies; the bytes read follow them on the wire.
//! - [`Uri`] says where an export is.
//!
//! Invariants: nothing here does I/O or reads a clock; no input makes it panic, and memory is bounded by
//! [`OPTION_MAX`] whatever lengths a client claims.

mod bytes;
pub mod client;
mod handshake;
mod options;
pub mod reply;
mod request;
mod uri;

pub use handshake::{GREETING, Handshake, Outcome, ProtocolError, Session};
pub use options::{ExportFacts, Exports, OPTION_MAX};
pub use reply::NbdError;
pub use request::{
    BLOCK_MAX, BLOCK_MIN, BLOCK_PREFERRED, Command, Flags, REQUEST_BYTES, Request, check,
};
pub use uri::{Address, DEFAULT_PORT, Peer, Security, Uri, UriError};
