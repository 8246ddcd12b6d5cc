//! DiskPerformance.ps1's arguments, run and predicted.
//!
//! A real sweep takes minutes: `fathom predict` goes through all of its points, and a real one is stopped as it begins.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{disk_folder, example, expect_code};

/// The line of the guide, with the dash that a web page made of one `-`.
const GUIDE: &str = "-TestFileName test.dat –TestFileSizeInGB 1 -TestFilepath C:\\temp -FastMode True -RemoveTestFile True -OutputFormat Out-GridView -TestMode";

#[track_caller]
fn predicted(mode: &str) -> Vec<Value> {
    let home = disk_folder();
    let design = example("windows-guide/msa2040.design.toml");
    let mut arguments = vec![
        "predict",
        "--on",
        &design,
        "--json",
        "--no-record",
        "diskperformance",
    ];
    arguments.extend(GUIDE.split(' '));
    arguments.push(mode);
    let (stdout, _) = expect_code(home.path(), &arguments, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    // The points are those of a curve, whose knee the report marks.
    let points = record["sweep"]["curves"][0]["points"].as_array().unwrap();
    let stages = record["stages"].as_array().unwrap().clone();
    assert_eq!(points.len(), stages.len());
    stages
}

fn figure(stage: &Value, key: &str) -> f64 {
    stage["total"]["all"][key].as_f64().unwrap()
}

#[test]
fn the_guides_array_is_predicted_at_every_point() {
    // About 5 Gbit/s measured with large I/Os.
    let large = predicted("Get-LargeIO");
    assert_eq!(large.len(), 32);
    let rates: Vec<f64> = large
        .iter()
        .map(|it| figure(it, "bandwidth_bytes_per_sec") / 1e6)
        .collect();
    assert!((618.0..632.0).contains(&rates[31]), "{rates:?}");
    assert!(rates[0] < rates[31], "{rates:?}");
    // About 15,000 IOPS with small ones: 32 outstanding and more are enough.
    let small = predicted("Get-SmallIO");
    assert_eq!(small.len(), 57);
    let rates: Vec<f64> = small.iter().map(|it| figure(it, "iops")).collect();
    for rate in &rates {
        assert!((14_800.0..15_200.0).contains(rate), "{rates:?}");
    }
}

#[test]
fn the_test_file_is_as_the_script_has_it() {
    let home = disk_folder();
    let folder = home.path().join("new").join("test");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("test.dat"), "mine").unwrap();
    let map = format!("C:={}", home.path().join("new").display());
    let line = [
        "diskperformance",
        "--map",
        &map,
        "-TestFilepath",
        "C:\\test",
        "-TestMode",
        "Get-LargeIO",
    ];
    let (stdout, stderr) = expect_code(home.path(), &line, 4);
    assert!(
        stdout.contains("Checking for C:\\test\\test.dat"),
        "{stdout}"
    );
    assert!(stderr.contains("File Exists, break"), "{stderr}");
    assert_eq!(std::fs::read(folder.join("test.dat")).unwrap(), b"mine");
    let mut run = vec!["run", "--map", &map];
    run.extend([
        "diskperformance",
        "-TestFilepath",
        "C:\\test",
        "-TestMode",
        "Get-LargeIO",
    ]);
    expect_code(home.path(), &run, 4);
    let (_, stderr) = expect_code(
        home.path(),
        &["diskperformance", "-TestMode", "Get-LargeIO"],
        1,
    );
    assert!(stderr.contains("--map 'C:=/PATH'"), "{stderr}");
    let (_, stderr) = expect_code(home.path(), &["diskperformance"], 1);
    assert!(stderr.contains("`-TestMode` is needed"), "{stderr}");
    let (stdout, _) = expect_code(
        home.path(),
        &["explain", "diskperformance", "-TestM", "Get-SmallIO"],
        0,
    );
    assert!(stdout.contains("-o8 to 64"), "{stdout}");
    for word in ["-?", "-h", "--help", "/?"] {
        let (stdout, _) = expect_code(home.path(), &["diskperformance", word], 0);
        assert!(stdout.contains("-TestFilepath FOLDER"), "{stdout}");
    }
}

#[test]
fn a_run_that_is_stopped_leaves_no_file() {
    let home = disk_folder();
    let folder = home.path().display().to_string();
    let mut child = support::fathom(home.path())
        .args([
            "diskperformance",
            "-TestFilepath",
            &folder,
            "-TestMode",
            "Get-LargeIO",
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // As soon as the file is there, the user stops the script.
    let waits = format!(
        "until [ -s test.dat ]; do sleep 0.1; done; kill -INT {}",
        child.id()
    );
    let waits = format!("cd '{folder}'; {waits}");
    support::system("sh", &["-c", &waits]);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!home.path().join("test.dat").exists());
}
