//! The text output of DISKSPD 2.2.

mod latency;
mod parameters;
mod processors;
mod tables;
#[cfg(test)]
mod tests;
mod usage;

use fathom_record::StageResult;

use super::{Buckets, DiskspdInput};

pub(crate) use processors::date;
pub use processors::{CpuUse, System};
pub use usage::usage;

/// What a run yields beyond its input.
#[derive(Debug)]
pub struct DiskspdRun<'a> {
    /// What was measured.
    pub result: &'a StageResult,
    /// The machine.
    pub system: &'a System,
    /// Start of the program, ns since the epoch.
    pub started_unix_ns: u64,
    /// Use of each processor while it was measured.
    pub cpus: &'a [CpuUse],
    /// For each worker of the stage, job by job, its I/Os over time, where `-D` asks for them.
    pub buckets: &'a [Buckets],
    /// Size of each target in bytes.
    pub sizes: &'a [u64],
    /// The program's name as it was called.
    pub program: &'a str,
}

/// The whole text of a run.
pub fn write_text(input: &DiskspdInput, run: &DiskspdRun<'_>) -> String {
    let mut text = String::new();
    parameters::write(&mut text, input, run.program);
    processors::write_system(&mut text, run.system, run.started_unix_ns);
    tables::write(&mut text, input, run);
    if input.settings.latency {
        latency::write(&mut text, input, run);
    }
    text
}
