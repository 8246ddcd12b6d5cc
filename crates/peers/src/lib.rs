//! Drivers of the verbs that take a peer's place.
//!
//! `fathom fio` and `fathom diskspd` read their peer's own command line, run what it asks for, and answer in its own words
//! and exit codes. Reading and writing a peer's formats is the business of `dialects`; a driver puts its parts together and
//! prints nothing but through the [`fathom_session::Console`] it is given.

mod diskspd;
mod fio;

use fathom_session::{Code, Console};

pub use diskspd::diskspd;
pub use fio::fio;

/// Does what a peer would do with its own arguments.
pub type Peer = fn(&[String], &dyn Console) -> Code;

/// Every peer whose place is taken, by the name of its program.
const PEERS: &[(&str, Peer)] = &[("fio", fio), ("diskspd", diskspd)];

/// The peer whose program has that name.
pub fn peer(program: &str) -> Option<Peer> {
    let found = PEERS.iter().find(|(name, _)| *name == program);
    found.map(|(_, peer)| *peer)
}
