//! Tests of the native file: what is read, what is refused, and that nothing is lost in writing.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::verify::CHECKSUMS;
use super::words::{
    ADVICE, BACKENDS, CACHINGS, CONTENTS, ENDS, EXISTING, FILE_CHOICES, GROWTHS, LIFETIMES,
    OPEN_SYNCS, OPERATIONS, PROCESSES, Words,
};
use super::{read, to_json, write};
use crate::{
    Access, AccessLine, Advice, Arrival, Backend, Backlog, Between, BlockSizes, Calls, Checksum,
    Coverage, Dedupe, DedupeFrom, Distribution, ErrorHandling, Features, FileChoice, FileHandling,
    Growth, HeaderCheck, Job, Limits, MemoryPolicy, Mix, NODE_MAX, NodeSet, OnMismatch,
    PROCESSOR_MAX, Pacing, Pattern, Place, Placement, Poisson, Process, ProcessorSharing, Replay,
    ReplayPace, ReportGroup, SequentialScope, Stage, Submitter, SyncPolicy, SyncRange, Target,
    ThreadPriority, TracePart, TrimmedData, Verify, VerifyPhase, VerifyRepeats, VerifyTrims,
    VerifyTrust, WeightedSize, WhenFull, Workload,
};

mod property_tests;

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

/// Each expected entry is `line: message; hint`.
#[track_caller]
fn check_refused(text: &str, expected: &[&str]) {
    let diagnostics = match read(text, "t") {
        Ok((workload, _)) => panic!("taken as {workload:?}"),
        Err(diagnostics) => diagnostics,
    };
    let found: Vec<String> = diagnostics
        .0
        .iter()
        .map(|found| {
            let line = found.location.as_ref().map_or(0, |location| location.line);
            let hint = found.hint.as_deref().unwrap_or("no hint");
            format!("{line}: {}; {hint}", found.message)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn all_errors_are_told_at_once_with_their_lines() {
    check_refused(
        r#"sede = 4
[target]
path = "/f"
size = 20
[[stage]]
warmup = "30"
[[stage.job]]
access = "randon"
block = 8192
mix = { read = "170%" }
depth = "many"
dept = 1
arrival = { process = "poisson" }
"#,
        &[
            "1: `sede` is no key of a workload; did you mean `seed`?",
            "4: this is a bare number, not a string with a unit; write the value with its unit, such as \"4KiB\"",
            "6: `30` has no unit; expected a time with its unit, such as `30s`, `1.5ms` or `10min`; write it like \"30s\"",
            "8: `randon` is no value of this key; did you mean `random`?",
            "9: this is a bare number, not a string with a unit; write the value with its unit, such as \"4KiB\"",
            "10: `170%` is more than 100%; write it like \"70%\"",
            "11: this is no whole number from 0 to 2^32 - 1; write digits alone, such as 4",
            "12: `dept` is no key of a job; did you mean `depth`?",
            "13: the arrival has no rate; add `rate`, such as \"20000/s\", or write \"closed\"",
        ],
    );
}

/// A rate of I/Os that is no whole number, or that has a unit of sizes, was once taken for so many bytes a second.
#[test]
fn a_rate_without_a_b_is_one_of_ios() {
    let one = |rate: &str| {
        format!(
            "target = {{ path = '/f', size = '1MiB' }}\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\narrival = {{ rate = '{rate}' }}"
        )
    };
    let hint = "write it like \"20000/s\"";
    for (rate, told) in [
        ("1.5/s", "is no whole number of I/Os a second"),
        ("1.0005k/s", "is no whole number of I/Os a second"),
        (
            "20K/s",
            "has the unknown unit `K/s`; expected a rate such as `20000/s` or `20k/s`",
        ),
        (
            "4g/s",
            "has the unknown unit `g/s`; expected a rate such as `20000/s` or `20k/s`",
        ),
    ] {
        check_refused(&one(rate), &[&format!("5: `{rate}` {told}; {hint}")]);
    }
    check_refused(
        &one("x MB/s"),
        &[
            "5: `x MB/s` is not a rate of bytes such as `500MB/s` or `64MiB/s`; write it like \"500MB/s\"",
        ],
    );
    let arrival = |rate: &str| {
        let (workload, _) = read(&one(rate), "t").unwrap();
        let job = workload.stages[0].jobs[0].clone();
        match job.arrival {
            Arrival::Open { rate, .. } => rate,
            Arrival::Closed => panic!("{rate}: closed"),
        }
    };
    assert_eq!(arrival("1.5k/s"), Pacing::Iops(Iops::new(1500)));
    assert_eq!(arrival("20 MB/s"), Pacing::Bytes(BytesPerSec::mb(20)));
    assert_eq!(arrival("512B/s"), Pacing::Bytes(BytesPerSec::new(512)));
}

#[test]
fn what_is_no_measure_is_told_with_its_reason() {
    for (measure, told) in [
        ("1h30m", "is neither a time of one unit nor a size"),
        ("-1s", "is neither a time of one unit nor a size"),
        ("999999999h", "is too large"),
        ("99EB", "is too large"),
        ("90", "has no unit"),
        ("1M", "is no time, and a size ends in `B` here"),
    ] {
        let text = format!("[[stage]]\nmeasure = \"{measure}\"");
        check_refused(
            &text,
            &[&format!(
                "2: `{measure}` {told}; write it like \"60s\", \"10GiB\", \"one-pass\" or {{ ios = 1000 }}"
            )],
        );
    }
}

#[test]
fn structures_are_checked() {
    check_refused(
        "seed = 1",
        &["0: the workload has no stages; give at least one stage"],
    );
    let hint = "name a file with a workload in it";
    let empty = format!("0: `t` is empty; {hint}");
    check_refused("", &[&empty]);
    let comments = format!("0: `t` holds nothing but comments; {hint}");
    check_refused("# none\n", &[&comments]);
    check_refused(
        "stage = 3",
        &["1: this is a bare number, not a list of tables; write `[[stage]]` with two brackets"],
    );
    check_refused(
        "target = { path = '/f', size = '1MiB' }\n[[stage]]\nmeasure = 60\n[[stage.job]]\nprocess = { nice = 50 }",
        &[
            "3: this is a bare number, not a time or a size; write it like \"60s\", \"10GiB\", \"one-pass\" or { ios = 1000 }",
            "5: `nice` is no whole number from -20 to 19; write one without quotes, such as 10",
        ],
    );
    check_refused(
        "[[stage]]\nname = \"a\"",
        &["2: stage `a`: it has no jobs; give it at least one job"],
    );
    check_refused(
        "target = { path = \"/f\", directory = \"/d\" }\n[[stage]]\n[[stage.job]]\nname = \"a\"\nmeasure = \"1s\"",
        &[
            "1: the target has both `path` and `directory`; give `path` for what exists, or `directory` for a fresh file in it",
        ],
    );
}

#[test]
fn contradictions_point_at_their_line() {
    check_refused(
        r#"
[[stage]]
name = "a"
repeats = 0
[[stage.job]]
name = "b"
target = { directory = "/d", offset = "1KiB" }
block = "1000B"
workers = 0
mix = { read = "70%" }
measure = "0s"
"#,
        &[
            "4: stage `a`: it has 0 repeats; give at least 1",
            "7: job `b`: the fresh file in `/d` has no size; give a size, such as `1GiB`",
            "8: job `b`: a block of 1000 bytes is no multiple of 512, which direct I/O needs; use a multiple, or buffered I/O",
            "9: job `b`: it has 0 workers; give at least 1",
            "10: job `b`: its mix of reads, writes and trims adds up to 70 %, not 100 %; change a share",
            "11: job `b`: its measured time is 0; give a time such as `60s`",
        ],
    );
}

#[test]
fn a_job_without_target_or_end_is_refused() {
    check_refused(
        "[[stage]]\n[[stage.job]]\nname = \"a\"\n",
        &["2: job `a` has no target; add `target` to it, or `[target]` at the start of the file"],
    );
    check_refused(
        "target = \"/f\"\n[[stage]]\n[[stage.job]]\nname = \"a\"\n",
        &[
            "3: job `a` has no end; add `measure`, such as \"60s\", or \"one-pass\" for all of the target once",
        ],
    );
}

#[test]
fn broken_toml_is_told_with_its_line() {
    check_refused(
        "a = \nb = 3\n[[stage]\n",
        &[
            "1: this is no TOML: string values must be quoted, expected literal string; see toml.io for the format",
            "3: this is no TOML: unclosed array table, expected `]`; see toml.io for the format",
        ],
    );
}

#[test]
fn depth_of_a_synchronous_job_is_warned_of() {
    let text = OLTP.replace("workers = 4", "backend = \"sync\"");
    let (_, warnings) = read(&text, "t").unwrap();
    let messages: Vec<&str> = warnings
        .0
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(
        messages,
        ["`depth` is 32, but the backend `sync` has 1 outstanding"]
    );
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

/// Jobs with placements and fillings: as read, and as written and read again.
#[track_caller]
fn check_kept(keys: &str) -> Job {
    let job = job(keys);
    let stage = Stage {
        name: "kept".to_owned(),
        jobs: vec![job.clone()],
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    };
    let workload = Workload {
        stages: vec![stage],
        seed: 1,
    };
    let text = write(&workload);
    let again = parse(&text);
    assert_eq!(again, workload, "{text}");
    job
}

#[test]
fn placements_survive_their_file() {
    let placed = |keys: &str| {
        let job = check_kept(&format!("placement = {{ {keys} }}"));
        *job.features.placement.unwrap()
    };
    assert_eq!(placed(""), Placement::default());
    let zipf = Distribution::Zipf {
        theta: 1.2,
        center: Some(0.25),
    };
    let rules = placed(
        "distribution = \"zipf:1.2:0.25\", random = \"80%\", ios_per_target = 3, targets_at_once = 2",
    );
    assert_eq!(rules.distribution, [zipf.clone(), zipf.clone(), zipf]);
    assert_eq!(rules.random, [Percent::whole(80).unwrap(); 3]);
    assert_eq!((rules.ios_per_target, rules.targets_at_once), (3, Some(2)));
    let rules = placed(
        "distribution = { write = \"zoned:60/10:40/90\" }, target_distribution = \"normal:20\"",
    );
    assert_eq!(rules.distribution[0], Distribution::Uniform);
    assert_eq!(rules.distribution[1].to_string(), "zoned:60/10:40/90");
    let rules = placed("skip = \"-8KiB\", between = \"identical\", past_end = true");
    assert_eq!((rules.skip, rules.between), (-8192, Between::Identical));
    let rules = placed("zones = { size = \"64KiB\", skip = \"1MiB\" }");
    let zones = rules.zones.unwrap();
    assert_eq!((zones.range, zones.skip), (Bytes::kib(64), Bytes::mib(1)));
    let rules =
        placed("ranges = { read = \"1KiB-4KiB\" }, unaligned = false, alignment = \"512B\"");
    assert_eq!(rules.ranges[0].unwrap().least, Bytes::kib(1));
    assert_eq!((rules.ranges[1], rules.unaligned), (None, false));
    let rules = placed("sequential_sizes = \"4KiB\", random_sizes = \"1KiB-4KiB\"");
    assert!(rules.by_order.is_some());
    let flash = check_kept(
        "mix = \"write\"\naccess = \"independent\"\nplacement = { conditioning = { over_provisioning = \"28.5%\", regions = 8, \
         cache = \"1MiB\" } }",
    );
    let flash = flash.features.placement.unwrap().conditioning.unwrap();
    assert_eq!(flash.over_provisioning.basis_points(), 2850);
    assert_eq!((flash.regions, flash.cache), (8, Bytes::mib(1)));
    let odd = check_kept("caching = \"buffered\"\nplacement = { unaligned = true }");
    assert!(odd.features.placement.unwrap().unaligned);
    let pairs = check_kept(
        "mix = { write = \"50%\", trim = \"50%\" }\nplacement = { trim_then_write = true }",
    );
    assert!(pairs.features.placement.unwrap().trim_then_write);
}

#[test]
fn numa_nodes_survive_their_file() {
    let process = |keys: &str| {
        let job = check_kept(&format!("process = {{ {keys} }}"));
        (job.features.process.nodes, job.features.process.memory)
    };
    let only = |numbers: &[u32]| NodeSet::Only(numbers.iter().copied().collect());
    let but = |numbers: &[u32]| NodeSet::AllBut(numbers.iter().copied().collect());
    for (keys, nodes, memory) in [
        (
            "nodes = [2, 0, 2]",
            Some(only(&[0, 2])),
            MemoryPolicy::Default,
        ),
        ("nodes = \"all\"", Some(NodeSet::ALL), MemoryPolicy::Default),
        (
            "nodes = { all_but = [1] }",
            Some(but(&[1])),
            MemoryPolicy::Default,
        ),
        ("memory = \"local\"", None, MemoryPolicy::Local),
        ("memory = { prefer = 3 }", None, MemoryPolicy::Prefer(3)),
        (
            "memory = { bind = [0] }",
            None,
            MemoryPolicy::Bind(only(&[0])),
        ),
        (
            "memory = { interleave = \"all\" }",
            None,
            MemoryPolicy::Interleave(NodeSet::ALL),
        ),
    ] {
        assert_eq!(process(keys), (nodes, memory), "{keys}");
    }
}

#[test]
fn wrong_numa_nodes_are_told() {
    for (keys, message) in [
        ("nodes = []", "the list names no NUMA node"),
        ("nodes = [1024]", "NUMA nodes have numbers up to 1023"),
        ("nodes = \"some\"", "`some` names no NUMA nodes"),
        (
            "nodes = { but = [0] }",
            "`but` is no key of a set of NUMA nodes",
        ),
        ("memory = \"near\"", "`near` is no placement of memory"),
        (
            "memory = {}",
            "a placement of memory has one key of its three",
        ),
        (
            "memory = { prefer = 0, bind = [0] }",
            "a placement of memory has one key of its three",
        ),
        ("memory = { bind = [] }", "the list names no NUMA node"),
        (
            "memory = { prefer = [0] }",
            "this is a list, not a whole number",
        ),
    ] {
        let text = format!(
            "target = \"/f\"\n[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\nname = \"j\"\nprocess = {{ {keys} }}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    }
}

#[test]
fn lines_survive_their_file() {
    let job = check_kept(
        "lines = [{ size = \"4KiB\", weight = 60, read = \"80%\" }, { size = \"64KiB\", weight = 40, random = \"0%\", delay = \"5ms\", burst = 8, alignment = \"4KiB\", reply = \"512B\" }]",
    );
    let [small, large] = job.features.lines.as_slice() else {
        panic!("{:?}", job.features.lines)
    };
    assert_eq!((small.weight, small.burst, small.reply), (60, 1, None));
    assert_eq!((large.burst, large.delay), (8, Nanos::from_millis(5)));
    assert_eq!(large.alignment, Some(Bytes::kib(4)));
    // What the job does not say, the lines do.
    assert_eq!(job.block.largest(job.mix), Bytes::kib(64));
    assert!(job.mix.write > Percent::ZERO);
    assert!(matches!(job.access, Access::Mixed { .. }));
}

#[test]
fn wrong_lines_are_told() {
    let check = |keys: &str, message: &str| {
        let text = format!(
            "target = {{ path = \"/f\", size = \"1GiB\" }}\n[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\n{keys}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    };
    check("lines = []", "there are no lines");
    check("lines = [{ read = \"1%\" }]", "the line has no size");
    check(
        "lines = [{ size = \"4KiB\", weight = 0 }]",
        "no line has a weight",
    );
    check("lines = [{ size = \"5000B\" }]", "no multiple of 512");
    check(
        "mix = \"write\"\nlines = [{ size = \"4KiB\" }]",
        "do not agree on reads",
    );
    check(
        "block = \"4KiB\"\nlines = [{ size = \"8KiB\" }]",
        "lines of up to 8 KiB",
    );
    check(
        "placement = {}\nlines = [{ size = \"4KiB\" }]",
        "`placement` does not go with lines",
    );
    let open = "arrival = { rate = \"9/s\" }\nlines = [{ size = \"4KiB\", delay = \"1s\" }]";
    check(open, "`arrival` does not go with lines");
}

#[test]
fn fillings_survive_their_file() {
    let filled = |keys: &str| {
        let job = check_kept(&format!("mix = \"write\"\nfilling = {{ {keys} }}"));
        *job.features.filling.unwrap()
    };
    let rules = filled("pattern = '\"ab\"%o0xff', compress = \"30%\", chunk = \"512B\"");
    let pattern = rules.pattern.unwrap();
    assert_eq!((pattern.bytes().len(), pattern.offsets().len()), (11, 1));
    assert_eq!((rules.compress, rules.chunk), (30, Some(Bytes::new(512))));
    assert!(!rules.anywhere);
    assert!(filled("pattern = '\"ab\"', anywhere = true").anywhere);
    let rules = filled("dedupe = { blocks = \"20%\", working_set = \"5%\", global = true }");
    let from = DedupeFrom::WorkingSet {
        percent: 5,
        global: true,
    };
    assert_eq!(rules.dedupe, Some(Dedupe { percent: 20, from }));
    assert_eq!(
        filled("dedupe = { blocks = \"20%\" }").dedupe.unwrap().from,
        DedupeFrom::Last
    );
}

#[test]
fn wrong_placements_are_told() {
    let check = |keys: &str, message: &str| {
        let text = format!(
            "target = {{ path = \"/f\", size = \"1GiB\" }}\n[[stage]]\nname = \"s\"\n[[stage.job]]\n{keys}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    };
    check(
        "placement = { distribution = \"zipf:1\" }",
        "no theta from 0",
    );
    check(
        "placement = { skip = \"far\" }",
        "`far` is no size with its unit",
    );
    check(
        "placement = { ranges = \"4KiB\" }",
        "`4KiB` is no range of sizes",
    );
    check(
        "placement = { unaligned = true }",
        "do not go with direct I/O",
    );
    check(
        "placement = { ranges = \"4KiB-8KiB\" }",
        "it has sizes up to 8 KiB, but its blocks end at 4 KiB",
    );
    check(
        "placement = { random_sizes = \"4KiB\" }",
        "one of two lists of sizes is missing",
    );
    check(
        "placement = { ios_per_target = 0 }",
        "each picked target gets 0 I/Os",
    );
    check(
        "placement = { targets_at_once = 0 }",
        "0 targets are used at the same time",
    );
    check(
        "placement = { trim_then_write = true }",
        "its mix has reads",
    );
    check(
        "placement = { zones = { size = \"0B\" } }",
        "its zones have no bytes",
    );
    check("filling = { pattern = \"'file'\" }", "holds no file names");
    check(
        "filling = { compress = \"0.5%\" }",
        "no whole number of percent",
    );
    check(
        "filling = { dedupe = { blocks = \"0%\" } }",
        "is no percentage",
    );
}

#[test]
fn a_rate_from_an_earlier_stage_survives_its_file() {
    let job = "[[stage.job]]\nname = \"j\"\ntarget = \"/dev/sdx\"\nmeasure = \"9s\"\n";
    let text = |rate: &str| {
        format!(
            "[[stage]]\nname = \"max\"\n{job}[[stage]]\nname = \"half\"\nrate_from = {{ {rate} }}\n{job}\
             arrival = {{ rate = \"1/s\" }}\n"
        )
    };
    let workload = parse(&text(
        "stage = \"max\", percent = \"12.5%\", round = \"up-to-hundreds\", shares = \"as-measured\"",
    ));
    let expected = crate::RateFrom {
        stage: 0,
        percent: 12.5,
        rounding: crate::RateRounding::UpToHundreds,
        shares: crate::RateShares::AsMeasured,
    };
    assert_eq!(workload.stages[1].rate_from, Some(expected));
    assert_eq!(parse(&write(&workload)), workload);
    for (rate, complaint) in [
        (
            "stage = \"half\", percent = \"50%\"",
            "no stage before this one is called `half`",
        ),
        ("stage = \"max\", percent = \"50\"", "`50` is no percentage"),
        (
            "stage = \"max\", percent = \"0%\"",
            "0 % is no share of a rate",
        ),
        ("stage = \"max\"", "`rate_from` needs `percent`"),
    ] {
        let refused = read(&text(rate), "w.toml").unwrap_err();
        assert!(refused.to_string().contains(complaint), "{refused}");
    }
}

#[test]
fn calls_survive_their_file() {
    let job = check_kept(
        "calls = { advice = \"random\", polled = 30, uncached = true }\nbackend = \"sync\"",
    );
    let expected = Calls {
        advice: Advice::Random,
        polled: 30,
        uncached: true,
        ..Calls::default()
    };
    assert_eq!(job.features.calls, expected);
    let thread = |keys: &str| check_kept(keys).features.calls.submitter;
    let any = Some(Submitter { processor: None });
    assert_eq!(thread("calls = { submitter = true }"), any);
    assert_eq!(thread("calls = { submitter = false }"), None);
    let first = Some(Submitter { processor: Some(0) });
    assert_eq!(thread("calls = { submitter = 0 }"), first);
}

#[test]
fn calls_that_a_backend_does_not_have_are_told() {
    let check = |keys: &str, complaint: &str| {
        let text = format!(
            "[[stage]]\nname = \"s\"\n[[stage.job]]\nname = \"j\"\ntarget = \"/dev/sdx\"\nmeasure = \"9s\"\n{keys}\n"
        );
        let refused = read(&text, "w.toml").unwrap_err().to_string();
        assert!(refused.contains(complaint), "{refused}");
    };
    check(
        "calls = { polled = 101 }",
        "101 % of its I/Os are polled for",
    );
    check(
        "calls = { polled = 50 }",
        "some are polled for and some are not",
    );
    check("calls = { submitter = 4096 }", "taken on processor 4096");
    check(
        "backend = \"sync\"\ncalls = { async_every = 2 }",
        "the backend `sync` has no `async_every`",
    );
    check(
        "backend = \"libaio\"\ncalls = { uncached = true }",
        "the backend `libaio` has no `uncached`",
    );
    check(
        "calls = { advice = \"randomly\" }",
        "did you mean `random`?",
    );
}

/// One mistake is told once, with what to do.
#[test]
fn limits_are_kept() {
    let text = |keys: &str| {
        format!("[target]\npath = \"/f\"\nsize = \"1GiB\"\n[[stage]]\n[[stage.job]]\n{keys}")
    };
    check_refused(
        &text("latency_target = { most = \"0ms\", percentile = \"101%\" }"),
        &[
            "6: no more than 100 % of the I/Os can keep to a limit; write it like \"99.9%\"",
            "6: `most` is no time, and no I/O takes none; give a time such as \"2ms\"",
        ],
    );
    check_refused(
        &text("lines = [{ size = \"4KiB\", burst = 0 }]"),
        &["6: this must be at least 1; write 1 or more"],
    );
    check_refused(
        &text("depth = \"four\""),
        &["6: this is no whole number from 0 to 2^32 - 1; write digits alone, such as 4"],
    );
}

#[test]
fn ftruncate_takes_the_place_of_writes() {
    assert_eq!(job("operation = \"ftruncate\"").mix, Mix::WRITE);
    assert_eq!(job("operation = \"stat\"").mix, Mix::READ);
}
