//! Values that an option does not take: what, why and what to do, in the words of whoever reads that kind of value.
//!
//! The parser of the command line puts its own sentence before theirs, and takes `-1` behind an option for another option.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The same command line, where a number below 0 behind an option is that option's value: whoever reads it says what is wrong.
pub fn with_numbers_below_zero(command: clap::Command) -> clap::Command {
    let own = command.mut_args(|argument| {
        let takes_one = argument.get_long().is_some() && argument.get_action().takes_values();
        if takes_one {
            argument.allow_negative_numbers(true)
        } else {
            argument
        }
    });
    own.mut_subcommands(with_numbers_below_zero)
}

/// What to say of a value that its reader refused: the option, and what the reader said; `None` where it is another error.
pub fn refused_value(error: &Error) -> Option<Error> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let why = error.source()?;
    let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    // Behind the name of an option stands what it takes.
    let name = option.split(' ').next().unwrap_or(option);
    let text = format!("{name}: {why}\n");
    Some(Error::raw(ErrorKind::ValueValidation, text))
}

/// What to say of a value below 0 that has a unit, such as `--for -1s`: it was taken for another option.
pub fn value_below_zero(words: &[String], command: &clap::Command) -> Option<Error> {
    let verb = command.find_subcommand(words.get(1)?)?;
    let takes = |option: &str| {
        let mut own = verb.get_arguments();
        own.any(|argument| {
            argument.get_long() == Some(option) && argument.get_action().takes_values()
        })
    };
    words.windows(2).find_map(|pair| {
        let [option, value] = pair else { return None };
        let takes = takes(option.strip_prefix("--")?);
        let is_number = value
            .strip_prefix('-')?
            .starts_with(|digit: char| digit.is_ascii_digit());
        let text = format!("{option}: `{value}` is below 0: write it without the sign\n");
        (takes && is_number).then(|| Error::raw(ErrorKind::ValueValidation, text))
    })
}
