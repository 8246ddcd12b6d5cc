//! The output to the character.

mod file_systems;

use std::collections::BTreeMap;

use fathom_record::{OpStats, SetStats};
use fathom_units::Nanos;
use jiff::tz::TimeZone;

use super::*;

/// Files in memory, and what was shown.
#[derive(Debug, Default)]
struct Files {
    pages: BTreeMap<String, String>,
    shown: String,
}

impl Pages for Files {
    fn append(&mut self, page: &str, text: &str) {
        self.pages
            .entry(page.to_owned())
            .or_default()
            .push_str(text);
    }

    fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }
}

impl Files {
    fn lines(&self, page: &str) -> Vec<&str> {
        self.pages[page].lines().collect()
    }

    /// The lines of a file that begin at the clock time of the first run, with their end.
    #[track_caller]
    fn after_start(&self, page: &str) -> &str {
        let text = &self.pages[page];
        let at = text
            .find("\n<a name=")
            .unwrap_or_else(|| panic!("{page}: {text}"));
        &text[at..]
    }
}

/// 16:38:10 on 20 November 2026 UTC, in ns since the epoch.
const NOW: u64 = 1_795_192_690_000_000_000;

static NO_SET: SetStats = SetStats(Vec::new());

fn stats(ios: u64, bytes: u64, nanos: u64) -> OpStats {
    let mut stats = OpStats::new(false, false);
    stats.latency.record_many(nanos, ios);
    stats.bytes = ios * bytes;
    stats
}

fn run(name: &str, warmup: u64, elapsed: u64, jobs: &[(usize, usize, usize)]) -> RunLayout {
    let place = |(host, sd, wd): &(usize, usize, usize)| JobPlace {
        host: *host,
        sd: *sd,
        wd: Some(*wd),
        asks: Asks::Storage,
    };
    RunLayout {
        name: name.to_owned(),
        loops: Some("threads=25".to_owned()),
        rate: Rate::Max,
        elapsed: Some(Nanos::from_secs(elapsed)),
        warmup: Nanos::from_secs(warmup),
        interval: Nanos::from_secs(1),
        jobs: jobs.iter().map(place).collect(),
        on_files: false,
        is_format: false,
        asked: Asked {
            xfersize: Some(8192),
            threads: Some(25),
            rdpct: Some(100.0),
            rhpct: Some(0.0),
            whpct: Some(0.0),
            seekpct: Some(100.0),
            size: 32 << 20,
            ..Asked::default()
        },
        skews: Vec::new(),
    }
}

fn layout(runs: Vec<RunLayout>) -> Layout {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Layout {
        directory: "/srv/out".to_owned(),
        zone: TimeZone::UTC,
        program: "Fathom".to_owned(),
        process: 5493,
        hosts: names(&["vm1", "vm2"]),
        sds: names(&["sd-1-1", "sd-2-1"]),
        first_fsd: 2,
        wds: names(&["RndRead", "FillWrite"]),
        first_fwd: 2,
        operations: Vec::new(),
        runs,
        detail: Detail::default(),
        response_limits: histogram::LIMITS.to_vec(),
        decimal_megabytes: false,
    }
}

/// A run of `seconds`, in each of which each job of `counts` reads so often, 8 KiB in 404 µs each.
fn play(report: &mut Report, files: &mut Files, index: usize, seconds: u64, counts: &[u64]) {
    let at = |second: u64| NOW + 1_000_000 + (index as u64 * 100 + second) * 1_000_000_000;
    report.run_starts(files, index, None, at(0));
    for second in 1..=seconds {
        let stats: Vec<_> = counts
            .iter()
            .map(|ios| [Some(stats(*ios, 8192, 404_000)), None, None])
            .collect();
        let jobs: Vec<_> = stats
            .iter()
            .enumerate()
            .map(|(job, directions)| JobSecond {
                job,
                directions,
                set: &NO_SET,
            })
            .collect();
        let processors = Processors {
            user: 7,
            system: 21,
            wait: 0,
            idle: 72,
        };
        let now = (at(second) + 11_000_000, Nanos::from_secs(1));
        report.second(files, now, &jobs, Some(processors));
    }
    report.run_ends(files, RunEnd::Over, at(seconds) + 14_000_000);
}

#[test]
fn rows_and_run_lines_are_those_of_5_04_07() {
    let mut files = Files::default();
    let runs = vec![run("RndRead", 1, 2, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    play(&mut report, &mut files, 0, 3, &[61_808]);
    report.complete(&mut files, "execution", NOW + 5_014_000_000);
    let expected = "
<a name=\"_ID\"></a><i><b>16:38:10.001 Starting RD=RndRead; I/O rate: Uncontrolled MAX; elapsed=2 warmup=1; For loops: threads=25</b></i>


Nov 20, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
16:38:11.012           1    61808.0   482.88    8192 100.00    0.404    0.404    0.000     0.40     0.00    0.000   25.0  28.0  21.0
16:38:12.012           2    61808.0   482.88    8192 100.00    0.404    0.404    0.000     0.40     0.00    0.000   25.0  28.0  21.0
16:38:13.012           3    61808.0   482.88    8192 100.00    0.404    0.404    0.000     0.40     0.00    0.000   25.0  28.0  21.0
16:38:13.015     avg_2-3    61808.0   482.88    8192 100.00    0.404    0.404    0.000     0.40     0.00    0.000   25.0  28.0  21.0
16:38:15.014 Vdbench execution completed successfully
";
    let id = files::run_id(report.layout(), 0).to_string();
    let expected = expected.replace("ID", &id);
    assert_eq!(files.after_start("summary.html"), expected);
    for page in ["vm1.html", "vm1-0.html", "sd-1-1.html"] {
        let rows = &expected[..expected.find("16:38:15").unwrap()];
        assert_eq!(files.after_start(page), rows, "{page}");
    }
    let shown = expected.replace(&format!("\n<a name=\"_{id}\"></a><i><b>"), "");
    let shown = shown.replace("</b></i>", "");
    let end = "successfully. Output directory: /srv/out ";
    let shown = shown.replace("successfully", end);
    assert!(files.shown.ends_with(&shown), "{}\n{shown}", files.shown);
    let totals = files.after_start("totals.html");
    assert_eq!(totals.matches("avg_").count(), 1, "{totals}");
    assert_eq!(totals.matches("interval").count(), 1, "{totals}");
    // A host without work has the run's line alone; an SD without work has rows of zeros.
    assert!(files.after_start("vm2.html").ends_with("</b></i>\n\n"));
    let idle = files.lines("sd-2-1.html");
    let zeros = "16:38:13.012           3        0.0     0.00       0   0.00    0.000    0.000    0.000     0.00     0.00    0.000    0.0  28.0  21.0";
    assert_eq!(idle.last(), Some(&zeros));
}

#[test]
fn a_long_label_keeps_its_blank_and_headers_come_again() {
    let mut files = Files::default();
    let runs = vec![
        run("r", 60, 600, &[(0, 0, 0)]),
        run("s", 0, 10, &[(0, 0, 0)]),
    ];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    play(&mut report, &mut files, 0, 660, &[10]);
    play(&mut report, &mut files, 1, 10, &[10]);
    let lines = files.lines("summary.html");
    let labels: Vec<&str> = lines
        .iter()
        .filter(|line| line.contains("avg_"))
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(labels, ["avg_61-660", "avg_2-10"]);
    let headers = lines.iter().filter(|line| line.contains("  interval  "));
    assert_eq!(headers.count(), 22 + 1);
    let flat = files.lines("flatfile.html");
    let averages = flat.iter().filter(|line| line.contains("  avg_"));
    assert_eq!(averages.count(), 2);
    assert_eq!(
        files.pages["status.html"]
            .matches("\tWarmup done\t")
            .count(),
        2
    );
}

#[test]
fn the_flat_file_has_a_field_for_each_name() {
    let mut files = Files::default();
    let mut reads = run("RndRead", 1, 2, &[(0, 0, 0)]);
    reads.rate = Rate::Curve;
    let mut report = Report::new(layout(vec![reads]), &mut files, NOW);
    play(&mut report, &mut files, 0, 3, &[61_808]);
    let lines = files.lines("flatfile.html");
    let rows: Vec<_> = lines
        .iter()
        .filter(|line| !line.starts_with(['*', '<']))
        .collect();
    let expected = "16:38:13.015 11/20/2026-16:38:13-UTC RndRead  avg_2-3 9999977 61808 482.875 8192 100 0.404 0.404 0 \
                    0.404 0.404 0 0 0 0 8192 25 100 0 0 100 0.0313 n/a 1 n/a 24.9704 28 7 21 0 72 ";
    assert_eq!(*rows[4], expected);
    for row in &rows {
        let fields = row.split_whitespace().count();
        assert_eq!(fields, rows[0].split_whitespace().count(), "{row}");
    }
    assert!(rows[0].starts_with("         tod               timestamp Run Interval reqrate rate "));
}

#[test]
fn rates_are_shown_whole_and_halves_go_up() {
    for (rate, shown) in [(2.4, "2"), (2.5, "3"), (1000.0, "1000")] {
        assert_eq!(Rate::Number(rate).title(), shown);
    }
}

#[test]
fn what_was_spread_is_told() {
    let mut files = Files::default();
    let mut runs = vec![run("Mix", 0, 2, &[(0, 0, 0), (1, 1, 1)])];
    runs[0].skews = vec![(0, 70.0), (1, 30.0)];
    runs[0].rate = Rate::Number(1000.0);
    let mut report = Report::new(layout(runs), &mut files, NOW);
    play(&mut report, &mut files, 0, 2, &[750, 250]);
    let skew = files.after_start("skew.html");
    for line in [
        "16:38:12.015                  i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue ",
        "16:38:12.015 SD:             rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth ",
        "16:38:12.015 sd-1-1        750.00     5.86    8192 100.00    0.404    0.404    0.000    0.404    0.000   0.3 ",
        "16:38:12.015 Host:           rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth  sys+u",
        "16:38:12.015 Total        1000.00     7.81    8192 100.00    0.404    0.404    0.000    0.404    0.000   0.4   28.0",
        "16:38:12.015 RndRead       750.00     5.86    8192 100.00    0.404    0.404    0.000    0.404    0.000   0.3     70.00%   75.00%  -5.00%",
        "16:38:12.015 Total        1000.00     7.81    8192 100.00    0.404    0.404    0.000    0.404    0.000   0.4    100.00%  100.00%",
    ] {
        assert!(skew.lines().any(|other| other == line), "{line}\n{skew}");
    }
    let told = "* Observed Workload skew for wd=RndRead delta greater than 1% (5.00). See skew.html for details *";
    assert!(files.pages["summary.html"].contains(told));
    // Several WDs in a run: each has its file.
    assert!(files.pages.contains_key("RndRead.html"));
    assert!(files.pages.contains_key("FillWrite.histogram.html"));
    let links = files.lines("summary.html");
    assert!(links.contains(&"Link to HOST reports:            <A HREF=\"vm1.html\">vm1</A>      <A HREF=\"vm2.html\">vm2</A>     "));
}

#[test]
fn histograms_have_their_buckets_and_bars() {
    let mut tally = Tally::new();
    let mut reads = stats(1, 8192, 30_000);
    for (nanos, count) in [(50_000, 2), (300_000, 1_234), (3_000_000_000, 1)] {
        reads.latency.record_many(nanos, count);
    }
    let second = JobSecond {
        job: 0,
        directions: &[Some(reads), None, None],
        set: &NO_SET,
    };
    tally.count(&second, Asks::Storage);
    let text = histogram::tables(&tally, &histogram::LIMITS);
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "Only reads done for this workload:",
        "  min(ms) <     max(ms)         count       %%    cum%%  '+': Individual%; '+-': Cumulative%",
        "",
        "    0.000 <       0.020             0   0.0000   0.0000  ",
        "    0.020 <       0.040             1   0.0808   0.0808  ",
        "    0.040 <       0.060             2   0.1616   0.2423  ",
    ];
    assert_eq!(lines[..6], expected);
    let bar = format!(
        "    0.200 <       0.400         1,234  99.6769  99.9192  {}",
        "+".repeat(49)
    );
    assert_eq!(lines[9], bar);
    let last = format!(
        " 2000.000 <         max             1   0.0808 100.0000  {}",
        "-".repeat(50)
    );
    assert_eq!(lines[29], last);
    assert_eq!(
        histogram::tables(&Tally::new(), &histogram::LIMITS),
        "No statistics generated for this run.\n"
    );
}

#[test]
fn a_run_that_ends_within_its_first_interval_is_averaged_over_it() {
    let mut files = Files::default();
    let mut fill = run("Fill", 0, 259_200, &[(0, 0, 1)]);
    fill.loops = None;
    let mut report = Report::new(layout(vec![fill]), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    let job = [None, Some(stats(2048, 65_536, 130_000)), None];
    let jobs = [JobSecond {
        job: 0,
        directions: &job,
        set: &NO_SET,
    }];
    let now = (NOW + 250_000_000, Nanos::from_millis(250));
    report.second(&mut files, now, &jobs, None);
    let average = report.run_ends(&mut files, RunEnd::EndOfFile, now.0);
    assert_eq!((average.ios(), average.rate()), (2048, 8192.0));
    let lines = files.lines("summary.html");
    let row = "16:38:10.250     avg_1-1     8192.0   512.00   65536   0.00    0.130    0.000    0.130     0.00     0.13    0.000    1.1";
    assert_eq!(lines.last(), Some(&row));
    assert!(
        files
            .shown
            .contains("All sequential workloads on all slaves are done.")
    );
}

/// Of one interval that counts the average is that interval's row, behind a warm-up and where the first interval is all.
#[test]
fn the_average_of_one_interval_is_its_row() {
    for (warmup, rows) in [(1, 2), (0, 2), (0, 1)] {
        let mut files = Files::default();
        let runs = vec![run("r", warmup, 2, &[(0, 0, 0)])];
        let mut report = Report::new(layout(runs), &mut files, NOW);
        report.run_starts(&mut files, 0, None, NOW);
        let intervals = (0..rows).map(|row| (1000, 10 + 990 * row));
        for (millis, ios) in intervals.chain([(90, 5)]) {
            let job = [Some(stats(ios, 8192, 404_000)), None, None];
            let jobs = [JobSecond {
                job: 0,
                directions: &job,
                set: &NO_SET,
            }];
            report.second(&mut files, (NOW, Nanos::from_millis(millis)), &jobs, None);
        }
        report.run_ends(&mut files, RunEnd::Over, NOW);
        let lines = files.lines("summary.html");
        let figures = |label: String| {
            let line = lines.iter().find(|line| line.contains(&label));
            line.unwrap().split_once(&label).unwrap().1.to_owned()
        };
        let average = figures(format!(" avg_{rows}-{rows} "));
        assert_eq!(
            average.trim(),
            figures(format!("           {rows} ")).trim()
        );
    }
}

#[test]
fn what_completes_after_the_last_interval_is_in_no_row_and_no_average() {
    let mut files = Files::default();
    let runs = vec![run("r", 1, 1, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    for (millis, ios) in [(1000, 10), (1000, 1000), (5, 5)] {
        let job = [Some(stats(ios, 8192, 404_000)), None, None];
        let jobs = [JobSecond {
            job: 0,
            directions: &job,
            set: &NO_SET,
        }];
        report.second(&mut files, (NOW, Nanos::from_millis(millis)), &jobs, None);
    }
    let average = report.run_ends(&mut files, RunEnd::Over, NOW);
    assert_eq!((average.ios(), average.length), (1000, Nanos::from_secs(1)));
    let lines = files.lines("summary.html");
    let row = lines.last().unwrap();
    assert!(row.contains("     avg_2-2     1000.0 "), "{row}");
}

#[test]
fn more_waiting_ios_than_vdbench_lets_wait_are_told_once() {
    let mut files = Files::default();
    let mut report = Report::new(layout(vec![run("r", 0, 3, &[(0, 0, 0)])]), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    // 1,000 a second that wait 1.9 s, 2.1 s, 2.2 s: by Little's law so many thousands wait.
    for wait in [1_900_000_000, 2_100_000_000, 2_200_000_000] {
        let mut reads = OpStats::new(true, false);
        reads.latency.record_many(1_000_000, 1000);
        let response = reads.response.as_mut().unwrap();
        response.record_many(1_000_000 + wait, 1000);
        let job = [Some(reads), None, None];
        let jobs = [JobSecond {
            job: 0,
            directions: &job,
            set: &NO_SET,
        }];
        let told = files.pages["logfile.html"].contains("wait for a thread");
        assert_eq!(told, wait > 2_100_000_000, "{wait}");
        report.second(&mut files, (NOW, Nanos::from_secs(1)), &jobs, None);
    }
    let log = &files.pages["logfile.html"];
    assert_eq!(log.matches("wait for a thread").count(), 1, "{log}");
    assert!(log.contains("sd=sd-1-1: some 2100 I/Os wait"), "{log}");
}

#[test]
fn busy_processors_are_boxed() {
    let mut files = Files::default();
    let runs = vec![run("r", 0, 2, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    let busy = Processors {
        user: 50,
        system: 39,
        wait: 0,
        idle: 11,
    };
    report.second(&mut files, (NOW, Nanos::from_secs(1)), &[], Some(busy));
    report.second(&mut files, (NOW, Nanos::from_secs(1)), &[], Some(busy));
    report.run_ends(&mut files, RunEnd::Over, NOW);
    let lines = files.lines("summary.html");
    let at = lines.iter().position(|line| line.ends_with(" *")).unwrap();
    assert_eq!(
        lines[at + 2],
        "16:38:10.000 * Warning for host=vm1: average processor utilization 89.0%  *"
    );
    assert_eq!(lines[at + 1].len(), lines[at + 2].len());
}

#[test]
fn percentiles_stand_in_a_file_of_their_own() {
    let mut files = Files::default();
    let runs = vec![run("a,b", 1, 2, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    play(&mut report, &mut files, 0, 3, &[1000]);
    let lines = files.lines("percentiles.csv");
    let fields = lines[0].split(',').count();
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("\"a,b\",threads=25,avg_2-3,2.000000,all,2000,0.4040,0.40"),
        "{last}"
    );
    assert_eq!(last.replace("a,b", "ab").split(',').count(), fields);
}

#[test]
fn halves_are_rounded_up_as_java_does() {
    let check =
        |value, decimals, expected: &str| assert_eq!(row::rounded(value, decimals), expected);
    check(0.25, 1, "0.3");
    check(30_903.75, 1, "30903.8");
    check(1.005, 2, "1.01");
    check(0.0, 3, "0.000");
    check(2.5, 0, "3");
    check(0.249_999, 1, "0.2");
    assert_eq!(row::rounded(f64::NAN, 1), "NaN");
}

#[test]
fn report_adds_files_for_each_host_and_sd_or_leaves_those_of_sds_out() {
    let mut files = Files::default();
    let runs = vec![run("r", 0, 2, &[(0, 0, 0), (1, 1, 0)])];
    let mut detailed = layout(runs);
    detailed.detail = Detail {
        by_host: true,
        by_slave: true,
        without: Without {
            sds: true,
            fsds: false,
        },
    };
    let mut report = Report::new(detailed, &mut files, NOW);
    play(&mut report, &mut files, 0, 2, &[10, 20]);
    for page in ["vm1.sd-1-1.html", "vm1-0.sd-1-1.html", "vm2.sd-2-1.html"] {
        assert!(files.after_start(page).contains("avg_2-2"), "{page}");
    }
    assert!(!files.pages.contains_key("sd-1-1.html"));
    assert!(!files.pages.contains_key("vm1.sd-2-1.html"));
}

#[test]
fn the_files_of_sds_and_of_fsds_are_left_out_apart() {
    for (sds, fsds) in [(true, false), (false, true)] {
        let mut files = Files::default();
        let mut both = layout(vec![run("r", 0, 2, &[(0, 0, 0)])]);
        both.first_fsd = 1;
        both.detail.without = Without { sds, fsds };
        let mut report = Report::new(both, &mut files, NOW);
        play(&mut report, &mut files, 0, 2, &[10]);
        let summary = &files.pages["summary.html"];
        assert_eq!(summary.contains("Link to SD reports:"), !sds);
        assert_eq!(summary.contains("Link to FSD reports:"), !fsds);
        for (name, is_left_out) in [("sd-1-1", sds), ("sd-2-1", fsds)] {
            for page in [format!("{name}.html"), format!("{name}.histogram.html")] {
                assert_eq!(files.pages.contains_key(&page), !is_left_out, "{page}");
            }
        }
    }
}

/// A prediction counts nothing in its warm-up: rows of zeros would say that nothing was done.
#[test]
fn intervals_that_nothing_is_known_of_have_no_rows() {
    let mut files = Files::default();
    let runs = vec![run("r", 2, 2, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    for _ in 0..2 {
        report.unknown_second(&mut files, (NOW, Nanos::from_secs(1)));
    }
    for _ in 0..2 {
        let job = [Some(stats(100, 8192, 404_000)), None, None];
        let jobs = [JobSecond {
            job: 0,
            directions: &job,
            set: &NO_SET,
        }];
        report.second(&mut files, (NOW, Nanos::from_secs(1)), &jobs, None);
    }
    let average = report.run_ends(&mut files, RunEnd::Over, NOW);
    assert_eq!(average.ios(), 200);
    let rows = |page: &str| -> Vec<String> {
        let lines = files.lines(page).into_iter();
        let rows = lines.filter_map(|line| line.strip_prefix("16:38:10.000 "));
        let labels = rows.filter_map(|row| row.split_whitespace().next());
        labels.map(str::to_owned).collect()
    };
    assert_eq!(rows("summary.html"), ["3", "4", "avg_3-4"]);
    assert_eq!(files.pages["summary.html"].matches("1024**2").count(), 1);
    assert!(files.pages["status.html"].contains("Warmup done"));
}

#[test]
fn histograms_have_the_classes_that_were_asked_for() {
    let mut files = Files::default();
    let mut asked = layout(vec![run("r", 0, 2, &[(0, 0, 0)])]);
    asked.response_limits = vec![100, 500, 2_500];
    let mut report = Report::new(asked, &mut files, NOW);
    play(&mut report, &mut files, 0, 2, &[10]);
    for page in ["histogram.html", "sd-1-1.histogram.html"] {
        let lines = files.pages[page].lines();
        let rows: Vec<&str> = lines.filter(|line| line.contains(" < ")).skip(1).collect();
        let [first, second, third, last] = rows[..] else {
            panic!("{page}: {rows:?}");
        };
        assert!(first.starts_with("    0.000 <       0.100             0   0.0000"));
        assert!(second.starts_with("    0.100 <       0.500            10 100.0000"));
        assert!(third.starts_with("    0.500 <       2.500             0   0.0000"));
        assert!(last.starts_with("    2.500 <         max             0   0.0000"));
    }
}

#[test]
fn what_comes_after_an_interval_that_ended_the_run_is_no_interval() {
    let mut files = Files::default();
    let runs = vec![run("r", 1, 5, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    for (millis, ios) in [(1000, 10), (1000, 1000), (300, 5)] {
        let job = [Some(stats(ios, 8192, 404_000)), None, None];
        let jobs = [JobSecond {
            job: 0,
            directions: &job,
            set: &NO_SET,
        }];
        report.second(&mut files, (NOW, Nanos::from_millis(millis)), &jobs, None);
    }
    let average = report.run_ends(&mut files, RunEnd::Enough, NOW);
    assert_eq!((average.ios(), average.length), (1000, Nanos::from_secs(1)));
    let lines = files.lines("summary.html");
    let row = lines.last().unwrap();
    assert!(row.contains("     avg_2-2 "), "{row}");
}

#[test]
fn a_time_too_short_for_a_tick_has_used_no_processor() {
    let mut files = Files::default();
    let runs = vec![run("r", 0, 2, &[(0, 0, 0)])];
    let mut report = Report::new(layout(runs), &mut files, NOW);
    report.run_starts(&mut files, 0, None, NOW);
    let none = Some(Processors::default());
    report.second(&mut files, (NOW, Nanos::from_millis(4)), &[], none);
    report.run_ends(&mut files, RunEnd::EndOfFile, NOW);
    for (page, text) in &files.pages {
        assert!(!text.contains("NaN"), "{page}: {text}");
    }
    let lines = files.lines("summary.html");
    let row = lines.last().unwrap();
    assert!(row.ends_with("   0.0   0.0"), "{row}");
}

#[test]
fn a_run_that_ends_soon_after_its_first_interval_is_averaged_over_all() {
    for (millis, label, ios) in [(300, "avg_1-2", 1100), (700, "avg_2-2", 100)] {
        let mut files = Files::default();
        let runs = vec![run("r", 0, 5, &[(0, 0, 0)])];
        let mut report = Report::new(layout(runs), &mut files, NOW);
        report.run_starts(&mut files, 0, None, NOW);
        for (millis, ios) in [(1000, 1000), (millis, 100)] {
            let job = [Some(stats(ios, 8192, 404_000)), None, None];
            let jobs = [JobSecond {
                job: 0,
                directions: &job,
                set: &NO_SET,
            }];
            report.second(&mut files, (NOW, Nanos::from_millis(millis)), &jobs, None);
        }
        let average = report.run_ends(&mut files, RunEnd::EndOfFile, NOW);
        assert_eq!(average.ios(), ios);
        let summary = files.lines("summary.html");
        assert!(summary.last().unwrap().contains(label), "{summary:?}");
    }
}
