//! DISKSPD's command lines, run and predicted, and its output read back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use serde_json::Value;
use support::{disk_folder, example, expect_code};

/// Figures of a row of a table of I/O.
struct Figures {
    bytes: u64,
    ios: u64,
    mib_per_sec: f64,
    iops: f64,
}

/// The rows of the table `title`, and its last line.
fn table(text: &str, title: &str) -> (Vec<Figures>, Figures) {
    let section = text
        .split("\n\n")
        .find(|section| section.starts_with(title));
    let section = section.unwrap_or_else(|| panic!("no `{title}` in\n{text}"));
    let figures = |line: &str| {
        let columns: Vec<&str> = line.split(['|', ':']).map(str::trim).collect();
        Figures {
            bytes: columns[1].parse().unwrap(),
            ios: columns[2].parse().unwrap(),
            mib_per_sec: columns[3].parse().unwrap(),
            iops: columns[4].parse().unwrap(),
        }
    };
    let mut lines: Vec<&str> = section.lines().skip(3).collect();
    let total = figures(lines.pop().unwrap());
    assert!(lines.pop().unwrap().starts_with("----"), "{section}");
    (lines.into_iter().map(figures).collect(), total)
}

/// Runs `line` and reads its tables back: rows must add up to the totals, reads and writes to all.
#[track_caller]
fn run(home: &Path, line: &str, maps: &[&str], rows: usize) -> String {
    let mut arguments = vec!["diskspd"];
    for map in maps {
        arguments.extend(["--map", map]);
    }
    arguments.extend(line.split_whitespace());
    let (text, _) = expect_code(home, &arguments, 0);
    let time = text
        .lines()
        .find_map(|line| line.strip_prefix("actual test time:\t"));
    let seconds: f64 = time.unwrap().trim_end_matches('s').parse().unwrap();
    assert!((0.9..2.0).contains(&seconds), "{text}");
    let mut moved = Vec::new();
    for title in ["Total IO", "Read IO", "Write IO"] {
        let (parts, total) = table(&text, title);
        assert_eq!(parts.len(), rows, "{text}");
        assert_eq!(
            parts.iter().map(|part| part.bytes).sum::<u64>(),
            total.bytes
        );
        assert_eq!(parts.iter().map(|part| part.ios).sum::<u64>(), total.ios);
        let mib = total.bytes as f64 / f64::from(1 << 20);
        assert!(
            (total.mib_per_sec * seconds - mib).abs() < 0.02 * mib + 0.02,
            "{text}"
        );
        let ios = total.ios as f64;
        assert!(
            (total.iops * seconds - ios).abs() < 0.02 * ios + 0.02,
            "{text}"
        );
        moved.push(total.bytes);
    }
    assert!(moved[0] > 0 && moved[0] == moved[1] + moved[2], "{text}");
    text
}

#[test]
fn published_lines_run_on_small_files() {
    let home = disk_folder();
    let folder = home.path().display().to_string();
    let map = format!("E:={folder}");
    let line = "-c8M -d1 -W0 -r -w40 -t2 -o4 -b64K -Sh -L E:\\diskpsdtmp.dat";
    let text = run(home.path(), line, &[&map], 2);
    assert!(text.contains("\nTotal latency distribution:\n"), "{text}");
    assert!(text.contains("diskpsdtmp.dat (8MiB)"), "{text}");
    assert!(home.path().join("diskpsdtmp.dat").exists());
    let map = format!("testfile.dat={folder}/mapped.dat");
    let line = "-c8M -w100 -b8K -F2 -r -o8 -W0 -d1 -Sh testfile.dat";
    let text = run(home.path(), line, &[&map], 2);
    assert!(text.contains("thread pool with 2 threads"), "{text}");
    assert!(!text.contains("AvgLat"), "{text}");
    assert_eq!(
        home.path().join("mapped.dat").metadata().unwrap().len(),
        8 << 20
    );
    let map = format!("z:={folder}");
    let line = "-W0 -r -w100 -b4k -t2 -o2 -Sh -d1 -L -D100 -c4M -Z1M z:\\write0.dat z:\\write1.dat";
    let text = run(home.path(), line, &[&map], 4);
    assert!(
        text.contains("\nLatency distribution: z:\\write1.dat\n"),
        "{text}"
    );
    assert!(text.contains("| IopsStdDev |"), "{text}");
}

#[test]
fn a_rate_holds_each_thread_back() {
    let home = disk_folder();
    let text = run(
        home.path(),
        "-c1M -b4K -W0 -d1 -t2 -g200i -r file.dat",
        &[],
        2,
    );
    let (_, total) = table(&text, "Total IO");
    assert!((300..=440).contains(&total.ios), "{text}");
}

#[test]
fn exit_codes_are_diskspds() {
    let home = disk_folder();
    let check = |arguments: &[&str], code, part: &str| {
        let mut all = vec!["diskspd"];
        all.extend(arguments);
        let (stdout, stderr) = expect_code(home.path(), &all, code);
        assert!(
            stdout.contains(part) || stderr.contains(part),
            "{stdout}\n{stderr}"
        );
    };
    check(&[], 3, "Usage:");
    check(&["-?"], 0, "Usage:");
    check(&["-w101", "x"], 3, "hint: give 0 to 100");
    check(&["-c1M", "E:\\x.dat"], 3, "--map 'E:=/PATH'");
    check(&["-c1M", "#1"], 3, "--map '#1=/PATH'");
    check(&["-d1", "-W0", "missing.dat"], 1, "missing.dat");
    assert!(!home.path().join("missing.dat").exists());
    let run = ["run", "diskspd", "-c1M", "E:\\x.dat"];
    let (_, stderr) = expect_code(home.path(), &run, 3);
    assert!(stderr.contains("--map 'E:=/PATH'"), "{stderr}");
}

#[test]
fn a_file_that_must_be_there_is_not_made_longer() {
    let home = disk_folder();
    let file = home.path().join("file.dat");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    run(home.path(), "-f1G -b4K -r -W0 -d1 file.dat", &[], 1);
    assert_eq!(file.metadata().unwrap().len(), 1 << 20);
}

#[track_caller]
fn predicted(design: &str, maps: &[&str], line: &str) -> f64 {
    let home = disk_folder();
    let design = example(design);
    let mut arguments = vec!["predict", "--on", &design, "--json", "--no-record"];
    for map in maps {
        arguments.extend(["--map", map]);
    }
    arguments.push("diskspd");
    arguments.extend(line.split_whitespace());
    let (stdout, _) = expect_code(home.path(), &arguments, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    record["stages"][0]["total"]["all"]["iops"]
        .as_f64()
        .unwrap()
}

#[test]
fn published_lines_are_predicted_on_their_systems() {
    let machine = "guide-2021/d8ds_v4.design.toml";
    let uncached = ["testfile.dat=/mnt/nocache/testfile.dat"];
    let line = "-c200G -w100 -b8K -F4 -r -o128 -W5 -d5 -Sh testfile.dat";
    let iops = predicted(machine, &uncached, line);
    assert!((12_600.0..13_000.0).contains(&iops), "{iops}");
    let cached = ["testfile.dat=/mnt/readcache/testfile.dat"];
    let line = "-c200G -b4K -F4 -r -o128 -W1 -d3 -Sh testfile.dat";
    let iops = predicted(machine, &cached, line);
    assert!((76_000.0..78_600.0).contains(&iops), "{iops}");
    // The drive is the design's own.
    let line = "-c50G -d30 -r -w40 -t8 -o32 -b64K -Sh -L E:\\diskpsdtmp.dat";
    let iops = predicted("windows-guide/san.design.toml", &[], line);
    assert!((3_800.0..3_900.0).contains(&iops), "{iops}");
    let line = "-W1 -C5 -r -w100 -b4k -t8 -o8 -Sh -d2 -L -c2G -Z1G z:\\write0.dat z:\\write1.dat";
    assert!(predicted("smb-files/share-1-channel.design.toml", &[], line) > 0.0);
}

#[test]
fn every_option_in_force_is_explained() {
    let home = disk_folder();
    let arguments = ["explain", "diskspd", "-b8K", "-c1G", "-r", "x.dat"];
    let (stdout, _) = expect_code(home.path(), &arguments, 0);
    let origin = |option: &str| {
        let line = stdout.lines().find(|line| line.contains(option));
        line.unwrap_or_else(|| panic!("no {option} in\n{stdout}"))
            .to_owned()
    };
    assert!(origin("-b 8KiB").ends_with("command line"));
    assert!(origin("-W 5 s").ends_with("DISKSPD's default"));
    assert!(stdout.contains("[[stage]]"), "{stdout}");
}
