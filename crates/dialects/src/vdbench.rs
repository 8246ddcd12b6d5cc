//! Vdbench's parameter files and command line, as 5.04.07 reads them.
//!
//! A parameter file is a flat stream of `keyword=value` in sections: hosts (HD), storage (SD, FSD), workloads (WD, FWD) and
//! runs (RD). It becomes one stage of the workload for each run, and one job for each workload on each piece of storage
//! and host. What is taken, and each deliberate difference, stands in `docs/dialects/vdbench.md`.

mod options;
pub mod output;
mod run;
mod sections;
mod source;

use fathom_diagnostics::Diagnostics;
use fathom_workload::Workload;

pub use options::{Demo, Here, Options};
pub use run::{LoopSetting, Run, RunFacts, RunJob, RunKind, RunRate};
pub use sections::{
    FileIo, FileSelect, FileSizes, FormatSds, FormatWork, Fsd, Fwd, Gaps, General, Host, Loop,
    LoopKey, LoopValue, LunPath, MaxData, Name, OpenFlags, Range, Rate, Rd, Repeat, Sd, Seek,
    StopAfter, Wd, Xfersize, matches, show_size,
};
pub use source::{At, Complaints, Source, Sources};

/// A command line and its parameter files, read.
#[derive(Debug, Clone, PartialEq)]
pub struct VdbenchInput {
    /// The command line.
    pub options: Options,
    /// Parameters before all sections.
    pub general: General,
    /// Hosts; where the file names none, `localhost`.
    pub hosts: Vec<Host>,
    /// Storage.
    pub sds: Vec<Sd>,
    /// Workloads on storage.
    pub wds: Vec<Wd>,
    /// Trees of files.
    pub fsds: Vec<Fsd>,
    /// Workloads on trees of files.
    pub fwds: Vec<Fwd>,
    /// `fwd=format`.
    pub format_work: FormatWork,
    /// Run definitions.
    pub rds: Vec<Rd>,
    /// All runs in order: each RD with each combination of its loops and rates.
    pub runs: Vec<Run>,
    /// One stage for each run.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// The files with substitutions made: what parmfile.html shows.
    pub sources: Sources,
    /// One line for each keyword in the order in which they were read, as parmscan.html shows.
    pub scan: Vec<String>,
}
