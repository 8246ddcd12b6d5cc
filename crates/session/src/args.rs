//! Groups of options that verbs share: which workload is meant and at what points, what it may write, what is printed and kept.

use std::path::{Path, PathBuf};

use clap::Args;
use fathom_engine::{ErrorPolicy, Overwrite, RunOptions};
use fathom_workload::{Workload, native};

use crate::{Code, Console, Failure, Keep, Layout, NeedArgs, Show, Words, print_json};

/// Where a workload comes from.
#[derive(Debug, Clone, Args)]
pub struct WorkloadArgs {
    /// Replace a path, a prefix of paths or a drive in the workload; may be repeated
    #[arg(long = "map", value_name = "FROM=TO")]
    pub maps: Vec<String>,
    /// Read the file as this dialect instead of telling by its content
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,
    /// A file (`-`: the standard input), a preset (`quick`), or a dialect's name and that tool's own arguments
    #[arg(value_name = "WORKLOAD", required = true, num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub workload: Vec<String>,
}

impl WorkloadArgs {
    /// As the reader takes them; `target` is the directory of a preset's file.
    pub fn words<'a>(&'a self, target: Option<&'a Path>) -> Words<'a> {
        Words {
            workload: &self.workload,
            maps: &self.maps,
            dialect: self.dialect.as_deref(),
            target,
        }
    }
}

/// Measuring at many points.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Measure at each combination of these values, for example depth=1..64x2,block=4k,64k
    ///
    /// Axes are `depth` (I/Os outstanding per worker), `block` (size of I/Os) and `threads` (workers of each job). Values
    /// are lists (`1,2,4`), ranges that multiply (`1..64x2`) and ranges that add (`4..16+4`); at most 1,000 points.
    /// Each point is a stage of its own, as long as the workload says. The report draws latency over IOPS and marks
    /// the knee.
    #[arg(long = "sweep", value_name = "AXES", conflicts_with = "need")]
    pub sweeps: Vec<String>,
}

/// What a run may write.
#[derive(Debug, Clone, Args)]
pub struct SafetyArgs {
    /// Allow writing to the block device of this serial, by-id name or (loop, zram) kernel name, or to the export of this URI
    #[arg(long, value_name = "NAME", env = "FATHOM_DESTROY_DATA")]
    pub destroy_data: Vec<String>,
    /// Let a native workload write to existing files that Fathom did not make
    #[arg(long)]
    pub overwrite: bool,
    /// Count failed I/Os and go on, instead of stopping at the first
    #[arg(long)]
    pub keep_going: bool,
}

impl SafetyArgs {
    /// As the engine takes them.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            destroy_data: self.destroy_data.clone(),
            overwrite: if self.overwrite {
                Overwrite::Allowed
            } else {
                Overwrite::Refuse
            },
            on_error: if self.keep_going {
                ErrorPolicy::Continue
            } else {
                ErrorPolicy::Stop
            },
            ..RunOptions::default()
        }
    }
}

/// What is printed and kept.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// Print the record as one JSON document on stdout and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print each job and direction of each stage as a row of CSV on stdout and nothing else
    #[arg(long, conflicts_with_all = ["json", "full"])]
    pub csv: bool,
    /// Print every check, device and job
    #[arg(long, conflicts_with = "json")]
    pub full: bool,
    /// Write a page with charts to this file as well
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// `peer`: print what the peer would whose words or file these are
    #[arg(long, value_name = "FORMAT", value_parser = ["peer"], conflicts_with_all = ["json", "csv", "full"])]
    pub format: Option<String>,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
    /// Tell on stderr what was decided and why: each option in force, the workload, where the run is stored
    #[arg(short, long)]
    pub verbose: bool,
    /// Store nothing
    #[arg(long)]
    pub no_record: bool,
    /// Exit with 6 when a check fails
    #[arg(long)]
    pub strict: bool,
    /// Check everything, print the workload that would be run, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    /// What the figures are laid beside.
    pub need: NeedArgs,
}

impl OutputArgs {
    /// Whether the run gets a folder.
    pub fn keep(&self) -> Keep {
        if self.no_record {
            Keep::Nothing
        } else {
            Keep::Run
        }
    }

    /// In whose layout results are shown.
    pub fn layout(&self) -> Layout {
        self.format.as_ref().map_or(Layout::Own, |_| Layout::Peer)
    }

    /// Prints the workload that `--dry-run` leaves alone: as a native file, or with `--json` as one document.
    ///
    /// # Errors
    /// A workload that no JSON can hold.
    pub fn print_planned(
        &self,
        workload: &Workload,
        console: &dyn Console,
    ) -> Result<Code, Failure> {
        if self.json {
            print_json(&native::to_json(workload), console)?;
        } else {
            console.print(&native::write_named(workload));
        }
        Ok(Code::Success)
    }

    /// What is shown while it goes.
    pub fn show(&self) -> Show {
        if self.quiet {
            Show::Nothing
        } else {
            Show::Progress
        }
    }

    /// What is shown while virtual time goes.
    pub fn show_virtual(&self) -> Show {
        match self.show() {
            Show::Nothing => Show::Nothing,
            _ => Show::VirtualProgress,
        }
    }
}
