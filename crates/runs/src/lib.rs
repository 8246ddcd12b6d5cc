//! Run folders: what a run leaves behind, written as it happens.
//!
//! A run is its own fault domain: a folder with `events.jsonl`, `histograms.hlog` (HdrHistogram interval log),
//! `workload.toml`, `design.toml` (predictions), `environment.json` and, at the end, `record.json`. A run killed at any
//! moment is readable up to its last second.
//!
//! Invariant: storing can never break a run; a failure to store is kept and told once, at the end.

mod environment;
mod follow;
mod limits;
mod recover;
mod store;
mod writer;

pub use environment::environment;
pub use follow::{Follower, Told};
pub use limits::Limits;
pub use store::{
    Digest, LIST_SCHEMA, RunEntry, RunState, StageDigest, Stamp, Store, StoreError, find,
};
pub use writer::{RunStart, RunWriter};

/// Names of the files in a run folder.
pub(crate) mod files {
    /// One event a line.
    pub const EVENTS: &str = "events.jsonl";
    /// Histograms of every second.
    pub const HISTOGRAMS: &str = "histograms.hlog";
    /// The resolved workload.
    pub const WORKLOAD: &str = "workload.toml";
    /// The design predicted on.
    pub const DESIGN: &str = "design.toml";
    /// Where it ran.
    pub const ENVIRONMENT: &str = "environment.json";
    /// The record.
    pub const RECORD: &str = "record.json";
}
