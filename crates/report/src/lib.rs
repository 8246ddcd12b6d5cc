//! Views of a record: what a person reads at the end of a run and while it goes.
//!
//! Invariant: a record (or an event) goes in, text comes out; nothing here knows the engine or prints.

mod format;
mod plot;
mod progress;
mod runs_table;
mod summary;

pub use progress::{Progress, layout_line};
pub use runs_table::{RunRow, runs_table};
pub use summary::{Summary, summary};
