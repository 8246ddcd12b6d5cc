//! Rates that change within a stage: `steady-state` and `cache-cliff`.

use fathom_record::{IntervalStats, OverTimeRecord, SetStats, SteadyOutcome, StorageRecord};
use fathom_workload::{
    AccessLine, AfterFound, Checksum, FileTask, FileWork, Flow, Job, LatencyTarget, Replay,
    SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState, SyncPolicy, Validate, Verify,
};

use super::*;

/// The run did so many reads in each of its seconds, at depth 4.
fn seconds(run: &mut Run, rates: &[u64]) {
    let result = &mut run.results[0];
    let mut all = OpStats::new(false, false);
    let mut busy = 0;
    result.intervals.clear();
    for (second, ios) in (1..).zip(rates) {
        let mut reads = OpStats::new(false, false);
        reads.latency.record_many(4 * SECOND / (*ios).max(1), *ios);
        reads.bytes = ios * 4096;
        all.merge(&reads);
        busy += u128::from(*ios > 0);
        result.intervals.push(IntervalStats {
            at: Nanos::from_secs(second),
            length: Nanos::from_secs(1),
            directions: [Some(reads), None, None],
            set: SetStats::default(),
        });
    }
    result.measured = Nanos::from_secs(rates.len() as u64);
    result.devices[0].sectors = [all.bytes / 512, 0];
    let worker = &mut result.workers[0];
    worker.measured = result.measured;
    worker.outstanding_ns = 4 * busy * u128::from(SECOND);
    worker.directions[0] = Some(all);
}

fn two_levels() -> Vec<u64> {
    [vec![8000; 37], vec![2000; 23]].concat()
}

/// From one rate to another in a minute.
fn drift(from: u64, to: u64) -> Vec<u64> {
    (0..60)
        .map(|at| (from * (59 - at) + to * at) / 59)
        .collect()
}

/// What the two checks say after `change`, `steady-state` first.
fn told(kind: RunKind, change: impl FnOnce(&mut Run)) -> [Check; 2] {
    let mut run = run();
    change(&mut run);
    let checks = run_checks(&run.evidence(kind));
    ["steady-state", "cache-cliff"].map(|id| {
        let found = checks.iter().find(|check| check.id == id);
        found.cloned().expect("the check is there")
    })
}

#[track_caller]
fn says(check: &Check, passed: bool, words: &str) {
    assert_eq!((check.passed, check.evidence.as_str()), (passed, words));
}

#[test]
fn two_levels_of_a_rate_are_a_cliff() {
    check(Some("cache-cliff"), |run| seconds(run, &two_levels()));
    let [steady, cliff] = told(RunKind::Run, |run| seconds(run, &two_levels()));
    let words =
        "reads: reads 8,000 IOPS for 37 s, then 2,000 IOPS (0.25 ×); p99 500 µs before, 2 ms after";
    says(&cliff, false, words);
    let words = "not judged: reads: two levels, as `cache-cliff` tells";
    says(&steady, true, words);
    // A cache that is warm by then is one too.
    check(Some("cache-cliff"), |run| {
        seconds(run, &[vec![500; 12], vec![4000; 30]].concat());
    });
    // A dip, and a level that hardly lasts.
    check(None, |run| {
        let dip = [vec![8000; 27], vec![2000; 1], vec![8000; 32]];
        seconds(run, &dip.concat());
    });
    check(None, |run| {
        seconds(run, &[vec![8000; 58], vec![6000; 2]].concat());
    });
}

/// Seconds count from the first I/O measured, whatever came before it in the stage.
#[test]
fn a_cliff_is_told_by_the_time_of_the_measurement() {
    let [_, cliff] = told(RunKind::Run, |run| {
        seconds(run, &two_levels());
        let result = &mut run.results[0];
        for interval in &mut result.intervals {
            interval.at = interval.at.saturating_add(Nanos::from_secs(3));
        }
        result.workers[0].started = Nanos::from_secs(3);
    });
    let words = "reads: reads 8,000 IOPS for 37 s, ";
    assert!(cliff.evidence.starts_with(words), "{cliff:?}");
}

#[test]
fn each_direction_is_looked_at() {
    let [_, cliff] = told(RunKind::Run, |run| {
        seconds(run, &two_levels());
        run.results[0].workers[0].directions.swap(0, 1);
        for interval in &mut run.results[0].intervals {
            interval.directions.swap(0, 1);
        }
    });
    let words = "reads: writes 8,000 IOPS for 37 s, ";
    assert!(cliff.evidence.starts_with(words), "{cliff:?}");
}

/// What fell once is told with when and by how much; what drifts is not said to have fallen once.
#[test]
fn a_fall_that_is_no_cliff_is_named_by_the_remedy() {
    let fell = [vec![1000; 24], vec![700; 36]].concat();
    for (kind, part) in [
        (
            RunKind::Run,
            "for the state behind it fill the storage first",
        ),
        (RunKind::Serve, "warm up for 24 s and more"),
        (
            RunKind::Predict,
            "predict the state behind it with a warm-up of 24 s",
        ),
    ] {
        let [steady, cliff] = told(kind, |run| seconds(run, &fell));
        assert!(!steady.passed && cliff.passed, "{steady:?} {cliff:?}");
        let words = "reads fell by 30 % after 24 s, from 1,000 IOPS before to 700 IOPS from then on, as where a cache filled up";
        let remedy = &steady.remedy;
        assert!(
            remedy.starts_with(words) && remedy.contains(part),
            "{remedy}"
        );
    }
    let [steady, _] = told(RunKind::Run, |run| seconds(run, &drift(8000, 6000)));
    assert!(
        !steady.passed && !steady.remedy.contains("fell by"),
        "{steady:?}"
    );
}

#[test]
fn a_drift_is_no_steady_state() {
    check(Some("steady-state"), |run| seconds(run, &drift(8000, 6000)));
    let [steady, _] = told(RunKind::Run, |run| seconds(run, &drift(8000, 6000)));
    let words = "reads: reads fell from 7,813 IOPS to 6,186 IOPS over five rounds of 12 s: range 23 % of the mean (steady: 20), \
                 drift 23 % (steady: 10)";
    says(&steady, false, words);
    let [steady, _] = told(RunKind::Run, |run| {
        let dip = [vec![1000; 24], vec![700; 12], vec![1000; 24]];
        seconds(run, &dip.concat());
    });
    let words = "reads: reads went between 700 IOPS and 1,000 IOPS over five rounds of 12 s: range 32 % of the mean (steady: 20), \
                 drift 0 % (steady: 10)";
    says(&steady, false, words);
    check(None, |run| seconds(run, &drift(8000, 7500)));
    let [steady, _] = told(RunKind::Predict, |run| seconds(run, &drift(6000, 8000)));
    assert!(steady.evidence.contains("reads rose from"), "{steady:?}");
    assert!(steady.remedy.contains("cache = \"warm\""), "{steady:?}");
}

#[test]
fn rough_seconds_are_no_change() {
    let rough: Vec<u64> = (0..60).map(|at| 1000 + at * 7919 % 600).collect();
    check(None, |run| seconds(run, &rough));
    let [steady, cliff] = told(RunKind::Run, |run| seconds(run, &rough));
    let words = "no rate ranged over more than 20 % of its mean in five rounds, or drifted by more than 10 %";
    says(&steady, true, words);
    says(&cliff, true, "no rate went over from one level to another");
    // So rough that a range of a fifth may be chance.
    let rougher: Vec<u64> = (0..30)
        .map(|at| [1500, 700, 1900, 300, 1000, 600][at % 6] + at as u64 / 6 * 70)
        .collect();
    let [steady, _] = told(RunKind::Run, |run| seconds(run, &rougher));
    let words = "not judged: reads: reads scatter too much for rounds of 6 s to tell";
    says(&steady, true, words);
}

#[test]
fn rates_of_bytes_are_judged_beside_those_of_ios() {
    check(Some("cache-cliff"), |run| {
        seconds(run, &[4000; 40]);
        for interval in &mut run.results[0].intervals[20..] {
            interval.directions[0].as_mut().unwrap().bytes *= 16;
        }
    });
}

#[test]
fn what_was_too_short_is_not_judged() {
    let [steady, cliff] = told(RunKind::Run, |run| {
        seconds(run, &[vec![8000; 7], vec![2000; 7]].concat());
    });
    let words = |least| format!("not judged: reads: 14 whole seconds, and {least} are needed");
    says(&steady, true, &words(30));
    says(&cliff, true, &words(15));
    // The last part of a second is left out.
    check(None, |run| {
        seconds(run, &[vec![4000; 30], vec![100; 1]].concat());
        let last = run.results[0].intervals.last_mut().unwrap();
        last.length = Nanos::from_millis(25);
        last.at = Nanos::from_millis(30_025);
    });
    // So few I/Os go up and down by themselves.
    let few = |rates: &[u64]| {
        for check in told(RunKind::Run, |run| seconds(run, rates)) {
            assert!(check.passed, "{check:?}");
        }
    };
    few(&[vec![3; 30], vec![1; 30]].concat());
    few(&[vec![20; 20], vec![5; 19], vec![4; 1]].concat());
    few(&[]);
    let [_, cliff] = told(RunKind::Run, |run| {
        seconds(run, &[vec![20; 20], vec![5; 20]].concat());
    });
    assert!(!cliff.passed, "500 are enough: {cliff:?}");
}

/// Seconds that are left of 20 after `change`.
#[track_caller]
fn whole(expected: usize, change: impl FnOnce(&mut Run)) {
    let [steady, _] = told(RunKind::Run, |run| {
        seconds(run, &[4000; 20]);
        change(run);
    });
    let words = format!("not judged: reads: {expected} whole seconds, and 30 are needed");
    says(&steady, true, &words);
}

#[test]
fn seconds_in_part_or_of_some_workers_are_left_out() {
    let other = |started: u64, ended: u64| {
        move |run: &mut Run| {
            let mut second = run.results[0].workers[0].clone();
            second.worker = 1;
            second.started = Nanos::from_millis(started);
            second.measured = Nanos::from_millis(ended - started);
            run.results[0].workers.push(second);
        }
    };
    whole(20, |_| {});
    whole(18, other(0, 18_000));
    whole(18, other(2_000, 20_000));
    // Workers begin and end some milliseconds apart, and half a second is no such.
    whole(20, other(10, 19_990));
    whole(18, other(500, 19_500));
    whole(20, |run| {
        let mut last = run.results[0].intervals[19].clone();
        (last.at, last.length) = (Nanos::from_millis(20_025), Nanos::from_millis(25));
        run.results[0].intervals.push(last);
        run.results[0].workers[0].measured = Nanos::from_millis(20_025);
    });
}

/// In a stage with such a job no change of a rate says anything of the storage.
#[track_caller]
fn unjudged(words: &str, change: impl Fn(&mut Run)) {
    let all = told(RunKind::Run, |run| {
        seconds(run, &two_levels());
        change(run);
    });
    for check in all {
        says(&check, true, &format!("not judged: reads: {words}"));
    }
}

#[test]
fn a_job_that_sets_its_own_pace_is_not_judged() {
    let paced = |change: fn(&mut Job)| {
        unjudged(
            "reads has a pace of its own (a rate, pauses, a trace, a search)",
            |run| change(&mut run.workload.stages[0].jobs[0]),
        );
    };
    paced(|job| {
        job.arrival = Arrival::Open {
            rate: Pacing::Iops(Iops::new(8000)),
            poisson: Poisson::Fixed,
            when_full: WhenFull::Queue,
        };
    });
    paced(|job| job.features.think_cycles = 1);
    paced(|job| {
        job.features.flow = Some(Flow {
            id: 1,
            weight: 1,
            pause: Nanos::ZERO,
        });
    });
    paced(|job| job.features.replay = Some(Replay::default()));
    paced(|job| {
        job.features.latency_target = Some(LatencyTarget {
            most: Nanos::from_millis(1),
            window: Nanos::from_secs(1),
            percentile: 99.0,
            then: AfterFound::GoesOn,
        });
    });
    let delayed = AccessLine {
        delay: Nanos::from_millis(1),
        ..AccessLine::of_size(Bytes::kib(4))
    };
    unjudged(
        "reads has a pace of its own (a rate, pauses, a trace, a search)",
        |run| run.workload.stages[0].jobs[0].features.lines = vec![delayed],
    );
}

#[test]
fn work_that_changes_by_itself_is_not_judged() {
    let job = |words: &str, change: fn(&mut Job)| {
        unjudged(words, |run| change(&mut run.workload.stages[0].jobs[0]));
    };
    job("reads does its I/O in bursts of one kind", |job| {
        job.features.lines = vec![AccessLine {
            burst: 1000,
            ..AccessLine::of_size(Bytes::kib(4))
        }];
    });
    // One after the other is no burst.
    check(Some("cache-cliff"), |run| {
        seconds(run, &two_levels());
        let line = AccessLine::of_size(Bytes::kib(4));
        run.workload.stages[0].jobs[0].features.lines = vec![line];
    });
    job("reads checks what it wrote", |job| {
        job.features.verify = Some(Box::new(Verify::new(Checksum::Crc32c)));
    });
    job("reads checks what it wrote", |job| {
        job.features.validate = Some(Box::new(Validate {
            name: "a".to_owned(),
            pre_read: true,
            ..Validate::default()
        }));
    });
    job("reads works on files", |job| {
        job.features.operation = Some(FileOperation::Stat(StatCall::Stat));
    });
    job("reads works on files", |job| {
        let work = FileWork::new(FileTask::Create);
        job.features.file_work = Some(Box::new(work));
    });
    job("reads reaches no storage", |job| {
        job.backend = Backend::Null;
    });
    unjudged("I/O failed", |run| {
        run.results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![],
        });
    });
}

#[test]
fn workers_are_judged_while_all_of_them_were_at_work() {
    let with = |started: u64, measured: u64| {
        move |run: &mut Run| {
            let mut second = run.results[0].workers[0].clone();
            second.worker = 1;
            second.started = Nanos::from_secs(started);
            second.measured = Nanos::from_secs(measured);
            run.results[0].workers.push(second);
        }
    };
    let words = |together| {
        let together = Nanos::from_secs(together);
        format!("its workers were measured together for {together} of 60 s alone")
    };
    unjudged(&words(37), with(0, 37));
    unjudged(&words(23), with(37, 23));
    unjudged(&words(0), with(0, 0));
    unjudged(&words(53), with(0, 53));
    // What one did without the others at the end is left out.
    let all = told(RunKind::Run, |run| {
        seconds(run, &[vec![4000; 55], vec![1000; 5]].concat());
        with(0, 55)(run);
    });
    let is_judged = |check: &Check| check.passed && !check.evidence.contains("not judged");
    assert!(all.iter().all(is_judged), "{all:?}");
}

#[test]
fn a_last_sync_is_no_level() {
    let rates = [vec![4000; 45], vec![900; 1], vec![0; 14]].concat();
    let passed = |sync: SyncPolicy| {
        told(RunKind::Run, |run| {
            seconds(run, &rates);
            run.workload.stages[0].jobs[0].sync = sync;
        })
        .map(|check| check.passed)
    };
    let at_end = SyncPolicy {
        at_end: true,
        ..SyncPolicy::default()
    };
    assert_eq!(passed(at_end), [true, true]);
    let on_close = SyncPolicy {
        on_close: true,
        ..SyncPolicy::default()
    };
    assert_eq!(passed(on_close), [true, true]);
    let [_, cliff] = told(RunKind::Run, |run| {
        seconds(run, &rates);
        run.workload.stages[0].jobs[0].features.files.end_syncfs = true;
    });
    assert!(cliff.passed, "{cliff:?}");
    // The second in which it began is none of the storage alone.
    whole(15, |run| {
        let rates = [vec![4000; 15], vec![900; 1], vec![0; 4]].concat();
        seconds(run, &rates);
        run.workload.stages[0].jobs[0].sync = at_end;
    });
    // Without one it is storage that stands still.
    assert_eq!(passed(SyncPolicy::default()), [true, false]);
}

#[test]
fn each_stage_is_judged_by_itself() {
    let [steady, cliff] = told(RunKind::Run, |run| {
        seconds(run, &two_levels());
        let cliff = run.results[0].clone();
        seconds(run, &[4000; 10]);
        let short = run.results[0].clone();
        seconds(run, &drift(8000, 5000));
        run.results[0].name = "reads #4".to_owned();
        run.results.extend([cliff.clone(), cliff, short]);
    });
    assert!(!cliff.passed && !steady.passed, "{steady:?} {cliff:?}");
    assert!(cliff.evidence.ends_with("; 1 more stage"), "{cliff:?}");
    assert!(
        steady.evidence.starts_with("reads #4: reads fell"),
        "{steady:?}"
    );
    // Levels that differ from stage to stage, as those of a sweep, are none within one.
    let all = told(RunKind::Run, |run| {
        seconds(run, &[8000; 40]);
        let fast = run.results[0].clone();
        seconds(run, &[2000; 10]);
        let short = run.results[0].clone();
        run.results.extend([short, fast]);
    });
    let words = "no rate went over from one level to another; not judged: reads: 10 whole seconds, and 15 are needed; 1 more stage";
    says(&all[1], true, words);
}

/// What is said of a cliff after 37 s in which this much is left of a disk's credits at the end of each second.
fn with_credits(iops: impl Fn(u32) -> f64, bytes: impl Fn(u32) -> f64) -> Check {
    let [_, cliff] = told(RunKind::Predict, |run| {
        seconds(run, &two_levels());
        let course = OverTimeRecord {
            at_ns: (1..=60).map(|at| at * SECOND).collect(),
            iops_credit_share: (1..=60).map(iops).collect(),
            bytes_credit_share: (1..=60).map(bytes).collect(),
            ..OverTimeRecord::default()
        };
        let row = StorageRecord {
            over_time: Some(course),
            ..StorageRecord::default()
        };
        run.results[0]
            .storage
            .insert("vm/data/disk1".to_owned(), row);
    });
    assert!(!cliff.passed, "{cliff:?}");
    cliff
}

#[test]
fn credits_that_ran_out_are_named() {
    let falls = |at: u32| 0.02 * (1.0 - f64::from(at.min(37)) / 37.0);
    let told = |check: &Check| {
        let (_, credits) = check.evidence.split_once(" credits of `vm/data/disk1`")?;
        let kind = check.evidence.split("; the ").nth(1)?.split(' ').next()?;
        (credits == " were used up").then(|| kind.to_owned())
    };
    let cliff = with_credits(falls, |_| 1.0);
    assert_eq!(told(&cliff).as_deref(), Some("IOPS"), "{cliff:?}");
    let of_bytes = with_credits(|_| 1.0, falls);
    assert_eq!(
        told(&of_bytes).as_deref(),
        Some("throughput"),
        "{of_bytes:?}"
    );
    // In the second after the last of the first level they may have run out.
    let later = with_credits(|at| falls(at.saturating_sub(1)), |_| 1.0);
    assert!(told(&later).is_some(), "{later:?}");
    // A hundredth of what there was is next to none, and of little it is less.
    let to = |left: f64| move |at: u32| if at < 37 { 0.02 } else { 0.02 * left };
    assert!(told(&with_credits(to(0.009), |_| 1.0)).is_some());
    assert_eq!(told(&with_credits(to(0.02), |_| 1.0)), None);
    // There was half of them left, or never any.
    for iops in [|at: u32| 1.0 - f64::from(at) / 100.0, |_| 0.0] {
        let other = with_credits(iops, |_| 1.0);
        assert_eq!(told(&other), None, "{other:?}");
    }
    assert!(cliff.remedy.contains("credits = \"empty\""), "{cliff:?}");
}

#[test]
fn a_criterion_of_its_own_is_the_one_that_counts() {
    let with = |rates: Vec<u64>, outcome: SteadyOutcome| {
        move |run: &mut Run| {
            seconds(run, &rates);
            run.workload.stages[0].jobs[0].features.steady = Some(SteadyState {
                metric: SteadyMetric::Iops,
                judgement: SteadyJudgement::Slope,
                limit: SteadyLimit::Percent(0.5),
                window: Nanos::from_secs(10),
                ramp: Nanos::ZERO,
                interval: Nanos::from_secs(1),
            });
            run.results[0].workers[0].steady = Some(Box::new(outcome));
        }
    };
    let found = |attained, criterion| SteadyOutcome {
        attained,
        criterion,
        ..SteadyOutcome::default()
    };
    check(None, with(drift(8000, 6000), found(true, 0.4)));
    let [steady, _] = told(RunKind::Run, with(drift(8000, 6000), found(true, 0.4)));
    let words = "not judged: reads: its jobs met their own criterion of a steady state";
    says(&steady, true, words);
    check(
        Some("steady-state"),
        with(vec![4000; 8], found(false, -1.3)),
    );
    let [steady, _] = told(RunKind::Run, with(vec![4000; 8], found(false, -1.3)));
    let words =
        "reads: reads was not steady by its end: slope of IOPS 1.3 %, less than 0.5 % asked for";
    says(&steady, false, words);
    let [steady, _] = told(RunKind::Run, with(vec![4000; 8], found(false, 0.0)));
    let words = "reads: reads was not steady by its end, which came before the 10 s of its window";
    says(&steady, false, words);
    // Its figures hold both levels, whatever it ended with.
    check(Some("cache-cliff"), with(two_levels(), found(true, 0.4)));
}
