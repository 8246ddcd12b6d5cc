//! Iometer's configuration files, run and predicted, and its results read back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use serde_json::Value;
use support::{disk_folder, example, expect_code};

/// Two workers on one volume, two specifications one after the other; the second with lines.
const ICF: &str = "Version 1.1.0 \n'TEST SETUP ====\n'Test Description\n\tsmall\n'Run Time\n'\thours minutes seconds\n\t0 0 1\n'Ramp Up Time (s)\n\t0\n'Record Results\n\tALL\n'Test Type\n\tNORMAL\n'END test setup\n'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tplain,ALL\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,100,75,100,0,1,4096,0\n'Access specification name,default assignment\n\tlines,ALL\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,80,100,100,0,1,4096,0\n\t16384,20,0,0,2,4,4096,0\n'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,BOX\n'Manager network address\n\n@'End manager\n'END manager list\nVersion 1.1.0 \n";

const WORKER: &str = "'Worker\n\tWorker #\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection\n\t4,DISABLED,1\n'Disk maximum size,starting sector,Data pattern\n\t8192,0,2\n'End default target settings for worker\n'Target assignments\n'Target\n\tD: \"scratch\"\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n";

fn written(folder: &Path) -> String {
    let workers = ["1", "2"].map(|number| WORKER.replace('#', number));
    let text = ICF.replace('@', &workers.concat());
    let path = folder.join("small.icf");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The rows of each table of results, with the header's columns.
fn tables(text: &str) -> Vec<Vec<Vec<&str>>> {
    let tables = text.split("'Results\n").skip(1);
    tables
        .map(|table| {
            let rows = table
                .lines()
                .take_while(|line| !line.starts_with("'Time Stamp"));
            rows.map(|row| row.split(',').collect()).collect()
        })
        .collect()
}

/// The value of a column, in the first row of a kind.
fn value(table: &[Vec<&str>], kind: &str, column: &str) -> f64 {
    let index = table[0].iter().position(|name| *name == column);
    let index = index.unwrap_or_else(|| panic!("no {column}"));
    let row = table.iter().find(|row| row[0] == kind).unwrap();
    row[index].parse().unwrap()
}

/// Workers, disks and managers each add up to all; so do directions and bins.
#[track_caller]
fn check_sums(table: &[Vec<&str>], text: &str) {
    let wide = table.iter().filter(|row| row[0] != "PROCESSOR");
    assert!(wide.clone().all(|row| row.len() == 80), "{text}");
    for column in ["Read I/Os", "Write I/Os", "Bytes Read", "Bytes Written"] {
        let index = table[0].iter().position(|name| *name == column).unwrap();
        let sum = |kind: &str| -> u64 {
            let rows = table.iter().filter(|row| row[0] == kind);
            rows.map(|row| row[index].parse::<u64>().unwrap()).sum()
        };
        let all = sum("ALL");
        assert!(all > 0, "{column}");
        assert_eq!(
            [sum("MANAGER"), sum("WORKER"), sum("DISK")],
            [all; 3],
            "{column}"
        );
    }
    let [iops, read, write] =
        ["IOps", "Read IOps", "Write IOps"].map(|column| value(table, "ALL", column));
    assert!((iops - read - write).abs() < 0.01, "{text}");
    assert!(value(table, "ALL", "% CPU Utilization") > 0.0);
    let bins: f64 = table[1][59..]
        .iter()
        .map(|bin| bin.parse::<f64>().unwrap())
        .sum();
    let ios = value(table, "ALL", "Read I/Os") + value(table, "ALL", "Write I/Os");
    assert!((bins - ios).abs() < 0.5, "{bins} {ios}");
}

#[test]
fn a_configuration_runs_and_its_results_add_up() {
    let home = disk_folder();
    let file = written(home.path());
    let map = format!("D:={}", home.path().display());
    let results = home.path().join("results.csv").display().to_string();
    let percentiles = home.path().join("percentiles.csv").display().to_string();
    let arguments = [
        "iometer",
        "/c",
        &file,
        "/r",
        &results,
        "/t",
        "10",
        "--map",
        &map,
        "--percentiles",
        &percentiles,
    ];
    let (printed, told) = expect_code(home.path(), &arguments, 0);
    assert!(printed.is_empty() && told.is_empty(), "{printed}{told}");
    let size = home.path().join("iobw.tst").metadata().unwrap().len();
    assert_eq!(size, 8192 * 512);
    let text = std::fs::read_to_string(&results).unwrap();
    assert!(
        text.starts_with("'Test Type,Test Description\n0,small\n'Version\n1.1.0 \n"),
        "{text}"
    );
    assert!(text.ends_with("'End Test\n"), "{text}");
    let tables = tables(&text);
    assert_eq!(tables.len(), 2);
    for table in &tables {
        check_sums(table, &text);
    }
    // Of five bursts four are one read of 4 KiB, and one is four writes of 16 KiB.
    let [reads, writes] =
        ["Bytes Read", "Bytes Written"].map(|column| value(&tables[1], "ALL", column));
    let ratio = reads / 4096.0 / (writes / 16384.0);
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
    let text = std::fs::read_to_string(&percentiles).unwrap();
    assert!(text.lines().count() >= 15, "{text}");
    // A second run is added; what is there stays.
    let arguments = [
        "iometer", "-c", &file, "-r", &results, "--map", &map, "--spec", "plain",
    ];
    let (_, told) = expect_code(home.path(), &arguments, 0);
    assert!(told.contains("these results are added to it"), "{told}");
    let text = std::fs::read_to_string(&results).unwrap();
    assert_eq!(
        (
            text.matches("'End Test\n").count(),
            text.matches("'Results\n").count()
        ),
        (2, 3)
    );
}

#[test]
fn a_specification_of_a_name_runs_without_a_file() {
    let home = disk_folder();
    std::fs::write(home.path().join("iobw.tst"), vec![7; 1 << 20]).unwrap();
    let folder = home.path().display().to_string();
    let line = [
        "iometer",
        "--spec",
        "Webserver",
        "--target",
        &folder,
        "--qd",
        "4",
        "--workers",
        "1",
    ];
    let (printed, _) = expect_code(home.path(), &[&line[..], &["--time", "1s"]].concat(), 0);
    let tables = tables(&printed);
    assert_eq!(tables[0][1][2], "Webserver");
    assert!(
        value(&tables[0], "ALL", "Read I/Os") > 0.0
            && value(&tables[0], "ALL", "Write I/Os") == 0.0
    );
    // The file is used as it is.
    assert_eq!(
        std::fs::read(home.path().join("iobw.tst")).unwrap(),
        vec![7; 1 << 20]
    );
    let record = [
        &["run", "--json", "--no-record"],
        &line[..],
        &["--time", "1s"],
    ]
    .concat();
    let (text, _) = expect_code(home.path(), &record, 0);
    let record: Value = serde_json::from_str(&text).unwrap();
    assert!(
        record["stages"][0]["total"]["read"]["ios"]
            .as_u64()
            .unwrap()
            > 0
    );
}

#[test]
fn what_cannot_run_is_refused_with_what_to_do() {
    let home = disk_folder();
    let file = written(home.path());
    let folder = home.path().display().to_string();
    let refuse = |arguments: &[&str], code: i32, message: &str| {
        let (_, told) = expect_code(home.path(), arguments, code);
        assert!(told.contains(message), "{arguments:?}: {told}");
    };
    refuse(&["run", &file], 3, "--map 'D:=/PATH'");
    refuse(&["iometer", &file], 3, "--map 'D:=/PATH'");
    refuse(
        &["run", "iometer", "/c", &file, "/r", "x.csv"],
        2,
        "use `fathom iometer …`",
    );
    refuse(
        &[
            "iometer", "--spec", "Database", "--target", &folder, "--time", "1s",
        ],
        3,
        "Iometer would fill the disk",
    );
    refuse(
        &["iometer", "--spec", "Database", "--target", &folder],
        3,
        "give `--time`",
    );
    let two = std::fs::read_to_string(&file).unwrap();
    let begin = two.find("'Manager ID").unwrap();
    let end = two.find("'END manager list").unwrap();
    let second = two[begin..end].replace("1,BOX", "2,OTHER");
    std::fs::write(
        home.path().join("two.icf"),
        two.replace("'END manager", &format!("{second}'END manager")),
    )
    .unwrap();
    refuse(&["iometer", "two.icf"], 8, "--manager NAME");
    std::fs::write(home.path().join("specs.icf"), &two[..begin]).unwrap();
    refuse(
        &["run", "./specs.icf"],
        3,
        "iometer ./specs.icf --target PATH",
    );
    assert!(!home.path().join("x.csv").exists() && !home.path().join("iobw.tst").exists());
}

#[test]
fn explain_tells_where_values_come_from() {
    let home = disk_folder();
    let file = written(home.path());
    let (text, _) = expect_code(home.path(), &["explain", "iometer", &file, "--qd", "9"], 0);
    assert!(text.contains("9 outstanding, `lines`"), "{text}");
    assert!(text.contains("lines = [{"), "{text}");
    // What is explained is a workload itself.
    std::fs::write(home.path().join("again.toml"), &text).unwrap();
    let (again, _) = expect_code(home.path(), &["explain", "./again.toml"], 0);
    let body = &text[text.find("seed = ").unwrap()..];
    assert_eq!(again, body);
}

fn predicted(home: &Path, file: &str) -> Vec<Value> {
    let design = example("guide-2016/ds14.design.toml");
    let file = example(file);
    let arguments = [
        "predict",
        "--json",
        "--no-record",
        "--on",
        &design,
        "iometer",
        &file,
        "--time",
        "2s",
    ];
    let (text, _) = expect_code(home, &arguments, 0);
    let record: Value = serde_json::from_str(&text).unwrap();
    record["stages"].as_array().unwrap().clone()
}

/// The published scenarios: by the limits, 512 MB/s each way, and IOPS as the model has them.
#[test]
fn the_scenarios_of_the_2016_guide_are_predicted() {
    let home = disk_folder();
    let stages = predicted(home.path(), "guide-2016/iometer.icf");
    let expected = [
        ("RandomReads_8K", 62_000.0, 64_100.0, "iops"),
        ("RandomWrites_8K", 48_700.0, 50_000.0, "iops"),
        (
            "RandomReads_8K + RandomWrites_8K",
            110_000.0,
            114_000.0,
            "iops",
        ),
        ("RandomReads_64K", 505e6, 520e6, "bandwidth_bytes_per_sec"),
        ("RandomWrites_64K", 505e6, 520e6, "bandwidth_bytes_per_sec"),
        (
            "RandomReads_64K + RandomWrites_64K",
            1_010e6,
            1_035e6,
            "bandwidth_bytes_per_sec",
        ),
    ];
    assert_eq!(stages.len(), expected.len());
    for (stage, (name, least, most, key)) in stages.iter().zip(expected) {
        assert_eq!(stage["name"], name);
        let found = stage["total"]["all"][key].as_f64();
        let found = found.unwrap_or_else(|| panic!("no {key} in {}", stage["total"]["all"]));
        assert!((least..=most).contains(&found), "{name}: {found}");
    }
}

#[test]
fn managers_are_machines_where_a_design_has_several() {
    let home = disk_folder();
    let vm = |name: &str, count: u32| {
        format!(
            "[[vm]]\nname = \"{name}\"\nsize = \"Standard_DS14\"\nera = \"2016\"\n[[vm.volume]]\nname = \"data\"\ndrive = \"D:\"\ndisks = {{ type = \"P30\", count = {count} }}\ncaching = \"none\"\n"
        )
    };
    std::fs::write(
        home.path().join("two.design.toml"),
        vm("BOX", 1) + &vm("OTHER", 4),
    )
    .unwrap();
    std::fs::write(home.path().join("one.design.toml"), vm("elsewhere", 1)).unwrap();
    let file = written(home.path());
    let text = std::fs::read_to_string(&file).unwrap();
    let begin = text.find("'Manager ID").unwrap();
    let end = text.find("'END manager list").unwrap();
    let second = text[begin..end]
        .replace("1,BOX", "2,OTHER")
        .replace("\t4,DIS", "\t64,DIS");
    let two = text
        .replace("'END manager", &format!("{second}'END manager"))
        .replace("\t4,DIS", "\t64,DIS");
    std::fs::write(home.path().join("two.icf"), two).unwrap();
    let iops = |design: &str, file: &str| {
        let arguments = [
            "predict",
            "--json",
            "--no-record",
            "--on",
            design,
            "iometer",
            file,
            "--spec",
            "plain",
            "--time",
            "5s",
        ];
        let (text, _) = expect_code(home.path(), &arguments, 0);
        let record: Value = serde_json::from_str(&text).unwrap();
        record["stages"][0]["total"]["all"]["iops"]
            .as_f64()
            .unwrap()
    };
    // One P30 has 5,000 IOPS; the other machine's four have 20,000.
    let both = iops("two.design.toml", "two.icf");
    assert!((24_000.0..26_000.0).contains(&both), "{both}");
    let sizeless = [
        "predict",
        "--on",
        "one.design.toml",
        "iometer",
        "--spec",
        "Default",
        "--target",
        "D:",
        "--time",
        "1s",
    ];
    let (_, told) = expect_code(home.path(), &sizeless, 3);
    assert!(told.contains("give `--size`"), "{told}");
    // A design's only machine has the workers, whatever its name.
    let one = iops("one.design.toml", "two.icf");
    assert!((4_800.0..5_200.0).contains(&one), "{one}");
}

#[test]
fn a_target_that_cannot_be_used_is_told_with_its_line() {
    let home = disk_folder();
    let file = written(home.path());
    let line = |of: &str| {
        let text = std::fs::read_to_string(&file).unwrap();
        let before = text.lines().take_while(|line| line.trim() != of).count();
        format!("{file}:{}:2", before + 1)
    };
    // A drive of Windows that nothing says the place of, and a folder that is not there.
    let (_, told) = expect_code(home.path(), &["iometer", &file], 3);
    assert!(told.contains(&line("D: \"scratch\"")), "{told}");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("D: \"scratch\"", "/nowhere/at/all")).unwrap();
    let (_, told) = expect_code(home.path(), &["run", &file], 3);
    assert!(told.contains(&line("/nowhere/at/all")), "{told}");
    assert_eq!(told.matches("error:").count(), 1, "{told}");
}
