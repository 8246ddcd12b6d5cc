//! The check `littles-law`: its bounds, and what is left out of it.

use fathom_record::SetStats;
use fathom_workload::SetOperation;

use super::bounds::{MILLIS, fails, ios, said, second_worker};
use super::*;

/// As many reads of so many milliseconds as its time has room for.
fn reads_of(run: &mut Run, millis: u64) {
    run.results[0].workers[0].directions[0] = Some(ios(40_000 / millis, millis * MILLIS));
}

/// Rate × latency is off by this share of the I/Os outstanding.
fn off_by(run: &mut Run, share: f64) {
    for worker in &mut run.results[0].workers {
        let reads = worker.directions[0].as_ref().expect("it reads");
        worker.outstanding_ns = (reads.latency.sum() as f64 / (1.0 + share)) as u128;
    }
}

#[test]
fn littles_law_is_held_to_its_bounds() {
    let law = |kind, share: f64| !said(kind, "littles-law", |run| off_by(run, share)).passed;
    for share in [0.052, -0.053] {
        assert!(law(RunKind::Run, share) && law(RunKind::Serve, share));
    }
    for share in [0.048, -0.047] {
        assert!(!law(RunKind::Run, share) && !law(RunKind::Serve, share));
    }
    assert!(law(RunKind::Predict, 0.0055) && !law(RunKind::Predict, 0.0045));
    let check = said(RunKind::Run, "littles-law", |run| off_by(run, 0.2));
    assert_eq!(
        check.evidence,
        "reads: rate × latency differs from the I/Os outstanding by 20.0 %"
    );
    // A queue that does nothing, and syncs, which are no I/Os and were waited for.
    assert!(!fails("littles-law", |run| {
        off_by(run, 0.2);
        run.workload.stages[0].jobs[0].backend = Backend::Null;
    }));
    assert!(!fails("littles-law", |run| {
        off_by(run, 0.2);
        run.results[0].workers[0].sync = Some(ios(1, MILLIS));
    }));
}

/// Fifty I/Os for each that may be in flight as measurement ends.
#[test]
fn few_ios_are_not_held_to_littles_law() {
    let law = |count: u64, workers: u32| {
        fails("littles-law", |run| {
            run.results[0].workers[0].directions[0] = Some(ios(count, MILLIS));
            (1..workers).for_each(|_| second_worker(run, |_| {}));
            off_by(run, 0.2);
        })
    };
    assert!(law(201, 1) && !law(200, 1));
    assert!(law(201, 2) && !law(200, 2));
    // Of two workers, the one did all of them.
    assert!(!fails("littles-law", |run| {
        run.results[0].workers[0].directions[0] = Some(ios(300, MILLIS));
        off_by(run, 0.2);
        second_worker(run, |worker| {
            worker.directions[0] = None;
            worker.outstanding_ns = 0;
        });
    }));
}

/// What is done to a file set takes time too; a copy is made of reads and writes, which are counted.
#[test]
fn littles_law_holds_work_on_file_sets() {
    let with = |operation: SetOperation| {
        fails("littles-law", |run| {
            let mut set = SetStats::new(&[operation], false);
            set.0[0].1 = ios(4000, MILLIS);
            let worker = &mut run.results[0].workers[0];
            worker.set = set;
            if operation != SetOperation::Copy {
                worker.outstanding_ns += 4 * u128::from(SECOND);
            }
        })
    };
    assert!(!with(SetOperation::Create) && !with(SetOperation::Copy));
}

/// A tenth of what was outstanding may have been cut by the end of warm-up: at depth 4, an I/O of a second among 40 of them.
#[test]
fn littles_law_leaves_what_warm_up_cuts() {
    let law = |share: f64, change: fn(&mut Run)| {
        fails("littles-law", |run| {
            let worker = &mut run.results[0].workers[0];
            let reads = worker.directions[0].as_mut().expect("it reads");
            reads.latency.record(SECOND);
            off_by(run, share);
            change(run);
        })
    };
    let warms_up = |run: &mut Run| {
        run.workload.stages[0].jobs[0].limits.warmup = Nanos::from_secs(1);
    };
    assert!(law(0.09, |_| {}));
    assert!(!law(0.09, warms_up) && law(0.12, warms_up));
    assert!(!law(0.09, |run| {
        run.workload.stages[0].jobs[0].features.warmup_bytes = Bytes::mib(1);
    }));
    // The longest of any direction, in every worker's queue.
    assert!(!law(0.09, |run| {
        run.workload.stages[0].jobs[0].limits.warmup = Nanos::from_secs(1);
        run.results[0].workers[0].directions[1] = Some(ios(1000, 1000));
    }));
    assert!(!law(0.09, |run| {
        run.workload.stages[0].jobs[0].limits.warmup = Nanos::from_secs(1);
        second_worker(run, |_| {});
    }));
    // 1.2 % of a prediction, where 2 % may be cut.
    let predicted = |warmup| {
        let check = said(RunKind::Predict, "littles-law", |run| {
            let worker = &mut run.results[0].workers[0];
            let reads = worker.directions[0].as_mut().expect("it reads");
            reads.latency.record(SECOND / 5);
            off_by(run, -0.012);
            run.workload.stages[0].jobs[0].limits.warmup = warmup;
        });
        check.passed
    };
    assert!(predicted(Nanos::from_secs(1)) && !predicted(Nanos::ZERO));
}

/// Four hundred mean latencies, of the worker that was measured shortest.
#[test]
fn short_predictions_are_not_held_to_littles_law() {
    let law = |change: fn(&mut Run)| {
        let check = said(RunKind::Predict, "littles-law", |run| {
            change(run);
            off_by(run, 0.02);
        });
        !check.passed
    };
    assert!(law(|_| {}));
    assert!(law(|run| reads_of(run, 20)));
    assert!(!law(|run| reads_of(run, 26)));
    assert!(!law(|run| {
        second_worker(run, |worker| worker.measured = Nanos::from_millis(300));
    }));
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
