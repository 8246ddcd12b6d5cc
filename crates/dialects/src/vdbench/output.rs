//! The output directory of Vdbench 5.04.07.
//!
//! Vdbench writes a directory of plain text files that browsers show. What scripts read of them is kept to the character:
//! the rows of `summary.html` and its kin, the named columns of `flatfile.html`, the tabs of `status.html`, the lines of
//! `totals.html`. What Vdbench does not measure (percentiles, response time from the intended start) goes into files of
//! its own and never into a row.
//!
//! [`Report`] is told what happens ([`Report::run_starts`], [`Report::second`], [`Report::run_ends`]) and appends text to
//! named [`Pages`]; who keeps those decides whether they are files.
//!
//! The formats were observed in outputs of the real 5.04.07, which was run for that.

mod averages;
mod csv;
mod failed;
mod files;
mod flatfile;
mod histogram;
mod moment;
mod parts;
mod plan;
mod report;
mod row;
mod set_flat;
mod set_row;
mod skew;
mod tally;

#[cfg(test)]
mod tests;

use fathom_units::Nanos;
use fathom_workload::SetOperation;
use jiff::tz::TimeZone;

pub use self::plan::layout;
pub use self::report::{JobSecond, Report, RunEnd};
pub use self::tally::{Processors, Tally};

/// Files of text that are appended to, by name.
pub trait Pages {
    /// Appends `text` to the file of that name.
    fn append(&mut self, page: &str, text: &str);

    /// Shows `text` where the user looks, as Vdbench does on its standard output.
    fn show(&mut self, text: &str);
}

/// Everything about an execution that its output needs and that is known before its first run.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The output directory as it was named.
    pub directory: String,
    /// Zone of all clock times.
    pub zone: TimeZone,
    /// What wrote the output, with its version.
    pub program: String,
    /// Number of the process.
    pub process: u32,
    /// Labels of hosts, in order of definition.
    pub hosts: Vec<String>,
    /// Names of storage definitions, in order of definition: SDs, then FSDs.
    pub sds: Vec<String>,
    /// Index of the first FSD among them.
    pub first_fsd: usize,
    /// Names of workload definitions, in order of definition: WDs, then FWDs.
    pub wds: Vec<String>,
    /// Index of the first FWD among them.
    pub first_fwd: usize,
    /// Operations that have columns in the rows of runs on files.
    pub operations: Vec<SetOperation>,
    /// Every run, in order.
    pub runs: Vec<RunLayout>,
    /// Which files there are beyond those that always are.
    pub detail: Detail,
    /// Upper limits of the buckets of histograms in µs, ascending; the last bucket has none.
    pub response_limits: Vec<u64>,
    /// Megabytes of 1,000,000 bytes (`-mb`).
    pub decimal_megabytes: bool,
}

/// What `report=` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detail {
    /// A file for each host and SD.
    pub by_host: bool,
    /// A file for each slave and SD.
    pub by_slave: bool,
    /// Storage that has no file of its own.
    pub without: Without,
}

/// Kinds of storage that `report=` leaves the files of out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Without {
    /// SDs.
    pub sds: bool,
    /// FSDs.
    pub fsds: bool,
}

/// One run: an RD at one combination of its loops.
#[derive(Debug, Clone, Default)]
pub struct RunLayout {
    /// Name of the RD, with the percentage where it is a point of a curve.
    pub name: String,
    /// What its loops are set to, for example `threads=25`; `None` without loops.
    pub loops: Option<String>,
    /// The rate asked for.
    pub rate: Rate,
    /// Length without the warm-up; `None` where it ends by itself.
    pub elapsed: Option<Nanos>,
    /// Warm-up; zero without one, where the first interval is left out of the average.
    pub warmup: Nanos,
    /// Length of an interval.
    pub interval: Nanos,
    /// Of each job of its stage.
    pub jobs: Vec<JobPlace>,
    /// Whether it is on file systems, and its rows are of that kind.
    pub on_files: bool,
    /// Whether it is the format before another, whose start says no more than that.
    pub is_format: bool,
    /// What is asked for, as `flatfile.html` repeats it.
    pub asked: Asked,
    /// Share of the I/O that each WD is asked to have, in percent, by index; empty where none was asked for.
    pub skews: Vec<(usize, f64)>,
}

/// Where a job's I/O is counted: indices into the lists of [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobPlace {
    /// Its host.
    pub host: usize,
    /// Its storage definition.
    pub sd: usize,
    /// Its workload definition, where it has one.
    pub wd: Option<usize>,
    /// Which of its operations are asked for.
    pub asks: Asks,
}

/// Which operations of a job are asked for; others come with them, as opening a file comes with reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asks {
    /// It works on storage: there is no other operation.
    #[default]
    Storage,
    /// Reads and writes.
    Moves,
    /// This operation.
    Does(SetOperation),
}

/// The I/O rate of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rate {
    /// As fast as the threads go, each SD for itself.
    #[default]
    Max,
    /// As fast as they go with the skew asked for.
    ControlledMax,
    /// The run that finds the maximum of a curve.
    Curve,
    /// The same with the skew asked for.
    ControlledCurve,
    /// I/Os a second over all hosts.
    Number(f64),
    /// Rates that follow one another, with the highest of them.
    Varying(f64),
}

impl Rate {
    /// As the line that starts a run says it.
    fn title(self) -> String {
        match self {
            Self::Max => "Uncontrolled MAX".to_owned(),
            Self::ControlledMax => "Controlled MAX".to_owned(),
            Self::Curve => "Uncontrolled curve".to_owned(),
            Self::ControlledCurve => "Controlled curve".to_owned(),
            // Halves are rounded up.
            Self::Number(rate) => (rate + 0.5).floor().to_string(),
            Self::Varying(_) => "Variable".to_owned(),
        }
    }

    /// As `flatfile.html` has it.
    fn column(self) -> String {
        match self {
            Self::Max | Self::ControlledMax => "9999988".to_owned(),
            Self::Curve | Self::ControlledCurve => "9999977".to_owned(),
            Self::Number(rate) | Self::Varying(rate) => format!("{rate:.0}"),
        }
    }
}

/// What a run asks for; `None` where its parts differ or it has no such value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Asked {
    /// Size of an I/O in bytes.
    pub xfersize: Option<u64>,
    /// Threads of an SD.
    pub threads: Option<u64>,
    /// Percentage of reads.
    pub rdpct: Option<f64>,
    /// Percentage of read hits.
    pub rhpct: Option<f64>,
    /// Percentage of write hits.
    pub whpct: Option<f64>,
    /// Percentage of seeks.
    pub seekpct: Option<f64>,
    /// Bytes of all its SDs.
    pub size: u64,
    /// Compression ratio of what is written.
    pub compratio: Option<f64>,
    /// Deduplication ratio of what is written.
    pub dedupratio: Option<f64>,
}
