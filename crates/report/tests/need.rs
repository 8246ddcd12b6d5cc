//! A need beside a record: what passes, what fails, what stays unknown.

use fathom_profile::{Level, Profile};
use fathom_record::Record;
use fathom_report::{Met, NeedBeside, Width, html_page};
use fathom_stats::{Histogram, to_hdr_base64};
use serde_json::{Value, json};

/// Reads or writes of a minute, whose latency is `ms` for most and ten times that for one in fifty.
fn direction(iops: u64, bytes: u64, ms: u64) -> Value {
    let mut times = Histogram::new();
    for index in 0..1000_u64 {
        times.record(ms * 1_000_000 * if index % 50 == 0 { 10 } else { 1 });
    }
    let at = |percent| times.percentile(percent);
    json!({
        "ios": iops * 60, "bytes": iops * 60 * bytes, "errors": 0, "iops": iops as f64,
        "bandwidth_bytes_per_sec": (iops * bytes) as f64, "response_ns": null,
        "latency_ns": {
            "min": times.min(), "mean": times.mean(), "stddev": 0.0, "max": times.max(),
            "p50": at(50.0), "p90": at(90.0), "p95": at(95.0), "p99": at(99.0), "p99_9": at(99.9), "p99_99": at(99.99),
            "histogram": to_hdr_base64(&times).unwrap_or_default(),
        },
    })
}

fn job(name: &str, wanted: Option<f64>, read: &Value, write: &Value) -> Value {
    json!({
        "name": name, "host": null, "targets": ["/x"], "workers": 2, "depth_wanted": 8.0, "depth_achieved": 2.25,
        "iops_wanted": wanted, "measured_ns": 60_000_000_000_u64, "read": read, "write": write, "trim": null,
        "sync": null, "meta": {}, "cpu": {"user_ns": 0, "system_ns": 0}, "errors": [], "detail": [],
    })
}

fn record(stages: &[(&str, Vec<Value>)]) -> Record {
    let stage = |(name, jobs): &(&str, Vec<Value>)| {
        json!({
            "name": name, "measured_ns": 60_000_000_000_u64, "jobs": jobs, "intervals": [], "storage": {}, "notes": [],
            "total": {"read": null, "write": null, "trim": null, "sync": null, "all": null},
        })
    };
    let stages: Vec<Value> = stages.iter().map(stage).collect();
    let document = json!({
        "schema": "fathom.record/1", "tool": {"name": "fathom", "version": "0", "git": ""}, "kind": "predict",
        "title": "shop", "stored": false, "started_unix_ns": 0, "workload": null, "design": null, "environment": null,
        "stages": stages, "checks": [], "verdict": "trustworthy", "notes": [], "interrupted": false,
    });
    serde_json::from_value(document).expect("a record")
}

fn profile(text: &str) -> Profile {
    let text = format!("name = \"shop\"\n{text}");
    Profile::read(&text, "shop.profile.toml")
        .expect("a profile")
        .0
}

const NEED: &str = "\
growth = \"2x\"
[[volume]]
name = \"db 1\"
latency_goal = { p99 = \"10ms\" }
[[volume.period]]
name = \"peak\"
iops = { p50 = 100, p90 = 200, p99 = 500 }
reads = \"70%\"
size = \"8KiB\"
throughput = \"4096000B/s\"
latency = { p50 = \"1ms\", p90 = \"1ms\" }
queue_depth = { p50 = 1, p90 = 4, p99 = 9 }
";

#[track_caller]
fn beside(need: &str, record: &Record) -> NeedBeside {
    NeedBeside::new(&profile(need), Level::P99, record).expect("something of the need")
}

/// The lines of the first part, as `figure | need | found | outcome`.
fn lines(need: &NeedBeside) -> Vec<String> {
    let lines = need.parts[0].lines.iter();
    let line = |it: &fathom_report::Line| {
        format!(
            "{} | {} | {} | {}",
            it.figure, it.need, it.found, it.outcome
        )
    };
    lines.map(line).collect()
}

/// Two jobs of the volume `db 1`, together 700 reads and 300 writes a second.
fn enough(write_ms: u64) -> Record {
    let jobs = vec![
        job(
            "db-1 #1",
            Some(500.0),
            &direction(350, 8192, 2),
            &direction(150, 8192, write_ms),
        ),
        job(
            "db-1 #2",
            Some(500.0),
            &direction(350, 8192, 2),
            &direction(150, 8192, write_ms),
        ),
    ];
    record(&[("peak", jobs)])
}

#[test]
fn each_figure_is_judged_by_its_rule() {
    let need = beside(NEED, &enough(1));
    let expected = [
        "I/Os a second | 1,000 | 1,000 | pass",
        "MiB/s | 7.8 | 7.8 | pass",
        "reads | 70.0 % | 70.0 % | pass",
        "I/O size, mean | 8 KiB | 8 KiB | pass",
        "latency p50 | seen 1ms | 2ms | unknown: no goal is set; 2.0 times what was seen",
        "latency p90 | seen 1ms | 2ms | unknown: no goal is set; 2.0 times what was seen",
        "latency p99, reads | to 10ms | 20ms | FAIL: 2.00 times the goal",
        "latency p99, writes | to 10ms | 9.99ms | pass",
        "I/Os outstanding | seen 9 | 9.0 | pass",
    ];
    assert_eq!(lines(&need), expected);
    assert_eq!(need.met(), Met::No);
    assert_eq!(
        need.verdict(),
        "NOT MET: 1 of 7 figures fails; 2 more that no goal or rate is set for are unknown"
    );
}

#[test]
fn a_need_is_met_where_nothing_that_must_pass_is_open() {
    let relaxed = NEED.replace("10ms", "20ms");
    let need = beside(&relaxed, &enough(1));
    assert_eq!(need.met(), Met::Yes, "{}", need.to_text(Width::PLAIN));
    assert!(need.to_text(Width::PLAIN).ends_with(
        "need     MET: 7 figures pass; 2 more that no goal or rate is set for are unknown\n"
    ));
    let one = "[[volume]]\nname = \"db 1\"\n[[volume.period]]\nname = \"peak\"\niops = ";
    let need = beside(&format!("{one}1000\n"), &enough(1));
    let verdict = need.verdict();
    assert!(verdict.starts_with("MET: 1 figure passes; "), "{verdict}");
    // A limit that holds the rate down, and a load that asked for too little, are two things.
    let less = |wanted| {
        let job = job(
            "db-1",
            Some(wanted),
            &direction(560, 8192, 2),
            &direction(240, 8192, 1),
        );
        beside(&relaxed, &record(&[("peak", vec![job])]))
    };
    assert_eq!(
        lines(&less(1000.0))[0],
        "I/Os a second | 1,000 | 800 | FAIL: 80.0 % of the need"
    );
    assert_eq!(
        lines(&less(800.0))[0],
        "I/Os a second | 1,000 | 800 | unknown: the load asked for 800 alone"
    );
    assert_eq!(
        (less(1000.0).met(), less(800.0).met()),
        (Met::No, Met::Unknown)
    );
}

#[test]
fn what_is_unknown_is_counted_apart() {
    let only = "[[volume]]\nname = \"db 1\"\n[[volume.period]]\nname = \"peak\"\niops = ";
    let asked = |profile: &str, iops: f64| {
        let job = job(
            "db-1",
            Some(iops),
            &direction(560, 8192, 2),
            &direction(240, 8192, 1),
        );
        beside(profile, &record(&[("peak", vec![job])])).verdict()
    };
    let one = format!("{only}1000\n");
    let without_goal = "; 7 more that no goal or rate is set for are unknown";
    for (profile, iops, expected) in [
        (&one, 1000.0, "NOT MET: 1 figure fails"),
        (
            &one,
            800.0,
            "UNKNOWN: no figure passes, none fails; 1 more that must pass is unknown",
        ),
    ] {
        let verdict = asked(profile, iops);
        assert_eq!(verdict, format!("{expected}{without_goal}"));
    }
    let other = format!("{one}[[volume]]\nname = \"log\"\n[[volume.period]]\nname = \"peak\"\n");
    let verdict = asked(&other, 1000.0);
    assert!(
        verdict.starts_with("NOT MET: 1 figure fails; of 1 of 2 loads nothing is known; "),
        "{verdict}"
    );
}

#[test]
fn another_load_proves_nothing() {
    let relaxed = NEED.replace("10ms", "20ms");
    let job = job("db-1", None, &Value::Null, &direction(1000, 16_384, 1));
    let need = beside(&relaxed, &record(&[("peak", vec![job])]));
    let told = lines(&need);
    assert_eq!(
        told[2],
        "reads | 70.0 % | 0.0 % | unknown: the load was of another mix"
    );
    assert_eq!(
        told[3],
        "I/O size, mean | 8 KiB | 16 KiB | unknown: the load had other sizes"
    );
    assert_eq!(need.met(), Met::Unknown);
}

/// Which I/Os read is drawn: three standard deviations of a share of 300 I/Os are eight in a hundred, and of 60,000 less than one.
#[test]
fn a_mix_of_few_ios_is_the_needs_as_far_as_chance_goes() {
    #[track_caller]
    fn check(reads: u64, writes: u64, expected: &str) {
        let of = |ios: u64| {
            let mut figures = direction(1, 8192, 1);
            figures["ios"] = ios.into();
            figures
        };
        let job = job("db-1", None, &of(reads), &of(writes));
        let need = beside(NEED, &record(&[("peak", vec![job])]));
        let told = lines(&need);
        assert!(told[2].ends_with(expected), "{}", told[2]);
    }
    let (same, other) = ("pass", "unknown: the load was of another mix");
    check(190, 110, same);
    check(185, 115, other);
    check(41_000, 19_000, same);
    check(40_000, 20_000, other);
    check(1, 9, other);
}

#[test]
fn what_has_no_counterpart_is_said() {
    let two = format!(
        "{NEED}[[volume]]\nname = \"log\"\n[[volume.period]]\nname = \"peak\"\niops = 10\n"
    );
    let mut jobs = vec![job(
        "db-1",
        None,
        &direction(700, 8192, 1),
        &direction(300, 8192, 1),
    )];
    jobs.push(job("other", None, &Value::Null, &direction(1, 8192, 1)));
    let need = beside(&two, &record(&[("peak", jobs.clone())]));
    assert_eq!(need.met(), Met::Unknown);
    let text = need.to_text(Width::PLAIN);
    for part in [
        "log (data), peak",
        "unknown: the record has nothing of it",
        "`other`",
        "after a growth of 2x",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    for columns in [40, 52, 79, 80] {
        let text = need.to_text(Width::of_terminal(columns));
        let wide = text.lines().find(|line| line.chars().count() > columns);
        assert_eq!(wide, None, "{text}");
    }
    let nothing = NeedBeside::new(
        &profile(&two),
        Level::P99,
        &record(&[("night", jobs.clone()), ("day", jobs.clone())]),
    );
    let error = nothing.expect_err("no stage of that name").to_string();
    assert!(
        error.contains("`night`") && error.contains("`log`"),
        "{error}"
    );
    // One period and one volume need no names.
    let need = beside(NEED, &record(&[("night", vec![jobs[1].clone()])]));
    assert_eq!(need.notes.len(), 2, "{:?}", need.notes);
}

#[test]
fn repeats_are_one() {
    let job = job(
        "db-1",
        Some(1000.0),
        &direction(700, 8192, 1),
        &direction(300, 8192, 1),
    );
    let mut record = record(&[("peak", vec![job.clone()]), ("peak #2", vec![job])]);
    record.workload = json!({"stage": [{"name": "peak", "repeats": 2}]});
    let need = beside(NEED, &record);
    assert_eq!(need.met(), Met::Yes, "{}", need.to_text(Width::PLAIN));
    assert_eq!(lines(&need)[0], "I/Os a second | 1,000 | 1,000 | pass");
    // Another stage of the workload is no repeat, whatever it is called.
    record.workload =
        json!({"stage": [{"name": "peak", "repeats": 1}, {"name": "peak #2", "repeats": 1}]});
    record.stages[1].jobs[0].read = None;
    let need = beside(NEED, &record);
    assert_eq!(lines(&need)[0], "I/Os a second | 1,000 | 1,000 | pass");
}

#[test]
fn the_page_holds_the_need_and_no_markup_of_names() {
    let text = NEED.replace("db 1", "db <1>");
    let job = job(
        "db--1",
        None,
        &direction(700, 8192, 1),
        &direction(300, 8192, 1),
    );
    let record = record(&[("peak", vec![job])]);
    let need = beside(&text, &record);
    let page = html_page(&record, Some(&need));
    for part in [
        "<h2>Need of `shop` at its p99, after a growth of 2x</h2>",
        "<p class=\"verdict good\">MET: ",
        "<h3>db &lt;1&gt; (data), peak</h3>",
        "<th scope=\"row\">latency p99, reads</th><td>to 10ms</td><td>9.99ms</td><td class=\"words good\">pass</td>",
    ] {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
    assert!(!html_page(&record, None).contains("Need of"));
}
