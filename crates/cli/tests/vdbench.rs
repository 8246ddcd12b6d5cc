//! Vdbench's parameter files, run and predicted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{disk_folder, example, expect_code};

/// The published script's files for `hosts` machines, with files of `size`.
fn published(folder: &Path, hosts: usize, size: &str, pattern: &str) -> String {
    let mut labels = String::from("hd=default,jvms=1,shell=ssh\n");
    let mut luns = format!("sd=default,size={size}\n");
    for vm in 1..=hosts {
        let _ = writeln!(labels, "hd=vm{vm},system=vdbench-vnet1-{vm},user=root");
        for volume in 1..=6 {
            let _ = writeln!(
                luns,
                "sd=sd-{vm}-{volume},host=vm{vm},lun=/mnt/vdb{volume}/file-{vm}-{volume},openflags=o_direct"
            );
        }
    }
    fs::write(folder.join("vnet1-hosts-nfs"), labels).unwrap();
    fs::write(folder.join("vnet1-luns-nfs"), luns).unwrap();
    let path = folder.join("vnet1-workload");
    let text = format!("include=vnet1-hosts-nfs\ninclude=vnet1-luns-nfs\n{pattern}");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs or predicts, and gives the stages of the record.
#[track_caller]
fn stages(home: &Path, words: &[&str]) -> Vec<Value> {
    let mut all = vec![words[0], "--json", "--quiet", "--no-record"];
    all.extend(&words[1..]);
    let (text, _) = expect_code(home, &all, 0);
    let record: Value = serde_json::from_str(&text).unwrap();
    record["stages"].as_array().unwrap().clone()
}

fn name(stage: &Value) -> &str {
    stage["name"].as_str().unwrap()
}

/// I/Os a second of all jobs in a direction.
fn iops(stage: &Value, direction: &str) -> f64 {
    stage["total"][direction]["iops"].as_f64().unwrap()
}

/// I/Os of all jobs in a direction.
fn ios(stage: &Value, direction: &str) -> u64 {
    stage["total"][direction]["ios"].as_u64().unwrap()
}

#[test]
fn the_published_script_is_predicted_on_its_design() {
    let home = disk_folder();
    let design = example("anf-2019/anf-24-near.design.toml");
    // 17 TiB of quota at 64 MiB/s for each TiB, on six volumes.
    let limit = 6.0 * 17.0 * 64.0 * 1024.0 * 1024.0;
    for (wd, rd, reads, bytes) in [
        (
            "rdpct=0,seekpct=eof,xfersize=64k",
            "iorate=max,interval=1,forthreads=1,elapsed=259200",
            0.0,
            65536.0,
        ),
        (
            "rdpct=100,seekpct=0,xfersize=64k",
            "iorate=max,threads=20",
            1.0,
            65536.0,
        ),
        (
            "rdpct=0,seekpct=0,xfersize=64k",
            "iorate=max,threads=26",
            0.0,
            65536.0,
        ),
        (
            "rdpct=100,seekpct=100,xfersize=8k",
            "iorate=max,threads=25",
            1.0,
            8192.0,
        ),
        (
            "rdpct=0,seekpct=100,xfersize=8k",
            "iorate=max,threads=20",
            0.0,
            8192.0,
        ),
        (
            "rdpct=50,seekpct=0,xfersize=64k",
            "iorate=max,threads=6",
            0.5,
            65536.0,
        ),
        (
            "rdpct=50,seekpct=100,xfersize=8k",
            "iorate=max,threads=25",
            0.5,
            8192.0,
        ),
    ] {
        let pattern = format!(
            "wd=W,sd=sd*,{wd}\n* Run\nrd=default,warmup=60,elapsed=600\nrd=R,wd=W,sd=(\"sd*\"),{rd}\n"
        );
        let file = published(home.path(), 24, "693g", &pattern);
        let found = stages(
            home.path(),
            &[
                "predict", "--on", &design, "vdbench", "-f", &file, "-e", "2", "-w", "1", "-i", "1",
            ],
        );
        let [read, write] = ["read", "write"].map(|way| {
            if found[0]["total"][way].is_null() {
                0.0
            } else {
                iops(&found[0], way)
            }
        });
        let all = (read + write) * bytes;
        assert!((all / limit - 1.0).abs() < 0.02, "{wd}: {all} of {limit}");
        assert!((read / (read + write) - reads).abs() < 0.02, "{wd}");
        assert_eq!(found[0]["jobs"].as_array().unwrap().len(), 144);
    }
}

#[test]
fn the_published_script_runs_here_for_all_its_hosts() {
    let home = disk_folder();
    for volume in 1..=6 {
        fs::create_dir_all(home.path().join(format!("vdb{volume}"))).unwrap();
    }
    let map = format!("/mnt={}", home.path().display());
    let fill = "wd=Fill,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k\n\
                rd=Initialize-LUNs-Full,wd=Fill,sd=(\"sd*\"),iorate=max,interval=1,forthreads=1,elapsed=259200\n";
    let file = published(home.path(), 3, "1m", fill);
    let words = ["run", "--map", &map, "vdbench", "-f", &file];
    let (_, told) = expect_code(home.path(), &words, 8);
    assert!(
        told.contains("--start-at TIME vdbench --here=vm1") && told.contains("`fathom merge`"),
        "{told}"
    );

    let mut here = words.to_vec();
    here.push("--here=all");
    let found = stages(home.path(), &here);
    let names: Vec<&str> = found.iter().map(name).collect();
    assert_eq!(names, ["SD_format", "Initialize-LUNs-Full"]);
    // Each file once by the format, in blocks of 128 KiB, and once by the script's own run.
    assert_eq!(ios(&found[0], "write"), 18 * 8);
    assert_eq!(ios(&found[1], "write"), 18 * 16);
    let length = fs::metadata(home.path().join("vdb6/file-3-6"))
        .unwrap()
        .len();
    assert_eq!(length, 1 << 20);

    let again = stages(home.path(), &here);
    assert_eq!(
        again.len(),
        1,
        "files that are long enough are not formatted"
    );
    here.pop();
    here.push("--here=vm2");
    let found = stages(home.path(), &here);
    assert_eq!(ios(&found[0], "write"), 6 * 16);
}

#[test]
fn a_curve_follows_what_its_first_run_reached() {
    let home = disk_folder();
    let file = home.path().join("curve.vdb");
    let lun = home.path().join("f");
    let text = format!(
        "sd=sd1,lun={},size=4m\nwd=wd1,sd=sd1,xfersize=64k\n\
         rd=R,wd=wd1,iorate=curve,curve=(10,50),elapsed=2,warmup=1,threads=4\n",
        lun.display()
    );
    fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    let found = stages(home.path(), &["run", &file]);
    let names: Vec<&str> = found.iter().map(name).collect();
    assert_eq!(names, ["SD_format", "R", "R_(10%)", "R_(50%)"]);
    let most = iops(&found[1], "read");
    // As whole numbers first: a tenth of 1,505 is 150.
    let up = |rate: f64| {
        let rate = rate.floor();
        if rate <= 1000.0 {
            (rate / 10.0).ceil() * 10.0
        } else {
            (rate / 100.0).ceil() * 100.0
        }
    };
    let expected = up(most.round() * 0.1);
    let reached = iops(&found[2], "read");
    assert!(
        (reached / expected - 1.0).abs() < 0.1,
        "{reached} of {expected}"
    );

    // On modelled storage the same, to the I/O: one disk of 5,000 IOPS.
    let design = home.path().join("d.design.toml");
    fs::write(
        &design,
        "[[vm]]\nname = \"vm\"\nsize = \"Standard_D8s_v3\"\n[[vm.volume]]\nname = \"data\"\nmount = \"/data\"\ndisks = { type = \"P30\", count = 1 }\ncaching = \"none\"\n",
    )
    .unwrap();
    let map = format!("{}=/data/f", lun.display());
    let on = design.display().to_string();
    let found = stages(home.path(), &["predict", "--on", &on, "--map", &map, &file]);
    let most = iops(&found[0], "read");
    for (stage, percent) in found[1..].iter().zip([0.1, 0.5]) {
        let (expected, reached) = (up(most.round() * percent), iops(stage, "read"));
        assert!(
            (reached / expected - 1.0).abs() < 0.05,
            "{reached} of {expected}"
        );
    }
    let laid_out = stages(
        home.path(),
        &[
            "predict",
            "--include-layout",
            "--on",
            &on,
            "--map",
            &map,
            &file,
        ],
    );
    assert_eq!(name(&laid_out[0]), "SD_format");
    assert_eq!(ios(&laid_out[0], "write"), 32);
}

#[test]
fn an_open_rate_is_kept() {
    let home = disk_folder();
    let file = home.path().join("p");
    let text = format!(
        "sd=sd1,lun={}/f,size=4m\nwd=wd1,sd=sd1\nrd=R,wd=wd1,iorate=1000,elapsed=3,warmup=1\n",
        home.path().display()
    );
    fs::write(&file, text).unwrap();
    let found = stages(
        home.path(),
        &["run", "vdbench", "-f", &file.display().to_string()],
    );
    let reached = iops(&found[1], "read");
    // Of 3,000 exponential gaps the sum varies by 1.8 %.
    assert!((reached / 1000.0 - 1.0).abs() < 0.08, "{reached}");
}

#[test]
fn mistakes_are_told_with_their_places_and_nothing_runs() {
    let home = disk_folder();
    let file = home.path().join("p");
    fs::write(
        &file,
        "sd=sd1, lun=/x,size=1m\nwd=w,sd=sd9\nrd=r,wd=w,iorate=max,elapsed=5s\n",
    )
    .unwrap();
    let file = file.display().to_string();
    for verb in [&["run"][..], &["explain"], &["predict", "--on", "none"]] {
        let mut words = verb.to_vec();
        words.extend(["vdbench", "-f", &file]);
        let (out, told) = expect_code(home.path(), &words, 3);
        assert!(out.is_empty());
        if verb[0] != "predict" {
            for part in [
                "p:1:4",
                "No lun name specified",
                "Could not find sd=sd9",
                "p:3:",
            ] {
                assert!(told.contains(part), "no {part} in\n{told}");
            }
        }
    }
    let unknown = published(home.path(), 3, "1g", "wd=W,sd=sd*\nrd=R,wd=W,iorate=max\n");
    let design = home.path().join("d.design.toml");
    fs::write(
        &design,
        "[[vm]]\nname = \"vm1\"\nsize = \"Standard_D8s_v3\"\n[[vm.volume]]\nname = \"data\"\nmount = \"/mnt\"\ndisks = { type = \"P30\", count = 1 }\ncaching = \"none\"\n",
    )
    .unwrap();
    let (_, told) = expect_code(
        home.path(),
        &["predict", "--on", &design.display().to_string(), &unknown],
        3,
    );
    assert!(
        told.contains("`vm2`") && told.contains("vnet1-hosts-nfs:3"),
        "{told}"
    );
}

#[test]
fn everything_in_force_is_explained_with_its_origin() {
    let home = disk_folder();
    let file = published(
        home.path(),
        2,
        "1g",
        "wd=W,sd=sd*,seekpct=0\nrd=default,warmup=60,elapsed=600\nrd=R,wd=W,iorate=max,threads=9\n",
    );
    let (text, _) = expect_code(
        home.path(),
        &["explain", "vdbench", "-f", &file, "-e", "120"],
        0,
    );
    for line in [
        "RD=R; I/O rate: Uncontrolled MAX; elapsed=120 warmup=60; For loops: threads=9; 12 jobs, 108 I/Os outstanding",
        "elapsed=120                              command line, -e",
        "warmup=60                                rd=default, ",
        "rdpct=100                                Vdbench's default",
    ] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    // What is printed is a native file that means the same.
    let native = home.path().join("w.workload.toml");
    fs::write(&native, &text).unwrap();
    let (again, _) = expect_code(home.path(), &["explain", &native.display().to_string()], 0);
    assert!(text.ends_with(&again), "{again}");
}

/// A name with a drive or backslashes was made as a file of that name.
#[test]
fn a_path_of_windows_is_refused_until_it_is_mapped() {
    let home = disk_folder();
    let file = home.path().join("p.vdb").display().to_string();
    for path in ["c:\\data\\x", "\\\\.\\PhysicalDrive1"] {
        let text = format!(
            "sd=a,lun={path},size=1m\nwd=w,sd=a\nrd=r,wd=w,iorate=9,elapsed=2,interval=1\n"
        );
        fs::write(&file, text).unwrap();
        for (words, code) in [
            (["vdbench", "-f", &file].as_slice(), 157),
            (&["run", &file], 3),
        ] {
            let (_, told) = expect_code(home.path(), words, code);
            assert!(told.contains("is a path of Windows"), "{told}");
            assert!(told.contains("with `--map '"), "{told}");
            assert!(told.contains(&format!("{file}:1:4")), "{told}");
        }
        assert!(!home.path().join(path).exists());
        let map = format!("{path}={}/x", home.path().display());
        expect_code(home.path(), &["run", "--map", &map, "--dry-run", &file], 0);
    }
}

#[test]
fn a_directory_as_an_sd_is_told_what_it_may_be() {
    let home = disk_folder();
    let file = home.path().join("p.vdb").display().to_string();
    let folder = home.path().display();
    let text =
        format!("sd=a,lun={folder},size=1m\nwd=w,sd=a\nrd=r,wd=w,iorate=9,elapsed=2,interval=1\n");
    fs::write(&file, text).unwrap();
    let (_, told) = expect_code(home.path(), &["vdbench", "-f", &file], 157);
    assert!(told.contains("the `anchor=` of an `fsd=`"), "{told}");
}

#[test]
fn an_sd_that_cannot_be_used_is_told_with_its_line() {
    let home = disk_folder();
    let file = home.path().join("p.vdb").display().to_string();
    fs::write(
        &file,
        "sd=a,lun=f,size=1m\nsd=b,lun=g\nwd=w,sd=*\nrd=r,wd=w,iorate=9,elapsed=2\n",
    )
    .unwrap();
    for (words, code) in [
        (["vdbench", "-f", &file].as_slice(), 157),
        (&["run", &file], 3),
    ] {
        let (_, told) = expect_code(home.path(), words, code);
        assert!(told.contains(&format!("{file}:2:4")), "{told}");
        assert!(told.contains("or give the SD a `size=`"), "{told}");
    }
    assert!(!home.path().join("output").exists());
}
