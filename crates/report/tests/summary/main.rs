//! The end of a run as a person sees it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod figures;
mod names;
mod notes;
mod records;
mod repeats;
mod storage;
mod sweeps;
