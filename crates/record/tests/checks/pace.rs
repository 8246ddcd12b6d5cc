//! Depths and schedules that were not kept.

use super::*;

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

pub(super) fn open_loop(run: &mut Run, rate: Pacing) {
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
