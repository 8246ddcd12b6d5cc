//! The verbs that run a workload or say what it is: `run`, `predict`, `calibrate`, `explain`, and those of peers.

use std::path::PathBuf;

use clap::Args;
use fathom_model::Factor;
use fathom_session::{OutputArgs, SafetyArgs, StartAt, SweepArgs, WorkloadArgs};

/// `fathom run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Directory for a preset's file
    #[arg(long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    #[command(flatten)]
    /// What is printed and kept.
    pub output: OutputArgs,
    /// Also measure what Fathom itself takes of an I/O: the time its workers are outside system calls, in the record's `cpu`
    ///
    /// The processor's counter is read before and after each call, some 20 ns together. Jobs that wait for moments of their own
    /// (rates, pauses) and backends without such calls are left out.
    #[arg(long)]
    pub outside_calls: bool,
    /// Begin the first stage at this time: 2026-11-29T09:00:00Z, or @SECONDS since 1970
    ///
    /// Everything is opened and laid out before. So several machines begin together, as well as their clocks agree; `fathom
    /// merge` makes one record of their runs.
    #[arg(long, value_name = "TIME")]
    pub start_at: Option<StartAt>,
    #[command(flatten)]
    /// What may be written.
    pub safety: SafetyArgs,
    #[command(flatten)]
    /// Measuring at many points.
    pub sweep: SweepArgs,
    #[command(flatten)]
    /// What to run.
    pub workload: WorkloadArgs,
}

/// `fathom predict`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("workload", |arg| arg.required(false).required_unless_present("replay")))]
pub struct PredictArgs {
    /// The design to predict on
    #[arg(long, value_name = "DESIGN")]
    pub on: PathBuf,
    /// Multiply every rate and every bucket of credits of the design; latencies and depths stay
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<Factor>,
    /// Predict the I/O of a trace at the times at which it came, in place of a workload; `--map NAME=VOLUME` for its names
    ///
    /// Traces of `fathom serve --trace`, fio (version 3), blktrace, blkparse and MSR Cambridge, told by their content.
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["workload", "dialect", "target", "include_layout", "sweeps", "format"])]
    pub replay: Option<PathBuf>,
    /// Directory a preset's file is taken to be in
    #[arg(long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// Predict the writing of files too, where the peer would do it first (Vdbench's SD_format)
    #[arg(long)]
    pub include_layout: bool,
    #[command(flatten)]
    /// What is printed and kept.
    pub output: OutputArgs,
    #[command(flatten)]
    /// Measuring at many points.
    pub sweep: SweepArgs,
    #[command(flatten)]
    /// What to predict.
    pub workload: WorkloadArgs,
}

/// `fathom calibrate`.
///
/// The run's own workload is predicted on the design until the predicted p50 and p99 of latency are the measured ones.
#[derive(Debug, Clone, Args)]
#[command(after_help = CALIBRATE_HELP)]
pub struct CalibrateArgs {
    /// The measured run: its id, a path, `last`, or `last~1` for the run before that, and so on
    #[arg(value_name = "RECORD")]
    pub record: String,
    /// The design to fit
    #[arg(long, value_name = "DESIGN")]
    pub on: PathBuf,
    /// The new design; a file that exists is never written over
    #[arg(short, long, value_name = "NEW")]
    pub output: PathBuf,
    /// Replace a path, a prefix of paths or a drive in the run's workload; may be repeated
    #[arg(long = "map", value_name = "FROM=TO")]
    pub maps: Vec<String>,
    /// Print what was fitted as one JSON document
    #[arg(long)]
    pub json: bool,
}

const CALIBRATE_HELP: &str = "\
The new design is the old text with `latency` changed for every volume that the
run used, and a comment that says from what and how well it was fitted. Reads
and writes of a volume have one latency. A run that is saturated at a limit is
refused: its latency is I/Os outstanding over the limit's rate, whatever the
media do. Measure with few I/Os outstanding.

Example:
  fathom run --sweep depth=1 oltp.workload.toml
  fathom calibrate last --on vm.design.toml -o vm-fitted.design.toml
  fathom predict --on vm-fitted.design.toml oltp.workload.toml";

/// `fathom explain`; `fathom explain factors` prints what makes storage faster.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "`fathom explain factors` prints what makes storage faster, factor by factor."
)]
pub struct ExplainArgs {
    /// Directory a preset's file is taken to be in
    #[arg(long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// Print the workload as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    /// What to explain.
    pub workload: WorkloadArgs,
}

/// A peer's verb.
#[derive(Debug, Clone, Args)]
pub struct PeerArgs {
    /// The peer's own arguments; beside them `--destroy-data=NAME` and `--record`
    #[arg(value_name = "ARGUMENTS", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}
