//! Open loops keep their rate, and their intended times.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{for_time, job, run_jobs, undisturbed, workload};
use fathom_engine::{RunOptions, RunOutcome, StopFlag};
use fathom_record::{Event, EventSink, LoggedIo, WorkerStats};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::generator::{ArrivalSchedule, StreamKey};
use fathom_workload::{
    Access, Arrival, Backend, Caching, Coverage, DirectionRates, Job, Limits, Mix, Pacing, Poisson,
    RateStep, RateSteps, WhenFull, Workload,
};

fn open(rate: Pacing, poisson: Poisson) -> Arrival {
    Arrival::Open {
        rate,
        poisson,
        when_full: WhenFull::Queue,
    }
}

fn run(arrival: Arrival, backend: Backend, change: impl Fn(&mut Job)) -> WorkerStats {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), Bytes::mib(2));
    job.access = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };
    (job.arrival, job.backend) = (arrival, backend);
    job.limits = for_time(Nanos::from_millis(1000));
    change(&mut job);
    let mut outcome = run_jobs(vec![job]).unwrap();
    outcome.results.remove(0).workers.remove(0)
}

#[track_caller]
fn check(arrival: Arrival, backend: Backend, expected: u64, tolerance: f64) {
    let off = |worker: &WorkerStats| worker.ios() as f64 / expected as f64 - 1.0;
    let worker = undisturbed(
        || {
            let worker = run(arrival, backend, |_| {});
            // Nothing makes it more.
            assert!(off(&worker) < tolerance, "{} of {expected}", worker.ios());
            worker
        },
        |worker| off(worker) > -tolerance,
    );
    let stats = worker.directions[0].as_ref().unwrap();
    let response = stats.response.as_ref().unwrap();
    assert_eq!(response.count(), stats.ios());
    assert!(response.sum() >= stats.latency.sum());
}

#[test]
fn the_rate_is_kept() {
    let iops = |rate| Pacing::Iops(Iops::new(rate));
    let fixed = |rate| open(iops(rate), Poisson::Fixed);
    check(fixed(2000), Backend::Null, 2000, 0.02);
    check(fixed(2000), Backend::IoUring, 2000, 0.05);
    check(fixed(500), Backend::Sync, 500, 0.05);
    check(fixed(500), Backend::Libaio, 500, 0.05);
    check(
        open(iops(2000), Poisson::Exponential),
        Backend::Null,
        2000,
        0.1,
    );
    let bytes = Pacing::Bytes(BytesPerSec::new(4096 * 1000));
    check(open(bytes, Poisson::Fixed), Backend::Null, 1000, 0.02);
}

/// Nothing comes in the last part of the time: it was measured too, and the rate is that of the whole.
#[test]
fn time_without_arrivals_is_measured() {
    let slow = open(Pacing::Iops(Iops::new(1)), Poisson::Fixed);
    let worker = run(slow, Backend::Sync, |job| {
        job.limits = for_time(Nanos::from_millis(1700));
    });
    assert_eq!(worker.ios(), 2);
    assert!(worker.measured >= Nanos::from_millis(1700), "{worker:?}");
}

/// A burst as the time ends, which takes longer than is left: its I/Os were due, and those that wait longest are among them.
#[test]
fn what_was_due_by_the_end_is_done() {
    let step = |rate, millis| RateStep {
        rate: Some(Pacing::Iops(Iops::new(rate))),
        length: Nanos::from_millis(millis),
    };
    let rate = open(Pacing::Iops(Iops::new(100)), Poisson::Fixed);
    // 995 ms at 100 a second, and a thousand I/Os in 5 ms.
    let measure = || {
        let worker = run(rate, Backend::IoUring, |job| {
            (job.depth, job.caching) = (1, Caching::Direct);
            job.features.rate_steps = Some(Box::new(RateSteps {
                steps: vec![step(100, 995), step(200_000, 5)],
                together: false,
            }));
        });
        assert!(worker.ios() <= 1101, "more than was due: {worker:?}");
        worker
    };
    let worker = undisturbed(measure, |worker| worker.ios() >= 1097);
    assert!(worker.measured > Nanos::from_millis(1000), "{worker:?}");
}

/// A device slower than the rate: the wait shows in the response time, not in the latency, and nothing is forgiven.
#[test]
fn what_is_late_keeps_its_intended_time() {
    let rate = open(Pacing::Iops(Iops::new(5_000_000)), Poisson::Fixed);
    let worker = run(rate, Backend::Sync, |_| {});
    let stats = worker.directions[0].as_ref().unwrap();
    let response = stats.response.as_ref().unwrap();
    assert!(response.max() > 500_000_000, "{response:?}");
    assert!(
        stats.latency.percentile(50.0) < 50_000_000,
        "{:?}",
        stats.latency
    );
}

/// A debt of the warm-up is not owed to the measurement: no burst at its start.
#[test]
fn the_schedule_starts_again_after_the_warm_up() {
    let rate = open(Pacing::Iops(Iops::new(1000)), Poisson::Fixed);
    let measure = || {
        let worker = run(rate, Backend::Null, |job| {
            job.limits = Limits {
                warmup: Nanos::from_millis(500),
                ..for_time(Nanos::from_millis(1000))
            };
        });
        assert!(worker.ios() <= 1010, "{}", worker.ios());
        worker
    };
    undisturbed(measure, |worker| worker.ios() >= 980);
}

/// The I/Os of each repeat.
#[derive(Default)]
struct Log(Vec<Vec<LoggedIo>>);

impl EventSink for Log {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::IoLog { index, chunk, .. } = event {
            self.0.resize(self.0.len().max(index + 1), Vec::new());
            self.0[*index].extend(&chunk.ios);
        }
    }
}

/// One worker of one of several hosts, which reads 40 blocks three times.
fn run_thrice(host: u32, change: impl Fn(&mut Job)) -> (Workload, RunOutcome, Log) {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), Bytes::mib(2));
    job.backend = Backend::Null;
    job.features.io_log.each = true;
    job.limits.ios = Some(40);
    change(&mut job);
    let mut thrice = workload(vec![job]);
    thrice.stages[0].repeats = 3;
    let mut log = Log::default();
    let options = RunOptions {
        host,
        ..RunOptions::default()
    };
    let outcome = fathom_engine::run(&thrice, &options, &StopFlag::new(), &mut log);
    (thrice, outcome.unwrap(), log)
}

/// The key of what a repeat's only worker draws anew.
fn key_of(workload: &Workload, repeat: u32) -> StreamKey {
    let key = StreamKey {
        seed: workload.seed,
        salt: workload.stages[0].jobs[0].salt,
        ..StreamKey::default()
    };
    key.of_repeat(repeat)
}

/// A repeat's intended starts add up to these of its schedule: what response times count from, however late an I/O is.
#[track_caller]
fn check_starts(result: &WorkerStats, ios: &[LoggedIo], direction: usize, starts: &[u64]) {
    let ios = ios.iter().filter(|io| io.direction as usize == direction);
    let completed: Vec<u64> = ios.map(|io| io.completed.get()).collect();
    let response = result.directions[direction].as_ref().unwrap();
    let response = response.response.as_ref().unwrap();
    assert_eq!(response.count() as usize, starts.len());
    assert_eq!(completed.len(), starts.len());
    let completed: u128 = completed.into_iter().map(u128::from).sum();
    let starts: u128 = starts.iter().copied().map(u128::from).sum();
    assert_eq!(completed - response.sum(), starts);
}

/// Each repeat has the schedule that the generator gives it, which is what a prediction has, too; the I/O is the same.
#[test]
fn repeats_have_arrivals_of_their_own() {
    check_arrivals(0);
}

/// So has each host, and its I/O is that of the others.
#[test]
fn hosts_have_arrivals_of_their_own() {
    let on = [0, 1, 2].map(check_arrivals);
    assert!(on[0] == on[1] && on[0] == on[2]);
}

/// Checks the arrivals of each repeat on a host; gives the offsets of them all.
#[track_caller]
fn check_arrivals(host: u32) -> Vec<u64> {
    let rate = open(Pacing::Iops(Iops::new(2000)), Poisson::Exponential);
    let (thrice, outcome, log) = run_thrice(host, |job| job.arrival = rate);
    for (repeat, result) in (0..).zip(&outcome.results) {
        let key = key_of(&thrice, repeat).of_host(host);
        let mut schedule = ArrivalSchedule::of(&thrice.stages[0].jobs[0], key).unwrap();
        let starts: Vec<u64> = (0..40).map(|_| schedule.next_start(4096)).collect();
        let ios = &log.0[repeat as usize];
        check_starts(&result.workers[0], ios, 0, &starts);
        assert_eq!(offsets(ios), offsets(&log.0[0]), "{repeat}");
    }
    offsets(&log.0[0])
}

fn offsets(ios: &[LoggedIo]) -> Vec<u64> {
    ios.iter().map(|io| io.offset).collect()
}

/// So have rates by direction.
#[test]
fn directions_of_repeats_have_arrivals_of_their_own() {
    check_directions(0);
    check_directions(1);
}

#[track_caller]
fn check_directions(host: u32) {
    let rate = Pacing::Iops(Iops::new(2000));
    let (thrice, outcome, log) = run_thrice(host, |job| {
        job.mix = Mix::reads(Percent::whole(50).unwrap());
        job.features.rates = Some(DirectionRates {
            rates: [Some(rate), Some(rate), None],
            poisson: Poisson::Exponential,
        });
    });
    for (repeat, result) in (0..).zip(&outcome.results) {
        let key = key_of(&thrice, repeat).of_host(host);
        for direction in [0, 1] {
            let salt = key.salt ^ (direction as u64).rotate_right(8);
            let own = StreamKey { salt, ..key };
            let mut schedule = ArrivalSchedule::new(rate, Poisson::Exponential, own);
            let worker = &result.workers[0];
            let count = worker.directions[direction].as_ref().unwrap().ios();
            let starts: Vec<u64> = (0..count).map(|_| schedule.next_start(4096)).collect();
            check_starts(worker, &log.0[repeat as usize], direction, &starts);
        }
    }
}
