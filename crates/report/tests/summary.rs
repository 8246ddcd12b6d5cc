//! The end of a run as a person sees it.

use std::collections::BTreeMap;

use fathom_record::{
    Check, CpuRecord, DirectionRecord, JobRecord, LatencyRecord, Record, RunKind, SCHEMA,
    StageRecord, ToolRecord, TotalRecord, Verdict,
};
use fathom_report::{Summary, summary};
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

fn latency(mean_ms: f64) -> LatencyRecord {
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

fn direction(iops: f64, mean_ms: f64, bound_by: &[(&str, f64)]) -> DirectionRecord {
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
    }
}

fn job(name: &str, write: &DirectionRecord, wanted: Option<f64>) -> JobRecord {
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

fn stage(name: &str, jobs: Vec<JobRecord>, write: &DirectionRecord) -> StageRecord {
    let total = TotalRecord {
        read: None,
        write: Some(write.clone()),
        trim: None,
        sync: None,
        all: Some(write.clone()),
    };
    StageRecord {
        name: name.to_owned(),
        measured_ns: 30_000_000_000,
        jobs,
        total,
        intervals: vec![],
        storage: BTreeMap::new(),
        notes: vec![],
    }
}

fn record(kind: RunKind, stages: Vec<StageRecord>, checks: Vec<Check>) -> Record {
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
        checks,
        verdict,
        notes: vec!["media latency: assumed".to_owned()],
        interrupted: false,
    }
}

#[track_caller]
fn check(record: &Record, how_much: Summary, expected: &str) {
    let text = summary(record, how_much);
    assert_eq!(text, expected, "\n{text}");
    assert!(
        text.lines().take(3).all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn a_prediction_says_what_binds_and_what_falls_short() {
    let writes = direction(
        12_352.4,
        20.5,
        &[("disk-iops", 0.98), ("vm-uncached-iops", 0.02)],
    );
    let jobs = vec![job("writer1", &writes, Some(12_500.0))];
    let failed = Check {
        id: "schedule-lag".into(),
        passed: false,
        evidence: "writer1: 12,352 IOPS reached of 12,500 asked for".into(),
        remedy: "lower the rate".into(),
    };
    let passed = Check {
        id: "io-errors".into(),
        passed: true,
        evidence: "no I/O failed".into(),
        remedy: String::new(),
    };
    let record = record(
        RunKind::Predict,
        vec![stage("stage1", jobs, &writes)],
        vec![passed, failed],
    );
    check(&record, Summary::Short, include_str!("prediction.txt"));
}

#[test]
fn repeats_are_one_line_with_their_spread() {
    let stages = [85_000.0, 86_000.0, 87_000.0]
        .iter()
        .enumerate()
        .map(|(index, iops)| {
            let writes = direction(*iops, 0.37, &[]);
            let name = if index == 0 {
                "randwrite".to_owned()
            } else {
                format!("randwrite #{}", index + 1)
            };
            stage(&name, vec![job("randwrite", &writes, None)], &writes)
        });
    let mut record = record(RunKind::Run, stages.collect(), vec![]);
    record.notes.clear();
    check(&record, Summary::Short, include_str!("repeats.txt"));
}
