//! Which failures a job survives, and which slowness it does not.

use fathom_units::Nanos;

/// How a job takes errors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorHandling {
    /// Whether failed I/Os of each [`crate::Direction`] are counted and the job goes on, whatever the error.
    pub go_on: [bool; 3],
    /// Error numbers after which the job goes on, for each [`crate::Direction`]; such I/Os are counted too.
    pub ignored: [Vec<i32>; 3],
    /// Whether a file system or a quota that is full ends the job as if its time were over, which is no error.
    pub full_ends: bool,
    /// The job fails at the first I/O of each [`crate::Direction`] that takes longer.
    pub latency_max: [Option<Nanos>; 3],
}
