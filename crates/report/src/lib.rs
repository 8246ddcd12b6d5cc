//! Views of a record: what a person reads at the end of a run and while it goes, and the page that is kept or sent.
//!
//! Invariant: a record (or an event, or a need) goes in, text comes out; nothing here knows the engine or prints.

mod cells;
mod compare;
mod course;
mod csv;
mod format;
mod html;
mod lines;
mod need;
mod panel;
mod parts;
mod plot;
mod progress;
mod record_csv;
mod repeats;
mod runs_table;
mod summary;
mod usage;

pub use cells::columns_of;
pub use compare::{
    Basis, Change, Comparison, Figure, Point, Threshold, ThresholdError, Worse, failure_line,
};
pub use format::{natural, plain};
pub use html::{
    ListedRun, PAGE_MARK, escaped, html_body, html_frame, html_page, list_table, live_section,
};
pub use lines::{Lines, Width, notices};
pub use need::{Line, Met, NeedBeside, NothingOfIt, Outcome, Part};
pub use panel::{Panel, Room};
pub use progress::{Progress, layout_line};
pub use record_csv::record_csv;
pub use runs_table::{RunRow, runs_table};
pub use summary::{Summary, named_summary, shell_word, stored_summary, summary};
pub use usage::folded;
