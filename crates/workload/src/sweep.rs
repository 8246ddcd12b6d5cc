//! Sweeps: one workload measured at many depths, block sizes and thread counts.
//!
//! `--sweep depth=1..64x2,block=4k,8k,64k` turns every stage into one stage for each combination of the values, named
//! after it (`depth=8 block=4k`), so that a sweep is run, predicted, stored and repeated like any other workload.
//!
//! | axis | what it sets in every job of a stage |
//! |---|---|
//! | `depth` | I/Os outstanding per worker |
//! | `block` | the size of every I/O |
//! | `threads` | workers |
//!
//! Values are a list (`depth=1,2,4`: after a comma a bare value continues the axis before it), a geometric range
//! (`1..64x2`) or an arithmetic one (`4..16+4`); ranges hold every value up to their end.
//!
//! Invariants: points are ordered by block, then threads, then depth, so that a curve's points follow one another; stages
//! that are discarded prepare, and are not swept.

mod apply;
mod parse;

use fathom_units::Bytes;

pub use apply::Swept;

/// Most points of one sweep.
pub const POINTS_MAX: usize = 1_000;

/// What is swept, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sweep {
    /// I/Os outstanding per worker; empty: as each job says.
    pub depths: Vec<u32>,
    /// Sizes of I/Os; empty: as each job says.
    pub blocks: Vec<Bytes>,
    /// Workers of each job; empty: as each job says.
    pub threads: Vec<u32>,
}

/// One combination of the values of a sweep. What is `None` is not swept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SweepPoint {
    /// Name of the stage that measures it (its repeats add their number).
    pub stage: String,
    /// Name of the stage it was made from, where the workload has several.
    pub base: Option<String>,
    /// I/Os outstanding per worker.
    pub depth: Option<u32>,
    /// Size of I/Os.
    pub block: Option<Bytes>,
    /// Workers of each job.
    pub threads: Option<u32>,
    /// I/Os that all jobs of the stage together may have outstanding.
    pub outstanding: u64,
}

/// Why a sweep cannot be: what and why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SweepError {
    /// What is wrong, and why.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl SweepError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

impl Sweep {
    /// Number of points for each stage.
    pub fn point_count(&self) -> usize {
        let axes = [self.depths.len(), self.blocks.len(), self.threads.len()];
        axes.iter().map(|length| (*length).max(1)).product()
    }
}

/// A block size as sweeps name it: `4k`, `1m`, `512`, exact.
fn short_size(size: Bytes) -> String {
    let bytes = size.get();
    let units = [("g", 30), ("m", 20), ("k", 10)];
    let unit = units
        .iter()
        .find(|(_, shift)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    match unit {
        Some((letter, shift)) => format!("{}{letter}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests;
