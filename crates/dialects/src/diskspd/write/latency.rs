//! The tables of latency percentiles (`-L`).

use std::fmt::Write as _;

use fathom_stats::Histogram;

use super::super::settings::Span;
use super::super::tally::Figures;
use super::SpanRun;
use super::tables::{Ways, all};

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
pub fn write(text: &mut String, span: &Span, run: &SpanRun) {
    if span.targets.len() > 1 {
        for (index, target) in span.targets.iter().enumerate() {
            let mut figures = Figures::default();
            let rows = run.rows.iter().filter(|row| row.target == index);
            rows.for_each(|row| figures.merge(&row.figures));
            let _ = writeln!(text, "\nLatency distribution: {}", target.path);
            table(text, &figures);
        }
    }
    text.push_str("\nTotal latency distribution:\n");
    table(text, &all(run));
    text.push('\n');
}

fn table(text: &mut String, figures: &Figures) {
    text.push_str("  %-ile |  Read (ms) | Write (ms) | Total (ms)\n");
    let _ = writeln!(text, "{}", "-".repeat(46));
    let [read, write, total] =
        [Ways::Read, Ways::Write, Ways::Total].map(|ways| ways.sum(figures).latency);
    for (name, percent) in ROWS {
        let [read, write] = [&read, &write].map(|one| match one.count() {
            0 => "N/A".to_owned(),
            _ => format!("{:.3}", at(one, percent)),
        });
        let total = at(&total, percent);
        let _ = writeln!(text, "{name:>7} | {read:>10} | {write:>10} | {total:>10.3}");
    }
}

/// In milliseconds; 0 % is the smallest, 100 % the largest.
pub fn at(histogram: &Histogram, percent: f64) -> f64 {
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
