//! The `fathom` program: arguments, exit codes and wiring; the only place that prints.
//!
//! Called through a link that has a peer's name, such as `fio`, it is that peer's verb.

mod args;
mod calibrate;
mod convert;
mod explain;
mod finish;
mod lookups;
mod predict;
mod profile;
mod run;
mod terminal;

use std::process::ExitCode;

use clap::CommandFactory;
use fathom_session::{Code, Failure, check_limits, named_record};

use crate::args::{Cli, Verb};
use crate::terminal::{TERMINAL, print, tell};

fn main() -> ExitCode {
    let code = act();
    if terminal::is_output_lost() {
        return Code::Target.into();
    }
    code
}

fn act() -> ExitCode {
    let words = match words() {
        Ok(words) => words,
        Err(Failure { code, message }) => {
            tell(&message);
            return code.into();
        }
    };
    if let Some((peer, own)) = args::peer(&words) {
        return peer(own, &TERMINAL).into();
    }
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return Code::Usage.into();
            }
            terminal::settle(printed);
            return ExitCode::SUCCESS;
        }
    };
    let runs = matches!(
        cli.verb,
        Verb::Run(_) | Verb::Replay(_) | Verb::Predict(_) | Verb::Serve(_)
    );
    if runs && let Err(Failure { code, message }) = check_limits() {
        tell(&message);
        return code.into();
    }
    let outcome = match cli.verb {
        Verb::Run(args) => run::run(&args),
        Verb::Replay(args) => run::replay(&args),
        Verb::Predict(args) => predict::predict(&args),
        Verb::Serve(args) => fathom_emulator::run(&args, &TERMINAL),
        Verb::Ctl(args) => fathom_emulator::ctl(&args, &TERMINAL),
        Verb::Calibrate(args) => calibrate::calibrate(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Convert(args) => convert::convert(&args),
        Verb::Fio(args) => Ok(fathom_peers::fio(&args.arguments, &TERMINAL)),
        Verb::Vdbench(args) => Ok(fathom_peers::vdbench(&args.arguments, &TERMINAL)),
        Verb::Diskspd(args) => Ok(fathom_peers::diskspd(&args.arguments, &TERMINAL)),
        Verb::Iometer(args) => Ok(fathom_peers::iometer(&args.arguments, &TERMINAL)),
        Verb::Sqlio(args) => Ok(fathom_peers::sqlio(&args.arguments, &TERMINAL)),
        Verb::Diskperformance(args) => {
            Ok(fathom_peers::diskperformance(&args.arguments, &TERMINAL))
        }
        Verb::Observe(args) => fathom_observe::run(&args, &TERMINAL),
        Verb::Profile(args) => profile::profile(&args.action),
        Verb::Plan(args) => finish::stopped_by_signals()
            .and_then(|stop| fathom_emit::plan(&args, &TERMINAL, &|| stop.is_requested())),
        Verb::Probe(args) => args.probe(&TERMINAL),
        Verb::Catalog(args) => lookups::catalog(&args.action),
        Verb::Runs(args) => lookups::runs(args.json),
        Verb::Report(args) => lookups::report(&args),
        Verb::Compare(args) => args.compare(named_record, &TERMINAL),
        Verb::Ui(args) => fathom_web::run(&args, &TERMINAL),
        Verb::Merge(args) => args.merge(named_record, &TERMINAL),
        Verb::Completions(args) => {
            fathom_manual::print_completions(&args, Cli::command(), &TERMINAL)
        }
        Verb::Man(args) => fathom_manual::man(&args, Cli::command(), &TERMINAL),
    };
    outcome.map_or_else(|failure| told(failure, &words), Into::into)
}

/// Tells why a verb did not do what it was asked; its exit code.
fn told(failure: Failure, words: &[String]) -> ExitCode {
    let misplaced = fathom_manual::misplaced(words, &failure.message, &Cli::command());
    let Failure { code, message } = match misplaced {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    tell(&message);
    code.into()
}

/// The words of the command line. One that is no text is refused: put into text it would name another file than was meant.
fn words() -> Result<Vec<String>, Failure> {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let program = program.to_string_lossy().into_owned();
    let own = words.map(|word| {
        word.into_string().map_err(|word| {
            let message = format!("the argument `{}` is not UTF-8", word.display());
            Failure::new(Code::Usage, message)
                .hint("rename the file, or link it under another name")
        })
    });
    std::iter::once(Ok(program)).chain(own).collect()
}
