//! The logs of `--bandwidth-log`: bandwidth of all jobs together, a file for each direction.

use std::io::Write;
use std::path::Path;

use fathom_rawio::{Begin, open_results};
use fathom_record::IntervalStats;
use fathom_units::{Nanos, per_second};
use fathom_workload::Direction;

use super::logs::unwritten;

/// The three files.
#[derive(Debug)]
pub struct BandwidthLogs {
    /// By direction.
    paths: [String; 3],
    problem: Option<String>,
    /// Time of the stages that are over.
    before: Nanos,
    last: Nanos,
}

/// Where the logs go whose names begin with `prefix`, by direction.
pub fn paths(prefix: &str) -> [String; 3] {
    Direction::ALL.map(|way| format!("{prefix}-{}_bw.log", way.name()))
}

impl BandwidthLogs {
    /// Makes the files, empty; their names begin with `prefix`.
    pub fn new(prefix: &str) -> Self {
        let mut logs = Self {
            paths: paths(prefix),
            problem: None,
            before: Nanos::ZERO,
            last: Nanos::ZERO,
        };
        for way in 0..3 {
            let made = open_results(Path::new(&logs.paths[way]), Begin::Emptied).map(drop);
            logs.keep(way, made);
        }
        logs
    }

    /// A stage begins.
    pub fn stage(&mut self) {
        self.before = self.before.saturating_add(std::mem::take(&mut self.last));
    }

    /// Adds a line for each direction, also where nothing of it was done in `interval`.
    pub fn interval(&mut self, interval: &IntervalStats) {
        self.last = interval.at;
        let time_ms = self.before.saturating_add(interval.at).get() / 1_000_000;
        for (way, stats) in interval.directions.iter().enumerate() {
            let bytes = stats.as_ref().map_or(0, |stats| stats.bytes);
            let rate = (per_second(bytes, interval.length) / 1024.0).round() as u64;
            let opened = open_results(Path::new(&self.paths[way]), Begin::AtEndOfExisting);
            let line = format!("{time_ms}, {rate}, {way}, 0, 0\n");
            let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
            self.keep(way, written);
        }
    }

    /// The first thing that could not be written, if any.
    pub fn finish(self) -> Option<String> {
        self.problem
    }

    fn keep(&mut self, way: usize, result: std::io::Result<()>) {
        if let Err(error) = result {
            self.problem
                .get_or_insert_with(|| unwritten(&self.paths[way], &error));
        }
    }
}
