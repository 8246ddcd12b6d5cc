//! A program that its container holds back says so: in a real control group with a processor limit. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A control group of which the processors give a fifth of one's time; gone when dropped.
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
            Some(_) => fs::write(group.0.join("cpu.cfs_quota_us"), "20000").unwrap(),
            None => fs::write(group.0.join("cpu.max"), "20000 100000").unwrap(),
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

#[test]
fn a_processor_limit_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let workload = "[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\nbackend = \"null\"\ntarget = { path = \"x\", size = \"1GiB\" }\n";
    fs::write(folder.path().join("null.workload.toml"), workload).unwrap();
    let notes = |group: Option<&Path>| {
        let program = support::fathom(folder.path());
        let enter = group.map(|group| format!("echo $$ > {}/cgroup.procs &&", group.display()));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!(
            "{} exec '{}' run --json --no-record null.workload.toml",
            enter.unwrap_or_default(),
            program.get_program().display()
        ));
        let output = shell.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        record["stages"][0]["notes"].to_string()
    };
    let limited = Limited::new();
    let told = notes(Some(&limited.0));
    assert!(
        told.contains("the processor limit of this container"),
        "{told}"
    );
    let told = notes(None);
    assert!(
        !told.contains("the processor limit of this container"),
        "{told}"
    );
}
