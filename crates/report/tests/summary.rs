//! The end of a run as a person sees it.

use std::collections::BTreeMap;

use fathom_record::{
    Check, CpuRecord, CurveRecord, DirectionRecord, IntervalDirection, IntervalRecord, JobRecord,
    KneePlace, KneeRecord, LatencyRecord, OverTimeRecord, PointRecord, Record, RunKind, SCHEMA,
    StageRecord, StorageRecord, SweepRecord, ToolRecord, TotalRecord, Verdict,
};
use fathom_report::{Summary, Width, html_page, stored_summary, summary};
use fathom_stats::{Histogram, to_hdr_base64};

/// A thousand latencies around `mean_ms`, one in a hundred twice as long.
fn histogram(mean_ms: f64) -> String {
    let mut histogram = Histogram::new();
    for index in 0..1000u32 {
        let factor = if index % 100 == 0 { 2.0 } else { 0.9 };
        histogram.record((mean_ms * 1e6 * factor) as u64);
    }
    to_hdr_base64(&histogram).unwrap_or_default()
}

fn latency(mean_ms: f64) -> LatencyRecord {
    let ns = |factor: f64| (mean_ms * 1e6 * factor) as u64;
    LatencyRecord {
        min: ns(0.5),
        mean: mean_ms * 1e6,
        stddev: 0.0,
        max: ns(4.0),
        p50: ns(0.9),
        p90: ns(1.2),
        p95: ns(1.3),
        p99: ns(2.0),
        p99_9: ns(3.0),
        p99_99: ns(3.5),
        histogram: histogram(mean_ms),
    }
}

fn direction(iops: f64, mean_ms: f64, bound_by: &[(&str, f64)]) -> DirectionRecord {
    DirectionRecord {
        ios: (iops * 30.0) as u64,
        bytes: (iops * 30.0) as u64 * 4096,
        errors: 0,
        iops,
        bandwidth_bytes_per_sec: iops * 4096.0,
        latency_ns: latency(mean_ms),
        response_ns: None,
        bound_by: bound_by
            .iter()
            .map(|(limit, share)| ((*limit).to_owned(), *share))
            .collect(),
        waited_share: (!bound_by.is_empty()).then_some(0.9),
    }
}

fn job(name: &str, write: &DirectionRecord, wanted: Option<f64>) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        host: None,
        targets: vec!["/mnt/a/x".to_owned()],
        workers: 1,
        depth_wanted: 32.0,
        depth_achieved: 31.9,
        iops_wanted: wanted,
        measured_ns: 30_000_000_000,
        read: None,
        write: Some(write.clone()),
        trim: None,
        sync: None,
        meta: BTreeMap::new(),
        cpu: CpuRecord::default(),
        errors: vec![],
        detail: vec![],
    }
}

fn stage(name: &str, jobs: Vec<JobRecord>, write: &DirectionRecord) -> StageRecord {
    let total = TotalRecord {
        read: None,
        write: Some(write.clone()),
        trim: None,
        sync: None,
        meta: BTreeMap::new(),
        all: Some(write.clone()),
    };
    StageRecord {
        name: name.to_owned(),
        measured_ns: 30_000_000_000,
        jobs,
        total,
        intervals: vec![],
        storage: BTreeMap::new(),
        emulation: None,
        notes: vec![],
    }
}

fn record(kind: RunKind, stages: Vec<StageRecord>, checks: Vec<Check>) -> Record {
    let verdict = if checks.iter().all(|check| check.passed) {
        Verdict::Trustworthy
    } else {
        Verdict::Questionable
    };
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".into(),
            version: "0".into(),
            git: String::new(),
        },
        kind,
        title: "job.fio on ds14.design.toml".to_owned(),
        stored: true,
        started_unix_ns: 0,
        workload: serde_json::Value::Null,
        design: serde_json::Value::Null,
        environment: serde_json::Value::Null,
        stages,
        sweep: None,
        checks,
        verdict,
        notes: vec!["media latency: assumed".to_owned()],
        interrupted: false,
    }
}

/// No line is wider than the screen, unless one word of it is.
#[track_caller]
fn fits(record: &Record, how_much: Summary, columns: usize) -> String {
    let text = summary(record, how_much, Width::of_terminal(columns));
    let too_wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
    assert_eq!(text.lines().find(too_wide), None, "{columns}:\n{text}");
    text
}

#[track_caller]
fn check(record: &Record, how_much: Summary, expected: &str) {
    let text = summary(record, how_much, Width::PLAIN);
    assert_eq!(text, expected, "\n{text}");
    for columns in [40, 41, 50, 59, 66, 72, 79, 80] {
        fits(record, how_much, columns);
    }
}

#[test]
fn a_prediction_says_what_binds_and_what_falls_short() {
    let writes = direction(
        12_352.4,
        20.5,
        &[("disk-iops", 0.98), ("vm-uncached-iops", 0.02)],
    );
    let jobs = vec![job("writer1", &writes, Some(12_500.0))];
    let failed = Check {
        id: "schedule-lag".into(),
        passed: false,
        evidence: "writer1: 12,352 IOPS reached of 12,500 asked for".into(),
        remedy: "lower the rate".into(),
    };
    let passed = Check {
        id: "io-errors".into(),
        passed: true,
        evidence: "no I/O failed".into(),
        remedy: String::new(),
    };
    let record = record(
        RunKind::Predict,
        vec![stage("stage1", jobs, &writes)],
        vec![passed, failed],
    );
    check(&record, Summary::Short, include_str!("prediction.txt"));
    let narrow = fits(&record, Summary::Short, 40);
    assert_eq!(narrow, include_str!("prediction_narrow.txt"), "\n{narrow}");
}

/// What was not done has no latency, whatever stands in the record.
#[test]
fn jobs_without_io_have_no_latency() {
    let mut write = direction(0.0, 0.0, &[]);
    write.response_ns = Some(write.latency_ns.clone());
    let idle = job("idle", &write, Some(100.0));
    let text = fits(
        &record(
            RunKind::Run,
            vec![stage("s", vec![idle.clone()], &write)],
            vec![],
        ),
        Summary::Short,
        80,
    );
    assert!(!text.contains("0ns"), "{text}");
    let mut busy = direction(100.0, 2.0, &[]);
    busy.response_ns = Some(busy.latency_ns.clone());
    let jobs = vec![idle, job("busy", &busy, Some(100.0))];
    let text = fits(
        &record(RunKind::Run, vec![stage("s", jobs, &busy)], vec![]),
        Summary::Short,
        100,
    );
    assert!(
        text.contains("busy response time from intended start: p50 "),
        "{text}"
    );
    assert!(!text.contains("idle response"), "{text}");
}

/// A job that was done sooner than its stage has the rate of its own time.
#[test]
fn the_rate_of_a_job_is_over_its_own_time() {
    let (short, long) = (direction(1_000.0, 1.0, &[]), direction(200.0, 1.0, &[]));
    let mut jobs = vec![job("short", &long, None), job("long", &long, None)];
    (jobs[0].read, jobs[0].write) = (Some(short.clone()), None);
    let mut of_stage = stage("s", jobs, &long);
    let over_all = DirectionRecord {
        iops: 40.0,
        bandwidth_bytes_per_sec: 40.0 * 4096.0,
        ..short
    };
    of_stage.total.read = Some(over_all);
    let text = fits(
        &record(RunKind::Run, vec![of_stage], vec![]),
        Summary::Short,
        80,
    );
    let line = text.lines().find(|line| line.starts_with("short read"));
    assert!(line.is_some_and(|line| line.contains(" 1,000 ")), "{text}");
}

/// Two readers that took half of a stage had twice the rate that a line over the whole stage shows.
#[test]
fn jobs_of_a_part_of_a_stage_are_told_with_their_own_rate() {
    let write = direction(1000.0, 2.0, &[]);
    let with = |measured_ns: u64| {
        let mut jobs = vec![job("w", &write, None)];
        for name in ["r1", "r2"] {
            let mut reader = job(name, &write, None);
            (reader.read, reader.write) = (reader.write, None);
            reader.measured_ns = measured_ns;
            jobs.push(reader);
        }
        let mut stage = stage("a", jobs, &write);
        stage.total.read = Some(direction(2000.0, 2.0, &[]));
        let record = record(RunKind::Run, vec![stage], vec![]);
        let text = fits(&record, Summary::Short, 80);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told =
        "reads of r1 and r2 took 15 s of the stage's 30 s: 1,000 IOPS each over their own time";
    let text = with(15_000_000_000);
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("writes of"), "{text}");
    assert!(!with(29_000_000_000).contains("took"));
}

#[test]
fn the_next_command_names_the_run_that_is_shown() {
    let writes = direction(1.0, 1.0, &[]);
    let stages = || vec![stage("stage1", vec![job("a", &writes, None)], &writes)];
    let mut record = record(RunKind::Run, stages(), vec![]);
    for (run, command) in [
        ("last", "`fathom report last --full`"),
        ("last~1", "`fathom report last~1 --full`"),
        (
            "runs/a b's.json",
            r"`fathom report 'runs/a b'\''s.json' --full`",
        ),
    ] {
        let shown = stored_summary(&record, Summary::Short, Width::PLAIN, run);
        assert!(shown.contains(command), "{shown}");
    }
    let made = summary(&record, Summary::Short, Width::PLAIN);
    assert!(made.contains("`fathom report last --full`"), "{made}");
    record.stored = false;
    let made = summary(&record, Summary::Short, Width::PLAIN);
    assert!(made.contains("was not stored"), "{made}");
    let shown = stored_summary(&record, Summary::Short, Width::PLAIN, "a.json");
    assert!(shown.contains("`fathom report a.json --full`"), "{shown}");
}

#[test]
fn repeats_are_one_line_with_their_spread() {
    let stages = [85_000.0, 86_000.0, 87_000.0]
        .iter()
        .enumerate()
        .map(|(index, iops)| {
            let writes = direction(*iops, 0.37, &[]);
            let name = if index == 0 {
                "randwrite".to_owned()
            } else {
                format!("randwrite #{}", index + 1)
            };
            stage(&name, vec![job("randwrite", &writes, None)], &writes)
        });
    let mut record = record(RunKind::Run, stages.collect(), vec![]);
    record.workload = serde_json::json!({"stage": [{"name": "randwrite", "repeats": 3}]});
    record.notes.clear();
    check(&record, Summary::Short, include_str!("repeats.txt"));
}

/// A record of these stages, each with its notes; their names say which are repeats of which of `planned`.
fn noted(planned: &[(&str, u64)], stages: &[(&str, &[&str])]) -> Record {
    let writes = direction(500.0, 0.37, &[]);
    let stages = stages.iter().map(|(name, notes)| {
        let mut stage = stage(name, vec![job("db", &writes, None)], &writes);
        stage.notes = notes.iter().map(|note| (*note).to_owned()).collect();
        stage
    });
    let mut record = record(RunKind::Run, stages.collect(), vec![]);
    let planned = planned
        .iter()
        .map(|(name, repeats)| serde_json::json!({"name": name, "repeats": repeats}));
    record.workload = serde_json::json!({"stage": planned.collect::<Vec<_>>()});
    record.notes.clear();
    record
}

#[test]
fn a_note_says_which_repeats_and_stages_it_is_of() {
    #[track_caller]
    fn check(planned: &[(&str, u64)], stages: &[(&str, &[&str])], expected: &[&str]) {
        let record = noted(planned, stages);
        let text = summary(&record, Summary::Short, Width::PLAIN);
        let notes = text
            .lines()
            .filter_map(|line| line.strip_prefix("note     "));
        assert_eq!(notes.collect::<Vec<_>>(), expected);
        let page = html_page(&record, None);
        for note in expected {
            assert!(page.contains(note), "`{note}` is not in\n{page}");
        }
    }
    let once: [(&str, u64); 2] = [("mix", 1), ("log", 1)];
    check(&once, &[("mix", &["slow"]), ("log", &["slow"])], &["slow"]);
    check(&once, &[("mix", &[]), ("log", &["slow"])], &["log: slow"]);
    let named = "job `log` is slow";
    check(&once, &[("mix", &[]), ("log", &[named])], &[named]);
    let three = [("mix", 3)];
    check(
        &three,
        &[("mix", &["a"]), ("mix #2", &["a", "b"]), ("mix #3", &["a"])],
        &["a", "repeat 2 of 3: b"],
    );
    check(
        &three,
        &[("mix", &["a"]), ("mix #2", &[]), ("mix #3", &["a"])],
        &["repeats 1 and 3 of 3: a"],
    );
    let both = [("mix", 2), ("log", 1)];
    check(
        &both,
        &[("mix", &[]), ("mix #2", &["a"]), ("log", &["a"])],
        &["mix (repeat 2 of 2) and log: a"],
    );
    check(
        &both,
        &[("mix", &["a"]), ("mix #2", &["a"]), ("log", &[])],
        &["mix: a"],
    );
    let steal = ["14 % were stolen", "24.5 % were stolen", "9 % were stolen"];
    let [a, b, c] = [&steal[..1], &steal[1..2], &steal[2..]];
    check(
        &three,
        &[("mix", a), ("mix #2", b), ("mix #3", c)],
        &["9 to 24.5 % were stolen"],
    );
    check(
        &three,
        &[("mix", a), ("mix #2", b), ("mix #3", &[])],
        &["repeats 1 and 2 of 3: 14 to 24.5 % were stolen"],
    );
    let two = ["5 % of 6 % were stolen", "5 % of 7 % were stolen"];
    check(
        &once,
        &[("mix", &two[..1]), ("log", &two[1..])],
        &["mix: 5 % of 6 % were stolen", "log: 5 % of 7 % were stolen"],
    );
    let four = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
    let told: [&str; 1] = ["slow"];
    check(
        &four,
        &[("a", &told), ("b", &[]), ("c", &told), ("d", &told)],
        &["3 of 4 stages: slow"],
    );
}

#[test]
fn a_page_tells_repeats_apart() {
    let mut record = noted(
        &[("mix", 2), ("log", 1)],
        &[("mix", &[]), ("mix #2", &[]), ("log", &[])],
    );
    for stage in &mut record.stages {
        let second = |at_ns| IntervalRecord {
            at_ns,
            read: None,
            write: Some(IntervalDirection {
                ios: 500,
                bytes: 500 * 4096,
                p50_ns: 1_000,
                p99_ns: 2_000,
                max_ns: 3_000,
            }),
            trim: None,
            meta: BTreeMap::new(),
        };
        stage.intervals = vec![second(1_000_000_000), second(2_000_000_000)];
        stage
            .storage
            .insert("vda".to_owned(), StorageRecord::default());
    }
    let page = html_page(&record, None);
    for name in ["mix, repeat 1 of 2", "mix, repeat 2 of 2", "log"] {
        for title in [
            format!(">{name}: I/Os a second<"),
            format!("<h3>{name}</h3>"),
        ] {
            assert!(page.contains(&title), "`{title}` is not in\n{page}");
        }
    }
    // What is of all repeats bears the stage's name.
    assert!(page.contains(">mix: latency by share of I/Os<"), "{page}");
}

#[test]
fn names_begin_no_lines_and_steer_no_terminal() {
    let name = "a\nverdict  TRUSTWORTHY\u{1b}[2J";
    let writes = direction(500.0, 0.37, &[]);
    let stages = [name, "b"].map(|stage_name| {
        let mut stage = stage(stage_name, vec![job(name, &writes, Some(900.0))], &writes);
        stage.notes.push(name.to_owned());
        stage
    });
    let mut record = record(RunKind::Run, stages.into(), vec![]);
    record.title = name.to_owned();
    for how_much in [Summary::Short, Summary::Full] {
        let text = summary(&record, how_much, Width::PLAIN);
        let steering = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(steering), "{text:?}");
        let verdicts = text.lines().filter(|line| line.starts_with("verdict"));
        assert_eq!(verdicts.count(), 1, "{text}");
    }
}

#[test]
fn time_outside_system_calls_is_told_per_io() {
    let writes = direction(500.0, 0.37, &[]);
    let mut job = job("n", &writes, None);
    let told = |job: &JobRecord| {
        let stages = vec![stage("s", vec![job.clone()], &writes)];
        summary(
            &record(RunKind::Run, stages, vec![]),
            Summary::Full,
            Width::PLAIN,
        )
    };
    assert!(!told(&job).contains("outside"));
    job.cpu = CpuRecord {
        outside_calls_ns: Some(writes.ios * 52),
        io_calls: Some(writes.ios / 4),
        ..CpuRecord::default()
    };
    let text = told(&job).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(", 52 ns an I/O outside system calls (4.0 I/Os each)"),
        "{text}"
    );
}

#[test]
fn stages_called_like_repeats_are_stages() {
    let stages = [("x #1", 500.0), ("x #2", 2_000.0)].map(|(name, iops)| {
        let writes = direction(iops, 0.37, &[]);
        stage(name, vec![job("n", &writes, None)], &writes)
    });
    let mut record = record(RunKind::Run, stages.into(), vec![]);
    for repeats in [1, 3] {
        let stages =
            ["x #1", "x #2"].map(|name| serde_json::json!({"name": name, "repeats": repeats}));
        record.workload = serde_json::json!({ "stage": stages });
        let text = summary(&record, Summary::Short, Width::PLAIN);
        for part in ["x #1: n write", "x #2: n write", " 500 ", " 2,000 "] {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
        assert!(!text.contains('±') && !text.contains("1,250"), "{text}");
    }
}

/// Columns that are wider than their figures give way to a name that is longer than what stands beside them.
#[test]
fn names_have_the_room_that_figures_leave() {
    let writes = direction(500.0, 0.37, &[]);
    let shown = |name: &str| {
        let stages = vec![stage("s", vec![job(name, &writes, None)], &writes)];
        fits(&record(RunKind::Run, stages, vec![]), Summary::Short, 80)
    };
    for name in ["keeper fallocate-keep", "keeper fallocate-keep-size-of-f"] {
        let text = shown(name);
        assert!(text.contains(&format!("\n{name} write ")), "{text}");
    }
    let text = shown("keeper fallocate-keep-size-of-all-files");
    assert!(
        text.contains("\nkeeper fallocate-k…of-all-files write "),
        "{text}"
    );
}

/// The page has the parts of the storage in the order in which the text has them, and those alone.
#[test]
fn the_page_has_parts_in_the_order_of_the_text() {
    let writes = direction(500.0, 0.37, &[]);
    let mut stage = stage("s", vec![job("j", &writes, None)], &writes);
    let part = |kind: &str, ios| StorageRecord {
        kind: kind.to_owned(),
        ios,
        ..StorageRecord::default()
    };
    for (name, part) in [
        ("d10", part("disk", 1)),
        ("d9", part("disk", 1)),
        ("vm", part("vm", 0)),
    ] {
        stage.storage.insert(name.to_owned(), part);
    }
    let record = record(RunKind::Predict, vec![stage], vec![]);
    let text = summary(&record, Summary::Full, Width::PLAIN);
    for shown in [text, html_page(&record, None)] {
        let place = |name: &str| shown.find(name);
        assert!(place("disk d9") < place("disk d10"), "{shown}");
        assert!(place("disk d9").is_some(), "{shown}");
        assert_eq!(place("vm vm"), None, "{shown}");
    }
}

#[test]
fn jobs_of_which_the_same_is_to_be_said_share_a_line() {
    let reads = direction(16_000.0, 8.0, &[("vm-cached-iops", 1.0)]);
    let mut jobs = Vec::new();
    for _ in 0..4 {
        let mut reader = job("reader1", &reads, None);
        reader.read = reader.write.take();
        jobs.push(reader);
    }
    let mut total = direction(49_400.0, 10.1, &[("disk-iops", 1.0)]);
    for (index, iops) in [12_334.0, 12_358.0, 12_340.0].into_iter().enumerate() {
        let mut writes = direction(iops, 10.1, &[("disk-iops", 1.0)]);
        writes.response_ns = Some(latency(30.0 + iops / 10_000.0));
        jobs.push(job(
            &format!("writer{}", index + 1),
            &writes,
            Some(12_500.0),
        ));
        total.response_ns.clone_from(&writes.response_ns);
    }
    let mut stage = stage("reader1", jobs, &total);
    stage.total.read = Some(direction(64_000.0, 8.0, &[("vm-cached-iops", 1.0)]));
    let record = record(RunKind::Predict, vec![stage], vec![]);
    check(&record, Summary::Short, include_str!("shared_lines.txt"));
}

/// A disk of 1 ms that carries `limit` I/Os a second, at each of `depths`.
fn curve(name: &str, depths: &[u64], limit: f64) -> CurveRecord {
    let points = depths.iter().map(|depth| {
        let mean = (*depth as f64 / limit * 1e9).max(1e6);
        let block = if name.is_empty() {
            String::new()
        } else {
            format!(" {name}")
        };
        PointRecord {
            stage: format!("depth={depth}{block}"),
            depth: Some(*depth as u32),
            block_bytes: None,
            threads: None,
            outstanding: *depth,
            ios: 100_000,
            iops: *depth as f64 / mean * 1e9,
            bandwidth_bytes_per_sec: *depth as f64 / mean * 1e9 * 4096.0,
            latency_mean_ns: mean,
            latency_p50_ns: (mean * 0.9) as u64,
            latency_p99_ns: (mean * 2.0) as u64,
            bound_by: Some("vm-uncached-iops".to_owned()),
            waited_share: Some(1.0 - 1e6 / mean),
        }
    });
    CurveRecord {
        name: name.to_owned(),
        points: points.collect(),
        knee: None,
    }
}

fn knee(curve: CurveRecord, index: usize, lies: KneePlace) -> CurveRecord {
    let stage = curve.points[index].stage.clone();
    CurveRecord {
        knee: Some(KneeRecord { stage, lies }),
        ..curve
    }
}

#[test]
fn a_sweep_is_a_table_a_plot_and_a_knee() {
    let depths = [1, 2, 4, 8, 16, 32, 64];
    let mut record = record(RunKind::Predict, vec![], vec![]);
    let curve = curve("", &depths, 16_000.0);
    record.sweep = Some(SweepRecord {
        curves: vec![knee(curve, 4, KneePlace::Inside)],
    });
    check(&record, Summary::Short, include_str!("sweep.txt"));
    let narrow = fits(&record, Summary::Short, 40);
    assert_eq!(narrow, include_str!("sweep_narrow.txt"), "\n{narrow}");
}

#[test]
fn several_curves_have_letters() {
    let depths = [1, 4, 16, 64];
    let mut record = record(RunKind::Run, vec![], vec![]);
    let small = curve("block=4k", &depths, 16_000.0);
    let large = curve("block=64k", &depths, 2000.0);
    let none = curve("block=1m", &depths[..2], 100.0);
    let deep = curve("block=2k", &depths[..3], 90_000.0);
    record.sweep = Some(SweepRecord {
        curves: vec![
            knee(small, 2, KneePlace::Inside),
            knee(large, 0, KneePlace::First),
            none,
            knee(deep, 2, KneePlace::Last),
        ],
    });
    check(&record, Summary::Short, include_str!("sweep_curves.txt"));
}

/// Shares of reads weigh by reads; those of uncached volumes are told apart, and an older record of several volumes tells none.
fn told_of_caches(stage: &StageRecord, text: &impl Fn(&StageRecord) -> String) {
    let volume = |ios, cached_reads, hit_share| StorageRecord {
        kind: "volume".to_owned(),
        ios,
        cached_reads,
        hit_share,
        ..StorageRecord::default()
    };
    let reads = stage.total.read.as_ref().map_or(0, |reads| reads.ios);
    let (few, many) = (reads / 10, reads - reads / 10);
    let hot = volume(1 << 40, Some(few), Some(1.0));
    let cases = [
        (
            volume(many, Some(many), Some(0.0)),
            Some("10 % of the reads"),
        ),
        (
            volume(many, None, None),
            Some("100 % of the reads of cached volumes"),
        ),
        (volume(many, None, Some(0.0)), None),
    ];
    for (other, words) in cases {
        let mut stage = stage.clone();
        let both = [("x".to_owned(), hot.clone()), ("y".to_owned(), other)];
        stage.storage = BTreeMap::from(both);
        let told = text(&stage).replace("\n    ", " ");
        let sentence = words.map(|words| format!("latency; the cache served {words}\n"));
        let found = sentence
            .as_ref()
            .map_or(!told.contains("the cache served"), |words| {
                told.contains(words)
            });
        assert!(found, "{words:?}: {told}");
    }
}

#[test]
fn where_the_time_went_is_one_sentence() {
    let reads = direction(64_000.0, 8.0, &[("vm-cached-bytes", 0.98)]);
    let mut stage = stage("mix", vec![], &reads);
    (stage.total.read, stage.total.write) = (stage.total.write.take(), None);
    let over_time = OverTimeRecord {
        at_ns: (1..=4).map(|second| second * 600_000_000_000).collect(),
        iops_credit_share: vec![0.6, 0.3, 0.0, 0.0],
        ..OverTimeRecord::default()
    };
    let disk = StorageRecord {
        kind: "disk".to_owned(),
        over_time: Some(over_time),
        ..StorageRecord::default()
    };
    let volume = StorageRecord {
        kind: "volume".to_owned(),
        ios: 100,
        hit_share: Some(0.75),
        over_time: Some(OverTimeRecord {
            hit_share: vec![None, Some(0.02), Some(0.8), Some(0.99), None],
            ..OverTimeRecord::default()
        }),
        ..StorageRecord::default()
    };
    stage.storage = BTreeMap::from([("a/disk1".to_owned(), disk), ("a".to_owned(), volume)]);
    let text = |stage: &StageRecord| {
        summary(
            &record(RunKind::Predict, vec![stage.clone()], vec![]),
            Summary::Short,
            Width::PLAIN,
        )
    };
    let told = text(&stage).replace("\n    ", " ");
    let sentence = "  reads waited for the VM's cached throughput (`vm-cached-bytes`, 98 %), 90 % of their latency; \
                    the cache served 75 % of the reads (2 % at first, 99 % at last); credits of `a/disk1` lasted 1,800 s\n";
    assert!(told.contains(sentence), "{told}");
    told_of_caches(&stage, &text);
    for (left, words) in [
        ([1.0, 0.8, 0.6, 0.4], "credits of `a/disk1` fell to 40 %"),
        (
            [0.4, 0.45, 0.5, 0.5],
            "credits of `a/disk1` rose from 40 % to 50 %",
        ),
        ([0.4, 0.4, 0.4, 0.4], "credits of `a/disk1` stood at 40 %"),
        (
            [0.9995, 0.999, 0.9985, 0.998],
            "credits of `a/disk1` fell by less than 1 %",
        ),
        (
            [0.0, 0.0, 0.0, 0.0],
            "`a/disk1` had no credits left after 600 s",
        ),
        ([1.0, 1.0, 1.0, 1.0], "credits were not used"),
    ] {
        let disk = stage.storage.get_mut("a/disk1");
        if let Some(over_time) = disk.and_then(|disk| disk.over_time.as_mut()) {
            over_time.iops_credit_share = left.to_vec();
        }
        let told = text(&stage).replace("\n    ", " ");
        assert!(told.contains(words), "{words}: {told}");
        assert!(!told.contains("crash"), "{told}");
    }
    told_of_dirty(&mut stage, &text);
}

/// What is left in a cache has the unit that fits it.
fn told_of_dirty(stage: &mut StageRecord, text: &impl Fn(&StageRecord) -> String) {
    for (left, words) in [
        (3 << 30, "3,072 MiB"),
        ((1 << 20) - 4096, "1,020 KiB"),
        (4097, "5 KiB"),
        (512, "512 bytes"),
    ] {
        let volume = stage.storage.get_mut("a");
        if let Some(over_time) = volume.and_then(|volume| volume.over_time.as_mut()) {
            over_time.dirty_bytes = vec![0, 1 << 20, left];
        }
        let told = text(stage).replace("\n    ", " ");
        let words = format!(
            "; {words} written were in the host cache alone at the end, where a crash loses them"
        );
        assert!(told.contains(&words), "{told}");
    }
}

/// A prediction that was cut off is known by its seconds, which say nothing of limits.
#[test]
fn what_is_known_of_no_limit_waited_for_none() {
    let reads = direction(12_800.0, 20.0, &[]);
    let mut stage = stage("mix", vec![], &reads);
    let text = |stage: &StageRecord| {
        summary(
            &record(RunKind::Predict, vec![stage.clone()], vec![]),
            Summary::Short,
            Width::PLAIN,
        )
    };
    assert!(!text(&stage).contains("waited"), "{}", text(&stage));
    let disk = StorageRecord {
        kind: "disk".to_owned(),
        ..StorageRecord::default()
    };
    stage.storage = BTreeMap::from([("a/disk1".to_owned(), disk)]);
    let told = text(&stage);
    assert!(told.contains("writes waited for no limit"), "{told}");
}

#[test]
fn operations_on_files_have_their_lines() {
    let mut jobs = ["one", "two"].map(|name| {
        let create = direction(3_000.0, 1.0, &[("metadata-iops", 1.0)]);
        let mut job = job(name, &create, None);
        job.write = None;
        job.meta = BTreeMap::from([("create".to_owned(), create)]);
        job
    });
    if let Some(create) = jobs[1].meta.get_mut("create") {
        create.latency_ns = latency(3.0);
    }
    let mut stage = stage("names", jobs.to_vec(), &direction(0.0, 0.0, &[]));
    stage.total.write = None;
    let told = summary(
        &record(RunKind::Predict, vec![stage], vec![]),
        Summary::Short,
        Width::PLAIN,
    );
    // Rates add up, the mean is over both, and the percentiles are of both histograms.
    let line = "2 jobs create     6,000     2ms       -";
    assert!(told.contains(line), "{told}");
    let words = "`create` waited for the share's metadata operations (`metadata-iops`, 100 %)";
    assert!(told.replace("\n    ", " ").contains(words), "{told}");
}

#[test]
fn names_of_any_length_and_kind_keep_the_table() {
    let writes = direction(85_000.0, 0.37, &[]);
    let name = "a\u{7}_rather_long_job_name_for_a_stage_of_this_workload";
    let one = stage(name, vec![job(name, &writes, None)], &writes);
    let text = summary(
        &record(RunKind::Run, vec![one], vec![]),
        Summary::Short,
        Width::PLAIN,
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains('…') && !text.contains('\u{7}'), "{text}");
}

#[test]
fn a_stage_with_the_name_of_its_first_job_is_told_by_all() {
    let writes = direction(1000.0, 1.0, &[]);
    let jobs = || ["a", "b", "c"].map(|name| job(name, &writes, None)).into();
    for (name, expected) in [("a", "\na … c (30 s)\n"), ("mix", "\nmix (30 s)\n")] {
        let record = record(RunKind::Run, vec![stage(name, jobs(), &writes)], vec![]);
        let text = summary(&record, Summary::Full, Width::PLAIN);
        assert!(text.contains(expected), "{expected}{text}");
    }
}

#[test]
fn a_run_that_was_cut_off_shows_its_seconds() {
    let second = |ios, max_ns| IntervalRecord {
        at_ns: 1_000_000_000,
        read: Some(IntervalDirection {
            ios,
            bytes: ios * 4096,
            p50_ns: 250_000,
            p99_ns: 500_000,
            max_ns,
        }),
        write: None,
        trim: None,
        meta: BTreeMap::new(),
    };
    let writes = direction(0.0, 0.0, &[]);
    let mut stage = stage("mix", vec![], &writes);
    stage.measured_ns = 2_000_000_000;
    stage.intervals = vec![second(30_000, 9_000_000), second(10_000, 2_000_000)];
    stage.total.write = None;
    stage.total.all = None;
    let mut record = record(RunKind::Run, vec![stage], vec![]);
    record.verdict = Verdict::Questionable;
    record.interrupted = true;
    let text = summary(&record, Summary::Short, Width::PLAIN);
    for line in [
        "mix, cut off after 2 s of measuring:",
        "  read 20,000 IOPS, 78.1 MiB/s, max 9ms",
        "verdict  CUT SHORT: not checked",
    ] {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
    assert!(!text.contains("p99.9"), "{text}");
    // The first of several that were planned is told by its name, also where it is the only one.
    record.workload = serde_json::json!({"stage": [{"name": "mix"}, {"name": "two"}]});
    record.stages[0].total.read = Some(direction(20_000.0, 1.0, &[]));
    let text = summary(&record, Summary::Short, Width::PLAIN);
    assert!(text.contains("\nmix: read "), "{text}");
    let mut two = record.stages[0].clone();
    two.name = "two".to_owned();
    two.total.read = Some(direction(20_000.0, 1.0, &[]));
    record.stages.push(two);
    let text = summary(&record, Summary::Short, Width::PLAIN);
    assert!(text.contains("\ntwo: read "), "{text}");
}
