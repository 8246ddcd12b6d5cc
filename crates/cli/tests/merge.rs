//! `fathom merge`: one record of the same workload's runs on several hosts, each of them a run of its own here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use fathom_rawio::wall_clock;
use fathom_stats::{Histogram, from_hdr_base64};
use serde_json::Value;
use support::{expect_code, fathom};

const SECOND: u64 = 1_000_000_000;
const HOSTS: [&str; 3] = ["db1", "db2", "db3"];

/// A workload file in the folder of each of `HOSTS`, which measures for `seconds`.
fn hosts_in(folder: &Path, seconds: &str) {
    for host in HOSTS {
        let home = folder.join(host);
        std::fs::create_dir(&home).unwrap();
        let target = home.join("file").display().to_string();
        let text = format!(
            "[[stage]]\nname = \"mix\"\nmeasure = \"{seconds}\"\n[[stage.job]]\nname = \"mix\"\n\
             target = {{ path = \"{target}\", size = \"4MiB\" }}\naccess = \"random\"\nblock = \"4KiB\"\n\
             mix = {{ read = \"70%\", write = \"30%\" }}\ndepth = 4\n"
        );
        std::fs::write(home.join("x.workload.toml"), text).unwrap();
    }
}

/// Begins a run on each host, all at one time.
fn started_in(folder: &Path) -> Vec<Child> {
    let at = wall_clock() + 3 * SECOND;
    let start = format!("--start-at=@{}.{:09}", at / SECOND, at % SECOND);
    let children = HOSTS.map(|host| {
        let home = folder.join(host);
        let json = std::fs::File::create(home.join("out.json")).unwrap();
        let child = fathom(&home)
            .args(["run", "--quiet", "--json", &start, "x.workload.toml"])
            .stdout(json)
            .stderr(Stdio::null())
            .spawn();
        child.unwrap()
    });
    children.into()
}

fn record_in(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// `HOST=PATH` of what `name` says is in the folder of each host.
fn parts(folder: &Path, name: &str) -> Vec<String> {
    let part = |host: &&str| format!("{host}={}", folder.join(host).join(name).display());
    HOSTS.iter().map(part).collect()
}

#[track_caller]
fn merged(folder: &Path, parts: &[String], more: &[&str], code: i32) -> (String, String) {
    let words = parts.iter().map(String::as_str);
    let arguments: Vec<&str> = ["merge"]
        .into_iter()
        .chain(words)
        .chain(more.iter().copied())
        .collect();
    expect_code(folder, &arguments, code)
}

fn histogram(record: &Value) -> Histogram {
    let text = record["stages"][0]["total"]["all"]["latency_ns"]["histogram"].as_str();
    from_hdr_base64(text.unwrap()).unwrap()
}

/// The merged record holds what the three hold, and is shown as other records are.
fn check_whole(folder: &Path) {
    let records = HOSTS.map(|host| record_in(&folder.join(host).join("out.json")));
    let parts = parts(folder, "out.json");
    let (shown, _) = merged(folder, &parts, &["-o", "all.json"], 0);
    let whole = record_in(&folder.join("all.json"));
    let stage = &whole["stages"][0];
    let mut all = Histogram::new();
    for way in ["read", "write", "all"] {
        for figure in ["ios", "bytes", "errors"] {
            let of = |record: &Value| record["stages"][0]["total"][way][figure].as_u64().unwrap();
            let sum: u64 = records.iter().map(of).sum();
            assert_eq!(stage["total"][way][figure], sum, "{figure} of {way}");
        }
    }
    for record in &records {
        all.merge(&histogram(record));
    }
    let latency = &stage["total"]["all"]["latency_ns"];
    assert_eq!(latency["p50"], all.percentile(50.0));
    assert_eq!(latency["p99"], all.percentile(99.0));
    assert!(
        histogram(&whole).nonzero().eq(all.nonzero()),
        "bucket by bucket"
    );
    let hosts = stage["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["host"].as_str().unwrap());
    assert_eq!(hosts.collect::<Vec<_>>(), HOSTS);
    // They are processes of one machine with few processors.
    let skew = stage["hosts"]["start_skew_ns"].as_u64().unwrap();
    assert!(skew < 100_000_000, "{skew}");
    for words in [
        "3 hosts",
        "hosts\n",
        "  db2 ",
        "hosts began within ",
        "report all.json --full",
    ] {
        assert!(shown.contains(words), "`{words}` is not in\n{shown}");
    }
    let mut other_way = parts.clone();
    other_way.reverse();
    let (json, _) = merged(folder, &other_way, &["--json"], 0);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), whole);
    let (report, _) = expect_code(folder, &["report", "all.json"], 0);
    assert_eq!(report, shown);
    let (json, _) = expect_code(folder, &["report", "--json", "all.json"], 0);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), whole);
    let (beside, _) = expect_code(folder, &["compare", "all.json", "all.json"], 0);
    assert!(beside.contains("mix"), "{beside}");
    expect_code(folder, &["report", "--html", "all.html", "all.json"], 0);
    let page = std::fs::read_to_string(folder.join("all.html")).unwrap();
    assert!(page.contains("<h2>Hosts</h2>"));
    check_refused(folder, &parts);
}

/// What cannot be merged says why, and what to do; nothing is written over.
fn check_refused(folder: &Path, parts: &[String]) {
    let refused = |parts: &[String], code, words: &[&str]| {
        let (_, stderr) = merged(folder, parts, &["-o", "other.json"], code);
        for words in words {
            assert!(stderr.contains(words), "{stderr}");
        }
        assert!(!folder.join("other.json").exists());
    };
    let (_, stderr) = merged(folder, parts, &["-o", "all.json"], 4);
    assert!(stderr.contains("nothing is written over"), "{stderr}");
    refused(
        &parts[..1],
        3,
        &["two records or more", "hint: name a record of each host"],
    );
    let nameless: Vec<String> = parts.iter().map(|part| part[4..].to_owned()).collect();
    refused(
        &nameless,
        3,
        &["two records are of the host `", "hint: name the hosts: "],
    );
    let all = [parts[0].clone(), "x=all.json".to_owned()];
    refused(&all, 3, &["`x` is of several hosts already", "hint: "]);
    let text = std::fs::read_to_string(folder.join("db2/out.json")).unwrap();
    std::fs::write(folder.join("torn.json"), &text[..text.len() / 2]).unwrap();
    refused(
        &[parts[0].clone(), "x=torn.json".to_owned()],
        3,
        &["torn.json", "hint: "],
    );
    let other = text.replace("\"depth\":4", "\"depth\":5");
    std::fs::write(folder.join("depth.json"), other).unwrap();
    refused(
        &[parts[0].clone(), "x=depth.json".to_owned()],
        3,
        &[
            "job `mix` of stage `mix` differs between `db1` and `x`: `depth`",
            "hint: merge runs of one workload",
        ],
    );
}

#[test]
fn runs_that_began_together_are_one_record() {
    let folder = support::disk_folder();
    hosts_in(folder.path(), "1500ms");
    for mut child in started_in(folder.path()) {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    check_whole(folder.path());
}

/// The folder of the only run of a host.
fn run_folder(home: &Path) -> Option<PathBuf> {
    let runs = std::fs::read_dir(home.join("data/fathom/runs")).ok()?;
    runs.filter_map(Result::ok).map(|entry| entry.path()).next()
}

/// Waits until the run of a host has told of a second that it measured.
fn wait_for_a_second(home: &Path) {
    let has_one = || {
        let log = run_folder(home).map(|folder| folder.join("events.jsonl"));
        let log = log.and_then(|log| std::fs::read_to_string(log).ok());
        log.is_some_and(|log| log.contains("\"measured\":true"))
    };
    for _ in 0..400 {
        if has_one() {
            // A second is told in two files one after the other.
            return std::thread::park_timeout(Duration::from_millis(100));
        }
        std::thread::park_timeout(Duration::from_millis(25));
    }
    panic!("no second was measured");
}

#[test]
fn a_run_that_was_killed_counts_as_far_as_it_came() {
    let folder = support::disk_folder();
    hosts_in(folder.path(), "3s");
    let mut children = started_in(folder.path());
    wait_for_a_second(&folder.path().join("db2"));
    children[1].kill().unwrap();
    for child in &mut children {
        child.wait().unwrap();
    }
    let mut parts = parts(folder.path(), "out.json");
    let killed = run_folder(&folder.path().join("db2")).unwrap();
    parts[1] = format!("db2={}", killed.display());
    let (json, _) = merged(folder.path(), &parts, &["--json"], 0);
    let whole: Value = serde_json::from_str(&json).unwrap();
    let checks = whole["checks"].as_array().unwrap();
    let failed = |id: &str| {
        checks
            .iter()
            .find(|check| check["id"] == id && check["passed"] == false)
    };
    let evidence = failed("all-hosts").unwrap()["evidence"].as_str().unwrap();
    assert!(
        evidence.starts_with("2 of 3 hosts measured all of it: db2 was cut off in `mix`, "),
        "{evidence}"
    );
    assert!(
        failed("start-skew").is_some(),
        "they did not measure together"
    );
    assert_eq!(
        (&whole["interrupted"], &whole["verdict"]),
        (&true.into(), &"questionable".into())
    );
    let each = whole["stages"][0]["hosts"]["each"].as_array().unwrap();
    assert!(each[1]["cut_off"] == true && each[1]["after_ns"].is_null());
    let ios = |host: &Value| host["total"]["all"]["ios"].as_u64().unwrap();
    assert!(ios(&each[1]) > 0);
    assert_eq!(
        each.iter().map(ios).sum::<u64>(),
        whole["stages"][0]["total"]["all"]["ios"]
    );
}

/// A Vdbench file names its hosts: each machine does the work of its own.
#[test]
fn hosts_of_a_vdbench_file_are_put_together() {
    let folder = support::disk_folder();
    let home = folder.path();
    for host in ["vm1", "vm2"] {
        std::fs::write(home.join(host), vec![7; 1 << 20]).unwrap();
    }
    let text = "hd=vm1,system=far1\nhd=vm2,system=far2\nsd=sd1,host=vm1,lun=vm1,size=1m\nsd=sd2,host=vm2,lun=vm2,size=1m\n\
                wd=wd1,sd=(sd1,sd2),xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=200,elapsed=2,interval=1\n";
    std::fs::write(home.join("parm"), text).unwrap();
    let (_, stderr) = expect_code(home, &["run", "vdbench", "-f", "parm"], 8);
    assert!(
        stderr.contains("fathom run --start-at TIME vdbench --here=vm1 …"),
        "{stderr}"
    );
    for host in ["vm1", "vm2"] {
        let here = format!("--here={host}");
        let (json, _) = expect_code(home, &["run", "--json", "vdbench", "-f", "parm", &here], 0);
        std::fs::write(home.join(format!("{host}.json")), json).unwrap();
    }
    let parts = ["a=vm1.json".to_owned(), "b=vm2.json".to_owned()];
    let (json, _) = merged(home, &parts, &["--json"], 0);
    let whole: Value = serde_json::from_str(&json).unwrap();
    let jobs = whole["stages"][0]["jobs"].as_array().unwrap();
    let hosts = jobs.iter().map(|job| job["host"].as_str().unwrap());
    assert_eq!(hosts.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        whole["workload"]["stage"][0]["job"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let ios = |job: &Value| job["read"]["ios"].as_u64().unwrap();
    let sum: u64 = jobs.iter().map(ios).sum();
    assert!(sum > 0);
    assert_eq!(whole["stages"][0]["total"]["read"]["ios"], sum);
}
