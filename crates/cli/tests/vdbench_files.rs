//! Vdbench's runs on files beyond one workload on one set: where they end, and what stands in the output of several.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use support::{disk_folder, expect_code, names_in};

/// A set of twenty files that two threads read.
const READS: &str = "fsd=fsd1,anchor=ANCHOR,depth=1,width=1,files=20,size=64k\n\
    fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=random,threads=2\n";

/// Seconds that the stages of a record measured, and the bytes that they read.
fn stages(record: &str) -> Vec<(f64, u64)> {
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let stages = record["stages"].as_array().unwrap().iter();
    let of = |stage: &serde_json::Value| {
        let seconds = stage["measured_ns"].as_u64().unwrap() as f64 / 1e9;
        (
            seconds,
            stage["total"]["read"]["bytes"].as_u64().unwrap_or(0),
        )
    };
    stages.map(of).collect()
}

fn parameters(home: &Path, anchor: &str, text: &str) {
    std::fs::write(home.join("parm"), text.replace("ANCHOR", anchor)).unwrap();
}

#[test]
fn maxdata_ends_runs_on_files() {
    let home = disk_folder();
    let anchor = home.path().join("tree").display().to_string();
    let rd = "create_anchors=yes\nrd=r,fwd=fwd1,fwdrate=1000,format=yes,elapsed=60,interval=1";
    let (first, rd) = rd.split_once('\n').unwrap();
    let text = format!("{first}\n{READS}{rd},maxdata=5m\n");
    parameters(home.path(), &anchor, &text);
    // 1,000 reads of 4 KiB a second are 3.9 MiB: 5 MiB are there at the end of the second second.
    let (record, told) = expect_code(home.path(), &["run", "--json", "./parm"], 0);
    let (seconds, bytes) = *stages(&record).last().unwrap();
    assert!((1.5..20.0).contains(&seconds), "{seconds}");
    assert!(bytes >= 5 << 20, "{bytes}");
    // What it would be converted to does not end so.
    assert!(told.contains("`maxdata=` on files ends runs"), "{told}");
    let words = ["vdbench", "-f", "parm", "-o", "out"];
    expect_code(home.path(), &words, 0);
    let totals = std::fs::read_to_string(home.path().join("out/totals.html")).unwrap();
    let label = totals.split("avg_2-").nth(1).unwrap();
    let last: u64 = label.split(' ').next().unwrap().parse().unwrap();
    assert!((2..20).contains(&last), "{totals}");
    // A multiple is of SDs, of which there are none.
    let text = text.replace("maxdata=5m", "maxdata=2");
    parameters(home.path(), &anchor, &text);
    let (_, told) = expect_code(home.path(), &["run", "./parm"], 3);
    assert!(told.contains("a multiple of the size of all SDs"), "{told}");
}

#[test]
fn maxdata_ends_predictions_on_files() {
    let folder = tempfile::tempdir().unwrap();
    let design =
        "[[device]]\nname = 'd'\nmount = '/'\nsize = '1TiB'\niops = 20000\nlatency = 'none'\n";
    std::fs::write(folder.path().join("d.design.toml"), design).unwrap();
    // The second goes on to its end. Two workloads that take turns end together.
    let text = format!(
        "{READS}fwd=fwd2,fsd=fsd1,operation=read,xfersize=4k,fileio=random,threads=2\n\
         rd=ends,fwd=fwd1,fwdrate=1000,elapsed=60,maxdata=5m\n\
         rd=whole,fwd=fwd1,fwdrate=1000,elapsed=4,maxdata=1g\n\
         rd=warm,fwd=fwd1,fwdrate=1000,elapsed=60,warmup=2,maxdata=5m\n\
         rd=two,fwd=fwd*,fwdrate=max,elapsed=60,maxdata=100m\n"
    );
    parameters(folder.path(), "/data/tree", &text);
    let words = ["predict", "--on", "d.design.toml", "--json", "./parm"];
    let (record, _) = expect_code(folder.path(), &words, 0);
    let found = stages(&record);
    // 1,000 reads of 4 KiB a second are 3.9 MiB, 20,000 are 78 MiB.
    assert_eq!(found.len(), 4);
    for ((seconds, _), expected) in found.iter().zip([2.0, 4.0, 2.0, 2.0]) {
        assert!((seconds - expected).abs() < 0.5, "{found:?}");
    }
    let peer = ["predict", "--on", "d.design.toml", "--format", "peer"];
    let (stdout, _) = expect_code(folder.path(), &[&peer[..], &["./parm"]].concat(), 0);
    let labels = stdout.lines().filter_map(|line| line.split("avg_").nth(1));
    let labels: Vec<&str> = labels.filter_map(|rest| rest.split(' ').next()).collect();
    assert_eq!(labels, ["2-2", "2-4", "3-4", "2-2"], "{stdout}");
}

/// As 5.04.07 writes them: reports of all FSDs and FWDs of a file, a total of FSDs where there are several, and shares laid
/// beside those asked for where some FWD asks for one.
#[test]
fn what_no_run_uses_has_files_and_equal_shares_are_not_judged() {
    let home = disk_folder();
    let anchor = |name: &str| home.path().join(name).display().to_string();
    let text = format!(
        "create_anchors=yes\nfsd=default,depth=1,width=1,files=20,size=64k\n\
         fsd=fsd1,anchor={}\nfsd=fsd2,anchor={}\n\
         fwd=default,xfersize=4k,fileio=random,threads=2,SHARE\n\
         fwd=fwd1,fsd=fsd1,operation=read\nfwd=fwd2,fsd=fsd1,operation=write\n\
         fwd=fwd3,fsd=fsd2,operation=getattr\n\
         rd=rd1,fwd=(fwd1,fwd2),fwdrate=20,format=yes,elapsed=3,interval=1\n",
        anchor("a"),
        anchor("b")
    );
    let output = |share: &str| {
        std::fs::write(home.path().join("parm"), text.replace(",SHARE", share)).unwrap();
        let words = ["vdbench", "-f", "parm", "-o", "out"];
        let (stdout, _) = expect_code(home.path(), &words, 0);
        let skew = std::fs::read_to_string(home.path().join("out/skew.html")).unwrap();
        let (_, skew) = skew.rsplit_once("Starting RD=rd1").unwrap();
        (stdout, skew.to_owned())
    };
    let (stdout, skew) = output("");
    // Some 40 operations are never split in two halves within one percent.
    assert!(!stdout.contains("Observed Workload skew"), "{stdout}");
    assert!(!skew.contains("requested"), "{skew}");
    let rows: Vec<&str> = skew
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let expected = ["fsd1", "Total", "fwd1", "fwd2", "Total"];
    let named = rows.iter().filter(|name| expected.contains(*name));
    assert!(named.eq(expected.iter()), "{skew}");
    let names = names_in(&home.path().join("out"));
    for name in [
        "fsd2.html",
        "fsd2.histogram.html",
        "fwd3.html",
        "fwd3.histogram.html",
    ] {
        assert!(names.iter().any(|other| other == name), "{names:?}");
    }
    let rests = std::fs::read_to_string(home.path().join("out/fwd3.html")).unwrap();
    assert!(rests.contains("avg_2-3    0.0  0.000"), "{rests}");
    let (_, skew) = output(",skew=50");
    assert!(skew.contains("requested"), "{skew}");
}
