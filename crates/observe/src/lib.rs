//! What a running application does to its storage, as a profile.
//!
//! Seen live (the kernel's counters, and its block tracepoints where there is a right to them) or imported from what other
//! tools wrote; both are an [`Observation`], from which the profile, its table and the verdicts are made in one way.
//!
//! Invariants: nothing is written to a device; what a source cannot know is unknown with its reason, never guessed.

pub mod import;
mod samples;

pub use samples::{Device, Machine, MachineSample, Observation, Ops, Sample, Traced, Unknown};
