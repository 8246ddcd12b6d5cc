//! The storage model in real time: volumes of a design that real programs can use.
//!
//! The model says when an I/O is over; here somebody waits until then. Each volume is an NBD export with bytes of its own,
//! whose I/O takes as long as the design would take. How far that is from the model is measured with every I/O
//! (the *emulation error*) and stands in the record.
//!
//! - `server` is the one thread that does it all; `pace` is the model with its clocks, `path` what messages cost.
//! - `tls` deciphers what comes over TCP, beside the thread that serves.
//! - `punch` gives back the room of large holes, `sync` makes files durable, both beside that thread too.
//! - `client` is a connection, `in_flight` the I/Os under way, `backing` and `allocation` the bytes.
//! - `meter`, `live`, `trace` and `document` count, show, write down and record.
//! - `mount` and `attach` make files and block devices of volumes, `clean` removes what killed servers left of them.
//! - `control` brings orders of `ctl`, `order` understands them, `undo` keeps what a crash brings back.
//! - `run` is the verb.
//!
//! Invariants: no limit is decided here, all are the model's; nothing is answered before it is due; what a client makes the
//! server keep is bounded.

mod allocation;
mod args;
mod attach;
mod backing;
mod budget;
mod clean;
mod client;
mod control;
mod ctl;
mod document;
mod exports;
mod in_flight;
mod listen;
mod live;
mod meter;
mod mount;
mod order;
mod pace;
mod path;
mod punch;
mod run;
mod script;
mod server;
mod sync;
mod tls;
mod trace;
mod undo;

pub use args::ServeArgs;
pub use attach::AttachError;
pub use backing::BackingError;
pub use ctl::{CtlArgs, ctl};
pub use listen::ListenError;
pub use mount::MountError;
pub use order::OrderError;
pub use run::run;
pub use tls::{TlsArgs, TlsError};
