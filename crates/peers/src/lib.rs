//! Drivers of the verbs that take a peer's place.
//!
//! Each, such as `fathom fio`, reads its peer's own command line, runs what it asks for, and answers in its own words
//! and exit codes. Reading and writing a peer's formats is the business of `dialects`; a driver puts its parts together and
//! prints nothing but through the [`fathom_session::Console`] it is given.

mod diskperformance;
mod diskspd;
mod fio;
mod iometer;
mod measure;
mod processors;
mod silent;
mod sqlio;
mod vdbench;
mod view;

use fathom_session::{Code, Console};

pub use diskperformance::diskperformance;
pub use diskspd::diskspd;
pub use fio::fio;
pub use iometer::iometer;
pub use sqlio::sqlio;
pub use vdbench::{Enough, vdbench};
pub use view::{Shown, View, view, without_view};

/// Does what a peer would do with its own arguments.
pub type Peer = fn(&[String], &dyn Console) -> Code;

/// Every peer whose place is taken, by the name of its program.
const PEERS: &[(&str, Peer)] = &[
    ("fio", fio),
    ("diskspd", diskspd),
    ("vdbench", vdbench),
    ("iometer", iometer),
    ("sqlio", sqlio),
    ("diskperformance", diskperformance),
];

/// The peer whose program has that name.
pub fn peer(program: &str) -> Option<Peer> {
    let found = PEERS.iter().find(|(name, _)| *name == program);
    found.map(|(_, peer)| *peer)
}
