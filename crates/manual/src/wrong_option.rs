//! Options that a verb has not, and words that are one too many, where a workload may begin with anything.

use std::fmt::Write as _;

use clap::Command;
use clap::error::{Error, ErrorKind};
use fathom_diagnostics::nearest;

use crate::dialect_meant;

/// What to say of an option that `verb` has not; `of_fio` tells of a name whether fio has such an option.
pub fn unknown_option(
    verb: &str,
    option: &str,
    command: &Command,
    of_fio: impl FnOnce(&str) -> bool,
) -> Error {
    let name = option.trim_start_matches('-');
    let name = name.split('=').next().unwrap_or(name);
    let known = command.find_subcommand(verb);
    let longs: Vec<&str> = known
        .into_iter()
        .flat_map(|verb| verb.get_arguments().filter_map(clap::Arg::get_long))
        .collect();
    let hint = match nearest(name, longs) {
        Some(near) => format!("  tip: a similar argument exists: '--{near}'\n\n"),
        None if of_fio(name) => {
            format!(
                "  tip: fio's options stand behind its name: `fathom {verb} … fio --{name} …`\n\n"
            )
        }
        None => String::new(),
    };
    let message = format!(
        "unexpected argument '--{name}' found\n\n{hint}For more information, try 'fathom {verb} --help'.\n"
    );
    Error::raw(ErrorKind::UnknownArgument, message)
}

/// What to say of a word behind a `workload` that is none of its own.
pub fn second_workload(workload: &str, surplus: &str) -> Error {
    let mut message = format!("unexpected argument `{surplus}`: one workload at a time\n");
    if let Some(name) = dialect_meant(workload) {
        let _ = write!(
            message,
            "\n  tip: write `{name}` in place of `{workload}`\n"
        );
    }
    Error::raw(ErrorKind::UnknownArgument, message)
}
