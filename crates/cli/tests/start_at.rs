//! `fathom run --start-at`: a run that begins at a time of day.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fathom_rawio::wall_clock;
use serde_json::Value;
use support::{expect_code, fathom, names_in, system};

const SECOND: u64 = 1_000_000_000;
/// The machine of the tests has few processors, and others use them.
const NEAR: u64 = 50_000_000;
const JOB: [&str; 8] = [
    "fio",
    "--name=x",
    "--rw=randread",
    "--size=1m",
    "--direct=1",
    "--time_based",
    "--runtime=300ms",
    "--filename=x.file",
];
const VDBENCH: &str = "sd=sd1,lun=x.file,size=1m\nwd=wd1,sd=sd1,xfersize=4k\n\
                       rd=run1,wd=wd1,iorate=100,elapsed=2,interval=1\n";

/// `@SECONDS` of a time in `ahead` ns, and that time.
fn time_in(ahead: u64) -> (String, u64) {
    let at = wall_clock() + ahead;
    (format!("@{}.{:09}", at / SECOND, at % SECOND), at)
}

#[track_caller]
fn begins_at(home: &Path, at: (&str, u64), words: &[&str]) {
    let start = format!("--start-at={}", at.0);
    let arguments = [&["run", "--json", "--no-record", &start][..], words].concat();
    let (stdout, stderr) = expect_code(home, &arguments, 0);
    assert!(
        stderr.contains(&format!("the first stage begins at {}, in ", at.0)),
        "{stderr}"
    );
    let record: Value = serde_json::from_str(&stdout).unwrap();
    let began = record["stages"][0]["started_unix_ns"].as_u64().unwrap();
    let late = began.saturating_sub(at.1);
    assert!(began >= at.1 && late < NEAR, "{began} for {}", at.1);
    assert!(record["stages"][0]["started_ns"].is_u64());
    assert_eq!(record["stages"][0]["notes"].as_array().unwrap().len(), 0);
}

#[test]
fn the_first_stage_begins_at_the_time_asked() {
    let folder = support::disk_folder();
    let at = time_in(2 * SECOND);
    begins_at(folder.path(), (&at.0, at.1), &JOB);
    let whole = wall_clock() / SECOND + 2;
    let stamp = system("date", &["-u", &format!("-d@{whole}"), "+%FT%TZ"]);
    begins_at(folder.path(), (&stamp, whole * SECOND), &JOB);
}

#[test]
fn a_peers_file_begins_at_it_too() {
    let folder = support::disk_folder();
    std::fs::write(folder.path().join("x.file"), vec![7; 1 << 20]).unwrap();
    std::fs::write(folder.path().join("parm"), VDBENCH).unwrap();
    let at = time_in(2 * SECOND);
    let words = ["vdbench", "-f", "parm"];
    let start = format!("--start-at={}", at.0);
    let arguments = [&["run", "--json", &start][..], &words].concat();
    let (stdout, _) = expect_code(folder.path(), &arguments, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    // Vdbench's first interval is its warm-up, and is not measured.
    let began = record["stages"][0]["started_unix_ns"].as_u64().unwrap();
    let asked = at.1 + SECOND;
    assert!(
        began >= asked && began - asked < NEAR,
        "{began} for {asked}"
    );
}

#[test]
fn times_that_cannot_be_are_refused() {
    let folder = support::disk_folder();
    let refused = |time: &str, what: &[&str]| {
        let start = format!("--start-at={time}");
        let arguments = [&["run", &start][..], &JOB].concat();
        let (_, stderr) = expect_code(folder.path(), &arguments, 2);
        for words in what {
            assert!(stderr.contains(words), "{stderr}");
        }
    };
    let (past, _) = time_in(0);
    refused(
        &past,
        &[&format!("`{past}` was "), " ago", "hint: choose a time"],
    );
    let (far, _) = time_in(25 * 3600 * SECOND);
    refused(&far, &["more than a day ahead", "hint: choose a time"]);
    refused("09:00", &["no time with its zone", "`@1764403200`"]);
    assert!(names_in(folder.path()).is_empty(), "nothing is made");
}

#[test]
fn ctrl_c_while_waiting_ends_the_run() {
    let folder = support::disk_folder();
    let start = format!("--start-at={}", time_in(600 * SECOND).0);
    let child = fathom(folder.path())
        .args(["run", &start])
        .args(JOB)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    // The file is laid out before the wait.
    while !folder.path().join("x.file").exists() {
        std::thread::park_timeout(Duration::from_millis(20));
    }
    std::thread::park_timeout(Duration::from_millis(200));
    system("kill", &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let (stdout, _) = expect_code(folder.path(), &["report", "--json", "last"], 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&record["interrupted"], &record["verdict"]),
        (&true.into(), &"empty".into())
    );
}
