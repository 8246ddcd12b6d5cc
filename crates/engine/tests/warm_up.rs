//! Warm-ups that bytes end.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{for_time, job, run_jobs, undisturbed};
use fathom_record::WorkerStats;
use fathom_units::{Bytes, Iops, Nanos};
use fathom_workload::{
    Arrival, Backend, ExistingFiles, Job, Pacing, Poisson, ReportGroup, WhenFull,
};

/// 256 reads at depth 1, of which the first `warmup` bytes are not measured.
fn reads(warmup: Bytes) -> Job {
    let mut job = job(Path::new("/nothing"), Bytes::mib(1));
    job.backend = Backend::Null;
    job.depth = 1;
    job.features.warmup_bytes = warmup;
    job
}

fn run(jobs: Vec<Job>) -> Vec<WorkerStats> {
    run_jobs(jobs).unwrap().results.remove(0).workers
}

/// I/Os that are measured of each worker.
fn ios(jobs: Vec<Job>) -> Vec<u64> {
    run(jobs).iter().map(WorkerStats::ios).collect()
}

#[test]
fn the_measurement_begins_with_the_first_byte_after_it() {
    for (warmup, measured) in [(0, 256), (1, 255), (64 << 10, 240), ((64 << 10) + 1, 239)] {
        assert_eq!(ios(vec![reads(Bytes::new(warmup))]), [measured], "{warmup}");
    }
    // No I/O is left to be measured.
    assert_eq!(ios(vec![reads(Bytes::mib(1))]), [0]);
    assert_eq!(ios(vec![reads(Bytes::mib(2))]), [0]);
}

#[test]
fn a_deep_queue_is_measured_from_one_completion_on() {
    let mut job = reads(Bytes::kib(64));
    job.depth = 8;
    let measured = ios(vec![job])[0];
    assert!((232..=240).contains(&measured), "{measured}");
}

#[test]
fn a_group_moves_them_together() {
    let mut job = reads(Bytes::kib(512));
    job.group = ReportGroup {
        id: 3,
        together: true,
    };
    let rate = |per_second| Arrival::Open {
        rate: Pacing::Iops(Iops::new(per_second)),
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    };
    job.limits = for_time(Nanos::from_millis(100));
    let (mut fast, mut slow) = (job.clone(), job);
    (fast.arrival, slow.arrival) = (rate(2000), rate(100));
    for worker in run(vec![fast, slow]) {
        // 128 I/Os come after 61 ms; the slow one alone would take 1.3 s for them. It looks at its next completion.
        let began = worker.started;
        assert!(
            began >= Nanos::from_millis(55) && began < Nanos::from_millis(1000),
            "{began}"
        );
        assert!(worker.ios() > 0);
    }
}

#[test]
fn runtime_counts_from_its_end() {
    let mut job = reads(Bytes::kib(400));
    job.limits = for_time(Nanos::from_millis(200));
    job.existing = ExistingFiles::AsPeer;
    job.arrival = Arrival::Open {
        rate: Pacing::Iops(Iops::new(1000)),
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    };
    let measure = || {
        let worker = run(vec![job.clone()]).remove(0);
        assert!(worker.ios() <= 202, "more than its rate: {worker:?}");
        worker
    };
    let worker = undisturbed(measure, |worker| worker.ios() >= 198);
    assert!(
        worker.started >= Nanos::from_millis(98),
        "{}",
        worker.started
    );
    assert!(worker.measured >= Nanos::from_millis(200));
}
