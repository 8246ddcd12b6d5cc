//! The end of a run as a person sees it.

mod figures;
mod hosts;
mod names;
mod notes;
mod records;
mod repeats;
mod storage;
mod sweeps;
