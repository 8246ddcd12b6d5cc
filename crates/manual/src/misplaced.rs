//! An option that stands where it is another tool's.
//!
//! All that follows a dialect's name is that tool's own, so that an option of ours there is one that the tool has not.

use fathom_session::is_dialect;

/// What to do about an option of ours that stands behind a dialect's name, where it counts as one of that tool's and was
/// complained about in `message`.
pub fn misplaced(words: &[String], message: &str, command: &clap::Command) -> Option<String> {
    let command = command.find_subcommand(words.get(1)?)?;
    // `--dialect fio` names a dialect too.
    let is_value = |at: usize| {
        let long = words[at - 1].strip_prefix("--");
        let mut own = command.get_arguments().filter(|own| own.get_long() == long);
        long.is_some() && own.any(|own| own.get_action().takes_values())
    };
    let dialect = (2..words.len()).find(|&at| is_dialect(&words[at]) && !is_value(at))?;
    let (before, after) = words.split_at(dialect);
    let ours = |name: &&str| {
        let long = name.strip_prefix("--");
        long.is_some() && command.get_arguments().any(|own| own.get_long() == long)
    };
    let names = after.iter().filter_map(|word| word.split('=').next());
    let name = names
        .filter(ours)
        .find(|name| message.contains(&format!("`{name}`")))?;
    let (dialect, before) = (&after[0], before.get(1..)?.join(" "));
    Some(format!(
        "`{name}` belongs before `{dialect}`, as in `fathom {before} {name} … {dialect} …`: all that follows `{dialect}` is \
         its own"
    ))
}
