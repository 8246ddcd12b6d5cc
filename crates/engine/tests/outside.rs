//! Time outside system calls is measured where it is asked for, of jobs that wait for nothing else.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{for_time, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{Ignore, OutsideCalls, WorkerStats};
use fathom_units::{Bytes, Iops, Nanos};
use fathom_workload::{Arrival, Backend, Job, Pacing, Poisson, WhenFull};

/// What a job's only worker measured.
fn measured(outside_calls: bool, change: impl FnOnce(&mut Job)) -> WorkerStats {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), Bytes::mib(8));
    job.limits = for_time(Nanos::from_millis(200));
    change(&mut job);
    let options = RunOptions {
        outside_calls,
        ..RunOptions::default()
    };
    let outcome = run(
        &workload(vec![job]),
        &options,
        &StopFlag::new(),
        &mut Ignore,
    )
    .unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    outcome.results[0].workers[0].clone()
}

fn told(outside_calls: bool, change: impl FnOnce(&mut Job)) -> Option<OutsideCalls> {
    measured(outside_calls, change).usage.outside_calls
}

#[test]
fn backends_with_system_calls_tell_their_time_outside_of_them() {
    // Elsewhere it is not measured.
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let keeps_time = std::fs::read_to_string(clock).unwrap().trim() == "tsc";
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let stats = measured(true, |job| job.backend = backend);
        assert_eq!(stats.usage.outside_calls.is_some(), keeps_time);
        let Some(outside) = stats.usage.outside_calls else {
            continue;
        };
        // Each call carries or brings back 8 I/Os at most.
        assert!(outside.calls * 8 >= stats.ios(), "{backend:?}: {outside:?}");
        let time = outside.time;
        assert!(
            time > Nanos::ZERO && time < stats.measured,
            "{backend:?}: {outside:?}"
        );
        assert_eq!(told(false, |job| job.backend = backend), None);
    }
}

#[test]
fn what_makes_no_calls_or_waits_elsewhere_tells_none() {
    assert_eq!(told(true, |job| job.backend = Backend::Null), None);
    let paced = |job: &mut Job| {
        job.arrival = Arrival::Open {
            rate: Pacing::Iops(Iops::new(100)),
            poisson: Poisson::Fixed,
            when_full: WhenFull::Queue,
        };
    };
    assert_eq!(told(true, paced), None);
}
