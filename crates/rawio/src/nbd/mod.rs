//! Exports of NBD servers as storage: connections to them, and a queue on those.
//!
//! The protocol is `fathom_nbd`'s; here are its sockets. A connection is a [`File`] as other targets are, whose
//! handshake is over.
//!
//! [`File`]: std::fs::File

mod channel;
mod connect;
mod link;
mod queue;
mod silence;
mod tls;

pub use connect::{NbdUnreachable, connect_to_export, list_exports, look_at_export, survey_export};
pub use link::NbdExport;
pub use queue::{NbdQueue, NbdWrites};
pub use silence::Silence;
pub use tls::TlsFileError;
