//! Clocks that are no good make a run questionable: one that is slow to read, and one that disagrees with the processor's
//! counter. A library that is loaded before the program stands for the kernel's clock, and a file in the place of sysfs' for its
//! name. These tests need root and a C compiler.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{fathom, system};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// A reading is as many as it is told, and where it jumps, it is a second ahead from 0.7 s on.
const CLOCK: &str = r"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = 0;
    for (int reading = 0; reading < READINGS; reading++)
        result = syscall(SYS_clock_gettime, clock, time);
    if (JUMPS && clock == CLOCK_MONOTONIC) {
        static long begun;
        long now = time->tv_sec * 1000 + time->tv_nsec / 1000000;
        if (!begun)
            begun = now;
        if (now - begun > 700)
            time->tv_sec += 1;
    }
    return result;
}
";

/// A library with such a clock.
fn library(folder: &Path, readings: u32, jumps: u32) -> String {
    let source = folder.join("clock.c");
    std::fs::write(&source, CLOCK).unwrap();
    let (source, library) = (
        source.display().to_string(),
        folder.join("clock.so").display().to_string(),
    );
    let define = |name: &str, value: u32| format!("-D{name}={value}");
    let defines = [define("READINGS", readings), define("JUMPS", jumps)];
    let [readings, jumps] = defines.each_ref().map(String::as_str);
    let words = [
        "-shared", "-fPIC", "-O1", readings, jumps, "-o", &library, &source,
    ];
    system("cc", &words);
    library
}

/// What `clock-source` says of two seconds of reads from the page cache, where the kernel keeps time by `source` and the
/// library is loaded before the program; whether it passed, and its words.
fn told(folder: &Path, source: Option<&str>, library: Option<&str>) -> (bool, String) {
    let program = fathom(folder);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c"]);
    let name = folder.join("source");
    let mount = source.map_or_else(String::new, |source| {
        std::fs::write(&name, format!("{source}\n")).unwrap();
        format!("mount --bind '{}' {SOURCE} && ", name.display())
    });
    let before = library.map_or_else(String::new, |library| format!("LD_PRELOAD='{library}' "));
    command.arg(format!("{mount}{before}exec \"$@\""));
    command.arg("sh").arg(program.get_program());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let job = "--name=x --filename=file --size=4m --rw=randread --direct=0 --ioengine=psync --time_based --runtime=2";
    command.args(["run", "--json", "fio"]).args(job.split(' '));
    let output = command.current_dir(folder).output().unwrap();
    let record: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    let checks = record["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "clock-source");
    let check = check.unwrap();
    let evidence = check["evidence"].as_str().unwrap().to_owned();
    (check["passed"] == true, evidence)
}

/// Whether this machine's counter keeps the time, which is what is to be disturbed.
fn has_counter() -> bool {
    std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

/// Some 20 µs a reading, several times what a read from the page cache takes.
#[test]
fn a_clock_that_is_slow_to_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path(), 100, 0);
    let (passed, evidence) = told(folder.path(), Some("hpet"), Some(&library));
    assert!(!passed, "{evidence}");
    let start = "x: a reading of the clock (hpet) takes ";
    assert!(evidence.starts_with(start), "{evidence}");
    assert!(evidence.contains(", 2 of them "), "{evidence}");
    assert!(
        evidence.contains(" of the median latency of reads, "),
        "{evidence}"
    );
}

/// The name of a clock says nothing of what a reading takes.
#[test]
fn a_clock_of_a_slow_name_that_is_quick_to_read_is_not() {
    if !has_counter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (passed, evidence) = told(folder.path(), Some("acpi_pm"), None);
    assert!(passed, "{evidence}");
    let start = "a reading of the clock (acpi_pm) takes ";
    assert!(evidence.starts_with(start), "{evidence}");
}

/// As where a virtual machine stood still, or was moved.
#[test]
fn a_clock_that_disagrees_with_the_counter_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path(), 1, 1);
    let (passed, evidence) = told(folder.path(), None, Some(&library));
    let words = "x: the processor's counter and the kernel's clock disagreed; latencies around that moment are doubtful";
    if has_counter() {
        assert_eq!((passed, evidence.as_str()), (false, words));
    }
    // Whoever reads the kernel's clock has nothing that could disagree with it.
    let (_, evidence) = told(folder.path(), Some("hpet"), Some(&library));
    assert!(!evidence.contains("disagreed"), "{evidence}");
}
