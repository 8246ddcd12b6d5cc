//! fio's own output, built from a run's measurements.
//!
//! Scripts read this output by its keys and columns, so both are written as fio 3.42 writes them.

mod buckets;
mod clients;
mod debug;
mod entry;
mod eta;
mod figures;
mod idle;
mod json_document;
mod json_text;
mod judged;
mod laying_out;
mod log;
mod normal;
mod priorities;
mod refused;
mod saved;
mod terse;
mod unified;
mod wire_histogram;
mod working;

use fathom_record::StageResult;
use fathom_units::Nanos;
use fathom_workload::Stage;

use json_document::Buckets;

pub use clients::{Host, Report, write_clients};
pub use debug::{ios as debug_ios, seeds as debug_seeds};
pub use eta::{Eta, line as eta_line};
pub use log::LogLines;
pub use priorities::PriorityLatencies;
pub use refused::results as refused;

use super::input::{FioInput, OutputFormat};

/// What `--version` prints and the key `fio version` holds: the version whose output this is. Consumers parse it, so
/// Fathom's own name is not part of it.
pub const VERSION: &str = "fio-3.42";

/// A finished run of an input.
#[derive(Debug, Clone, Copy)]
pub struct FioRun<'a> {
    /// Measured stages. A stage that was never reached may be missing.
    pub results: &'a [StageResult],
    /// Wall-clock time of the end, in ms since the epoch.
    pub finished_unix_ms: u64,
    /// From the start of the program to the end of the run.
    pub elapsed: Nanos,
    /// Latencies by priority, where some job has I/Os of several.
    pub priorities: Option<&'a PriorityLatencies>,
    /// Percent of the run's time that each processor was idle, by its number; empty where nobody asks.
    pub idle: &'a [(u32, f64)],
    /// Process id that text shows.
    pub pid: u32,
}

/// The JSON document that fio prints, with a line end. Plain JSON unless the input asks for `json+`.
pub fn write_json(input: &FioInput, run: &FioRun<'_>) -> String {
    let bins = if input.output.formats.contains(&OutputFormat::JsonPlus) {
        Buckets::Shown
    } else {
        Buckets::Hidden
    };
    json_document::document(input, run, bins).to_string() + "\n"
}

/// The lines that fio prints for scripts, in the version that the input asks for.
pub fn write_terse(input: &FioInput, run: &FioRun<'_>) -> String {
    terse::lines(input, run)
}

/// The text that fio prints at the end of a run.
pub fn write_normal(input: &FioInput, run: &FioRun<'_>) -> String {
    normal::summary(input, run)
}

/// The text that fio prints before a run: one line a job, the version, and how many jobs start.
pub fn write_start(input: &FioInput) -> String {
    normal::start(input)
}

/// The text that fio prints as it makes the files of jobs; `size_of` tells how long a regular file is now, 0 where there is
/// none, and nothing of anything else.
pub fn write_laying_out(input: &FioInput, size_of: &dyn Fn(&str) -> Option<u64>) -> String {
    laying_out::lines(input, size_of)
}

/// The text that fio prints of jobs that work in place of I/O, as they begin.
pub fn write_working(input: &FioInput) -> String {
    working::lines(input)
}

/// The text that fio prints as it runs the commands of a stage's jobs: those before their I/O, or those after it.
pub fn write_saved(stage: &Stage, after: bool) -> String {
    saved::lines(stage, after)
}

/// How many jobs failed, each clone by itself: errors that a job was told to survive are none. fio's exit code is this number.
pub fn failed_jobs(input: &FioInput, run: &FioRun<'_>) -> usize {
    let workers = entry::workers(input, run);
    let jobs = input.workload.jobs().zip(&workers);
    let failed = jobs.filter(|((_, job), workers)| {
        let mut workers = workers.iter();
        workers.any(|(_, worker)| entry::ended_by_error(job, worker))
    });
    failed.count()
}

#[cfg(test)]
mod tests;
