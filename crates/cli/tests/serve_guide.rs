//! The 2016 guide, live: its own job files, run by fio against the served DS14 at a tenth of its rates.
//!
//! fio's NBD engine is the client; files are made to fit this machine and were never larger than what is served. Beside
//! what fio measured stand the prediction of the same job at the same scale, and the guide's figure times that.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a soak shows its table")]

mod live;
mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use live::{Served, Shown, open_folder, soaking};
use serde_json::Value;
use support::{example, expect_code, system};

/// What every rate is multiplied by.
const SCALE: f64 = 0.1;
/// MiB of each of the jobs' files, in place of 30 GiB.
const FILE_MIB: usize = 64;

/// A job file of the guide, and what the guide measured by it.
struct Job {
    name: &'static str,
    published: f64,
}

/// I/Os a second.
struct Row {
    predicted: f64,
    served: f64,
}

/// The job with its open rates at the scale.
fn scaled(job: &str) -> String {
    let lines = job
        .lines()
        .map(|line| match line.strip_prefix("rate_iops=") {
            Some(rate) => format!("rate_iops={}\n", rate.parse::<f64>().unwrap() * SCALE),
            None => format!("{line}\n"),
        });
    lines.collect()
}

/// The job for fio's NBD engine: each file is a part of its volume's export.
fn over_nbd(job: &str, served: &Served, seconds: u32) -> String {
    let mut text = String::new();
    let mut files = 0;
    for line in job.lines() {
        match line.split_once('=') {
            Some(("size", _)) => writeln!(text, "size={FILE_MIB}m").unwrap(),
            Some(("ioengine", _)) => {
                let times = format!("time_based\nruntime={seconds}\nramp_time=3");
                writeln!(text, "ioengine=nbd\nnorandommap\n{times}").unwrap();
            }
            Some(("directory", place)) => {
                let export = place.strip_prefix("/mnt/").unwrap();
                let offset = files % 4 * FILE_MIB;
                files += 1;
                writeln!(text, "uri={}\noffset={offset}m", served.uri(export)).unwrap();
            }
            _ => writeln!(text, "{line}").unwrap(),
        }
    }
    text
}

/// Writes all that the jobs may read: bytes are charged alike whether they were written or not, and a guide's files were.
fn lay_out(served: &Served) {
    for export in ["readcache", "nocache"] {
        let connect = format!(
            "import nbd; h = nbd.NBD(); h.connect_uri('{}')",
            served.uri(export)
        );
        let write = "h.pwrite(bytes(range(256)) * 4096 * 16, i * 16 << 20)";
        let script = format!(
            "{connect}\nfor i in range({}):\n    {write}\n",
            FILE_MIB * 4 / 16
        );
        system("/usr/bin/python3", &["-c", &script]);
    }
}

/// What all jobs did together by fio's own account.
fn measured(home: &Path) -> f64 {
    let told = Command::new("fio")
        .args(["live.ini", "--output-format=json"])
        .current_dir(home)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&told.stdout);
    let json = text.find('{').map(|start| &text[start..]);
    let document: Value = serde_json::from_str(json.expect("fio's results")).unwrap();
    let jobs = document["jobs"].as_array().unwrap().iter();
    let rates = jobs.flat_map(|job| [&job["read"]["iops"], &job["write"]["iops"]]);
    rates.filter_map(Value::as_f64).sum()
}

fn run(job: &Job, seconds: u32) -> Row {
    let folder = open_folder();
    let home = folder.path();
    let design = example("guide-2016/ds14.design.toml");
    let text = std::fs::read_to_string(example(&format!("guide-2016/{}", job.name))).unwrap();
    let text = scaled(&text);
    std::fs::write(home.join("predicted.ini"), &text).unwrap();
    let scale = SCALE.to_string();
    let words = [
        "predict",
        "--on",
        &design,
        "--scale",
        &scale,
        "--json",
        "--no-record",
    ];
    let words = [&words[..], &["fio", "--runtime", "30", "predicted.ini"]].concat();
    let (record, _) = expect_code(home, &words, 0);
    let record: Value = serde_json::from_str(&record).unwrap();
    let predicted = record["stages"][0]["total"]["all"]["iops"].as_f64();

    let design = Path::new(&design);
    let served = Served::start(home, design, Shown::Exports, &["--scale", &scale]);
    if soaking() {
        lay_out(&served);
    }
    std::fs::write(home.join("live.ini"), over_nbd(&text, &served, seconds)).unwrap();
    let found = measured(home);
    let record = served.stop();
    let error = &record["stages"][0]["emulation"]["error_ns"];
    let row = Row {
        predicted: predicted.unwrap(),
        served: found,
    };
    println!(
        "| `{}` | {:.0} | {:.0} | {:+.2} % | {:.0} | {} µs |",
        job.name,
        row.predicted,
        row.served,
        100.0 * (row.served / row.predicted - 1.0),
        job.published * SCALE,
        error["p99"].as_u64().unwrap() / 1000,
    );
    row
}

/// What is served is what was predicted: within 1 % where time is given for it. In a short run on a machine with other work
/// clients may be late, which nobody makes good; more than the limits is never served.
#[test]
fn the_guides_jobs_give_what_is_predicted() {
    let jobs = [
        ("fiowrite.ini", 50_000.0),
        ("fioread.ini", 64_000.0),
        ("fioreadwrite.ini", 100_000.0),
    ];
    let (seconds, short_of) = if soaking() { (30, 0.01) } else { (3, 0.25) };
    println!("| job file | predicted | served | difference | guide × {SCALE} | error, p99 |");
    println!("|---|---|---|---|---|---|");
    for (name, published) in jobs {
        if !soaking() && name == "fioread.ini" {
            continue;
        }
        let Row { predicted, served } = run(&Job { name, published }, seconds);
        let near = predicted * (1.0 - short_of)..=predicted * 1.01;
        assert!(near.contains(&served), "{name}: {served}, not {near:?}");
    }
}
