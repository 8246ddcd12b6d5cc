//! `fathom convert`: a workload in another dialect's words.

use std::path::PathBuf;

use clap::Args;
use fathom_convert::{Dialect, convert_for as write};
use fathom_session::{Code, Failure, NewFile, WorkloadArgs, load};

use crate::terminal::TERMINAL;

/// `fathom convert`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ConvertArgs {
    /// The dialect to write
    #[arg(long, value_name = "DIALECT", value_parser = Dialect::ALL.map(Dialect::name))]
    to: String,
    /// Write into this file, which must not exist yet, instead of to stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 6 when something is lost
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    /// What to convert.
    pub workload: WorkloadArgs,
}

const HELP: &str = "\
What the dialect cannot say is told on stderr, and as comments in the text:
`lost` where other I/O is done, `note` where the same I/O is named, drawn or
reported in the dialect's own way.

Examples:
  fathom convert --to fio oltp.workload.toml
  fathom convert --to native -o job.workload.toml fio --name=a --size=1g
  fathom convert --to diskspd --strict job.fio
  fathom convert --to iometer -o oltp.icf oltp.workload.toml";

/// Prints or stores the text, and tells what it cannot say.
pub fn convert(args: &ConvertArgs) -> Result<Code, Failure> {
    let to = Dialect::of_name(&args.to)
        .ok_or_else(|| Failure::new(Code::Usage, format!("`{}` is no dialect", args.to)))?;
    let mut input = load(&args.workload.words(None), &TERMINAL)?;
    if to != Dialect::Native {
        input = input.with_fresh_files();
    }
    let converted = write(&input.workload, to, &input.name, input.hosts());
    for loss in &converted.losses {
        crate::tell(&loss.to_string());
    }
    match &args.output {
        None => crate::print(&converted.text),
        Some(path) => NewFile::at(path)?.write(&converted.text)?,
    }
    let fails = args.strict && converted.is_lossy();
    Ok(if fails { Code::Check } else { Code::Success })
}
