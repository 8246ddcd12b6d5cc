//! The three tables of I/O.

use std::fmt::Write as _;

use fathom_record::WorkerStats;
use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::super::sizes::show;
use super::super::{Buckets, DiskspdInput, Row};
use super::{DiskspdRun, processors};

/// Which directions a table counts: reads, writes or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// Both.
    Total,
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Ways {
    fn holds(self, direction: usize) -> bool {
        match self {
            Self::Total => direction < 2,
            Self::Read => direction == 0,
            Self::Write => direction == 1,
        }
    }

    fn of(self, counts: &[u64; 2]) -> u64 {
        match self {
            Self::Total => counts[0] + counts[1],
            Self::Read => counts[0],
            Self::Write => counts[1],
        }
    }
}

/// Rows of the tables with their workers, thread by thread and target by target.
pub fn rows<'a>(
    input: &DiskspdInput,
    run: &DiskspdRun<'a>,
) -> Vec<(Row, &'a WorkerStats, Option<&'a Buckets>)> {
    let workers = run.result.workers.iter().enumerate();
    let found = input.rows.iter().zip(workers);
    let mut rows: Vec<_> = found
        .map(|(row, (index, worker))| (*row, worker, run.buckets.get(index)))
        .collect();
    rows.sort_by_key(|(row, _, _)| (row.thread, row.target));
    rows
}

/// Bytes and latencies of some workers.
#[derive(Debug, Default)]
pub struct Sum {
    bytes: u64,
    /// In ns; its count is that of the I/Os.
    pub latency: Histogram,
}

impl Sum {
    /// Of the directions of `ways`.
    pub fn of<'a>(workers: impl IntoIterator<Item = &'a WorkerStats>, ways: Ways) -> Self {
        let mut sum = Self::default();
        for worker in workers {
            for (direction, stats) in worker.directions.iter().enumerate() {
                if let Some(stats) = stats.as_ref().filter(|_| ways.holds(direction)) {
                    sum.bytes += stats.bytes;
                    sum.latency.merge(&stats.latency);
                }
            }
        }
        sum
    }
}

/// Time, threads, processors and the tables.
pub fn write(text: &mut String, input: &DiskspdInput, run: &DiskspdRun<'_>) {
    processors::write_counts(text, run.cpus, run.system);
    let _ = writeln!(text, "Results for timespan 1:\n{}\n", "*".repeat(79));
    let seconds = run.result.measured.as_secs_f64();
    let _ = writeln!(text, "actual test time:\t{seconds:.2}s");
    let threads = input.settings.thread_count(input.targets.len());
    let _ = writeln!(text, "thread count:\t\t{threads}");
    if let Some(requests) = input.settings.requests {
        let _ = writeln!(text, "request count:\t\t{requests}");
    }
    text.push('\n');
    processors::write_table(text, run.cpus);
    let tables = [
        ("Total IO", Ways::Total),
        ("Read IO", Ways::Read),
        ("Write IO", Ways::Write),
    ];
    for (title, ways) in tables {
        let _ = writeln!(text, "\n{title}");
        table(text, input, run, ways);
    }
}

fn table(text: &mut String, input: &DiskspdInput, run: &DiskspdRun<'_>, ways: Ways) {
    let settings = &input.settings;
    let (latency, deviation) = (settings.latency, settings.bucket_ms.is_some());
    text.push_str("thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s ");
    let columns = [
        (latency, "|  AvgLat  ", 11),
        (deviation, "| IopsStdDev ", 13),
        (latency, "| LatStdDev ", 12),
    ];
    let columns = columns.into_iter().filter(|(shown, _, _)| *shown);
    let mut width = 66 + 12;
    for (_, title, more) in columns {
        text.push_str(title);
        width += more;
    }
    let rule = "-".repeat(width);
    let _ = writeln!(text, "|  file\n{rule}");
    let rows = rows(input, run);
    let mut all: Option<Buckets> = None;
    for (row, worker, buckets) in &rows {
        if let Some(buckets) = buckets {
            match &mut all {
                Some(all) => all.merge(buckets),
                None => all = Some((*buckets).clone()),
            }
        }
        let _ = write!(text, "{:>6} |", row.thread);
        let sum = Sum::of([*worker], ways);
        figures(text, input, (&sum, *buckets), ways, run.result.measured);
        let path = input.targets.get(row.target).map_or("", String::as_str);
        let size = show(run.sizes.get(row.target).copied().unwrap_or(0));
        let _ = writeln!(text, " | {path} ({size})");
    }
    let _ = write!(text, "{rule}\ntotal:  ");
    let sum = Sum::of(rows.iter().map(|(_, worker, _)| *worker), ways);
    figures(text, input, (&sum, all.as_ref()), ways, run.result.measured);
    text.push('\n');
}

fn figures(
    text: &mut String,
    input: &DiskspdInput,
    (sum, buckets): (&Sum, Option<&Buckets>),
    ways: Ways,
    measured: Nanos,
) {
    let settings = &input.settings;
    let seconds = measured.as_secs_f64();
    let rate = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let ios = sum.latency.count();
    let mib = rate(sum.bytes as f64 / f64::from(1 << 20));
    let per_second = rate(ios as f64);
    let _ = write!(
        text,
        " {:>15} | {ios:>12} | {mib:>10.2} | {per_second:>10.2}",
        sum.bytes
    );
    if settings.latency {
        let mean = if ios > 0 {
            sum.latency.mean() / 1e6
        } else {
            0.0
        };
        let _ = write!(text, " | {mean:>8.3}");
    }
    if settings.bucket_ms.is_some() {
        let deviation = buckets.map_or(0.0, |it| it.deviation(|counts| ways.of(counts)));
        let _ = write!(text, " | {deviation:>10.2}");
    }
    if settings.latency {
        if ios == 0 {
            text.push_str(" |       N/A");
        } else {
            let _ = write!(text, " |  {:>8.3}", sum.latency.stddev() / 1e6);
        }
    }
}
