//! `cargo xtask bench`: Fathom against Debian's fio, interleaved, as ratios with their spread.
//!
//! Both programs get the same arguments on the same file; rounds alternate which goes first, so that a machine that
//! slows down slows both. Absolute figures of a shared machine mean little; the ratio of neighbours does. Where the path
//! of fio's own speed demo (`t/io_uring` of its source tree, which records no latency) is given, it takes part too.
//!
//! `cargo xtask bench sim` measures the simulator instead, `cargo xtask bench serve` served storage, and `cargo xtask bench
//! vdbench` Fathom beside Vdbench.

mod cases;
mod plan;
mod ratios;
mod sample;
mod serve;
mod sim;
mod start_up;
mod user_samples;
mod vdbench;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use self::cases::{CASES, Case, Data};
use self::sample::Sample;
pub use self::serve::run as serve;
pub use self::sim::run as sim;
pub use self::vdbench::run as vdbench;
use crate::Failure;
use crate::command::{self, root};
use crate::order;

/// What a run of the bench goes by.
struct Options {
    rounds: usize,
    seconds: usize,
    folder: PathBuf,
    /// fio, by its name or path.
    fio: String,
    /// fio's speed demo.
    demo: Option<String>,
    /// Only cases whose name holds this.
    only: String,
}

/// One round of a case.
struct Round {
    ours: Sample,
    theirs: Sample,
    beside_demo: Option<BesideDemo>,
}

/// What takes part where fio's speed demo does: it draws each place anew, so blocks come again while they are in a cache of the
/// processor, and Fathom's job for it does the same.
struct BesideDemo {
    ours: Sample,
    /// Of each set of arguments that may be the demo's best.
    demos: Vec<sample::Demo>,
}

/// Runs every case.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let options = parse(options).map_err(Failure::Usage)?;
    let fathom = command::release_binary()?;
    if let Err(stale) = order::check(&fathom.display().to_string()) {
        eprintln!("note: {stale}");
    }
    let file = options.folder.join("fathom-bench.dat");
    let path = file.display().to_string();
    lay_out(&options.fio, &path, "1g")?;
    let mut rows = Vec::new();
    for case in CASES
        .iter()
        .filter(|case| case.name.contains(&options.only))
    {
        let rounds = rounds(case, &options, &fathom.display().to_string(), &path)?;
        rows.push(ratios::report(case, &rounds));
    }
    if "start-up".contains(&options.only) {
        rows.push(start_up::measure(
            &fathom.display().to_string(),
            &options.fio,
        )?);
    }
    if "plan".contains(&options.only) {
        rows.push(plan::measure(&fathom.display().to_string())?);
    }
    std::fs::remove_file(&file).map_err(|error| format!("{path}: {error}"))?;
    let version = command::output(&options.fio, &["--version"])?;
    Ok(save(&[("fio", Value::from(version.trim()))], &rows)?)
}

fn rounds(case: &Case, options: &Options, fathom: &str, path: &str) -> Result<Vec<Round>, String> {
    let (count, seconds) = case.rounds(options.rounds, options.seconds);
    // Every page is read once before every run, so that none is missing when it counts: the kernel may have taken some back.
    let warmed = || match case.data {
        Data::Hot => warm(path),
        Data::None | Data::Direct => Ok(()),
    };
    let sampled = case.samples_user_time() && user_samples::can_sample();
    if case.samples_user_time() && !sampled {
        println!("(perf cannot sample here: user time is told by the kernel's ticks)");
    }
    let measure = |mut program: Command, words: &[&str], round| {
        program.args(words);
        if let Some(processor) = case.processor(round) {
            program.arg(format!("--cpus_allowed={processor}"));
        }
        if sampled {
            sample::measure_sampled(&program, case, path, seconds)
        } else {
            sample::measure(&mut program, case, path, seconds)
        }
    };
    let ours = |round, more: &[&str]| {
        warmed()?;
        match case.native {
            Some(keys) => sample::native(fathom, keys, path, seconds),
            None => measure(Command::new(fathom), &[&["fio"], more].concat(), round),
        }
    };
    let theirs = |round| {
        warmed()?;
        measure(Command::new(&options.fio), &[], round)
    };
    let beside_demo = |round| -> Result<Option<BesideDemo>, String> {
        let (Some(program), false) = (&options.demo, case.demo.is_empty()) else {
            return Ok(None);
        };
        let alike = || ours(round, &["--norandommap"]);
        let early = (round % 2 == 0).then(alike).transpose()?;
        let each = case.demo.iter().map(|arguments| {
            warmed()?;
            sample::demo(program, arguments, path, seconds)
        });
        let demos = each.collect::<Result<_, _>>()?;
        let ours = early.map_or_else(alike, Ok)?;
        Ok(Some(BesideDemo { ours, demos }))
    };
    let mut rounds = Vec::new();
    for round in 0..count {
        rounds.push(if round % 2 == 0 {
            Round {
                ours: ours(round, &[])?,
                theirs: theirs(round)?,
                beside_demo: beside_demo(round)?,
            }
        } else {
            let (beside_demo, theirs) = (beside_demo(round)?, theirs(round)?);
            let ours = ours(round, &[])?;
            Round {
                ours,
                theirs,
                beside_demo,
            }
        });
    }
    Ok(rounds)
}

/// Reads a whole file.
fn warm(path: &str) -> Result<(), String> {
    let mut file = std::fs::File::open(path).map_err(|error| format!("{path}: {error}"))?;
    std::io::copy(&mut file, &mut std::io::sink())
        .map(drop)
        .map_err(|error| format!("{path}: {error}"))
}

fn parse(options: &[&str]) -> Result<Options, String> {
    let mut parsed = Options {
        rounds: 5,
        seconds: 3,
        folder: root().join("target"),
        fio: "fio".to_owned(),
        demo: None,
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
            ["--fio", value] => (*value).clone_into(&mut parsed.fio),
            ["--t-io-uring", value] => parsed.demo = Some((*value).to_owned()),
            ["--only", value] => (*value).clone_into(&mut parsed.only),
            other => {
                return Err(format!(
                    "unknown options {other:?}; known: --rounds N, --seconds N, --dir DIR, --fio PATH, \
                     --t-io-uring PATH, --only NAME"
                ));
            }
        }
    }
    Ok(parsed)
}

/// Has fio write a file of that size.
fn lay_out(fio: &str, path: &str, size: &str) -> Result<(), String> {
    let file = format!("--filename={path}");
    let size = format!("--size={size}");
    let layout = [
        "--name=layout",
        &file,
        &size,
        "--rw=write",
        "--bs=1m",
        "--direct=1",
        "--end_fsync=1",
    ];
    command::output(fio, &layout).map(drop)
}

/// Keeps what was measured, with the machine and the versions of the programs it was measured against.
fn save(programs: &[(&str, Value)], rows: &[Value]) -> Result<(), String> {
    let stamp = command::output("date", &["-u", "+%Y-%m-%dT%H-%M-%SZ"])?
        .trim()
        .to_owned();
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of_processor = |key: &str| {
        let mut lines = processors.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| name.trim() == key);
        found.map_or("", |(_, value)| value.trim()).to_owned()
    };
    let mut document = json!({
        "date": stamp,
        "kernel": command::output("uname", &["-r"])?.trim(),
        "processor": of_processor("model name"),
        // Of one name there are several, which differ in what they are fast at.
        "processor_family": of_processor("cpu family"),
        "processor_model": of_processor("model"),
        "processors": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "rows": rows,
    });
    for (program, version) in programs {
        document[*program] = version.clone();
    }
    let path = root().join("benches/runs").join(format!("{stamp}.json"));
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    println!("raw data: {}", path.display());
    Ok(())
}
