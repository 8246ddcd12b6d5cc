//! Rows of runs on file systems, held against those of the real 5.04.07 for the same operations.

use fathom_record::{OpStats, SetStats};
use fathom_units::Nanos;
use fathom_workload::SetOperation;

use super::*;

/// A run `rd2` of two FWDs: one reads, the other asks for attributes.
fn file_layout() -> Layout {
    let place = |wd: usize, asks: Asks| JobPlace {
        host: 0,
        sd: 0,
        wd: Some(wd),
        asks,
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Layout {
        hosts: names(&["localhost"]),
        sds: names(&["fsd1"]),
        first_fsd: 0,
        wds: names(&["fwd1", "fwd2"]),
        first_fwd: 0,
        operations: set_row::columns(true, |operation| operation == SetOperation::GetAttributes),
        runs: vec![RunLayout {
            name: "rd2".to_owned(),
            rate: Rate::ControlledMax,
            elapsed: Some(Nanos::from_secs(3)),
            interval: Nanos::from_secs(1),
            jobs: vec![
                place(0, Asks::Moves),
                place(1, Asks::Does(SetOperation::GetAttributes)),
            ],
            on_files: true,
            skews: vec![(0, 70.0), (1, 30.0)],
            ..RunLayout::default()
        }],
        ..layout(Vec::new())
    }
}

/// A second: reads, opens, closes, attributes.
fn second(report: &mut Report, files: &mut Files, number: u64, counts: [u64; 4], nanos: [u64; 4]) {
    let of = |index: usize, bytes: u64| stats(counts[index], bytes, nanos[index]);
    let reads = [Some(of(0, 4096)), None, None];
    let opened = SetStats(vec![
        (SetOperation::Open, of(1, 0)),
        (SetOperation::Close, of(2, 0)),
    ]);
    let asked = SetStats(vec![(SetOperation::GetAttributes, of(3, 0))]);
    let none: [Option<OpStats>; 3] = [None, None, None];
    let jobs = [
        JobSecond {
            job: 0,
            directions: &reads,
            set: &opened,
        },
        JobSecond {
            job: 1,
            directions: &none,
            set: &asked,
        },
    ];
    let used = Processors {
        user: 461_735,
        system: 155_612,
        wait: 0,
        idle: 382_653,
    };
    let now = NOW + 1_000_000 + number * 1_000_000_000;
    report.second(files, (now, Nanos::from_secs(1)), &jobs, Some(used));
}

fn played() -> (Report, Files) {
    let mut files = Files::default();
    let mut report = Report::new(file_layout(), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    let run = (&mut report, &mut files);
    second(
        run.0,
        run.1,
        1,
        [18_572, 1161, 1160, 5707],
        [960, 43_600, 3300, 11_300],
    );
    second(
        run.0,
        run.1,
        2,
        [19_691, 1232, 1231, 8031],
        [960, 27_100, 2200, 7300],
    );
    second(
        run.0,
        run.1,
        3,
        [19_995, 1249, 1249, 8330],
        [960, 13_000, 1900, 5600],
    );
    report.run_ends(&mut files, RunEnd::Over, NOW + 3_014_000_000);
    (report, files)
}

#[test]
fn a_share_of_an_fwd_that_was_missed_is_told_in_a_box() {
    let told = |asked: [f64; 2]| {
        let mut files = Files::default();
        let mut layout = file_layout();
        layout.runs[0].skews = vec![(0, asked[0]), (1, asked[1])];
        let mut report = Report::new(layout, &mut files, NOW);
        report.run_starts(&mut files, 0, None, NOW);
        for number in 1..=3 {
            second(&mut report, &mut files, number, [75, 75, 75, 25], [1000; 4]);
        }
        report.run_ends(&mut files, RunEnd::Over, NOW + 3_014_000_000);
        let summary = files.pages["summary.html"].clone();
        let line = summary.lines().find(|line| line.contains("Observed"));
        line.map(|line| line.split_once(" * ").unwrap().1.to_owned())
    };
    assert_eq!(told([75.0, 25.0]), None);
    let line = told([70.0, 30.0]).unwrap();
    let named = "Observed Workload skew for fwd=fwd";
    assert!(
        line.starts_with(named) && line.contains(" delta greater than 1% (5.00). "),
        "{line}"
    );
}

/// As in files of 5.04.07 with a format, without, and with FWDs that ask for much.
#[test]
fn operations_have_columns_where_a_file_does_them() {
    #[track_caller]
    fn check(formats: bool, asked: &[&str], expected: &str) {
        let columns = set_row::columns(formats, |operation| asked.contains(&operation.name()));
        let names: Vec<&str> = columns.iter().map(|operation| operation.name()).collect();
        assert_eq!(names.join(" "), expected);
    }
    check(false, &["read"], "open close");
    check(false, &["mkdir"], "mkdir open close");
    check(false, &["read", "getattr"], "open close getattr");
    check(true, &["read"], "mkdir rmdir create open close delete");
    check(
        true,
        &["move", "copy", "access", "setattr", "getattr"],
        "mkdir rmdir create open close delete getattr setattr access copy move",
    );
}

#[test]
fn a_run_without_an_operation_says_so() {
    for (is_format, says) in [
        (false, "No operation was done"),
        (true, "Nothing was to be done"),
    ] {
        let mut files = Files::default();
        let mut layout = file_layout();
        layout.runs[0].is_format = is_format;
        let mut report = Report::new(layout, &mut files, NOW);
        report.run_starts(&mut files, 0, None, NOW);
        report.run_ends(&mut files, RunEnd::Over, NOW);
        assert!(files.shown.contains(says), "{}", files.shown);
        assert!(files.pages["logfile.html"].contains(says));
    }
}

#[test]
fn rows_have_the_columns_and_widths_of_5_04_07() {
    let (_, files) = played();
    let lines = files.lines("summary.html");
    let start = lines
        .iter()
        .position(|line| line.contains("Starting"))
        .unwrap();
    assert!(
        lines[start].ends_with(
            "<i><b>16:38:10.000 Starting RD=rd2; elapsed=3; fwdrate=max. For loops: None</b></i>"
        ),
        "{}",
        lines[start]
    );
    let blank = |count: usize| " ".repeat(count);
    let expected = [
        "Nov 20, 2026 ..Interval.. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. \
         ...mkdir.... ...rmdir.... ...create... ....open.... ...close.... ...delete... ..getattr..."
            .to_owned(),
        "                            rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  \
         rate   resp  rate   resp  rate   resp  rate   resp  rate   resp  rate   resp  rate   resp"
            .to_owned(),
        "16:38:11.001            1  24279  0.003  61.7 15.5 100.0  18572  0.001    0.0  0.000 72.55  0.00  72.55    4096   \
         0.0  0.000   0.0  0.000   0.0  0.000  1161  0.044  1160  0.003   0.0  0.000  5707  0.011"
            .to_owned(),
        "16:38:12.001            2  27722  0.003  61.7 15.5 100.0  19691  0.001    0.0  0.000 76.92  0.00  76.92    4096   \
         0.0  0.000   0.0  0.000   0.0  0.000  1232  0.027  1231  0.002   0.0  0.000  8031  0.007"
            .to_owned(),
        "16:38:13.001            3  28325  0.002  61.7 15.5 100.0  19995  0.001    0.0  0.000 78.11  0.00  78.11    4096   \
         0.0  0.000   0.0  0.000   0.0  0.000  1249  0.013  1249  0.002   0.0  0.000  8330  0.006"
            .to_owned(),
        // Half an operation a second is cut off, not rounded, as in 5.04.07.
        "16:38:13.014      avg_2-3  28023  0.003  61.7 15.5 100.0  19843  0.001    0.0  0.000 77.51  0.00  77.51    4096   \
         0.0  0.000   0.0  0.000   0.0  0.000  1240  0.020  1240  0.002   0.0  0.000  8180  0.006"
            .to_owned(),
        format!(
            "16:38:13.014      std_2-3{}  215.0       {}{}  12.0  0.007  12.7  0.000{} 211.4  0.001",
            blank(31),
            blank(14 + 27),
            blank(39),
            blank(13)
        ),
        format!(
            "16:38:13.014      max_2-3{}  19995  0.001{}{}  1249  0.027  1249  0.002{}  8330  0.007",
            blank(31),
            blank(14 + 27),
            blank(39),
            blank(13)
        ),
    ];
    let found = &lines[start + 3..];
    assert_eq!(found, expected, "{}", found.join("\n"));
    let totals = files.after_start("totals.html");
    assert!(!totals.contains("std_"), "{totals}");
    assert_eq!(totals.matches("avg_").count(), 1, "{totals}");
}

#[test]
fn numbers_that_grow_lose_decimals_and_nothing_else() {
    let (report, files) = played();
    // The published readers of these rows expect 25 fields, and two more for each operation that formats do not do.
    let rows = files.lines("localhost.html");
    let row = rows.iter().find(|line| line.contains("avg_2-3")).unwrap();
    assert_eq!(row.split_whitespace().count(), 2 + 25 + 2);
    let mut large = Tally::new();
    large.length = Nanos::from_secs(1);
    large.reads = Some(stats(12_345_678, 1 << 20, 12_345_678_000));
    let text = set_row::row("t", "1", &large, report.shown());
    let fields: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(fields[5..7], ["12345678", "12345"], "{text}");
}

#[test]
fn each_fwd_and_fsd_has_its_rows_its_histogram_and_its_share() {
    let (_, files) = played();
    let of_reads = files.after_start("fwd1.html");
    assert!(
        of_reads.contains("  19843  0.001  61.7 15.5 100.0  19843  0.001"),
        "{of_reads}"
    );
    let histogram = files.after_start("fwd2.histogram.html");
    assert!(
        histogram.contains("Total of all requested operations since warmup: ")
            && histogram.contains("        16,361 100.0000 100.0000"),
        "{histogram}"
    );
    let skew = files.after_start("skew.html");
    for line in [
        "16:38:13.014 fwd2          8180.5  0.006   0.0    0.0  0.000    0.0  0.000  0.00  0.00   0.00       0   0.0  0.000   \
         0.0  0.000   0.0  0.000   0.0  0.000   0.0  0.000   0.0  0.000  8180  0.006",
        "16:38:13.014 fwd1           19843     70.00%  70.81%  +0.81%",
        "16:38:13.014 fwd2            8181     30.00%  29.19%  -0.81%",
    ] {
        assert!(skew.lines().any(|other| other == line), "{line}\n{skew}");
    }
    let summary = files.lines("summary.html");
    let links = summary.iter().filter(|line| line.starts_with("Link to "));
    let labels = links.filter_map(|line| line.split_once(':'));
    let labels: Vec<&str> = labels.map(|(label, _)| label).collect();
    assert_eq!(
        labels[3..],
        [
            "Link to HOST reports",
            "Link to FSD reports",
            "Link to FWD reports",
            "Link to response time histogram",
            "Link to workload skew report",
            "Link to Run Definitions",
        ]
    );
}

#[test]
fn the_flat_file_of_files_has_a_field_for_each_name() {
    let (_, files) = played();
    let rows: Vec<&str> = files
        .lines("flatfile.html")
        .into_iter()
        .filter(|line| !line.starts_with(['*', '<']))
        .collect();
    let names: Vec<&str> = rows[0].split_whitespace().collect();
    assert_eq!(names.len(), 2 + 14 + 11 * 6 + 7);
    let average: Vec<&str> = rows.last().unwrap().split_whitespace().collect();
    assert_eq!(names.len(), average.len());
    let of = |name: &str| average[names.iter().position(|other| *other == name).unwrap()];
    for (name, value) in [
        ("Interval", "avg_2-3"),
        ("Xfersize", "4096"),
        ("Reqrate", "9999988"),
        ("Rate", "28023.5"),
        ("MB_read", "77.5117"),
        ("Read_rate_std", "214.9605"),
        ("Read_rate_max", "19995"),
        ("Open_rate", "1240.5"),
        ("Close_rate_std", "12.7279"),
        ("Getattr_rate_max", "8330"),
    ] {
        assert_eq!(of(name), value, "{name}");
    }
}

/// As 5.04.07 has them where all requests are of one kind, and in the files of an FWD that the run has not.
#[test]
fn requests_of_one_kind_have_their_spread_and_fwds_that_rest_their_averages() {
    let mut layout = file_layout();
    layout.runs[0].jobs.truncate(1);
    layout.runs[0].asked.threads = Some(3);
    layout.wds = ["fwd2", "fwd1"].map(str::to_owned).to_vec();
    let mut files = Files::default();
    let mut report = Report::new(layout, &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    for (number, ios) in [(1, 10), (2, 20), (3, 30)] {
        let rates = [ios, 0, 0, 0];
        second(&mut report, &mut files, number, rates, [1000, 1, 1, 1]);
    }
    report.run_ends(&mut files, RunEnd::Over, NOW + 3_014_000_000);
    let rows = files.after_start("summary.html");
    let blank = " ".repeat(17);
    for row in [
        format!("      std_2-3    7.1       {blank}    7.1       "),
        format!("      max_2-3   30.0  0.001{blank}   30.0  0.001"),
    ] {
        assert!(rows.contains(&row), "{row}\n{rows}");
    }
    let rests = files.after_start("fwd1.html");
    for label in ["avg_2-3    0.0  0.000", "std_2-3", "max_2-3"] {
        assert!(rests.contains(label), "{label}\n{rests}");
    }
    assert!(!files.pages["fwd1.histogram.html"].contains("requested"));
    let skew = files.after_start("skew.html");
    assert!(
        skew.contains("\n16:38:13.014 fwd2            25.0"),
        "{skew}"
    );
    assert!(!skew.contains("fwd1"), "{skew}");
    let flat = files.lines("flatfile.html");
    assert!(flat.last().unwrap().contains(" avg_2-3 4096 3 9999988 25 "));
    assert!(files.pages["fwd2.html"].contains("\nLink to Performance histogram:   <A"));
}

#[test]
fn runs_of_both_kinds_have_their_own_headers() {
    let mut both = file_layout();
    both.sds.insert(0, "sd1".to_owned());
    both.first_fsd = 1;
    for place in &mut both.runs[0].jobs {
        place.sd = 1;
    }
    both.runs.insert(0, run("r", 0, 2, &[(0, 0, 0)]));
    let mut files = Files::default();
    let mut report = Report::new(both, &mut files, NOW);
    play(&mut report, &mut files, 0, 2, &[10]);
    report.run_starts(&mut files, 1, None, NOW);
    second(&mut report, &mut files, 1, [10; 4], [1000; 4]);
    second(&mut report, &mut files, 2, [10; 4], [1000; 4]);
    report.run_ends(&mut files, RunEnd::Over, NOW);
    let totals = files.after_start("totals.html");
    assert_eq!(totals.matches("interval  ").count(), 1, "{totals}");
    assert_eq!(totals.matches("..Interval..").count(), 1, "{totals}");
    let flat = &files.pages["flatfile.html"];
    assert_eq!(flat.matches("         tod  ").count(), 2, "{flat}");
}
