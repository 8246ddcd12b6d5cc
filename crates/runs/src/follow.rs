//! A run's event log, read while it grows.
//!
//! Invariant: a line is taken when it is whole, and once; what the log holds is not kept.

use std::fs::File;
use std::io::{self, Read};

use fathom_record::IntervalRecord;
use serde_json::Value;

use crate::recover::second_of;
use crate::{RunEntry, files};

/// Most bytes that are read at a time: a long run has a long log.
const AT_A_TIME: u64 = 256 << 10;

/// Reads the events of one run, from the first on.
#[derive(Debug)]
pub struct Follower {
    run: RunEntry,
    log: File,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// Measured time of the present stage so far.
    measured_ns: u64,
}

/// A line of the event log.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The line as it stands there, without what a stage's record says at its end, which the run's record has too.
    pub event: Value,
    /// The second that it tells of, where that is measured: its end is that of the stage's measured time.
    pub second: Option<IntervalRecord>,
}

impl Told {
    /// What it is: `stage-started`, `interval`, …
    pub fn name(&self) -> &str {
        self.event["event"].as_str().unwrap_or_default()
    }
}

impl Follower {
    /// Follows `run` from its first event on.
    pub fn new(run: RunEntry) -> io::Result<Self> {
        let log = File::open(run.folder.join(files::EVENTS))?;
        Ok(Self {
            run,
            log,
            begun: Vec::new(),
            measured_ns: 0,
        })
    }

    /// What was told since the last time; nothing where that is all so far.
    pub fn more(&mut self) -> io::Result<Vec<Told>> {
        loop {
            let mut piece = Vec::new();
            (&self.log).take(AT_A_TIME).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(Vec::new());
            }
            self.begun.extend_from_slice(&piece);
            let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else {
                continue;
            };
            let rest = self.begun.split_off(end + 1);
            let whole = std::mem::replace(&mut self.begun, rest);
            let lines = whole.split(|byte| *byte == b'\n');
            let told: Vec<Told> = lines.filter_map(|line| self.told(line)).collect();
            if !told.is_empty() {
                return Ok(told);
            }
        }
    }

    /// Whether nobody writes the run any more. What it was told until then is still to be read.
    pub fn is_over(&self) -> bool {
        !self.run.is_under_way()
    }

    fn told(&mut self, line: &[u8]) -> Option<Told> {
        let mut event: Value = serde_json::from_slice(line).ok()?;
        let mut second = None;
        match event["event"].as_str()? {
            "stage-started" => self.measured_ns = 0,
            "stage-finished" => {
                event.as_object_mut()?.remove("record");
            }
            "interval" if event["measured"] == true => {
                let length_ns = event["length_ns"].as_u64().unwrap_or(0);
                self.measured_ns = self.measured_ns.saturating_add(length_ns);
                second = Some(second_of(&event, self.measured_ns));
            }
            _ => {}
        }
        Some(Told { event, second })
    }
}
