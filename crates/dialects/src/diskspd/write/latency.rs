//! The tables of latency percentiles (`-L`).

use std::fmt::Write as _;

use fathom_record::WorkerStats;
use fathom_stats::Histogram;

use super::super::DiskspdInput;
use super::DiskspdRun;
use super::tables::{Sum, Ways, rows};

/// Names and percentiles of the rows; the first is the minimum.
const ROWS: [(&str, f64); 15] = [
    ("min", 0.0),
    ("25th", 25.0),
    ("50th", 50.0),
    ("75th", 75.0),
    ("90th", 90.0),
    ("95th", 95.0),
    ("99th", 99.0),
    ("3-nines", 99.9),
    ("4-nines", 99.99),
    ("5-nines", 99.999),
    ("6-nines", 99.9999),
    ("7-nines", 99.999_99),
    ("8-nines", 99.999_999),
    ("9-nines", 99.999_999_9),
    ("max", 100.0),
];

/// One table a target where there are several, and that of all.
pub fn write(text: &mut String, input: &DiskspdInput, run: &DiskspdRun<'_>) {
    let rows = rows(input, run);
    let workers = |target: Option<usize>| {
        let chosen = rows
            .iter()
            .filter(move |(row, _, _)| target.is_none_or(|one| one == row.target));
        chosen.map(|(_, worker, _)| *worker).collect::<Vec<_>>()
    };
    if input.targets.len() > 1 {
        for (index, path) in input.targets.iter().enumerate() {
            let _ = writeln!(text, "\nLatency distribution: {path}");
            table(text, &workers(Some(index)));
        }
    }
    text.push_str("\nTotal latency distribution:\n");
    table(text, &workers(None));
    text.push('\n');
}

fn table(text: &mut String, workers: &[&WorkerStats]) {
    text.push_str("  %-ile |  Read (ms) | Write (ms) | Total (ms)\n");
    let _ = writeln!(text, "{}", "-".repeat(46));
    let [read, write, total] = [Ways::Read, Ways::Write, Ways::Total]
        .map(|ways| Sum::of(workers.iter().copied(), ways).latency);
    for (name, percent) in ROWS {
        let [read, write] = [&read, &write].map(|one| match one.count() {
            0 => "N/A".to_owned(),
            _ => format!("{:.3}", at(one, percent)),
        });
        let total = at(&total, percent);
        let _ = writeln!(text, "{name:>7} | {read:>10} | {write:>10} | {total:>10.3}");
    }
}

/// In milliseconds.
fn at(histogram: &Histogram, percent: f64) -> f64 {
    if histogram.count() == 0 {
        return 0.0;
    }
    let nanos = match percent {
        0.0 => histogram.min(),
        100.0 => histogram.max(),
        between => histogram.percentile(between),
    };
    nanos as f64 / 1e6
}
