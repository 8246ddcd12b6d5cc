//! Whatever ends a run early, what was measured is kept and nothing is left behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{for_time, job, stage, workload};
use fathom_engine::{EngineError, ErrorPolicy, ExitClass, RunOptions, StopFlag, run};
use fathom_record::{EndReason, Event, EventSink};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Arrival, Backend, Pacing, Poisson, WhenFull};

/// Raises the flag at the first interval, as a user might.
struct Stopper(StopFlag);

impl EventSink for Stopper {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Interval { .. } = event {
            self.0.request();
        }
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let directory = tempfile::tempdir().unwrap();
    for backend in [
        Backend::IoUring,
        Backend::Libaio,
        Backend::Sync,
        Backend::Null,
    ] {
        let mut long = job(directory.path(), Bytes::mib(2));
        long.backend = backend;
        long.limits = for_time(Nanos::from_secs(600));
        let mut slow = long.clone();
        slow.arrival = Arrival::Open {
            rate: Pacing::Iops(fathom_units::Iops::new(2)),
            poisson: Poisson::Fixed,
            when_full: WhenFull::Queue,
        };
        let mut planned = workload(vec![long.clone(), slow]);
        planned.stages.push(stage("never", vec![long]));
        let stop = StopFlag::new();
        let options = RunOptions::default();
        let outcome = run(&planned, &options, &stop, &mut Stopper(stop.clone())).unwrap();
        assert!(outcome.interrupted);
        assert_eq!(outcome.results.len(), 1);
        let worker = &outcome.results[0].workers[0];
        assert_eq!(worker.ended, EndReason::Interrupted);
        assert!(worker.ios() > 100 && worker.measured > Nanos::from_millis(900));
        assert!(outcome.results[0].measured < Nanos::from_secs(5));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_failed_io_ends_the_run_or_is_counted() {
    // Past the end of a file that was cut behind our back: reads give nothing, which is an error.
    let directory = tempfile::tempdir().unwrap();
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        for on_error in [ErrorPolicy::Stop, ErrorPolicy::Continue] {
            let path = directory.path().join("file");
            std::fs::write(&path, vec![7; 2 << 20]).unwrap();
            let mut reader = job(&path, Bytes::mib(2));
            reader.backend = backend;
            reader.limits.start_delay = Nanos::from_millis(100);
            let planned = workload(vec![reader.clone()]);
            let options = RunOptions {
                on_error,
                ..RunOptions::default()
            };
            let mut cutter = Cutter(path.clone());
            let outcome = run(&planned, &options, &StopFlag::new(), &mut cutter).unwrap();
            let worker = &outcome.results[0].workers[0];
            let errors: u64 = worker.errors.iter().map(|error| error.count).sum();
            assert_eq!(worker.errors[0].errno, 0);
            if on_error == ErrorPolicy::Continue {
                assert!(outcome.failure.is_none());
                assert_eq!((worker.ios(), errors), (256, 256));
                assert_eq!(worker.errors[0].first_offsets.len(), 8);
                assert_eq!(worker.ended, EndReason::Done);
            } else {
                let failure = outcome.failure.unwrap();
                assert_eq!(failure.exit_class(), ExitClass::Target);
                assert!(matches!(failure, EngineError::Io { .. }), "{failure}");
                assert!(worker.ios() + errors < 512);
                assert_eq!(worker.ended, EndReason::Failed);
            }
        }
    }
}

/// Cuts a file in half when the stage begins.
struct Cutter(std::path::PathBuf);

impl EventSink for Cutter {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted { .. } = event {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(&self.0)
                .unwrap();
            file.set_len(1 << 20).unwrap();
        }
    }
}
