//! `fathom replay`: a recorded trace as a workload on real storage.
//!
//! The trace is looked through once for its names, sizes and places, so that all that does not fit is told before any I/O;
//! what is run is a workload like others, with a job for each target, which takes its I/O from the trace.

mod job;
mod speed;
mod targets;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_units::Nanos;
use fathom_workload::trace::{TraceError, TraceReader, TraceSummary};
use fathom_workload::{Caching, Replay, ReplayPace, Stage, Workload, validate};

use crate::{Code, Failure, Input, OutputArgs, SafetyArgs, StartAt, unread, whole_number};
use job::JobOf;
use speed::Speed;
use targets::Targets;

/// Name of the only stage, as in predictions.
const STAGE: &str = "replay";
/// Direct I/O moves no less.
const SECTOR: u64 = 512;

const HELP: &str = "\
Traces are told by their content: those of `fathom serve --trace`, fio
(write_iolog), blktrace and blkparse, and the CSV of MSR Cambridge.

Each I/O starts at its recorded time, whatever has completed by then; response
time counts from there. `fathom predict --on DESIGN --replay TRACE` does the
same on modelled storage.

Examples:
  fathom replay io.csv --to /dev/nvme1n1 --destroy-data=SERIAL
  fathom replay io.log --to /mnt/new/file --speed 2x
  fathom replay io.csv --to db/data=/dev/sdb --to db/log=/dev/sdc --skip write";

/// `fathom replay`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ReplayArgs {
    /// The trace: its format is told by its content
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Where its I/O goes: a device, a file, an export of NBD; NAME=TARGET for one of several names of the trace
    ///
    /// A file that is not there is made as large as the trace needs; in a folder a fresh one is made. May be repeated.
    #[arg(long = "to", value_name = "[NAME=]TARGET")]
    pub to: Vec<String>,
    /// Leave the I/O of this name of the trace out; may be repeated
    #[arg(long, value_name = "NAME")]
    pub leave_out: Vec<String>,
    /// Leave I/O of this kind out; may be repeated
    #[arg(long, value_name = "KIND", value_parser = ["read", "write", "trim", "flush"])]
    pub skip: Vec<String>,
    /// How fast the trace's time goes: 2x plays an hour in half of one
    #[arg(long, value_name = "FACTOR", default_value = "1x")]
    pub speed: Speed,
    /// Heed no times: each I/O starts as soon as the depth allows
    #[arg(long, conflicts_with = "speed")]
    pub as_fast_as_possible: bool,
    /// Most I/Os outstanding on a target; one that is due then waits, and its response time counts that
    ///
    /// 1,024 where times are heeded, and fewer where buffers would take more than 256 MiB; otherwise what the trace had
    /// outstanding, where it tells that, or 32.
    #[arg(long, value_name = "DEPTH", value_parser = whole_number::<u32>(1, 65_536))]
    pub depth: Option<u32>,
    /// Go through the page cache, where the trace's I/O is no multiple of a sector
    #[arg(long)]
    pub buffered: bool,
    #[command(flatten)]
    /// What is printed and kept.
    pub output: OutputArgs,
    /// Begin at this time: 2026-11-29T09:00:00Z, or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub start_at: Option<StartAt>,
    #[command(flatten)]
    /// What may be written.
    pub safety: SafetyArgs,
}

impl ReplayArgs {
    /// The trace as a workload.
    ///
    /// # Errors
    /// What is wrong with the trace, with the words, or with how they fit each other.
    pub fn input(&self) -> Result<Input, Failure> {
        let path = std::path::absolute(&self.trace).unwrap_or_else(|_| self.trace.clone());
        let whole = self.replay(&path);
        let summary = self.look_through(&whole)?;
        let targets = Targets::of(&summary, &self.to, &self.leave_out)?;
        let budget = job::BUFFERS_MOST / targets.0.len().max(1) as u64;
        let mut jobs = Vec::new();
        for target in &targets.0 {
            let replay = Replay {
                files: target.names.clone(),
                redirected: true,
                ..whole.clone()
            };
            let summary = summary.of_files(&target.names);
            let of = JobOf {
                target,
                summary: &summary,
                depth: self.depth,
                caching: self.caching(&summary, target)?,
                budget,
            };
            jobs.push(of.job(replay));
        }
        let stage = Stage {
            name: STAGE.to_owned(),
            jobs,
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard: false,
            rate_from: None,
        };
        let workload = Workload {
            stages: vec![stage],
            seed: 1,
        };
        validate(&workload)?;
        Ok(Input::new(file_name(&self.trace), workload))
    }

    fn replay(&self, path: &Path) -> Replay {
        let skips = |kind: &str| self.skip.iter().any(|skipped| skipped == kind);
        Replay {
            path: path.display().to_string(),
            pace: if self.as_fast_as_possible {
                ReplayPace::AtOnce
            } else {
                ReplayPace::Timed(self.speed.percent())
            },
            skip: ["read", "write", "trim", "flush"].map(skips),
            ..Replay::default()
        }
    }

    /// What the trace comes to.
    fn look_through(&self, replay: &Replay) -> Result<TraceSummary, Failure> {
        let trace = open_trace(&self.trace)?;
        let summary = TraceSummary::of(trace, replay);
        let summary = summary.map_err(|error| unreadable(&self.trace, &error))?;
        if summary.ios == [0; 3] {
            let message = format!(
                "the trace `{}` holds no I/O to replay",
                self.trace.display()
            );
            let hint = if self.skip.is_empty() {
                "record one while I/O is done"
            } else {
                "skip less of it"
            };
            return Err(Failure::new(Code::Input, message).hint(hint));
        }
        Ok(summary)
    }

    /// Direct I/O, unless asked otherwise.
    fn caching(
        &self,
        summary: &TraceSummary,
        target: &targets::Mapped,
    ) -> Result<Caching, Failure> {
        if self.buffered {
            return Ok(Caching::Buffered);
        }
        if summary.unit.is_multiple_of(SECTOR) || target.is_export() {
            return Ok(Caching::Direct);
        }
        let message = format!(
            "the trace `{}` has I/O that begins or ends at no multiple of {SECTOR} bytes, which direct I/O needs",
            self.trace.display()
        );
        let hint =
            "`--buffered` replays it through the page cache, which then takes and gives much of it";
        Err(Failure::new(Code::Input, message).hint(hint))
    }
}

/// Opens a trace of any format, which will be read more than once.
///
/// # Errors
/// [`Code::Input`]: it cannot be read again and again, or is no trace.
pub fn open_trace(path: &Path) -> Result<TraceReader, Failure> {
    let unread = |error| unread("the trace ", path, &error);
    // A pipe that nobody writes to would be waited for as it is opened.
    let found = std::fs::metadata(path).map_err(unread)?;
    if !found.is_file() {
        let what = if found.is_dir() {
            "it is a folder"
        } else {
            "it is no regular file"
        };
        let message = format!("the trace `{}` cannot be read: {what}", path.display());
        let hint = "write it to a file, and name that: it is read more than once";
        return Err(Failure::new(Code::Input, message).hint(hint));
    }
    let file = File::open(path).map_err(unread)?;
    let trace = TraceReader::new(Box::new(BufReader::new(file)) as Box<_>);
    trace.map_err(|error| unreadable(path, &error))
}

/// The file's own name, which a run of it bears.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn unreadable(path: &Path, error: &TraceError) -> Failure {
    let message = format!("the trace `{}` cannot be read: {error}", path.display());
    let hint = match error {
        TraceError::Io { .. } => "see that it is a trace, and can be read to its end",
        TraceError::Malformed { place, .. } if place == "line 1" => {
            "name a trace of `fathom serve --trace`, fio (write_iolog), blktrace or blkparse, or a CSV of MSR Cambridge"
        }
        TraceError::Malformed { .. } => "mend it, or leave what is cut off out of it",
    };
    Failure::new(Code::Input, message).hint(hint)
}
