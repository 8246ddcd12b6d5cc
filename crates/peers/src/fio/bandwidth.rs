//! The logs of `--bandwidth-log`: bandwidth of all jobs together, a file for each direction.

use std::fs::{File, OpenOptions};
use std::io::Write;

use fathom_record::IntervalStats;
use fathom_units::{Nanos, per_second};

const PATHS: [&str; 3] = ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"];

/// The three files.
#[derive(Debug)]
pub struct BandwidthLogs {
    problem: Option<String>,
    /// Time of the stages that are over.
    before: Nanos,
    last: Nanos,
}

impl BandwidthLogs {
    /// Makes the files, empty.
    pub fn new() -> Self {
        let mut logs = Self {
            problem: None,
            before: Nanos::ZERO,
            last: Nanos::ZERO,
        };
        for path in PATHS {
            logs.keep(path, File::create(path).map(drop));
        }
        logs
    }

    /// A stage begins.
    pub fn stage(&mut self) {
        self.before = self.before.saturating_add(std::mem::take(&mut self.last));
    }

    /// Adds a line for each direction of `interval` that did anything.
    pub fn interval(&mut self, interval: &IntervalStats) {
        self.last = interval.at;
        let time_ms = self.before.saturating_add(interval.at).get() / 1_000_000;
        for (way, stats) in interval.directions.iter().enumerate() {
            let Some(stats) = stats.as_ref().filter(|stats| stats.bytes > 0) else {
                continue;
            };
            let rate = (per_second(stats.bytes, interval.length) / 1024.0).round() as u64;
            let opened = OpenOptions::new().append(true).open(PATHS[way]);
            let line = format!("{time_ms}, {rate}, {way}, 0, 0\n");
            let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
            self.keep(PATHS[way], written);
        }
    }

    /// The first thing that could not be written, if any.
    pub fn finish(self) -> Option<String> {
        self.problem
    }

    fn keep(&mut self, path: &str, result: std::io::Result<()>) {
        if let Err(error) = result {
            self.problem
                .get_or_insert_with(|| format!("the log `{path}` cannot be written: {error}"));
        }
    }
}
