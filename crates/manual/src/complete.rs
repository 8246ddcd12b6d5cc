//! Completion scripts for shells.
//!
//! The program takes any text for a workload, a dialect or a row of the catalogue, since files and unknown names get
//! better errors from their readers. A shell has no use for that: here the arguments have the names that are known.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::aot::{Shell, generate};
use fathom_catalog::Catalog;
use fathom_session::dialects;
use fathom_workload::preset_names;

/// An argument without a name before it, and the words known for it. A file may stand there too, except in `show`.
struct Known {
    verbs: &'static [&'static str],
    argument: &'static str,
    words: Vec<&'static str>,
}

/// The script that completes the words of `command`, for `shell`.
pub fn completions(command: Command, shell: Shell) -> String {
    let name = command.get_name().to_owned();
    let known = known();
    let mut command = known.iter().fold(command, |command, known| {
        with(command, known.verbs, known.argument, &known.words)
    });
    let names: Vec<&str> = dialects().collect();
    for verb in ["run", "predict", "explain", "convert"] {
        command = with(command, &[verb], "dialect", &names);
    }
    let mut script = Vec::new();
    generate(shell, &mut command, &name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Zsh => with_files(script, &known),
        Shell::Fish => with_arguments(script, &name, &known),
        _ => script,
    }
}

fn known() -> Vec<Known> {
    let workloads: Vec<&str> = preset_names().chain(dialects()).collect();
    let mut explained = workloads.clone();
    explained.extend(["counters", "factors"]);
    let catalog = Catalog::builtin();
    let mut rows: Vec<&str> = catalog.list().iter().map(|row| row.name).collect();
    rows.sort_unstable();
    rows.dedup();
    let known = |verbs, argument, words: &[&'static str]| Known {
        verbs,
        argument,
        words: words.to_vec(),
    };
    vec![
        known(&["run"], "workload", &workloads),
        known(&["predict"], "workload", &workloads),
        known(&["convert"], "workload", &workloads),
        known(&["explain"], "workload", &explained),
        known(&["report"], "run", &["last"]),
        known(&["compare"], "records", &["last"]),
        known(&["calibrate"], "record", &["last"]),
        known(&["catalog", "show"], "name", &rows),
    ]
}

/// `command` whose verb offers `words` for its argument `id`.
fn with(command: Command, verbs: &[&'static str], id: &str, words: &[&'static str]) -> Command {
    match verbs {
        [] => {
            let words = PossibleValuesParser::new(words.iter().copied());
            command.mut_arg(id, |argument| argument.value_parser(words))
        }
        [verb, more @ ..] => command.mut_subcommand(verb, |verb| with(verb, more, id, words)),
    }
}

/// zsh offers nothing beside the words of a list: here files too.
fn with_files(script: String, known: &[Known]) -> String {
    let takes_files = known.iter().filter(|known| known.argument != "name");
    takes_files.fold(script, |script, known| {
        let words = known.words.join(" ");
        let argument = format!(":{} -- ", known.argument);
        let lines = script.lines().map(|line| {
            let list = line.rsplit_once(&format!(":({words})'"));
            match list.filter(|_| line.contains(&argument)) {
                Some((before, after)) => {
                    format!("{before}:{{compadd -- {words}; _files}}'{after}\n")
                }
                None => format!("{line}\n"),
            }
        });
        lines.collect()
    })
}

/// fish is told nothing of arguments without a name: here their words.
fn with_arguments(mut script: String, name: &str, known: &[Known]) -> String {
    for known in known {
        let mut condition = format!("__fish_{name}_using_subcommand {}", known.verbs[0]);
        for verb in &known.verbs[1..] {
            let _ = write!(condition, "; and __fish_seen_subcommand_from {verb}");
        }
        let words = known.words.join(" ");
        let _ = writeln!(
            script,
            "complete -c {name} -n \"{condition}\" -a \"{words}\""
        );
    }
    script
}
