//! A program that is held back says so: in a real control group with a processor limit, and beside threads that have the
//! processors. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Held by the test that has the processors: beside threads that spin, a program gets less time than a limit would leave it,
/// and no limit holds it back.
static PROCESSORS: Mutex<()> = Mutex::new(());

/// A control group of which the processors give a tenth of one's time; gone when dropped.
struct Limited(PathBuf);

impl Limited {
    /// In the version that counts processor time here.
    fn new() -> Self {
        let name = format!("fathom-test-{}", std::process::id());
        let mounted = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
        let first = mounted
            .map(Path::new)
            .into_iter()
            .find(|place| place.is_dir());
        let group = first.unwrap_or(Path::new("/sys/fs/cgroup")).join(name);
        if first.is_none() {
            // Groups inside get what is given to them here.
            fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu").unwrap();
        }
        fs::create_dir(&group).unwrap();
        let group = Self(group);
        match first {
            Some(_) => fs::write(group.0.join("cpu.cfs_quota_us"), "10000").unwrap(),
            None => fs::write(group.0.join("cpu.max"), "10000 100000").unwrap(),
        }
        group
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // Shown by `ls` if it ever stays; a panic here would hide the test's own.
        let _ = fs::remove_dir(&self.0);
    }
}

/// A folder with a workload of one worker.
fn with_workload() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let workload = "[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\nbackend = \"null\"\ntarget = { path = \"x\", size = \"1GiB\" }\n";
    fs::write(folder.path().join("null.workload.toml"), workload).unwrap();
    folder
}

#[test]
fn waits_for_a_processor_are_told() {
    let folder = with_workload();
    let _alone = PROCESSORS.lock();
    let is_over = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        for _ in 0..4 * thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let arguments = ["run", "--json", "--no-record", "null.workload.toml"];
        let output = support::fathom(folder.path()).args(arguments).output();
        is_over.store(true, Ordering::Relaxed);
        output.unwrap()
    });
    assert!(output.status.success(), "{output:?}");
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = record["stages"][0]["notes"].to_string();
    assert!(
        told.contains("other threads had the processors, for which workers waited"),
        "{told}"
    );
}

#[test]
fn a_processor_limit_is_told() {
    let folder = with_workload();
    let _alone = PROCESSORS.lock();
    let limited = Limited::new();
    let program = support::fathom(folder.path());
    // That nothing is told where nothing was held back is shown without a machine that may be limited itself
    // (`crates/engine/src/held_back.rs`).
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "echo $$ > {}/cgroup.procs && exec '{}' run --json --no-record null.workload.toml",
            limited.0.display(),
            program.get_program().display()
        ))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = record["stages"][0]["notes"].to_string();
    assert!(
        told.contains("the processor limit of this container"),
        "{told}"
    );
    // Nine tenths of the time are those of the limit, and no figure of this run is one of what it measured.
    let checks = record["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "processor-limit");
    let check = check.unwrap();
    assert_eq!(check["passed"], false, "{check}");
    assert_eq!(record["verdict"], "questionable");
}
