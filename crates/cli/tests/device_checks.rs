//! What else befalls a device while a run measures it makes the run questionable: other programs' I/O and changes of its
//! settings, on loop devices of the tests' own. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;
use support::{expect_code, fathom, system};

/// A block device over a file; gone when dropped.
struct LoopDevice(String);

impl LoopDevice {
    fn new(folder: &Path) -> Self {
        let image = folder.join("disk.img");
        std::fs::write(&image, vec![7; 16 << 20]).unwrap();
        let image = image.display().to_string();
        Self(system("losetup", &["--find", "--show", &image]))
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }

    /// Words of a job that uses it directly.
    fn job(&self, words: &[&str]) -> Vec<String> {
        let filename = format!("--filename={}", self.0);
        let own = ["--name=x", &filename, "--direct=1", "--time_based"];
        own.iter().chain(words).map(|&word| word.into()).collect()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let mut losetup = std::process::Command::new("losetup");
        let _ = losetup.args(["--detach", &self.0]).status();
    }
}

/// A program that is ended when dropped.
struct Neighbour(Child);

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the check `id` says of a run of this job, which may need a word before.
fn check(folder: &Path, id: &str, before: &str, job: &[String]) -> (bool, String) {
    let mut words = vec!["run", "--json", before, "fio"];
    words.retain(|word| !word.is_empty());
    words.extend(job.iter().map(String::as_str));
    let (record, _) = expect_code(folder, &words, 0);
    found(id, &record)
}

/// What the check `id` of a record says.
fn found(id: &str, record: &str) -> (bool, String) {
    let record: Value = serde_json::from_str(record).unwrap();
    let checks = record["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == id).unwrap();
    let evidence = check["evidence"].as_str().unwrap().to_owned();
    (check["passed"] == true, evidence)
}

#[test]
fn a_program_that_reads_the_same_device_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let device = LoopDevice::new(folder.path());
    let job = device.job(&["--rw=randread", "--runtime=1"]);
    let quiet = check(folder.path(), "background-io", "", &job);
    let expected = "other programs left the devices to the run";
    assert_eq!(quiet, (true, expected.to_owned()));

    let reader = device.job(&["--rw=read", "--bs=128k", "--runtime=60"]);
    let home = tempfile::tempdir().unwrap();
    let mut neighbour = fathom(home.path());
    neighbour.arg("fio").args(reader).stdout(Stdio::null());
    let neighbour = Neighbour(neighbour.spawn().unwrap());
    let (passed, evidence) = check(folder.path(), "background-io", "", &job);
    drop(neighbour);
    assert!(!passed, "{evidence}");
    let told = format!(" on {}, beside ", device.name());
    assert!(
        evidence.contains("x: other programs read ") && evidence.contains(&told),
        "{evidence}"
    );
}

/// What is in flight as warm-up ends, what is read in it, and what is written and checked is the run's own.
#[test]
fn nothing_of_the_runs_own_is_taken_for_that_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let device = LoopDevice::new(folder.path());
    let destroy = format!("--destroy-data={}", device.name());
    for words in [
        &[
            "--rw=randrw",
            "--bs=256k",
            "--iodepth=32",
            "--ioengine=libaio",
            "--ramp_time=300ms",
        ][..],
        &["--rw=write", "--bs=64k", "--verify=crc32c", "--size=4m"],
        &[
            "--rw=randwrite",
            "--numjobs=2",
            "--ioengine=psync",
            "--fsync=8",
        ],
        &["--rw=randread", "--rate_iops=20", "--startdelay=200ms"],
    ] {
        let mut job = device.job(words);
        job.push("--runtime=600ms".to_owned());
        let (passed, evidence) = check(folder.path(), "background-io", &destroy, &job);
        assert!(passed && !evidence.contains("not judged"), "{evidence}");
    }
}

#[test]
fn a_setting_that_is_changed_meanwhile_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let device = LoopDevice::new(folder.path());
    let setting = format!("/sys/block/{}/queue/read_ahead_kb", device.name());
    let before = std::fs::read_to_string(&setting).unwrap();
    let mut job = device.job(&["--rw=randread", "--runtime=200ms"]);
    let expected = "files, file systems and devices were after the run as before it";
    let silent = check(folder.path(), "device-changed", "", &job);
    assert_eq!(silent, (true, expected.to_owned()));

    // Once the run has begun, and before its first I/O.
    job.push(format!("--exec_prerun=echo 12 > {setting}"));
    let words: Vec<&str> = job.iter().map(String::as_str).collect();
    let mut run = fathom(folder.path());
    run.current_dir(folder.path())
        .args(["run", "--json", "fio"]);
    let output = run.args(words).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let expected = format!(
        "{}: read_ahead_kb was `{}`, is `12`",
        device.name(),
        before.trim()
    );
    assert_eq!(found("device-changed", &stdout), (false, expected));
}
