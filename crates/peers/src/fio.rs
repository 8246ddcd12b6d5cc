//! `fathom fio`: fio's command line, output and exit codes.
//!
//! Nothing goes to stderr that fio would not print there, unless stderr is a terminal or an input trap was met. Exit codes
//! are fio's own (0, 1), but 4 where the write guard refused.

mod bandwidth;
mod inflate;
mod logs;
mod output;
mod progress;
mod run;
mod watcher;

use fathom_dialects::fio::{self, Action, FioInput};
use fathom_session::{Code, Console, Failure, read_context, tell_warnings};

/// What stands among fio's arguments but is ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ours {
    destroy_data: Vec<String>,
    record: bool,
}

/// Does what fio would do with `arguments`.
pub fn fio(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = take_ours(arguments);
    let input = match fio::read(&theirs, &read_context()) {
        Ok(input) => input,
        Err(diagnostics) => {
            console.tell(&diagnostics.to_string());
            return Code::Unexpected;
        }
    };
    tell_warnings(&input.warnings, console);
    match act(input, &ours, console) {
        Ok(code) => code,
        Err(Failure { code, message }) => {
            console.tell(&message);
            if code == Code::Refused {
                code
            } else {
                Code::Unexpected
            }
        }
    }
}

/// Splits `--destroy-data=NAME`, `--destroy-data NAME` and `--record` from fio's own words.
fn take_ours(arguments: &[String]) -> (Ours, Vec<String>) {
    let environment = std::env::var("FATHOM_DESTROY_DATA")
        .ok()
        .filter(|name| !name.is_empty());
    let mut ours = Ours {
        destroy_data: environment.into_iter().collect(),
        record: false,
    };
    let mut theirs = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--record" {
            ours.record = true;
        } else if word == "--destroy-data" {
            ours.destroy_data.extend(words.next().cloned());
        } else if let Some(name) = word.strip_prefix("--destroy-data=") {
            ours.destroy_data.push(name.to_owned());
        } else {
            theirs.push(word.clone());
        }
    }
    (ours, theirs)
}

fn act(input: FioInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    match &input.action {
        Action::Run => return run::run(input, ours, console),
        Action::ParseOnly => {}
        Action::Version => console.print(&format!("{}\n", fio::VERSION)),
        Action::Help => console.print(&fio::general_help()),
        Action::CommandHelp(option) => {
            return Ok(help(fio::command_help(option.as_deref()), console));
        }
        Action::EngineHelp(engine) => {
            return Ok(help(fio::engine_help(engine.as_deref()), console));
        }
        Action::ShowCommand(line) => console.print(&format!("{line}\n")),
        Action::InflateLog(path) => inflate::inflate(path, console)?,
    }
    Ok(Code::Success)
}

fn help(text: Result<String, String>, console: &dyn Console) -> Code {
    let code = if text.is_ok() {
        Code::Success
    } else {
        Code::Unexpected
    };
    let (Ok(text) | Err(text)) = text;
    console.print(&text);
    code
}
