//! fio's job files and command line, and its JSON and text output.
//!
//! fio is the tool that published figures and other people's scripts speak, so its input is read as fio reads it, traps
//! included, and its output is written key by key. What is carried, and each deliberate difference, stands in
//! `docs/dialects/fio.md`.
//!
//! ```
//! use fathom_dialects::fio::{self, ReadContext, SystemFiles};
//! let arguments = ["--name=a", "--ioengine=null", "--size=1m", "--rw=randread"].map(String::from);
//! let input = fio::read(&arguments, &ReadContext::of_system(&SystemFiles)).unwrap();
//! assert_eq!(input.workload.stages[0].jobs[0].name, "a");
//! ```

mod blocks;
mod command_line;
mod conditioning;
mod context;
mod copy_tests;
mod decimal;
mod directions;
mod ends;
mod engine;
mod errno;
mod exports;
mod features;
mod file_kinds;
mod file_names;
mod file_sizes;
mod fitting;
mod help;
mod input;
mod job;
mod late;
mod lexer;
mod option_names;
mod pairs;
mod passes;
mod placement;
mod plan;
mod processor_work;
mod reopening;
mod replay;
mod scatter;
mod self_tests;
mod settings;
mod short_files;
mod skipping;
mod table;
mod targets;
mod text;
mod values;
mod verify;
mod write;

use fathom_diagnostics::Diagnostics;

pub use command_line::{output_file, output_words};
pub use context::{FileStatus, Files, ReadContext, SystemFiles};
pub use copy_tests::{COPY_SIZES, CopyKind, copy_names, copy_speed};
pub use help::{command_help, engine_help, general_help, show_command};
pub use input::{
    Action, Debug, EtaMode, FioInput, FioJobMeta, IdleProfile, JobLogs, LogFile, LogKind, Origin,
    OutputFormat, OutputOptions, Percentiles, Provenance, SizesOf, TraceMerge, Trigger, Unified,
    WindowValue,
};
pub use late::{Refused, Unready};
pub use lexer::looks_like_job_file;
pub use plan::lacks_jobs;
pub use self_tests::{CounterAt, Counters, NO_COUNTERS, checksum_names, checksum_speed, counters};
pub use table::{belongs_to_engine, is_option, syncs_file_systems};
pub use write::{
    Eta, FioRun, Host, LogLines, PriorityLatencies, Report, VERSION, debug_ios, debug_seeds,
    eta_line, failed_jobs, refused, write_clients, write_json, write_laying_out, write_normal,
    write_saved, write_start, write_terse, write_working,
};

/// Reads fio's own command line: everything after the word `fio`.
///
/// Job files named in it are read through `context`; `-` is the standard input.
///
/// # Errors
/// Every complaint about the arguments and files at once. At least one of them is an error.
pub fn read(arguments: &[String], context: &ReadContext<'_>) -> Result<FioInput, Diagnostics> {
    read_to_run(arguments, context).map_err(|unready| unready.complaints)
}

/// Reads as [`read`] does, for a run whose results are shown as fio shows them.
///
/// # Errors
/// As [`read`], with the jobs themselves where fio would read them, and find what is wrong only as it runs them.
pub fn read_to_run(
    arguments: &[String],
    context: &ReadContext<'_>,
) -> Result<FioInput, Box<Unready>> {
    let (line, mut diagnostics) = command_line::read(arguments, context);
    let built = plan::build(line, context, &mut diagnostics);
    match built {
        Some((input, _)) if !diagnostics.has_errors() => Ok(FioInput {
            warnings: diagnostics,
            ..input
        }),
        built => Err(Box::new(Unready {
            complaints: diagnostics,
            refused: built.map(|(input, errnos)| Refused { input, errnos }),
        })),
    }
}

/// Reads one job file by its path, as `fio PATH` would.
///
/// # Errors
/// As [`read`].
pub fn read_file(path: &str, context: &ReadContext<'_>) -> Result<FioInput, Diagnostics> {
    // A path that starts with `-` must not be taken for an option.
    let path = if path.starts_with('-') && path != "-" {
        format!("./{path}")
    } else {
        path.into()
    };
    read(&[path], context)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod verify_tests;
