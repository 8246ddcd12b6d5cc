//! `cargo xtask bench sim`: how many I/Os a second the simulator predicts on one core, and in how much memory.
//!
//! Each case is a whole `fathom predict --json`: reading, building the model, simulating with full recording, writing the
//! record. Rates go by the processor time of the process, which a busy machine disturbs less than the time on the wall; both
//! are printed and kept. Rounds go through all cases in turn, so that a machine that slows down slows every case.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use wait4::Wait4 as _;

use super::ratios::Spread;
use crate::Failure;
use crate::command::{self, root};

/// A prediction whose speed is measured.
struct Case {
    name: &'static str,
    /// Design and workload, from the root of the sources.
    design: &'static str,
    workload: &'static str,
}

const CASES: [Case; 9] = [
    Case {
        name: "guide 2016, writes: ten striped disks, 1,024 outstanding",
        design: "examples/guide-2016/ds14.design.toml",
        workload: "examples/guide-2016/fiowrite.ini",
    },
    Case {
        name: "guide 2016, reads: warm cache, 1,024 outstanding",
        design: "examples/guide-2016/ds14.design.toml",
        workload: "examples/guide-2016/fioread.ini",
    },
    Case {
        name: "guide 2016, throughput: both at once",
        design: "examples/guide-2016/ds14.design.toml",
        workload: "examples/guide-2016/fiothroughput.ini",
    },
    Case {
        name: "guide 2016, reads and paced writes",
        design: "examples/guide-2016/ds14.design.toml",
        workload: "examples/guide-2016/fioreadwrite.ini",
    },
    Case {
        name: "guide 2021, writes: three striped disks",
        design: "examples/guide-2021/d8ds_v4.design.toml",
        workload: "examples/guide-2021/fiowrite.ini",
    },
    Case {
        name: "guide 2021, reads: warm cache",
        design: "examples/guide-2021/d8ds_v4.design.toml",
        workload: "examples/guide-2021/fioread.ini",
    },
    Case {
        name: "a cache of 576 GB that warms up",
        design: "benches/sim/warming.design.toml",
        workload: "benches/sim/warming.workload.toml",
    },
    Case {
        name: "a cache of 4,224 GB that files fill",
        design: "benches/sim/largest.design.toml",
        workload: "benches/sim/largest.workload.toml",
    },
    Case {
        name: "24 machines on six NFS volumes, 3,600 outstanding, 11 minutes",
        design: "examples/anf-2019/anf-24-near.design.toml",
        workload: "examples/anf-2019/RndRead.workload.toml",
    },
];

/// One run of a case.
struct Sample {
    ios: f64,
    /// Seconds of processor time, user and system.
    processor: f64,
    /// Seconds on the wall.
    wall: f64,
    /// Bytes resident at most.
    resident: f64,
}

/// Runs every case. Options: `--rounds N` (5), `--only PART-OF-A-NAME`.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let (rounds, only) = parse(options).map_err(Failure::Usage)?;
    let fathom = command::release_binary()?;
    let mut rows = Vec::new();
    // A case is its own peer: its rounds follow one another, and it is told as soon as it is done.
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let samples: Result<Vec<_>, _> = (0..rounds).map(|_| once(&fathom, case)).collect();
        rows.push(report(case, &samples?));
    }
    Ok(super::save(&[], &rows)?)
}

fn parse(options: &[&str]) -> Result<(usize, String), String> {
    let (mut rounds, mut only) = (5, String::new());
    for pair in options.chunks(2) {
        match pair {
            ["--rounds", value] => {
                rounds = value
                    .parse()
                    .map_err(|error| format!("`{value}`: {error}"))?;
            }
            ["--only", value] => (*value).clone_into(&mut only),
            other => {
                return Err(format!(
                    "unknown options {other:?}; known: --rounds N, --only NAME"
                ));
            }
        }
    }
    Ok((rounds, only))
}

fn once(fathom: &Path, case: &Case) -> Result<Sample, String> {
    let out = root().join("target/bench-sim.json");
    let file =
        std::fs::File::create(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut command = Command::new(fathom);
    command.args(["predict", "--quiet", "--json", "--no-record", "--on"]);
    command.args([root().join(case.design), root().join(case.workload)]);
    command.stdin(Stdio::null()).stdout(file);
    #[expect(clippy::disallowed_methods, reason = "a chore times whole programs")]
    let begun = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{command:?} did not start: {error}"))?;
    let used = child
        .wait4()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let wall = begun.elapsed().as_secs_f64();
    // A check that fails is no matter here, a prediction that fails is.
    if !used.status.success() {
        return Err(format!("{command:?} failed: {}", used.status));
    }
    Ok(Sample {
        ios: ios_of(&out)?,
        processor: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        wall,
        resident: used.rusage.maxrss as f64,
    })
}

/// All I/Os of a record.
fn ios_of(path: &Path) -> Result<f64, String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let record: Value = serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
    let stages = record["stages"].as_array().map_or(&[][..], Vec::as_slice);
    let ios = stages.iter().map(|stage| &stage["total"]["all"]["ios"]);
    Ok(ios.filter_map(Value::as_f64).sum())
}

fn print(what: &str, spread: Spread) {
    let Spread {
        least,
        median,
        most,
    } = spread;
    println!("  {median:8.2} ({least:.2} to {most:.2}) {what}");
}

fn report(case: &Case, samples: &[Sample]) -> Value {
    let spread = |figure: &dyn Fn(&Sample) -> f64| Spread::of(samples.iter().map(figure).collect());
    let rate = spread(&|sample| sample.ios / sample.processor / 1e6);
    let wall = spread(&|sample| sample.ios / sample.wall / 1e6);
    let resident = spread(&|sample| sample.resident / 1e6);
    let ios = samples.first().map_or(0.0, |sample| sample.ios);
    println!("{}", case.name);
    println!("  {:.1} million I/Os", ios / 1e6);
    print("M I/Os a second of processor time", rate);
    print("M I/Os a second on the wall", wall);
    print("MB resident at most", resident);
    let raw = samples.iter().map(|sample| {
        json!({
            "ios": sample.ios,
            "processor_s": sample.processor,
            "wall_s": sample.wall,
            "resident_bytes": sample.resident,
        })
    });
    json!({
        "name": case.name,
        "design": PathBuf::from(case.design),
        "workload": PathBuf::from(case.workload),
        "mega_ios_per_processor_sec": rate.median,
        "resident_mb": resident.median,
        "rounds": raw.collect::<Vec<_>>(),
    })
}
