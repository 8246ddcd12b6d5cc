//! NUMA nodes of workers and of their memory, as the kernel tells of them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{assert_asked_by, for_time, job, run_jobs};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, ExistingFiles, Job, Limits, MemoryPolicy, NodeSet};

const NODES: &str = "/sys/devices/system/node";

/// The first node with memory, which every kernel with NUMA has.
fn first_node() -> Option<u32> {
    let list = fs::read_to_string(format!("{NODES}/has_memory")).ok()?;
    let first = list.trim().split([',', '-']).next()?;
    first.parse().ok()
}

fn only(node: u32) -> NodeSet {
    NodeSet::Only(BTreeSet::from([node]))
}

fn null(time: Nanos) -> Job {
    let mut null = job(std::path::Path::new("/nothing"), Bytes::mib(1));
    null.backend = Backend::Null;
    null.limits = for_time(time);
    null
}

/// What a job says that asks for what this machine has not.
#[track_caller]
fn check_refused(job: &Job, expected: &str) {
    let error = run_jobs(vec![job.clone()]).unwrap_err();
    assert_asked_by(&error, job);
    let found = error.to_string();
    let expected = match first_node() {
        Some(_) => expected,
        None => "the kernel has no NUMA",
    };
    assert!(
        found.contains(expected) && found.contains("name nodes that are there"),
        "{found}"
    );
}

/// The allowed processors and the policy of memory of what a worker runs before its first I/O, which has them from it.
fn worker_of(mut job: Job, name: &str) -> (String, String) {
    name.clone_into(&mut job.name);
    let command = "grep Cpus_allowed_list: /proc/self/status && head -n 1 /proc/self/numa_maps";
    job.features.process.command_before = Some(command.to_owned());
    run_jobs(vec![job]).unwrap();
    let kept = format!("{name}.prerun.txt");
    let told = fs::read_to_string(&kept).unwrap();
    fs::remove_file(kept).unwrap();
    let (processors, map) = told.split_once('\n').unwrap();
    let processors = processors.rsplit('\t').next().unwrap();
    let policy = map.split(' ').nth(1).unwrap();
    (processors.to_owned(), policy.to_owned())
}

#[test]
fn workers_and_their_memory_are_where_they_are_put() {
    let mut job = null(Nanos::from_millis(5));
    let process = &mut job.features.process;
    process.processors = vec![0];
    process.nodes = Some(NodeSet::ALL);
    process.memory = MemoryPolicy::Local;
    let Some(node) = first_node() else {
        check_refused(&job, "");
        return;
    };
    job.features.process.nodes = Some(only(node));
    let list = fs::read_to_string(format!("{NODES}/node{node}/cpulist")).unwrap();
    for (memory, expected) in [
        (MemoryPolicy::Default, "default".to_owned()),
        (MemoryPolicy::Local, "local".to_owned()),
        (MemoryPolicy::Prefer(node), format!("prefer:{node}")),
        (MemoryPolicy::Bind(only(node)), format!("bind:{node}")),
        (
            MemoryPolicy::Interleave(only(node)),
            format!("interleave:{node}"),
        ),
    ] {
        job.features.process.memory = memory;
        let found = worker_of(job.clone(), "numa_placed");
        assert_eq!(found, (list.trim().to_owned(), expected));
    }
}

#[test]
fn a_worker_that_asks_for_no_node_stays_where_it_is_put() {
    let mut job = null(Nanos::from_millis(5));
    job.features.process.processors = vec![0];
    let processors = worker_of(job, "numa_none").0;
    assert_eq!(processors, "0");
}

/// Pages that were taken by turns from a node so far.
fn interleaved(node: u32) -> u64 {
    let counts = fs::read_to_string(format!("{NODES}/node{node}/numastat")).unwrap();
    let count = counts
        .lines()
        .find_map(|line| line.strip_prefix("interleave_hit "));
    count.unwrap().parse().unwrap()
}

#[test]
fn buffers_are_taken_from_where_memory_lies() {
    const DEPTH: u32 = 32;
    let Some(node) = first_node() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, vec![1; 1 << 20]).unwrap();
    let mut job = job(&path, Bytes::mib(1));
    job.block = fathom_workload::BlockSizes::uniform(Bytes::mib(1));
    job.depth = DEPTH;
    job.limits = Limits {
        ios: Some(1),
        ..Limits::default()
    };
    let taken = |job: Job| {
        let before = interleaved(node);
        run_jobs(vec![job]).unwrap();
        interleaved(node) - before
    };
    let huge = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let huge = huge.is_ok_and(|modes| modes.contains("[always]"));
    // A huge page counts once.
    let pages = u64::from(DEPTH) * if huge { 1 } else { 256 };
    let without = taken(job.clone());
    job.features.process.memory = MemoryPolicy::Interleave(only(node));
    let with = taken(job);
    assert!(
        without < pages / 2 && with >= pages / 2,
        "{without}, {with}"
    );
}

#[test]
fn nodes_that_are_not_there_are_told_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut new = job(&path, Bytes::mib(1));
    new.existing = ExistingFiles::AsPeer;
    let refused = |change: &dyn Fn(&mut Job), expected: &str| {
        let mut job = new.clone();
        change(&mut job);
        check_refused(&job, expected);
        assert!(!path.exists());
    };
    let missing = "node 1023 is not there; the nodes with memory that it may use are [";
    refused(
        &|job| job.features.process.nodes = Some(only(1023)),
        missing,
    );
    let memory =
        |policy: MemoryPolicy| move |job: &mut Job| job.features.process.memory = policy.clone();
    refused(&memory(MemoryPolicy::Prefer(1023)), missing);
    refused(&memory(MemoryPolicy::Bind(only(1023))), missing);
    refused(&memory(MemoryPolicy::Interleave(only(1023))), missing);
    let all = NodeSet::AllBut((0..=1023).collect());
    refused(&memory(MemoryPolicy::Bind(all)), "is not there");
    // The file is made where nothing is asked for that is not there.
    run_jobs(vec![new.clone()]).unwrap();
    assert!(path.exists());
}
