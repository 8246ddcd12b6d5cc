//! The command line.
//!
//! Options stand before the workload. After a dialect's name every word is that tool's own; after a file or a preset,
//! our options may follow.

use clap::{Parser, Subcommand};
use fathom_session::{CompareArgs, MergeArgs};

use crate::convert::ConvertArgs;

mod lookups;
mod read;
mod runs;

pub use lookups::{CatalogAction, CatalogArgs, ProfileAction, ProfileArgs, ReportArgs, RunsArgs};
pub use read::parse;
pub use runs::{CalibrateArgs, ExplainArgs, PeerArgs, PredictArgs, RunArgs};

/// Will this storage carry this application, and how do we know?
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 80, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  fathom run quick --target /mnt/data            measure a disk in a minute
  fathom run fio --runtime 30 job.fio            a fio job file on real storage
  fathom predict --on ds14.design.toml job.fio   the same on modelled storage
  fathom fio --name=x --rw=randread --size=1g    fio's options, fio's output

Exit codes: 0 success, 1 unexpected, 2 usage, 3 input invalid, 4 refused for
safety, 5 target or I/O error, 6 a check failed (--strict), a need is not met
(--need) or nothing carries the profile, 7 a threshold is crossed (--fail-on),
8 not supported here, 130 interrupted (partial result saved).";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a workload on real storage
    Run(RunArgs),
    /// Play a recorded trace of I/O on real storage, at its own times
    Replay(Box<fathom_session::ReplayArgs>),
    /// Run a workload on modelled storage in virtual time
    Predict(PredictArgs),
    /// Serve a design's volumes to any program in real time: NBD exports, files, block devices
    Serve(fathom_emulator::ServeArgs),
    /// Give orders to a running `fathom serve`: crashes, faults, other limits
    Ctl(fathom_emulator::CtlArgs),
    /// Fit a design's media latencies to a measured run
    Calibrate(CalibrateArgs),
    /// Print the resolved workload, or a guide's table: `counters`, `factors`
    Explain(ExplainArgs),
    /// Write a workload in another dialect's words, and tell what those cannot say
    Convert(ConvertArgs),
    /// Take fio's place: its options, its output, its exit codes
    #[command(disable_help_flag = true)]
    Fio(PeerArgs),
    /// Take DISKSPD's place: its options, its output, its exit codes
    #[command(disable_help_flag = true)]
    Diskspd(PeerArgs),
    /// Take Iometer's place: its .icf files, its results file
    #[command(disable_help_flag = true)]
    Iometer(PeerArgs),
    /// Take Vdbench's place: its options, its output directory, its exit codes
    #[command(disable_help_flag = true)]
    Vdbench(PeerArgs),
    /// Take SQLIO's place: its options, its output
    #[command(disable_help_flag = true)]
    Sqlio(PeerArgs),
    /// Take the place of the script DiskPerformance.ps1
    #[command(disable_help_flag = true)]
    Diskperformance(PeerArgs),
    /// Watch what a running application does to its storage
    Observe(fathom_observe::ObserveArgs),
    /// Write down what an application needs of its storage
    Profile(ProfileArgs),
    /// Find the cheapest storage that carries a profile, and prove it in prediction
    Plan(Box<fathom_emit::PlanArgs>),
    /// Look at this machine and its storage, and say what a run could do there
    Probe(fathom_session::ProbeArgs),
    /// Look into the catalogue of VM sizes, disks, volumes and shares
    Catalog(CatalogArgs),
    /// List the stored runs
    Runs(RunsArgs),
    /// Show a stored run again
    Report(ReportArgs),
    /// Lay records beside each other: each figure with its change, and whether that is more than noise
    Compare(CompareArgs),
    /// Show the stored runs, and those under way, in a browser on this machine
    Ui(fathom_web::UiArgs),
    /// Make one record of the same workload's runs on several hosts
    Merge(MergeArgs),
    /// Print what bash, zsh or fish need to complete this program's words
    Completions(fathom_manual::CompletionsArgs),
    /// Write the man pages of this program and its verbs
    Man(fathom_manual::ManArgs),
}

impl Cli {
    fn workload(&self) -> Option<&[String]> {
        match &self.verb {
            Verb::Run(args) => Some(&args.workload.workload),
            Verb::Predict(args) => Some(&args.workload.workload),
            Verb::Explain(args) => Some(&args.workload.workload),
            Verb::Convert(args) => Some(&args.workload.workload),
            Verb::Replay(_)
            | Verb::Calibrate(_)
            | Verb::Serve(_)
            | Verb::Ctl(_)
            | Verb::Fio(_)
            | Verb::Diskspd(_)
            | Verb::Iometer(_)
            | Verb::Vdbench(_)
            | Verb::Sqlio(_)
            | Verb::Diskperformance(_)
            | Verb::Observe(_)
            | Verb::Profile(_)
            | Verb::Plan(_)
            | Verb::Probe(_)
            | Verb::Catalog(_)
            | Verb::Runs(_)
            | Verb::Report(_)
            | Verb::Compare(_)
            | Verb::Ui(_)
            | Verb::Merge(_)
            | Verb::Completions(_)
            | Verb::Man(_) => None,
        }
    }
}

/// The program's own name, without its folder.
pub fn program_name(words: &[String]) -> &str {
    words
        .first()
        .map_or("fathom", |word| word.rsplit('/').next().unwrap_or(word))
}

/// The peer whose place is taken, with its own arguments: by the program's name, or as the first word. Nothing else is looked
/// at then, so that a short job costs no more than it must.
pub fn peer(words: &[String]) -> Option<(fathom_peers::Peer, &[String])> {
    if let Some(peer) = fathom_peers::peer(program_name(words)) {
        return Some((peer, words.get(1..).unwrap_or_default()));
    }
    let (verb, own) = words.get(1..)?.split_first()?;
    // A `--` is this program's to understand.
    if own.iter().any(|word| word == "--") {
        return None;
    }
    Some((fathom_peers::peer(verb)?, own))
}
