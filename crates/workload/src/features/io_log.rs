//! What a job tells of its I/O while it runs, beside its totals.
//!
//! Peers write logs of single I/Os or of windows of some milliseconds. Both are told in chunks, so that a run of any
//! length takes no more memory than a few of them.

use fathom_units::Nanos;

/// What is told of a job's measured I/O; nothing by default. All of it may be asked for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoLog {
    /// Every I/O by itself.
    pub each: bool,
    /// Sums over windows of this length, counted from the start of the worker's measurement; above zero.
    pub window: Option<Nanos>,
    /// Histograms of completion latency over windows of this length, counted alike; above zero.
    pub histogram: Option<Nanos>,
}

/// Lengths of the windows over which a peer's input wants rates sampled; both above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSamples {
    /// Of bandwidth.
    pub bandwidth: Nanos,
    /// Of IOPS.
    pub iops: Nanos,
}

impl IoLog {
    /// Whether anything is told.
    pub fn is_on(&self) -> bool {
        *self != Self::default()
    }
}
