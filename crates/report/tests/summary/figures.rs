//! The figures of jobs and stages, and what is said of them.

use std::collections::BTreeMap;

use fathom_record::{
    Check, CpuRecord, DirectionRecord, IntervalDirection, IntervalRecord, JobRecord, RunKind,
    Verdict,
};
use fathom_report::{Summary, Width, html_page, stored_summary, summary};

use crate::records::{check, direction, fits, job, latency, record, stage};

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
    // What to do about it, where there is something to do.
    let page = html_page(&record, None);
    let remedy = "of 12,500 asked for<br><span class=\"soft\">lower the rate</span>";
    assert!(page.contains(remedy), "{page}");
    assert_eq!(
        page.matches("<br><span class=\"soft\">").count(),
        1,
        "{page}"
    );
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

/// Reads that hardly waited do not say what held the job back.
#[test]
fn a_rate_not_reached_is_told_with_the_limit_waited_for_longest() {
    let write = direction(400.0, 2.0, &[("disk-iops", 0.9), ("vm-uncached-iops", 0.1)]);
    let mut mixed = job("mixed", &write, Some(1000.0));
    mixed.read = Some(DirectionRecord {
        waited_share: Some(0.02),
        ..direction(400.0, 2.0, &[("vm-cached-bytes", 1.0)])
    });
    let text = fits(
        &record(
            RunKind::Predict,
            vec![stage("s", vec![mixed], &write)],
            vec![],
        ),
        Summary::Short,
        100,
    );
    let told = "mixed asked for 1,000 IOPS and reached 800: the disks' IOPS give no more";
    assert!(text.contains(told), "{text}");
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
fn a_page_has_response_times_below_latencies() {
    let mut write = direction(100.0, 2.0, &[]);
    let page = |write: &DirectionRecord| {
        let stage = stage("s", vec![job("w", write, Some(100.0))], write);
        html_page(&record(RunKind::Predict, vec![stage], vec![]), None)
    };
    let heading = "<th scope=\"row\">w write, from intended start</th>";
    assert!(!page(&write).contains(heading));
    write.response_ns = Some(latency(30.0));
    let row = format!("{heading}<td></td><td></td><td>30ms</td>");
    assert!(page(&write).contains(&row));
}

/// What a commit waits for. All together are reads and writes alone.
#[test]
fn syncs_have_a_line_of_their_own() {
    let (write, sync) = (direction(200.0, 2.0, &[]), direction(150.0, 5.0, &[]));
    let mut log = job("log", &write, None);
    log.sync = Some(sync.clone());
    let mut stage = stage("s", vec![log], &write);
    stage.total.sync = Some(sync);
    let record = record(RunKind::Run, vec![stage], vec![]);
    let text = fits(&record, Summary::Short, 80);
    let line = text.lines().find(|line| line.starts_with("log sync"));
    let words: Vec<_> = line.unwrap_or_default().split_whitespace().collect();
    assert_eq!(words.get(2..5), Some(&["150", "5ms", "-"][..]), "{text}");
    assert!(!text.contains("together"), "{text}");
    assert!(html_page(&record, None).contains("log sync"));
}

/// Who predicts commits is told what the model knows nothing of.
#[test]
fn syncs_that_are_free_in_the_model_are_told_of() {
    let write = direction(200.0, 2.0, &[]);
    let told = |kind, mean_ms: f64| {
        let mut log = job("log", &write, None);
        log.sync = Some(direction(150.0, mean_ms, &[]));
        let record = record(kind, vec![stage("s", vec![log], &write)], vec![]);
        fits(&record, Summary::Short, 80).contains("syncs of log take no time in the model")
    };
    assert!(told(RunKind::Predict, 0.0));
    assert!(!told(RunKind::Predict, 1.0));
    assert!(!told(RunKind::Run, 0.0));
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
fn a_run_that_was_cut_off_shows_its_seconds() {
    let second = |ios, max_ns| IntervalRecord {
        at_ns: 1_000_000_000,
        read: Some(IntervalDirection {
            ios,
            bytes: ios * 4096,
            p50_ns: Some(250_000),
            p99_ns: Some(500_000),
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
    assert!(text.contains("stopped before its end"), "{text}");
    record.verdict = Verdict::Empty;
    let nothing = summary(&record, Summary::Short, Width::PLAIN);
    assert!(
        nothing.contains("stopped before anything was measured"),
        "{nothing}"
    );
    record.verdict = Verdict::Questionable;
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
