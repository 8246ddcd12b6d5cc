//! Every check is provoked once and stays silent once.

#[path = "checks/bounds.rs"]
mod bounds;
#[path = "checks/clock.rs"]
mod clock;
#[path = "checks/contents.rs"]
mod contents;
#[path = "checks/cut_short.rs"]
mod cut_short;
#[path = "checks/failures.rs"]
mod failures;
#[path = "checks/law.rs"]
mod law;
#[path = "checks/levels.rs"]
mod levels;
#[path = "checks/pace.rs"]
mod pace;

use fathom_record::{
    Check, DeviceCounters, EndReason, Evidence, InMemory, IoErrors, MachineClock, OpStats, OtherIo,
    RunKind, StageResult, TargetFacts, WorkerStats, run_checks,
};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::{
    Arrival, Backend, Caching, Direction, DirectionRates, FileOperation, MinimumRates, Pacing,
    Poisson, RateStep, RateSteps, Stage, StatCall, ThinkCounts, ThinkTime, WhenFull, Workload,
    native,
};

const SECOND: u64 = 1_000_000_000;

const WORKLOAD: &str = r#"
[[stage]]
name = "reads"
[[stage.job]]
name = "reads"
target = { path = "/tmp/a", size = "1GiB" }
depth = 4
measure = "one-pass"
"#;

/// Ten seconds at depth 4: 40,000 reads of 1 ms, all seen by the device.
struct Run {
    workload: Workload,
    results: Vec<StageResult>,
    targets: Vec<TargetFacts>,
    interrupted: bool,
    clock: Option<MachineClock>,
}

impl Run {
    fn evidence(&self, kind: RunKind) -> Evidence<'_> {
        Evidence {
            workload: &self.workload,
            results: &self.results,
            targets: &self.targets,
            kind,
            interrupted: self.interrupted,
            clock: self.clock.as_ref(),
        }
    }
}

fn run() -> Run {
    let mut reads = OpStats::new(false, false);
    for _ in 0..40_000 {
        reads.latency.record(1_000_000);
        reads.bytes += 4096;
    }
    let mut worker = WorkerStats::new(0, 0);
    worker.directions[0] = Some(reads);
    worker.measured = Nanos::new(10 * SECOND);
    worker.outstanding_ns = 4 * 10 * u128::from(SECOND);
    let result = StageResult {
        measured: Nanos::new(10 * SECOND),
        workers: vec![worker],
        devices: vec![DeviceCounters {
            name: "vdb".into(),
            sectors: [40_000 * 8, 0],
            ..DeviceCounters::default()
        }],
        ..StageResult::new("reads", 0)
    };
    Run {
        workload: native::read(WORKLOAD, "reads.workload.toml")
            .expect("the workload is sound")
            .0,
        results: vec![result],
        targets: vec![TargetFacts {
            path: "/tmp/a".into(),
            unwritten_share: Some(0.0),
            zeroes_share: None,
            in_memory: None,
            reducing: None,
            changes: Some(vec![]),
        }],
        interrupted: false,
        clock: None,
    }
}

/// After `change`, only the check `id` fails; `None`: every check passes.
#[track_caller]
fn check(id: Option<&str>, change: impl FnOnce(&mut Run)) {
    check_of(RunKind::Run, id, change);
}

#[track_caller]
fn check_of(kind: RunKind, id: Option<&str>, change: impl FnOnce(&mut Run)) {
    let mut run = run();
    change(&mut run);
    let failed: Vec<_> = run_checks(&run.evidence(kind))
        .into_iter()
        .filter(|check| !check.passed)
        .collect();
    let ids: Vec<&str> = failed.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, id.into_iter().collect::<Vec<_>>(), "{failed:?}");
    assert!(failed.iter().all(|check| !check.remedy.is_empty()));
}

#[test]
fn a_sound_run_passes_every_check() {
    check(None, |_| {});
}

#[test]
fn a_processor_limit_is_told_where_it_took_much() {
    check(None, |run| run.results[0].limited_share = 0.04);
    let limited = |run: &mut Run| run.results[0].limited_share = 0.06;
    check(Some("processor-limit"), limited);
    check_of(RunKind::Predict, None, limited);
}

#[test]
fn io_of_other_programs_is_told_where_it_took_much() {
    let others = |mib: u64| {
        move |run: &mut Run| {
            run.results[0].others = Some(OtherIo {
                devices: vec!["vdb".to_owned()],
                own: [40_000 * 4096, 0],
                bytes: [mib << 20, 0],
                ios: [40_000, 0],
                writes_known: true,
                over: Nanos::new(10 * SECOND),
            });
        }
    };
    check(None, others(9));
    check(Some("background-io"), others(90));
    check_of(RunKind::Predict, None, others(90));
    let silent = |writes_known| {
        let mut run = run();
        others(0)(&mut run);
        let told = run.results[0].others.iter_mut();
        told.for_each(|others| others.writes_known = writes_known);
        let mut checks = run_checks(&run.evidence(RunKind::Run)).into_iter();
        let found = checks.find(|check| check.id == "background-io");
        found.expect("it is looked at").evidence
    };
    assert_eq!(silent(true), "other programs left the devices to the run");
    assert!(silent(false).contains("not judged: their writes"));
    // One stage of several that can be judged.
    let mut run = run();
    others(0)(&mut run);
    let mut unknown = run.results[0].clone();
    unknown.devices.clear();
    run.results.insert(0, unknown);
    let mut checks = run_checks(&run.evidence(RunKind::Run)).into_iter();
    let found = checks.find(|check| check.id == "background-io");
    let evidence = found.expect("it is looked at").evidence;
    assert_eq!(evidence, "other programs left the devices to the run");
}

#[test]
fn what_is_not_what_was_there_at_the_start_is_told() {
    let change = |key: &str| format!("vdb: `{key}` was `1`, is `2`");
    check(Some("device-changed"), |run| {
        run.targets[0].changes = Some(vec![change("ro")]);
    });
    let evidence = |changes: Option<Vec<String>>| {
        let mut run = run();
        run.targets[0].changes = changes;
        let mut checks = run_checks(&run.evidence(RunKind::Run)).into_iter();
        let found = checks.find(|check| check.id == "device-changed");
        found.expect("it is looked at").evidence
    };
    let many = ["a", "b", "c", "d", "e"].map(change).to_vec();
    let expected =
        "vdb: `a` was `1`, is `2`; vdb: `b` was `1`, is `2`; vdb: `c` was `1`, is `2`; 2 more";
    assert_eq!(evidence(Some(many)), expected);
    let three = ["a", "b", "c"].map(change).to_vec();
    assert!(evidence(Some(three)).ends_with("vdb: `c` was `1`, is `2`"));
    assert!(evidence(None).starts_with("not judged"));
    check(None, |run| run.targets[0].changes = None);
}

#[test]
fn a_short_measurement_is_told() {
    check(Some("too-short"), |run| {
        run.results[0].measured = Nanos::from_millis(900);
    });
}

/// A job's own percentiles are printed too, unless it is shown with others as one.
#[test]
fn few_samples_of_one_job_are_told() {
    let few = |run: &mut Run, together: bool| {
        let jobs = &mut run.workload.stages[0].jobs;
        let mut other = jobs[0].clone();
        other.name = "later".to_owned();
        jobs.push(other);
        for job in jobs {
            job.group.together = together;
        }
        let mut reads = OpStats::new(false, false);
        for _ in 0..999 {
            reads.latency.record(1_000_000);
            reads.bytes += 4096;
        }
        let mut worker = WorkerStats::new(1, 0);
        worker.directions[0] = Some(reads);
        worker.measured = Nanos::new(SECOND / 4);
        worker.outstanding_ns = 999 * 1_000_000;
        run.results[0].workers.push(worker);
        run.results[0].devices[0].sectors[0] += 999 * 8;
    };
    check(Some("samples-for-percentile"), |run| few(run, false));
    check(None, |run| few(run, true));
}

#[test]
fn few_samples_are_told() {
    check(Some("samples-for-percentile"), |run| {
        let mut writes = OpStats::new(false, false);
        writes.latency.record(1);
        run.results[0].workers[0].directions[1] = Some(writes);
        let told = run_checks(&run.evidence(RunKind::Run))
            .into_iter()
            .map(|check| check.evidence);
        let told: Vec<_> = told.filter(|told| told.contains("p99 needs")).collect();
        assert!(
            told.iter().any(|told| told.contains(": 1 write")),
            "{told:?}"
        );
    });
}

#[test]
fn repeats_that_differ_are_told() {
    check(Some("repeat-spread"), |run| {
        let mut slower = run.results[0].clone();
        slower.measured = Nanos::new(20 * SECOND);
        run.results.push(slower);
    });
    check(None, |run| {
        let again = run.results[0].clone();
        run.results.push(again);
    });
}

#[test]
fn reads_of_what_was_never_written_are_told() {
    check(Some("unwritten-extents"), |run| {
        run.targets[0].unwritten_share = Some(0.5);
    });
}

#[test]
fn devices_that_hold_nothing_are_told() {
    check(Some("zeroes-read"), |run| {
        run.targets[0].zeroes_share = Some(0.4);
    });
    check(None, |run| run.targets[0].zeroes_share = Some(0.1));
}

#[test]
fn targets_in_memory_are_told() {
    let memory = [
        InMemory::FileSystem("tmpfs".into()),
        InMemory::Device("zram0".into()),
        InMemory::PageCache {
            device: "loop0".into(),
            file: "/tmp/image".into(),
        },
    ];
    for memory in memory {
        check(Some("in-memory"), |run| {
            run.targets[0].in_memory = Some(memory.clone());
        });
        check_of(RunKind::Predict, None, |run| {
            run.targets[0].in_memory = Some(memory);
        });
    }
}

#[test]
fn reads_that_no_device_saw_are_told() {
    check(Some("cache-served"), |run| {
        run.results[0].devices[0].sectors = [0, 0];
    });
}

/// Operations on files stand in place of reads, read nothing and keep no depth.
#[test]
fn operations_on_files_are_no_reads() {
    check(None, |run| {
        let job = &mut run.workload.stages[0].jobs[0];
        job.features.operation = Some(FileOperation::Stat(StatCall::Stat));
        job.depth = 8;
        run.results[0].devices[0].sectors = [0, 0];
        run.targets[0].unwritten_share = Some(1.0);
        run.targets[0].zeroes_share = Some(1.0);
    });
}

#[test]
fn a_busy_generator_is_told() {
    check(Some("generator-headroom"), |run| {
        run.results[0].workers[0].usage.user = Nanos::from_secs(9);
    });
}

/// Of 10 s measured.
#[test]
fn workers_that_wait_for_processors_are_told() {
    check(None, |run| {
        run.results[0].workers[0].usage.waited = Nanos::from_millis(1900);
    });
    check(Some("generator-headroom"), |run| {
        run.results[0].workers[0].usage.waited = Nanos::from_millis(2500);
    });
    // Nothing is asked of a queue that does nothing.
    check(None, |run| {
        run.workload.stages[0].jobs[0].backend = Backend::Null;
        run.results[0].workers[0].usage.waited = Nanos::from_millis(2500);
    });
}
