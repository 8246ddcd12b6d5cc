//! The check `clock-source`.

use super::*;

fn clock(source: &str, reading: Nanos) -> MachineClock {
    let source = source.to_owned();
    MachineClock { source, reading }
}

/// What `clock-source` says of a run after `change`.
fn told(change: impl FnOnce(&mut Run)) -> (bool, String) {
    let mut run = run();
    change(&mut run);
    let mut checks = run_checks(&run.evidence(RunKind::Run)).into_iter();
    let check = checks.find(|check| check.id == "clock-source");
    let check = check.expect("every real run has it");
    (check.passed, check.evidence)
}

/// The worker did this many reads of 10 µs each.
fn quick_reads(run: &mut Run) {
    let mut reads = OpStats::new(false, false);
    reads.latency.record_many(10_000, 4_000_000);
    reads.bytes = 4096 * 4_000_000;
    let worker = &mut run.results[0].workers[0];
    worker.directions[0] = Some(reads);
    run.results[0].devices[0].sectors[0] = 8 * 4_000_000;
}

#[test]
fn a_clock_that_takes_a_part_of_the_latency_is_told() {
    check(Some("clock-source"), |run| {
        quick_reads(run);
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    let (_, evidence) = told(|run| {
        quick_reads(run);
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    assert_eq!(
        evidence,
        "reads: a reading of the clock (hpet) takes 1.2 µs, 2 of them 24 % of the median latency of reads, 10 µs"
    );
}

#[test]
fn a_clock_that_is_quick_enough_is_not() {
    // Of reads that take 1 ms, nothing is lost.
    check(None, |run| {
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    // Nothing is quicker than the counter, whatever it is held against.
    check(None, |run| {
        let reads = run.results[0].workers[0].directions[0].as_mut().unwrap();
        reads.latency.record_many(200, 1_000_000);
        // Little's law is not what is looked at.
        run.results[0].workers[0].outstanding_ns = reads.latency.sum();
        run.results[0].workers[0].measured = Nanos::from_secs(10);
        run.results[0].devices[0].sectors[0] = 1 << 40;
        run.clock = Some(clock("tsc", Nanos::new(40)));
    });
    // What does no I/O measures no storage.
    check(None, |run| {
        quick_reads(run);
        run.workload.stages[0].jobs[0].backend = Backend::Null;
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    let (passed, evidence) = told(|run| run.clock = Some(clock("tsc", Nanos::new(22))));
    assert!(passed);
    assert_eq!(evidence, "a reading of the clock (tsc) takes 22 ns");
    let (passed, evidence) = told(|_| {});
    assert!(passed);
    assert!(evidence.starts_with("not judged: "), "{evidence}");
}

/// Of several directions the quickest is looked at, by the half of it that is quicker.
#[test]
fn the_quickest_half_of_the_quickest_direction_counts() {
    let (passed, evidence) = told(|run| {
        let mut writes = OpStats::new(false, false);
        writes.latency.record_many(10_000, 900_000);
        writes.latency.record_many(50_000_000, 100_000);
        run.results[0].workers[0].directions[1] = Some(writes);
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    assert!(!passed);
    assert!(
        evidence.ends_with("24 % of the median latency of writes, 10 µs"),
        "{evidence}"
    );
    // More than all of it cannot go by.
    let (_, evidence) = told(|run| {
        let mut reads = OpStats::new(false, false);
        reads.latency.record_many(1_000, 4_000_000);
        run.results[0].workers[0].directions[0] = Some(reads);
        run.clock = Some(clock("hpet", Nanos::new(1_200)));
    });
    assert!(
        evidence.contains("2 of them 100 % of the median"),
        "{evidence}"
    );
}

/// Submission and completion told apart take one reading more: 3 × 1.8 µs of 100 µs, where 2 would be let go.
#[test]
fn what_is_told_apart_takes_one_reading_more() {
    let slow = |split: bool| {
        told(|run| {
            let mut reads = OpStats::new(false, split);
            reads.latency.record_many(100_000, 400_000);
            run.results[0].workers[0].directions[0] = Some(reads);
            run.clock = Some(clock("acpi_pm", Nanos::new(1_800)));
        })
    };
    assert!(slow(false).0);
    assert!(!slow(true).0);
}

#[test]
fn a_counter_that_was_given_up_is_told() {
    check(Some("clock-source"), |run| {
        run.results[0].workers[0].clock_deviated = true;
        run.clock = Some(clock("tsc", Nanos::new(22)));
    });
    // Predictions go by no clock.
    check_of(RunKind::Predict, None, |run| {
        run.results[0].workers[0].clock_deviated = true;
    });
}

#[test]
fn what_a_record_tells_of_the_clock_is_read() {
    let environment = serde_json::json!({ "clock_source": "tsc", "clock_reading_ns": 22 });
    let of = |environment| MachineClock::of(&environment);
    assert_eq!(of(environment), Some(clock("tsc", Nanos::new(22))));
    // Records of before it was measured.
    let before = serde_json::json!({ "clock_source": "tsc" });
    assert_eq!(of(before), None);
    assert_eq!(of(serde_json::Value::Null), None);
}
