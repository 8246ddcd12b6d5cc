//! Caches and credits over time, in the record and in the sentence that tells where the time went.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use support::{disk_folder, expect_code, fathom_not_under_nohup};

/// What is shown of a prediction, broken lines joined, and its first stage's part of the record.
#[track_caller]
fn predicted(size: &str, volume: &str, job: &str) -> (String, Value) {
    let folder = disk_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (design, workload) = (path("vm.design.toml"), path("w.workload.toml"));
    let machine = format!("[[vm]]\nname = \"vm\"\n{size}\n");
    let machine = machine + "[[vm.volume]]\nname = \"data\"\nmount = \"/data\"\n";
    let target = "target = { path = \"/data/f\", size = \"4GiB\" }\n[[stage]]\nname = \"reads\"\n";
    for (path, text) in [
        (&design, format!("{machine}{volume}")),
        (&workload, format!("{target}{job}")),
    ] {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{error}"));
    }
    let words = ["predict", "--quiet", "--on", &design, &workload];
    let (shown, _) = expect_code(folder.path(), &words, 0);
    let record = last_record(folder.path());
    (shown.replace("\n    ", " "), record["stages"][0].clone())
}

fn last_record(home: &Path) -> Value {
    let (document, _) = expect_code(home, &["report", "--json", "last"], 0);
    serde_json::from_str(&document).unwrap_or_default()
}

fn figures(list: &Value) -> Vec<f64> {
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().filter_map(Value::as_f64).collect()
}

#[test]
fn a_cache_warms_up() {
    let (shown, stage) = predicted(
        "size = \"Standard_DS14\"\nera = \"2016\"",
        "disks = { type = \"P30\" }\ncaching = \"read-only\"\n",
        "measure = \"90s\"\n[[stage.job]]\nname = \"reads\"\naccess = { kind = \"independent\" }\nblock = \"64KiB\"\ndepth = 32\n",
    );
    let course = &stage["storage"]["vm/data"]["over_time"];
    let shares = figures(&course["hit_share"]);
    assert!(shares.len() >= 90 && shares[0] < 0.1, "{shares:?}");
    assert!(shares[80] > 0.98, "{shares:?}");
    assert_eq!(course["at_ns"][1], 2_000_000_000u64);
    assert!(shown.contains(" % at first, 100 % at last)"), "{shown}");
}

#[test]
fn credits_run_out() {
    // A hundredth of a full bucket, (3,500 - 120) x 1,800 I/Os, lasts 18 s at the highest rate.
    let (shown, stage) = predicted(
        "size = \"Standard_D8ds_v4\"",
        "disks = { type = \"P4\" }\ncaching = \"none\"\nburst = \"credits\"\ncredits = \"1%\"\n",
        "measure = \"30s\"\n[[stage.job]]\nname = \"reads\"\ndepth = 32\n",
    );
    let course = &stage["storage"]["vm/data/disk1"]["over_time"];
    let left = figures(&course["iops_credit_share"]);
    assert!((left[8] - 0.005).abs() < 0.000_1, "{left:?}");
    assert!(left[16] > 0.000_4 && left[18] < 1e-5, "{left:?}");
    assert!(
        shown.contains("credits of `vm/data/disk1` lasted 18 s"),
        "{shown}"
    );
    let words = "FAIL cache-cliff: reads: reads 3,500 IOPS for 18 s, then 121 IOPS (0.03 ×)";
    assert!(shown.contains(words), "{shown}");
}

#[test]
fn credits_that_last_are_no_cliff() {
    let (shown, _) = predicted(
        "size = \"Standard_D8ds_v4\"",
        "disks = { type = \"P4\" }\ncaching = \"none\"\nburst = \"credits\"\n",
        "measure = \"30s\"\n[[stage.job]]\nname = \"reads\"\ndepth = 32\n",
    );
    assert!(shown.contains("verdict  TRUSTWORTHY"), "{shown}");
}

/// A server of files; a test that failed leaves none behind.
struct Serving(Child);

impl Serving {
    fn start(home: &Path, words: &[&str]) -> Self {
        let mut program = fathom_not_under_nohup(home);
        let program = program.arg("serve").args(words);
        let program = program.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap_or_else(|error| panic!("{error}"));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_ready = |line: &String| line.starts_with("serving ");
        assert!(lines.any(|line| is_ready(&line.unwrap_or_default())));
        // Somebody takes what it still says, until it ends.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self(child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.0.wait();
    }
}

/// Served storage whose credits run out within a run: 350 IOPS for five seconds, 12 for ten.
#[test]
fn a_run_over_the_end_of_credits_has_a_cliff() {
    let folder = disk_folder();
    let (home, files) = (folder.path(), folder.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    let design = "[[vm]]\nname = \"vm\"\nsize = \"Standard_D8ds_v4\"\n[[vm.volume]]\nname = \"data\"\nmount = \"/data\"\n\
                  disks = { type = \"P4\" }\ncaching = \"none\"\ncredits = \"0.3%\"\n";
    let file = files.join("data").display().to_string();
    let workload = format!(
        "target = {{ path = \"{file}\", size = \"64MiB\" }}\n[[stage]]\nname = \"reads\"\nmeasure = \"16s\"\n\
         [[stage.job]]\nname = \"reads\"\ndepth = 32\n"
    );
    let path = |name: &str| home.join(name).display().to_string();
    let (of_storage, of_run) = (path("vm.design.toml"), path("w.workload.toml"));
    std::fs::write(&of_storage, design).unwrap();
    std::fs::write(&of_run, workload).unwrap();
    let files = files.display().to_string();
    let serving = Serving::start(home, &[&of_storage, "--fuse", &files, "--scale", "0.1"]);
    expect_code(home, &["run", "--quiet", &of_run], 0);
    let record = last_record(home);
    drop(serving);
    let checks = record["checks"].as_array().unwrap().iter();
    let mut cliffs = checks.filter(|check| check["id"] == "cache-cliff");
    assert_eq!(cliffs.next().unwrap()["passed"], false, "{record}");
}
