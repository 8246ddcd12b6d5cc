//! Reading a run that never reached its end.
//!
//! Stages that finished stand whole in the event log; of the stage that was cut off, the seconds until then are known.

use std::path::Path;

use fathom_record::{
    IntervalDirection, IntervalRecord, Record, RunKind, SCHEMA, StageRecord, ToolRecord,
    TotalRecord, Verdict,
};
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
            "the run was cut short; a stage without jobs is known by its seconds alone".to_owned(),
        ],
        interrupted: true,
    };
    let mut open: Option<(Value, StageRecord)> = None;
    for event in &events {
        match event["event"].as_str() {
            Some("stage-started") => {
                open = Some((event["index"].clone(), empty_stage(&event["name"])));
            }
            Some("interval") if event["measured"] == true => {
                if let Some((_, stage)) = &mut open {
                    push_interval(stage, event);
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
    record.stages.extend(
        open.map(|(_, stage)| stage)
            .filter(|stage| !stage.intervals.is_empty()),
    );
    Some(record)
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
