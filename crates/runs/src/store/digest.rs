//! What a list shows of a run: how it ended and a few figures, without the rest of its record.
//!
//! A record is read whole for that, as any JSON document is, but nothing else of it is kept. Who lists runs again and again
//! keeps digests with their [`Stamp`] and makes them anew only where that has changed.

use std::path::Path;
use std::time::SystemTime;

use fathom_record::{Record, SCHEMA, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{RunEntry, RunState, StoreError};
use crate::files;

/// How a run ended, and its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// How it ended.
    pub state: RunState,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Why its record cannot be read, where that is so.
    pub why: Option<String>,
    /// Its stages, in order.
    pub stages: Vec<StageDigest>,
}

/// Figures of one stage, over all its jobs, and over reads, writes and trims together.
#[derive(Debug, Clone, PartialEq)]
pub struct StageDigest {
    /// Its name.
    pub name: String,
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second.
    pub bandwidth_bytes_per_sec: f64,
    /// Median of latency.
    pub p50_ns: u64,
    /// 99th percentile of latency.
    pub p99_ns: u64,
}

impl Digest {
    /// The entry of `run` in a list that is a document (schema [`super::LIST_SCHEMA`]), with figures.
    pub fn listed(&self, run: &RunEntry) -> Value {
        let stages = self.stages.iter().map(|stage| {
            json!({
                "name": stage.name,
                "iops": stage.iops,
                "bandwidth_bytes_per_sec": stage.bandwidth_bytes_per_sec,
                "latency_p50_ns": stage.p50_ns,
                "latency_p99_ns": stage.p99_ns,
            })
        });
        let mut entry = run.listed(self.state);
        entry["interrupted"] = self.interrupted.into();
        entry["why"] = self.why.clone().into();
        entry["stages"] = stages.collect();
        entry
    }
}

/// By what is told whether a run's files have changed: sizes and times of its record and of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp([Option<(u64, SystemTime)>; 2]);

/// The part of a record that a digest is made of.
#[derive(Deserialize)]
struct Part {
    schema: String,
    verdict: Verdict,
    interrupted: bool,
    stages: Vec<StagePart>,
}

#[derive(Deserialize)]
struct StagePart {
    name: String,
    total: TotalPart,
}

#[derive(Deserialize)]
struct TotalPart {
    all: Option<AllPart>,
}

#[derive(Deserialize)]
struct AllPart {
    iops: f64,
    bandwidth_bytes_per_sec: f64,
    latency_ns: LatencyPart,
}

#[derive(Deserialize)]
struct LatencyPart {
    p50: u64,
    p99: u64,
}

impl RunEntry {
    /// Its entry in a list that is a document, in `state`: its own is not known yet where it was looked up without.
    pub(super) fn listed(&self, state: RunState) -> Value {
        json!({
            "id": self.id,
            "kind": self.kind,
            "what": self.what,
            "started_unix_ns": self.started_unix_ns,
            "state": state.words(),
        })
    }

    /// By what is told whether its files have changed.
    pub fn stamp(&self) -> Stamp {
        Stamp([files::RECORD, files::EVENTS].map(|name| stamp_of(&self.folder.join(name))))
    }

    /// How it ended, and its figures. Those of a run that was cut short, or whose record cannot be read, are what its events
    /// tell; of one under way there are none.
    pub fn digest(&self) -> Digest {
        if self.is_under_way() {
            return Digest {
                state: RunState::UnderWay,
                interrupted: false,
                why: None,
                stages: Vec::new(),
            };
        }
        let path = self.folder.join(files::RECORD);
        let part = std::fs::read(&path).map(|bytes| serde_json::from_slice::<Part>(&bytes));
        match part {
            Ok(Ok(part)) if part.schema == SCHEMA => of_part(part),
            _ => self.of_record(path.exists()),
        }
    }

    /// The long way, for what is not as it should be.
    fn of_record(&self, is_there: bool) -> Digest {
        let state = if is_there {
            RunState::Unreadable
        } else {
            RunState::CutShort
        };
        let read = self.record();
        let why = match &read {
            Err(error) => Some(error.to_string()),
            Ok(record) if is_there => record.notes.first().cloned(),
            Ok(_) => None,
        };
        Digest {
            state,
            interrupted: read.as_ref().is_ok_and(|record| record.interrupted),
            why,
            stages: read.map_or_else(|_: StoreError| Vec::new(), |record| stages_of(&record)),
        }
    }
}

fn of_part(part: Part) -> Digest {
    let stages = part.stages.into_iter().filter_map(|stage| {
        let all = stage.total.all?;
        Some(StageDigest {
            name: stage.name,
            iops: all.iops,
            bandwidth_bytes_per_sec: all.bandwidth_bytes_per_sec,
            p50_ns: all.latency_ns.p50,
            p99_ns: all.latency_ns.p99,
        })
    });
    Digest {
        state: RunState::Ended(part.verdict),
        interrupted: part.interrupted,
        why: None,
        stages: stages.collect(),
    }
}

fn stages_of(record: &Record) -> Vec<StageDigest> {
    let stages = record.stages.iter().filter_map(|stage| {
        let all = stage.total.all.as_ref()?;
        Some(StageDigest {
            name: stage.name.clone(),
            iops: all.iops,
            bandwidth_bytes_per_sec: all.bandwidth_bytes_per_sec,
            p50_ns: all.latency_ns.p50,
            p99_ns: all.latency_ns.p99,
        })
    });
    stages.collect()
}

fn stamp_of(path: &Path) -> Option<(u64, SystemTime)> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.len(), facts.modified().ok()?))
}
