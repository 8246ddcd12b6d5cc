//! From the words of a command line to what they ask for, and what is said of words that ask for nothing.

use clap::{CommandFactory, FromArgMatches};
use fathom_dialects::fio;
use fathom_manual::{
    refused_value, second_workload, unknown_argument, unknown_option, unknown_verb,
    with_flowing_notes, with_numbers_below_zero,
};
use fathom_session::is_dialect;
use fathom_workload::preset_names;

use super::Cli;

fn read(words: &[String]) -> Result<Cli, clap::Error> {
    let command = with_flowing_notes(with_numbers_below_zero(Cli::command()));
    let matches = command.try_get_matches_from(words);
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    read.map_err(|error| refused_value(&error).unwrap_or(error))
}

/// Reads the command line. Options that follow a file or a preset count as if they stood before it.
pub fn parse(words: &[String]) -> Result<Cli, clap::Error> {
    let cli = match read(words) {
        Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
            let Some(reordered) = workload_last(words) else {
                return Err(error);
            };
            return parse(&reordered);
        }
        Err(error) if error.kind() == clap::error::ErrorKind::InvalidSubcommand => {
            return Err(unknown_verb(words, &Cli::command()).unwrap_or(error));
        }
        Err(error) if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            let known = unknown_argument(words, &Cli::command(), fio::is_option);
            return Err(known.unwrap_or(error));
        }
        parsed => parsed?,
    };
    let Some([name, more @ ..]) = cli.workload() else {
        return Ok(cli);
    };
    let is_option = |name: &str| name.starts_with("--") && !words.iter().any(|word| word == "--");
    if is_option(name) {
        return Err(unknown(&words[1], name));
    }
    if is_dialect(name) || more.is_empty() {
        return Ok(cli);
    }
    // The workload's words are the last of the line: move its name behind the options after it.
    let (before, after) = words.split_at(words.len() - more.len() - 1);
    let mut reordered = before.to_vec();
    reordered.extend_from_slice(&after[1..]);
    reordered.push(after[0].clone());
    let again = read(&reordered)?;
    match again.workload() {
        // Of a word that is no name of anything, its reader says so.
        Some([_, _, ..])
            if !after[0].contains(['/', '.'])
                && !preset_names().any(|preset| preset == after[0]) =>
        {
            Ok(cli)
        }
        Some([option, ..]) if is_option(option) => Err(unknown(&words[1], option)),
        Some([_, surplus, ..]) => Err(second_workload(&after[0], surplus)),
        _ => Ok(again),
    }
}

fn unknown(verb: &str, option: &str) -> clap::Error {
    unknown_option(verb, option, &Cli::command(), fio::is_option)
}

/// The words with the workload moved behind the options after it. `fathom convert a.fio --to native` fails otherwise: the
/// workload takes all words that follow it, and `--to` is missing.
fn workload_last(words: &[String]) -> Option<Vec<String>> {
    let verb = words.get(1)?;
    let (name, options) = words.get(2..)?.split_first()?;
    let takes_workload = ["run", "predict", "explain", "convert"].contains(&verb.as_str());
    let moves = !name.starts_with('-') && !is_dialect(name) && options.first()?.starts_with('-');
    (takes_workload && moves).then(|| [&words[..2], options, std::slice::from_ref(name)].concat())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Verb, peer, program_name};
    use super::*;

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn options_may_follow_a_preset_or_a_file() {
        for line in [
            "fathom run --json quick --target /mnt",
            "fathom run --target /mnt quick --json",
        ] {
            let Verb::Run(args) = parsed(line).unwrap().verb else {
                panic!("{line}")
            };
            assert!(args.output.json, "{line}");
            assert_eq!(args.target.as_deref(), Some(Path::new("/mnt")), "{line}");
            assert_eq!(args.workload.workload, ["quick"], "{line}");
        }
    }

    #[test]
    fn after_a_dialect_every_word_is_its_own() {
        let Verb::Run(args) = parsed("fathom run --json fio --rw=read --json job.fio")
            .unwrap()
            .verb
        else {
            panic!()
        };
        assert_eq!(
            args.workload.workload,
            ["fio", "--rw=read", "--json", "job.fio"]
        );
        let Verb::Fio(args) = parsed("fathom fio --help --name=x").unwrap().verb else {
            panic!()
        };
        assert_eq!(args.arguments, ["--help", "--name=x"]);
    }

    #[test]
    fn options_that_must_be_given_may_follow_a_file() {
        for line in [
            "fathom convert --to native a.fio",
            "fathom convert a.fio --to native",
            "fathom convert a.fio --strict --to native",
        ] {
            let Verb::Convert(args) = parsed(line).unwrap().verb else {
                panic!("{line}")
            };
            assert_eq!(args.workload.workload, ["a.fio"], "{line}");
        }
        for (line, expected) in [
            ("fathom convert a.fio", "--to <DIALECT>"),
            ("fathom convert a.fio --strict", "--to <DIALECT>"),
            (
                "fathom convert a.fio --to nothing",
                "invalid value 'nothing'",
            ),
            (
                "fathom convert a.fio --to native b.fio",
                "one workload at a time",
            ),
            ("fathom profile new --users 5", "were not provided"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_word_that_is_no_verb_says_what_is_meant() {
        for (line, hint) in [
            ("fathom rum quick", "did you mean `fathom run`?"),
            ("fathom pedict x", "did you mean `fathom predict`?"),
            ("fathom dance", "`fathom --help` lists the verbs"),
            ("fathom quick", "`fathom run quick`"),
            ("fathom job.fio", "`fathom run job.fio`"),
            ("fathom run.fio", "`fathom run run.fio`"),
            ("fathom a/b.design.toml", "`fathom serve a/b.design.toml`"),
            ("fathom a.profile.toml", "`fathom plan a.profile.toml`"),
            (
                "fathom diskspd.exe -b8K",
                "`fathom diskspd` takes its place",
            ),
            ("fathom bench", "`fathom run quick`"),
            ("fathom test", "`fathom run quick`"),
            ("fathom sim", "`fathom predict --on DESIGN WORKLOAD`"),
            ("fathom playback", "`fathom replay TRACE --to TARGET`"),
            ("fathom lsblk", "`fathom probe`"),
            ("fathom monitor", "`fathom observe`"),
            ("fathom dashboard", "`fathom ui`"),
            ("fathom chart", "`fathom report last --html page.html`"),
            ("fathom list", "`fathom runs`"),
            ("fathom show", "`fathom report last`"),
            ("fathom history", "`fathom runs`"),
            ("fathom version", "`fathom --version`"),
            ("fathom P30", "`fathom catalog show P30`"),
            ("fathom catalog p30", "`fathom catalog show P30`"),
            ("fathom catalog lst", "unrecognized subcommand 'lst'"),
            ("fathom help rn", "did you mean `fathom help run`?"),
            ("fathom help exit-codes", "`fathom --help` ends with"),
            ("fathom help bench", "`fathom run quick`"),
            ("fathom help dance", "`fathom --help` lists the verbs"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    /// Lines with a value that is none, and what is said of it.
    const VALUES_THAT_ARE_NONE: &[(&str, &str)] = &[
        (
            "fathom plan p --machines x",
            "--machines: `x` is no whole number from 1 to 64",
        ),
        (
            "fathom plan p --machines -1",
            "--machines: `-1` is no whole number from 1 to 64",
        ),
        (
            "fathom plan p --offers 0",
            "--offers: `0` is no whole number from 1 to 100",
        ),
        (
            "fathom plan p --offer 1.5",
            "--offer: `1.5` is no whole number",
        ),
        (
            "fathom plan p --prices q --max-price x",
            "--max-price: `x` is no price of a month",
        ),
        (
            "fathom plan p --prices q --max-price nan",
            "write an amount such as `1500`",
        ),
        (
            "fathom plan p --prices q --max-price -5",
            "--max-price: `-5` is no price",
        ),
        ("fathom observe --pid x", "--pid: `x` is no whole number"),
        (
            "fathom observe --duration -1",
            "--duration: `-1` is below 0; expected a time with its unit",
        ),
        ("fathom observe --interval 5", "--interval: `5` has no unit"),
        (
            "fathom observe --transactions x",
            "--transactions: `x` is not a rate such as",
        ),
        (
            "fathom observe --from a --memory -1",
            "--memory: `-1` is below 0; expected a size such as",
        ),
        (
            "fathom observe --growth x",
            "--growth: `x` is no growth: a factor from 1x",
        ),
        ("fathom serve d --seed x", "--seed: `x` is no whole number"),
        (
            "fathom serve d --for x",
            "--for: `x` is not a time with its unit",
        ),
        (
            "fathom serve d --for -1s",
            "--for: `-1s` is below 0: write it without the sign",
        ),
        (
            "fathom observe --duration -1.5h",
            "--duration: `-1.5h` is below 0",
        ),
        (
            "fathom serve d --scale -1",
            "--scale: `-1` is no factor: write a decimal number",
        ),
        (
            "fathom profile new --app a --users x",
            "--users: `x` is no whole number",
        ),
        (
            "fathom profile new --app a --tps -1",
            "--tps: `-1` is no whole number",
        ),
        (
            "fathom predict --on d --scale x quick",
            "--scale: `x` is no factor",
        ),
    ];

    #[test]
    fn a_value_that_is_none_says_what_to_write() {
        for (line, says) in VALUES_THAT_ARE_NONE {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(
                error.starts_with("error: --") && error.contains(says),
                "{line}: {error}"
            );
        }
    }

    #[test]
    fn a_word_too_many_says_what_is_meant() {
        for (line, hint) in [
            ("fathom observe a.csv", "`fathom observe --from a.csv`"),
            ("fathom runs list", "`fathom runs` lists them"),
            ("fathom runs show last~1", "`fathom report last~1`"),
            ("fathom runs last", "`fathom report last`"),
            ("fathom catalog list P30", "`fathom catalog show P30`"),
            ("fathom runs --jsn", "unexpected argument '--jsn'"),
            (
                "fathom --destroy-data=X fio a.fio",
                "`fathom run --destroy-data=X … fio …`",
            ),
            ("fathom --json run quick", "`fathom run --json …`"),
            ("fathom -q run quick", "`fathom run -q …`"),
            ("fathom --json quick", "`fathom run --json …`"),
            ("fathom --name=a --rw=read", "`fathom fio --name=a …`"),
            (
                "fathom --on a.toml predict a.fio",
                "`fathom predict --on …`",
            ),
            ("fathom --jsn run quick", "unexpected argument '--jsn'"),
            ("fathom observe --duraton 1s", "'--duration'"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            let error = error.to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    #[test]
    fn two_workloads_are_refused() {
        assert!(parsed("fathom run a.fio b.fio").is_err());
    }

    #[test]
    fn the_help_fits_a_plain_terminal() {
        use clap::CommandFactory;
        let mut command = Cli::command();
        command.build();
        // Examples can be typed as they stand: none is wrapped.
        for verb in command.get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(
                help.lines().all(|line| line.chars().count() <= 80),
                "{help}"
            );
        }
        let verbs = command
            .get_subcommands_mut()
            .map(clap::Command::render_long_help);
        let mut pages: Vec<_> = verbs.collect();
        pages.push(command.render_long_help());
        for page in pages {
            let page = page.to_string();
            assert!(
                page.lines().all(|line| line.chars().count() <= 80),
                "{page}"
            );
        }
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_link_is_known_by_its_name() {
        assert_eq!(program_name(&["/usr/bin/fio".to_owned()]), "fio");
    }

    #[test]
    fn peers_have_their_own_words() {
        let own = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            peer(&words).map(|(_, own)| own.join(" "))
        };
        assert_eq!(own("fathom fio --help x").as_deref(), Some("--help x"));
        assert_eq!(own("/bin/fio --help x").as_deref(), Some("--help x"));
        assert_eq!(own("fathom vdbench").as_deref(), Some(""));
        assert_eq!(own("fathom run fio x"), None);
        assert_eq!(own("fathom fio -- x"), None);
        assert_eq!(own("fathom"), None);
    }
}
