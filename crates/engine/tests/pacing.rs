//! What holds a worker back, and what ends it by its results, on the null backend: only our own doing shows.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{for_time, job, run_jobs, undisturbed};
use fathom_rawio::thread_usage;
use fathom_record::{EndReason, OpStats, WorkerStats};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    AccessLine, AfterFound, Backend, Batches, Direction, DirectionRates, ExistingFiles, Flow, Job,
    LatencyTarget, MinimumRates, Mix, Overlaps, Pacing, Placement, Poisson, SteadyJudgement,
    SteadyLimit, SteadyMetric, SteadyState, ThinkCounts, ThinkTime,
};

fn null_job(time: Nanos) -> Job {
    let mut job = job(Path::new("/nothing"), Bytes::mib(4));
    job.backend = Backend::Null;
    job.limits = for_time(time);
    job
}

fn run(jobs: Vec<Job>) -> Vec<WorkerStats> {
    run_jobs(jobs).unwrap().results.remove(0).workers
}

#[test]
fn a_search_for_a_depth_ends_its_job() {
    let mut job = null_job(Nanos::from_secs(20));
    job.features.latency_target = Some(LatencyTarget {
        most: Nanos::from_millis(50),
        window: Nanos::from_millis(300),
        percentile: 90.0,
        then: AfterFound::Ends,
    });
    let result = run_jobs(vec![job]).unwrap().results.remove(0);
    let worker = &result.workers[0];
    assert_eq!(worker.found_depth, Some(8));
    // Four windows were the search, and the last alone is told.
    let (measured, started) = (worker.measured, worker.started);
    assert!(started >= Nanos::from_millis(1200), "{started:?}");
    assert!(measured >= Nanos::from_millis(300), "{measured:?}");
    assert!(measured < Nanos::from_secs(10), "{measured:?}");
    let ios = worker.ios();
    let counted: u64 = worker.depth_levels.iter().sum();
    assert!(counted.abs_diff(ios) <= 8, "{counted} {ios}");
    // So do the intervals.
    let lengths = result.intervals.iter().map(|it| it.length.get()).sum();
    assert_eq!(Nanos::new(lengths), result.measured);
    let reads = (result.intervals.iter()).filter_map(|it| it.directions[0].as_ref());
    assert_eq!(reads.map(OpStats::ios).sum::<u64>(), ios);
}

#[test]
fn a_steady_job_ends_and_says_so() {
    let mut job = null_job(Nanos::from_secs(20));
    let rate = Pacing::Iops(Iops::new(500));
    job.arrival = fathom_workload::Arrival::Open {
        rate,
        poisson: Poisson::Fixed,
        when_full: fathom_workload::WhenFull::Queue,
    };
    job.features.steady = Some(SteadyState {
        metric: SteadyMetric::Iops,
        judgement: SteadyJudgement::Deviation,
        limit: SteadyLimit::Percent(10.0),
        window: Nanos::from_secs(2),
        ramp: Nanos::ZERO,
        interval: Nanos::from_secs(1),
    });
    let worker = run(vec![job]).remove(0);
    assert!(worker.steady.unwrap().attained);
    assert!(
        worker.measured < Nanos::from_secs(19),
        "{:?}",
        worker.measured
    );
}

/// Sleeps end tens of microseconds late, and by that every response time would be too long.
#[test]
fn an_open_loop_begins_on_time_though_sleeps_end_late() {
    let mut seen = Vec::new();
    // What else runs on the machine may disturb one of them.
    for _ in 0..5 {
        let mut job = null_job(Nanos::from_secs(1));
        job.arrival = fathom_workload::Arrival::Open {
            rate: Pacing::Iops(Iops::new(1000)),
            poisson: Poisson::Fixed,
            when_full: fathom_workload::WhenFull::Queue,
        };
        let worker = run(vec![job]).remove(0);
        let read = worker.directions[0].as_ref().unwrap();
        // Every sleep ends late, while the processor is taken from some I/Os alone.
        let late = read.response.as_ref().unwrap().percentile(10.0);
        if late < 2_000 {
            return;
        }
        seen.push(late);
    }
    panic!("late by, ns at the tenth percentile: {seen:?}");
}

#[test]
fn each_burst_waits_for_its_delay() {
    let mut job = null_job(Nanos::from_secs(5));
    (job.limits.time_based, job.limits.ios) = (false, Some(40));
    job.set_lines(vec![AccessLine {
        burst: 8,
        delay: Nanos::from_millis(20),
        ..AccessLine::of_size(Bytes::kib(4))
    }]);
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 40);
    // Five bursts; the first I/O of each is late, and none of the delays counts as latency. Forty delays take 800 ms.
    assert!(
        (Nanos::from_millis(80)..Nanos::from_millis(780)).contains(&worker.measured),
        "{:?}",
        worker.measured
    );
    let read = worker.directions[0].as_ref().unwrap();
    assert!(read.latency.percentile(50.0) < 10_000_000);
}

#[test]
fn pauses_come_after_so_many_ios() {
    let mut job = null_job(Nanos::from_secs(1));
    (job.limits.time_based, job.limits.ios) = (false, Some(40));
    job.features.think = Some(ThinkTime {
        pause: Nanos::from_millis(10),
        spin: Nanos::ZERO,
        every: 4,
        counts: ThinkCounts::Completed,
        after: Nanos::ZERO,
        stops_rate: false,
    });
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 40);
    assert!(
        worker.measured >= Nanos::from_millis(90),
        "{:?}",
        worker.measured
    );
}

/// Twenty reads at 100 a second, then a pause of 100 ms: caught up with or, where rates stand still in it, not.
#[test]
fn rates_stand_still_in_pauses_where_they_are_to() {
    let reads = |stops_rate, lanes: bool| {
        let mut job = null_job(Nanos::from_secs(3));
        let rate = Pacing::Iops(Iops::new(100));
        if lanes {
            job.features.rates = Some(DirectionRates {
                rates: [Some(rate), None, None],
                poisson: Poisson::Fixed,
            });
        } else {
            job.arrival = fathom_workload::Arrival::Open {
                rate,
                poisson: Poisson::Fixed,
                when_full: fathom_workload::WhenFull::Queue,
            };
        }
        job.features.think = Some(ThinkTime {
            pause: Nanos::from_millis(100),
            spin: Nanos::ZERO,
            every: 20,
            counts: ThinkCounts::Completed,
            after: Nanos::ZERO,
            stops_rate,
        });
        run(vec![job]).remove(0).ios()
    };
    for lanes in [false, true] {
        let caught_up = || {
            let caught_up = reads(false, lanes);
            assert!(caught_up <= 300, "{caught_up} {lanes}");
            caught_up
        };
        undisturbed(caught_up, |reads| *reads >= 270);
        // Twenty in 190 ms, and the pause.
        let stood = || {
            let stood = reads(true, lanes);
            assert!(stood <= 220, "{stood} {lanes}");
            stood
        };
        undisturbed(stood, |reads| *reads >= 200);
    }
}

/// Ten blocks, each trimmed and then written, at 100 writes a second: the trims have no time of their own.
#[test]
fn a_trim_goes_when_its_write_is_due() {
    let mut job = null_job(Nanos::from_secs(60));
    let half = Percent::whole(50).unwrap();
    job.mix = Mix {
        read: Percent::ZERO,
        write: half,
        trim: half,
    };
    job.existing = ExistingFiles::AsPeer;
    job.limits.time_based = false;
    job.limits.bytes = Some(Bytes::kib(40));
    job.features.placement = Some(Box::new(Placement {
        trim_then_write: true,
        ..Placement::default()
    }));
    let rate = |rate| Some(Pacing::Iops(Iops::new(rate)));
    job.features.rates = Some(DirectionRates {
        rates: [None, rate(100), rate(1)],
        poisson: Poisson::Fixed,
    });
    let worker = run(vec![job]).remove(0);
    let ios = |way: Direction| worker.directions[way as usize].as_ref().map(OpStats::ios);
    assert_eq!(
        (ios(Direction::Write), ios(Direction::Trim)),
        (Some(10), Some(10))
    );
    assert!(
        worker.measured >= Nanos::from_millis(90),
        "{:?}",
        worker.measured
    );
    // The ninth trim alone would be due after eight seconds at its own rate.
    assert!(
        worker.measured < Nanos::from_secs(8),
        "{:?}",
        worker.measured
    );
}

/// Reads at 200 a second for some seconds, which must be `least` reads a second over `cycle`.
fn paced(least: u64, cycle: Nanos, seconds: u64) -> Job {
    let mut job = null_job(Nanos::from_secs(seconds));
    job.existing = ExistingFiles::AsPeer;
    job.arrival = fathom_workload::Arrival::Open {
        rate: Pacing::Iops(Iops::new(200)),
        poisson: Poisson::Fixed,
        when_full: fathom_workload::WhenFull::Queue,
    };
    // Bytes, since a rate above the one that it is held to is refused.
    job.features.minimum = Some(MinimumRates {
        rates: [
            Some(Pacing::Bytes(BytesPerSec::new(least * 4096))),
            None,
            None,
        ],
        cycle,
    });
    job
}

fn ended(worker: &WorkerStats) -> (EndReason, u64) {
    // No I/O failed.
    assert!(worker.errors.is_empty(), "{:?}", worker.errors);
    (
        worker.ended,
        (worker.measured.as_secs_f64() * 10.0).round() as u64,
    )
}

#[test]
fn a_job_below_its_minimum_fails_after_a_cycle() {
    let slow = || paced(230, Nanos::from_millis(500), 20);
    let mut others = vec![paced(60, Nanos::from_millis(500), 4), slow(), slow()];
    // What comes before the measurement is not judged.
    others[2].limits.warmup = Nanos::from_millis(700);
    others[2].group.id = 7;
    let outcome = run_jobs(others).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let mut workers = outcome.results[0].workers.clone();
    workers.sort_by_key(|worker| worker.job);
    // The first goes on though others of its group failed; two seconds are left out, and one cycle is too slow.
    let (reason, tenths) = ended(&workers[0]);
    assert_eq!(reason, EndReason::Time);
    assert!(tenths >= 40, "{tenths}");
    for worker in &workers[1..] {
        let (reason, tenths) = ended(worker);
        assert_eq!(reason, EndReason::TooSlow);
        assert!((25..30).contains(&tenths), "{tenths}");
    }
    let notes = &outcome.results[0].notes;
    assert!(
        notes[0].contains("did not keep up 942080 B/s: "),
        "{notes:?}"
    );
}

#[test]
fn a_job_that_ends_within_its_first_cycle_is_not_judged() {
    let worker = run(vec![paced(1_000_000, Nanos::from_secs(1), 2)]).remove(0);
    let (reason, tenths) = ended(&worker);
    assert_eq!(reason, EndReason::Time);
    assert!(tenths >= 20, "{tenths}");
}

#[test]
fn a_native_run_fails_where_one_job_is_too_slow() {
    let mut slow = paced(400, Nanos::from_millis(100), 20);
    slow.existing = ExistingFiles::OnlyOurs;
    let outcome = run_jobs(vec![slow, null_job(Nanos::from_secs(20))]).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.starts_with("job `job`: its reads kept up "),
        "{failure}"
    );
    let workers = &outcome.results[0].workers;
    let other = workers.iter().find(|worker| worker.job == 1).unwrap();
    assert_eq!(other.ended, EndReason::Interrupted);
}

#[test]
fn a_pause_counts_with_the_io_around_it() {
    // Thirty reads at once every 1.5 s: 20 a second, and none at all in a second of the pause.
    for (least, ends) in [(12, EndReason::Time), (22, EndReason::TooSlow)] {
        let mut job = null_job(Nanos::from_secs(6));
        job.existing = ExistingFiles::AsPeer;
        job.features.think = Some(ThinkTime {
            pause: Nanos::from_millis(1500),
            spin: Nanos::ZERO,
            every: 30,
            counts: ThinkCounts::Completed,
            after: Nanos::ZERO,
            stops_rate: false,
        });
        job.features.minimum = Some(MinimumRates {
            rates: [Some(Pacing::Iops(Iops::new(least))), None, None],
            cycle: MinimumRates::CYCLE,
        });
        let worker = run(vec![job]).remove(0);
        assert_eq!(worker.ended, ends, "{least}");
    }
}

#[test]
fn each_direction_is_judged_by_itself() {
    for (write, ends) in [(30, EndReason::Time), (150, EndReason::TooSlow)] {
        let mut job = null_job(Nanos::from_secs(4));
        job.existing = ExistingFiles::AsPeer;
        job.mix = Mix::reads(Percent::whole(50).unwrap());
        let iops = |rate| Some(Pacing::Iops(Iops::new(rate)));
        job.features.rates = Some(DirectionRates {
            rates: [
                iops(1000),
                Some(Pacing::Bytes(BytesPerSec::new(409_600))),
                None,
            ],
            poisson: Poisson::Fixed,
        });
        job.features.minimum = Some(MinimumRates {
            rates: [iops(300), iops(write), None],
            cycle: Nanos::from_millis(300),
        });
        let worker = run(vec![job]).remove(0);
        assert_eq!(worker.ended, ends, "{write}");
    }
}

#[test]
fn jobs_that_go_on_alike_are_judged_too() {
    let mut job = null_job(Nanos::from_secs(20));
    job.existing = ExistingFiles::AsPeer;
    job.features.minimum = Some(MinimumRates {
        rates: [Some(Pacing::Iops(Iops::new(1 << 40))), None, None],
        cycle: Nanos::from_millis(100),
    });
    for backend in [Backend::Null, Backend::Sync, Backend::IoUring] {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job.clone();
        job.backend = backend;
        if backend != Backend::Null {
            let path = folder.path().join("file");
            job.targets = vec![common::target(&path, Some(Bytes::mib(1)))];
            job.caching = fathom_workload::Caching::Buffered;
        }
        let worker = run(vec![job]).remove(0);
        let (ended, tenths) = ended(&worker);
        assert_eq!(ended, EndReason::TooSlow, "{backend:?}");
        // Two seconds are left out, and the job would go on for twenty.
        assert!((20..100).contains(&tenths), "{backend:?}: {tenths}");
    }
}

/// The rounds of an idle loop that a machine does differ by more than a factor of ten, so only the ratio is looked at.
#[test]
fn work_follows_each_io() {
    let time = |cycles: u32, depth: u32| {
        let mut job = null_job(Nanos::from_secs(30));
        (job.limits.time_based, job.limits.ios) = (false, Some(100));
        job.depth = depth;
        job.features.think_cycles = cycles;
        let worker = run(vec![job]).remove(0);
        assert_eq!(worker.ios(), 100);
        let read = worker.directions[0].as_ref().unwrap();
        // On the processor: what else runs there takes none of it.
        let spent = worker.usage.user + worker.usage.system;
        (spent.as_secs_f64(), read.latency.percentile(50.0))
    };
    let rounds = 100_000_u32;
    let once = || {
        let before = thread_usage().unwrap();
        for _ in 0..rounds * 10 {
            std::hint::spin_loop();
        }
        let after = thread_usage().unwrap();
        (after.user + after.system).saturating_sub(before.user + before.system)
    };
    // As long as the shortest: a machine may do them slower meanwhile, not faster.
    let alone = (0..5).map(|_| once()).min().unwrap().as_secs_f64() * 10.0;
    for depth in [1, 8] {
        let (spent, latency) = time(rounds, depth);
        assert!(
            (alone * 0.4..alone * 8.0 + 0.1).contains(&spent),
            "{depth}: {spent} s, {alone} s of work alone"
        );
        // What an I/O is followed by is no part of its latency.
        if depth == 1 {
            assert!(latency < (alone * 1e7 / 4.0) as u64, "{latency} ns");
        }
    }
}

#[test]
fn work_that_takes_long_ends_with_the_jobs_time() {
    let mut job = null_job(Nanos::from_millis(300));
    job.features.think_cycles = u32::MAX;
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ended, EndReason::Time);
    // Four thousand million rounds take longer on any machine.
    assert!(
        worker.measured < Nanos::from_secs(3),
        "{:?}",
        worker.measured
    );
}

#[test]
fn each_direction_keeps_its_own_rate() {
    let mut job = null_job(Nanos::from_secs(1));
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.features.rates = Some(DirectionRates {
        rates: [100, 1000, 0].map(|rate| (rate > 0).then(|| Pacing::Iops(Iops::new(rate)))),
        poisson: Poisson::Fixed,
    });
    let measure = || {
        let worker = run(vec![job.clone()]).remove(0);
        let ios = |stats: Option<OpStats>| stats.map_or(0, |stats| stats.ios());
        let ios = worker.directions.map(ios);
        assert!(ios[0] <= 103 && ios[1] <= 1030, "{ios:?}");
        ios
    };
    undisturbed(measure, |ios| ios[0] >= 97 && ios[1] >= 970);
}

#[test]
fn shares_of_a_flow_are_kept() {
    let jobs = [1, 3].map(|weight| {
        let mut job = null_job(Nanos::from_secs(1));
        job.features.flow = Some(Flow {
            id: 1,
            weight,
            pause: Nanos::ZERO,
        });
        job
    });
    let workers = run(jobs.into());
    let ratio = workers[1].ios() as f64 / workers[0].ios() as f64;
    assert!((2.4..3.6).contains(&ratio), "{ratio}");
}

/// A queue that drains to its low mark is filled up before anything that has completed meanwhile is taken.
#[test]
fn a_drained_queue_is_filled_up() {
    let directory = tempfile::tempdir().unwrap();
    for backend in [Backend::IoUring, Backend::Libaio] {
        let mut job = job(&directory.path().join("file"), Bytes::mib(1));
        (job.backend, job.depth) = (backend, 16);
        job.features.batches = Some(Batches {
            submit: 4,
            complete_min: 4,
            complete_max: 4,
            low: 8,
        });
        let levels = || run(vec![job.clone()]).remove(0).depth_levels;
        // Filled from 0 in four calls, then from 8 in two: at 12 and at 16. A machine that holds the worker up over one of its
        // moments has a wait end early, and a queue be filled from another depth.
        undisturbed(levels, |levels| *levels == [0, 0, 4, 128, 124, 0, 0]);
    }
}

#[test]
fn nothing_is_lost_where_blocks_overlap_or_queues_drain() {
    let mut job = null_job(Nanos::from_secs(9));
    (job.limits.time_based, job.limits.ios) = (false, Some(1000));
    job.mix = Mix::TRIM;
    job.features.overlaps = Overlaps::Serialized;
    assert_eq!(run(vec![job.clone()])[0].ios(), 1000);
    job.mix = Mix::READ;
    job.features.batches = Some(Batches {
        submit: 4,
        complete_min: 2,
        complete_max: 4,
        low: 3,
    });
    let worker = run(vec![job]).remove(0);
    assert_eq!(worker.ios(), 1000);
    // Never more than four at a time, either way.
    assert!(worker.submit_batches[2..].iter().all(|calls| *calls == 0));
    assert!(worker.complete_batches[2..].iter().all(|calls| *calls == 0));
}
