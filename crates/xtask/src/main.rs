//! The project's own chores: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask bench`, `cargo xtask fuzz`, `cargo xtask soak`,
//! `cargo xtask order`.
//!
//! Not needed by anyone who uses Fathom.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the developer who runs it"
)]

mod background;
mod bench;
mod command;
mod fuzz;
mod order;
mod packages;
mod programs;
mod soak;
mod test;
mod tidy;

use std::process::ExitCode;

/// Exit code where the words are wrong.
const USAGE_ERROR: u8 = 2;

/// A chore, by its words.
struct Chore {
    words: &'static [&'static str],
    /// What it takes behind them.
    takes: &'static str,
    /// What it does, and what each of its options means.
    says: &'static str,
    run: fn(&[&str]) -> Result<(), Failure>,
}

/// Why a chore was not done.
#[derive(Debug)]
enum Failure {
    /// Its words are wrong.
    Usage(String),
    /// It went wrong.
    Work(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Work(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Work(message.to_owned())
    }
}

/// Longer words first: the first that fits is meant.
const CHORES: [Chore; 9] = [
    Chore {
        words: &["test"],
        takes: "",
        says: "install what the tests need (as root), then run every check and test",
        run: |_| Ok(test::run()?),
    },
    Chore {
        words: &["tidy"],
        takes: "",
        says: "check the invariants of ARCHITECTURE.md that a program can check",
        run: |_| Ok(tidy::run()?),
    },
    Chore {
        words: &["bench", "sim"],
        takes: " [OPTIONS]",
        says: "measure the simulator's speed; raw data under benches/runs/
    --rounds N     rounds of each case (5)
    --only NAME    cases whose name holds this",
        run: bench::sim,
    },
    Chore {
        words: &["bench", "serve"],
        takes: " [OPTIONS]",
        says: "measure served storage beside its peers, as root; raw data under benches/runs/
    --rounds N     rounds of each row (5)
    --seconds N    seconds of each (3)
    --only NAME    rows whose name holds this",
        run: bench::serve,
    },
    Chore {
        words: &["bench", "vdbench"],
        takes: " --vdbench PATH [OPTIONS]",
        says: "measure Fathom against Vdbench, interleaved; raw data under benches/runs/
    --vdbench PATH    the script that starts it
    --rounds N        rounds of each case (5)
    --seconds N       seconds of each (4), the first of which is in no average
    --dir DIR         where the files are (the build folder)
    --only NAME       cases whose name holds this",
        run: bench::vdbench,
    },
    Chore {
        words: &["bench"],
        takes: " [OPTIONS]",
        says: "measure Fathom against fio, interleaved; raw data under benches/runs/
    --rounds N           rounds of each case (5)
    --seconds N          seconds of each (3); what waits for a disk has as many rounds of one second
    --dir DIR            where the file is (the build folder)
    --fio PATH           fio
    --t-io-uring PATH    fio's speed demo, as a third party
    --only NAME          cases whose name holds this",
        run: bench::run,
    },
    Chore {
        words: &["fuzz"],
        takes: " [OPTIONS] [READER]...",
        says: "feed the readers of inputs with damaged ones; all readers where none is named
    --minutes N    for each reader (10)
    --seed N       another choice of damage",
        run: fuzz::run,
    },
    Chore {
        words: &["soak"],
        takes: " [guide] [crashes] [database] [crowd]",
        says: "the long forms of tests of served storage, as root; all where none is named",
        run: soak::run,
    },
    Chore {
        words: &["order"],
        takes: "",
        says: "note anew which functions small jobs call: they stand together in releases (crates/cli/order.txt)",
        run: |_| Ok(order::run()?),
    },
];

impl Chore {
    fn usage(&self) -> String {
        let (words, takes, says) = (self.words.join(" "), self.takes, self.says);
        format!("usage: cargo xtask {words}{takes}\n  {says}")
    }
}

/// All chores, a line each.
fn usage() -> String {
    let lines = CHORES.iter().map(|chore| {
        let first = chore.says.lines().next().unwrap_or_default();
        format!("\n  {:<12} {first}", chore.words.join(" "))
    });
    let lines: String = lines.collect();
    format!("usage: cargo xtask CHORE [OPTIONS] (`cargo xtask CHORE --help`: its options){lines}")
}

/// What some words ask for.
enum Asked<'a> {
    Help(String),
    Chore(&'static Chore, &'a [&'a str]),
    Wrong(String),
}

fn asked<'a>(words: &'a [&'a str]) -> Asked<'a> {
    let is_help = |word: &&str| matches!(*word, "--help" | "-h");
    let Some(chore) = CHORES.iter().find(|chore| words.starts_with(chore.words)) else {
        return match words {
            [] => Asked::Wrong(usage()),
            ["help"] => Asked::Help(usage()),
            [first, ..] if is_help(first) => Asked::Help(usage()),
            [first, ..] => Asked::Wrong(format!("`{first}` is no chore\n{}", usage())),
        };
    };
    let options = &words[chore.words.len()..];
    if options.iter().any(is_help) {
        return Asked::Help(chore.usage());
    }
    match options {
        [first, ..] if chore.takes.is_empty() => {
            let words = chore.words.join(" ");
            Asked::Wrong(format!(
                "`{words}` does not take `{first}`\n{}",
                chore.usage()
            ))
        }
        _ => Asked::Chore(chore, options),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match asked(&words) {
        Asked::Help(text) => {
            println!("{text}");
            Ok(())
        }
        Asked::Wrong(text) => {
            eprintln!("{text}");
            return ExitCode::from(USAGE_ERROR);
        }
        Asked::Chore(chore, options) => (chore.run)(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Work(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            eprintln!("{message}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: &str) {
        let found = match asked(words) {
            Asked::Help(text) => format!("help: {text}"),
            Asked::Wrong(text) => format!("wrong: {text}"),
            Asked::Chore(chore, options) => format!("{} with {options:?}", chore.words.join(" ")),
        };
        assert!(found.starts_with(expected), "{words:?}: {found}");
    }

    #[test]
    fn every_chore_tells_of_itself() {
        for chore in &CHORES {
            let expected = format!("help: usage: cargo xtask {}", chore.words.join(" "));
            for help in ["--help", "-h"] {
                check(&[chore.words, &[help]].concat(), &expected);
            }
            assert!(usage().contains(&chore.words.join(" ")));
        }
        check(
            &["bench", "--rounds", "1", "--help"],
            "help: usage: cargo xtask bench [",
        );
        for words in [["--help"], ["-h"], ["help"]] {
            check(&words, "help: usage: cargo xtask CHORE");
        }
    }

    /// Before anything is built or measured.
    #[test]
    fn options_of_a_chore_are_looked_at_first() {
        for words in [
            &["bench", "--roundz", "1"][..],
            &["bench", "--rounds", "x"],
            &["bench", "--rounds"],
            &["bench", "sim", "--seconds", "1"],
            &["bench", "serve", "--rounds", "0"],
            &["fuzz", "--minute", "1"],
            &["fuzz", "--minutes", "many"],
            &["soak", "crowds"],
        ] {
            let Asked::Chore(chore, options) = asked(words) else {
                panic!("{words:?} ask for a chore");
            };
            let failure = (chore.run)(options);
            assert!(
                matches!(failure, Err(Failure::Usage(_))),
                "{words:?}: {failure:?}"
            );
        }
    }

    #[test]
    fn words_choose_a_chore() {
        check(&["bench", "--only", "x"], "bench with [\"--only\", \"x\"]");
        check(&["bench", "sim"], "bench sim with []");
        check(&["soak", "guide"], "soak with [\"guide\"]");
        check(&["tidy"], "tidy with []");
        check(
            &["tidy", "up"],
            "wrong: `tidy` does not take `up`\nusage: cargo xtask tidy",
        );
        check(
            &["dance"],
            "wrong: `dance` is no chore\nusage: cargo xtask CHORE",
        );
        check(&[], "wrong: usage: cargo xtask CHORE");
    }
}
