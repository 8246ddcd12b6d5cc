//! Percentiles of several workers are read from their merged histograms.

use std::collections::BTreeMap;

use fathom_record::{OpStats, StageResult, WorkerStats, stage_record};
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

#[test]
fn a_percentile_is_no_mean_of_percentiles() {
    let (workload, _) = native::read(WORKLOAD, "two.workload.toml").unwrap();
    let result = StageResult {
        name: "two".to_owned(),
        stage: 0,
        started_unix_ns: 0,
        measured: Nanos::from_secs(10),
        workers: vec![worker(0, 100, 10), worker(1, 10_000, 4)],
        intervals: vec![],
        storage: BTreeMap::new(),
        devices: vec![],
        notes: vec![],
    };
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
