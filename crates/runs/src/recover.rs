//! Reading a run that never reached its end.
//!
//! Stages that finished stand whole in the event log; of the stage that was cut off, the seconds until then are known:
//! their counts from the event log, their latencies from the histogram log.

use std::collections::VecDeque;
use std::path::Path;

use fathom_record::{
    IntervalDirection, IntervalRecord, OpStats, Record, RunKind, SCHEMA, StageRecord, ToolRecord,
    TotalRecord, Verdict, of_stats,
};
use fathom_stats::{Histogram, from_hdr_base64};
use fathom_units::Nanos;
use fathom_workload::Direction;
use serde_json::Value;

use crate::files;

/// The record of a run without `record.json`, from its event log; `None` where not even that can be read.
pub(crate) fn recover(folder: &Path) -> Option<Record> {
    let log = std::fs::read_to_string(folder.join(files::EVENTS)).ok()?;
    // The last line may be torn; lines before it are whole.
    let events: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let first = events.first()?;
    let kind = if first["kind"] == "predict" {
        RunKind::Predict
    } else {
        RunKind::Run
    };
    let mut record = Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".to_owned(),
            version: String::new(),
            git: String::new(),
        },
        kind,
        title: first["what"].as_str().unwrap_or_default().to_owned(),
        stored: true,
        started_unix_ns: first["started_unix_ns"].as_u64()?,
        workload: Value::Null,
        design: Value::Null,
        environment: std::fs::read(folder.join(files::ENVIRONMENT))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default(),
        stages: Vec::new(),
        checks: Vec::new(),
        verdict: Verdict::Questionable,
        notes: vec![
            "the run was cut short: of its last stage the whole seconds until then are known"
                .to_owned(),
        ],
        interrupted: true,
    };
    let mut histograms = read_histograms(folder);
    let mut open: Option<Cut> = None;
    for event in &events {
        match event["event"].as_str() {
            Some("stage-started") => open = Some(Cut::new(&event["name"])),
            Some("interval") if event["measured"] == true => {
                if let Some(cut) = &mut open {
                    cut.push(event, &mut histograms);
                }
            }
            Some("stage-finished") => {
                open = None;
                record
                    .stages
                    .extend(serde_json::from_value(event["record"].clone()).ok());
            }
            Some("note") => record
                .notes
                .extend(event["text"].as_str().map(str::to_owned)),
            _ => {}
        }
    }
    record.stages.extend(open.and_then(Cut::finish));
    Some(record)
}

/// What the histogram log holds, in order: the direction's name, and its latencies in one interval.
type Histograms = VecDeque<(String, Histogram)>;

fn read_histograms(folder: &Path) -> Histograms {
    let log = std::fs::read_to_string(folder.join(files::HISTOGRAMS)).unwrap_or_default();
    let entry = |line: &str| {
        let (name, rest) = line.strip_prefix("Tag=")?.split_once(',')?;
        let encoded = rest.rsplit(',').next()?;
        Some((name.to_owned(), from_hdr_base64(encoded).ok()?))
    };
    log.lines().filter_map(entry).collect()
}

/// A stage that was cut off, as far as it went.
struct Cut {
    stage: StageRecord,
    /// By [`Direction`]: operations, and the longest of them to the nanosecond.
    directions: [(OpStats, u64); 3],
}

impl Cut {
    fn new(name: &Value) -> Self {
        Self {
            stage: empty_stage(name),
            directions: std::array::from_fn(|_| (OpStats::new(false, false), 0)),
        }
    }

    fn push(&mut self, event: &Value, histograms: &mut Histograms) {
        for way in Direction::ALL {
            let figures = &event[way.name()];
            let figure = |key: &str| figures[key].as_u64().unwrap_or(0);
            if figure("ios") == 0 {
                continue;
            }
            // The histogram of an interval is written after its event: the last may be missing.
            let next = histograms.front().is_some_and(|(name, histogram)| {
                name == way.name() && histogram.count() == figure("ios")
            });
            if let Some((_, histogram)) = next.then(|| histograms.pop_front()).flatten() {
                let (stats, longest) = &mut self.directions[way as usize];
                stats.bytes += figure("bytes");
                stats.latency.merge(&histogram);
                *longest = (*longest).max(figure("max_ns"));
            }
        }
        push_interval(&mut self.stage, event);
    }

    /// The stage's record; `None` where nothing was measured.
    fn finish(mut self) -> Option<StageRecord> {
        if self.stage.intervals.is_empty() {
            return None;
        }
        let measured = Nanos::new(self.stage.measured_ns);
        let record = |stats: &OpStats, longest: u64| {
            let mut record = of_stats(stats, 0, measured);
            let latency = &mut record.latency_ns;
            latency.max = longest;
            for percentile in [
                &mut latency.p50,
                &mut latency.p90,
                &mut latency.p95,
                &mut latency.p99,
                &mut latency.p99_9,
                &mut latency.p99_99,
            ] {
                *percentile = longest.min(*percentile);
            }
            (record.ios > 0).then_some(record)
        };
        let mut all = (OpStats::new(false, false), 0);
        for (stats, longest) in &self.directions {
            all.0.merge(stats);
            all.1 = all.1.max(*longest);
        }
        let [read, write, trim] = &self.directions;
        self.stage.total = TotalRecord {
            read: record(&read.0, read.1),
            write: record(&write.0, write.1),
            trim: record(&trim.0, trim.1),
            sync: None,
            all: record(&all.0, all.1),
        };
        Some(self.stage)
    }
}

fn empty_stage(name: &Value) -> StageRecord {
    StageRecord {
        name: name.as_str().unwrap_or_default().to_owned(),
        measured_ns: 0,
        jobs: Vec::new(),
        total: TotalRecord {
            read: None,
            write: None,
            trim: None,
            sync: None,
            all: None,
        },
        intervals: Vec::new(),
        storage: std::collections::BTreeMap::new(),
        notes: Vec::new(),
    }
}

fn push_interval(stage: &mut StageRecord, event: &Value) {
    let direction = |name: &str| {
        let figures = event.get(name)?;
        let figure = |key: &str| figures[key].as_u64();
        Some(IntervalDirection {
            ios: figure("ios")?,
            bytes: figure("bytes")?,
            p50_ns: figure("p50_ns")?,
            p99_ns: figure("p99_ns")?,
            max_ns: figure("max_ns")?,
        })
    };
    stage.measured_ns += event["length_ns"].as_u64().unwrap_or(0);
    stage.intervals.push(IntervalRecord {
        at_ns: stage.measured_ns,
        read: direction("read"),
        write: direction("write"),
        trim: direction("trim"),
    });
}
