//! Fuzzing of the readers of inputs: none panics, hangs, or takes memory out of proportion, whatever it is fed.
//!
//! Each reader of [`PARSERS`] has a folder of inputs in `corpora/`. A campaign changes and crosses them, and keeps an input
//! that made the reader say something it had not said before: the complaints and results of a reader, without the names and
//! numbers in them, stand for the ways through it (`outcome`). `cargo xtask fuzz` runs campaigns under a limit of memory;
//! the test of this crate replays the corpora.
//!
//! Invariants: a campaign of one seed does the same again; nothing is written but into the folders it is given.

mod campaign;
mod corpus;
mod mutate;
mod nbd;
mod outcome;
mod parsers;
mod random;
mod watch;

pub use campaign::{Campaign, Finding, Found, Summary, read_once, replay};
pub use corpus::{Corpus, folder};
pub use parsers::{PARSERS, Parser, parser};

/// Longest input, in bytes.
pub const INPUT_MAX: usize = 1 << 20;
/// Longest time that a reader may take for one input.
pub const TIME_MAX: std::time::Duration = std::time::Duration::from_secs(1);
/// Most memory that a process may take that reads one input, in KiB: 256 MiB, and what the campaign itself holds.
pub const MEMORY_MAX_KIB: u64 = (256 + 24) << 10;
