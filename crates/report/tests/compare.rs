//! Records beside each other, as a person and a program see them.

use std::collections::BTreeMap;

use fathom_record::{
    Check, CpuRecord, DirectionRecord, HostRecord, HostsRecord, IntervalDirection, IntervalRecord,
    JobRecord, LatencyRecord, Record, RunKind, SCHEMA, StageRecord, ToolRecord, TotalRecord,
    Verdict,
};
use fathom_report::{Comparison, Summary, Threshold, Width, record_csv};
use fathom_stats::{Histogram, to_hdr_base64};

/// 10,000 latencies from half to one and a half of `median_ns`, and some ten times as long.
fn latency(median_ns: u64) -> LatencyRecord {
    let mut histogram = Histogram::new();
    for index in 0..10_000 {
        let slow = if index % 200 == 0 { 10 } else { 1 };
        histogram.record(median_ns * (5_000 + index) / 10_000 * slow);
    }
    LatencyRecord {
        min: histogram.min(),
        mean: histogram.mean(),
        stddev: histogram.stddev(),
        max: histogram.max(),
        p50: histogram.percentile(50.0),
        p90: histogram.percentile(90.0),
        p95: histogram.percentile(95.0),
        p99: histogram.percentile(99.0),
        p99_9: histogram.percentile(99.9),
        p99_99: histogram.percentile(99.99),
        histogram: to_hdr_base64(&histogram).unwrap_or_default(),
    }
}

fn reads(iops: u64, median_ns: u64) -> DirectionRecord {
    DirectionRecord {
        ios: iops * 10,
        bytes: iops * 10 * 4096,
        errors: 0,
        iops: iops as f64,
        bandwidth_bytes_per_sec: iops as f64 * 4096.0,
        latency_ns: latency(median_ns),
        response_ns: None,
        bound_by: BTreeMap::new(),
        waited_share: None,
    }
}

fn job(name: &str, read: &DirectionRecord) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        host: None,
        targets: vec![],
        workers: 1,
        depth_wanted: 1.0,
        depth_achieved: 1.0,
        iops_wanted: None,
        measured_ns: 10_000_000_000,
        read: Some(read.clone()),
        write: None,
        trim: None,
        sync: None,
        meta: BTreeMap::new(),
        cpu: CpuRecord::default(),
        errors: vec![],
        detail: vec![],
    }
}

/// Ten seconds whose I/Os differ by up to 4 % of their mean.
fn seconds(iops: u64) -> Vec<IntervalRecord> {
    let second = |index: u64| IntervalRecord {
        at_ns: index * 1_000_000_000,
        read: Some(IntervalDirection {
            ios: iops * (98 + index % 5) / 100,
            bytes: iops * (98 + index % 5) / 100 * 4096,
            p50_ns: Some(0),
            p99_ns: Some(0),
            max_ns: 0,
        }),
        write: None,
        trim: None,
        meta: BTreeMap::new(),
    };
    (1..=10).map(second).collect()
}

fn stage(name: &str, jobs: Vec<JobRecord>, read: &DirectionRecord) -> StageRecord {
    StageRecord {
        name: name.to_owned(),
        started_unix_ns: None,
        started_ns: None,
        measured_ns: 10_000_000_000,
        jobs,
        total: TotalRecord {
            read: Some(read.clone()),
            write: None,
            trim: None,
            sync: None,
            meta: BTreeMap::new(),
            all: Some(read.clone()),
        },
        intervals: seconds(read.iops as u64),
        storage: BTreeMap::new(),
        emulation: None,
        notes: vec![],
        hosts: None,
    }
}

fn record(stages: Vec<StageRecord>) -> Record {
    let passed = Check {
        id: "io-errors".into(),
        passed: true,
        evidence: "no I/O failed".into(),
        remedy: String::new(),
    };
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".into(),
            version: "0".into(),
            git: String::new(),
        },
        kind: RunKind::Run,
        title: "mix.workload.toml".to_owned(),
        stored: true,
        started_unix_ns: 0,
        workload: serde_json::json!({"stage": [{"name": "mix", "job": [{"name": "reader", "depth": 32}]}]}),
        design: serde_json::Value::Null,
        environment: serde_json::json!({"kernel": "6.1", "clock_reading_ns": 20}),
        stages,
        sweep: None,
        checks: vec![passed],
        verdict: Verdict::Trustworthy,
        notes: vec![],
        interrupted: false,
    }
}

/// A record of one stage of one job of reads.
fn plain(iops: u64, median_ns: u64) -> Record {
    let reads = reads(iops, median_ns);
    record(vec![stage("mix", vec![job("reader", &reads)], &reads)])
}

fn compared(records: &[&Record]) -> Comparison {
    let named = records.iter().enumerate();
    let named = named.map(|(index, record)| (format!("run-{index}"), (*record).clone()));
    Comparison::new(&named.collect::<Vec<_>>(), Summary::Short)
}

#[track_caller]
fn check_text(comparison: &Comparison, parts: &[&str]) -> String {
    let text = comparison.to_text(Summary::Short, Width::PLAIN);
    for columns in [40, 58, 59, 78, 79, 80] {
        let text = comparison.to_text(Summary::Short, Width::of_terminal(columns));
        let wide = text.lines().find(|line| line.chars().count() > columns);
        assert_eq!(wide, None, "{text}");
    }
    let joined = text.replace("\n         ", " ");
    for part in parts {
        assert!(joined.contains(part), "`{part}` is not in\n{text}");
    }
    text
}

fn crossed(comparison: &Comparison, threshold: &str) -> Vec<String> {
    let threshold: Threshold = threshold.parse().expect(threshold);
    threshold.crossed(comparison)
}

#[test]
fn a_change_stands_beside_its_figures() {
    let mut slower = plain(8_000, 900_000);
    slower.workload["stage"][0]["job"][0]["depth"] = serde_json::json!(64);
    slower.environment = serde_json::json!({"kernel": "6.2", "clock_reading_ns": 21});
    let failed = Check {
        id: "cached-reads".into(),
        passed: false,
        evidence: "half of the reads came from memory".into(),
        remedy: "read with O_DIRECT".into(),
    };
    slower.checks.push(failed);
    let comparison = compared(&[&plain(10_000, 500_000), &slower]);
    let text = comparison.to_text(Summary::Short, Width::PLAIN);
    assert_eq!(text, include_str!("compare.txt"), "\n{text}");
    assert!(comparison.has_changes());
}

#[test]
fn a_page_shows_what_the_screen_does() {
    let mut slower = plain(8_000, 900_000);
    slower.title = "<b>".to_owned();
    slower.interrupted = true;
    let comparison = compared(&[&plain(10_000, 500_000), &slower, &plain(10_000, 500_000)]);
    let html = comparison.to_html(|name| format!("/runs/{name}?a&b"));
    for part in [
        "<a href=\"/runs/run-0?a&amp;b\">run-0</a>: ",
        " (baseline)</li>",
        "run-1</a>: &lt;b&gt;</li>",
        "<h2>reader read</h2>",
        "<tr><th scope=\"row\">IOPS</th><td>10,000</td><td>8,000</td><td class=\"changed\">-20.0%*</td>\
         <td>10,000</td><td>0.0%</td></tr>",
        "<p class=\"soft\">* more than the noise (95 %): ",
        "<li>B: it was stopped before its end</li>",
    ] {
        assert!(html.contains(part), "`{part}` is not in\n{html}");
    }
    let reads = reads(10_000, 500_000);
    let other = record(vec![
        stage("x", vec![job("reader", &reads)], &reads),
        stage("y", vec![job("reader", &reads)], &reads),
    ]);
    let nothing = compared(&[&record(Vec::new()), &other]).to_html(str::to_owned);
    assert!(
        nothing.contains("Nothing of the one is in the other."),
        "{nothing}"
    );
    assert!(!nothing.contains("noise"), "{nothing}");
}

#[test]
fn the_same_twice_shows_no_change() {
    let comparison = compared(&[&plain(10_000, 500_000), &plain(10_000, 500_000)]);
    assert!(!comparison.has_changes());
    let text = check_text(&comparison, &["no figure changed by more than the noise"]);
    assert!(!text.contains('*') && !text.contains("doubt"), "{text}");
    assert!(crossed(&comparison, "iops-0%").is_empty());
}

/// Where the noise is not known, nobody can say that a change is within it.
#[test]
fn what_cannot_be_judged_is_not_called_unchanged() {
    let short = |iops, median_ns| {
        let mut record = plain(iops, median_ns);
        record.stages[0].intervals.clear();
        record
    };
    let [base, other] = [short(10_000, 500_000), short(9_950, 500_000)];
    check_text(
        &compared(&[&base, &other]),
        &["no figure whose noise is known changed by more than it (95 %)\n"],
    );
    let mut few = [short(10_000, 500_000), short(5_000, 700_000)];
    for record in &mut few {
        let mut histogram = Histogram::new();
        histogram.record(record.started_unix_ns + 500_000);
        let encoded = to_hdr_base64(&histogram).unwrap_or_default();
        let stage = &mut record.stages[0];
        let own = stage.jobs.iter_mut().filter_map(|job| job.read.as_mut());
        for reads in own.chain(stage.total.read.as_mut()) {
            reads.latency_ns.histogram.clone_from(&encoded);
        }
    }
    few[1].started_unix_ns = 1;
    let text = compared(&[&few[0], &few[1]]).to_text(Summary::Full, Width::PLAIN);
    assert!(!text.contains("no figure changed"), "{text}");
}

#[test]
fn several_hosts_beside_one_are_told_by_their_number() {
    let one = plain(10_000, 500_000);
    let mut two = one.clone();
    two.environment = serde_json::json!({"kernel": "6.1", "hosts": {
        "db1": {"cpu_count": 2, "arch": "x86_64"}, "db2": {"cpu_count": 4, "arch": "x86_64"}}});
    let text = check_text(
        &compared(&[&two, &one]),
        &["doubt    A, B: 2 hosts beside one host\n"],
    );
    assert!(
        !text.contains("cpu_count") && !text.contains("db1"),
        "{text}"
    );
    let mut other = two.clone();
    other.environment["hosts"]["db2"]["cpu_count"] = serde_json::json!(8);
    let told = "doubt    A, B: other machines: `hosts.db2.cpu_count` 4 → 8\n";
    check_text(&compared(&[&two, &other]), &[told]);
}

#[test]
fn a_change_within_the_noise_has_no_mark_and_crosses_nothing() {
    let comparison = compared(&[&plain(10_000, 500_000), &plain(9_950, 500_000)]);
    check_text(
        &comparison,
        &["no figure changed by more than the noise", "-0.5%\n"],
    );
    assert!(crossed(&comparison, "iops-0.1%").is_empty());
    let comparison = compared(&[&plain(10_000, 500_000), &plain(9_000, 500_000)]);
    assert_eq!(crossed(&comparison, "iops-5%").len(), 1);
    assert!(crossed(&comparison, "iops-10.5%").is_empty());
    assert!(crossed(&comparison, "iops+5%").is_empty());
}

#[test]
fn repeats_are_judged_by_their_spread() {
    let repeated = |rates: [u64; 3]| {
        let stages = rates.iter().enumerate().map(|(index, iops)| {
            let reads = reads(*iops, 500_000);
            let name = ["mix", "mix #2", "mix #3"][index];
            stage(name, vec![job("reader", &reads)], &reads)
        });
        let mut record = record(stages.collect());
        record.workload["stage"][0]["repeats"] = serde_json::json!(3);
        record
    };
    let base = repeated([9_000, 10_000, 11_000]);
    let near = compared(&[&base, &repeated([8_000, 9_000, 10_000])]);
    check_text(&near, &["no figure changed", "-10.0%\n"]);
    assert!(crossed(&near, "iops-5%").is_empty());
    let far = compared(&[&base, &repeated([4_000, 5_000, 6_000])]);
    check_text(&far, &["-50.0%*", "rates by their repeats"]);
    assert_eq!(crossed(&far, "iops-5%").len(), 1);
}

#[test]
fn what_has_no_partner_is_named() {
    let reads = reads(10_000, 500_000);
    let one = |name: &str| stage(name, vec![job("reader", &reads)], &reads);
    let three = record(vec![one("warm"), one("mix"), one("cool")]);
    let comparison = compared(&[&three, &plain(10_000, 500_000)]);
    check_text(
        &comparison,
        &["in A alone, not in B: stages `warm`, `cool`"],
    );
    let renamed = record(vec![one("other")]);
    let comparison = compared(&[&plain(10_000, 500_000), &renamed]);
    let said = "the only stage of each is taken as one: A's `mix`, B's `other`";
    check_text(&comparison, &[said]);
    let comparison = compared(&[&three, &renamed]);
    assert!(comparison.is_empty());
    check_text(&comparison, &["nothing of the one is in the other"]);
    let jobs = vec![job("reader", &reads), job("second", &reads)];
    let two_jobs = record(vec![stage("mix", jobs, &reads)]);
    let comparison = compared(&[&two_jobs, &plain(10_000, 500_000)]);
    check_text(
        &comparison,
        &[
            "all jobs read",
            "in A alone, not in B: job `second` of stage `mix`",
        ],
    );
}

#[test]
fn records_without_successful_io_are_told() {
    let mut failing = reads(0, 500_000);
    (failing.errors, failing.latency_ns.histogram) = (7, String::new());
    let failed = record(vec![stage("mix", vec![job("reader", &failing)], &failing)]);
    let comparison = compared(&[&plain(10_000, 500_000), &failed]);
    check_text(&comparison, &["-100.0%*", "  B: 7 I/Os failed"]);
    let html = comparison.to_html(str::to_owned);
    assert!(
        html.contains("<p class=\"bad\">B: 7 I/Os failed</p>"),
        "{html}"
    );
    assert_eq!(html.matches("failed</p>").count(), 1, "{html}");
    assert_eq!(crossed(&comparison, "iops-5%").len(), 1);
    let p99 = crossed(&comparison, "p99+10%");
    assert!(p99[0].contains("no I/O succeeded"), "{p99:?}");
    // Nothing can be told of a change from nothing.
    let comparison = compared(&[&failed, &plain(10_000, 500_000)]);
    assert!(crossed(&comparison, "iops+5%").is_empty());
    let empty = record(vec![]);
    assert!(compared(&[&empty, &empty]).is_empty());
}

#[test]
fn a_response_time_that_is_gone_is_told_with_its_reason() {
    let closed = reads(1_000, 1_000_000);
    let mut open = closed.clone();
    open.response_ns = Some(latency(1_000_000));
    let of = |read: &DirectionRecord| record(vec![stage("s", vec![job("j", read)], read)]);
    let comparison = compared(&[&of(&open), &of(&closed)]);
    let told = crossed(&comparison, "response-p99+10%");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("have no intended start"), "{told:?}");
}

#[test]
fn many_records_and_stages_keep_the_screen() {
    let (base, other) = (plain(10_000, 500_000), plain(5_000, 500_000));
    let comparison = compared(&[&base, &other, &base, &other, &other]);
    let text = check_text(&comparison, &["D   change", "E   change"]);
    assert_eq!(text.matches("-50.0%*").count(), 6, "{text}");
    let reads = reads(12_345_678, 500_000);
    let stages = ["one", "two", "a stage of a very long name", "four", "five"];
    let stages = stages.map(|name| stage(name, vec![job("reader", &reads)], &reads));
    let many = record(stages.into());
    let comparison = compared(&[&many, &many]);
    let text = check_text(&comparison, &["IOPS A", "`--full` shows every figure"]);
    assert!(text.contains("12.3M"), "{text}");
}

/// Rates of clones that ran for different times are no rate that their storage ever had.
#[test]
fn clones_are_compared_by_what_they_did_together() {
    let long = reads(10_000, 500_000);
    let short = DirectionRecord {
        ios: 10_000,
        bytes: 10_000 * 4096,
        ..long.clone()
    };
    let clones = |others: &[&str]| {
        let mut second = job("reader", &short);
        second.measured_ns = 1_000_000_000;
        let mut jobs = vec![job("reader", &long), second];
        jobs.extend(others.iter().map(|name| job(name, &long)));
        let mut stage = stage("mix", jobs, &reads(11_000, 500_000));
        stage.total.read.as_mut().unwrap().ios = 110_000;
        record(vec![stage])
    };
    // Alone, and beside others that go the same way.
    for others in [&[][..], &["other"]] {
        let comparison = compared(&[&clones(others), &clones(others)]);
        let csv = comparison.to_csv();
        let of = |figure: &str| {
            let start = format!("mix,reader,read,{figure},");
            let row = csv.lines().find(|row| row.starts_with(&start));
            let value = row.and_then(|row| row.split(',').nth(5));
            value.and_then(|value| value.parse::<f64>().ok()).unwrap()
        };
        assert!((of("iops") - 11_000.0).abs() < 1e-6, "{csv}");
        assert!((of("bandwidth") - 11_000.0 * 4096.0).abs() < 1e-3, "{csv}");
    }
}

/// Points of a sweep differ in the midst of their names.
#[test]
fn stages_of_long_names_stand_above_their_lines() {
    let reads = reads(10_000, 500_000);
    let names = ["4k", "64k", "1m"].map(|block| format!("depth=16 block={block}"));
    let mut stages: Vec<StageRecord> = names
        .iter()
        .map(|name| {
            stage(
                name,
                vec![job("reader", &reads), job("other", &reads)],
                &reads,
            )
        })
        .collect();
    stages.push(stage("end", vec![job("reader", &reads)], &reads));
    let many = record(stages);
    let text = check_text(&compared(&[&many, &many]), &["\nend: reader read  "]);
    for name in names {
        assert!(
            text.contains(&format!("\n{name}\n  all jobs read  ")),
            "{text}"
        );
    }
    assert_eq!(text.matches("\n  reader read  ").count(), 3, "{text}");
}

#[test]
fn marks_are_explained_where_they_are_shown() {
    let base = plain(10_000, 500_000);
    let text = check_text(&compared(&[&base, &plain(8_000, 500_000)]), &["-20.0%*"]);
    assert!(text.contains("rates by seconds"), "{text}");
    assert!(
        !text.contains("by their ranks") && !text.contains('?'),
        "{text}"
    );
    let text = check_text(&compared(&[&base, &plain(10_000, 900_000)]), &["%*"]);
    assert!(
        text.contains("(95 %): percentiles by their ranks"),
        "{text}"
    );
    assert!(!text.contains("rates by") && text.contains("?  "), "{text}");
    // Of many groups few figures are shown: what changed may be among the others.
    let names = ["one", "two", "three", "four", "five"];
    let of = |read: &DirectionRecord| {
        let job = || vec![job("reader", read)];
        record(names.map(|name| stage(name, job(), read)).into())
    };
    let fast = reads(10_000, 500_000);
    let mut median = fast.clone();
    let mut histogram = Histogram::new();
    for index in 0..10_000 {
        let usual = if index < 6_000 { 200_000 } else { 500_000 };
        let slow = if index % 200 == 0 { 10 } else { 1 };
        histogram.record(usual * (5_000 + index) / 10_000 * slow);
    }
    median.latency_ns.histogram = to_hdr_base64(&histogram).unwrap_or_default();
    median.latency_ns.p50 = histogram.percentile(50.0);
    let comparison = compared(&[&of(&fast), &of(&median)]);
    assert!(comparison.has_changes());
    let text = check_text(
        &comparison,
        &["none of these figures changed by more than the noise (95 %), others did"],
    );
    assert!(!text.contains('*'), "{text}");
}

#[test]
fn csv_has_a_row_a_figure() {
    let mut slower = plain(8_000, 500_000);
    slower.stages[0].name = "a, \"b\"\u{1b}".to_owned();
    let csv = compared(&[&slower, &plain(10_000, 500_000)]).to_csv();
    let mut lines = csv.lines();
    let header = "stage,job,direction,figure,unit,A,B,B_change_percent,B_more_than_noise";
    assert_eq!(lines.next(), Some(header));
    let first = "\"a, \"\"b\"\"\u{fffd}\",reader,read,iops,iops,8000,10000,25,true";
    assert_eq!(lines.next(), Some(first));
    assert_eq!(lines.count(), 5);
}

#[test]
fn json_says_how_a_change_was_judged() {
    let comparison = compared(&[&plain(10_000, 500_000), &plain(8_000, 500_000)]);
    let threshold: Threshold = "iops-5%".parse().expect("a threshold");
    let document = comparison.to_json(&[threshold]);
    assert_eq!(document["schema"], "fathom.comparison/1");
    let figures = &document["groups"][0]["figures"];
    let change = &figures[0]["changes"][0];
    assert_eq!(
        figures[0]["values_iops"],
        serde_json::json!([10_000.0, 8_000.0])
    );
    assert_eq!(change["judged_by"], "seconds");
    assert_eq!(change["more_than_noise"], true);
    let ends = change["difference_95_iops"].as_array().expect("two ends");
    assert!(ends[0].as_f64() < ends[1].as_f64() && ends[1].as_f64() < Some(0.0));
    assert_eq!(figures[3]["changes"][0]["more_than_noise"], false);
    let crossed = document["thresholds"][0]["crossed"].as_array();
    assert_eq!(crossed.map(Vec::len), Some(1));
}

#[test]
fn a_record_is_a_table_of_its_jobs() {
    let mut told = plain(8_000, 500_000);
    let mut writes = reads(10, 100);
    writes.response_ns = Some(latency(1_000));
    told.stages[0].jobs[0].write = Some(writes);
    let mut failing = reads(0, 100);
    failing.errors = 3;
    told.stages[0].jobs.push(job("second", &failing));
    let mut cut_off = told.stages[0].clone();
    cut_off.jobs.clear();
    told.stages.push(cut_off);
    let csv = record_csv(&told);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 28), "{csv}");
    assert_eq!(rows.len(), 5, "{csv}");
    assert_eq!(rows[0][12], "latency_p50_ns");
    let reads = [
        "mix",
        "reader",
        "read",
        "80000",
        "327680000",
        "0",
        "8000",
        "32768000",
    ];
    assert_eq!(rows[1][..8], reads);
    let median = latency(500_000).p50.to_string();
    assert_eq!((rows[1][12], rows[1][22]), (median.as_str(), ""));
    assert_eq!(rows[2][22], latency(1_000).p50.to_string());
    assert_eq!((rows[3][5], rows[3][12]), ("3", ""));
    assert_eq!(rows[4][..3], ["mix", "", "read"]);
}

/// Jobs of several hosts tell theirs, and hosts that were cut off have their totals.
#[test]
fn rows_of_several_hosts_have_their_host() {
    let mut told = plain(8_000, 500_000);
    let stage = &mut told.stages[0];
    let mut second = stage.jobs[0].clone();
    (stage.jobs[0].host, second.host) = (Some("db1".to_owned()), Some("db,2".to_owned()));
    stage.jobs.push(second);
    let each = ["db1", "db,2", "db3"].map(|host| HostRecord {
        host: host.to_owned(),
        after_ns: Some(0),
        measured_ns: stage.measured_ns,
        cut_off: host == "db3",
        total: stage.total.clone(),
    });
    stage.hosts = Some(HostsRecord {
        start_skew_ns: Some(0),
        clock_bound_ns: None,
        together_ns: stage.measured_ns,
        each: each.into(),
    });
    let starts = |csv: &str| -> Vec<String> {
        let fields = csv.lines().map(|line| line.splitn(6, ',').collect());
        let starts = fields.map(|fields: Vec<&str>| fields[..5].join(","));
        starts.collect()
    };
    let csv = record_csv(&told);
    let expected = [
        "host,stage,job,direction,ios",
        "db3,mix,,read,80000",
        "db1,mix,reader,read,80000",
        "\"db,2\",mix,reader,read",
    ];
    assert_eq!(starts(&csv), expected);
    let columns = |line: &str| line.split(',').count();
    let lines: Vec<usize> = csv.lines().map(columns).collect();
    assert_eq!(lines, [29, 29, 29, 30]);
    // All that is known of hosts that were all cut off are their totals.
    let stage = &mut told.stages[0];
    stage.jobs.clear();
    let hosts = stage.hosts.as_mut().expect("they were given");
    hosts.each.iter_mut().for_each(|host| host.cut_off = true);
    let hosts = starts(&record_csv(&told));
    assert_eq!(hosts.len(), 4, "{hosts:?}");
    assert_eq!(hosts[1], "db1,mix,,read,80000");
}
