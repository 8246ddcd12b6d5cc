//! What `--idle-prof` shows: how long processors were idle.
//!
//! fio lets a thread of the lowest priority count how often it can do a piece of work on each processor; here the kernel's
//! own count is taken, which keeps no processor from sleeping. So there is no piece of work whose length could be told.

use std::fmt::Write as _;

use super::FioRun;
use super::json_text::{Json, pair};
use crate::fio::input::{FioInput, IdleProfile};

/// The figures, where they are asked for and known: all processors', and each one's by number.
fn figures<'a>(input: &FioInput, run: &FioRun<'a>) -> Option<(f64, &'a [(u32, f64)])> {
    let asked = input.output.idle?;
    if run.idle.is_empty() {
        return None;
    }
    let sum: f64 = run.idle.iter().map(|(_, idle)| idle).sum();
    let each = match asked {
        IdleProfile::System => &[],
        IdleProfile::PerProcessor => run.idle,
    };
    Some((sum / run.idle.len() as f64, each))
}

/// The key `cpu_idleness`.
pub fn key(input: &FioInput, run: &FioRun<'_>) -> Option<(String, Json)> {
    let (system, each) = figures(input, run)?;
    let mut pairs = vec![pair("system", Json::Fraction(system))];
    for (number, idle) in each {
        pairs.push((format!("cpu-{number}"), Json::Fraction(*idle)));
    }
    pairs.push(pair("unit_mean", Json::Fraction(0.0)));
    pairs.push(pair("unit_stddev", Json::Fraction(0.0)));
    Some(pair("cpu_idleness", Json::Object(pairs)))
}

/// The lines of the text.
pub fn lines(input: &FioInput, run: &FioRun<'_>) -> String {
    let Some((system, each)) = figures(input, run) else {
        return String::new();
    };
    let mut text = format!("\nCPU idleness:\n  system: {system:3.2}%\n");
    if !each.is_empty() {
        let each: Vec<_> = each
            .iter()
            .map(|(_, idle)| format!("{idle:3.2}%"))
            .collect();
        let _ = writeln!(text, "  percpu: {}", each.join(", "));
    }
    text
}
