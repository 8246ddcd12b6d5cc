//! What a trivial job costs: time from start to end, and memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::ratios::Spread;

const ROUNDS: usize = 11;

/// A job of a program, whose own output nobody wants.
fn job(program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Milliseconds from start to end.
fn duration(program: &str, words: &[&str]) -> Result<f64, String> {
    let mut command = job(program, words);
    #[expect(clippy::disallowed_methods, reason = "a chore times whole programs")]
    let begun = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("{command:?} did not start: {error}"))?;
    let took = begun.elapsed();
    if !status.success() {
        return Err(format!("{command:?} failed: {status}"));
    }
    Ok(took.as_secs_f64() * 1e3)
}

/// MB resident at most. Linux counts to a program's own memory that of the program that started it, as it was then: so a
/// small one starts it.
fn resident(program: &str, words: &[&str]) -> Result<f64, String> {
    let mut command = job("time", &["-f", "%M", program]);
    let output = command
        .args(words)
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("{command:?} did not start: {error} (Debian's package `time`)"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let kib: Option<f64> = said.lines().last().and_then(|kib| kib.trim().parse().ok());
    match kib {
        Some(kib) if output.status.success() => Ok(kib * 1024.0 / 1e6),
        _ => Err(format!("{command:?} failed: {}\n{said}", output.status)),
    }
}

/// A program's figures over some rounds: time, memory.
pub fn spreads(program: &str, words: &[&str], rounds: usize) -> Result<(Spread, Spread), String> {
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.push(duration(program, words)?);
        memory.push(resident(program, words)?);
    }
    Ok((Spread::of(times), Spread::of(memory)))
}

/// Prints and gives start-up time and memory of both.
pub fn measure(fathom: &str, fio: &str) -> Result<Value, String> {
    println!("start-up");
    let trivial = ["--name=t", "--ioengine=null", "--size=4k"];
    let ours: Vec<&str> = std::iter::once("fio").chain(trivial).collect();
    let many = [
        "--name=m",
        "--ioengine=null",
        "--size=1g",
        "--numjobs=64",
        "--iodepth=64",
        "--time_based",
        "--runtime=1",
        "--thread",
        "--group_reporting",
    ];
    let ours_many: Vec<&str> = std::iter::once("fio").chain(many).collect();
    let (our_time, our_memory) = spreads(fathom, &ours, ROUNDS)?;
    let (their_time, their_memory) = spreads(fio, &trivial, ROUNDS)?;
    let (_, our_many) = spreads(fathom, &ours_many, 3)?;
    let (_, their_many) = spreads(fio, &many, 3)?;
    let line = |what: &str, ours: Spread, theirs: Spread, wanted: f64| {
        println!(
            "    {what:24} {:8.2} ({:.2} to {:.2})   wanted < {wanted:.0}   {}   (fio {:.1})",
            ours.median,
            ours.least,
            ours.most,
            if ours.median < wanted {
                "reached"
            } else {
                "MISSED"
            },
            theirs.median,
        );
    };
    line("trivial job, ms", our_time, their_time, 10.0);
    line("trivial job, MB", our_memory, their_memory, 8.0);
    line("64 workers, MB", our_many, their_many, 20.0);
    let both = |ours: Spread, theirs: Spread| json!({"fathom": [ours.least, ours.median, ours.most], "fio": [theirs.least, theirs.median, theirs.most]});
    Ok(json!({
        "case": "start-up",
        "trivial_job_ms": both(our_time, their_time),
        "trivial_job_mb": both(our_memory, their_memory),
        "workers_64_mb": both(our_many, their_many),
    }))
}
