//! The bounds of the checks, from both sides of each, and what each of their terms leaves out.

use fathom_record::{FailedOperation, SetStats, Verdict, verdict};
use fathom_workload::{
    Access, FileTask, FileWork, Job, Mix, Replay, SequentialScope, SetFormat, SetOperation,
};

use super::cut_short::{cut_short, told_cut_short};
use super::pace::open_loop;
use super::*;

pub(super) const MILLIS: u64 = 1_000_000;

/// What the check `id` says of a run after `change`.
#[track_caller]
pub(super) fn said(kind: RunKind, id: &str, change: impl FnOnce(&mut Run)) -> Check {
    let mut run = run();
    change(&mut run);
    let mut checks = run_checks(&run.evidence(kind)).into_iter();
    checks.find(|check| check.id == id).expect("it is there")
}

/// Whether the check `id` of a real run fails after `change`.
#[track_caller]
pub(super) fn fails(id: &str, change: impl FnOnce(&mut Run)) -> bool {
    !said(RunKind::Run, id, change).passed
}

/// So many I/Os of so long.
pub(super) fn ios(count: u64, each: u64) -> OpStats {
    let mut stats = OpStats::new(false, false);
    stats.latency.record_many(each, count);
    stats.bytes = count * 4096;
    stats
}

/// The job works on a file set in place of its reads.
fn works_on_files(run: &mut Run, task: FileTask) {
    let work = FileWork::new(task);
    run.workload.stages[0].jobs[0].features.file_work = Some(Box::new(work));
}

/// The job's worker has another beside it, like it but for `change`.
pub(super) fn second_worker(run: &mut Run, change: impl FnOnce(&mut WorkerStats)) {
    let mut worker = run.results[0].workers[0].clone();
    worker.worker = 1;
    change(&mut worker);
    run.results[0].workers.push(worker);
}

#[test]
fn failures_are_counted_and_called_by_their_kind() {
    let stat = FileOperation::Stat(StatCall::Stat);
    let told = |counts: &[u64], on_file: bool| {
        let operation = on_file.then_some(FailedOperation::OnFile(stat, Direction::Read));
        let check = said(RunKind::Run, "io-errors", |run| {
            let errors = counts.iter().map(|count| IoErrors {
                direction: Direction::Read,
                operation,
                errno: 5,
                count: *count,
                first_offsets: Vec::new(),
            });
            run.results[0].workers[0].errors = errors.collect();
        });
        let (what, _) = check.evidence.split_once(':').expect("with its reason");
        what.to_owned()
    };
    assert_eq!(told(&[1], false), "1 I/O failed, the first a read");
    assert_eq!(told(&[1, 2], false), "3 I/Os failed, the first a read");
    assert_eq!(told(&[1], true), "1 operation failed, the first a stat");
    assert_eq!(told(&[2], true), "2 operations failed, the first a stat");
}

/// Asked for so many reads a second, of which there were 4,000.
fn paced(rate: u64, change: impl FnOnce(&mut Run)) -> bool {
    fails("schedule-lag", |run| {
        open_loop(run, Pacing::Iops(Iops::new(rate)));
        change(run);
    })
}

fn drawn(run: &mut Run, process: Poisson) {
    if let Arrival::Open { poisson, .. } = &mut run.workload.stages[0].jobs[0].arrival {
        *poisson = process;
    }
}

#[test]
fn a_schedule_is_held_to_a_hundredth() {
    assert!(!paced(4035, |_| {}) && paced(4045, |_| {}));
    // Three standard deviations of 40,000 drawn gaps are 1.5 %; of 640,000 less than 1 %, and that is let go then.
    for process in [Poisson::Exponential, Poisson::Uniform] {
        assert!(!paced(4055, |run| drawn(run, process)));
        assert!(paced(4065, |run| drawn(run, process)));
    }
    let many = |run: &mut Run| {
        run.results[0].workers[0].directions[0] = Some(ios(640_000, MILLIS));
        drawn(run, Poisson::Exponential);
    };
    assert!(!paced(64_500, many) && paced(64_800, many));
    // Rates of single directions are drawn by their own.
    let of_reads = |rate: u64, poisson: Poisson| {
        paced(1, |run| {
            run.workload.stages[0].jobs[0].features.rates = Some(DirectionRates {
                rates: [Some(Pacing::Iops(Iops::new(rate))), None, None],
                poisson,
            });
        })
    };
    assert!(!of_reads(4055, Poisson::Exponential) && of_reads(4055, Poisson::Fixed));
    assert!(of_reads(4065, Poisson::Exponential) && !of_reads(4035, Poisson::Fixed));
}

#[test]
fn a_schedule_is_judged_over_half_a_second_that_nothing_else_ended() {
    let measured = |millis: u64| {
        paced(1_000_000, |run| {
            run.results[0].workers[0].measured = Nanos::from_millis(millis);
        })
    };
    assert!(measured(500) && !measured(499));
    for (ended, expected) in [
        (EndReason::Time, true),
        (EndReason::Failed, false),
        (EndReason::TooSlow, false),
    ] {
        let found = paced(5000, |run| run.results[0].workers[0].ended = ended);
        assert_eq!(found, expected, "{ended:?}");
    }
}

#[test]
fn a_schedule_is_that_of_all_workers_and_of_its_direction() {
    assert!(paced(5000, |run| second_worker(run, |_| {})));
    assert!(!paced(4000, |run| second_worker(run, |_| {})));
    // Writes beside them are not the reads asked for.
    assert!(paced(1, |run| {
        run.results[0].workers[0].directions[1] = Some(ios(40_000, MILLIS));
        run.workload.stages[0].jobs[0].features.rates = Some(DirectionRates {
            rates: [Some(Pacing::Iops(Iops::new(5000))), None, None],
            poisson: Poisson::Fixed,
        });
    }));
}

/// Half a second, and a hundredth of the time that it came over.
#[test]
fn a_trace_is_late_by_both_bounds() {
    let late = |due: u64, by: u64| {
        fails("schedule-lag", |run| {
            let worker = &mut run.results[0].workers[0];
            worker.intended_end = Some(Nanos::from_millis(due));
            worker.measured = Nanos::from_millis(due + by);
        })
    };
    assert!(late(10_000, 501) && !late(10_000, 500));
    assert!(late(100_000, 1001) && !late(100_000, 1000));
}

#[test]
fn a_second_of_every_stage_is_asked_for() {
    let short = |millis: u64| {
        fails("too-short", |run| {
            let mut later = run.results[0].clone();
            later.measured = Nanos::from_millis(millis);
            run.results.push(later);
        })
    };
    assert!(short(999) && !short(1000));
}

/// A trace ends where it ends: nobody can measure longer.
#[test]
fn a_trace_that_is_too_short_is_not_to_be_measured_longer() {
    let remedy = |id: &str, replays: bool| {
        let told = said(RunKind::Run, id, |run| {
            run.results[0].measured = Nanos::from_millis(1);
            run.results[0].workers[0].directions[0] = Some(ios(1, MILLIS));
            if replays {
                let jobs = run.workload.stages.iter_mut();
                for job in jobs.flat_map(|stage| &mut stage.jobs) {
                    job.features.replay = Some(Replay::default());
                }
            }
        });
        assert!(!told.passed, "{id}");
        told.remedy
    };
    for id in ["too-short", "samples-for-percentile"] {
        assert!(remedy(id, true).starts_with("replay a longer"), "{id}");
        assert!(remedy(id, false).starts_with("measure longer"), "{id}");
    }
}

#[test]
fn a_thousand_ios_of_each_kind_are_asked_for() {
    let few = |count: u64| {
        fails("samples-for-percentile", |run| {
            run.results[0].workers[0].directions[1] = Some(ios(count, MILLIS));
        })
    };
    assert!(few(1) && few(999));
    assert!(!few(1000) && !few(0));
}

/// Repeats of 10 s and of `second`; the same of another stage where `other` says of how long.
fn repeats(second: u64, other: Option<u64>) -> Check {
    said(RunKind::Run, "repeat-spread", |run| {
        let repeat = |run: &mut Run, stage: usize, millis: u64| {
            let mut again = run.results[0].clone();
            again.stage = stage;
            again.measured = Nanos::from_millis(millis);
            run.results.push(again);
        };
        repeat(run, 0, second);
        if let Some(other) = other {
            let mut stage = run.workload.stages[0].clone();
            "later".clone_into(&mut stage.name);
            run.workload.stages.push(stage);
            repeat(run, 1, 20_000);
            repeat(run, 1, 20 * other);
        }
    })
}

/// Two repeats that are 1.57 % of their mean apart have an interval of ± 10 %: 12.706 of Student, over √2 twice.
#[test]
fn repeats_are_held_to_a_tenth() {
    assert!(repeats(10_150, None).passed);
    let wide = repeats(10_165, None);
    assert_eq!(wide.evidence, "reads: IOPS ± 10 % (95 %) over 2 repeats");
    // Other stages have other rates, and the widest of several is told.
    assert!(repeats(10_000, Some(1000)).passed);
    let told = |check: Check| check.evidence;
    assert_eq!(
        told(repeats(10_300, Some(1020))),
        "reads: IOPS ± 19 % (95 %) over 2 repeats; 1 more over 10 %"
    );
    assert_eq!(
        told(repeats(10_200, Some(1030))),
        "later: IOPS ± 19 % (95 %) over 2 repeats; 1 more over 10 %"
    );
}

#[test]
fn one_check_that_fails_is_enough_to_doubt() {
    let of = |change: fn(&mut Run)| {
        let mut run = run();
        change(&mut run);
        verdict(&run_checks(&run.evidence(RunKind::Run)), &run.results)
    };
    assert_eq!(of(|_| {}), Verdict::Trustworthy);
    assert_eq!(
        of(|run| run.results[0].measured = Nanos::from_millis(900)),
        Verdict::Questionable
    );
    assert_eq!(
        of(|run| run.results[0].workers[0].directions[0] = None),
        Verdict::Empty
    );
    assert_eq!(of(|run| run.results.clear()), Verdict::Empty);
}

#[test]
fn a_job_did_something_where_any_of_its_workers_did() {
    let idle = |change: fn(&mut Run)| {
        let mut run = run();
        run.results[0].workers[0].directions[0] = None;
        change(&mut run);
        let checks = run_checks(&run.evidence(RunKind::Run));
        checks.iter().any(|check| check.id == "work-done")
    };
    assert!(idle(|_| {}));
    assert!(!idle(|run| {
        second_worker(run, |worker| worker.directions[0] = Some(ios(1, MILLIS)));
    }));
    assert!(!idle(|run| {
        run.results[0].workers[0].sync = Some(ios(1, MILLIS));
    }));
    assert!(!idle(|run| {
        let mut set = SetStats::new(&[SetOperation::Create], false);
        set.0[0].1 = ios(1, MILLIS);
        run.results[0].workers[0].set = set;
    }));
    assert!(idle(|run| works_on_files(run, FileTask::Create)));
    // A format may find everything there.
    assert!(!idle(|run| works_on_files(
        run,
        FileTask::Format(SetFormat::Complete)
    )));
}

/// What is judged after two seconds and a cycle.
#[test]
fn a_minimum_is_judged_after_a_cycle() {
    let unjudged = |cycle: u64| {
        fails("rates-kept-up", |run| {
            run.workload.stages[0].jobs[0].features.minimum = Some(MinimumRates {
                rates: [Some(Pacing::Iops(Iops::new(5))), None, None],
                cycle: Nanos::from_millis(cycle),
            });
        })
    };
    assert!(!unjudged(8000) && unjudged(8001));
}

/// At depth 4, so many I/Os were outstanding, in hundredths.
fn depth(hundredths: u64, change: impl FnOnce(&mut Run)) -> bool {
    fails("achieved-depth", |run| {
        run.results[0].workers[0].outstanding_ns = u128::from(hundredths * SECOND / 10);
        change(run);
    })
}

#[test]
fn nine_tenths_of_the_depth_are_asked_for() {
    assert!(!depth(360, |_| {}) && depth(359, |_| {}));
    assert!(depth(290, |_| {}));
    // What works on files, or does nothing, has none to keep.
    assert!(!depth(10, |run| {
        let work = FileWork::new(FileTask::Create);
        run.workload.stages[0].jobs[0].features.file_work = Some(Box::new(work));
    }));
    assert!(!depth(10, |run| {
        let operation = FileOperation::Stat(StatCall::Stat);
        run.workload.stages[0].jobs[0].features.operation = Some(operation);
    }));
    assert!(!depth(10, |run| {
        run.workload.stages[0].jobs[0].backend = Backend::Null;
    }));
    // A tenth of a second, of every worker.
    let measured = |millis: u64| {
        depth(1, move |run| {
            run.results[0].workers[0].measured = Nanos::from_millis(millis);
            second_worker(run, |worker| worker.measured = Nanos::from_secs(1));
        })
    };
    assert!(measured(100) && !measured(99));
    // Over the time of each worker: 40 I/O-seconds in 10 s, and 2 in half a one.
    assert!(!depth(400, |run| {
        second_worker(run, |worker| {
            worker.measured = Nanos::from_millis(500);
            worker.outstanding_ns = 2 * u128::from(SECOND);
        });
    }));
}

#[test]
fn a_generator_is_busy_from_four_fifths_on() {
    let busy = |user: u64, change: fn(&mut Run)| {
        fails("generator-headroom", |run| {
            run.results[0].workers[0].usage.user = Nanos::from_millis(user);
            change(run);
        })
    };
    assert!(!busy(8000, |_| {}) && busy(8001, |_| {}));
    // One of several is enough.
    assert!(busy(1, |run| second_worker(run, |worker| {
        worker.usage.user = Nanos::from_secs(9);
    })));
    // Ticks of the kernel's clock are four milliseconds or ten.
    assert!(!busy(99, |run| {
        run.results[0].workers[0].measured = Nanos::from_millis(100);
    }));
    assert!(busy(100, |run| {
        run.results[0].workers[0].measured = Nanos::from_millis(101);
    }));
    let waited = |millis: u64| {
        fails("generator-headroom", |run| {
            run.results[0].workers[0].usage.waited = Nanos::from_millis(millis);
        })
    };
    assert!(!waited(2000) && waited(2001));
    let limited = |share: f64| {
        fails("processor-limit", |run| {
            run.results[0].limited_share = share;
        })
    };
    assert!(!limited(0.05) && limited(0.0501));
}

#[test]
fn unwritten_extents_and_zeroes_matter_to_who_reads() {
    let unwritten = |share: f64, change: fn(&mut Run)| {
        fails("unwritten-extents", |run| {
            run.targets[0].unwritten_share = Some(share);
            change(run);
        })
    };
    assert!(!unwritten(0.01, |_| {}) && unwritten(0.011, |_| {}));
    let zeroes = |share: f64, change: fn(&mut Run)| {
        fails("zeroes-read", |run| {
            run.targets[0].zeroes_share = Some(share);
            change(run);
        })
    };
    assert!(!zeroes(0.1, |_| {}) && zeroes(0.11, |_| {}));
    let writes = |run: &mut Run| run.results[0].workers[0].directions.swap(0, 1);
    assert!(!unwritten(1.0, writes) && !zeroes(1.0, writes));
    // Of several targets any will do.
    let second = |run: &mut Run| {
        let sound = TargetFacts {
            unwritten_share: None,
            zeroes_share: None,
            ..run.targets[0].clone()
        };
        run.targets.insert(0, sound);
    };
    assert!(unwritten(1.0, second) && zeroes(1.0, second));
}

/// Devices saw so many percent of the bytes read.
fn seen(percent: u64, change: impl FnOnce(&mut Run)) -> Check {
    said(RunKind::Run, "cache-served", |run| {
        run.results[0].devices[0].sectors[0] = 40_000 * 8 * percent / 100;
        change(run);
    })
}

#[test]
fn nearly_all_that_is_read_is_asked_of_devices() {
    let fails = |percent, change: fn(&mut Run)| !seen(percent, change).passed;
    assert!(!fails(95, |_| {}) && fails(94, |_| {}));
    // Several devices together; what they wrote is none of it.
    assert!(!fails(50, |run| {
        let device = run.results[0].devices[0].clone();
        run.results[0].devices.push(device);
    }));
    assert!(fails(50, |run| run.results[0].devices[0].sectors[1] = 40_000 * 8));
    // What goes through the page cache, or to no file, is not asked for.
    assert!(!fails(0, |run| {
        run.workload.stages[0].jobs[0].caching = Caching::Buffered;
    }));
    assert!(!fails(0, |run| run.workload.stages[0].jobs[0].backend =
        Backend::Nbd));
    assert!(!fails(0, |run| run.results[0].devices.clear()));
    // Nor so little that what else is read decides.
    let reads = |count: u64| {
        let check = seen(0, |run| {
            run.results[0].workers[0].directions[0] = Some(ios(count, MILLIS));
        });
        !check.passed
    };
    assert!(!reads(256) && reads(257));
    let words = "the devices saw the bytes that were read";
    assert_eq!(seen(100, |_| {}).evidence, words);
    let unknown = seen(100, |run| run.results[0].devices.clear());
    assert!(unknown.evidence.starts_with("not judged: "), "{unknown:?}");
    assert_eq!(
        seen(60, |_| {}).evidence,
        "reads: 40 % of the bytes read never reached a device"
    );
}

/// Of the stages of a run, any may have a clock that was given up; and a reading of 100 ns is a slow one.
#[test]
fn a_clock_is_judged_in_every_stage() {
    assert!(fails("clock-source", |run| {
        let mut later = run.results[0].clone();
        later.workers[0].clock_deviated = true;
        run.results.push(later);
    }));
    let reading = |nanos: u64| {
        fails("clock-source", |run| {
            run.results[0].workers[0].directions[0] = Some(ios(40_000, 2000));
            run.clock = Some(MachineClock {
                source: "tsc".to_owned(),
                reading: Nanos::new(nanos),
            });
        })
    };
    assert!(reading(100) && !reading(99));
}

/// What others did beside writes of the run, of which nothing was read.
#[test]
fn others_are_judged_beside_runs_that_write_alone() {
    let told = |change: fn(&mut OtherIo)| {
        said(RunKind::Run, "background-io", |run| {
            run.workload.stages[0].jobs[0].mix = Mix::WRITE;
            run.results[0].workers[0].directions.swap(0, 1);
            let mut others = OtherIo {
                devices: vec!["vdb".to_owned()],
                own: [0, 40_000 * 4096],
                bytes: [0, 0],
                ios: [0, 40_000],
                writes_known: true,
                over: Nanos::new(10 * SECOND),
            };
            change(&mut others);
            run.results[0].others = Some(others);
        })
    };
    assert!(told(|_| {}).passed);
    assert!(!told(|others| others.bytes[1] = 90 << 20).passed);
    // Small reads, of which the run has none.
    assert!(!told(|others| (others.ios[0], others.bytes[0]) = (8000, 1 << 20)).passed);
    // Its writes are not known from those of others, and its reads are.
    let unknown = |others: &mut OtherIo| {
        (others.writes_known, others.bytes) = (false, [90 << 20, 90 << 20]);
    };
    let check = told(unknown);
    assert!(
        !check.passed && !check.evidence.contains("wrote"),
        "{check:?}"
    );
    // Of which stage nothing is known, that is said.
    let unjudged = said(RunKind::Run, "background-io", |run| {
        run.workload.stages[0].jobs[0].caching = Caching::Buffered;
    });
    let words = "not judged: what goes through the page cache";
    assert!(unjudged.evidence.starts_with(words), "{unjudged:?}");
}

/// A direction is the run's own where any of its jobs has it.
#[test]
fn directions_of_any_job_are_the_runs_own() {
    let found = fails("background-io", |run| {
        let stage = &mut run.workload.stages[0];
        let mut writer = stage.jobs[0].clone();
        (writer.name, writer.mix) = ("writes".to_owned(), Mix::WRITE);
        stage.jobs.push(writer);
        let mut worker = run.results[0].workers[0].clone();
        (worker.job, worker.directions[1]) = (1, worker.directions[0].take());
        run.results[0].workers.push(worker);
        run.results[0].others = Some(OtherIo {
            devices: vec!["vdb".to_owned()],
            own: [40_000 * 4096, 4096],
            bytes: [0, 1 << 20],
            ios: [40_000, 8000],
            writes_known: true,
            over: Nanos::new(10 * SECOND),
        });
    });
    assert!(!found);
}

/// A size or a count ends a job where it is not to go on for its time.
#[test]
fn a_job_that_goes_on_for_its_time_is_ended_by_nothing_else() {
    let for_a_minute = |time_based: bool, bytes: Option<Bytes>, count: Option<u64>| {
        move |run: &mut Run| {
            let limits = &mut run.workload.stages[0].jobs[0].limits;
            (limits.runtime, limits.time_based) = (Some(Nanos::from_secs(60)), time_based);
            (limits.bytes, limits.ios) = (bytes, count);
        }
    };
    let words = Some("reads: 10 s of 60 s were measured");
    let most = Some(Bytes::mib(200));
    told_cut_short(words, for_a_minute(true, most, None));
    told_cut_short(None, for_a_minute(false, most, None));
    told_cut_short(words, for_a_minute(true, None, Some(50_000)));
    told_cut_short(None, for_a_minute(false, None, Some(50_000)));
}

#[test]
fn each_worker_and_each_pass_has_all_to_do() {
    told_cut_short(Some("reads: 156 MiB of 3 GiB were moved"), |run| {
        run.workload.stages[0].jobs[0].limits.loops = 3;
    });
    let two = |run: &mut Run| {
        run.workload.stages[0].jobs[0].workers = 2;
        second_worker(run, |_| {});
    };
    told_cut_short(Some("reads: 312 MiB of 2 GiB were moved"), two);
    told_cut_short(Some("reads: 312 MiB of 1 GiB were moved"), |run| {
        two(run);
        run.workload.stages[0].jobs[0].access = Access::Sequential {
            scope: SequentialScope::Shared,
            gap: Bytes::ZERO,
        };
    });
    told_cut_short(Some("reads: 80,000 of 200,000 I/Os were done"), |run| {
        two(run);
        run.workload.stages[0].jobs[0].limits.ios = Some(100_000);
    });
    // The one that was measured longest tells how far the job had come.
    told_cut_short(None, |run| {
        second_worker(run, |worker| worker.measured = Nanos::from_secs(1));
        let limits = &mut run.workload.stages[0].jobs[0].limits;
        (limits.runtime, limits.time_based) = (Some(Nanos::from_secs(15)), true);
    });
}

/// What work on files moves, and what a warm-up moved, is of no size that is known.
#[test]
fn what_has_no_size_is_not_cut_short() {
    let found = |change: fn(&mut Job)| {
        let check = cut_short(|run| change(&mut run.workload.stages[0].jobs[0]));
        check.map(|check| check.passed)
    };
    assert_eq!(found(|_| {}), Some(false));
    assert_eq!(found(|job| job.limits.warmup = Nanos::from_secs(1)), None);
    assert_eq!(found(|job| job.features.warmup_bytes = Bytes::mib(1)), None);
    assert_eq!(
        found(|job| job.features.replay = Some(Replay::default())),
        None
    );
    let stat = |job: &mut Job| {
        job.features.operation = Some(FileOperation::Stat(StatCall::Stat));
    };
    assert_eq!(found(stat), None);
    let creates = |job: &mut Job| {
        job.features.file_work = Some(Box::new(FileWork::new(FileTask::Create)));
    };
    assert_eq!(found(creates), None);
}

#[test]
fn the_job_that_had_come_least_far_is_told() {
    told_cut_short(Some("b in reads: 10 s of 60 s were measured"), |run| {
        let stage = &mut run.workload.stages[0];
        let for_time = |job: &mut Job, seconds| {
            (job.limits.runtime, job.limits.time_based) = (Some(Nanos::from_secs(seconds)), true);
        };
        let mut other = stage.jobs[0].clone();
        other.name = "b".to_owned();
        for_time(&mut stage.jobs[0], 15);
        for_time(&mut other, 60);
        stage.jobs.push(other);
        second_worker(run, |worker| worker.job = 1);
    });
}
