//! The figures of the last second, a row for each direction.
//!
//! Invariant: a row that was there in a stage stays for the whole of it, so that what stalls shows as a 0.

use fathom_record::{IntervalStats, OpStats};
use fathom_stats::Histogram;
use fathom_units::{Nanos, per_second};

use crate::format::{mebibytes, rate, short_time};

/// Names of rows: the three directions, syncs, operations on file sets.
const ORDER: [&str; 5] = ["read", "write", "trim", "sync", "files"];

/// What one kind of operation did in the last second.
#[derive(Debug, Clone)]
struct Row {
    name: &'static str,
    stats: OpStats,
    /// Whether its bytes mean anything.
    moves: bool,
}

/// What was done in the last second.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    sum: Option<OpStats>,
    length: Nanos,
    /// Whether the rows are those of the stage before.
    is_old: bool,
}

impl Table {
    /// Rows stay until the first second of the stage says which it has.
    pub(super) fn begin_stage(&mut self) {
        self.is_old = true;
        self.sum = None;
        self.clear();
    }

    fn clear(&mut self) {
        for row in &mut self.rows {
            // What has no response times yet may have no place for them.
            row.stats.clear();
        }
    }

    /// Takes a second, what all its directions come to, and its syncs and operations on file sets.
    pub(super) fn second(
        &mut self,
        interval: &IntervalStats,
        all: Option<OpStats>,
        beside: [Option<OpStats>; 2],
    ) {
        self.length = interval.length;
        if std::mem::take(&mut self.is_old) {
            self.rows.clear();
        }
        self.clear();
        for (name, stats) in ORDER.into_iter().zip(&interval.directions) {
            if let Some(stats) = stats {
                self.put(name, stats.clone(), true);
            }
        }
        for (name, stats) in ORDER.into_iter().skip(3).zip(beside) {
            if let Some(stats) = stats {
                self.put(name, stats, false);
            }
        }
        self.sum = all;
    }

    fn put(&mut self, name: &'static str, stats: OpStats, moves: bool) {
        let row = Row { name, stats, moves };
        let place = |name: &str| ORDER.iter().position(|other| *other == name);
        match self
            .rows
            .binary_search_by_key(&place(name), |row| place(row.name))
        {
            Ok(at) => self.rows[at] = row,
            Err(at) => self.rows.insert(at, row),
        }
    }

    /// Rows that all of it takes, but for the sum.
    pub(super) fn needed(&self) -> usize {
        let responses = self.rows.iter().filter(|row| row.stats.response.is_some());
        1 + self.rows.len() + responses.count()
    }

    /// The table on so many rows: response times are left out first.
    pub(super) fn lines(&self, rows: usize) -> Vec<String> {
        if self.rows.is_empty() {
            return vec!["no I/O yet".to_owned(); rows.min(1)];
        }
        let mut lines = vec![line("", ["IOPS", "MiB/s", "p50", "p99"])];
        let has_responses = rows >= self.needed();
        for Row { name, stats, moves } in &self.rows {
            lines.push(self.figures(name, stats, *moves));
            if let Some(response) = stats.response.as_ref().filter(|_| has_responses) {
                let [p50, p99] = times(response);
                lines.push(line("  response", ["", "", &p50, &p99]));
            }
        }
        lines.truncate(rows);
        lines
    }

    /// Whether there is more than one direction to be added up.
    pub(super) fn has_sum(&self) -> bool {
        self.rows.iter().filter(|row| row.moves).count() > 1
    }

    /// All directions together.
    pub(super) fn sum(&self) -> String {
        let none = OpStats::new(false, false);
        self.figures("all", self.sum.as_ref().unwrap_or(&none), true)
    }

    fn figures(&self, name: &str, stats: &OpStats, moves: bool) -> String {
        let iops = rate(per_second(stats.ios(), self.length));
        let bytes = if moves {
            mebibytes(per_second(stats.bytes, self.length))
        } else {
            String::new()
        };
        let [p50, p99] = times(&stats.latency);
        line(name, [&iops, &bytes, &p50, &p99])
    }
}

fn line(name: &str, cells: [&str; 4]) -> String {
    let cells = cells.map(|cell| format!(" {cell:>11}")).concat();
    format!("{name:<10}{cells}")
}

/// The 50th and the 99th percentile; nothing that was not done took a time.
fn times(histogram: &Histogram) -> [String; 2] {
    if histogram.count() == 0 {
        return [String::new(), String::new()];
    }
    [50.0, 99.0].map(|percent| short_time(histogram.percentile(percent)))
}
