//! Tests of the native file: what is read, and in which shape.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::verify::CHECKSUMS;
use super::words::{
    ADVICE, BACKENDS, CACHINGS, CONTENTS, ENDS, EXISTING, FILE_CHOICES, GROWTHS, LIFETIMES,
    OPEN_SYNCS, OPERATIONS, PROCESSES, Words,
};
use super::{read, read_written, to_json, write};
use crate::{
    Access, AccessLine, Advice, Arrival, Backend, Backlog, Between, BlockSizes, Calls, Checksum,
    Coverage, Dedupe, DedupeFrom, Distribution, ErrorHandling, Features, FileChoice, FileHandling,
    Growth, HeaderCheck, Job, Limits, MemoryPolicy, Mix, NODE_MAX, NodeSet, OnMismatch,
    PROCESSOR_MAX, Pacing, Pattern, Place, Placement, Poisson, Process, ProcessorSharing, Replay,
    ReplayPace, ReportGroup, SequentialScope, Stage, Submitter, SyncPolicy, SyncRange, Target,
    ThreadPriority, TracePart, TrimmedData, Verify, VerifyPhase, VerifyRepeats, VerifyTrims,
    VerifyTrust, WeightedSize, WhenFull, Workload,
};

mod features;
mod property_tests;
mod refusals;

const OLTP: &str = r#"# oltp.workload.toml
[target]
path = "/mnt/data"            # a directory gets a fresh file of `size`
size = "20GiB"

[[stage]]
name = "mix"
warmup = "30s"
measure = "60s"
repeats = 3

[[stage.job]]
name = "oltp"
access = "random"
mix = { read = "70%", write = "30%" }
block = "8KiB"
workers = 4
depth = 32                    # closed loop; or: arrival = { rate = "20000/s", process = "poisson" }
"#;

#[track_caller]
fn parse(text: &str) -> Workload {
    match read(text, "test.workload.toml") {
        Ok((workload, warnings)) => {
            assert!(warnings.0.is_empty(), "{warnings}");
            workload
        }
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

/// The only job of a file with `keys` in it.
#[track_caller]
fn job(keys: &str) -> Job {
    let text = format!(
        "target = {{ path = \"/f\", size = \"1GiB\" }}\n[[stage]]\n[[stage.job]]\n{keys}\n"
    );
    parse(&text).stages.remove(0).jobs.remove(0)
}

#[test]
fn the_example_of_the_manual_is_read() {
    let workload = parse(OLTP);
    assert_eq!(workload.stages.len(), 1);
    let stage = &workload.stages[0];
    assert_eq!(
        (stage.name.as_str(), stage.repeats, stage.jobs.len()),
        ("mix", 3, 1)
    );
    let job = &stage.jobs[0];
    let target = Target {
        place: Place::Path("/mnt/data".to_owned()),
        offset: Bytes::ZERO,
        length: Some(Bytes::gib(20)),
    };
    assert_eq!(job.targets, [target]);
    assert_eq!((job.workers, job.depth), (4, 32));
    assert_eq!(job.mix, Mix::reads(Percent::whole(70).unwrap()));
    assert_eq!(job.block, BlockSizes::uniform(Bytes::kib(8)));
    let limits = Limits {
        warmup: Nanos::from_secs(30),
        runtime: Some(Nanos::from_secs(60)),
        time_based: true,
        ..Limits::default()
    };
    assert_eq!(job.limits, limits);
}

#[test]
fn values_have_short_and_long_forms() {
    let check = |short: &str, long: &str| assert_eq!(job(short), job(long), "{short}");
    check("", "access = { kind = \"each-block-once\", run = 1 }");
    check("access = \"random\"", "");
    check(
        "access = \"sequential\"",
        "access = { kind = \"sequential\", gap = \"0B\", scope = \"per-worker\" }",
    );
    check("mix = \"write\"", "mix = { write = \"100%\" }");
    check(
        "block = \"8KiB\"",
        "block = { read = \"8KiB\", write = [{ size = \"8KiB\" }] }",
    );
    check(
        "block = [\"4KiB\"]",
        "block = [{ size = \"4KiB\", weight = 1 }]",
    );
    check("arrival = \"closed\"", "");
    check(
        "arrival = { rate = \"20k/s\" }",
        "arrival = { rate = \"20000/s\", process = \"fixed\", when_full = \"queue\" }",
    );
    check(
        "measure = \"5m\"",
        "measure = { time = \"300s\", start_over = true }",
    );
    check("measure = \"10GiB\"", "measure = { bytes = \"10GiB\" }");
    check("measure = \"one-pass\"", "");
    check(
        "target = \"/g\"\nmeasure = \"1s\"",
        "targets = [{ path = \"/g\" }]\nmeasure = \"1s\"",
    );
    check("salt = 0x1f", "salt = \"31\"");
}

#[test]
fn rates_are_told_apart_by_their_unit() {
    let rate = |text: &str| match job(&format!("arrival = {{ rate = \"{text}\" }}")).arrival {
        Arrival::Open { rate, .. } => rate,
        Arrival::Closed => panic!("{text} gives a closed loop"),
    };
    assert_eq!(rate("20k/s"), Pacing::Iops(Iops::new(20_000)));
    assert_eq!(rate("2M/s"), Pacing::Iops(Iops::new(2_000_000)));
    assert_eq!(rate("2MB/s"), Pacing::Bytes(BytesPerSec::mb(2)));
    assert_eq!(rate("64KiB/s"), Pacing::Bytes(BytesPerSec::new(65_536)));
}

#[test]
fn stages_give_their_times_to_jobs_that_have_none() {
    let workload = parse(
        r#"
target = "/f"
[[stage]]
warmup = "1s"
measure = "2s"
[[stage.job]]
[[stage.job]]
warmup = "3s"
measure = { time = "4s", ios = 10 }
"#,
    );
    let limits: Vec<(Nanos, Option<Nanos>, bool)> = workload
        .jobs()
        .map(|(_, job)| (job.limits.warmup, job.limits.runtime, job.limits.time_based))
        .collect();
    let seconds = Nanos::from_secs;
    let expected = [
        (seconds(1), Some(seconds(2)), true),
        (seconds(3), Some(seconds(4)), false),
    ];
    assert_eq!(limits, expected);
    let names: Vec<&str> = workload.jobs().map(|(_, job)| job.name.as_str()).collect();
    assert_eq!(names, ["job 1", "job 2"]);
}

#[test]
fn json_has_the_shape_of_the_file() {
    let workload = parse(OLTP);
    let json = to_json(&workload);
    assert_eq!(json["stage"][0]["job"][0]["block"], "8KiB");
    let table: toml::Table = write(&workload).parse().unwrap();
    assert_eq!(serde_json::to_value(table).unwrap(), json);
}

#[test]
fn checks_of_data_are_read() {
    let verify = |keys: &str| {
        job(&format!("measure = \"one-pass\"\n{keys}"))
            .features
            .verify
    };
    let written = "mix = { write = \"100%\" }\nverify = \"crc32c\"";
    assert_eq!(
        verify(written),
        Some(Box::new(Verify::new(Checksum::Crc32c)))
    );
    // A job that only reads does not know numbers and seeds.
    let read = verify("verify = \"md5\"").unwrap();
    assert_eq!(
        (read.sequence, read.seed),
        (HeaderCheck::Ignored, HeaderCheck::Ignored)
    );
    let table = verify(
        "mix = { write = \"100%\" }\n\
         verify = { checksum = \"pattern_hdr\", pattern = \"0xff%o\", backlog = 8, interval = \"512B\" }",
    )
    .unwrap();
    assert_eq!(
        table.backlog,
        Some(Backlog {
            writes: 8,
            batch: 8
        })
    );
    assert_eq!(table.interval, Some(Bytes::new(512)));
    assert_eq!(table.pattern.unwrap().bytes().len(), 9);
}

#[test]
fn ftruncate_takes_the_place_of_writes() {
    assert_eq!(job("operation = \"ftruncate\"").mix, Mix::WRITE);
    assert_eq!(job("operation = \"stat\"").mix, Mix::READ);
}
