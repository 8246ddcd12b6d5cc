//! Options that a verb has not, and words that are one too many, where a workload may begin with anything.

use std::fmt::Write as _;

use clap::Command;
use clap::error::{Error, ErrorKind};
use fathom_diagnostics::nearest;
use fathom_session::is_dialect;

use crate::values::value_below_zero;
use crate::wrong_verb::{dialect_meant, surplus_word};

/// What to say of a word that is no argument, where it is clear what is meant by it; `of_fio` tells of a name whether fio has
/// such an option.
pub fn unknown_argument(
    words: &[String],
    command: &Command,
    of_fio: impl FnOnce(&str) -> bool,
) -> Option<Error> {
    value_below_zero(words, command)
        .or_else(|| surplus_word(words))
        .or_else(|| option_before_verb(words, command, of_fio))
}

/// What to say of an option that stands where the verb does.
fn option_before_verb(
    words: &[String],
    command: &Command,
    of_fio: impl FnOnce(&str) -> bool,
) -> Option<Error> {
    let option = words.get(1).filter(|word| word.starts_with('-'))?;
    let name = option.trim_start_matches('-').split('=').next()?;
    let has = |verb: &str| {
        let mut own = command.find_subcommand(verb)?.get_arguments();
        own.find(|own| {
            let short = own.get_short().map(String::from);
            own.get_long() == Some(name) || short.as_deref() == Some(name)
        })
    };
    let verb = words[2..]
        .iter()
        .find(|word| command.find_subcommand(word).is_some());
    let example = match verb {
        Some(verb) if has(verb).is_some() => format!("fathom {verb} {option} …"),
        Some(verb) if is_dialect(verb) && has("run").is_some() => {
            format!("fathom run {option} … {verb} …")
        }
        None if of_fio(name) => format!("fathom fio {option} …"),
        None if has("run").is_some() => format!("fathom run {option} …"),
        _ => return None,
    };
    let message = format!(
        "unexpected argument '{option}' before a verb\n\n  tip: a verb comes first: `{example}`\n\n\
         For more information, try 'fathom --help'.\n"
    );
    Some(Error::raw(ErrorKind::UnknownArgument, message))
}

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
