//! The verb `ui`: the stored runs as pages of a browser on this machine.
//!
//! Pages are made here and need no scripts, but for the course of a run under way as it comes. Nothing can be changed through
//! them: every request only reads the store.
//!
//! Invariants: without being asked it is reached from this machine alone; without the token nothing of the store is told; a
//! client takes a bounded share of memory, of threads and of time.

mod access;
mod answer;
mod api;
mod args;
mod door;
mod events;
mod list;
mod live;
mod page;
mod request;
mod shelf;
mod site;
mod verb;
mod workers;

pub use args::UiArgs;
pub use verb::run;
