//! Two machines with a cable between them, as far as programs can tell: each has a name, a clock and a network of its own. Open MPI
//! starts its daemon on the other one as over ssh, and everything that hosts tell each other goes over the cable.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::machines::Machines;
use support::{Ended, ended, started};

/// Clocks of one machine; hosts share its two processors with each other and the launcher.
const SKEW_MOST_NS: u64 = 60_000_000;

fn record(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr))
}

fn names_of(record: &Value) -> Vec<&str> {
    let each = record["stages"][0]["hosts"]["each"].as_array().unwrap();
    each.iter()
        .map(|host| host["host"].as_str().unwrap())
        .collect()
}

#[test]
fn two_machines_measure_together() {
    let machines = Machines::new();
    let workload = machines.hosts.workload("w.toml", "1200ms");
    let before = machines.received();
    let child = started(machines.launcher(&["--json"]).arg(&workload));
    let ended = ended(child);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let record = record(&ended);
    assert_eq!(names_of(&record), ["m0", "m1"]);
    for stage in record["stages"].as_array().unwrap() {
        let each = stage["hosts"]["each"].as_array().unwrap();
        let ios = each
            .iter()
            .map(|host| host["total"]["all"]["ios"].as_u64().unwrap());
        let ios: Vec<u64> = ios.collect();
        assert!(ios.iter().all(|ios| *ios > 0), "{ios:?}");
        assert_eq!(stage["total"]["all"]["ios"], ios.iter().sum::<u64>());
        let skew = stage["hosts"]["start_skew_ns"].as_u64().unwrap();
        assert!(skew < SKEW_MOST_NS, "{skew} ns");
        assert!(stage["hosts"]["clock_bound_ns"].as_u64().unwrap() > 0);
    }
    let (own, merged) = machines.hosts.stored();
    assert_eq!((own.len(), merged.is_some()), (2, true));
    // A host's record of both stages alone is that long.
    let over_the_cable = machines.received() - before;
    assert!(over_the_cable > 10_000, "{over_the_cable} bytes");
    // The first shows its own progress, and says so.
    let told = "note: progress is that of m0 alone, one of 2 hosts; the summary is that of all";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn a_cable_that_is_pulled_loses_a_machine() {
    let machines = Machines::new();
    let workload = machines.hosts.workload("w.toml", "20s");
    let words = ["--json", "--quiet", "--lost-after", "2s"];
    let child = started(machines.launcher(&words).arg(&workload));
    machines.hosts.wait_for_figures(2);
    machines.pull_cable();
    machines.end_after_first();
    let ended = ended(child);
    let told = &ended.stderr;
    assert!(told.contains("nothing was heard of m1"), "{told}");
    assert!(!told.contains("progress is that of"), "{told}");
    let record = record(&ended);
    let checks = record["checks"].as_array().unwrap();
    let all_hosts = checks
        .iter()
        .find(|check| check["id"] == "all-hosts")
        .unwrap();
    let evidence = all_hosts["evidence"].as_str().unwrap();
    assert!(
        evidence.starts_with("1 of 2 hosts measured all of it: "),
        "{evidence}"
    );
    assert_eq!(names_of(&record), ["m0"]);
    // What the other one measured is there.
    let (own, _) = machines.hosts.stored();
    assert!(!own.is_empty());
}
