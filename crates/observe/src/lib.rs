//! What a running application does to its storage, as a profile.
//!
//! Seen live (the kernel's counters, and its block tracepoints where there is a right to them) or imported from what other
//! tools wrote; both are an [`Observation`], from which the profile, its table and the verdicts are made in one way.
//!
//! Invariants: nothing is written to a device; what a source cannot know is unknown with its reason, never guessed.

mod checklist;
mod guide;
pub mod import;
mod json;
pub mod live;
mod periods;
mod samples;
mod shares;
mod table;
mod verb;
mod verdict;

pub use checklist::{About, Checklist};
pub use guide::{explained_table, or_table};
pub use json::document;
pub use periods::{DayTime, DayTimeError, Given, Periods};
pub use samples::{
    Device, Machine, MachineSample, Observation, Ops, Placed, Sample, Stretch, Traced, Unknown,
    Zone,
};
pub use table::page;
pub use verb::{ObserveArgs, run};
pub use verdict::{Finding, Verdict, verdicts};
