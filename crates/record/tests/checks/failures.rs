//! What failed, or did nothing.

use super::bounds::said;
use super::*;

#[test]
fn failed_io_is_told() {
    check(Some("io-errors"), |run| {
        run.results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
}

/// Who has data checked is told that it was.
#[test]
fn data_that_was_read_back_is_told_of() {
    let told = |kind: RunKind, verify: &str| {
        let writes = WORKLOAD.replace(
            "depth",
            &format!("mix = \"write\"\nverify = {verify}\ndepth"),
        );
        let check = said(kind, "io-errors", |run| {
            run.workload = native::read(&writes, "w.workload.toml")
                .expect("a workload")
                .0;
        });
        (check.passed, check.evidence)
    };
    let checked = "no I/O failed, and 40,000 reads found what had been written";
    assert_eq!(told(RunKind::Run, "\"crc32c\""), (true, checked.to_owned()));
    let plain = (true, "no I/O failed".to_owned());
    assert_eq!(told(RunKind::Predict, "\"crc32c\""), plain);
    let never = "{ checksum = \"crc32c\", phase = \"never\" }";
    assert_eq!(told(RunKind::Run, never), plain);
}

#[test]
fn a_job_below_its_minimum_is_told() {
    let least = |run: &mut Run| {
        run.workload.stages[0].jobs[0].features.minimum = Some(MinimumRates {
            rates: [Some(Pacing::Iops(Iops::new(5))), None, None],
            cycle: MinimumRates::CYCLE,
        });
    };
    check(None, least);
    check(Some("rates-kept-up"), |run| {
        least(run);
        run.results[0].workers[0].ended = EndReason::TooSlow;
    });
    // It was over before anything was judged.
    check(Some("rates-kept-up"), |run| {
        least(run);
        let minimum = run.workload.stages[0].jobs[0].features.minimum.as_mut();
        minimum.unwrap().cycle = Nanos::from_secs(60);
    });
    // What an error ended is told by the error alone.
    check(Some("io-errors"), |run| {
        least(run);
        let minimum = run.workload.stages[0].jobs[0].features.minimum.as_mut();
        minimum.unwrap().cycle = Nanos::from_secs(60);
        let worker = &mut run.results[0].workers[0];
        worker.ended = EndReason::Failed;
        worker.errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
}

#[test]
fn a_job_that_did_nothing_is_told() {
    let idle = |run: &mut Run| {
        let mut other = run.workload.stages[0].jobs[0].clone();
        other.name = "later".to_owned();
        other.features.minimum = None;
        run.workload.stages[0].jobs.push(other);
        let mut worker = WorkerStats::new(1, 0);
        worker.directions[0] = Some(OpStats::new(false, false));
        worker.measured = Nanos::new(10 * SECOND);
        worker.outstanding_ns = 4 * 10 * u128::from(SECOND);
        run.results[0].workers.push(worker);
    };
    for kind in [RunKind::Run, RunKind::Predict] {
        check_of(kind, Some("work-done"), idle);
    }
    // What failed is told by itself.
    check(Some("io-errors"), |run| {
        idle(run);
        run.results[0].workers[1].errors.push(IoErrors {
            direction: Direction::Read,
            operation: None,
            errno: 5,
            count: 1,
            first_offsets: vec![(0, 4096)],
        });
    });
    // One write is enough.
    check(Some("samples-for-percentile"), |run| {
        idle(run);
        let mut writes = OpStats::new(false, false);
        writes.latency.record(1_000_000);
        run.results[0].workers[1].directions[1] = Some(writes);
    });
}

#[test]
fn failures_without_a_word_of_the_kernel_are_told_in_ours() {
    let told = |errno| {
        let mut run = run();
        run.results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Write,
            operation: None,
            errno,
            count: 3,
            first_offsets: vec![],
        });
        run_checks(&run.evidence(RunKind::Run)).remove(0).evidence
    };
    assert_eq!(
        told(0),
        "3 I/Os failed, the first a write: transfer shorter than asked for"
    );
    assert_eq!(
        told(fathom_record::WRONG_DATA),
        "3 I/Os failed, the first a write: data that is not what was written (os error 84)"
    );
}

/// What took the place of a read is told by its own name.
#[test]
fn failed_operations_are_told_by_name() {
    use fathom_record::FailedOperation::OnFile;
    let stat = FileOperation::Stat(StatCall::Stat);
    let error = IoErrors {
        direction: Direction::Read,
        operation: Some(OnFile(stat, Direction::Read)),
        errno: 2,
        count: 1,
        first_offsets: Vec::new(),
    };
    assert_eq!(error.name(), "stat");
    assert!(error.is_of_direction());
    let fallocate = OnFile(FileOperation::Allocate, Direction::Trim);
    assert_eq!(fallocate.name(), "punch-hole");
}
