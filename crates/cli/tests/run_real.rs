//! Runs on real storage, as a new user would make them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;

use serde_json::Value;
use support::{expect_code, names_in};

#[test]
fn quick_answers_within_a_minute_and_leaves_nothing() {
    let folder = support::disk_folder();
    let target = folder.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let started = Clock::now();
    let (stdout, _) = expect_code(
        folder.path(),
        &["run", "quick", "--target", target.to_str().unwrap()],
        0,
    );
    assert!(
        Clock::now() - started < Nanos::from_secs(60),
        "{}",
        Clock::now() - started
    );
    for text in ["IOPS", "MiB/s", "p50", "p99", "p99.9", "max", "verdict"] {
        assert!(stdout.contains(text), "`{text}` is not in\n{stdout}");
    }
    assert!(names_in(&target).is_empty(), "{:?}", names_in(&target));
    let (again, _) = expect_code(folder.path(), &["report", "last"], 0);
    assert_eq!(again, stdout, "the stored run shows another summary");
    let (runs, _) = expect_code(folder.path(), &["runs"], 0);
    assert!(runs.contains("quick"), "{runs}");
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let folder = support::disk_folder();
    let arguments = [
        "run",
        "--json",
        "--no-record",
        "fio",
        "--name=x",
        "--rw=randread",
        "--size=16m",
        "--direct=1",
        "--ioengine=io_uring",
        "--iodepth=4",
    ];
    let (stdout, _) = expect_code(folder.path(), &arguments, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["schema"], "fathom.record/1");
    assert_eq!(record["stages"][0]["total"]["read"]["ios"], 4096);
    assert!(!folder.path().join("data").exists(), "a run was stored");
}

/// Whether a run in `home` tells of a second that it measured.
fn has_measured(home: &Path) -> bool {
    let runs = std::fs::read_dir(home.join("data/fathom/runs"));
    let mut logs = runs.into_iter().flatten().filter_map(|run| {
        let log = run.ok()?.path().join("events.jsonl");
        std::fs::read_to_string(log).ok()
    });
    logs.any(|log| {
        let mut events = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        events.any(|event: Value| event["event"] == "interval" && event["measured"] == true)
    })
}

/// Interrupts a run once it has measured for a second: its exit code and stdout.
fn interrupted(arguments: &[&str]) -> (Option<i32>, String) {
    ended_by("-INT", support::disk_folder().path(), arguments)
}

/// Sends a signal to what runs or predicts in `folder` once it has measured for a second.
fn ended_by(signal: &str, home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = support::fathom_not_under_nohup(home)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Clock::now();
    while !has_measured(home) {
        assert!(
            Clock::now() - started < Nanos::from_secs(60),
            "no second came"
        );
        assert_eq!(child.try_wait().unwrap(), None, "the run ended by itself");
        std::thread::park_timeout(Duration::from_millis(50));
    }
    support::system("kill", &[signal, &child.id().to_string()]);
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    (child.wait().unwrap().code(), stdout)
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let job = [
        "--name=x",
        "--rw=randread",
        "--size=16m",
        "--direct=1",
        "--time_based",
        "--runtime=60",
    ];
    let arguments: Vec<&str> = ["run", "--json", "fio"].into_iter().chain(job).collect();
    let (code, stdout) = interrupted(&arguments);
    assert_eq!(code, Some(130));
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["interrupted"], true);
    assert_eq!(record["verdict"], "questionable");
    let checks = record["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["passed"] == false);
    assert!(failed.into_iter().any(|check| check["id"] == "cut-short"));
    assert!(
        record["stages"][0]["total"]["read"]["ios"]
            .as_u64()
            .unwrap()
            > 0,
        "{record}"
    );
}

#[test]
fn a_closed_terminal_keeps_what_is_known() {
    let job = [
        "fio",
        "--name=x",
        "--rw=randread",
        "--size=16m",
        "--time_based",
    ];
    let folder = support::disk_folder();
    let design = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1GiB'\niops = 50_000\n";
    std::fs::write(folder.path().join("d.design.toml"), design).unwrap();
    let predict = ["predict", "--json", "--on", "d.design.toml"];
    let on_model = ["--filename=/d/x", "--runtime=1000000"];
    let predict = [&predict[..], &job, &on_model].concat();
    let run = [
        &["run", "--json"][..],
        &job,
        &["--direct=1", "--runtime=60"],
    ]
    .concat();
    for words in [predict, run] {
        let (code, stdout) = ended_by("-HUP", folder.path(), &words);
        assert_eq!(code, Some(130), "{words:?}");
        let record: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(record["interrupted"], true, "{words:?}");
        let runs = names_in(&folder.path().join("data/fathom/runs"));
        for run in runs {
            let run = folder.path().join("data/fathom/runs").join(run);
            assert!(run.join("record.json").exists(), "{words:?}");
            std::fs::remove_dir_all(run).unwrap();
        }
    }
}

#[test]
fn quick_interrupted_leaves_nothing() {
    let target = support::disk_folder();
    let (code, _) = interrupted(&["run", "quick", "--target", target.path().to_str().unwrap()]);
    assert_eq!(code, Some(130));
    assert!(
        names_in(target.path()).is_empty(),
        "{:?}",
        names_in(target.path())
    );
}
