//! Predicted and served: the same workload on the same design, once in virtual time and once live, tells the same.
//!
//! Each case is predicted, then run by `fathom run` on the served design, and what was served is predicted anew from its
//! trace. Rates and totals are laid beside each other, and no time that a client saw: whatever else this machine does makes
//! clients late, which lets fewer I/Os come, and never more. The times are those of the model alone, of the I/Os at the
//! moments at which they came; there late clients make no difference.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod support;

use std::fs;
use std::ops::Range;
use std::path::Path;

use live::{Served, Shown, open_folder};
use serde_json::Value;
use support::expect_code;

/// A design, and a stage of jobs on its volumes.
struct Case {
    design: String,
    /// Each with the volume it works on.
    jobs: &'static [(&'static str, &'static str)],
    measure: &'static str,
    /// The limits that hold its jobs, of which each predicted direction is bound by one; none where nothing holds them.
    limits: &'static [&'static str],
    /// Whether there are flushes that wait until what a cache holds is written out.
    flushes: bool,
    /// What a rate may be of the predicted one: less where clients are late, more by chance or where others are late.
    near: Range<f64>,
}

/// A device of these figures.
fn device(figures: &str) -> String {
    format!("[[device]]\nname = 'd'\nmount = '/mnt/d'\nsize = '1GiB'\n{figures}\n")
}

/// A machine of a size and an era with volumes: name, disks and all else that is said of them.
fn machine((size, era): (&str, &str), volumes: &[(&str, &str, &str)]) -> String {
    let machine = format!("[[vm]]\nname = 'm'\nsize = '{size}'\nera = '{era}'\n");
    let volumes = volumes.iter().map(|(name, disks, more)| {
        format!("[[vm.volume]]\nname = '{name}'\nmount = '/mnt/{name}'\ndisks = {disks}\n{more}\n")
    });
    [machine].into_iter().chain(volumes).collect()
}

/// The workload, with an export for each job's volume.
fn workload(case: &Case, uri: impl Fn(&str) -> String) -> String {
    let mut text = format!("[[stage]]\nname = 's'\nmeasure = '{}'\n", case.measure);
    for (number, (volume, job)) in case.jobs.iter().enumerate() {
        let target = format!("{{ path = '{}', size = '64MiB' }}", uri(volume));
        let job = format!("name = 'j{number}'\ntarget = {target}\n{job}\n");
        text = [&text, "[[stage.job]]\n", &job].concat();
    }
    text
}

/// `fathom WORDS` with its record as JSON.
#[track_caller]
fn record(home: &Path, words: &[&str]) -> Value {
    let words = [words, &["--json", "--no-record", "-q"]].concat();
    let (record, _) = expect_code(home, &words, 0);
    serde_json::from_str(&record).unwrap()
}

/// What a direction of a stage did; `None` where it did nothing.
fn direction<'a>(record: &'a Value, way: &str) -> Option<&'a Value> {
    let found = &record["stages"][0]["total"][way];
    (!found.is_null()).then_some(found)
}

/// The limit that a direction waited for longest.
fn binding(direction: &Value) -> Option<&str> {
    let limits = direction["bound_by"].as_object()?.iter();
    let most = limits.max_by(|one, other| {
        one.1
            .as_f64()
            .unwrap()
            .total_cmp(&other.1.as_f64().unwrap())
    });
    most.map(|(name, _)| name.as_str())
}

/// Lines of a trace of one direction: how many, their bytes, and the mean of what the model took, in ns.
fn traced(trace: &str, way: &str) -> (u64, u64, f64) {
    let (mut count, mut bytes, mut took) = (0, 0, 0);
    for line in trace.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        if !words[2].starts_with(way) {
            continue;
        }
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        count += 1;
        bytes += number(4);
        took += number(5) - number(0);
    }
    (count, bytes, took as f64 / count.max(1) as f64)
}

/// Predicts, serves and runs a case, and predicts what was served from its trace.
#[track_caller]
fn check(case: &Case) {
    let folder = open_folder();
    let home = folder.path();
    let design = home.join("x.design.toml");
    fs::write(&design, &case.design).unwrap();
    let served = Served::start(home, &design, Shown::Exports, &["--trace", "trace.csv"]);
    fs::write(
        home.join("x.workload.toml"),
        workload(case, |export| served.uri(export)),
    )
    .unwrap();
    let mut maps = Vec::new();
    let mut named = Vec::new();
    for (volume, _) in case.jobs {
        maps.extend([
            "--map".to_owned(),
            format!("{}=/mnt/{volume}/x", served.uri(volume)),
        ]);
        named.push(format!("--destroy-data={}", served.uri(volume)));
    }
    let words = |first: &[&'static str], more: &[String]| {
        let more = more.iter().map(String::as_str);
        let words = first.iter().copied().chain(more).chain(["x.workload.toml"]);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let asked =
        |words: Vec<String>| record(home, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let predicted = asked(words(&["predict", "--on", "x.design.toml"], &maps));
    let run = asked(words(&["run"], &named));
    let told = served.stop();
    let again = record(
        home,
        &["predict", "--on", "x.design.toml", "--replay", "trace.csv"],
    );
    let trace = fs::read_to_string(home.join("trace.csv")).unwrap();
    for (what, record) in [
        ("predicted", &predicted),
        ("served", &told),
        ("replayed", &again),
    ] {
        let took =
            direction(record, "sync").map(|syncs| syncs["latency_ns"]["max"].as_u64().unwrap());
        assert_eq!(
            took.is_some_and(|ns| ns > 0),
            case.flushes,
            "{what}: {took:?}"
        );
    }
    for way in ["read", "write"] {
        let Some(expected) = direction(&predicted, way) else {
            assert!(direction(&told, way).is_none(), "{way}");
            continue;
        };
        let what = format!("{way}s of {}\n{}", case.design, case.jobs[0].1);
        beside(&what, expected, direction(&run, way).unwrap(), case);
        let served = direction(&told, way).unwrap();
        alike(
            &what,
            served,
            direction(&again, way).unwrap(),
            traced(&trace, way),
        );
    }
}

/// A limit is kept to, and reached unless clients were late.
#[track_caller]
fn beside(what: &str, predicted: &Value, run: &Value, case: &Case) {
    let limit = binding(predicted);
    assert!(
        limit.map_or(case.limits.is_empty(), |limit| case.limits.contains(&limit)),
        "{what}: {predicted}"
    );
    for figure in ["iops", "bandwidth_bytes_per_sec"] {
        let [predicted, run] = [predicted, run].map(|of| of[figure].as_f64().unwrap());
        assert!(
            case.near.contains(&(run / predicted)),
            "{what}: {figure} {run}, predicted {predicted}"
        );
    }
}

/// What was served is what is predicted of the same I/Os at the same times.
#[track_caller]
fn alike(what: &str, served: &Value, again: &Value, (count, bytes, took): (u64, u64, f64)) {
    for record in [served, again] {
        assert_eq!(record["ios"], count, "{what}");
        assert_eq!(record["bytes"], bytes, "{what}");
    }
    for limit in served["bound_by"]
        .as_object()
        .into_iter()
        .flat_map(|limits| limits.keys())
    {
        let [served, again] = [served, again].map(|of| of["bound_by"][limit].as_f64());
        let apart = served.unwrap_or(0.0) - again.unwrap_or(0.0);
        assert!(
            apart.abs() < 0.05,
            "{what}: {limit} {served:?}, predicted {again:?}"
        );
    }
    // An I/O that comes in the very nanosecond in which another is done may come before or after it.
    let predicted = again["latency_ns"]["mean"].as_f64().unwrap();
    let apart = predicted / took;
    assert!(
        (0.98..1.02).contains(&apart),
        "{what}: {took} ns served, {predicted} predicted"
    );
}

#[test]
fn a_device_is_held_by_ios_and_bytes() {
    check(&Case {
        design: device(
            "iops = 1500\nbandwidth = '40MB/s'\nlatency = { median = '2ms', p99 = '8ms' }",
        ),
        jobs: &[(
            "d",
            "depth = 8\nmix = { read = '70%', write = '30%' }\n\
             block = [{ size = '4KiB', weight = 3 }, { size = '128KiB', weight = 1 }]",
        )],
        measure: "3s",
        flushes: false,
        limits: &["device-iops", "device-bytes"],
        near: 0.5..1.02,
    });
}

#[test]
fn a_raid_pays_for_its_parity() {
    check(&Case {
        design: device("type = '15k'\ndisks = 8\nraid = '5'\nlatency = 'none'"),
        jobs: &[(
            "d",
            "depth = 16\nblock = '8KiB'\nmix = { read = '60%', write = '40%' }",
        )],
        measure: "3s",
        flushes: false,
        limits: &["disk-iops"],
        near: 0.5..1.05,
    });
}

/// The burst ends within the first second. What is earned before the client comes, 120 I/Os a second, is spent too; bursts that
/// did not end would be eight times as much.
#[test]
fn credits_run_out() {
    let disk = (
        "data",
        "{ type = 'P4' }",
        "caching = 'none'\ncredits = '0.02%'",
    );
    check(&Case {
        design: machine(("Standard_D8s_v5", "current"), &[disk]),
        jobs: &[("data", "depth = 16")],
        measure: "4s",
        flushes: false,
        limits: &["disk-iops"],
        near: 0.5..2.0,
    });
}

/// I/Os of the stripe unit that begin anywhere in it, which are two of disks.
#[test]
fn a_stripe_is_held_by_its_disks() {
    let disks = ("data", "{ type = 'P10', count = 2 }", "caching = 'none'");
    check(&Case {
        design: machine(("Standard_DS14", "2016"), &[disks]),
        jobs: &[(
            "data",
            "depth = 16\nblock = '64KiB'\nplacement = { alignment = '4KiB' }",
        )],
        measure: "3s",
        flushes: false,
        limits: &["disk-iops"],
        near: 0.5..1.05,
    });
}

/// An open loop above the disk's limit beside a closed one on another disk, and their machine's bytes.
#[test]
fn two_volumes_share_their_machine() {
    let volumes = [
        ("a", "{ type = 'P30' }", "caching = 'none'"),
        ("b", "{ type = 'P10' }", "caching = 'none'"),
    ];
    check(&Case {
        design: machine(("Standard_DS1", "2016"), &volumes),
        jobs: &[
            (
                "a",
                "depth = 8\nblock = '64KiB'\naccess = 'sequential'\nmix = 'write'",
            ),
            (
                "b",
                "depth = 32\narrival = { rate = '700/s', process = 'poisson' }",
            ),
        ],
        measure: "3s",
        flushes: false,
        limits: &["vm-uncached-bytes", "disk-iops"],
        near: 0.5..1.1,
    });
}

/// Reads of a warm cache go beside writes that go through it.
#[test]
fn a_cache_serves_reads_and_disks_take_writes() {
    let disk = (
        "data",
        "{ type = 'P10' }",
        "caching = 'read-only'\ncache = 'cold'",
    );
    check(&Case {
        design: machine(("Standard_DS14", "2016"), &[disk]),
        jobs: &[(
            "data",
            "depth = 8\naccess = 'independent'\nmix = { read = '50%', write = '50%' }",
        )],
        measure: "3s",
        flushes: false,
        limits: &["disk-iops"],
        near: 0.5..1.05,
    });
}

/// One I/O at a time, and every fourth waits until the cache has been written out.
#[test]
fn a_write_cache_is_flushed() {
    let disk = ("data", "{ type = 'P10' }", "caching = 'read-write'");
    check(&Case {
        design: machine(("Standard_DS14", "2016"), &[disk]),
        jobs: &[("data", "mix = 'write'\nsync = { fsync_every = 4 }")],
        measure: "3s",
        flushes: true,
        limits: &[],
        near: 0.2..1.05,
    });
}
