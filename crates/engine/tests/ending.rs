//! Whatever ends a run early, what was measured is kept and nothing is left behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Told, for_time, job, stage, workload};
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
        assert!(outcome.results[0].measured < Nanos::from_secs(60));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

/// Ends the first stage at its first interval and leaves out the one after it; keeps which jobs were told of.
struct Chooser {
    stop: StopFlag,
    begun: Vec<String>,
    ios: u64,
}

impl EventSink for Chooser {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::StageStarted { name, .. } => self.begun.push((*name).to_owned()),
            Event::JobInterval {
                index: 0,
                directions,
                ..
            } => {
                let stats = directions.iter().flatten();
                self.ios += stats.map(fathom_record::OpStats::ios).sum::<u64>();
            }
            Event::Interval { .. } => self.stop.end_stage(),
            Event::StageFinished { index: 0, .. } => self.stop.skip_stages(1),
            _ => {}
        }
    }

    fn wants_jobs(&self) -> bool {
        true
    }
}

#[test]
fn a_stage_can_be_ended_and_others_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut long = job(directory.path(), Bytes::mib(2));
    long.limits = for_time(Nanos::from_secs(600));
    let mut planned = workload(vec![long.clone()]);
    let mut short = long.clone();
    short.limits = for_time(Nanos::from_millis(100));
    planned.stages.push(stage("left out", vec![long]));
    planned.stages.push(stage("last", vec![short]));
    let stop = StopFlag::new();
    let mut chooser = Chooser {
        stop: stop.clone(),
        begun: Vec::new(),
        ios: 0,
    };
    let outcome = run(&planned, &RunOptions::default(), &stop, &mut chooser).unwrap();
    assert!(!outcome.interrupted);
    assert_eq!(chooser.begun, [planned.stages[0].name.as_str(), "last"]);
    let stages: Vec<usize> = outcome.results.iter().map(|result| result.stage).collect();
    assert_eq!(stages, [0, 2]);
    let done = outcome.results[0].workers[0].ios();
    assert!(outcome.results[0].measured < Nanos::from_secs(60));
    // The intervals of the job hold all that it did.
    assert_eq!(chooser.ios, done);
    assert_eq!(outcome.results[1].workers[0].ended, EndReason::Time);
}

/// I/Os that each job was told of before each interval.
#[derive(Default)]
struct ByInterval {
    jobs: Vec<(usize, u64)>,
    intervals: Vec<Vec<(usize, u64)>>,
}

impl EventSink for ByInterval {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::JobInterval {
                job, directions, ..
            } => {
                let stats = directions.iter().flatten();
                let ios = stats.map(fathom_record::OpStats::ios).sum();
                self.jobs.push((*job, ios));
            }
            Event::Interval { .. } => self.intervals.push(std::mem::take(&mut self.jobs)),
            _ => {}
        }
    }

    fn wants_jobs(&self) -> bool {
        true
    }
}

#[test]
fn what_a_job_did_that_ended_early_belongs_to_the_second_in_which_it_was_done() {
    let directory = tempfile::tempdir().unwrap();
    for backend in [Backend::IoUring, Backend::Sync] {
        for warmup in [Nanos::ZERO, Nanos::from_secs(1)] {
            let mut short = job(directory.path(), Bytes::mib(2));
            short.backend = backend;
            short.limits.warmup = warmup;
            let mut long = short.clone();
            long.limits = for_time(Nanos::from_millis(2200) - warmup);
            long.limits.warmup = warmup;
            let mut told = ByInterval::default();
            let planned = workload(vec![short, long]);
            let (options, stop) = (RunOptions::default(), StopFlag::new());
            run(&planned, &options, &stop, &mut told).unwrap();
            let of_short = told.intervals.iter().map(|jobs| {
                let of_short = jobs.iter().filter(|(job, _)| *job == 0);
                of_short.map(|(_, ios)| ios).sum::<u64>()
            });
            // All 512 blocks of the file, in the first second, measured or not.
            assert_eq!(
                of_short.collect::<Vec<_>>(),
                [512, 0, 0],
                "{backend:?} {warmup:?}"
            );
        }
    }
}

#[test]
fn what_failed_in_a_stage_without_a_record_is_told_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![7; 2 << 20]).unwrap();
    // The first stage reads past the end of a file that was cut meanwhile, the second does not.
    let mut planned = workload(vec![job(&path, Bytes::mib(2))]);
    planned.stages[0].name = "prepare".to_owned();
    planned.stages[0].jobs[0].limits.start_delay = Nanos::from_millis(100);
    planned.stages[0].discard = true;
    let second = stage("measure", vec![job(&path, Bytes::mib(1))]);
    planned.stages.push(second);
    let options = RunOptions {
        on_error: ErrorPolicy::Continue,
        ..RunOptions::default()
    };
    let mut told = CutterTold(Cutter(path), Told::default());
    let outcome = run(&planned, &options, &StopFlag::new(), &mut told).unwrap();
    assert_eq!(outcome.results.len(), 1);
    assert_eq!(told.1.failed, 0, "as many as the record has");
    let note = "256 I/Os failed in stage `prepare`, ";
    assert!(
        told.1.notes.iter().any(|text| text.starts_with(note)),
        "{:?}",
        told.1.notes
    );
    assert_eq!(outcome.notes, told.1.notes);
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
            let past_the_cut = |place: &(u32, u64)| place.1 >= 1 << 20;
            assert!(worker.errors[0].first_offsets.iter().all(past_the_cut));
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

/// The same, and what was told.
struct CutterTold(Cutter, Told);

impl EventSink for CutterTold {
    fn event(&mut self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}

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
