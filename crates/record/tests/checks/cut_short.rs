//! Runs that were stopped.

use super::*;

/// What `cut-short` says of a run that was stopped after `change`, where it fails.
#[track_caller]
pub(super) fn told_cut_short(expected: Option<&str>, change: impl FnOnce(&mut Run)) {
    let failed = cut_short(change).filter(|check| !check.passed);
    assert_eq!(failed.map(|check| check.evidence).as_deref(), expected);
}

/// What becomes of `cut-short` in a run that was stopped after `change`.
pub(super) fn cut_short(change: impl FnOnce(&mut Run)) -> Option<Check> {
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
