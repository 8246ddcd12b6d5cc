//! What a trivial job costs: time from start to end, and memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use wait4::Wait4 as _;

use super::ratios::Spread;

const ROUNDS: usize = 11;

/// Milliseconds from start to end, and MB resident at most.
fn once(program: &str, words: &[&str]) -> Result<(f64, f64), String> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    #[expect(clippy::disallowed_methods, reason = "a chore times whole programs")]
    let begun = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{command:?} did not start: {error}"))?;
    let used = child
        .wait4()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let took = begun.elapsed();
    if !used.status.success() {
        return Err(format!("{command:?} failed: {}", used.status));
    }
    Ok((took.as_secs_f64() * 1e3, used.rusage.maxrss as f64 / 1e6))
}

/// A program's figures over some rounds: time, memory.
pub fn spreads(program: &str, words: &[&str], rounds: usize) -> Result<(Spread, Spread), String> {
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (took, resident) = once(program, words)?;
        times.push(took);
        memory.push(resident);
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
