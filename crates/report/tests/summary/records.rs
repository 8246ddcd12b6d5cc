//! Records to be shown, and what holds for each text made of one.

use std::collections::BTreeMap;

use fathom_record::{
    Check, CpuRecord, DirectionRecord, JobRecord, LatencyRecord, Record, RunKind, SCHEMA,
    StageRecord, ToolRecord, TotalRecord, Verdict,
};
use fathom_report::{Summary, Width, summary};
use fathom_stats::{Histogram, to_hdr_base64};

/// A thousand latencies around `mean_ms`, one in a hundred twice as long.
fn histogram(mean_ms: f64) -> String {
    let mut histogram = Histogram::new();
    for index in 0..1000u32 {
        let factor = if index % 100 == 0 { 2.0 } else { 0.9 };
        histogram.record((mean_ms * 1e6 * factor) as u64);
    }
    to_hdr_base64(&histogram).unwrap_or_default()
}

pub(crate) fn latency(mean_ms: f64) -> LatencyRecord {
    let ns = |factor: f64| (mean_ms * 1e6 * factor) as u64;
    LatencyRecord {
        min: ns(0.5),
        mean: mean_ms * 1e6,
        stddev: 0.0,
        max: ns(4.0),
        p50: ns(0.9),
        p90: ns(1.2),
        p95: ns(1.3),
        p99: ns(2.0),
        p99_9: ns(3.0),
        p99_99: ns(3.5),
        histogram: histogram(mean_ms),
    }
}

pub(crate) fn direction(iops: f64, mean_ms: f64, bound_by: &[(&str, f64)]) -> DirectionRecord {
    DirectionRecord {
        ios: (iops * 30.0) as u64,
        bytes: (iops * 30.0) as u64 * 4096,
        errors: 0,
        iops,
        bandwidth_bytes_per_sec: iops * 4096.0,
        latency_ns: latency(mean_ms),
        response_ns: None,
        bound_by: bound_by
            .iter()
            .map(|(limit, share)| ((*limit).to_owned(), *share))
            .collect(),
        waited_share: (!bound_by.is_empty()).then_some(0.9),
    }
}

pub(crate) fn job(name: &str, write: &DirectionRecord, wanted: Option<f64>) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        host: None,
        targets: vec!["/mnt/a/x".to_owned()],
        workers: 1,
        depth_wanted: 32.0,
        depth_achieved: 31.9,
        iops_wanted: wanted,
        measured_ns: 30_000_000_000,
        read: None,
        write: Some(write.clone()),
        trim: None,
        sync: None,
        meta: BTreeMap::new(),
        cpu: CpuRecord::default(),
        errors: vec![],
        detail: vec![],
    }
}

pub(crate) fn stage(name: &str, jobs: Vec<JobRecord>, write: &DirectionRecord) -> StageRecord {
    let total = TotalRecord {
        read: None,
        write: Some(write.clone()),
        trim: None,
        sync: None,
        meta: BTreeMap::new(),
        all: Some(write.clone()),
    };
    StageRecord {
        name: name.to_owned(),
        started_unix_ns: None,
        started_ns: None,
        measured_ns: 30_000_000_000,
        jobs,
        total,
        intervals: vec![],
        storage: BTreeMap::new(),
        emulation: None,
        notes: vec![],
        hosts: None,
    }
}

pub(crate) fn record(kind: RunKind, stages: Vec<StageRecord>, checks: Vec<Check>) -> Record {
    let verdict = if checks.iter().all(|check| check.passed) {
        Verdict::Trustworthy
    } else {
        Verdict::Questionable
    };
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".into(),
            version: "0".into(),
            git: String::new(),
        },
        kind,
        title: "job.fio on ds14.design.toml".to_owned(),
        stored: true,
        started_unix_ns: 0,
        workload: serde_json::Value::Null,
        design: serde_json::Value::Null,
        environment: serde_json::Value::Null,
        stages,
        sweep: None,
        checks,
        verdict,
        notes: vec!["media latency: assumed".to_owned()],
        interrupted: false,
    }
}

/// No line is wider than the screen, unless one word of it is.
#[track_caller]
pub(crate) fn fits(record: &Record, how_much: Summary, columns: usize) -> String {
    let text = summary(record, how_much, Width::of_terminal(columns));
    let too_wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
    assert_eq!(text.lines().find(too_wide), None, "{columns}:\n{text}");
    text
}

#[track_caller]
pub(crate) fn check(record: &Record, how_much: Summary, expected: &str) {
    let text = summary(record, how_much, Width::PLAIN);
    assert_eq!(text, expected, "\n{text}");
    for columns in [40, 41, 50, 59, 66, 72, 79, 80] {
        fits(record, how_much, columns);
    }
}

/// A record of these stages, each with its notes; their names say which are repeats of which of `planned`.
pub(crate) fn noted(planned: &[(&str, u64)], stages: &[(&str, &[&str])]) -> Record {
    let writes = direction(500.0, 0.37, &[]);
    let stages = stages.iter().map(|(name, notes)| {
        let mut stage = stage(name, vec![job("db", &writes, None)], &writes);
        stage.notes = notes.iter().map(|note| (*note).to_owned()).collect();
        stage
    });
    let mut record = record(RunKind::Run, stages.collect(), vec![]);
    let planned = planned
        .iter()
        .map(|(name, repeats)| serde_json::json!({"name": name, "repeats": repeats}));
    record.workload = serde_json::json!({"stage": planned.collect::<Vec<_>>()});
    record.notes.clear();
    record
}
