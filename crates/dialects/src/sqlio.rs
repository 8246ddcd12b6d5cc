//! SQLIO's command line and parameter files, and its output.
//!
//! SQLIO 1.5.SG is retired: what is spoken follows its readme and outputs that were published. What is carried, and each
//! deliberate difference, stands in `docs/dialects/sqlio.md`.
//!
//! ```
//! use fathom_dialects::fio::SystemFiles;
//! use fathom_dialects::sqlio;
//! let arguments = ["-kW", "-t2", "-o8", "-frandom", "-b8", "-LS", "x.dat"].map(String::from);
//! let input = sqlio::read(&arguments, &SystemFiles).unwrap();
//! assert_eq!(input.workload.stages[0].jobs[0].depth, 8);
//! ```

mod explain;
mod line;
mod plan;
mod settings;
#[cfg(test)]
mod tests;
mod write;

use fathom_diagnostics::Diagnostics;
use fathom_workload::Workload;

use crate::fio::Files;

pub use explain::origins;
pub(crate) use plan::job;
pub use settings::{Buffering, Order, Settings, Target};
pub use write::{SqlioRun, usage, write_text};
pub(crate) use write::{average_ms, ios_per_sec, mib_per_sec};

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// I/O.
    Run,
    /// The usage text (`-?`).
    Help,
}

/// A command line that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlioInput {
    /// What to run: one stage.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// What it asks for.
    pub action: Action,
    /// Every value.
    pub settings: Settings,
}

/// Reads the words after the program's name; `files` has the parameter file that they name.
///
/// # Errors
/// Every complaint about the line or the parameter file at once. At least one of them is an error.
pub fn read(arguments: &[String], files: &dyn Files) -> Result<SqlioInput, Diagnostics> {
    let line = line::read(arguments, files)?;
    let workload = plan::build(&line.settings);
    let action = if line.help { Action::Help } else { Action::Run };
    if action == Action::Run {
        fathom_workload::validate(&workload)?;
    }
    Ok(SqlioInput {
        workload,
        warnings: line.warnings,
        action,
        settings: line.settings,
    })
}
