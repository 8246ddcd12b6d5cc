//! Vdbench's skews, hot bands, changing rates, joined SDs and curves on files, run and predicted; DISKSPD's rows of targets
//! that threads share.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{disk_folder, expect_code};

/// A machine with a disk of 5,000 IOPS, one of 2,300, and a volume over NFS.
const DESIGN: &str = "
[[vm]]
name = \"vm\"
size = \"Standard_D64s_v3\"
[[vm.volume]]
name = \"a\"
mount = \"/a\"
disks = { type = \"P30\" }
caching = \"none\"
burst = \"off\"
[[vm.volume]]
name = \"b\"
mount = \"/b\"
disks = { type = \"P20\" }
caching = \"none\"
burst = \"off\"
[[nfs]]
name = \"n\"
mount = \"/n\"
level = \"premium\"
quota = \"10TiB\"
rtt = \"near\"
connections = 1
rsize = \"64KiB\"
wsize = \"64KiB\"
on = [\"vm\"]
";

/// The stages of what `words` run or predict.
#[track_caller]
fn stages(home: &Path, words: &[&str]) -> Vec<Value> {
    let mut all = vec![words[0], "--json", "--quiet", "--no-record"];
    all.extend(&words[1..]);
    let (text, _) = expect_code(home, &all, 0);
    let record: Value = serde_json::from_str(&text).unwrap();
    record["stages"].as_array().unwrap().clone()
}

/// Writes `text` into the folder and gives its path.
fn written(home: &Path, name: &str, text: &str) -> String {
    let path = home.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[track_caller]
fn predicted(text: &str) -> Vec<Value> {
    let home = disk_folder();
    let design = written(home.path(), "d.design.toml", DESIGN);
    let file = written(home.path(), "p", text);
    stages(
        home.path(),
        &["predict", "--on", &design, "vdbench", "-f", &file],
    )
}

fn job_iops(stage: &Value, job: usize) -> f64 {
    stage["jobs"][job]["read"]["iops"].as_f64().unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() < share,
        "{found} of {expected}"
    );
}

#[test]
fn full_speed_with_shares_is_predicted() {
    let found = predicted(
        "sd=a,lun=/a/f,size=1g\nsd=b,lun=/b/f,size=1g\nwd=v,sd=a,skew=25\nwd=w,sd=b,skew=75\n\
         rd=r,wd=*,iorate=max,elapsed=10,warmup=2,threads=16\n\
         rd=c,wd=*,iorate=curve,curve=50,elapsed=10,warmup=2,threads=16\n",
    );
    // The P20 is full, and the other has a third of its rate.
    near(job_iops(&found[0], 1), 2300.0, 0.01);
    near(job_iops(&found[0], 0), 2300.0 / 3.0, 0.01);
    near(
        job_iops(&found[2], 0) + job_iops(&found[2], 1),
        1600.0,
        0.03,
    );
}

/// The shape of the sample with which the layout of rows on files was taken, less its last RD.
#[test]
fn shares_of_requests_on_files_are_predicted() {
    let found = predicted(
        "fsd=default,depth=1,width=2,files=5,size=64k\nfsd=fsd1,anchor=/n/fs1\n\
         fwd=default,xfersize=4k,fileselect=random,fileio=random,threads=2\n\
         fwd=fwd1,fsd=fsd1,operation=read,skew=70\nfwd=fwd2,fsd=fsd1,operation=getattr,skew=30\n\
         rd=rd1,fwd=fwd*,fwdrate=max,format=(clean,only)\n\
         rd=rd2,fwd=fwd*,fwdrate=max,format=yes,elapsed=3,interval=1\n",
    );
    let total = &found[2]["total"];
    let reads = total["read"]["iops"].as_f64().unwrap();
    let asked = total["meta"]["getattr"]["iops"].as_f64().unwrap();
    near(reads / (reads + asked), 0.7, 0.001);
    assert!(reads > 500.0, "{reads}");
}

#[test]
fn changing_rates_are_predicted_second_by_second() {
    let found = predicted(
        "sd=a,lun=/a/f,size=1g\nwd=w,sd=a\n\
         rd=r,wd=w,iorate=(100,2,1000,1,0,1),dist=(d,variable),elapsed=20,warmup=4\n\
         rd=s,wd=w,iorate=(100,2,1000,1,0,1),dist=spike,elapsed=20,warmup=4\n",
    );
    for stage in &found {
        // By count: measurement ends with the last completion, and nothing may start in the last second.
        let reached = stage["total"]["read"]["ios"].as_f64().unwrap();
        near(reached / 20.0, 300.0, 0.01);
    }
    // A thousand I/Os at once wait for each other.
    let worst = |stage: &Value| {
        stage["total"]["read"]["response_ns"]["max"]
            .as_f64()
            .unwrap()
    };
    assert!(
        worst(&found[1]) > 10.0 * worst(&found[0]),
        "{} {}",
        worst(&found[1]),
        worst(&found[0])
    );
}

#[test]
fn joined_sds_share_threads_and_are_hit_by_size() {
    let found = predicted(
        "concatenatesds=yes\nsd=a,lun=/a/f,size=3g\nsd=b,lun=/b/f,size=1g\nwd=w,sd=*,threads=64\n\
         rd=r,wd=w,iorate=max,elapsed=10,warmup=2\n",
    );
    // Three of four I/Os go to the P30: its 5,000 are a part of 6,667.
    near(
        found[0]["total"]["read"]["iops"].as_f64().unwrap(),
        6667.0,
        0.05,
    );
}

#[test]
fn crowds_changes_and_joined_sds_run() {
    let home = disk_folder();
    let folder = home.path().display();
    let text = format!(
        "concatenatesds=yes\nsd=a,lun={folder}/a,size=3m\nsd=b,lun={folder}/b,size=2m\n\
         wd=band,sd=*,threads=4,hotband=(20,100),rdpct=50\nwd=crowd,sd=*,threads=2,seekpct=(poisson,3)\n\
         wd=all,sd=*,threads=2,seekpct=eof,rdpct=0,xfersize=64k\n\
         rd=fill,wd=all,iorate=max,elapsed=60\n\
         rd=hot,wd=band,iorate=max,elapsed=2\nrd=vary,wd=crowd,iorate=(100,1,300,1),dist=variable,elapsed=4,warmup=2\n"
    );
    let file = written(home.path(), "p", &text);
    let found = stages(home.path(), &["run", "vdbench", "-f", &file]);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0]["total"]["write"]["ios"].as_u64().unwrap(), 80);
    assert!(found[1]["total"]["read"]["ios"].as_u64().unwrap() > 100);
    near(
        found[2]["total"]["read"]["iops"].as_f64().unwrap(),
        200.0,
        0.15,
    );
}

#[test]
fn a_curve_on_files_runs_at_its_rates() {
    let home = disk_folder();
    let folder = home.path().join("tree");
    let text = format!(
        "fsd=f,anchor={},depth=1,width=1,files=9,size=64k\n\
         fwd=default,fsd=f,xfersize=4k,fileselect=random,fileio=random,threads=1\n\
         fwd=x,operation=read,skew=70\nfwd=y,operation=getattr,skew=30\n\
         rd=r,fwd=*,fwdrate=curve,curve=10,elapsed=3,warmup=1,format=yes\n",
        folder.display()
    );
    let file = written(home.path(), "p", &text);
    let found = stages(home.path(), &["run", "vdbench", "-f", &file]);
    assert_eq!(found.len(), 3);
    let requests = |stage: &Value| {
        let reads = stage["total"]["read"]["iops"].as_f64().unwrap();
        let asked = stage["total"]["meta"]["getattr"]["iops"].as_f64();
        reads + asked.unwrap()
    };
    let most = requests(&found[1]);
    let point = (most / 1000.0).ceil() * 100.0;
    near(requests(&found[2]), point, 0.15);
}

/// The rows of the table `Total IO`, each a thread, a target and its I/Os.
fn rows(text: &str) -> Vec<(u32, String, u64)> {
    let table = text.split("Total IO\n").nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('-'));
    let rows = rows.map(|line| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let target = columns.last().unwrap().split(" (").next().unwrap();
        (
            columns[0].parse().unwrap(),
            target.to_owned(),
            columns[2].parse().unwrap(),
        )
    });
    rows.collect()
}

#[test]
fn targets_that_threads_share_have_rows_of_their_own() {
    let home = disk_folder();
    let design = written(home.path(), "d.design.toml", DESIGN);
    let line = |a: &str, b: &str| {
        let line = format!("-c4M -b4K -r -F2 -O8 -w50 -d2 -W0 -L {a} {b}");
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let shown = |words: &[&str], line: &[String]| {
        let mut all = words.to_vec();
        all.extend(["--quiet", "--no-record", "--format", "peer", "diskspd"]);
        all.extend(line.iter().map(String::as_str));
        rows(&expect_code(home.path(), &all, 0).0)
    };
    let run = shown(&["run"], &line("a.dat", "b.dat"));
    let predicted = shown(&["predict", "--on", &design], &line("/a/f", "/a/g"));
    // In virtual time all have the same; in a run, how many I/Os a thread has is the processors' matter.
    let all: u64 = predicted.iter().map(|row| row.2).sum();
    for row in &predicted {
        near(row.2 as f64, all as f64 / 4.0, 0.25);
    }
    for (found, names) in [(run, ["a.dat", "b.dat"]), (predicted, ["/a/f", "/a/g"])] {
        let expected = [(0, names[0]), (0, names[1]), (1, names[0]), (1, names[1])];
        let who: Vec<(u32, &str)> = found.iter().map(|row| (row.0, row.1.as_str())).collect();
        assert_eq!(who, expected);
        // Each thread draws both targets alike: five standard deviations, and what is outstanding in the end. How many I/Os
        // there are in a run is for a busy disk to say.
        for thread in found.chunks(2) {
            let all = thread.iter().map(|row| row.2).sum::<u64>() as f64;
            let spread = 5.0 * all.sqrt() / 2.0 + 8.0;
            for (_, target, ios) in thread {
                let off = (*ios as f64 - all / 2.0).abs();
                assert!(*ios > 0 && off < spread, "{target}: {ios} of {all}");
            }
        }
    }
}
