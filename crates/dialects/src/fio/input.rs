//! What a reading of fio's input yields.

use std::fmt;

use fathom_diagnostics::Diagnostics;
use fathom_units::Nanos;
use fathom_workload::{Checksum, IoPriority, TracePart, Workload};
use serde::{Deserialize, Serialize};

use super::copy_tests::CopyKind;

/// A whole invocation of fio, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct FioInput {
    /// The I/O to issue. Without stages where `action` is not to run and no job was given.
    pub workload: Workload,
    /// Traps that were met.
    pub warnings: Diagnostics,
    /// How the run is shown.
    pub output: OutputOptions,
    /// What fio was asked to do.
    pub action: Action,
    /// One for each job of `workload`, in the order of [`Workload::jobs`].
    pub jobs: Vec<FioJobMeta>,
    /// Options of `[global]` sections as typed (after `${ENV}`), under fio's name of each.
    pub global_options: Vec<(String, String)>,
    /// Every option of every job that is in force, and where it came from.
    pub provenance: Vec<Provenance>,
}

/// What an invocation of fio asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Run the jobs.
    Run,
    /// Read everything, run nothing (`--parse-only`).
    ParseOnly,
    /// Print the version (`--version`).
    Version,
    /// Print the usage (`--help`).
    Help,
    /// Print help of an option, or of all (`--cmdhelp[=OPTION]`).
    CommandHelp(Option<String>),
    /// List the engines, or one engine's options, or one of those (`--enghelp[=ENGINE[,OPTION]]`).
    EngineHelp(Option<String>),
    /// Print the areas that `--debug` knows (`--debug=help`).
    DebugHelp(String),
    /// Print the job files as a command line (`--showcmd`).
    ShowCommand(String),
    /// Measure the speed of these checksums (`--crctest`).
    ChecksumTest(Vec<Checksum>),
    /// Print the names of the checksums that can be measured (`--crctest=help`).
    ChecksumNames,
    /// Measure these ways to copy memory (`--memcpytest`).
    CopyTest(Vec<CopyKind>),
    /// Print the names of the ways to copy that can be measured (`--memcpytest=help`).
    CopyKinds,
    /// Merge binary traces (`--merge-blktrace-only`).
    MergeTraces(Vec<TraceMerge>),
    /// Test the processors' counters (`--cpuclock-test`).
    CounterTest,
    /// Print what a compressed log holds (`--inflate-log`).
    InflateLog(String),
}

/// Binary traces that become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceMerge {
    /// The traces, in the order in which they are named.
    pub parts: Vec<TracePart>,
    /// Path of the one that they become.
    pub into: String,
}

/// A layout of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// A line of figures for scripts.
    Terse,
    /// Text for people.
    Normal,
    /// JSON.
    Json,
    /// JSON with every bucket of the histograms.
    JsonPlus,
}

/// What `--debug` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Debug {
    /// Seeds of random numbers.
    pub random: bool,
    /// Every I/O.
    pub io: bool,
}

/// What `--idle-prof` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleProfile {
    /// All processors together.
    System,
    /// Each by itself, too.
    PerProcessor,
}

/// When the progress line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EtaMode {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a run is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOptions {
    /// Layouts, in the order they are printed; never empty.
    pub formats: Vec<OutputFormat>,
    /// Version of terse lines, 2 to 5.
    pub terse_version: u8,
    /// File that results go to; `None`: standard output.
    pub file: Option<String>,
    /// When the progress line is shown.
    pub eta: EtaMode,
    /// Start a new progress line after each such time.
    pub eta_newline: Option<Nanos>,
    /// Time from one progress line to the next.
    pub eta_interval: Nanos,
    /// Print the whole output after each such time, too.
    pub status_interval: Option<Nanos>,
    /// Write logs of all jobs' bandwidth, whose names begin so.
    pub bandwidth_log: Option<String>,
    /// Tell how long processors were idle.
    pub idle: Option<IdleProfile>,
    /// What is told of the run's inner workings.
    pub debug: Debug,
    /// What ends the run early.
    pub trigger: Trigger,
}

impl Default for OutputOptions {
    fn default() -> Self {
        let formats = vec![OutputFormat::Normal];
        Self {
            formats,
            terse_version: 3,
            file: None,
            eta: EtaMode::Auto,
            eta_newline: None,
            eta_interval: Nanos::from_secs(1),
            status_interval: None,
            bandwidth_log: None,
            idle: None,
            debug: Debug::default(),
            trigger: Trigger::default(),
        }
    }
}

/// What ends all jobs of a run from outside, and the command that is run then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trigger {
    /// A file whose coming ends them (`--trigger-file`).
    pub file: Option<String>,
    /// How long after the start they end (`--trigger-timeout`).
    pub after: Option<Nanos>,
    /// Command of the shell (`--trigger`).
    pub command: Option<String>,
}

impl Trigger {
    /// Whether anything is to be waited for.
    pub fn is_set(&self) -> bool {
        self.file.is_some() || self.after.is_some()
    }
}

/// Which latencies get percentiles, and which percentiles.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Percentiles {
    /// Of submission latency.
    pub submit: bool,
    /// Of completion latency.
    pub complete: bool,
    /// Of total latency.
    pub total: bool,
    /// The percentiles in rising order, in (0, 100].
    pub list: Vec<f64>,
    /// Decimals shown of them in text.
    pub precision: usize,
}

/// How the directions of a job are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unified {
    /// Each by itself.
    #[default]
    Apart,
    /// All as one, called mixed.
    Mixed,
    /// Each by itself, and all as one.
    Both,
}

/// What a job's three ranges of sizes belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizesOf {
    /// Reads, writes and trims.
    #[default]
    Directions,
    /// Sequential and random I/O; the third is not used.
    Orders,
}

/// What a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// Total latency in ns.
    Latency,
    /// Submission latency in ns.
    Submit,
    /// Completion latency in ns.
    Complete,
    /// Histograms of completion latency.
    Histogram,
    /// KiB a second.
    Bandwidth,
    /// I/Os a second.
    Iops,
}

impl LogKind {
    /// As it stands in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "lat",
            Self::Submit => "slat",
            Self::Complete => "clat",
            Self::Histogram => "clat_hist",
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
        }
    }
}

/// What a line of a log says of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowValue {
    /// The mean.
    #[default]
    Mean,
    /// The largest value.
    Max,
    /// Both, in this order.
    Both,
}

/// One log of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// What it holds.
    pub kind: LogKind,
    /// Its path.
    pub path: String,
    /// Length of the window that a line stands for; `None`: a line for each I/O.
    pub window: Option<Nanos>,
    /// It is made, and stays empty.
    pub muted: bool,
}

/// The logs of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct JobLogs {
    /// Each log.
    pub files: Vec<LogFile>,
    /// What a line says of its window.
    pub value: WindowValue,
    /// Lines have offsets.
    pub offset: bool,
    /// Lines have whole priorities.
    pub priority: bool,
    /// Lines have the time of issue.
    pub issue_time: bool,
    /// Lines are added to what the files hold.
    pub append: bool,
    /// Times are of a clock that is so many ms ahead of the wall clock; `None`: from the job's start.
    pub ahead_ms: Option<i64>,
    /// Buckets of a histogram are added up in groups of two to the power of this.
    pub coarseness: u32,
    /// Files are compressed.
    pub compressed: bool,
    /// Block size by direction where all blocks have one size, 0 otherwise.
    pub block: [u64; 3],
}

/// What fio's outputs say of a job that the workload model does not.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct FioJobMeta {
    /// Name of its section.
    pub name: String,
    /// Number of its reporting group.
    pub group: u32,
    /// Whether its group is reported as one.
    pub group_reporting: bool,
    /// Number of the clone; 0 for the first.
    pub clone: u32,
    /// Its own options as typed (after `${ENV}`), under fio's name of each; a bare flag is empty.
    pub options: Vec<(String, String)>,
    /// `description`, or empty.
    pub description: String,
    /// Percentiles to show.
    pub percentiles: Percentiles,
    /// `iodepth`, as fio prints it.
    pub depth: u32,
    /// Whether it does no I/O of its own: its files are made, or what another job wrote is checked.
    pub no_own_io: bool,
    /// `latency_window` and `latency_percentile`, which fio tells of every job.
    pub latency_target: (Nanos, f64),
    /// Digits of figures in text.
    pub significant_figures: usize,
    /// 1024 or 1000.
    pub kb_base: u64,
    /// Whether text shows rates in bits.
    pub shows_bits: bool,
    /// `rw` as fio prints it, such as `randread`.
    pub rw: String,
    /// Name of the engine as typed.
    pub engine: String,
    /// Smallest and largest block of reads, writes and trims, in bytes.
    pub blocks: [(u64, u64); 3],
    /// What these are sizes of.
    pub sizes: SizesOf,
    /// Whether its files are made when it opens them, and not before it runs.
    pub makes_files_on_open: bool,
    /// Whether it runs as a thread of fio.
    pub thread: bool,
    /// Whether disks are shown.
    pub disk_util: bool,
    /// How its directions are reported.
    pub unified: Unified,
    /// Whether it is reported at all.
    pub stats: bool,
    /// Whether its I/Os have priorities of their own.
    pub has_priorities: bool,
    /// What I/Os have that are given none of their own.
    pub priority: IoPriority,
    /// Whether the errors that it went on after are told: it was to go on after some kind of them, whether it can meet that
    /// kind or not.
    pub tells_errors: bool,
    /// What the clock by which its start is told is ahead of the wall clock, in ms.
    pub start_ahead_ms: i64,
    /// Its logs.
    pub logs: JobLogs,
}

/// Where an option's value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A line of a job file, from 1.
    File {
        /// The file as it was named.
        path: String,
        /// Its line.
        line: usize,
    },
    /// An argument.
    CommandLine,
    /// A line of a job file that drew on an environment variable.
    Environment {
        /// The file as it was named.
        path: String,
        /// Its line.
        line: usize,
    },
    /// fio's own default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::CommandLine => f.write_str("command line"),
            Self::Environment { path, line } => write!(f, "{path}:{line}, environment"),
            Self::Default => f.write_str("fio's default"),
        }
    }
}

/// One option in force for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Name of the job.
    pub job: String,
    /// fio's name of the option.
    pub key: String,
    /// Its value as typed, or fio's default.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}
