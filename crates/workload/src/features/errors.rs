//! Which failures a job survives, and which slowness it does not.

use fathom_units::Nanos;

/// How a job takes errors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorHandling {
    /// Whether failed I/Os of each [`crate::Direction`] are counted and the job goes on.
    pub go_on: [bool; 3],
    /// Error numbers that do not count at all, for each [`crate::Direction`].
    pub ignored: [Vec<i32>; 3],
    /// The job fails at the first I/O of each [`crate::Direction`] that takes longer.
    pub latency_max: [Option<Nanos>; 3],
}
