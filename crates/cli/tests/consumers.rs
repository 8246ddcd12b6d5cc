//! What reads fio's results reads ours: ten job files as people have them, through Debian's fio and through
//! `fathom fio`, for three consumers: one that looks at every key and its type (as `jq` filters do), one with typed
//! structures that take no other key, and a plotter that goes by names of keys, options and files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// Keys that fio 3.42 has and Debian's 3.33 has not.
const NEWER: [&str; 3] = ["/job_start", "/latency_target_ns", "/latency_window_us"];

fn jobs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut jobs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    jobs.sort();
    assert_eq!(jobs.len(), 10);
    jobs
}

fn name(job: &Path) -> String {
    job.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Runs a job file with its results in a file beside its data.
fn result(mut tool: Command, job: &Path, folder: &Path) -> Value {
    let file = folder.join("result.json");
    let output = tool
        .args(["--output-format=json", "--output=result.json"])
        .arg(job)
        .current_dir(folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{tool:?}");
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{tool:?}: {error}\n{text}"))
}

/// The results of both tools, ours first, each in a folder of its own.
fn both(job: &Path) -> [(tempfile::TempDir, Value); 2] {
    let mut ours = support::fathom(Path::new("/"));
    ours.arg("fio");
    [ours, Command::new("fio")].map(|tool| {
        let folder = support::disk_folder();
        let document = result(tool, job, folder.path());
        (folder, document)
    })
}

/// Every path to a value with the type of what stands there; whole and broken numbers are told apart.
fn shape(value: &Value, path: &str, into: &mut BTreeSet<(String, &'static str)>) {
    let kind = match value {
        Value::Object(map) => {
            for (key, inner) in map {
                shape(inner, &format!("{path}/{key}"), into);
            }
            return;
        }
        Value::Array(items) => {
            for item in items {
                shape(item, &format!("{path}/[]"), into);
            }
            return;
        }
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "whole",
        Value::String(_) => "text",
        Value::Bool(_) => "truth",
        Value::Null => "null",
    };
    into.insert((path.to_owned(), kind));
}

/// Every key and its type are fio's; beyond them are only those of a newer fio, options that Debian's does not list, and
/// latencies that `gtod_reduce` takes from fio and not from us.
#[test]
fn every_key_has_fios_name_and_type() {
    for job in jobs() {
        let [ours, theirs] = both(&job).map(|(_, document)| {
            let mut found = BTreeSet::new();
            shape(&document, "", &mut found);
            found.retain(|(path, _)| !path.starts_with("/disk_util"));
            found
        });
        let name = name(&job);
        let missing: Vec<_> = theirs.difference(&ours).collect();
        assert!(
            missing.is_empty(),
            "{name}: fio has, we have not: {missing:?}"
        );
        let known = |path: &str| {
            NEWER.iter().any(|newer| path.ends_with(newer))
                || path.contains(" options/")
                || (name == "10-null" && path.contains("/clat_ns/percentile/"))
        };
        let extra: Vec<_> = ours
            .difference(&theirs)
            .filter(|(path, _)| !known(path))
            .collect();
        assert!(extra.is_empty(), "{name}: we have, fio has not: {extra:?}");
    }
}

/// The whole document in types, as programs in typed languages have it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    #[expect(dead_code, reason = "its type is what is looked at")]
    time: String,
    #[serde(rename = "global options", default)]
    global_options: BTreeMap<String, String>,
    jobs: Vec<Job>,
    #[serde(default)]
    disk_util: Vec<Disk>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "their types are what is looked at")]
struct Job {
    #[serde(rename = "jobname")]
    name: String,
    groupid: i32,
    #[serde(rename = "job_start", default)]
    start: i64,
    error: i32,
    eta: i32,
    elapsed: i32,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: Option<Direction>,
    write: Option<Direction>,
    trim: Option<Direction>,
    mixed: Option<Direction>,
    sync: Option<Sync>,
    #[serde(rename = "job_runtime")]
    runtime: i32,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: BTreeMap<String, f64>,
    iodepth_submit: BTreeMap<String, f64>,
    iodepth_complete: BTreeMap<String, f64>,
    latency_ns: BTreeMap<String, f64>,
    latency_us: BTreeMap<String, f64>,
    latency_ms: BTreeMap<String, f64>,
    latency_depth: i32,
    latency_target: i32,
    #[serde(default)]
    latency_target_ns: i64,
    latency_percentile: f64,
    latency_window: i32,
    #[serde(default)]
    latency_window_us: i64,
    desc: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "their types are what is looked at")]
struct Direction {
    io_bytes: i64,
    io_kbytes: i64,
    bw_bytes: i64,
    bw: i64,
    iops: f64,
    runtime: i64,
    total_ios: i64,
    short_ios: i64,
    drop_ios: i64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: i64,
    bw_max: i64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: i64,
    iops_min: i64,
    iops_max: i64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "their types are what is looked at")]
struct Sync {
    #[serde(default)]
    total_ios: i64,
    lat_ns: Latency,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "their types are what is looked at")]
struct Latency {
    min: i64,
    max: i64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: i64,
    #[serde(default)]
    percentile: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "their types are what is looked at")]
struct Disk {
    name: String,
    read_ios: i64,
    write_ios: i64,
    #[serde(default)]
    read_sectors: i64,
    #[serde(default)]
    write_sectors: i64,
    read_merges: i64,
    write_merges: i64,
    read_ticks: i64,
    write_ticks: i64,
    in_queue: i64,
    util: f64,
    #[serde(flatten)]
    of_parts: BTreeMap<String, Value>,
}

/// A typed consumer takes both documents, and finds the same jobs with the same options and numbers of I/Os in them.
#[test]
fn typed_consumers_take_both() {
    for job in jobs() {
        let name = name(&job);
        let [ours, theirs] = both(&job).map(|(_, document)| {
            serde_json::from_value::<Document>(document)
                .unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        assert!(ours.version.starts_with("fio-3."), "{}", ours.version);
        assert_eq!(ours.timestamp, ours.timestamp_ms / 1000);
        assert_eq!(ours.jobs.len(), theirs.jobs.len(), "{name}");
        for disk in &ours.disk_util {
            assert!(!disk.name.is_empty() && disk.util <= 100.0, "{name}");
        }
        for (key, value) in &theirs.global_options {
            assert_eq!(ours.global_options.get(key), Some(value), "{name}: {key}");
        }
        for (mine, other) in ours.jobs.iter().zip(&theirs.jobs) {
            assert_eq!(mine.name, other.name, "{name}");
            assert_eq!((mine.groupid, mine.error), (other.groupid, 0), "{name}");
            for (key, value) in &other.options {
                assert_eq!(mine.options.get(key), Some(value), "{name}: {key}");
            }
            let ends_by_size = !["time_based"].iter().any(|key| {
                mine.options.contains_key(*key) || ours.global_options.contains_key(*key)
            });
            let ios = |job: &Job| {
                let all = [&job.read, &job.write, &job.trim, &job.mixed];
                all.map(|way| way.as_ref().map(|way| way.total_ios))
            };
            // Which sizes a split draws, and so how many I/Os make up the bytes, is chance.
            if ends_by_size && name != "08-block-split" {
                let sum = |job: &Job| ios(job).iter().flatten().sum::<i64>();
                assert_eq!(sum(mine), sum(other), "{name}");
            }
            let there = |job: &Job| ios(job).map(|way| way.is_some());
            assert_eq!(there(mine), there(other), "{name}");
        }
    }
}

/// What a plotter takes from a result: the direction is named by the job's `rw`, figures and labels go by it.
fn plotted(document: &Value) -> BTreeSet<String> {
    let mut points = BTreeSet::new();
    let empty = serde_json::Map::new();
    let global = document["global options"].as_object().unwrap_or(&empty);
    for job in document["jobs"].as_array().unwrap() {
        let mut options = global.clone();
        options.extend(job["job options"].as_object().unwrap().clone());
        let text = |key: &str| {
            options
                .get(key)
                .map_or("1", |value| value.as_str().unwrap())
        };
        let mode = text("rw").trim_start_matches("rand");
        let ways: Vec<&str> = match mode {
            "rw" if job.get("mixed").is_some() => vec!["mixed"],
            "rw" => vec!["read", "write"],
            other => vec![other],
        };
        for way in ways {
            let figures = &job[way];
            let label = format!(
                "{} {way} bs={} iodepth={} numjobs={}",
                job["jobname"].as_str().unwrap(),
                text("bs"),
                text("iodepth"),
                text("numjobs")
            );
            for key in ["iops", "bw", "iops_stddev"] {
                assert!(figures[key].is_number(), "{label}: {key}");
            }
            assert!(figures["iops"].as_f64().unwrap() > 0.0, "{label}");
            points.insert(label.clone());
            // fio takes no latencies then.
            if options.contains_key("gtod_reduce") {
                continue;
            }
            assert!(figures["lat_ns"]["mean"].as_f64().unwrap() > 0.0, "{label}");
            let shares = ["latency_ns", "latency_us", "latency_ms"].map(|unit| {
                let classes = job[unit].as_object().unwrap().values();
                classes.map(|share| share.as_f64().unwrap()).sum::<f64>()
            });
            assert!(
                (95.0..105.0).contains(&shares.iter().sum()),
                "{label}: {shares:?}"
            );
        }
    }
    points
}

/// Times and values of the logs of one kind, `PREFIX_KIND.NUMBER.log`, by their file's name.
fn log_lines(folder: &Path, kind: &str) -> BTreeMap<String, Vec<(u64, u64, u64)>> {
    let names = support::names_in(folder).into_iter().filter(|name| {
        let parts: Vec<&str> = name.rsplitn(3, '.').collect();
        let [extension, number, prefix] = parts.as_slice() else {
            return false;
        };
        *extension == "log"
            && number.parse::<u32>().is_ok()
            && prefix.ends_with(&format!("_{kind}"))
    });
    let read = |name: String| {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let line = |line: &str| {
            let fields: Vec<u64> = line
                .split(", ")
                .map(|field| field.parse().unwrap_or_else(|_| panic!("{name}: {line}")))
                .collect();
            assert_eq!(fields.len(), 5, "{name}: {line}");
            (fields[0], fields[1], fields[2])
        };
        let lines = text.lines().map(line).collect();
        (name, lines)
    };
    names.map(read).collect()
}

#[test]
fn a_plotter_finds_the_same_points() {
    for job in jobs() {
        let name = name(&job);
        // A plotter looks at jobs of one direction or of both, each with its own options.
        let [ours, theirs] = both(&job);
        assert_eq!(plotted(&ours.1), plotted(&theirs.1), "{name}");
        for kind in ["bw", "iops", "lat", "slat", "clat"] {
            let [mine, other] = [&ours, &theirs].map(|it| log_lines(it.0.path(), kind));
            let files = |logs: &BTreeMap<String, _>| logs.keys().cloned().collect::<Vec<_>>();
            assert_eq!(files(&mine), files(&other), "{name}: {kind}");
            assert_eq!(mine.is_empty(), name != "07-logs", "{name}: {kind}");
            for (file, lines) in &mine {
                // Two seconds in windows of half a second, on the grid.
                let times: Vec<u64> = lines.iter().map(|line| line.0).collect();
                assert_eq!(times[..3], [500, 1000, 1500], "{file}");
                assert!((4..=5).contains(&times.len()), "{file}: {times:?}");
                assert!(
                    lines.iter().all(|line| line.1 > 0 && line.2 == 0),
                    "{file}: {lines:?}"
                );
            }
        }
    }
}

/// The mean of a log's rates is the rate that the result tells, whatever the machine does meanwhile.
#[test]
fn logs_add_up_to_the_result() {
    let jobs = jobs();
    let job = jobs.iter().find(|job| name(job) == "07-logs").unwrap();
    let folder = support::disk_folder();
    let mut tool = support::fathom(folder.path());
    tool.arg("fio");
    let document = result(tool, job, folder.path());
    let read = &document["jobs"][0]["read"];
    let runtime_ms = read["runtime"].as_u64().unwrap();
    for (kind, total) in [("iops", &read["total_ios"]), ("bw", &read["io_kbytes"])] {
        let logs = log_lines(folder.path(), kind);
        let lines = logs.values().next().unwrap();
        let mut before = 0;
        let mut sum = 0.0;
        for (time, value, _) in lines {
            sum += *value as f64 * (time - before) as f64 / 1000.0;
            before = *time;
        }
        let total = total.as_u64().unwrap() as f64;
        assert!(
            (sum / total - 1.0).abs() < 0.01,
            "{kind}: {sum} of {total} in {runtime_ms} ms: {lines:?}"
        );
    }
}
