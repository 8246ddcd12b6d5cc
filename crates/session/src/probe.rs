//! `fathom probe`: what this machine and its storage are, and what a run could do with them. Nothing is written.

mod export;
mod json;
mod text;

use clap::Args;
use fathom_engine::{DeviceFacts, EngineError, Survey, block_devices, survey};
use fathom_rawio::probe_uring;
use fathom_report::Lines;
use fathom_runs::environment;
use serde_json::Value;

use crate::{Code, Console, Failure, engine_failure};

/// `fathom probe`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ProbeArgs {
    /// Directories, files, block devices and exports to look at; none: this machine's block devices
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

const HELP: &str = "\
Nothing is written, and nothing is opened for writing. What uses a block device
is told as far as this user may look.

Examples:
  fathom probe                 this machine and its block devices
  fathom probe /mnt/data       what a directory lies on, how to measure it
  fathom probe /dev/nvme1n1    whether a run may write there, by what name
  fathom probe nbd://host      what an NBD server has, and what it can do";

/// What is known of the machine.
#[derive(Debug)]
struct Machine {
    /// As in a record.
    environment: Value,
    /// Why io_uring cannot be used here; `None`: it can.
    no_uring: Option<String>,
}

/// What was asked about.
#[derive(Debug)]
enum Found {
    Devices(Vec<DeviceFacts>),
    /// In the order in which they were named; of those that cannot be looked at, why.
    Targets(Vec<(String, Result<Survey, EngineError>)>),
}

impl ProbeArgs {
    /// Looks at what was named, and prints what was found; what cannot be looked at is told beside it.
    ///
    /// # Errors
    /// [`Code::Input`], or [`Code::Target`] of an export: the last target that cannot be looked at; others were told before it.
    pub fn probe(&self, console: &dyn Console) -> Result<Code, Failure> {
        let found = if self.targets.is_empty() {
            Found::Devices(block_devices())
        } else {
            let targets = self.targets.iter();
            Found::Targets(targets.map(|it| (it.clone(), survey(it))).collect())
        };
        let machine = Machine {
            environment: environment(),
            no_uring: probe_uring().err().map(|error| error.to_string()),
        };
        if self.json {
            console.print(&format!("{}\n", json::document(&machine, &found)));
        } else {
            let mut lines = Lines::new(console.width());
            text::write(&mut lines, &machine, &found);
            console.show(&lines.finish());
        }
        let Found::Targets(targets) = &found else {
            return Ok(Code::Success);
        };
        let errors = targets.iter().filter_map(|(_, found)| found.as_ref().err());
        let mut failures: Vec<_> = errors.map(engine_failure).collect();
        let Some(last) = failures.pop() else {
            return Ok(Code::Success);
        };
        for failure in failures {
            console.tell(&failure.message);
        }
        Err(last)
    }
}
