//! Hosts measure together: stages begin at one moment, and one record comes of all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fathom_units::Iops;
use fathom_workload::generator::{ArrivalSchedule, StreamKey};
use fathom_workload::{Pacing, Poisson};
use serde_json::Value;

use support::{Hosts, run};

/// Starts further apart than this were not begun together. Three hosts share this machine's processors, whose scheduler puts
/// each aside for milliseconds.
const SKEW_MOST_NS: u64 = 60_000_000;
/// Messages on one machine take microseconds; the bound is half of the best of many.
const BOUND_MOST_NS: u64 = 2_000_000;

fn ios(stage: &Value) -> u64 {
    stage["total"]["all"]["ios"].as_u64().unwrap()
}

#[test]
fn the_record_of_all_is_the_sum_of_each_hosts_own() {
    let hosts = Hosts::new();
    let workload = hosts.workload("w.toml", "600ms");
    let words = ["--quiet", "--json", workload.to_str().unwrap()];
    let ended = run(&mut hosts.hosts(3, &words));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let record: Value = serde_json::from_str(&ended.stdout).unwrap();
    let (own, merged) = hosts.stored();
    let merged = merged.unwrap();
    assert_eq!(own.len(), 3);
    assert_eq!(
        merged["stages"], record["stages"],
        "what is printed is what is stored"
    );
    for (index, stage) in record["stages"].as_array().unwrap().iter().enumerate() {
        let sum: u64 = own.iter().map(|own| ios(&own["stages"][index])).sum();
        assert!(sum > 0 && ios(stage) == sum, "{sum} {}", ios(stage));
        let jobs = stage["jobs"].as_array().unwrap().iter();
        let of: Vec<&str> = jobs.map(|job| job["host"].as_str().unwrap()).collect();
        assert_eq!(of, ["h0", "h1", "h2"]);
        // The hosts' clocks are thousands of seconds apart: begun within milliseconds, they were put right.
        let told = &stage["hosts"];
        let skew = told["start_skew_ns"].as_u64().unwrap();
        let bound = told["clock_bound_ns"].as_u64().unwrap();
        assert!(skew < SKEW_MOST_NS, "{skew} ns");
        assert!((1..BOUND_MOST_NS).contains(&bound), "{bound} ns");
    }
}

#[test]
fn two_processes_on_one_host_have_names_of_their_own() {
    let hosts = Hosts::new();
    let workload = hosts.workload("w.toml", "300ms");
    let mut launcher = hosts.launcher(2);
    launcher.args([support::PROGRAM, "run", "--quiet", "--no-record"]);
    let ended = run(launcher.arg(&workload));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("note: several processes run on"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.contains("#1") && ended.stdout.contains("#2"),
        "{}",
        ended.stdout
    );
    let (own, merged) = hosts.stored();
    assert!(own.is_empty() && merged.is_none());
}

#[test]
fn hosts_of_vdbench_do_each_its_own_work() {
    let hosts = Hosts::new();
    let folder = hosts.path().display();
    let text = format!(
        "hd=vm1,system=h0\nhd=vm2,system=h1\n\
         sd=s1,hd=vm1,lun={folder}/one,size=2m\nsd=s2,hd=vm2,lun={folder}/two,size=2m\n\
         wd=w1,sd=s1,hd=vm1,xfersize=4k\nwd=w2,sd=s2,hd=vm2,xfersize=4k\n\
         rd=r,wd=w*,iorate=max,elapsed=2,interval=1\n"
    );
    // One of the files is there already: its host has nothing to write first.
    hosts.file("two", &"x".repeat(2 << 20));
    let workload = hosts.file("w.vdb", &text);
    let words = [
        "--quiet",
        "--json",
        "vdbench",
        "-f",
        workload.to_str().unwrap(),
    ];
    let ended = run(&mut hosts.hosts(2, &words));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let record: Value = serde_json::from_str(&ended.stdout).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let names: Vec<&str> = stages
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "SD_format");
    let of = |stage: &Value| -> Vec<String> {
        let jobs = stage["jobs"].as_array().unwrap().iter();
        jobs.map(|job| format!("{} {}", job["host"], job["targets"][0]))
            .collect()
    };
    assert_eq!(of(&stages[0]).len(), 1, "{:?}", of(&stages[0]));
    let both = of(&stages[1]);
    assert!(
        both.len() == 2 && both[0].contains("one") && both[1].contains("two"),
        "{both:?}"
    );
    // A host of the file that nobody is.
    let ended = run(&mut hosts.hosts(1, &words));
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("no host does the work of `hd=vm2`"),
        "{}",
        ended.stderr
    );
}

/// Arrivals by chance are each host's own: drawn alike, those of all would come in bursts. The fifth I/O of the second host
/// comes much later than that of the first, and cannot be over before.
#[test]
fn hosts_have_arrivals_of_their_own() {
    const SEED: u64 = 24;
    const RATE: u64 = 4;
    let hosts = Hosts::new();
    let folder = hosts.path().display();
    let text = format!(
        "seed = {SEED}\n[target]\npath = \"{folder}/\"\nsize = \"2MiB\"\n\n\
         [[stage]]\nname = \"first\"\nmeasure = {{ ios = 5 }}\n[[stage.job]]\nname = \"reads\"\n\
         arrival = {{ rate = \"{RATE}/s\", process = \"poisson\" }}\n"
    );
    let workload = hosts.file("w.toml", &text);
    let words = ["--quiet", workload.to_str().unwrap()];
    let ended = run(&mut hosts.hosts(2, &words));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (own, merged) = hosts.stored();
    let of = |stage: &Value| stage["measured_ns"].as_u64().unwrap();
    let took: Vec<u64> = own.iter().map(|own| of(&own["stages"][0])).collect();
    let longest = took.iter().copied().max().unwrap();
    let key = StreamKey {
        seed: SEED,
        ..StreamKey::default()
    };
    let fifth = |host| {
        let rate = Pacing::Iops(Iops::new(RATE));
        let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, key.of_host(host));
        (0..5).map(|_| schedule.next_start(4096)).last().unwrap()
    };
    assert!(fifth(1) > 4 * fifth(0), "{} {}", fifth(0), fifth(1));
    assert!(longest >= fifth(1), "{took:?} {}", fifth(1));
    assert!(merged.is_some());
}
