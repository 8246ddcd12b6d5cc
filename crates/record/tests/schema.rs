//! The keys of `record.json`: a change of them is a change of the schema, and must not pass unnoticed.
//!
//! `docs/record.md` says what each key means. A new key goes there and into `schema.txt`; a key that goes, or changes its
//! meaning, needs a new schema version.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{
    Began, Check, CpuRecord, DeviceCounters, EmulationRecord, EndReason, HalfSecond, HostRecord,
    HostsRecord, IntervalStats, IoErrors, LatencyRecord, OpStats, OverTimeRecord, PlannedStage,
    Record, RunKind, SCHEMA, SetStats, StageRecord, StageResult, StorageRecord, SweepRecord,
    ToolRecord, Verdict, WorkerStats, stage_record, sweep_record,
};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Direction, SetOperation, Stage, SweepPoint, native};
use serde_json::{Value, json};

/// Maps whose keys are names of the run, not of the schema.
const NAMED: [&str; 3] = ["storage", "bound_by", "meta"];
/// Documents with a schema of their own.
const FOREIGN: [&str; 3] = ["workload", "design", "environment"];

const WORKLOAD: &str = r#"
[[stage]]
name = "all"
[[stage.job]]
name = "everything"
host = "db1"
target = { path = "/d/f", size = "1GiB" }
mix = { read = "40%", write = "40%", trim = "20%" }
arrival = { rate = "1000/s" }
depth = 8
split_latency = true
measure = "10s"
"#;

const BEGAN: Began = Began {
    at: Nanos::from_secs(5),
    unix_ns: 1,
};

fn stage() -> Stage {
    let read = native::read(WORKLOAD, "schema.workload.toml");
    let (mut workload, _) = read.expect("the workload is sound");
    workload.stages.remove(0)
}

fn operations() -> OpStats {
    let mut stats = OpStats::new(true, true);
    stats.bytes = 4096;
    stats.latency.record(1_000);
    let parts = [&mut stats.response, &mut stats.submit, &mut stats.complete];
    for histogram in parts.into_iter().flatten() {
        histogram.record(1_000);
    }
    stats
}

fn directions() -> [Option<OpStats>; 3] {
    [(); 3].map(|()| Some(operations()))
}

/// A worker of whom everything is known that a worker can tell.
fn worker() -> WorkerStats {
    let mut worker = WorkerStats::new(0, 0);
    worker.directions = directions();
    worker.sync = Some(operations());
    worker.set = SetStats(vec![(SetOperation::MakeDirectory, operations())]);
    worker.errors.push(IoErrors {
        direction: Direction::Read,
        operation: None,
        errno: 5,
        count: 1,
        first_offsets: vec![(0, 4096)],
    });
    worker.measured = Nanos::from_secs(10);
    worker.samples.push(HalfSecond::default());
    for waited in &mut worker.waited_ns {
        waited.insert("device-iops".to_owned(), 10);
    }
    worker.ended = EndReason::Time;
    worker
}

/// A sweep of three points, all measured alike.
fn sweep(stage: &StageRecord) -> SweepRecord {
    let names = ["depth=1 block=4k", "depth=2 block=4k", "depth=4 block=4k"];
    let stages = names.map(|name| StageRecord {
        name: name.to_owned(),
        ..stage.clone()
    });
    let outstanding = [1, 2, 4].into_iter();
    let points = names
        .into_iter()
        .zip(outstanding)
        .map(|(name, depth)| SweepPoint {
            stage: name.to_owned(),
            base: None,
            depth: Some(depth),
            block: Some(Bytes::kib(4)),
            threads: Some(1),
            outstanding: u64::from(depth),
        });
    let points: Vec<SweepPoint> = points.collect();
    let planned = points.iter().map(|point| PlannedStage {
        name: &point.stage,
        repeats: 1,
    });
    let planned: Vec<_> = planned.collect();
    sweep_record(&points, &planned, &stages).expect("there are points")
}

fn emulation(error_ns: LatencyRecord) -> EmulationRecord {
    EmulationRecord {
        error_ns,
        error_bound_ns: Some(1),
        path_ns: 1,
        cpu: CpuRecord::default(),
    }
}

/// The hosts of a merged record.
fn hosts(stage: &StageRecord) -> HostsRecord {
    HostsRecord {
        start_skew_ns: Some(1),
        clock_bound_ns: Some(1),
        together_ns: 1,
        each: vec![HostRecord {
            host: "db1".to_owned(),
            after_ns: Some(1),
            measured_ns: 1,
            cut_off: false,
            total: stage.total.clone(),
        }],
    }
}

/// A volume of a design, of which everything is known.
fn modelled() -> StorageRecord {
    StorageRecord {
        kind: "volume".to_owned(),
        depth: Some(1.0),
        busy_share: Some(1.0),
        cached_reads: Some(1),
        hit_share: Some(1.0),
        memory_share: Some(0.5),
        over_time: Some(OverTimeRecord {
            at_ns: vec![1_000_000_000],
            hit_share: vec![Some(1.0)],
            iops_credit_share: vec![1.0],
            bytes_credit_share: vec![1.0],
            dirty_bytes: vec![4096],
        }),
        limits: vec!["5,000 IOPS".to_owned()],
        ..StorageRecord::default()
    }
}

fn record() -> Record {
    let result = StageResult {
        started_unix_ns: 1,
        began: Some(BEGAN),
        measured: Nanos::from_secs(10),
        workers: vec![worker()],
        intervals: vec![IntervalStats {
            at: Nanos::from_secs(1),
            length: Nanos::from_secs(1),
            directions: directions(),
            set: worker().set,
        }],
        storage: BTreeMap::from([("db1/data".to_owned(), modelled())]),
        devices: vec![DeviceCounters {
            name: "vdb".to_owned(),
            over: Nanos::from_secs(10),
            ..DeviceCounters::default()
        }],
        notes: vec!["a note".to_owned()],
        ..StageResult::new("all", 0)
    };
    let mut stage = stage_record(&stage(), &result);
    // Nothing makes operations on names yet, but their place is part of the schema.
    let opened = stage.jobs[0].read.clone().expect("the job reads");
    stage.jobs[0].meta.insert("open".to_owned(), opened.clone());
    stage.emulation = Some(emulation(opened.latency_ns.clone()));
    stage.hosts = Some(hosts(&stage));
    let text = |text: &str| text.to_owned();
    Record {
        schema: text(SCHEMA),
        tool: ToolRecord {
            name: text("fathom"),
            version: text("1"),
            git: text("0"),
        },
        kind: RunKind::Run,
        title: text("everything"),
        stored: true,
        started_unix_ns: 1,
        workload: json!({}),
        design: Value::Null,
        environment: json!({}),
        sweep: Some(sweep(&stage)),
        stages: vec![stage],
        checks: vec![Check {
            id: text("io-errors"),
            passed: false,
            evidence: text("1 I/O failed"),
            remedy: text("look"),
        }],
        verdict: Verdict::Questionable,
        notes: vec![text("a note")],
        interrupted: false,
    }
}

/// The shapes that stand in many places, told by a key that each alone has.
const SHAPES: [(&str, &str); 2] = [("DIR", "latency_ns"), ("LAT", "p99_99")];

/// Every path of `value` with the kind of what stands there.
fn walk(path: &str, value: &Value, paths: &mut BTreeSet<String>) {
    let last = path.rsplit('.').next().unwrap_or_default();
    let kind = match value {
        _ if FOREIGN.contains(&path) => "document",
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "whole number",
        Value::String(_) => "text",
        Value::Array(elements) => {
            let place = format!("{path}[]");
            for element in elements {
                walk(&place, element, paths);
            }
            return;
        }
        Value::Object(fields) => {
            let shape = SHAPES.iter().find(|(_, key)| fields.contains_key(*key));
            let path = match shape {
                Some((name, _)) if *name != path => {
                    paths.insert(format!("{path}: {name}"));
                    name
                }
                _ => path,
            };
            for (key, field) in fields {
                let key = if NAMED.contains(&last) { "NAME" } else { key };
                let dot = if path.is_empty() { "" } else { "." };
                walk(&format!("{path}{dot}{key}"), field, paths);
            }
            return;
        }
    };
    paths.insert(format!("{path}: {kind}"));
}

fn paths_of(record: &Record) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let document = serde_json::to_value(record).expect("a record is JSON");
    walk("", &document, &mut paths);
    paths
}

#[test]
fn the_keys_are_those_of_the_schema() {
    let found: Vec<String> = paths_of(&record()).into_iter().collect();
    let expected: Vec<&str> = include_str!("schema.txt").lines().collect();
    let all = found.join("\n");
    assert!(found == expected, "schema.txt should be\n\n{all}\n");
}

/// The last part of every path, without its place: what `docs/record.md` must tell of.
#[test]
fn every_key_is_documented() {
    let document = include_str!("../../../docs/record.md");
    for path in paths_of(&record()) {
        let key = path.split(':').next().unwrap_or_default();
        let key = key.trim_end_matches("[]");
        let key = key.rsplit('.').next().unwrap_or_default();
        let told = key == "NAME" || document.contains(&format!("`{key}`"));
        assert!(told, "docs/record.md does not tell of `{key}` ({path})");
    }
}

#[test]
fn a_record_is_read_back_as_it_was_written() {
    let text = serde_json::to_string(&record()).unwrap();
    let read: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(read, record());
}

/// A report of a stored record shows the figures of its run, to the last digit.
#[test]
fn figures_are_read_back_to_the_last_digit() {
    for ios in 1..2000_u32 {
        let figure = f64::from(ios) * 1e9 / 30_000_271.0;
        let text = serde_json::to_string(&figure).expect("a number is written");
        let again: f64 = serde_json::from_str(&text).expect("a number is read");
        assert_eq!(figure.to_bits(), again.to_bits(), "{text}");
    }
}

/// A stage that is called as the repeat of another would be counts for itself.
#[test]
fn a_stage_called_like_a_repeat_is_a_point_of_its_own() {
    let curves = |repeats: [u64; 2], names: &[&str]| {
        let stage = record().stages.remove(0);
        let stages = names.iter().map(|name| StageRecord {
            name: (*name).to_owned(),
            ..stage.clone()
        });
        let stages: Vec<StageRecord> = stages.collect();
        let points = ["x", "x #2"].map(|name| SweepPoint {
            stage: name.to_owned(),
            depth: Some(1),
            ..SweepPoint::default()
        });
        let planned = [0, 1].map(|index| PlannedStage {
            name: &points[index].stage,
            repeats: repeats[index],
        });
        let sweep = sweep_record(&points, &planned, &stages).expect("there are points");
        let once = stage.total.all.as_ref().expect("it did I/O").ios;
        let ios = sweep.curves[0].points.iter().map(|point| point.ios / once);
        ios.collect::<Vec<_>>()
    };
    assert_eq!(curves([1, 1], &["x", "x #2"]), [1, 1]);
    assert_eq!(curves([2, 1], &["x", "x #2", "x #2"]), [2, 1]);
    assert_eq!(curves([1, 2], &["x", "x #2", "x #2 #2"]), [1, 2]);
}
