//! `cargo xtask bench`: Fathom against Debian's fio, interleaved, as ratios with their spread.
//!
//! Both programs get the same arguments on the same file; rounds alternate which goes first, so that a machine that
//! slows down slows both. Absolute figures of a shared machine mean little; the ratio of neighbours does.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::command::{self, root};

/// A comparison: its name and the arguments both programs get.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
}

const CASES: [Case; 5] = [
    Case {
        name: "null engine, 4 KiB random read, depth 64",
        arguments: &[
            "--ioengine=null",
            "--iodepth=64",
            "--rw=randread",
            "--size=1g",
        ],
    },
    Case {
        name: "io_uring, direct, 4 KiB random read, depth 32",
        arguments: &[
            "--ioengine=io_uring",
            "--direct=1",
            "--iodepth=32",
            "--rw=randread",
        ],
    },
    Case {
        name: "libaio, direct, 4 KiB random read, depth 32",
        arguments: &[
            "--ioengine=libaio",
            "--direct=1",
            "--iodepth=32",
            "--rw=randread",
        ],
    },
    Case {
        name: "psync, direct, 4 KiB random read",
        arguments: &["--ioengine=psync", "--direct=1", "--rw=randread"],
    },
    Case {
        name: "io_uring, direct, 4 KiB random write, depth 32",
        arguments: &[
            "--ioengine=io_uring",
            "--direct=1",
            "--iodepth=32",
            "--rw=randwrite",
        ],
    },
];

struct Options {
    rounds: usize,
    seconds: usize,
    folder: PathBuf,
}

/// Runs every case; options: `--rounds N` (5), `--seconds N` (3), `--dir DIR` (the build folder).
pub fn run(options: &[&str]) -> Result<(), String> {
    let options = parse(options)?;
    command::run("cargo", &["build", "--release", "--package", "fathom"], &[])?;
    let fathom = root().join("target/release/fathom");
    let file = options.folder.join("fathom-bench.dat");
    let file_argument = format!("--filename={}", file.display());
    lay_out(&file_argument)?;
    let mut rows = Vec::new();
    for case in &CASES {
        let mut pairs = Vec::new();
        for round in 0..options.rounds {
            let ours = || {
                measure(
                    Command::new(&fathom).arg("fio"),
                    case,
                    &file_argument,
                    options.seconds,
                )
            };
            let theirs = || {
                measure(
                    &mut Command::new("fio"),
                    case,
                    &file_argument,
                    options.seconds,
                )
            };
            let (ours, theirs) = if round % 2 == 0 {
                let ours = ours()?;
                (ours, theirs()?)
            } else {
                let theirs = theirs()?;
                (ours()?, theirs)
            };
            pairs.push((ours, theirs));
        }
        rows.push(report(case, &pairs));
    }
    std::fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    save(&rows)
}

fn parse(options: &[&str]) -> Result<Options, String> {
    let mut parsed = Options {
        rounds: 5,
        seconds: 3,
        folder: root().join("target"),
    };
    for pair in options.chunks(2) {
        let number = |text: &str| text.parse().map_err(|error| format!("`{text}`: {error}"));
        match pair {
            ["--rounds", value] => parsed.rounds = number(value)?,
            ["--seconds", value] => parsed.seconds = number(value)?,
            ["--dir", value] => parsed.folder = PathBuf::from(value),
            other => {
                return Err(format!(
                    "unknown options {other:?}; known: --rounds N, --seconds N, --dir DIR"
                ));
            }
        }
    }
    Ok(parsed)
}

fn lay_out(file: &str) -> Result<(), String> {
    let layout = [
        "--name=layout",
        file,
        "--size=1g",
        "--rw=write",
        "--bs=1m",
        "--direct=1",
        "--end_fsync=1",
    ];
    command::output("fio", &layout).map(drop)
}

/// IOPS of one run, from the JSON that both print.
fn measure(program: &mut Command, case: &Case, file: &str, seconds: usize) -> Result<f64, String> {
    let runtime = format!("--runtime={seconds}");
    let common = [
        "--name=bench",
        "--bs=4k",
        "--time_based",
        runtime.as_str(),
        "--output-format=json",
    ];
    program.args(common).args(case.arguments);
    if !case.arguments.contains(&"--ioengine=null") {
        program.args([file, "--size=1g"]);
    }
    let output = program
        .output()
        .map_err(|error| format!("{program:?} did not start: {error}"))?;
    let document: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{program:?} printed no JSON: {error}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let job = &document["jobs"][0];
    let iops = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
    Ok(iops("read") + iops("write"))
}

fn report(case: &Case, pairs: &[(f64, f64)]) -> Value {
    let mut ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    println!(
        "{:50} {median:.2} × fio ({least:.2} to {most:.2})",
        case.name
    );
    json!({
        "case": case.name,
        "arguments": case.arguments,
        "ratio_median": median,
        "iops_fathom": pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(),
        "iops_fio": pairs.iter().map(|pair| pair.1).collect::<Vec<_>>(),
    })
}

fn save(rows: &[Value]) -> Result<(), String> {
    let stamp = command::output("date", &["-u", "+%Y-%m-%dT%H-%M-%SZ"])?
        .trim()
        .to_owned();
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or_default();
    let document = json!({
        "date": stamp,
        "kernel": command::output("uname", &["-r"])?.trim(),
        "processor": processor.trim_start_matches(['\t', ':', ' ']),
        "processors": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "fio": command::output("fio", &["--version"])?.trim(),
        "rows": rows,
    });
    let path = root().join("benches/runs").join(format!("{stamp}.json"));
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    println!("raw data: {}", path.display());
    Ok(())
}
