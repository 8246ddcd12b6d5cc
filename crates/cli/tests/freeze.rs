//! A storage that stands still for a second, and which figures show it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;

/// A file system of its own in a file, mounted while the value lives.
struct Mounted {
    folder: tempfile::TempDir,
}

impl Mounted {
    fn new() -> Self {
        let folder = support::disk_folder();
        let image = folder.path().join("image").display().to_string();
        let size = std::fs::File::create(&image).unwrap();
        size.set_len(256 << 20).unwrap();
        support::system("mkfs.ext4", &["-q", "-F", &image]);
        let mounted = Self { folder };
        std::fs::create_dir(mounted.point()).unwrap();
        let point = mounted.point().display().to_string();
        support::system("mount", &["-o", "loop", &image, &point]);
        mounted
    }

    fn point(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let point = self.point();
        // Thawing what is not frozen is an error, and no matter.
        let _ = Command::new("fsfreeze")
            .arg("-u")
            .arg(&point)
            .stderr(Stdio::null())
            .status();
        let _ = Command::new("umount").arg("-l").arg(&point).status();
    }
}

/// Rounds in which other work on the machine may show in the latency; it is met by another round, never by a lower bar.
const MOST_ROUNDS: usize = 5;
/// What the 99th percentile of latency stays below, ms: it shows nothing of a second.
const HIDDEN_MS: f64 = 1.0;
/// The same of the peer, whose own waiting for a processor is no matter here.
const HIDDEN_BY_THE_PEER_MS: f64 = 20.0;
/// What is reached at least of 1,000 IOPS.
const REACHED_LEAST: f64 = 950.0;

fn wait_until(moment: Nanos) {
    while Clock::now() < moment {
        sleep_until(moment);
    }
}

/// Runs `program`, and freezes the file system for a second once it has measured for two.
fn run_with_freeze(program: &mut Command, point: &Path) -> Value {
    let child = program
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Clock::now();
    wait_until(begun + Nanos::from_secs(2));
    let point = point.display().to_string();
    support::system("fsfreeze", &["-f", &point]);
    wait_until(Clock::now() + Nanos::from_secs(1));
    support::system("fsfreeze", &["-u", &point]);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

fn millis(value: &Value) -> f64 {
    value.as_f64().unwrap() / 1e6
}

/// The first round that is as it is said to be, or the last of all.
fn first_good<T>(mut round: impl FnMut() -> T, is_good: impl Fn(&T) -> bool) -> (T, bool) {
    let mut found = round();
    for _ in 1..MOST_ROUNDS {
        if is_good(&found) {
            break;
        }
        found = round();
    }
    let good = is_good(&found);
    (found, good)
}

#[test]
fn response_time_shows_a_second_that_latency_hides() {
    let mounted = Mounted::new();
    let file = format!("--filename={}", mounted.point().join("data").display());
    let arguments = [
        "--name=oltp",
        &file,
        "--size=64m",
        "--rw=randwrite",
        "--bs=4k",
        "--direct=1",
        "--ioengine=psync",
        "--rate_iops=1000",
        "--time_based",
        "--runtime=5",
    ];
    // fio lays nothing out for writes; the file is made before, so that both measure the same.
    let layout = [
        "--name=l",
        &file,
        "--size=64m",
        "--rw=write",
        "--bs=1m",
        "--end_fsync=1",
    ];
    support::system("fio", &layout);
    let home = mounted.folder.path().to_owned();
    let ours = || {
        let mut command = support::fathom(&home);
        command.args(["run", "--json", "--no-record", "fio"]);
        let ours = run_with_freeze(command.args(arguments), &mounted.point());
        let write = &ours["stages"][0]["jobs"][0]["write"];
        let response = millis(&write["response_ns"]["p99"]);
        let iops = write["iops"].as_f64().unwrap();
        (millis(&write["latency_ns"]["p99"]), iops, response)
    };
    let ((latency, reached, response), good) = first_good(ours, |(latency, reached, response)| {
        *latency < HIDDEN_MS && *reached > REACHED_LEAST && (850.0..1300.0).contains(response)
    });
    println!(
        "fathom: latency p99 {latency:.3} ms, response time p99 {response:.0} ms at {reached:.0} IOPS"
    );
    assert!(
        good,
        "latency p99 {latency} ms, response p99 {response} ms, {reached} IOPS"
    );
    let theirs = || {
        let mut command = Command::new("fio");
        command.args(arguments).arg("--output-format=json");
        let theirs = run_with_freeze(&mut command, &mounted.point());
        let write = &theirs["jobs"][0]["write"];
        let told = millis(&write["clat_ns"]["percentile"]["99.000000"]);
        (told, write["iops"].as_f64().unwrap())
    };
    let ((told, iops), good) = first_good(theirs, |(told, iops)| {
        *told < HIDDEN_BY_THE_PEER_MS && *iops > REACHED_LEAST
    });
    println!("fio: clat p99 {told:.3} ms at {iops:.0} IOPS");
    // What the peer shows of that second: nothing. Were it otherwise, there would be no need for another figure.
    assert!(good, "clat p99 {told} ms, {iops} IOPS");
}
