//! A run that is killed loses nothing that it had measured.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use serde_json::Value;
use support::{expect_code, fathom};

/// Measured seconds after which the run is killed.
const SECONDS: usize = 2;

/// The folder of the only run in `home`.
fn run_folder(home: &Path) -> Option<PathBuf> {
    let runs = std::fs::read_dir(home.join("data/fathom/runs")).ok()?;
    runs.filter_map(Result::ok).map(|entry| entry.path()).next()
}

/// Reads and writes of each measured second in the event log of the run in `home`.
fn measured_seconds(home: &Path) -> Vec<[u64; 2]> {
    let log =
        run_folder(home).and_then(|run| std::fs::read_to_string(run.join("events.jsonl")).ok());
    let log = log.unwrap_or_default();
    let events = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    events
        .filter(|event: &Value| event["event"] == "interval" && event["measured"] == true)
        .map(|event| ["read", "write"].map(|way| event[way]["ios"].as_u64().unwrap_or(0)))
        .collect()
}

/// Kills `child` with SIGKILL once it has measured for some seconds.
fn kill_in_mid_run(mut child: Child, home: &Path) {
    let started = Clock::now();
    while measured_seconds(home).len() < SECONDS {
        assert!(
            Clock::now() - started < Nanos::from_secs(60),
            "no seconds came"
        );
        assert_eq!(child.try_wait().unwrap(), None, "the run ended by itself");
        std::thread::park_timeout(Duration::from_millis(50));
    }
    // A second is told in two files one after the other; a kill between the two costs that second its latencies.
    std::thread::park_timeout(Duration::from_millis(100));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_readable_up_to_its_last_second() {
    let folder = support::disk_folder();
    let home = folder.path();
    let arguments = [
        "run",
        "fio",
        "--name=killed",
        "--rw=randrw",
        "--size=16m",
        "--direct=1",
        "--ioengine=io_uring",
        "--iodepth=4",
        "--time_based",
        "--runtime=60",
    ];
    let child = fathom(home)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    kill_in_mid_run(child.unwrap(), home);
    assert!(!run_folder(home).unwrap().join("record.json").exists());

    let seconds = measured_seconds(home);
    let (stdout, _) = expect_code(home, &["report", "--json", "last"], 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["interrupted"], true);
    let stage = &record["stages"][0];
    assert_eq!(stage["name"], "killed");
    assert_eq!(stage["measured_ns"], seconds.len() as u64 * 1_000_000_000);
    assert_eq!(stage["intervals"].as_array().unwrap().len(), seconds.len());
    for (index, way) in ["read", "write"].into_iter().enumerate() {
        let total = &stage["total"][way];
        let ios: u64 = seconds.iter().map(|second| second[index]).sum();
        assert!(ios > 0, "no {way}s");
        assert_eq!(total["ios"], ios, "{way}s");
        let latency = |key: &str| total["latency_ns"][key].as_u64().unwrap();
        assert!(
            latency("p50") > 0 && latency("p50") <= latency("p99"),
            "{total}"
        );
        assert!(latency("p99") <= latency("max"), "{total}");
    }
    let (summary, _) = expect_code(home, &["report", "last"], 0);
    assert!(summary.contains("cut short"), "{summary}");
    assert!(
        summary.contains("read") && summary.contains("write"),
        "{summary}"
    );
    let (runs, _) = expect_code(home, &["runs"], 0);
    assert!(runs.contains("cut short"), "{runs}");
}

#[test]
fn a_killed_run_on_a_file_set_keeps_its_operations() {
    let folder = support::disk_folder();
    let home = folder.path();
    let text = r#"
[[stage]]
name = "make"
[[stage.job]]
target = { tree = "tree", depth = 1, width = 4, files = 25, sizes = "4KiB" }
block = "4KiB"
caching = "buffered"
file_work = "format"

[[stage]]
name = "look"
measure = "60s"
[[stage.job]]
target = { tree = "tree", depth = 1, width = 4, files = 25, sizes = "4KiB" }
block = "4KiB"
caching = "buffered"
file_work = "getattr"
"#;
    std::fs::write(home.join("tree.workload.toml"), text).unwrap();
    let child = fathom(home)
        .args(["run", "tree.workload.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    kill_in_mid_run(child.unwrap(), home);

    let (stdout, _) = expect_code(home, &["report", "--json", "last"], 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["interrupted"], true);
    let stage = record["stages"].as_array().unwrap().last().unwrap();
    assert_eq!(stage["name"], "look");
    let seconds = stage["intervals"].as_array().unwrap();
    assert!(!seconds.is_empty(), "{record}");
    let of_seconds = |key: &str| -> Vec<u64> {
        let of = seconds.iter().map(|second| &second["meta"]["getattr"][key]);
        of.map(|figure| figure.as_u64().unwrap()).collect()
    };
    let done: u64 = of_seconds("ios").iter().sum();
    assert!(done > 0);
    let total = &stage["total"]["meta"]["getattr"];
    assert_eq!(total["ios"], done);
    assert_eq!(
        total["latency_ns"]["max"],
        *of_seconds("max_ns").iter().max().unwrap()
    );
}
