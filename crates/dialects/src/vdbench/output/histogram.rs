//! Histograms of response times in Vdbench's buckets, or in those that `histogram=` gives.
//!
//! Ours are finer; each of their buckets is counted where its mid-point lies, which near a limit can be one of Vdbench's
//! buckets too far by 0.4 % of the limit.

use std::fmt::Write as _;

use fathom_record::OpStats;
use fathom_stats::Histogram;

use super::tally::Tally;

/// Upper limits of the buckets in µs without `histogram=`; the last bucket has none.
pub const LIMITS: [u64; 26] = [
    20, 40, 60, 80, 100, 200, 400, 600, 800, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000,
    40_000, 60_000, 80_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000,
];

/// Columns of a bar of 100 %.
const BAR: f64 = 50.0;

/// The table of a run on file systems, in buckets with these upper limits.
pub fn of_set(tally: &Tally, limits: &[u64]) -> String {
    match tally.requested.as_ref().filter(|stats| stats.ios() > 0) {
        None => "No statistics generated for this run.\n".to_owned(),
        Some(stats) => {
            let mut text = String::new();
            let title = "Total of all requested operations since warmup: ";
            table(&mut text, title, &stats.latency, limits);
            text
        }
    }
}

/// The tables of a run, in buckets with these upper limits: reads and writes together and apart, or the one there is.
pub fn tables(tally: &Tally, limits: &[u64]) -> String {
    let some = |stats: &Option<OpStats>| stats.clone().filter(|stats| stats.ios() > 0);
    let mut text = String::new();
    match (some(&tally.reads), some(&tally.writes)) {
        (None, None) => text.push_str("No statistics generated for this run.\n"),
        (Some(reads), None) => {
            table(
                &mut text,
                "Only reads done for this workload:",
                &reads.latency,
                limits,
            );
        }
        (None, Some(writes)) => {
            table(
                &mut text,
                "Only writes done for this workload:",
                &writes.latency,
                limits,
            );
        }
        (Some(reads), Some(writes)) => {
            let (both, _) = tally.response_times();
            table(&mut text, "Reads and writes:", &both, limits);
            table(&mut text, "Reads:", &reads.latency, limits);
            table(&mut text, "Writes:", &writes.latency, limits);
        }
    }
    text
}

fn table(text: &mut String, title: &str, histogram: &Histogram, limits: &[u64]) {
    let mut counts = vec![0; limits.len() + 1];
    for (value, count) in histogram.nonzero() {
        counts[limits.partition_point(|limit| *limit <= value / 1000)] += count;
    }
    let _ = writeln!(
        text,
        "{title}\n  min(ms) <     max(ms)         count       %%    cum%%  '+': Individual%; '+-': Cumulative%\n"
    );
    let total = histogram.count().max(1) as f64;
    let mut seen = 0;
    for (index, count) in counts.iter().enumerate() {
        seen += count;
        let (share, cumulative) = (*count as f64 * 100.0 / total, seen as f64 * 100.0 / total);
        let from = index.checked_sub(1).map_or(0, |below| limits[below]);
        let to = limits
            .get(index)
            .map_or_else(|| "max".to_owned(), |limit| millis(*limit));
        let plus = (share * BAR / 100.0) as usize;
        let minus = (cumulative * BAR / 100.0) as usize - plus;
        let _ = writeln!(
            text,
            "{:>9} < {to:>11} {:>13} {share:>8.4} {cumulative:>8.4}  {}{}",
            millis(from),
            thousands(*count),
            "+".repeat(plus),
            "-".repeat(minus)
        );
    }
    text.push('\n');
}

fn millis(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

/// With commas.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
