//! DISKSPD's command line and its text output.
//!
//! The line is read as DISKSPD 2.2 reads it, with what 2.3 added where it means something here; results are printed in the
//! layout of 2.2. What is carried, and each deliberate difference, stands in `docs/dialects/diskspd.md`.
//!
//! ```
//! use fathom_dialects::diskspd;
//! let arguments = ["-c1G", "-b4K", "-r", "-o32", "-Sh", "x.dat"].map(String::from);
//! let input = diskspd::read(&arguments, 0).unwrap();
//! assert_eq!(input.workload.stages[0].jobs[0].depth, 32);
//! ```

mod check;
mod deviation;
mod explain;
mod fit;
mod line;
mod pattern;
mod plan;
mod settings;
mod sizes;
#[cfg(test)]
mod tests;
mod write;

use fathom_diagnostics::Diagnostics;
use fathom_workload::Workload;

pub use deviation::Buckets;
pub use explain::origins;
pub use fit::{fit_to_files, is_windows_path};
pub use settings::Settings;
pub(crate) use write::date;
pub use write::{CpuUse, DiskspdRun, System, usage, write_text};

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// I/O.
    Run,
    /// The usage text (`-?`).
    Help,
}

/// One row of the result tables: a thread's I/O on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Number of the thread.
    pub thread: u32,
    /// Index of the target.
    pub target: usize,
}

/// A command line that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskspdInput {
    /// What to run: one stage.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// What it asks for.
    pub action: Action,
    /// Every option.
    pub settings: Settings,
    /// Targets as they were written.
    pub targets: Vec<String>,
    /// The words as they were given.
    pub arguments: Vec<String>,
    /// For each worker of the stage, job by job, where the tables show it.
    pub rows: Vec<Row>,
}

/// Reads the words after the program's name. `entropy` seeds a run that asks for a seed from the clock (a bare `-z`).
///
/// # Errors
/// Every complaint about the line at once. At least one of them is an error.
pub fn read(arguments: &[String], entropy: u64) -> Result<DiskspdInput, Diagnostics> {
    let mut line = line::read(arguments, entropy);
    check::check(&mut line);
    let line::Line {
        settings,
        targets,
        diagnostics,
        help,
        ..
    } = line;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let action = if help { Action::Help } else { Action::Run };
    let targets: Vec<String> = targets.into_iter().map(|(_, target)| target).collect();
    let (workload, rows) = plan::build(&settings, &targets);
    if action == Action::Run {
        fathom_workload::validate(&workload)?;
    }
    Ok(DiskspdInput {
        workload,
        warnings: diagnostics,
        action,
        settings,
        targets,
        arguments: arguments.to_vec(),
        rows,
    })
}
