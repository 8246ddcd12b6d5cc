//! Very many I/Os, very many threads, and a target of 16 TiB.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;

/// As many as a day's work has where users' build is tested; as many as a test build does in seconds otherwise.
fn many() -> u64 {
    match std::env::var_os("FATHOM_RELEASE_BIN") {
        Some(_) => 1_000_000_000,
        None => 100_000_000,
    }
}

#[track_caller]
fn reads(arguments: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let arguments = [
        &["fio", "--ioengine=null", "--output-format=json"],
        arguments,
    ]
    .concat();
    let (stdout, stderr) = support::expect_code(home.path(), &arguments, 0);
    assert_eq!(stderr, "");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["jobs"].as_array().unwrap().len(), 1);
    document["jobs"][0]["read"].clone()
}

#[test]
fn counts_are_exact_after_very_many_ios() {
    let count = many();
    let limit = format!("--number_ios={count}");
    let job = [
        "--name=a",
        "--rw=randread",
        "--iodepth=64",
        "--size=16t",
        &limit,
    ];
    let read = reads(&job);
    assert_eq!(read["total_ios"], count);
    assert_eq!(read["io_bytes"], count * 4096);
    assert_eq!(read["lat_ns"]["N"], count);
}

#[test]
fn a_thousand_jobs_run_at_once() {
    let job = [
        "--name=a",
        "--numjobs=1000",
        "--thread",
        "--group_reporting",
        "--size=1m",
    ];
    let read = reads(&job);
    assert_eq!(read["total_ios"], 256_000);
    assert_eq!(read["clat_ns"]["N"], 256_000);
}
