//! The three tables of I/O of a timespan, and that of all timespans.

use std::fmt::Write as _;

use fathom_units::Nanos;

use super::super::settings::Span;
use super::super::sizes::show;
use super::super::tally::{Figures, Way};
use super::{SpanRun, distributions, processors};

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
    /// Bytes and latencies of these directions.
    pub fn sum(self, figures: &Figures) -> Way {
        let [read, write] = &figures.ways;
        match self {
            Self::Read => read.clone(),
            Self::Write => write.clone(),
            Self::Total => {
                let mut both = read.clone();
                both.merge(write);
                both
            }
        }
    }

    /// I/Os of these directions.
    pub fn of(self, counts: &[u64; 2]) -> u64 {
        match self {
            Self::Total => counts[0] + counts[1],
            Self::Read => counts[0],
            Self::Write => counts[1],
        }
    }
}

/// All rows together.
pub fn all(run: &SpanRun) -> Figures {
    let mut all = Figures::default();
    run.rows.iter().for_each(|row| all.merge(&row.figures));
    all
}

/// Time, threads, processors and the tables.
pub fn write(text: &mut String, span: &Span, run: &SpanRun) {
    let seconds = run.measured.as_secs_f64();
    let _ = writeln!(text, "\nactual test time:\t{seconds:.2}s");
    let _ = writeln!(text, "thread count:\t\t{}", span.thread_count());
    if let (Some(_), Some(requests)) = (span.pool, span.requests) {
        let _ = writeln!(text, "request count:\t\t{requests}");
    }
    text.push('\n');
    processors::write_table(text, &run.cpus);
    distributions::write(text, span, run);
    let tables = [
        ("Total IO", Ways::Total),
        ("Read IO", Ways::Read),
        ("Write IO", Ways::Write),
    ];
    let all = all(run);
    for (title, ways) in tables {
        let _ = writeln!(text, "\n{title}");
        table(text, span, run, (&all, ways));
    }
}

fn table(text: &mut String, span: &Span, run: &SpanRun, (all, ways): (&Figures, Ways)) {
    let (latency, deviation) = (span.latency, span.deviation);
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
    for row in &run.rows {
        let _ = write!(text, "{:>6} |", row.thread);
        figures(text, span, (&row.figures, ways), run.measured);
        let path = span
            .targets
            .get(row.target)
            .map_or("", |it| it.path.as_str());
        let size = show(run.sizes.get(row.target).copied().unwrap_or(0));
        let _ = writeln!(text, " | {path} ({size})");
    }
    let _ = write!(text, "{rule}\ntotal:  ");
    figures(text, span, (all, ways), run.measured);
    text.push('\n');
}

fn figures(text: &mut String, span: &Span, (figures, ways): (&Figures, Ways), measured: Nanos) {
    let sum = ways.sum(figures);
    let ios = sum.latency.count();
    rates(text, (sum.bytes, ios), measured);
    if span.latency {
        let mean = if ios > 0 {
            sum.latency.mean() / 1e6
        } else {
            0.0
        };
        let _ = write!(text, " | {mean:>8.3}");
    }
    if span.deviation {
        let buckets = figures.buckets.as_ref();
        let deviation = buckets.and_then(|it| it.deviation(|counts| ways.of(counts)));
        let _ = write!(text, " | {:>10.2}", deviation.unwrap_or(0.0));
    }
    if span.latency {
        if ios == 0 {
            text.push_str(" |       N/A");
        } else {
            let _ = write!(text, " |  {:>8.3}", sum.latency.stddev() / 1e6);
        }
    }
}

/// Bytes, I/Os and their rates.
fn rates(text: &mut String, (bytes, ios): (u64, u64), measured: Nanos) {
    let seconds = measured.as_secs_f64();
    let rate = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let mib = rate(bytes as f64 / f64::from(1 << 20));
    let per_second = rate(ios as f64);
    let _ = write!(
        text,
        " {bytes:>15} | {ios:>12} | {mib:>10.2} | {per_second:>10.2}"
    );
}

/// Writes, reads and both over all timespans.
pub fn write_totals(text: &mut String, runs: &[SpanRun]) {
    let rule = "-".repeat(79);
    let _ = writeln!(text, "\n\nTotals:\n{}\n", "*".repeat(79));
    let title = "type   |       bytes     |     I/Os     |    MiB/s   |  I/O per s";
    let _ = writeln!(text, "{title}\n{rule}");
    let mut measured = Nanos::ZERO;
    let mut sums = [(0u64, 0u64); 2];
    for run in runs.iter().filter(|run| run.measured > Nanos::ZERO) {
        measured += run.measured;
        for (sum, way) in sums.iter_mut().zip(&all(run).ways) {
            sum.0 += way.bytes;
            sum.1 += way.latency.count();
        }
    }
    let [reads, writes] = sums;
    for (name, sum) in [("write ", writes), ("read  ", reads)] {
        let _ = write!(text, "{name} |");
        rates(text, sum, measured);
        text.push('\n');
    }
    let _ = write!(text, "{rule}\ntotal  |");
    rates(text, (reads.0 + writes.0, reads.1 + writes.1), measured);
    let seconds = measured.as_secs_f64();
    let _ = writeln!(text, "\n\ntotal test time:\t{seconds:.2}s");
}
