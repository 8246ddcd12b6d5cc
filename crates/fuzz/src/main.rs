//! The process that feeds one reader, under whatever limits its parent has set: `cargo xtask fuzz` and the tests start it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the developer who runs it"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use fathom_fuzz::{Campaign, PARSERS, TIME_MAX, folder, parser, read_once, replay};

const USAGE: &str = "usage: fathom-fuzz list | read PARSER FILE | replay PARSER | run PARSER SECONDS SEED CURRENT-FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["list"] => {
            for parser in PARSERS {
                println!("{}", parser.name);
            }
            Ok(())
        }
        ["read", name, path] => read(name, path),
        ["replay", name] => parser(name)
            .ok_or_else(|| format!("no parser `{name}`"))
            .and_then(replay)
            .map(|count| println!("{name}: {count} inputs read")),
        ["run", name, seconds, seed, current] => run(name, seconds, seed, current),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Reads one input, and says how long that took.
fn read(name: &str, path: &str) -> Result<(), String> {
    let parser = parser(name).ok_or_else(|| format!("no parser `{name}`"))?;
    let input = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let (result, taken) = read_once(parser, &input);
    println!("{name}: {} bytes in {taken:?}", input.len());
    // A program without optimisation is some times slower than the one that campaigns time.
    let most = TIME_MAX * if cfg!(debug_assertions) { 5 } else { 1 };
    if taken > most {
        return Err(format!("{name}: {taken:?} is too long"));
    }
    result
}

fn run(name: &str, seconds: &str, seed: &str, current: &str) -> Result<(), String> {
    let parser = parser(name).ok_or_else(|| format!("no parser `{name}`"))?;
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let campaign = Campaign {
        length: Duration::from_secs(number(seconds)?),
        seed: number(seed)?,
        folder: folder(name),
        current: PathBuf::from(current),
    };
    let summary = campaign.run(parser)?;
    println!(
        "{name}: {} inputs read, {} ways through met, {} inputs kept, {} findings",
        summary.inputs,
        summary.features,
        summary.added,
        summary.found.len()
    );
    for found in &summary.found {
        println!("  {:?}: {}", found.finding, found.path.display());
    }
    if summary.found.is_empty() {
        Ok(())
    } else {
        Err(format!("{name}: the inputs above must be answered"))
    }
}
