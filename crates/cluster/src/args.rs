//! The command line of `fathom-mpi`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use fathom_session::{Code, Failure, OutputArgs, SafetyArgs, SweepArgs, WorkloadArgs, is_dialect};
use fathom_units::Nanos;

/// One workload on many hosts at once, through MPI.
#[derive(Debug, Parser)]
#[command(name = "fathom-mpi", version, max_term_width = 80, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Example:
  mpirun --hostfile hosts --map-by ppr:1:node --bind-to none \\
    fathom-mpi run oltp.workload.toml
  srun --mpi=pmix -K1 --ntasks-per-node=1 fathom-mpi run job.fio

Exit codes are those of `fathom run`, and 1 where a host was lost: what the
others measured is kept.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a workload on real storage of all hosts together
    Run(Box<RunArgs>),
}

/// `fathom-mpi run`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)), mut_arg("verbose", |arg| arg.hide(true)))]
pub struct RunArgs {
    /// Directory for a preset's file, on each host
    #[arg(long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// Take a host for lost when nothing was heard of it for so long
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub lost_after: Nanos,
    #[command(flatten)]
    /// What is printed and kept.
    pub output: OutputArgs,
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

impl RunArgs {
    /// Refuses what has no meaning for several hosts.
    ///
    /// # Errors
    /// The word that has none.
    pub fn check(&self) -> Result<(), Failure> {
        let refused =
            |message: String, hint: &str| Err(Failure::new(Code::Usage, message).hint(hint));
        if self.output.format.is_some() {
            let message = "`--format peer` is for runs of one host: no peer's output is made here";
            return refused(message.to_owned(), "leave it out");
        }
        if self.lost_after < Nanos::from_secs(1) {
            let message = format!("--lost-after: {} is too short", self.lost_after);
            return refused(
                message,
                "hosts are heard of a few times a second; give `1s` or more",
            );
        }
        match self.workload.workload.as_slice() {
            [first, ..] if first == "-" => refused(
                "the standard input reaches the first host alone".to_owned(),
                "name a file that is on every host",
            ),
            [first, second, ..] if !is_dialect(first) => refused(
                format!("`{second}` stands behind the workload `{first}`"),
                "options stand before it, and there is one workload",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let words = format!("fathom-mpi run {line}");
        let Verb::Run(args) = Cli::try_parse_from(words.split(' ')).unwrap().verb;
        let told = args.check().err().map(|failure| failure.message);
        let fits = match (&told, expected) {
            (None, None) => true,
            (Some(told), Some(expected)) => told.contains(expected),
            _ => false,
        };
        assert!(fits, "{line}: {told:?}");
    }

    #[test]
    fn what_has_no_meaning_for_several_hosts_is_refused() {
        check("--quiet job.fio", None);
        check("fio --name=a --rw=read", None);
        check("--format peer job.fio", Some("no peer's output"));
        check("--lost-after 10ms job.fio", Some("too short"));
        check("-", Some("the first host alone"));
        check("job.fio --json", Some("options stand before it"));
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
