//! Vdbench's output directory of real runs, read back as public parsers read it, and of predictions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use support::{disk_folder, example, expect_code, names_in};

/// Two files; a pass over them, then a curve.
const FILES: &str = "\
sd=default,size=4m
sd=sd-1-1,lun=f1
sd=sd-1-2,lun=f2
wd=Fill,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k
wd=Mix,sd=sd*,rdpct=70,seekpct=100,xfersize=8k
";

fn parameters(home: &Path, rds: &str) {
    std::fs::write(home.join("parm"), format!("{FILES}{rds}")).unwrap();
}

fn page(home: &Path, name: &str) -> String {
    let path = home.join("out").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn vdbench(home: &Path, more: &[&str]) -> String {
    let mut arguments = vec!["vdbench", "-f", "parm", "-o", "out"];
    arguments.extend(more);
    expect_code(home, &arguments, 0).0
}

/// What `grep avg FILE` gives, split at blanks: clock, label, and the numbers.
fn averages(text: &str) -> Vec<(String, Vec<f64>)> {
    let lines = text.lines().filter(|line| line.contains("avg"));
    lines
        .map(|line| {
            let mut fields = line.split_whitespace();
            assert_eq!(fields.next().unwrap().len(), "16:38:12.074".len(), "{line}");
            let label = fields.next().unwrap().to_owned();
            (label, fields.map(|it| it.parse().unwrap()).collect())
        })
        .collect()
}

/// Rows of `flatfile.html`, by the names of its first line, as exporters read it.
fn flat_rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines().filter(|line| !line.starts_with(['*', '<']));
    let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let rows = lines.map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields.len(), names.len(), "{line}");
        let pairs = names.iter().zip(fields);
        pairs
            .map(|(name, field)| ((*name).to_owned(), field.to_owned()))
            .collect()
    });
    rows.collect()
}

/// Runs and their averages, as a reader of `totals.html` takes them: name, loops, label.
fn totals(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut run = None;
    for line in text.lines() {
        if let Some((_, start)) = line.split_once("Starting RD=") {
            let (name, rest) = start.split_once(';').unwrap();
            assert!(rest.contains("; elapsed="), "{line}");
            let (_, loops) = rest.split_once("For loops: ").unwrap();
            let loops = loops.strip_suffix("</b></i>").unwrap();
            run = Some((name.to_owned(), loops.to_owned()));
        } else if line.contains("avg_") {
            let label = line.split_whitespace().nth(1).unwrap().to_owned();
            let (name, loops) = run.take().unwrap();
            found.push((name, loops, label));
        }
    }
    found
}

/// I/Os of a run that `percentiles.csv` counts in its average.
fn counted(home: &Path, run: &str, kind: &str) -> u64 {
    let text = page(home, "percentiles.csv");
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut rows = rows.filter(|row| row[0] == run && row[2].starts_with("avg_") && row[4] == kind);
    rows.next().unwrap()[5].parse().unwrap()
}

/// Offset and size of each failed read of `f1`, as readers of these logs take them: `time slave: time op: … errno: …`.
fn told_failures(log: &str) -> Vec<(u64, u64)> {
    let lines = log.lines().filter(|line| line.contains(" op: "));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [
                now,
                "localhost-0:",
                at,
                "op:",
                "read",
                "lun:",
                lun,
                rest @ ..,
            ] = fields.as_slice()
            else {
                panic!("{line}");
            };
            assert!(lun.ends_with("f1") && at <= now, "{line}");
            assert_eq!(at.len(), "12:57:57.049".len(), "{line}");
            let [
                "lba:",
                offset,
                hex,
                "xfer:",
                length,
                "errno:",
                "INCORRECT_SIZE:",
                ..,
            ] = rest
            else {
                panic!("{line}");
            };
            let offset = offset.parse().unwrap();
            assert_eq!(*hex, format!("0x{offset:08X}"));
            (offset, length.parse().unwrap())
        })
        .collect()
}

/// A file that is cut while it is read: I/O past its new end fails.
#[test]
fn failed_ios_are_counted_until_there_are_too_many() {
    for (line, goes_on) in [("", true), ("data_errors=2\n", false)] {
        let home = disk_folder();
        let file = home.path().join("f1");
        std::fs::write(&file, vec![7; 2 << 20]).unwrap();
        let text = format!(
            "{line}sd=s,lun=f1\nwd=w,sd=s,rdpct=100,seekpct=100,xfersize=4k\n\
             rd=r,wd=w,iorate=10,elapsed=3,interval=1\n"
        );
        std::fs::write(home.path().join("parm"), text).unwrap();
        let cutter = std::thread::spawn(move || {
            let moment = Clock::now() + Nanos::from_millis(700);
            while Clock::now() < moment {
                sleep_until(moment);
            }
            let file = std::fs::OpenOptions::new().write(true).open(file);
            file.unwrap().set_len(4096).unwrap();
        });
        let arguments = ["vdbench", "-f", "parm", "-o", "out"];
        let (_, told) = expect_code(home.path(), &arguments, 157);
        cutter.join().unwrap();
        let log = page(home.path(), "errorlog.html");
        let each = told_failures(&log);
        assert_eq!(told_failures(&page(home.path(), "logfile.html")), each);
        assert!(each.len() >= 2 && (goes_on || each.len() == 2), "{log}");
        assert!(
            log.contains("s: failed: ") && log.contains("f1 lba: "),
            "{log}"
        );
        let summary = page(home.path(), "summary.html");
        if goes_on {
            assert!(told.contains("I/Os failed, of 50 that end a run"), "{told}");
            assert!(summary.contains("avg_2-3"), "{summary}");
        } else {
            assert!(told.contains("the end of the target was reached"), "{told}");
            assert!(log.contains("s: failed: 2 read errno 0"), "{log}");
            assert!(log.contains("data_errors=2: so many I/Os failed"), "{log}");
        }
    }
}

#[test]
fn public_parsers_read_a_real_run() {
    let home = disk_folder();
    let rds = "rd=Init,wd=Fill,sd=(\"sd*\"),iorate=max,interval=1,forthreads=1,elapsed=259200\n\
               rd=Curve,wd=Mix,sd=(\"sd*\"),iorate=curve,curve=(50),threads=4,warmup=1,elapsed=2\n\
               rd=Loop,wd=Mix,sd=sd-1-1,iorate=(200,300),threads=2,elapsed=2\n";
    parameters(home.path(), rds);
    let stdout = vdbench(home.path(), &[]);
    let summary = page(home.path(), "summary.html");
    let runs = averages(&summary);
    let labels: Vec<&str> = runs.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "avg_1-1", "avg_1-1", "avg_2-3", "avg_2-3", "avg_2-2", "avg_2-2"
        ]
    );
    assert!(
        runs.iter().all(|(_, numbers)| numbers.len() == 13),
        "{summary}"
    );
    // One pass: each block of both files once, by the run that makes them and by the one that was asked for.
    assert_eq!(counted(home.path(), "SD_format", "all"), 64);
    assert_eq!(counted(home.path(), "Init", "all"), 128);
    let names: Vec<_> = totals(&page(home.path(), "totals.html"));
    let expected = [
        ("Init", "threads=1"),
        ("Curve", "threads=4"),
        ("Curve_(50%)", "threads=4"),
    ];
    for ((name, loops, _), expected) in names[1..].iter().zip(expected) {
        assert_eq!((name.as_str(), loops.as_str()), expected);
    }
    assert_eq!(names[4].0, "Loop");
    assert!(names[4].1.contains("iorate=200") && names[5].1.contains("iorate=300"));
    // Rates: 50 % of what the curve's first run reached, rounded up to a hundred (ten); those that are numbers.
    let reached = runs[2].1[0];
    let asked: f64 = flat_rows(&page(home.path(), "flatfile.html"))
        .iter()
        .find(|row| row["Run"] == "Curve_(50%)")
        .unwrap()["reqrate"]
        .parse()
        .unwrap();
    assert!((asked / reached - 0.5).abs() < 0.1, "{asked} of {reached}");
    assert!((100.0..300.0).contains(&runs[4].1[0]), "{summary}");
    // Standard output has the rows of the log, and the two lines that begin a header.
    let of_log = page(home.path(), "logfile.html");
    for line in summary.lines().filter(|line| line.contains("avg_")) {
        assert!(stdout.contains(line) && of_log.contains(line), "{line}");
    }
    let headers = stdout
        .lines()
        .filter(|line| line.contains("  interval  ") && line.contains("i/o"));
    assert_eq!(headers.count(), 6);
    let end = format!(
        "Vdbench execution completed successfully. Output directory: {} ",
        home.path().join("out").display()
    );
    assert!(stdout.contains(&end));
}

#[test]
fn every_file_tells_the_same() {
    let home = disk_folder();
    let rds = "rd=Mix,wd=(Mix,Fill),sd=sd*,iorate=max,threads=4,elapsed=3,interval=1\n";
    let text = FILES.replace("seekpct=eof", "seekpct=0") + rds;
    std::fs::write(home.path().join("parm"), text).unwrap();
    vdbench(home.path(), &[]);
    let of = |name: &str| averages(&page(home.path(), name)).pop().unwrap();
    let (label, total) = of("summary.html");
    assert_eq!(label, "avg_2-3");
    let parts = |names: [&str; 2]| {
        let rates = names.map(|name| of(name).1[0]);
        assert!(
            (rates[0] + rates[1] - total[0]).abs() < 0.11,
            "{names:?} {rates:?} {total:?}"
        );
    };
    parts(["sd-1-1.html", "sd-1-2.html"]);
    parts(["Mix.html", "Fill.html"]);
    assert_eq!(of("localhost.html"), of("localhost-0.html"));
    assert_eq!(of("localhost.html").1[..2], total[..2]);
    // Four threads of each SD, all busy.
    assert!((6.0..8.1).contains(&total[10]), "{total:?}");
    // The histogram counts what the average does.
    let histogram = page(home.path(), "histogram.html");
    let last = histogram.rsplit("Reads and writes:").next().unwrap();
    let both = last.split("Reads:").next().unwrap();
    let counts = both
        .lines()
        .filter(|line| line.contains(" < ") && !line.contains("min(ms)"));
    let counts = counts.map(|line| {
        let count = line.split_whitespace().nth(3).unwrap();
        count.replace(',', "").parse::<u64>().unwrap()
    });
    assert_eq!(counts.sum::<u64>(), counted(home.path(), "Mix", "all"));
    let reads = counted(home.path(), "Mix", "read");
    let percent = reads as f64 * 100.0 / counted(home.path(), "Mix", "all") as f64;
    assert!((percent - total[3]).abs() < 0.01, "{percent} {total:?}");
    // The state file: time, state, run, loops, separated by tabs.
    let status = page(home.path(), "status.html");
    let states = status.lines().filter(|line| line.contains("rd=Mix"));
    let states: Vec<&str> = states
        .map(|line| line.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(
        states,
        ["Starting", "Warmup done", "Workload done", "Slaves done"]
    );
    assert!(status.ends_with("\tVdbench complete\n"));
    let skew = page(home.path(), "skew.html");
    assert!(skew.contains(" WD: "), "{skew}");
    let record: serde_json::Value =
        serde_json::from_str(&page(home.path(), "fathom.json")).unwrap();
    assert_eq!(record["kind"], "run");
    // Files are there in full now: the next start makes none, and the earlier output gives way to its own.
    std::fs::write(home.path().join("out/mine.txt"), "x").unwrap();
    vdbench(home.path(), &["-e", "2"]);
    let names: Vec<_> = totals(&page(home.path(), "totals.html"));
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(page(home.path(), "mine.txt"), "x");
}

#[test]
fn what_cannot_be_done_ends_with_157_and_leaves_nothing() {
    let home = disk_folder();
    let check = |rds: &str, part: &str| {
        parameters(home.path(), rds);
        let arguments = ["vdbench", "-f", "parm", "-o", "out"];
        let (_, stderr) = expect_code(home.path(), &arguments, 157);
        assert!(stderr.contains(part), "{stderr}");
        assert!(!home.path().join("out").exists());
    };
    check("rd=r,wd=Mix,iorate=max,elapsed=5s\n", "parm:6");
    check("rd=r,wd=Nobody,iorate=max,elapsed=5\n", "Nobody");
    check("hd=far,system=192.0.2.77\n", "parm:6");
    // A directory that holds somebody else's summary.html is left as it is.
    parameters(home.path(), "rd=r,wd=Mix,iorate=max,elapsed=2\n");
    std::fs::create_dir(home.path().join("out")).unwrap();
    std::fs::write(home.path().join("out/summary.html"), "mine").unwrap();
    let (_, stderr) = expect_code(home.path(), &["vdbench", "-f", "parm", "-o", "out"], 157);
    assert!(stderr.contains("summary.html"), "{stderr}");
    assert_eq!(page(home.path(), "summary.html"), "mine");
    assert!(!home.path().join("f1").exists());
    expect_code(home.path(), &["vdbench"], 157);
    for word in ["-h", "-?", "--help", "/?"] {
        let (stdout, _) = expect_code(home.path(), &["vdbench", word], 0);
        assert!(stdout.contains("-f FILE"), "{stdout}");
    }
}

#[test]
fn a_simulation_names_every_run_and_does_nothing() {
    let home = disk_folder();
    let rds = "rd=a,wd=Mix,iorate=curve,curve=(50,100),forthreads=(1,2),warmup=60,elapsed=600\n";
    parameters(home.path(), rds);
    let stdout = vdbench(home.path(), &["-s"]);
    let runs: Vec<&str> = stdout
        .lines()
        .filter(|line| line.contains("Simulating RD="))
        .collect();
    assert_eq!(runs.len(), 6, "{stdout}");
    assert!(runs[1].contains(
        "Simulating RD=a_(50%); I/O rate: 5000; elapsed=600 warmup=60; For loops: threads=1"
    ));
    assert!(
        stdout.contains(
            "Total amount of Run Definitions: 6; total elapsed time 3960 seconds, or 1.1000 hours, plus a format if requested."
        ),
        "{stdout}"
    );
    let end = format!(
        "Vdbench simulation completed successfully. Output directory: {} ",
        home.path().join("out").display()
    );
    assert!(stdout.contains(&end));
    assert!(!home.path().join("f1").exists());
}

#[test]
fn a_run_ends_when_it_is_told_or_has_enough() {
    let home = disk_folder();
    let monitor = format!("monitor={}\n", home.path().join("monitor").display());
    std::fs::write(home.path().join("monitor"), "end_rd").unwrap();
    std::fs::write(
        home.path().join("parm"),
        format!("{monitor}{FILES}rd=r,wd=Mix,iorate=100,elapsed=600,interval=1\n"),
    )
    .unwrap();
    vdbench(home.path(), &[]);
    // A directory for each start, where that is asked for.
    parameters(
        home.path(),
        "rd=r,wd=Mix,iorate=100,elapsed=600,interval=1,maxdata=1m\n",
    );
    expect_code(home.path(), &["vdbench", "-f", "parm", "-oout+"], 0);
    assert!(names_in(home.path()).contains(&"out001".to_owned()));
    // What is done within the first second is measured too, and what a warm-up moves does not count.
    parameters(
        home.path(),
        "rd=fast,wd=Mix,iorate=max,elapsed=600,maxdata=1m\n\
         rd=warm,wd=Mix,iorate=2000,elapsed=9,warmup=1,maxdata=10m\n",
    );
    vdbench(home.path(), &[]);
    let rows = averages(&page(home.path(), "summary.html"));
    assert_eq!(rows[0].0, "avg_1-1");
    // It is stopped a moment after the second interval, whose figures must have come first.
    assert!(rows[1].0.starts_with("avg_2-"), "{rows:?}");
    assert_eq!(counted(home.path(), "fast", "all"), 128);
    let bytes = counted(home.path(), "warm", "all") * 8192;
    assert!((10 << 20..20 << 20).contains(&bytes), "{bytes}");
    let summary = page(home.path(), "summary.html");
    let row = summary.lines().rev().find(|line| line.contains("avg_2-"));
    let last = row
        .unwrap()
        .split("avg_2-")
        .nth(1)
        .unwrap()
        .split(' ')
        .next();
    // 2,000 I/Os a second of 8 KiB: what moments after the interval add is no interval of its own.
    assert_eq!(last, Some("2"), "{summary}");
}

#[test]
fn maxdata_behind_a_warm_up_ends_predictions() {
    let folder = tempfile::tempdir().unwrap();
    let design =
        "[[device]]\nname = 'd'\nmount = '/'\nsize = '1TiB'\niops = 20000\nlatency = 'none'\n";
    std::fs::write(folder.path().join("d.design.toml"), design).unwrap();
    let path = folder.path().join("a.vdb");
    // The second goes on to its end; an open loop with long gaps ends with its second too.
    let text = "sd=sd1,lun=/data/a,size=1g,threads=2\nwd=Mix,sd=sd1,xfersize=4k,rdpct=50,seekpct=100\n\
                rd=warm,wd=Mix,iorate=2000,elapsed=60,warmup=1,maxdata=10m\n\
                rd=whole,wd=Mix,iorate=2000,elapsed=4,warmup=1,maxdata=1g\n\
                rd=slow,wd=Mix,iorate=5,elapsed=600,warmup=2,maxdata=60k\n\
                rd=most,wd=Mix,iorate=max,elapsed=60,warmup=1,maxdata=100m\n";
    std::fs::write(&path, text).unwrap();
    let words = ["predict", "--on", "d.design.toml", "--json", "a.vdb"];
    let (record, _) = expect_code(folder.path(), &words, 0);
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let seconds = |stage: &serde_json::Value| stage["measured_ns"].as_u64().unwrap() as f64 / 1e9;
    let seconds: Vec<f64> = stages.iter().map(seconds).collect();
    // 2,000 I/Os of 4 KiB a second are 7.8 MiB: 10 MiB are there at the end of the second second; 20,000 are 78 MiB.
    for (found, expected) in seconds.iter().zip([2.0, 4.0, 3.0, 2.0]) {
        assert!((found - expected).abs() < 0.5, "{seconds:?}");
    }
    assert_eq!(seconds.len(), 4);
}

#[test]
fn maxdata_behind_a_warm_up_ends_each_point_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let design =
        "[[device]]\nname = 'd'\nmount = '/'\nsize = '1TiB'\niops = 20000\nlatency = 'none'\n";
    std::fs::write(folder.path().join("d.design.toml"), design).unwrap();
    let text = "sd=sd1,lun=/data/a,size=1g\nwd=Mix,sd=sd1,xfersize=4k,rdpct=50,seekpct=100\n\
                rd=most,wd=Mix,iorate=max,threads=4,elapsed=60,warmup=1,maxdata=100m\n\
                rd=whole,wd=Mix,iorate=max,threads=4,elapsed=4,warmup=1,maxdata=1t\n";
    std::fs::write(folder.path().join("a.vdb"), text).unwrap();
    let sweep = ["--sweep", "depth=2,4"];
    let words = ["predict", "--on", "d.design.toml", "--json", "a.vdb"];
    let (record, _) = expect_code(folder.path(), &[&words[..], &sweep].concat(), 0);
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let seconds = |stage: &serde_json::Value| stage["measured_ns"].as_u64().unwrap() as f64 / 1e9;
    let seconds: Vec<f64> = stages.iter().map(seconds).collect();
    // 20,000 I/Os of 4 KiB a second are 78 MiB: 100 MiB are there at the end of the second second.
    for (found, expected) in seconds.iter().zip([2.0, 2.0, 4.0, 4.0]) {
        assert!((found - expected).abs() < 0.5, "{seconds:?}");
    }
    assert_eq!(seconds.len(), 4);
}

#[test]
fn maxdata_behind_a_warm_up_ends_plain_runs_too() {
    let home = disk_folder();
    parameters(
        home.path(),
        "rd=warm,wd=Mix,iorate=2000,elapsed=60,warmup=1,maxdata=10m\n",
    );
    let out = expect_code(home.path(), &["run", "--json", "./parm"], 0);
    let record: serde_json::Value = serde_json::from_str(&out.0).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let seconds = stages.last().unwrap()["measured_ns"].as_u64().unwrap() as f64 / 1e9;
    assert!((0.9..9.0).contains(&seconds), "{seconds}");
}

/// Ten files in two directories; one workload reads them, the other asks for their attributes.
fn tree(anchor: &str) -> String {
    format!(
        "create_anchors=yes\nfsd=fsd1,anchor={anchor},depth=1,width=2,files=5,size=64k\n\
         fwd=default,xfersize=4k,fileselect=random,fileio=random,threads=2\n\
         fwd=fwd1,fsd=fsd1,operation=read,skew=70\nfwd=fwd2,fsd=fsd1,operation=getattr,skew=30\n\
         rd=rd2,fwd=fwd*,fwdrate=max,format=yes,elapsed=3,interval=1\n"
    )
}

#[test]
fn runs_on_files_have_the_rows_of_files() {
    let home = disk_folder();
    let anchor = home.path().join("tree").display().to_string();
    std::fs::write(home.path().join("parm"), tree(&anchor)).unwrap();
    let stdout = vdbench(home.path(), &[]);
    let summary = page(home.path(), "summary.html");
    let runs = averages(&summary);
    let labels: Vec<&str> = runs.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["avg_1-1", "avg_2-3"], "{summary}");
    // 25 numbers, and two for `getattr`.
    assert!(
        runs.iter().all(|(_, numbers)| numbers.len() == 27),
        "{summary}"
    );
    // The format makes each directory and file once, whatever its rate.
    for (kind, count) in [("mkdir", 2), ("create", 10), ("close", 10)] {
        assert_eq!(
            counted(home.path(), "format_for_rd2", kind),
            count,
            "{kind}"
        );
    }
    let numbers = &runs[1].1;
    let (requested, reads, attributes) = (numbers[0], numbers[5], numbers[25]);
    assert!(reads > 0.0 && attributes > 0.0, "{summary}");
    // What is asked for are reads and attributes; files are opened and closed beside that.
    assert!((requested - reads - attributes).abs() <= 2.0, "{summary}");
    assert!((attributes / requested - 0.3).abs() < 0.03, "{summary}");
    assert!(numbers[19] > 0.0 && numbers[21] > 0.0, "{summary}");
    for row in ["std_2-3", "max_2-3"] {
        assert!(summary.contains(row) && stdout.contains(row), "{summary}");
        assert!(!page(home.path(), "totals.html").contains(row));
    }
    let of_fwd = averages(&page(home.path(), "fwd2.html")).pop().unwrap();
    assert_eq!((of_fwd.1[5], of_fwd.1[25]), (0.0, attributes));
    assert!(page(home.path(), "format.html").contains("avg_1-1"));
    let flat = flat_rows(&page(home.path(), "flatfile.html"));
    let last = flat.last().unwrap();
    assert_eq!(
        (last["Run"].as_str(), last["Interval"].as_str()),
        ("rd2", "avg_2-3")
    );
    let rate: f64 = last["Getattr_rate"].parse().unwrap();
    assert!((rate - attributes).abs() <= 1.0, "{last:?}");
}

#[test]
fn a_prediction_on_files_has_the_rows_of_files() {
    let home = disk_folder();
    let design = example("guide-2021/d8ds_v4.design.toml");
    std::fs::write(
        home.path().join("parm"),
        tree("/mnt/nocache/tree").replace("fwdrate=max", "fwdrate=1000"),
    )
    .unwrap();
    let words = [
        "predict",
        "--on",
        &design,
        "--no-record",
        "--quiet",
        "--format",
        "peer",
    ];
    let words = [&words[..], &["vdbench", "-f", "parm"]].concat();
    let stdout = expect_code(home.path(), &words, 0).0;
    let rows = averages(&stdout);
    let (label, numbers) = rows.last().unwrap();
    assert_eq!(label, "avg_2-3", "{stdout}");
    // There are no processors in a prediction.
    assert_eq!(numbers.len(), 25, "{stdout}");
    assert!(numbers[3] > 0.0 && numbers[23] > 0.0, "{stdout}");
}

#[test]
fn a_prediction_has_the_peers_layout() {
    let home = disk_folder();
    let design = example("guide-2021/d8ds_v4.design.toml");
    let text = "sd=sd1,lun=/mnt/nocache/testfile.dat,size=100g\nwd=w,sd=sd1,rdpct=100,seekpct=100,xfersize=8k\n\
                rd=r,wd=w,iorate=max,threads=64,warmup=2,elapsed=4,interval=1\n";
    std::fs::write(home.path().join("parm"), text).unwrap();
    let predict = |words: &[&str]| {
        let mut arguments = vec![
            "predict",
            "--on",
            &design,
            "--no-record",
            "--quiet",
            "--format",
            "peer",
        ];
        arguments.extend(words);
        expect_code(home.path(), &arguments, 0).0
    };
    let stdout = predict(&["vdbench", "-f", "parm"]);
    let rows = averages(&stdout);
    assert_eq!(rows[0].0, "avg_3-6");
    // There are no processors in a prediction: two numbers less.
    assert_eq!(rows[0].1.len(), 11, "{stdout}");
    assert!((12_000.0..13_500.0).contains(&rows[0].1[0]), "{stdout}");
    assert!((63.0..64.5).contains(&rows[0].1[10]), "{stdout}");
    assert_eq!(names_in(home.path()), ["parm"]);
    predict(&["vdbench", "-f", "parm", "-o", "out"]);
    let (label, numbers) = averages(&page(home.path(), "sd1.html")).pop().unwrap();
    assert_eq!((label.as_str(), numbers[0]), ("avg_3-6", rows[0].1[0]));
    let flat = flat_rows(&page(home.path(), "flatfile.html"));
    // The two seconds of the warm-up, of which nothing is known, have no rows.
    assert_eq!(flat.len(), 5);
    assert!(flat.iter().all(|row| row["rate"] != "0"));
    assert!(flat.iter().all(|row| row["cpu_used"] == "n/a"));
    assert!(
        stdout.ends_with("Vdbench execution completed successfully\n"),
        "{stdout}"
    );
    // Other peers print their results.
    let line = "-c1G -b8K -o8 -W0 -d1 -r -Sh /mnt/nocache/testfile.dat";
    let mut words = vec!["diskspd"];
    words.extend(line.split(' '));
    let results = predict(&words);
    assert!(results.contains("\nTotal IO\n"), "{results}");
    assert!(results.contains("\navg.|     N/A|"), "{results}");
    let words = [
        "fio",
        "--name=x",
        "--filename=/mnt/nocache/x",
        "--size=1g",
        "--rw=randread",
        "--direct=1",
        "--runtime=1",
        "--time_based",
    ];
    assert!(predict(&words).contains("READ: bw="));
}
