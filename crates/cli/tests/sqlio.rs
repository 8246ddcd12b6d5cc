//! SQLIO's command lines, run, and their output read back as scripts do.

mod support;

use support::{disk_folder, expect_code};

/// The value behind the colon of a line, as scripts cut it out by the line's number.
fn value(text: &str, line: usize) -> &str {
    let line = text
        .lines()
        .nth(line)
        .unwrap_or_else(|| panic!("no line {line} in\n{text}"));
    line.split(':')
        .nth(1)
        .unwrap_or_else(|| panic!("no colon in {line}"))
        .trim()
}

#[test]
fn lines_stand_where_scripts_look_for_them() {
    let home = disk_folder();
    std::fs::write(home.path().join("x.dat"), vec![1; 4 << 20]).unwrap();
    let line = [
        "sqlio", "-s1", "-kR", "-frandom", "-b8", "-o 8", "-t2", "-LS", "-BN", "x.dat",
    ];
    let (text, _) = expect_code(home.path(), &line, 0);
    assert_eq!(text.lines().count(), 19, "{text}");
    let number = |line: usize| -> f64 { value(&text, line).parse().unwrap() };
    let (iops, mib) = (number(10), number(11));
    assert!(
        iops > 0.0 && (mib - iops / 128.0).abs() < 0.01 + mib / 1000.0,
        "{text}"
    );
    assert!(
        number(13) <= number(14) && number(14) <= number(15),
        "{text}"
    );
    assert!(
        text.contains("using current size: 4 MB for file: x.dat\n"),
        "{text}"
    );
    let shares = text.lines().last().unwrap().trim_start_matches("%:");
    let shares: Vec<u32> = shares
        .split_whitespace()
        .map(|it| it.parse().unwrap())
        .collect();
    assert_eq!(shares.len(), 25);
    assert!((76..=100).contains(&shares.iter().sum::<u32>()), "{text}");
}

#[test]
fn a_parameter_file_makes_its_files() {
    let home = disk_folder();
    let parameters = "E:\\x.dat 2 0x0 3\ny.dat 1 0x1 2\n";
    std::fs::write(home.path().join("param.txt"), parameters).unwrap();
    let map = format!("E:={}", home.path().display());
    let line = [
        "sqlio",
        "--map",
        &map,
        "-kW",
        "-s1",
        "-fsequential",
        "-b64",
        "-o2",
        "-BH",
        "-LS",
        "-Fparam.txt",
    ];
    let (text, _) = expect_code(home.path(), &line, 0);
    // Two lines more than without a file; one of them for each file.
    assert!(value(&text, 14).parse::<f64>().unwrap() > 0.0, "{text}");
    assert!(
        text.contains("\tfile y.dat with 1 threads (2-2) using mask 0x1 (1)\n"),
        "{text}"
    );
    assert_eq!(home.path().join("x.dat").metadata().unwrap().len(), 3 << 20);
    assert_eq!(home.path().join("y.dat").metadata().unwrap().len(), 2 << 20);
}

#[test]
fn what_cannot_be_run_is_told() {
    let home = disk_folder();
    let check = |arguments: &[&str], code, part: &str| {
        let (stdout, stderr) = expect_code(home.path(), arguments, code);
        assert!(
            stdout.contains(part) || stderr.contains(part),
            "{stdout}\n{stderr}"
        );
    };
    check(&["sqlio", "-?"], 0, "Usage:");
    for word in ["-h", "--help", "/?"] {
        check(&["sqlio", word], 0, "Usage:");
    }
    check(&["sqlio", "-b4K"], 1, "hint:");
    check(&["sqlio", "-s1", "E:\\x.dat"], 1, "--map 'E:=/PATH'");
    check(&["sqlio", "-s1"], 1, "testfile.dat");
    let own = "hint: make the file first, or give its size in a parameter file (`-F`)\n";
    check(&["sqlio", "-s1"], 1, own);
    check(&["run", "sqlio", "-s1"], 3, own);
    check(&["run", "sqlio", "-s1", "E:\\x.dat"], 3, "--map 'E:=/PATH'");
    check(&["explain", "sqlio", "-b8", "x"], 0, "-b 8 KiB");
}
