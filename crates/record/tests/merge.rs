//! One record of several hosts' runs: counts add up, percentiles are those of all I/Os, and what is doubtful is said.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_record::{
    Began, Check, Evidence, HostClock, HostPart, IntervalStats, MergeError, MissingHost, OpStats,
    Record, RunKind, SCHEMA, StageRecord, StageResult, ToolRecord, Verdict, WorkerStats, merge,
    run_checks, stage_record, verdict,
};
use fathom_stats::{Histogram, from_hdr_base64};
use fathom_units::Nanos;
use fathom_workload::{Workload, native};
use serde_json::json;

const WORKLOAD: &str = r#"
[[stage]]
name = "reads"
[[stage.job]]
name = "job"
target = { path = "/d/a", size = "1GiB" }
depth = 1
measure = "10s"
"#;
const SECOND: u64 = 1_000_000_000;

/// What a host did: reads of so many µs each, from a moment on, for so many ms.
#[derive(Clone)]
struct Did<'a> {
    micros: &'a [u64],
    begins_ms: u64,
    for_ms: u64,
}

const PLAIN: Did<'_> = Did {
    micros: &[100],
    begins_ms: 0,
    for_ms: 10_000,
};

fn workload() -> Workload {
    native::read(WORKLOAD, "x.workload.toml").unwrap().0
}

fn result(did: &Did<'_>) -> StageResult {
    let mut reads = OpStats::new(false, false);
    // As many as keep one I/O outstanding.
    let total: u64 = did.micros.iter().sum();
    let rounds = did.for_ms * 1_000 / total;
    for micros in did.micros {
        reads.latency.record_many(micros * 1_000, rounds);
    }
    reads.bytes = reads.ios() * 4096;
    let mut worker = WorkerStats::new(0, 0);
    let measured = Nanos::from_millis(did.for_ms);
    worker.measured = measured;
    worker.outstanding_ns = reads.latency.sum();
    worker.directions[0] = Some(reads);
    let seconds = (1..=did.for_ms.div_ceil(1_000)).map(|second| {
        let mut each = OpStats::new(false, false);
        each.latency.record_many(did.micros[0] * 1_000, second);
        each.bytes = second * 4096;
        IntervalStats {
            at: measured.min(Nanos::from_secs(second)),
            length: Nanos::from_secs(1).min(measured),
            directions: [Some(each), None, None],
            set: worker.set.clone(),
        }
    });
    let at = Nanos::from_millis(1_000_000 + did.begins_ms);
    StageResult {
        began: Some(Began {
            at,
            unix_ns: at.get(),
        }),
        measured,
        intervals: seconds.collect(),
        workers: vec![worker],
        ..StageResult::new("reads", 0)
    }
}

fn record(host: &str, did: &Did<'_>) -> Record {
    let (workload, results) = (workload(), [result(did)]);
    let checks = run_checks(&Evidence {
        workload: &workload,
        results: &results,
        targets: &[],
        kind: RunKind::Run,
        clock: None,
        interrupted: false,
    });
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".to_owned(),
            version: "1".to_owned(),
            git: String::new(),
        },
        kind: RunKind::Run,
        title: "x on /d/a".to_owned(),
        stored: true,
        started_unix_ns: 5,
        workload: native::to_json(&workload),
        design: serde_json::Value::Null,
        environment: json!({"hostname": host, "kernel": "6.1", "cpu_count": host.len()}),
        stages: vec![stage_record(&workload.stages[0], &results[0])],
        sweep: None,
        verdict: verdict(&checks, &results),
        checks,
        notes: vec!["a note".to_owned()],
        interrupted: false,
    }
}

fn part(host: &str, did: &Did<'_>) -> HostPart {
    HostPart {
        host: host.to_owned(),
        record: record(host, did),
        clock: None,
    }
}

/// The record of a run that was killed: its seconds alone are known.
fn cut_off(host: &str, did: &Did<'_>) -> HostPart {
    let mut part = part(host, did);
    part.record.checks.clear();
    part.record.interrupted = true;
    let stage = &mut part.record.stages[0];
    stage.jobs.clear();
    (stage.started_ns, stage.started_unix_ns) = (None, None);
    part
}

#[track_caller]
fn merged(parts: &[HostPart]) -> Record {
    let record = merge(parts.to_vec(), &[]).unwrap();
    let mut other_way: Vec<HostPart> = parts.to_vec();
    other_way.reverse();
    assert_eq!(merge(other_way, &[]).unwrap(), record, "the order counts");
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    record
}

#[track_caller]
fn check_of<'a>(record: &'a Record, id: &str) -> &'a Check {
    let found = record.checks.iter().find(|check| check.id == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

fn did(micros: &[u64]) -> Did<'_> {
    Did { micros, ..PLAIN }
}

fn began_at(begins_ms: u64) -> Did<'static> {
    Did { begins_ms, ..PLAIN }
}

#[test]
fn percentiles_are_those_of_all_ios() {
    let all: [&[u64]; 3] = [&[90, 110, 5_000], &[200], &[4_000, 1_234]];
    let parts: Vec<HostPart> = (all.iter().zip(["db1", "db2", "db3"]))
        .map(|(micros, host)| part(host, &did(micros)))
        .collect();
    let record = merged(&parts);
    let mut one = Histogram::new();
    for micros in all {
        let reads = &result(&did(micros)).workers[0].directions[0];
        one.merge(&reads.as_ref().unwrap().latency);
    }
    let stage = &record.stages[0];
    for figures in [&stage.total.read, &stage.total.all] {
        let figures = figures.as_ref().unwrap();
        let latency = &figures.latency_ns;
        let found = [
            latency.p50,
            latency.p90,
            latency.p95,
            latency.p99,
            latency.p99_9,
            latency.p99_99,
        ];
        let expected = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99].map(|percent| one.percentile(percent));
        assert_eq!(found, expected);
        assert_eq!((latency.min, latency.max), (one.min(), one.max()));
        assert!((latency.mean - one.mean()).abs() < 1e-3, "{}", latency.mean);
        assert!((latency.stddev / one.stddev() - 1.0).abs() < 1e-6);
        assert_eq!(figures.ios, one.count());
        assert_eq!(figures.bytes, one.count() * 4096);
        let kept = from_hdr_base64(&latency.histogram).unwrap();
        assert!(kept.nonzero().eq(one.nonzero()), "bucket by bucket");
        let rate = one.count() as f64 / 10.0;
        assert!((figures.iops - rate).abs() < 1e-6, "{}", figures.iops);
    }
    assert_eq!(record.title, "x on /d/a, 3 hosts");
    assert_eq!(record.verdict, Verdict::Trustworthy, "{:?}", record.checks);
    assert_eq!(record.environment["kernel"], "6.1");
    assert!(record.environment["hostname"].is_null());
    assert_eq!(record.environment["hosts"]["db2"]["hostname"], "db2");
    assert_eq!(record.notes[0], "a note");
    assert!(
        record.notes[1].contains("wall clocks"),
        "{:?}",
        record.notes
    );
}

#[test]
fn jobs_and_figures_of_each_host_stay() {
    let record = merged(&[part("db2", &did(&[200])), part("db1", &PLAIN)]);
    let stage = &record.stages[0];
    let jobs = stage.jobs.iter().map(|job| job.host.as_deref().unwrap());
    assert_eq!(jobs.collect::<Vec<_>>(), ["db1", "db2"]);
    let each = &stage.hosts.as_ref().unwrap().each;
    let reads = each
        .iter()
        .map(|host| (host.host.as_str(), host.total.read.as_ref().unwrap().ios));
    assert_eq!(
        reads.collect::<Vec<_>>(),
        [("db1", 100_000), ("db2", 50_000)]
    );
}

#[test]
fn rates_are_over_the_time_in_which_any_host_measured() {
    let record = merged(&[part("a", &PLAIN), part("b", &began_at(2_500))]);
    let stage = &record.stages[0];
    let hosts = stage.hosts.as_ref().unwrap();
    assert_eq!(stage.measured_ns, 12_500_000_000);
    assert_eq!(hosts.start_skew_ns, Some(2_500_000_000));
    assert_eq!(hosts.together_ns, 7_500_000_000);
    let read = stage.total.read.as_ref().unwrap();
    assert!((read.iops - 200_000.0 / 12.5).abs() < 1e-6);
    assert_eq!(stage.started_unix_ns, Some(1_000 * SECOND));
    assert_eq!(
        stage.started_ns, None,
        "the monotonic clocks of hosts have no common start"
    );
    // Seconds of the second host lie two and a half later: the middle of each decides.
    let seconds = stage
        .intervals
        .iter()
        .map(|it| (it.at_ns / SECOND, it.read.unwrap()));
    let seconds: Vec<_> = seconds
        .map(|(at, read)| (at, read.ios, read.p99_ns.is_some()))
        .collect();
    assert_eq!(
        seconds[..5],
        [
            (1, 1, true),
            (2, 2, true),
            (3, 3, true),
            (4, 4 + 1, false),
            (5, 5 + 2, false)
        ]
    );
    assert_eq!(seconds.len(), 13);
    let ios: u64 = seconds.iter().map(|second| second.1).sum();
    assert_eq!(ios, 2 * (1..=10).sum::<u64>());
}

#[test]
fn clocks_that_are_known_put_starts_right() {
    let mut parts = [part("a", &PLAIN), part("b", &began_at(5_000))];
    // The second host's clock is five seconds ahead, less 3 ms.
    for (part, ahead_ms) in parts.iter_mut().zip([0, 4_997]) {
        part.clock = Some(HostClock {
            ahead_ns: ahead_ms * 1_000_000,
            bound_ns: 25_000,
        });
    }
    let record = merged(&parts);
    let hosts = record.stages[0].hosts.as_ref().unwrap();
    assert_eq!(hosts.start_skew_ns, Some(3_000_000));
    assert_eq!(hosts.clock_bound_ns, Some(25_000));
    assert_eq!(record.stages[0].started_ns, Some(1_000 * SECOND));
    let told = record
        .notes
        .iter()
        .any(|note| note.contains("within ± 25 µs"));
    assert!(told, "{:?}", record.notes);
    assert!(check_of(&record, "start-skew").passed);
}

#[track_caller]
fn check_skew(began_ms: u64, for_ms: u64, finding: Option<&str>) {
    let other = Did {
        begins_ms: began_ms,
        for_ms,
        ..PLAIN
    };
    let record = merged(&[part("a", &PLAIN), part("b", &other)]);
    let check = check_of(&record, "start-skew");
    assert_eq!(check.passed, finding.is_none(), "{}", check.evidence);
    assert!(
        check
            .evidence
            .contains(finding.unwrap_or("hosts began within")),
        "{}",
        check.evidence
    );
    assert_eq!(check.remedy.is_empty(), finding.is_none());
    assert_eq!(record.verdict == Verdict::Trustworthy, finding.is_none());
}

#[test]
fn hosts_that_do_not_measure_together_are_told() {
    check_skew(0, 10_000, None);
    check_skew(99, 10_000, None);
    check_skew(
        120,
        10_000,
        Some("reads: hosts began up to 120 ms apart, 1.2 % of the"),
    );
    check_skew(0, 9_100, None);
    check_skew(0, 8_900, Some("all hosts were measuring for 8.9"));
}

#[test]
fn a_host_that_was_cut_off_is_told() {
    let whole = [part("a", &PLAIN), part("b", &PLAIN), part("c", &PLAIN)];
    let record = merged(&whole);
    assert!(check_of(&record, "all-hosts").passed);
    let killed = Did {
        for_ms: 3_000,
        ..PLAIN
    };
    let record = merged(&[whole[0].clone(), cut_off("b", &killed), whole[2].clone()]);
    let check = check_of(&record, "all-hosts");
    let expected =
        "2 of 3 hosts measured all of it: b was cut off in `reads`, 3 s into its measurement";
    assert_eq!(check.evidence, expected);
    assert!(!check.passed && record.interrupted);
    let hosts = record.stages[0].hosts.as_ref().unwrap();
    assert_eq!(
        hosts
            .each
            .iter()
            .map(|host| host.cut_off)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(hosts.each[1].after_ns, None);
    let read = record.stages[0].total.read.as_ref().unwrap();
    assert_eq!(read.ios, 230_000);
    assert!(
        !check_of(&record, "start-skew").passed,
        "they were not measuring together"
    );
    let told = record
        .notes
        .iter()
        .any(|note| note.starts_with("when `b` began `reads` is not known"));
    assert!(told, "{:?}", record.notes);
}

#[test]
fn a_host_without_a_record_is_told() {
    let missing = MissingHost {
        host: "c".to_owned(),
        why: "it did not answer".to_owned(),
    };
    let parts = vec![part("a", &PLAIN), part("b", &PLAIN)];
    let record = merge(parts, &[missing]).unwrap();
    let check = check_of(&record, "all-hosts");
    assert_eq!(
        check.evidence,
        "2 of 3 hosts measured all of it: c: it did not answer"
    );
    assert!(!check.passed && record.interrupted);
}

#[test]
fn one_host_that_is_left_of_two_is_enough() {
    let missing = MissingHost {
        host: "b".to_owned(),
        why: "it did not answer".to_owned(),
    };
    let record = merge(vec![part("a", &PLAIN)], &[missing]).unwrap();
    assert!(!check_of(&record, "all-hosts").passed && record.interrupted);
    assert_eq!(
        record.stages[0].total,
        part("a", &PLAIN).record.stages[0].total
    );
}

#[test]
fn hosts_that_were_all_stopped_are_all_there() {
    let mut parts = [part("a", &PLAIN), part("b", &PLAIN)];
    parts[0].record.interrupted = true;
    let record = merged(&parts);
    let one = check_of(&record, "all-hosts");
    assert!(
        one.evidence.ends_with("a was stopped before its end"),
        "{}",
        one.evidence
    );
    parts[1].record.interrupted = true;
    let record = merged(&parts);
    assert!(check_of(&record, "all-hosts").passed && record.interrupted);
}

/// An I/O that fails ends a run before its last stages, and nobody has stopped it.
#[test]
fn a_host_that_ended_by_itself_counts_as_far_as_it_came() {
    let mut parts = [part("a", &PLAIN), part("b", &PLAIN)];
    for part in &mut parts {
        let mut more = part.record.workload["stage"][0].clone();
        more["name"] = json!("more");
        let stages = part.record.workload["stage"].as_array_mut().unwrap();
        stages.push(more);
    }
    let more = StageRecord {
        name: "more".to_owned(),
        ..parts[1].record.stages[0].clone()
    };
    parts[1].record.stages.push(more);
    let record = merged(&parts);
    assert_eq!(record.stages.len(), 2);
    let check = check_of(&record, "all-hosts");
    assert!(!check.passed);
    assert_eq!(
        check.evidence,
        "1 of 2 hosts measured all of it: a has no stage `more`"
    );
}

#[test]
fn a_hosts_failed_check_has_its_name() {
    let short = Did {
        for_ms: 500,
        ..PLAIN
    };
    let parts = [part("a", &PLAIN), part("slow", &short), part("c", &short)];
    let record = merged(&parts);
    let check = check_of(&record, "too-short");
    assert!(!check.passed && !check.remedy.is_empty());
    assert!(check.evidence.starts_with("c: reads"), "{}", check.evidence);
    assert!(
        check.evidence.contains("; slow: reads"),
        "{}",
        check.evidence
    );
    let passed = check_of(&record, "io-errors");
    assert_eq!(
        (passed.passed, passed.evidence.as_str()),
        (true, "no I/O failed")
    );
}

#[track_caller]
fn refused(parts: &[HostPart], words: &str) -> MergeError {
    let error = merge(parts.to_vec(), &[]).unwrap_err();
    assert_eq!(error.to_string(), words);
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn what_does_not_fit_is_refused() {
    let (a, b) = (part("a", &PLAIN), part("b", &PLAIN));
    refused(
        std::slice::from_ref(&a),
        "merging takes two records or more; given: 1",
    );
    refused(&[a.clone(), a.clone()], "two records are of the host `a`");
    let mut other = b.clone();
    other.record.schema = "fathom.record/9".to_owned();
    refused(
        &[a.clone(), other],
        "the record of `b` has the schema `fathom.record/9`, and `fathom.record/1` is read here",
    );
    let mut other = b.clone();
    other.record.kind = RunKind::Predict;
    refused(
        &[a.clone(), other],
        "the record of `b` is of a prediction, and no run on real storage",
    );
    let mut other = b.clone();
    other.record.stages[0].name = "writes".to_owned();
    refused(
        &[a.clone(), other],
        "stage 1 is `writes` on `b` and `reads` on `a`",
    );
    let mut other = b.clone();
    let more = StageRecord {
        name: "more".to_owned(),
        ..other.record.stages[0].clone()
    };
    other.record.stages.push(more);
    refused(
        &[a.clone(), other.clone()],
        "stage 2 is `more` on `b` and missing on `a`",
    );
    let mut short = a.clone();
    short.record.interrupted = true;
    let record = merged(&[short, other]);
    let evidence = &check_of(&record, "all-hosts").evidence;
    assert!(evidence.ends_with("a has no stage `more`"), "{evidence}");
    let mut other = b.clone();
    let job = &mut other.record.workload["stage"][0]["job"][0];
    job["depth"] = json!(2);
    job["target"] = json!("/elsewhere");
    refused(
        &[a.clone(), other],
        "job `job` of stage `reads` differs between `a` and `b`: `depth`",
    );
    let mut other = b.clone();
    let read = other.record.stages[0].total.read.as_mut().unwrap();
    read.latency_ns.histogram = "x".to_owned();
    let error = refused_damaged(&[a.clone(), other]);
    assert!(error.contains("`b` is damaged"), "{error}");
    let both = merge(vec![a, b], &[]).unwrap();
    let twice = HostPart {
        host: "c".to_owned(),
        record: both,
        clock: None,
    };
    refused(
        &[part("a", &PLAIN), twice],
        "the record of `c` is of several hosts already",
    );
}

#[track_caller]
fn refused_damaged(parts: &[HostPart]) -> String {
    merge(parts.to_vec(), &[]).unwrap_err().to_string()
}

/// Two names for one run would count it twice.
#[test]
fn one_run_given_twice_is_refused() {
    let one = part("a", &PLAIN);
    let again = HostPart {
        host: "b".to_owned(),
        ..one.clone()
    };
    refused(
        &[one.clone(), part("c", &PLAIN), again.clone()],
        "the records of `a` and `b` are one and the same",
    );
    // Another run of it, or one on another machine that did the same.
    let mut later = again.clone();
    later.record.started_unix_ns += 1;
    merged(&[one.clone(), later]);
    let mut elsewhere = again;
    elsewhere.record.environment["hostname"] = json!("b");
    merged(&[one, elsewhere]);
}

/// The notes of two hosts' record, the second of which is changed, that are of what differs.
fn told_of_differences(change: impl FnOnce(&mut Record)) -> Vec<String> {
    let mut other = part("b", &PLAIN);
    change(&mut other.record);
    let record = merged(&[part("a", &PLAIN), other, part("c", &PLAIN)]);
    assert_eq!(record.verdict, Verdict::Trustworthy);
    let mut notes = record.notes;
    notes.retain(|note| note != "a note" && !note.contains("wall clocks"));
    notes
}

#[test]
fn what_differs_between_hosts_is_noted() {
    assert_eq!(told_of_differences(|_| {}), Vec::<String>::new());
    assert_eq!(
        told_of_differences(|record| record.workload["seed"] = json!(7)),
        ["the hosts drew their I/O from different seeds: a, c: 1; b: 7"]
    );
    assert_eq!(
        told_of_differences(|record| record.tool.version = "2".to_owned()),
        ["the hosts' records were made by different versions: a, c: fathom 1; b: fathom 2"]
    );
    assert_eq!(
        told_of_differences(|record| record.tool.git = "0123abc".to_owned()),
        [
            "the hosts' records were made by different versions: a, c: fathom 1; b: fathom 1 (0123abc)"
        ]
    );
    let target = |target: serde_json::Value| {
        told_of_differences(move |record| {
            let job = &mut record.workload["stage"][0]["job"][0];
            job["target"] = target;
        })
    };
    assert_eq!(
        target(json!({"path": "/d/b", "size": "2GiB"})),
        [
            "the hosts have targets of their own for `job` in `reads`: a, c: /d/a (1GiB); b: /d/b (2GiB)"
        ]
    );
    // Of a killed run the workload may not be known.
    assert_eq!(
        told_of_differences(|record| record.workload = serde_json::Value::Null),
        Vec::<String>::new()
    );
}

#[test]
fn many_values_are_told_in_part() {
    let parts = (0..6).map(|number| {
        let mut part = part(&format!("h{number}"), &PLAIN);
        part.record.workload["seed"] = json!(number / 5);
        part
    });
    let record = merged(&parts.collect::<Vec<_>>());
    let told = "the hosts drew their I/O from different seeds: h0, h1, h2, h3 and 1 more: 0; h5: 1";
    assert!(
        record.notes.iter().any(|note| note == told),
        "{:?}",
        record.notes
    );
}

/// Percentiles of a merged record are those of all I/Os: these are what must be enough.
#[test]
fn samples_of_all_hosts_together_are_judged() {
    let slow = |micros: &'static [u64]| Did { micros, ..PLAIN };
    let of = |parts: &[HostPart]| check_of(&merged(parts), "samples-for-percentile").clone();
    // 600 reads and 100,000.
    let few = slow(&[16_666]);
    let check = of(&[part("a", &PLAIN), part("b", &few)]);
    assert!(check.passed && check.remedy.is_empty(), "{check:?}");
    let words =
        "at least 1,000 I/Os of all hosts stand behind each p99; fewer behind that of b alone";
    assert_eq!(check.evidence, words);
    let check = of(&[part("a", &few), part("b", &few)]);
    let words = "at least 1,000 I/Os of all hosts stand behind each p99; fewer behind those of 2 hosts alone";
    assert_eq!((check.passed, check.evidence.as_str()), (true, words));
    let fewer = slow(&[25_000]);
    let check = of(&[part("a", &fewer), part("b", &fewer)]);
    let words = "reads: 800 reads; p99 needs 1,000 and p99.9 10,000";
    assert_eq!((check.passed, check.evidence.as_str()), (false, words));
    assert_eq!(check.remedy, "measure longer");
    let check = of(&[part("a", &PLAIN), part("b", &PLAIN)]);
    assert_eq!(
        check.evidence,
        "at least 1,000 I/Os of all hosts stand behind each p99"
    );
}

/// A job has percentiles of its own, unless it is shown with others alone.
#[test]
fn samples_of_a_job_on_all_hosts_are_judged() {
    let of = |ios: u64, together: bool| {
        let mut parts = [part("a", &PLAIN), part("b", &PLAIN)];
        for part in &mut parts {
            let mut second = part.record.stages[0].jobs[0].clone();
            second.name = "second".to_owned();
            second.read.as_mut().unwrap().ios = ios;
            part.record.stages[0].jobs.push(second);
            let jobs = part.record.workload["stage"][0]["job"]
                .as_array_mut()
                .unwrap();
            let mut second = jobs[0].clone();
            second["name"] = json!("second");
            second["group"]["together"] = json!(together);
            jobs.push(second);
        }
        check_of(&merged(&parts), "samples-for-percentile").clone()
    };
    assert!(of(500, false).passed);
    let check = of(499, false);
    let words = "second in reads: 998 reads; p99 needs 1,000 and p99.9 10,000";
    assert_eq!((check.passed, check.evidence.as_str()), (false, words));
    assert!(of(499, true).passed);
}

/// Each host's jobs, after `change` with the label of the host.
#[track_caller]
fn check_own(change: impl Fn(&mut serde_json::Value, &str)) {
    let mut parts = [part("a", &PLAIN), part("b", &PLAIN)];
    for (part, label) in parts.iter_mut().zip(["vm1", "vm2"]) {
        let job = &mut part.record.workload["stage"][0]["job"][0];
        job["depth"] = json!(if label == "vm1" { 1 } else { 2 });
        change(job, label);
    }
    let record = merged(&parts);
    let jobs = record.workload["stage"][0]["job"].as_array();
    assert_eq!(jobs.unwrap().len(), 2);
    let hosts = record.stages[0].jobs.iter().map(|job| job.host.as_deref());
    assert_eq!(hosts.collect::<Vec<_>>(), [Some("a"), Some("b")]);
}

#[test]
fn jobs_of_hosts_of_their_own_are_put_together() {
    check_own(|job, label| job["host"] = json!(label));
    // Of a peer's file each host may have done its part.
    check_own(|job, label| {
        job["existing"] = json!("as-peer");
        job["name"] = json!(label);
    });
}
