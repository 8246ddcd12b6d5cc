//! Shell completions and man pages of the command line, from the one definition that the help comes from, and what a word is
//! told that this definition does not have.
//!
//! What the definition does not hold stands here: the words that a shell may offer where any text is taken (presets,
//! dialects, rows of the catalogue), and what a page says beside the options (`facts`).
//!
//! Invariant: nothing is built before one of the two verbs is called or a word is wrong, so that no other pays for it.

mod complete;
mod facts;
mod flowing;
mod misplaced;
mod pages;
mod values;
mod verbs;
mod wrong_option;
mod wrong_verb;

pub use complete::completions;
pub use flowing::with_flowing_notes;
pub use misplaced::misplaced;
pub use pages::{Page, pages};
pub use values::{refused_value, with_numbers_below_zero};
pub use verbs::{CompletionsArgs, ManArgs, man, print_completions};
pub use wrong_option::{second_workload, unknown_argument, unknown_option};
pub use wrong_verb::unknown_verb;
