//! Shell completions and man pages of the command line, from the one definition that the help comes from.
//!
//! What the definition does not hold stands here: the words that a shell may offer where any text is taken (presets,
//! dialects, rows of the catalogue), and what a page says beside the options (`facts`).
//!
//! Invariant: nothing is built before one of the two verbs is called, so that no other pays for them.

mod complete;
mod facts;
mod pages;
mod verbs;

pub use complete::completions;
pub use pages::{Page, pages};
pub use verbs::{CompletionsArgs, ManArgs, man, print_completions};
