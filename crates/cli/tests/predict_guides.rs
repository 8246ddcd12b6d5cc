//! The published guides' figures, predicted from their own job files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fathom_rawio::Clock;
use fathom_units::Nanos;

use serde_json::Value;
use support::{example, expect_code};

/// Predicts `job` on `design` twice: the record, after showing that both took under five seconds and agree to the byte.
#[track_caller]
fn predict(design: &str, job: &str) -> Value {
    let home = support::disk_folder();
    let (design, job) = (example(design), example(job));
    let arguments = [
        "predict",
        "--on",
        &design,
        "--json",
        "fio",
        "--runtime",
        "30",
        &job,
    ];
    let mut stages = Vec::new();
    for _ in 0..2 {
        let started = Clock::now();
        let (stdout, _) = expect_code(home.path(), &arguments, 0);
        assert!(
            Clock::now() - started < Nanos::from_secs(5),
            "{job} took {}",
            Clock::now() - started
        );
        let record: Value = serde_json::from_str(&stdout).unwrap();
        stages.push(record["stages"].to_string());
        if stages.len() == 2 {
            assert!(stages[0] == stages[1], "{job}: two predictions differ");
            return record;
        }
    }
    unreachable!("the loop returns");
}

#[track_caller]
fn near(what: &str, value: f64, least: f64, most: f64) {
    assert!(
        (least..=most).contains(&value),
        "{what} is {value}, expected {least} to {most}"
    );
}

fn figure(record: &Value, direction: &str, key: &str) -> f64 {
    let figures = &record["stages"][0]["total"][direction];
    figures[key]
        .as_f64()
        .unwrap_or_else(|| panic!("no {key} of {direction} in {figures}"))
}

/// The limit that held the I/Os longest.
fn bound_by(record: &Value, direction: &str) -> String {
    let shares = record["stages"][0]["total"][direction]["bound_by"]
        .as_object()
        .unwrap();
    let most = shares
        .iter()
        .max_by(|a, b| a.1.as_f64().unwrap().total_cmp(&b.1.as_f64().unwrap()));
    most.unwrap().0.clone()
}

#[test]
fn writes_of_2016_are_bound_by_the_disks() {
    let record = predict("guide-2016/ds14.design.toml", "guide-2016/fiowrite.ini");
    near(
        "IOPS",
        figure(&record, "write", "iops"),
        49_500.0,
        50_000.0 * 1.001,
    );
    let mean = record["stages"][0]["total"]["write"]["latency_ns"]["mean"]
        .as_f64()
        .unwrap();
    near("mean latency in ms", mean / 1e6, 20.5 * 0.98, 20.5 * 1.02);
    assert_eq!(bound_by(&record, "write"), "disk-iops");
}

#[test]
fn reads_of_2016_are_bound_by_the_cache() {
    let record = predict("guide-2016/ds14.design.toml", "guide-2016/fioread.ini");
    near("IOPS", figure(&record, "read", "iops"), 62_500.0, 64_000.0);
    assert_eq!(bound_by(&record, "read"), "vm-cached-bytes");
}

#[test]
fn reads_and_writes_of_2016_add_up() {
    let record = predict("guide-2016/ds14.design.toml", "guide-2016/fioreadwrite.ini");
    assert!(figure(&record, "all", "iops") > 100_000.0);
    let jobs = record["stages"][0]["jobs"].as_array().unwrap();
    for job in jobs
        .iter()
        .filter(|job| job["name"].as_str().unwrap().starts_with("writer"))
    {
        near(
            "a writer's IOPS",
            job["write"]["iops"].as_f64().unwrap(),
            12_250.0,
            12_450.0,
        );
    }
}

#[test]
fn throughput_of_2016_is_both_limits() {
    let record = predict(
        "guide-2016/ds14.design.toml",
        "guide-2016/fiothroughput.ini",
    );
    near(
        "MB/s",
        figure(&record, "all", "bandwidth_bytes_per_sec") / 1e6,
        1024.0 * 0.99,
        1024.0 * 1.01,
    );
}

#[test]
fn the_guide_of_2021_is_met() {
    let design = "guide-2021/d8ds_v4.design.toml";
    let writes = predict(design, "guide-2021/fiowrite.ini");
    near(
        "write IOPS",
        figure(&writes, "write", "iops"),
        12_800.0 * 0.99,
        12_800.0 * 1.01,
    );
    let reads = predict(design, "guide-2021/fioread.ini");
    near(
        "read IOPS",
        figure(&reads, "read", "iops"),
        77_000.0 * 0.99,
        77_000.0 * 1.01,
    );
    let both = predict(design, "guide-2021/fioreadwrite.ini");
    near(
        "combined IOPS",
        figure(&both, "all", "iops"),
        89_800.0 * 0.99,
        89_800.0 * 1.01,
    );
    let throughput = predict(design, "guide-2021/fiothroughput.ini");
    let megabytes = figure(&throughput, "all", "bandwidth_bytes_per_sec") / 1e6;
    near("MB/s", megabytes, 677.0 * 0.99, 677.0 * 1.01);
}

#[test]
fn the_summary_says_what_binds_and_what_falls_short() {
    let home = support::disk_folder();
    let design = example("guide-2016/ds14.design.toml");
    let job = example("guide-2016/fioreadwrite.ini");
    let (stdout, _) = expect_code(
        home.path(),
        &["predict", "--on", &design, "fio", "--runtime", "30", &job],
        0,
    );
    for text in [
        "the VM's cached",
        "the disks' IOPS",
        "asked for 12,500 IOPS",
    ] {
        assert!(stdout.contains(text), "`{text}` is not in\n{stdout}");
    }
}
