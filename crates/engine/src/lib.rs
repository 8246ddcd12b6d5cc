//! Runs a workload on real storage.

mod error;
mod guard;
mod marker;
mod options;
mod stop;
mod targets;

pub use error::{EngineError, ExitClass, Refusal};
pub use options::{ErrorPolicy, Overwrite, RunOptions};
pub use stop::StopFlag;
