//! Tests of the native file: what is read, what is refused, and that nothing is lost in writing.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::verify::CHECKSUMS;
use super::words::{
    BACKENDS, CACHINGS, CONTENTS, ENDS, EXISTING, FILE_CHOICES, OPEN_SYNCS, OPERATIONS, PROCESSES,
    Words,
};
use super::{read, to_json, write};
use crate::{
    Access, AccessLine, Arrival, Backlog, Between, BlockSizes, Checksum, Coverage, Dedupe,
    DedupeFrom, Distribution, ErrorHandling, Features, FileChoice, FileHandling, HeaderCheck, Job,
    Limits, Mix, OnMismatch, Pacing, Pattern, Place, Placement, Poisson, Process, ProcessorSharing,
    Replay, ReplayPace, ReportGroup, SequentialScope, Stage, SyncPolicy, SyncRange, Target,
    ThreadPriority, TrimmedData, Verify, VerifyPhase, VerifyRepeats, VerifyTrims, VerifyTrust,
    WeightedSize, WhenFull, Workload,
};

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
            "6: `30` has the unknown unit ``; expected a time with its unit, such as `30s`, `1.5ms` or `10min`; write it like \"30s\"",
            "8: `randon` is no value of this key; did you mean `random`?",
            "9: this is a bare number, not a string with a unit; write the value with its unit, such as \"4KiB\"",
            "10: `170%` is more than 100%; write it like \"70%\"",
            "11: this is no whole number from 0 to 2^32 - 1; write digits alone",
            "12: `dept` is no key of a job; did you mean `depth`?",
            "13: the arrival has no rate; add `rate`, such as \"20000/s\", or write \"closed\"",
        ],
    );
}

#[test]
fn structures_are_checked() {
    check_refused(
        "",
        &["0: the workload has no stages; give at least one stage"],
    );
    check_refused(
        "stage = 3",
        &["1: this is a bare number, not a list of tables; write `[[stage]]` with two brackets"],
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

fn one_of<T: Copy + std::fmt::Debug>(words: Words<T>) -> impl Strategy<Value = T> {
    (0..words.len()).prop_map(|index| words[index].1)
}

fn sizes() -> impl Strategy<Value = Vec<WeightedSize>> {
    let size = (1u64..5000, 1u32..10).prop_map(|(blocks, weight)| WeightedSize {
        size: Bytes::new(blocks * 512),
        weight,
    });
    vec(size, 1..4)
}

fn blocks() -> impl Strategy<Value = BlockSizes> {
    let uniform = (1u64..5000).prop_map(|blocks| BlockSizes::uniform(Bytes::new(blocks * 512)));
    let alignment = option::of((1u64..5000).prop_map(|blocks| Bytes::new(blocks * 512)));
    let lists = (sizes(), sizes(), sizes(), alignment);
    let lists = lists.prop_map(|(read, write, trim, alignment)| BlockSizes {
        read,
        write,
        trim,
        alignment,
    });
    prop_oneof![uniform, lists]
}

fn percent() -> impl Strategy<Value = Percent> {
    (0u32..=10_000).prop_map(|points| Percent::from_basis_points(points).unwrap())
}

fn mixes() -> impl Strategy<Value = Mix> {
    (percent(), percent()).prop_map(|(read, write)| {
        let write =
            Percent::from_basis_points(write.basis_points().min(read.rest().basis_points()));
        let write = write.unwrap();
        let trim = read.rest().basis_points() - write.basis_points();
        Mix {
            read,
            write,
            trim: Percent::from_basis_points(trim).unwrap(),
        }
    })
}

fn accesses() -> impl Strategy<Value = Access> {
    let random = (any::<bool>(), 1..=u32::MAX).prop_map(|(once, run)| Access::Random {
        coverage: if once {
            Coverage::EachBlockOnce
        } else {
            Coverage::Independent
        },
        run,
    });
    let sequential = (0u64..1 << 40, any::<bool>()).prop_map(|(gap, shared)| Access::Sequential {
        gap: Bytes::new(gap * 512),
        scope: if shared {
            SequentialScope::Shared
        } else {
            SequentialScope::PerWorker
        },
    });
    let mixed = percent().prop_map(|random| Access::Mixed { random });
    prop_oneof![random, sequential, mixed]
}

fn arrivals() -> impl Strategy<Value = Arrival> {
    let open = (1..=u64::MAX, any::<bool>(), any::<bool>());
    let open = open.prop_map(|(rate, bytes, poisson)| Arrival::Open {
        rate: if bytes {
            Pacing::Bytes(BytesPerSec::new(rate))
        } else {
            Pacing::Iops(Iops::new(rate))
        },
        poisson: if poisson {
            Poisson::Exponential
        } else {
            Poisson::Fixed
        },
        when_full: WhenFull::Queue,
    });
    prop_oneof![Just(Arrival::Closed), open]
}

fn limits() -> impl Strategy<Value = Limits> {
    let nanos = || (1..1u64 << 60).prop_map(Nanos::new);
    let end = (option::of(nanos()), any::<bool>());
    let bytes = option::of((1u64 << 30..1 << 50).prop_map(Bytes::new));
    let counts = (option::of(1..u64::MAX), any::<u32>());
    let before = (nanos(), nanos());
    (before, end, bytes, counts).prop_map(|(before, (runtime, over), bytes, (ios, loops))| Limits {
        start_delay: before.0,
        warmup: before.1,
        runtime,
        time_based: over && runtime.is_some(),
        bytes,
        ios,
        loops,
    })
}

fn targets() -> impl Strategy<Value = Vec<Target>> {
    let path = "[^\0]{1,12}";
    let existing = (path, 0u64..1 << 30, option::of(1u64 << 30..1 << 50));
    let existing = existing.prop_map(|(path, blocks, length)| Target {
        place: Place::Path(path),
        offset: Bytes::new(blocks * 512),
        length: length.map(Bytes::new),
    });
    let fresh = (path, 1u64 << 30..1 << 50).prop_map(|(path, length)| Target {
        place: Place::FreshFileIn(path),
        offset: Bytes::ZERO,
        length: Some(Bytes::new(length)),
    });
    vec(prop_oneof![existing, fresh], 1..4)
}

/// Something of every kind that a check may ask for.
fn checks() -> impl Strategy<Value = Verify> {
    let layout = (
        one_of(CHECKSUMS),
        option::of((1u64..5000).prop_map(Bytes::new)),
        0u32..4096,
        vec(any::<u8>(), 1..20),
        option::of((1u64..5000).prop_map(Bytes::new)),
    );
    let counts = (
        option::of((1u32..5000, 1u32..5000)),
        option::of((percent(), 1u32..99, 1u32..99)),
    );
    let words = (any::<[bool; 6]>(), 0usize..4, 0usize..3);
    let files = (
        option::of(".{1,9}"),
        option::of(".{1,9}"),
        option::of(".{1,9}"),
    );
    (layout, counts, words, files).prop_map(|(layout, counts, words, files)| {
        let ([phases, each, sequence, seed, synced, zero], phase, mismatch) = words;
        let check = |compared| {
            if compared {
                HeaderCheck::Compared
            } else {
                HeaderCheck::Ignored
            }
        };
        let kinds = [
            VerifyPhase::AfterPass,
            VerifyPhase::Never,
            VerifyPhase::Only,
            VerifyPhase::Nothing,
        ];
        let ends = [OnMismatch::EndJob, OnMismatch::EndAtOnce, OnMismatch::GoOn];
        Verify {
            interval: layout.1,
            header_offset: layout.2,
            pattern: Pattern::new(layout.3, Vec::new()),
            pattern_interval: layout.4,
            phase: if phases { kinds[phase] } else { kinds[0] },
            backlog: counts.0.map(|(writes, batch)| Backlog { writes, batch }),
            repeats: if each {
                VerifyRepeats::EachWrite
            } else {
                VerifyRepeats::LastWrite
            },
            sequence: check(sequence),
            seed: check(seed),
            on_mismatch: ends[mismatch],
            trust: if synced {
                VerifyTrust::Synced
            } else {
                VerifyTrust::Completed
            },
            dump: files.0,
            save_state: files.1,
            load_state: files.2,
            trims: counts.1.map(|(share, writes, batch)| VerifyTrims {
                share,
                writes,
                batch,
                zero: if zero {
                    TrimmedData::Zeroes
                } else {
                    TrimmedData::Anything
                },
            }),
            ..Verify::new(layout.0)
        }
    })
}

/// Whether a job that follows no trace may be checked at all.
fn may_verify(workers: u32, mix: Mix, access: Access) -> bool {
    let shared = matches!(
        access,
        Access::Sequential {
            scope: SequentialScope::Shared,
            ..
        }
    );
    !shared && (workers == 1 || !mix.changes_data())
}

prop_compose! {
    fn processes()(
        processors in vec(0u32..4096, 0..3),
        (split, nice) in (any::<bool>(), -20i32..=19),
        io_priority in option::of((0u8..4, 0u8..8, 0u16..1024)),
        ends in one_of(ENDS),
        (after, command_before, command_after) in (option::of(".*"), option::of(".*"), option::of(".*")),
    ) -> Process {
        Process {
            processors,
            sharing: if split { ProcessorSharing::Split } else { ProcessorSharing::Shared },
            nice,
            io_priority: io_priority.map(|(class, level, hint)| ThreadPriority { class, level, hint }),
            after,
            ends,
            command_before,
            command_after,
        }
    }
}

prop_compose! {
    /// What holds a job back or ends it by its results.
    fn pacing()(
        think in option::of((any::<u64>(), any::<u64>(), 1u32.., any::<bool>(), any::<u64>())),
        batches in option::of((1u32.., any::<u32>(), 1u32.., any::<u32>())),
        rates in option::of((vec(option::of(any::<(bool, u64)>()), 3), one_of(PROCESSES))),
        flow in option::of((any::<u32>(), 1u32.., any::<u64>())),
        target in option::of((any::<u64>(), any::<u64>(), 1u32..100_000, any::<bool>())),
        steady in option::of((0usize..3, any::<bool>(), any::<bool>(), 1u32..1_000_000, 1u64..1 << 40)),
        serialized: bool,
    ) -> Features {
        use crate::*;
        let rate = |(by_ios, rate): (bool, u64)| if by_ios {
            Pacing::Iops(Iops::new(rate))
        } else {
            Pacing::Bytes(BytesPerSec::new(rate))
        };
        Features {
            think: think.map(|(pause, spin, every, issued, after)| ThinkTime {
                pause: Nanos::new(pause),
                spin: Nanos::new(spin),
                every,
                counts: if issued { ThinkCounts::Issued } else { ThinkCounts::Completed },
                after: Nanos::new(after),
            }),
            batches: batches.map(|(submit, complete_min, complete_max, low)| Batches {
                submit, complete_min, complete_max, low,
            }),
            rates: rates.map(|(rates, poisson)| DirectionRates {
                rates: [rates[0].map(rate), rates[1].map(rate), rates[2].map(rate)],
                poisson,
            }),
            flow: flow.map(|(id, weight, pause)| Flow { id, weight, pause: Nanos::new(pause) }),
            latency_target: target.map(|(most, window, percentile, goes_on)| LatencyTarget {
                most: Nanos::new(most),
                window: Nanos::new(window),
                percentile: f64::from(percentile) / 1000.0,
                then: if goes_on { AfterFound::GoesOn } else { AfterFound::Ends },
            }),
            steady: steady.map(|(metric, slope, percent, limit, interval)| {
                let limit = f64::from(limit) / 1000.0;
                SteadyState {
                    metric: [SteadyMetric::Iops, SteadyMetric::Bandwidth, SteadyMetric::Latency][metric],
                    judgement: if slope { SteadyJudgement::Slope } else { SteadyJudgement::Deviation },
                    limit: if percent { SteadyLimit::Percent(limit) } else { SteadyLimit::Absolute(limit) },
                    window: Nanos::new(interval * 3),
                    ramp: Nanos::new(interval / 2),
                    interval: Nanos::new(interval),
                }
            }),
            overlaps: if serialized { Overlaps::Serialized } else { Overlaps::Allowed },
            ..Features::default()
        }
    }
}

prop_compose! {
    fn priority_shares()(
        size in option::of(1u64..1 << 40),
        percent in 0u32..=100,
        (class, hint, level) in (0u16..4, 0u16..1024, 0u16..8),
    ) -> crate::PriorityShare {
        crate::PriorityShare {
            size: size.map(Bytes::new),
            percent,
            priority: crate::IoPriority::new(class, hint, level).unwrap(),
        }
    }
}

prop_compose! {
    fn handlings()(
        (pre_read, must_exist, grows, end_syncfs) in any::<(bool, bool, bool, bool)>(),
        range in option::of((1u32..99, any::<(bool, bool, bool)>())),
        (go_on, ignored) in (any::<[bool; 3]>(), vec(vec(1i32..200, 0..3), 3)),
        limits in vec(option::of((1u64..1 << 50).prop_map(Nanos::new)), 3),
        operation in option::of(one_of(OPERATIONS)),
        replay in option::of((".*", option::of(1u32..1000), 2u32..9, 0u32..20, any::<([bool; 4], bool)>())),
        trace_to in option::of(".*"),
    ) -> Features {
        Features {
            files: FileHandling {
                pre_read, must_exist, grows, end_syncfs,
                sync_range: range.map(|(every, (wait_before, write, wait_after))| SyncRange {
                    every, wait_before, write, wait_after,
                }),
            },
            errors: ErrorHandling {
                go_on,
                ignored: ignored.try_into().unwrap(),
                latency_max: limits.try_into().unwrap(),
            },
            operation,
            replay: replay.map(|(path, pace, scale, align, (skip, redirected))| Replay {
                path,
                pace: pace.map_or(ReplayPace::AtOnce, ReplayPace::Timed),
                scale,
                align: 1 << align,
                skip,
                redirected,
            }),
            trace_to,
            ..Features::default()
        }
    }
}

prop_compose! {
    fn features()(
        each: bool,
        windows in (option::of(1u64..1 << 60), option::of(1u64..1 << 60)),
        pacing in pacing(),
        read in vec(priority_shares(), 0..3),
        write in vec(priority_shares(), 0..3),
        has_priorities: bool,
    ) -> Features {
        let priorities = has_priorities.then(|| Box::new(crate::Priorities { read, write }));
        Features {
            priorities,
            io_log: crate::IoLog {
                each,
                window: windows.0.map(Nanos::new),
                histogram: windows.1.map(Nanos::new),
            },
            ..pacing
        }
    }
}

prop_compose! {
    fn access_lines()(
        weight in 1u32.., blocks in 1u64..5000, (read, random) in (percent(), percent()),
        delay: u64, burst in 1u32.., alignment in option::of(1u64..5000), reply in option::of(1u64..5000),
    ) -> AccessLine {
        let sectors = |count: u64| Bytes::new(count * 512);
        AccessLine {
            weight, size: sectors(blocks), read, random, burst,
            delay: Nanos::new(delay),
            alignment: alignment.map(sectors),
            reply: reply.map(sectors),
        }
    }
}

/// The job with lines, where nothing of it has a say in the same things.
fn with_lines(mut job: Job, lines: Vec<AccessLine>) -> Job {
    let features = &job.features;
    let has_own =
        features.rates.is_some() || features.verify.is_some() || features.replay.is_some();
    let free = job.arrival == Arrival::Closed && job.file_choice != FileChoice::Sequential;
    if free && !has_own && features.operation.is_none() && !lines.is_empty() {
        job.set_lines(lines);
    }
    job
}

prop_compose! {
    fn jobs()(
        (name, host, targets, group) in (".*", option::of(".*"), targets(), any::<(u32, bool)>()),
        (file_choice, workers, depth) in (one_of(FILE_CHOICES), 1u32..65_536, 1u32..1 << 20),
        (mix, access, block, arrival) in (mixes(), accesses(), blocks(), arrivals()),
        (limits, open, sync) in (limits(), one_of(OPEN_SYNCS), any::<(u32, u32, bool, bool)>()),
        (contents, backend) in (one_of(CONTENTS), one_of(BACKENDS)),
        (caching, existing) in (one_of(CACHINGS), one_of(EXISTING)),
        switches in any::<(bool, bool, bool)>(),
        (salt, alone, check) in (any::<u64>(), any::<bool>(), option::of(checks())),
        (process, handling, features, lines) in
            (processes(), handlings(), features(), vec(access_lines(), 0..4)),
    ) -> Job {
        let workers = if alone { 1 } else { workers };
        with_lines(Job {
            name, host, targets, file_choice, workers, depth, mix, access, block, arrival, limits,
            group: ReportGroup { id: group.0, together: group.1 },
            sync: SyncPolicy {
                open,
                fsync_every: sync.0,
                fdatasync_every: sync.1,
                at_end: sync.2,
                on_close: sync.3,
            },
            contents, backend, caching, existing,
            split_latency: switches.0,
            drop_cache: switches.1,
            unlink: switches.2,
            salt,
            features: Features {
                verify: check
                    .filter(|_| handling.replay.is_none() && may_verify(workers, mix, access))
                    .map(Box::new),
                process,
                files: handling.files,
                errors: handling.errors,
                operation: handling.operation,
                replay: handling.replay,
                trace_to: handling.trace_to,
                ..features
            },
        }, lines)
    }
}

prop_compose! {
    fn workloads()(
        stages in vec((".{1,9}", vec(jobs(), 1..4), any::<u64>(), 1u32..10_000, any::<bool>()), 1..4),
        seed: u64,
    ) -> Workload {
        let stages = (0..).zip(stages).map(|(index, (name, jobs, cooldown, repeats, discard))| Stage {
            name: format!("{index} {name}"),
            jobs,
            cooldown: Nanos::new(cooldown),
            repeats,
            discard,
            rate_from: None,
        });
        Workload { stages: stages.collect(), seed }
    }
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
    let rules = placed("distribution = \"zipf:1.2:0.25\", random = \"80%\", ios_per_target = 3");
    assert_eq!(rules.distribution, [zipf.clone(), zipf.clone(), zipf]);
    assert_eq!(rules.random, [Percent::whole(80).unwrap(); 3]);
    assert_eq!(rules.ios_per_target, 3);
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
    let odd = check_kept("caching = \"buffered\"\nplacement = { unaligned = true }");
    assert!(odd.features.placement.unwrap().unaligned);
    let pairs = check_kept(
        "mix = { write = \"50%\", trim = \"50%\" }\nplacement = { trim_then_write = true }",
    );
    assert!(pairs.features.placement.unwrap().trim_then_write);
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
        "lines = [{ size = \"4KiB\", pause = \"1s\" }]",
        "`pause` is no key of a line",
    );
    check(
        "lines = [{ size = \"4KiB\", weight = 0 }]",
        "no line has a weight",
    );
    check(
        "lines = [{ size = \"4KiB\", burst = 0 }]",
        "a line's burst has 0 I/Os",
    );
    check(
        "lines = [{ size = \"4KiB\", alignment = \"0B\" }]",
        "alignment is 0 bytes",
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn nothing_is_lost_in_writing(workload in workloads()) {
        let text = write(&workload);
        match read(&text, "written") {
            Ok((again, _)) => prop_assert_eq!(again, workload, "{}", text),
            Err(diagnostics) => return Err(TestCaseError::fail(format!("{diagnostics}\n{text}"))),
        }
    }

    /// Damage anywhere is told, not a cause of panic.
    #[test]
    fn damaged_files_never_panic(at in 0usize..600, with in ".{0,4}", cut in 0usize..30) {
        let mut text = OLTP.to_owned();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, &with);
        if let Err(diagnostics) = read(&text, "damaged") {
            prop_assert!(diagnostics.has_errors());
            prop_assert!(!diagnostics.to_string().is_empty());
        }
    }
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
