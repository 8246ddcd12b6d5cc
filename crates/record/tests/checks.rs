//! Every check is provoked once and stays silent once.

#[path = "checks/bounds.rs"]
mod bounds;
#[path = "checks/clock.rs"]
mod clock;
#[path = "checks/contents.rs"]
mod contents;
#[path = "checks/law.rs"]
mod law;
#[path = "checks/levels.rs"]
mod levels;

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
        name: "reads".to_owned(),
        stage: 0,
        started_unix_ns: 0,
        began: None,
        measured: Nanos::new(10 * SECOND),
        workers: vec![worker],
        intervals: vec![],
        storage: std::collections::BTreeMap::new(),
        others: None,
        devices: vec![DeviceCounters {
            name: "vdb".into(),
            sectors: [40_000 * 8, 0],
            ..DeviceCounters::default()
        }],
        limited_share: 0.0,
        notes: vec![],
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

/// What `cut-short` says of a run that was stopped after `change`, where it fails.
#[track_caller]
fn told_cut_short(expected: Option<&str>, change: impl FnOnce(&mut Run)) {
    let failed = cut_short(change).filter(|check| !check.passed);
    assert_eq!(failed.map(|check| check.evidence).as_deref(), expected);
}

/// What becomes of `cut-short` in a run that was stopped after `change`.
fn cut_short(change: impl FnOnce(&mut Run)) -> Option<Check> {
    let mut run = run();
    run.interrupted = true;
    run.results[0].workers[0].ended = EndReason::Interrupted;
    change(&mut run);
    let mut checks = run_checks(&run.evidence(RunKind::Run)).into_iter();
    checks.find(|check| check.id == "cut-short")
}

#[test]
fn a_run_of_which_less_than_half_was_measured_is_told() {
    let asked = |seconds| {
        move |run: &mut Run| {
            let limits = &mut run.workload.stages[0].jobs[0].limits;
            (limits.runtime, limits.time_based) = (Some(Nanos::from_secs(seconds)), true);
        }
    };
    told_cut_short(Some("reads: 10 s of 60 s were measured"), asked(60));
    told_cut_short(None, asked(20));
    // What nobody stopped may end when it will, and so may what was done before the stop.
    told_cut_short(None, |run| {
        asked(60)(run);
        run.interrupted = false;
    });
    for ended in [EndReason::Time, EndReason::Done, EndReason::TooSlow] {
        told_cut_short(None, |run| {
            asked(60)(run);
            run.results[0].workers[0].ended = ended;
        });
    }
    // 40,000 reads of 4 KiB.
    told_cut_short(Some("reads: 156 MiB of 1 GiB were moved"), |_| {});
    told_cut_short(None, |run| {
        run.workload.stages[0].jobs[0].limits.bytes = Some(Bytes::mib(200));
    });
    // Whatever would have ended it first counts.
    told_cut_short(None, |run| {
        asked(60)(run);
        let limits = &mut run.workload.stages[0].jobs[0].limits;
        (limits.time_based, limits.bytes) = (false, Some(Bytes::mib(200)));
    });
    told_cut_short(Some("reads: 40,000 of 100,000 I/Os were done"), |run| {
        run.workload.stages[0].jobs[0].limits.ios = Some(100_000);
    });
    told_cut_short(Some("1 of 4 repeats was measured"), |run| {
        asked(10)(run);
        run.workload.stages[0].repeats = 4;
    });
    told_cut_short(None, |run| {
        asked(10)(run);
        run.workload.stages[0].repeats = 2;
    });
    told_cut_short(Some("1 of 3 stages was measured"), |run| {
        asked(10)(run);
        let stage = run.workload.stages[0].clone();
        let prepares = Stage {
            discard: true,
            ..stage.clone()
        };
        run.workload.stages.extend([prepares, stage.clone(), stage]);
    });
}

#[test]
fn where_nobody_knows_how_much_was_asked_for_a_stop_is_not_judged() {
    let unknown = |begun: usize, asked: u32| {
        cut_short(move |run| {
            let stage = &mut run.workload.stages[0];
            stage.jobs[0].targets[0].length = None;
            stage.repeats = asked;
            let result = run.results[0].clone();
            run.results = vec![result; begun];
        })
        .map(|check| check.passed)
    };
    assert_eq!(unknown(1, 1), None);
    // Of three repeats the first is whole, and of the second nobody knows.
    assert_eq!(unknown(2, 3), None);
    assert_eq!(unknown(3, 4), Some(true));
    assert_eq!(unknown(2, 5), Some(false));
    // What ended by itself was whole.
    let whole = cut_short(|run| {
        run.workload.stages[0].jobs[0].targets[0].length = None;
        run.results[0].workers[0].ended = EndReason::Done;
    });
    assert!(whole.is_some_and(|check| check.passed));
}

#[test]
fn failed_io_is_told() {
    check(Some("io-errors"), |run| {
        run.results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
}

#[test]
fn a_job_below_its_minimum_is_told() {
    let least = |run: &mut Run| {
        run.workload.stages[0].jobs[0].features.minimum = Some(MinimumRates {
            rates: [Some(Pacing::Iops(Iops::new(5))), None, None],
            cycle: MinimumRates::CYCLE,
        });
    };
    check(None, least);
    check(Some("rates-kept-up"), |run| {
        least(run);
        run.results[0].workers[0].ended = EndReason::TooSlow;
    });
    // It was over before anything was judged.
    check(Some("rates-kept-up"), |run| {
        least(run);
        let minimum = run.workload.stages[0].jobs[0].features.minimum.as_mut();
        minimum.unwrap().cycle = Nanos::from_secs(60);
    });
    // What an error ended is told by the error alone.
    check(Some("io-errors"), |run| {
        least(run);
        let minimum = run.workload.stages[0].jobs[0].features.minimum.as_mut();
        minimum.unwrap().cycle = Nanos::from_secs(60);
        let worker = &mut run.results[0].workers[0];
        worker.ended = EndReason::Failed;
        worker.errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
}

#[test]
fn a_job_that_did_nothing_is_told() {
    let idle = |run: &mut Run| {
        let mut other = run.workload.stages[0].jobs[0].clone();
        other.name = "later".to_owned();
        other.features.minimum = None;
        run.workload.stages[0].jobs.push(other);
        let mut worker = WorkerStats::new(1, 0);
        worker.directions[0] = Some(OpStats::new(false, false));
        worker.measured = Nanos::new(10 * SECOND);
        worker.outstanding_ns = 4 * 10 * u128::from(SECOND);
        run.results[0].workers.push(worker);
    };
    for kind in [RunKind::Run, RunKind::Predict] {
        check_of(kind, Some("work-done"), idle);
    }
    // What failed is told by itself.
    check(Some("io-errors"), |run| {
        idle(run);
        run.results[0].workers[1].errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
    // One write is enough.
    check(Some("samples-for-percentile"), |run| {
        idle(run);
        let mut writes = OpStats::new(false, false);
        writes.latency.record(1_000_000);
        run.results[0].workers[1].directions[1] = Some(writes);
    });
}

#[test]
fn failures_without_a_word_of_the_kernel_are_told_in_ours() {
    let told = |errno| {
        let mut run = run();
        run.results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Write,
            operation: None,
            errno,
            count: 3,
            first_offsets: vec![],
        });
        run_checks(&run.evidence(RunKind::Run)).remove(0).evidence
    };
    assert_eq!(
        told(0),
        "3 I/Os failed, the first a write: transfer shorter than asked for"
    );
    assert_eq!(
        told(fathom_record::WRONG_DATA),
        "3 I/Os failed, the first a write: data that is not what was written (os error 84)"
    );
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
fn a_depth_not_reached_is_told() {
    check(Some("achieved-depth"), |run| {
        run.workload.stages[0].jobs[0].depth = 8;
    });
}

/// What to do is what the job does not do already.
#[test]
fn the_remedy_of_a_depth_not_reached_fits_its_cause() {
    #[track_caller]
    fn told(kind: RunKind, expected: &str, change: impl FnOnce(&mut Run)) {
        let mut run = run();
        run.workload.stages[0].jobs[0].depth = 8;
        change(&mut run);
        let checks = run_checks(&run.evidence(kind));
        let depth = checks.iter().find(|it| it.id == "achieved-depth");
        let depth = depth.expect("it runs always");
        assert!(
            !depth.passed && depth.remedy.starts_with(expected),
            "{depth:?}"
        );
        assert!(
            depth
                .remedy
                .ends_with("the figures are those of the lower depth")
        );
        let advises_engine = depth.remedy.contains("asynchronous engine");
        let is_asynchronous = run.workload.stages[0].jobs[0].backend != Backend::Sync;
        assert_ne!(advises_engine, is_asynchronous, "{depth:?}");
    }
    let buffered = |run: &mut Run| run.workload.stages[0].jobs[0].caching = Caching::Buffered;
    told(RunKind::Run, "use more workers, or a lower depth", |_| {});
    told(RunKind::Run, "use direct I/O, or more workers", buffered);
    told(RunKind::Run, "use direct I/O, or more workers", |run| {
        buffered(run);
        run.workload.stages[0].jobs[0].backend = Backend::Libaio;
    });
    told(
        RunKind::Run,
        "use more workers, or an asynchronous",
        |run| {
            run.workload.stages[0].jobs[0].backend = Backend::Sync;
            run.results[0].workers[0].outstanding_ns = 5 * u128::from(SECOND);
        },
    );
    told(RunKind::Run, "give the container more", |run| {
        buffered(run);
        run.results[0].limited_share = 0.06;
    });
    told(RunKind::Run, "use no more workers than", |run| {
        buffered(run);
        run.results[0].workers[0].usage.waited = Nanos::new(3 * SECOND);
    });
    told(RunKind::Predict, "measure longer, or ask for", buffered);
}

#[test]
fn figures_that_contradict_each_other_are_told() {
    check(Some("littles-law"), |run| {
        run.results[0].workers[0].outstanding_ns = 5 * 10 * u128::from(SECOND);
    });
}

/// A disk that stands still over the end of warm-up: all of that I/O's latency counts, and only the rest of its time.
#[test]
fn an_io_in_flight_at_the_end_of_warm_up_contradicts_nothing() {
    let stands_still = |run: &mut Run| {
        let reads = run.results[0].workers[0].directions[0].as_mut();
        reads.expect("it reads").latency.record(6 * SECOND);
        run.results[0].workers[0].outstanding_ns += u128::from(SECOND / 2);
    };
    check(Some("littles-law"), stands_still);
    check(None, |run| {
        stands_still(run);
        run.workload.stages[0].jobs[0].limits.warmup = Nanos::from_secs(1);
    });
}

/// What took the place of a read is told by its own name.
#[test]
fn failed_operations_are_told_by_name() {
    use fathom_record::FailedOperation::OnFile;
    let stat = FileOperation::Stat(StatCall::Stat);
    let error = IoErrors {
        direction: Direction::Read,
        operation: Some(OnFile(stat, Direction::Read)),
        errno: 2,
        count: 1,
        first_offsets: Vec::new(),
    };
    assert_eq!(error.name(), "stat");
    assert!(error.is_of_direction());
    let fallocate = OnFile(FileOperation::Allocate, Direction::Trim);
    assert_eq!(fallocate.name(), "punch-hole");
}

/// Failed I/Os were outstanding, and are in no latency: they are told, and the figures do not contradict each other.
#[test]
fn failed_ios_do_not_make_the_figures_contradict_each_other() {
    check(Some("io-errors"), |run| {
        let worker = &mut run.results[0].workers[0];
        worker.outstanding_ns = 5 * 10 * u128::from(SECOND);
        worker.errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 300,
            first_offsets: vec![(0, 4096)],
        });
    });
}

/// A prediction knows its figures exactly: a hundredth off passes in a measurement, not there.
#[test]
fn predicted_figures_that_contradict_each_other_are_told() {
    let hundredth = |run: &mut Run| {
        run.results[0].workers[0].outstanding_ns = 404 * u128::from(SECOND) / 10;
    };
    check(None, hundredth);
    check_of(RunKind::Predict, Some("littles-law"), hundredth);
    let within = |run: &mut Run| {
        run.results[0].workers[0].outstanding_ns = 4012 * u128::from(SECOND) / 100;
    };
    check_of(RunKind::Predict, None, within);
    // Storage that answers at once has nothing outstanding, which is no contradiction.
    check_of(RunKind::Predict, Some("achieved-depth"), |run| {
        let worker = &mut run.results[0].workers[0];
        worker.outstanding_ns = 0;
        let reads = worker.directions[0].as_mut().expect("it reads");
        let mut at_once = fathom_stats::Histogram::new();
        (0..reads.latency.count()).for_each(|_| at_once.record(0));
        reads.latency = at_once;
    });
    // I/Os of up to 200 ms were in flight when warm-up ended.
    check_of(RunKind::Predict, None, |run| {
        hundredth(run);
        run.workload.stages[0].jobs[0].limits.warmup = Nanos::from_secs(1);
        let reads = run.results[0].workers[0].directions[0].as_mut();
        reads.expect("it reads").latency.record(200_000_000);
    });
}

#[test]
fn a_prediction_of_few_latencies_is_not_judged_by_the_law() {
    check_of(RunKind::Predict, None, |run| {
        let mut reads = OpStats::new(false, false);
        for _ in 0..1500 {
            reads.latency.record(26_666_667);
            reads.bytes += 4096;
        }
        run.results[0].workers[0].directions[0] = Some(reads);
        run.results[0].workers[0].outstanding_ns = 42 * u128::from(SECOND);
    });
}

fn open_loop(run: &mut Run, rate: Pacing) {
    run.workload.stages[0].jobs[0].arrival = Arrival::Open {
        rate,
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    };
    run.results[0].workers[0].ended = EndReason::Time;
}

#[test]
fn a_schedule_not_kept_is_told() {
    let ios = |rate| Pacing::Iops(Iops::new(rate));
    check(Some("schedule-lag"), |run| open_loop(run, ios(5000)));
    check(None, |run| open_loop(run, ios(4000)));
    let bytes = |rate| Pacing::Bytes(BytesPerSec::new(rate));
    check(Some("schedule-lag"), |run| {
        open_loop(run, bytes(5000 * 4096));
    });
    check(None, |run| open_loop(run, bytes(4000 * 4096)));
    // One that the user stopped ran against time as well; one that had done all that it was to did not.
    for (ended, expected) in [
        (EndReason::Interrupted, Some("schedule-lag")),
        (EndReason::Done, None),
    ] {
        check(expected, |run| {
            open_loop(run, ios(5000));
            run.results[0].workers[0].ended = ended;
        });
    }
    // Of 40,000 I/Os with drawn gaps, 600 more or less are chance.
    for (rate, expected) in [(4050, None), (4100, Some("schedule-lag"))] {
        check(expected, |run| {
            open_loop(run, ios(rate));
            let Arrival::Open { poisson, .. } = &mut run.workload.stages[0].jobs[0].arrival else {
                unreachable!("it was made open");
            };
            *poisson = Poisson::Exponential;
        });
    }
}

/// A trace's last I/O ends when it is due, or some time later.
#[test]
fn a_trace_that_is_not_kept_up_with_is_told() {
    for (before_the_end_ms, expected) in [(0, None), (450, None), (600, Some("schedule-lag"))] {
        check(expected, |run| {
            let worker = &mut run.results[0].workers[0];
            let before = Nanos::from_millis(before_the_end_ms);
            worker.intended_end = Some(worker.measured.saturating_sub(before));
        });
    }
}

/// Rates of single directions, and rates that follow one another.
#[test]
fn a_schedule_of_many_rates_not_kept_is_told() {
    let ios = |rate| Some(Pacing::Iops(Iops::new(rate)));
    let of_reads = |rate| {
        move |run: &mut Run| {
            run.workload.stages[0].jobs[0].features.rates = Some(DirectionRates {
                // Of writes, which the job does not do, nothing is asked.
                rates: [ios(rate), ios(1_000_000), None],
                poisson: Poisson::Fixed,
            });
            run.results[0].workers[0].ended = EndReason::Time;
        }
    };
    check(Some("schedule-lag"), of_reads(5000));
    check(None, of_reads(4000));
    let steps = |rates: [u64; 2]| {
        move |run: &mut Run| {
            open_loop(run, Pacing::Iops(Iops::new(1)));
            let job = &mut run.workload.stages[0].jobs[0];
            job.limits.runtime = Some(Nanos::from_secs(10));
            job.features.rate_steps = Some(Box::new(RateSteps {
                steps: Vec::from(rates.map(|rate| RateStep {
                    rate: ios(rate),
                    length: Nanos::from_secs(1),
                })),
                together: false,
            }));
        }
    };
    check(Some("schedule-lag"), steps([3000, 6000]));
    check(None, |run| {
        steps([3000, 6000])(run);
        run.results[0].workers[0].ended = EndReason::Interrupted;
    });
    check(None, steps([3000, 5000]));
}

/// What holds itself back has no depth to keep.
#[test]
fn a_depth_is_asked_of_closed_loops_without_pauses_alone() {
    let shallow = |run: &mut Run| run.workload.stages[0].jobs[0].depth = 8;
    check(None, |run| {
        shallow(run);
        run.workload.stages[0].jobs[0].features.think = Some(ThinkTime {
            pause: Nanos::from_millis(5),
            spin: Nanos::ZERO,
            every: 1,
            counts: ThinkCounts::Completed,
            after: Nanos::ZERO,
            stops_rate: false,
        });
    });
    check(None, |run| {
        shallow(run);
        run.workload.stages[0].jobs[0].features.rates = Some(DirectionRates {
            rates: [Some(Pacing::Iops(Iops::new(4000))), None, None],
            poisson: Poisson::Fixed,
        });
    });
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
