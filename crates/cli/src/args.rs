//! The command line.
//!
//! Options stand before the workload. After a dialect's name every word is that tool's own; after a file or a preset,
//! our options may follow.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::convert::ConvertArgs;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use fathom_diagnostics::nearest;
use fathom_manual::{dialect_meant, refused_value, surplus_word, unknown_verb};
use fathom_model::Factor;
use fathom_session::{CompareArgs, Keep, Layout, NeedArgs, Show, Words, is_dialect, whole_number};
use fathom_workload::preset_names;

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
    /// Look into the catalogue of VM sizes and disks
    Catalog(CatalogArgs),
    /// List the stored runs
    Runs,
    /// Show a stored run again
    Report(ReportArgs),
    /// Lay records beside each other: each figure with its change, and whether that is more than noise
    Compare(CompareArgs),
    /// Print what bash, zsh or fish need to complete this program's words
    Completions(fathom_manual::CompletionsArgs),
    /// Write the man pages of this program and its verbs
    Man(fathom_manual::ManArgs),
}

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
    /// Check everything, say what would be done, and do nothing
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

/// What a run may write.
#[derive(Debug, Clone, Args)]
pub struct SafetyArgs {
    /// Allow writing to the block device of this serial, by-id name or (loop, zram) kernel name
    #[arg(long, value_name = "NAME", env = "FATHOM_DESTROY_DATA")]
    pub destroy_data: Vec<String>,
    /// Let a native workload write to existing files that Fathom did not make
    #[arg(long)]
    pub overwrite: bool,
    /// Count failed I/Os and go on, instead of stopping at the first
    #[arg(long)]
    pub keep_going: bool,
}

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
    /// Predict the I/O of a served run's trace (CSV) at the times at which it came, in place of a workload
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["workload", "maps", "dialect", "target", "include_layout", "sweeps", "format"])]
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

/// `fathom profile`.
#[derive(Debug, Clone, Args)]
pub struct ProfileArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ProfileAction,
}

/// `fathom profile …`.
#[derive(Debug, Clone, Subcommand)]
pub enum ProfileAction {
    /// Make a profile from a rule of thumb
    #[command(
        after_help = "Templates: exchange-2010 (--users), sql-server (--tps), app-server (--users).\n\n\
        Example:\n  fathom profile new --app exchange-2010 --users 5000 -o mail.profile.toml"
    )]
    New {
        /// The template
        #[arg(long, value_name = "NAME")]
        app: String,
        /// Users of the application
        #[arg(long, value_name = "N", conflicts_with = "tps", value_parser = whole_number::<u64>(1, u64::MAX))]
        users: Option<u64>,
        /// Its transactions a second
        #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
        tps: Option<u64>,
        /// The file to write, instead of stdout; one that exists is never written over
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// `fathom catalog`.
#[derive(Debug, Clone, Args)]
pub struct CatalogArgs {
    /// What to look up.
    #[command(subcommand)]
    pub action: CatalogAction,
}

/// `fathom catalog …`.
#[derive(Debug, Clone, Subcommand)]
pub enum CatalogAction {
    /// List every row by name and era
    List,
    /// Show the rows of one name, with their sources
    Show {
        /// Name of a VM size or disk
        name: String,
    },
}

/// `fathom report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Id of a run, a path, `last`, or `last~1` for the run before that, and so on
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Print the record as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print each job and direction of each stage as a row of CSV
    #[arg(long, conflicts_with_all = ["json", "full", "html"])]
    pub csv: bool,
    /// Print every check, device and job
    #[arg(long, conflicts_with = "json")]
    pub full: bool,
    /// Write a page with charts to this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "full"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    /// What the figures are laid beside.
    pub need: NeedArgs,
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

fn read(words: &[String]) -> Result<Cli, clap::Error> {
    let command = fathom_manual::with_numbers_below_zero(Cli::command());
    let matches = command.try_get_matches_from(words);
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    read.map_err(|error| refused_value(&error).unwrap_or(error))
}

/// Reads the command line. Options that follow a file or a preset count as if they stood before it.
pub fn parse(words: &[String]) -> Result<Cli, clap::Error> {
    let cli = match read(words) {
        Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
            let Some(reordered) = workload_last(words) else {
                return Err(error);
            };
            return parse(&reordered);
        }
        Err(error) if error.kind() == clap::error::ErrorKind::InvalidSubcommand => {
            return Err(unknown_verb(words, &Cli::command()).unwrap_or(error));
        }
        Err(error) if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            return Err(surplus_word(words).unwrap_or(error));
        }
        parsed => parsed?,
    };
    let Some([name, more @ ..]) = cli.workload() else {
        return Ok(cli);
    };
    let is_option = |name: &str| name.starts_with("--") && !words.iter().any(|word| word == "--");
    if is_option(name) {
        return Err(unknown_option(&words[1], name));
    }
    if is_dialect(name) || more.is_empty() {
        return Ok(cli);
    }
    // The workload's words are the last of the line: move its name behind the options after it.
    let (before, after) = words.split_at(words.len() - more.len() - 1);
    let mut reordered = before.to_vec();
    reordered.extend_from_slice(&after[1..]);
    reordered.push(after[0].clone());
    let again = read(&reordered)?;
    match again.workload() {
        // Of a word that is no name of anything, its reader says so.
        Some([_, _, ..])
            if !after[0].contains(['/', '.'])
                && !preset_names().any(|preset| preset == after[0]) =>
        {
            Ok(cli)
        }
        Some([option, ..]) if is_option(option) => Err(unknown_option(&words[1], option)),
        Some([_, surplus, ..]) => {
            let mut message = format!("unexpected argument `{surplus}`: one workload at a time\n");
            if let Some(name) = dialect_meant(&after[0]) {
                let _ = write!(
                    message,
                    "\n  tip: write `{name}` in place of `{}`\n",
                    after[0]
                );
            }
            Err(clap::Error::raw(
                clap::error::ErrorKind::UnknownArgument,
                message,
            ))
        }
        _ => Ok(again),
    }
}

/// An option that the verb has not, where a workload may begin with anything.
fn unknown_option(verb: &str, option: &str) -> clap::Error {
    let name = option.trim_start_matches('-');
    let name = name.split('=').next().unwrap_or(name);
    let command = Cli::command();
    let known = command.find_subcommand(verb);
    let longs: Vec<&str> = known
        .into_iter()
        .flat_map(|verb| verb.get_arguments().filter_map(clap::Arg::get_long))
        .collect();
    let hint = match nearest(name, longs) {
        Some(near) => format!("  tip: a similar argument exists: '--{near}'\n\n"),
        None if fathom_dialects::fio::is_option(name) => {
            format!(
                "  tip: fio's options stand behind its name: `fathom {verb} … fio --{name} …`\n\n"
            )
        }
        None => String::new(),
    };
    let message = format!(
        "unexpected argument '--{name}' found\n\n{hint}For more information, try 'fathom {verb} --help'.\n"
    );
    clap::Error::raw(clap::error::ErrorKind::UnknownArgument, message)
}

/// The words with the workload moved behind the options after it. `fathom convert a.fio --to native` fails otherwise: the
/// workload takes all words that follow it, and `--to` is missing.
fn workload_last(words: &[String]) -> Option<Vec<String>> {
    let verb = words.get(1)?;
    let (name, options) = words.get(2..)?.split_first()?;
    let takes_workload = ["run", "predict", "explain", "convert"].contains(&verb.as_str());
    let moves = !name.starts_with('-') && !is_dialect(name) && options.first()?.starts_with('-');
    (takes_workload && moves).then(|| [&words[..2], options, std::slice::from_ref(name)].concat())
}

impl Cli {
    fn workload(&self) -> Option<&[String]> {
        match &self.verb {
            Verb::Run(args) => Some(&args.workload.workload),
            Verb::Predict(args) => Some(&args.workload.workload),
            Verb::Explain(args) => Some(&args.workload.workload),
            Verb::Convert(args) => Some(&args.workload.workload),
            Verb::Calibrate(_)
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
            | Verb::Catalog(_)
            | Verb::Runs
            | Verb::Report(_)
            | Verb::Compare(_)
            | Verb::Completions(_)
            | Verb::Man(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn options_may_follow_a_preset_or_a_file() {
        for line in [
            "fathom run --json quick --target /mnt",
            "fathom run --target /mnt quick --json",
        ] {
            let Verb::Run(args) = parsed(line).unwrap().verb else {
                panic!("{line}")
            };
            assert!(args.output.json, "{line}");
            assert_eq!(args.target.as_deref(), Some(Path::new("/mnt")), "{line}");
            assert_eq!(args.workload.workload, ["quick"], "{line}");
        }
    }

    #[test]
    fn after_a_dialect_every_word_is_its_own() {
        let Verb::Run(args) = parsed("fathom run --json fio --rw=read --json job.fio")
            .unwrap()
            .verb
        else {
            panic!()
        };
        assert_eq!(
            args.workload.workload,
            ["fio", "--rw=read", "--json", "job.fio"]
        );
        let Verb::Fio(args) = parsed("fathom fio --help --name=x").unwrap().verb else {
            panic!()
        };
        assert_eq!(args.arguments, ["--help", "--name=x"]);
    }

    #[test]
    fn options_that_must_be_given_may_follow_a_file() {
        for line in [
            "fathom convert --to native a.fio",
            "fathom convert a.fio --to native",
            "fathom convert a.fio --strict --to native",
        ] {
            let Verb::Convert(args) = parsed(line).unwrap().verb else {
                panic!("{line}")
            };
            assert_eq!(args.workload.workload, ["a.fio"], "{line}");
        }
        for (line, expected) in [
            ("fathom convert a.fio", "--to <DIALECT>"),
            ("fathom convert a.fio --strict", "--to <DIALECT>"),
            (
                "fathom convert a.fio --to nothing",
                "invalid value 'nothing'",
            ),
            (
                "fathom convert a.fio --to native b.fio",
                "one workload at a time",
            ),
            ("fathom profile new --users 5", "were not provided"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_word_that_is_no_verb_says_what_is_meant() {
        for (line, hint) in [
            ("fathom rum quick", "did you mean `fathom run`?"),
            ("fathom pedict x", "did you mean `fathom predict`?"),
            ("fathom dance", "`fathom --help` lists the verbs"),
            ("fathom quick", "`fathom run quick`"),
            ("fathom job.fio", "`fathom run job.fio`"),
            ("fathom run.fio", "`fathom run run.fio`"),
            ("fathom a/b.design.toml", "`fathom serve a/b.design.toml`"),
            ("fathom a.profile.toml", "`fathom plan a.profile.toml`"),
            (
                "fathom diskspd.exe -b8K",
                "`fathom diskspd` takes its place",
            ),
            ("fathom bench", "`fathom run quick`"),
            ("fathom test", "`fathom run quick`"),
            ("fathom sim", "`fathom predict --on DESIGN WORKLOAD`"),
            ("fathom replay", "--replay TRACE`"),
            ("fathom probe", "`fathom observe`"),
            ("fathom ui", "`fathom report last --html page.html`"),
            ("fathom list", "`fathom runs`"),
            ("fathom show", "`fathom report last`"),
            ("fathom history", "`fathom runs`"),
            ("fathom version", "`fathom --version`"),
            ("fathom P30", "`fathom catalog show P30`"),
            ("fathom catalog p30", "`fathom catalog show P30`"),
            ("fathom catalog lst", "unrecognized subcommand 'lst'"),
            ("fathom help rn", "did you mean `fathom help run`?"),
            ("fathom help exit-codes", "`fathom --help` ends with"),
            ("fathom help bench", "`fathom run quick`"),
            ("fathom help dance", "`fathom --help` lists the verbs"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    /// Lines with a value that is none, and what is said of it.
    const VALUES_THAT_ARE_NONE: &[(&str, &str)] = &[
        (
            "fathom plan p --machines x",
            "--machines: `x` is no whole number from 1 to 64",
        ),
        (
            "fathom plan p --machines -1",
            "--machines: `-1` is no whole number from 1 to 64",
        ),
        (
            "fathom plan p --offers 0",
            "--offers: `0` is no whole number from 1 to 100",
        ),
        (
            "fathom plan p --offer 1.5",
            "--offer: `1.5` is no whole number",
        ),
        (
            "fathom plan p --prices q --max-price x",
            "--max-price: `x` is no price of a month",
        ),
        (
            "fathom plan p --prices q --max-price nan",
            "write an amount such as `1500`",
        ),
        (
            "fathom plan p --prices q --max-price -5",
            "--max-price: `-5` is no price",
        ),
        ("fathom observe --pid x", "--pid: `x` is no whole number"),
        (
            "fathom observe --duration -1",
            "--duration: `-1` is not a time with its unit",
        ),
        ("fathom observe --interval 5", "--interval: `5` has no unit"),
        (
            "fathom observe --transactions x",
            "--transactions: `x` is not a rate such as",
        ),
        (
            "fathom observe --from a --memory -1",
            "--memory: `-1` is not a size such as",
        ),
        (
            "fathom observe --growth x",
            "--growth: `x` is no growth: a factor from 1x",
        ),
        ("fathom serve d --seed x", "--seed: `x` is no whole number"),
        (
            "fathom serve d --for x",
            "--for: `x` is not a time with its unit",
        ),
        (
            "fathom serve d --scale -1",
            "--scale: `-1` is no factor: write a decimal number",
        ),
        (
            "fathom profile new --app a --users x",
            "--users: `x` is no whole number",
        ),
        (
            "fathom profile new --app a --tps -1",
            "--tps: `-1` is no whole number",
        ),
        (
            "fathom predict --on d --scale x quick",
            "--scale: `x` is no factor",
        ),
    ];

    #[test]
    fn a_value_that_is_none_says_what_to_write() {
        for (line, says) in VALUES_THAT_ARE_NONE {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(
                error.starts_with("error: --") && error.contains(says),
                "{line}: {error}"
            );
        }
    }

    #[test]
    fn a_word_too_many_says_what_is_meant() {
        for (line, hint) in [
            ("fathom observe a.csv", "`fathom observe --from a.csv`"),
            ("fathom runs list", "`fathom runs` lists them"),
            ("fathom runs show last~1", "`fathom report last~1`"),
            ("fathom runs last", "`fathom report last`"),
            ("fathom catalog list P30", "`fathom catalog show P30`"),
            ("fathom runs --jsn", "unexpected argument '--jsn'"),
            ("fathom observe --duraton 1s", "'--duration'"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    #[test]
    fn two_workloads_are_refused() {
        assert!(parsed("fathom run a.fio b.fio").is_err());
    }

    #[test]
    fn the_help_fits_a_plain_terminal() {
        use clap::CommandFactory;
        let mut command = Cli::command();
        command.build();
        // Examples can be typed as they stand: none is wrapped.
        for verb in command.get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(
                help.lines().all(|line| line.chars().count() <= 80),
                "{help}"
            );
        }
        let verbs = command
            .get_subcommands_mut()
            .map(clap::Command::render_long_help);
        let mut pages: Vec<_> = verbs.collect();
        pages.push(command.render_long_help());
        for page in pages {
            let page = page.to_string();
            assert!(
                page.lines().all(|line| line.chars().count() <= 80),
                "{page}"
            );
        }
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_link_is_known_by_its_name() {
        assert_eq!(program_name(&["/usr/bin/fio".to_owned()]), "fio");
    }

    #[test]
    fn peers_have_their_own_words() {
        let own = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            peer(&words).map(|(_, own)| own.join(" "))
        };
        assert_eq!(own("fathom fio --help x").as_deref(), Some("--help x"));
        assert_eq!(own("/bin/fio --help x").as_deref(), Some("--help x"));
        assert_eq!(own("fathom vdbench").as_deref(), Some(""));
        assert_eq!(own("fathom run fio x"), None);
        assert_eq!(own("fathom fio -- x"), None);
        assert_eq!(own("fathom"), None);
    }
}
