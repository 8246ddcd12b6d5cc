//! The text and XML output of DISKSPD 2.2.

mod distributions;
mod latency;
mod parameters;
mod processors;
mod results;
mod tables;
#[cfg(test)]
mod tests;
mod usage;

use std::fmt::Write as _;

use fathom_units::Nanos;

use super::settings::Format;
use super::tally::Row;
use super::{DiskspdInput, xml};

pub(crate) use processors::date;
pub use processors::{CpuUse, System};
pub use usage::usage;

/// What a run yields beyond its input.
#[derive(Debug)]
pub struct DiskspdRun<'a> {
    /// What was measured, timespan by timespan.
    pub spans: &'a [SpanRun],
    /// The machine.
    pub system: &'a System,
    /// Start of the program, ns since the epoch.
    pub started_unix_ns: u64,
    /// The program's name as it was called.
    pub program: &'a str,
}

/// What was measured of a timespan.
#[derive(Debug)]
pub struct SpanRun {
    /// Index of the timespan.
    pub span: usize,
    /// Time measured; zero where it was stopped before.
    pub measured: Nanos,
    /// Thread by thread and target by target.
    pub rows: Vec<Row>,
    /// Use of each processor while it was measured.
    pub cpus: Vec<CpuUse>,
    /// Size of each target in bytes.
    pub sizes: Vec<u64>,
}

/// The whole output of a run, in the format that its input asks for.
pub fn write_results(input: &DiskspdInput, run: &DiskspdRun<'_>) -> String {
    if input.is_xml() {
        return results::write(input, run);
    }
    let mut text = String::new();
    parameters::write(&mut text, input, run.program);
    processors::write_system(&mut text, run.system, run.started_unix_ns);
    for one in run.spans {
        let Some(asked) = input.profile.spans.get(one.span) else {
            continue;
        };
        let _ = writeln!(
            text,
            "\nResults for timespan {}:\n{}",
            one.span + 1,
            "*".repeat(79)
        );
        if one.measured == Nanos::ZERO {
            text.push_str(INTERRUPTED);
            text.push('\n');
            continue;
        }
        tables::write(&mut text, asked, one);
        if asked.latency {
            latency::write(&mut text, asked, one);
        }
    }
    if run.spans.len() > 1 {
        tables::write_totals(&mut text, run.spans);
    }
    text
}

/// What stands in place of results that were never begun.
const INTERRUPTED: &str =
    "The test was interrupted before the measurements began. No results are displayed.";

/// What `-Rp` prints: the profile as text or XML.
pub fn write_profile(input: &DiskspdInput, program: &str) -> String {
    match input.profile.format {
        Format::Xml => xml::write_profile(&input.profile, 0),
        Format::Text => {
            let mut text = String::new();
            parameters::write(&mut text, input, program);
            text
        }
    }
}

/// What `-Rs` prints: the machine as text or XML.
pub fn write_system(input: &DiskspdInput, system: &System, started_unix_ns: u64) -> String {
    match input.profile.format {
        Format::Xml => {
            let mut lines = xml::Xml::default();
            results::write_system(&mut lines, system, started_unix_ns);
            lines.into_text()
        }
        Format::Text => {
            let mut text = String::new();
            processors::write_system(&mut text, system, started_unix_ns);
            text
        }
    }
}
