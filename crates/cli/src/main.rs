//! The `fathom` program: arguments, exit codes and wiring; the only place that prints.
//!
//! Called through a link named `fio`, it is `fathom fio`.

mod args;
mod exit;
mod explain;
mod finish;
mod input;
mod lookups;
mod peer_fio;
mod predict;
mod run;
mod screen;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::Verb;
use crate::exit::{Code, Failure};

/// Whether something meant for stdout was lost.
static LOST: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let code = act();
    if LOST.load(Ordering::Relaxed) {
        return Code::Target.into();
    }
    code
}

fn act() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if args::program_name(&words) == "fio" {
        return peer_fio::peer_fio(&words[1..]).into();
    }
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                Code::Usage.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let outcome = match cli.verb {
        Verb::Run(args) => run::run(&args),
        Verb::Predict(args) => predict::predict(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Fio(args) => Ok(peer_fio::peer_fio(&args.arguments)),
        Verb::Catalog(args) => lookups::catalog(&args.action),
        Verb::Runs => lookups::runs(),
        Verb::Report(args) => lookups::report(&args),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(Failure { code, message }) => {
            tell(&message);
            code.into()
        }
    }
}

/// Writes to stdout. A reader that has gone away ends the writing quietly; any other failure is told and ends in exit
/// code 5, since a result that a file does not hold is lost.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        tell(&format!("error: stdout cannot be written: {error}"));
    }
}

/// Writes a line to stderr; one that is closed is no reason to end.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a JSON document and a newline.
fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text =
        serde_json::to_string(document).map_err(|error| Failure::new(Code::Unexpected, error))?;
    print(&(text + "\n"));
    Ok(())
}
