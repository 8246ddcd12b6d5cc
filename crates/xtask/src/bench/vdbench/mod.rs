//! `cargo xtask bench vdbench`: Fathom against Oracle's Vdbench, interleaved, as ratios with their spread.
//!
//! Both programs run the same parameter file on the same files, and both print the average lines that the figures are read
//! from; rounds alternate which goes first. Processor time is that of the whole machine, as both tell it for the averaged
//! intervals, so that the start of Java's machine is in none of it. Vdbench is not part of Debian: its path is given.

mod cases;
mod lines;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use self::cases::{CASES, Case};
use self::lines::Average;
use super::cases::Data;
use super::ratios::Spread;
use crate::Failure;
use crate::command::{self, root};

/// What a run goes by.
struct Options {
    rounds: usize,
    seconds: usize,
    folder: PathBuf,
    /// The script that starts Vdbench.
    vdbench: String,
    /// Only cases whose name holds this.
    only: String,
}

/// What both did in one round.
struct Round {
    ours: Average,
    theirs: Average,
}

/// Runs every case.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let options = parse(options).map_err(Failure::Usage)?;
    let fathom = command::release_binary()?;
    let fathom = fathom.to_str().ok_or("the program's path is no UTF-8")?;
    let folder = tempfile::Builder::new()
        .prefix("fathom-bench-vdbench.")
        .tempdir_in(&options.folder)
        .map_err(|error| format!("{}: {error}", options.folder.display()))?;
    for name in cases::DISKS {
        super::lay_out(
            "fio",
            &folder.path().join(name).display().to_string(),
            "256m",
        )?;
    }
    let mut rows = Vec::new();
    let asked = CASES.iter().filter(|it| it.name.contains(&options.only));
    for case in asked {
        rows.push(row(case, &options, fathom, folder.path())?);
    }
    if rows.is_empty() {
        return Err(Failure::Usage(format!("no case holds `{}`", options.only)));
    }
    let version = version(&options.vdbench)?;
    Ok(super::save(&[("vdbench", Value::from(version))], &rows)?)
}

/// All rounds of a case, printed and given.
fn row(case: &Case, options: &Options, fathom: &str, folder: &Path) -> Result<Value, String> {
    println!("{}", case.name);
    let file = folder.join("parameters");
    let text = case.parameters(folder, options.seconds);
    std::fs::write(&file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
    let measure = |program: &mut Command| {
        // Every page is read once before every run, so that none is missing when it counts.
        if case.data == Data::Hot {
            for name in cases::DISKS {
                super::warm(&folder.join(name).display().to_string())?;
            }
        }
        average(program, case, &file, folder)
    };
    let ours = || measure(Command::new(fathom).arg("vdbench"));
    let theirs = || measure(&mut Command::new(&options.vdbench));
    let mut rounds = Vec::new();
    for round in 0..options.rounds {
        rounds.push(if round % 2 == 0 {
            let ours = ours()?;
            Round {
                ours,
                theirs: theirs()?,
            }
        } else {
            let theirs = theirs()?;
            Round {
                ours: ours()?,
                theirs,
            }
        });
    }
    let ratio = |figure: fn(&Average) -> f64| {
        let each = rounds
            .iter()
            .map(|it| figure(&it.ours) / figure(&it.theirs));
        Spread::of(each.collect())
    };
    let (rate, processor) = (ratio(|it| it.rate), ratio(Average::processor_ns));
    line(
        "rate, × Vdbench",
        rate,
        "≥",
        case.rate,
        rate.median >= case.rate,
    );
    let less = processor.median <= case.processor;
    line(
        "processor time, × Vdbench",
        processor,
        "≤",
        case.processor,
        less,
    );
    let list = |of: fn(&Round) -> &Average, figure: fn(&Average) -> f64| {
        let each = rounds.iter().map(|it| figure(of(it)));
        each.collect::<Vec<f64>>()
    };
    let program = |of: fn(&Round) -> &Average| {
        json!({
            "rate": list(of, |it| it.rate),
            "response_ms": list(of, |it| it.response_ms),
            "processor_ns": list(of, Average::processor_ns),
        })
    };
    Ok(json!({
        "case": case.name,
        "parameters": case.lines,
        "wanted": { "rate": case.rate, "processor": case.processor },
        "fathom": program(|it| &it.ours),
        "vdbench": program(|it| &it.theirs),
    }))
}

fn line(what: &str, spread: Spread, relation: &str, bound: f64, reached: bool) {
    let (least, median, most) = (spread.least, spread.median, spread.most);
    let reached = if reached { "reached" } else { "MISSED" };
    println!(
        "    {what:26} {median:8.2} ({least:.2} to {most:.2})   wanted {relation} {bound:.2}   {reached}"
    );
}

/// Runs a parameter file, and reads the average of its last run.
fn average(
    program: &mut Command,
    case: &Case,
    file: &Path,
    folder: &Path,
) -> Result<Average, String> {
    program.arg("-f").arg(file);
    program.arg("-o").arg(folder.join("output"));
    // What Vdbench leaves where it runs is gone with the folder.
    let output = program
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program:?} did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let average = lines::last_average(&said, case.columns);
    match average {
        Some(average) if output.status.success() => Ok(average),
        _ => Err(format!("{program:?} failed: {}\n{said}", output.status)),
    }
}

/// What Vdbench calls its version: `vdbench50407`.
fn version(vdbench: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut program = Command::new(vdbench);
    program.args(["-t", "-o"]).arg(folder.path().join("output"));
    let output = program
        .current_dir(folder.path())
        .output()
        .map_err(|error| format!("{program:?} did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let named = said.split_once("distribution: ").map(|(_, rest)| rest);
    let version = named.and_then(|rest| rest.split_whitespace().next());
    version
        .map(str::to_owned)
        .ok_or_else(|| format!("{program:?} named no version:\n{said}"))
}

fn parse(options: &[&str]) -> Result<Options, String> {
    let mut parsed = Options {
        rounds: 5,
        seconds: 4,
        folder: root().join("target"),
        vdbench: String::new(),
        only: String::new(),
    };
    for pair in options.chunks(2) {
        let number = |text: &str| text.parse().map_err(|error| format!("`{text}`: {error}"));
        match pair {
            ["--rounds", value] => parsed.rounds = number(value)?,
            ["--seconds", value] => parsed.seconds = number(value)?,
            ["--dir", value] => {
                parsed.folder = std::path::absolute(value)
                    .map_err(|error| format!("--dir {value}: {error}"))?;
            }
            ["--vdbench", value] => parsed.vdbench = absolute(value)?,
            ["--only", value] => (*value).clone_into(&mut parsed.only),
            other => {
                return Err(format!(
                    "unknown options {other:?}; known: --vdbench PATH, --rounds N, --seconds N, --dir DIR, --only NAME"
                ));
            }
        }
    }
    if parsed.vdbench.is_empty() {
        return Err("where Vdbench is must be told: --vdbench PATH/vdbench".to_owned());
    }
    // The first interval is in no average.
    if parsed.seconds < 2 {
        return Err("--seconds must be 2 at least: the first is in no average".to_owned());
    }
    Ok(parsed)
}

/// A path that holds wherever a program is run.
fn absolute(path: &str) -> Result<String, String> {
    let whole = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(whole.display().to_string())
}
