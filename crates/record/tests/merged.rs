//! Figures of several workers: percentiles are read from their merged histograms, rates are over the time of all.

use fathom_record::{CheckTimes, OpStats, StageResult, WorkerStats, stage_record};
use fathom_stats::{Histogram, from_hdr_base64};
use fathom_units::Nanos;
use fathom_workload::native;

const WORKLOAD: &str = r#"
[[stage]]
[[stage.job]]
name = "two"
target = { path = "/tmp/a", size = "1GiB" }
workers = 2
measure = "10s"
"#;

/// A worker that read 1,000 times, each in `micros`, for `seconds`.
fn worker(number: u32, micros: u64, seconds: u64) -> WorkerStats {
    let mut reads = OpStats::new(false, false);
    reads.latency.record_many(micros * 1_000, 1_000);
    reads.bytes = 4096 * 1_000;
    let mut worker = WorkerStats::new(0, number);
    worker.directions[0] = Some(reads);
    worker.measured = Nanos::from_secs(seconds);
    worker
}

fn result(measured: u64, workers: Vec<WorkerStats>) -> StageResult {
    StageResult {
        measured: Nanos::from_secs(measured),
        workers,
        ..StageResult::new("two", 0)
    }
}

#[test]
fn a_percentile_is_no_mean_of_percentiles() {
    let (workload, _) = native::read(WORKLOAD, "two.workload.toml").unwrap();
    let result = result(10, vec![worker(0, 100, 10), worker(1, 10_000, 4)]);
    let stage = stage_record(&workload.stages[0], &result);
    let mut both = Histogram::new();
    both.record_many(100_000, 1_000);
    both.record_many(10_000_000, 1_000);
    for figures in [&stage.jobs[0].read, &stage.total.read, &stage.total.all] {
        let latency = &figures.as_ref().unwrap().latency_ns;
        assert_eq!(
            (latency.p50, latency.p90, latency.p99),
            (
                both.percentile(50.0),
                both.percentile(90.0),
                both.percentile(99.0)
            )
        );
        // Half of all reads were quick: a mean of the two medians would be 5 ms.
        assert!(latency.p50 < 101_000, "{}", latency.p50);
        assert_eq!((latency.min, latency.max), (100_000, 10_000_000));
        let kept = from_hdr_base64(&latency.histogram).unwrap();
        assert_eq!(kept.count(), 2_000);
    }
    // Rates are counts over the job's time, not sums of the workers' rates.
    let iops = stage.jobs[0].read.as_ref().unwrap().iops;
    assert!((iops - 200.0).abs() < 1e-9, "{iops}");
}

/// Workers that wrote for three seconds and then checked for two.
#[test]
fn checked_jobs_have_a_time_for_each_direction() {
    let (workload, _) = native::read(WORKLOAD, "two.workload.toml").unwrap();
    let checked = |number, started| {
        let mut worker = worker(number, 100, 5);
        worker.started = Nanos::from_secs(started);
        worker.directions[1] = worker.directions[0].clone();
        worker.checks = Some(CheckTimes {
            checks: Nanos::from_secs(2),
            ..CheckTimes::default()
        });
        worker
    };
    // Both at once; then one after the other, with a second of nothing in between.
    for (second_start, write_seconds, read_seconds) in [(0, 3.0, 2.0), (6, 9.0, 8.0)] {
        let workers = vec![checked(0, 0), checked(1, second_start)];
        let stage = stage_record(&workload.stages[0], &result(second_start + 5, workers));
        for (figures, seconds) in [
            (&stage.total.write, write_seconds),
            (&stage.total.read, read_seconds),
        ] {
            let iops = figures.as_ref().unwrap().iops;
            assert!((iops * seconds - 2_000.0).abs() < 1e-6, "{iops}");
        }
    }
}

/// Threads of a format begin one after another: those that find nothing left to do make no job slower than its stage.
#[test]
fn a_worker_that_came_too_late_takes_no_time() {
    let (workload, _) = native::read(WORKLOAD, "two.workload.toml").unwrap();
    let mut late = WorkerStats::new(0, 1);
    late.started = Nanos::from_secs(100);
    let stage = stage_record(
        &workload.stages[0],
        &result(10, vec![worker(0, 100, 10), late]),
    );
    assert_eq!(stage.jobs[0].measured_ns, stage.measured_ns);
    for figures in [&stage.jobs[0].read, &stage.total.read] {
        let iops = figures.as_ref().unwrap().iops;
        assert!((iops - 100.0).abs() < 1e-9, "{iops}");
    }
}
