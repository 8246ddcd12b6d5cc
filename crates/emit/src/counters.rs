//! Performance counters of Windows, as a batch file for `logman`.

use std::fmt::Write as _;

use crate::build::Build;

/// Seconds between two samples: what the guide to measuring IOPS on Windows takes.
const INTERVAL: &str = "00:00:15";

/// The counters of that guide, and what says that one of them is too high (the same guide). The last is not among them: it
/// tells when a disk was busy, on which the guide's 10 ms depend. Percent signs stand twice, as a batch file takes them.
const COUNTERS: [(&str, &str); 7] = [
    (
        "Avg. Disk sec/Transfer",
        "above 0.025 s the disks cannot keep up; a busy server stays below 0.010 s",
    ),
    ("Avg. Disk Queue Length", "2 for each disk: 8 for four"),
    ("Avg. Disk Bytes/Transfer", ""),
    ("Disk Bytes/sec", ""),
    ("Disk Transfers/sec", "I/Os a second"),
    (
        "Split IO/sec",
        "fragmentation, or I/Os too large for one transfer",
    ),
    (
        "%% Idle Time",
        "100 less this is how long the disk was busy",
    ),
];

/// A batch file that creates the set of counters, and says how it is started, stopped and read.
pub fn script(build: &Build<'_>) -> String {
    let set = format!("fathom-{}", build.app);
    let mut text = String::from("@echo off\n");
    text.push_str(&build.head(
        "rem",
        &[
            "Creates a set of performance counters. Run it as administrator, then:",
            "",
        ],
    ));
    for line in [
        format!("  logman start {set}"),
        format!("  logman stop {set}"),
        String::new(),
        "Names of counters are English; `typeperf -q PhysicalDisk` lists those of this Windows."
            .to_owned(),
    ] {
        text.push_str(format!("rem {line}").trim_end());
        text.push('\n');
    }
    for (counter, meaning) in COUNTERS {
        if !meaning.is_empty() {
            let _ = writeln!(text, "rem {counter}: {meaning}");
        }
    }
    let _ = write!(
        text,
        "logman create counter {set} -f csv -si {INTERVAL} ^\n  \
         -o \"%SystemDrive%\\PerfLogs\\{set}\" ^\n  -c"
    );
    for (counter, _) in COUNTERS {
        let _ = write!(text, " ^\n  \"\\PhysicalDisk(*)\\{counter}\"");
    }
    let _ = write!(
        text,
        "\nif errorlevel 1 exit /b 1\necho Created {set}: start it with logman start {set}\n"
    );
    text.replace('\n', "\r\n")
}
