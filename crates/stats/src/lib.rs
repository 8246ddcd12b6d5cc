//! Statistics of measurements: histograms that merge exactly, and what is read from them.
//!
//! Invariant: a percentile is never averaged; it is read from a merged histogram.

mod comparison;
mod confidence;
mod dependence;
mod hdr;
mod histogram;
mod ranks;
mod steady;

pub use comparison::{Difference95, welch_95};
pub use confidence::{Interval95, confidence_95};
pub use dependence::Dependence;
pub use hdr::{HdrError, from_hdr_base64, to_hdr, to_hdr_base64, to_hdr_log_base64};
pub use histogram::Histogram;
pub use ranks::{Ranks95, percentile_95, ranks_95};
pub use steady::{largest_deviation, mean, slope};
