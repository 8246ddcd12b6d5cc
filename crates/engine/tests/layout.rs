//! Files are really written before they are measured, and nothing stays behind that should not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{Told, job, run_jobs, stage, workload};
use fathom_engine::{ExitClass, RunOptions, StopFlag, run};
use fathom_record::{Event, EventSink};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{ExistingFiles, Job, Mix, Place};

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "lost+found").collect()
}

#[test]
fn a_missing_file_is_written_in_full() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let size = Bytes::new((9 << 20) + 4096 + 100);
    let mut told = Told::default();
    let planned = workload(vec![job(&path, size)]);
    let stop = StopFlag::new();
    let outcome = run(&planned, &RunOptions::default(), &stop, &mut told).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, size.get());
    assert_eq!(outcome.facts.targets[0].unwritten_share, Some(0.0));
    let zeroes = bytes.iter().map(|byte| u64::from(*byte == 0)).sum::<u64>();
    assert!((zeroes as f64 / bytes.len() as f64 - 1.0 / 256.0).abs() < 0.001);
    assert_eq!(
        told.layout.last().map(|last| (last.1, last.2)),
        Some((size, size))
    );
}

/// Stops the run as its first stage begins, which then measures nothing.
struct StopAtStage(StopFlag);

impl EventSink for StopAtStage {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted { .. } = event {
            self.0.request();
        }
    }
}

#[test]
fn a_file_that_was_written_for_nothing_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut slow = job(&path, Bytes::mib(2));
    slow.limits.start_delay = Nanos::from_secs(3600);
    let stopped = |job: Job| {
        let stop = StopFlag::new();
        let mut sink = StopAtStage(stop.clone());
        let planned = workload(vec![job]);
        run(&planned, &RunOptions::default(), &stop, &mut sink).unwrap()
    };
    let outcome = stopped(slow.clone());
    assert!(outcome.interrupted && path.exists());
    let told = format!(
        "nothing was measured, but `{}` stays: 2 MiB",
        path.display()
    );
    let notes = &outcome.notes;
    assert!(
        notes.iter().any(|note| note.starts_with(&told)),
        "{notes:?}"
    );
    // What was there before is nobody's news, nor is what goes with the run.
    assert_eq!(stopped(slow.clone()).notes, [""; 0]);
    std::fs::remove_file(&path).unwrap();
    slow.unlink = true;
    assert_eq!(stopped(slow.clone()).notes, [""; 0]);
    slow.targets[0].place = Place::FreshFileIn(directory.path().display().to_string());
    assert_eq!(stopped(slow).notes, [""; 0]);
}

#[test]
fn files_of_several_jobs_are_laid_out_once_and_in_parallel() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c"].map(|name| directory.path().join(name));
    let mut jobs: Vec<_> = names.iter().map(|path| job(path, Bytes::mib(3))).collect();
    jobs.push(job(&names[0], Bytes::mib(4)));
    let outcome = run_jobs(jobs).unwrap();
    assert_eq!(outcome.facts.targets.len(), 3);
    let sizes = names.map(|path| std::fs::metadata(path).unwrap().len() >> 20);
    assert_eq!(sizes, [4, 3, 3]);
}

#[test]
fn a_file_that_is_long_enough_is_read_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(2 << 20).unwrap();
    let outcome = run_jobs(vec![job(&path, Bytes::mib(1))]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), vec![0; 2 << 20]);
    assert_eq!(outcome.facts.targets[0].unwritten_share, Some(1.0));
    assert!(
        outcome.notes[0].contains("holds no data"),
        "{:?}",
        outcome.notes
    );
}

#[test]
fn a_peer_makes_others_files_longer_and_keeps_what_they_hold() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![7; 100_001]).unwrap();
    let mut peer = job(&path, Bytes::mib(3));
    peer.existing = ExistingFiles::AsPeer;
    run_jobs(vec![peer]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 3 << 20);
    assert!(bytes[..100_001].iter().all(|byte| *byte == 7));
}

#[test]
fn a_fresh_file_is_gone_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    for make in [Place::Path, Place::FreshFileIn] {
        let mut fresh = job(directory.path(), Bytes::mib(2));
        fresh.targets[0].place = make(directory.path().display().to_string());
        fresh.mix = Mix::WRITE;
        let outcome = run_jobs(vec![fresh]).unwrap();
        assert_eq!(outcome.results[0].workers[0].ios(), 512);
        assert_eq!(names_in(directory.path()), [""; 0]);
    }
}

#[test]
fn files_are_unlinked_where_the_job_asks_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut unlinked = job(&directory.path().join("file"), Bytes::mib(1));
    unlinked.unlink = true;
    run_jobs(vec![unlinked]).unwrap();
    assert_eq!(names_in(directory.path()), [""; 0]);
}

/// A file that a later stage writes is that stage's.
#[test]
fn files_stay_that_a_later_stage_writes() {
    for (second, stays) in [(Mix::WRITE, true), (Mix::READ, false)] {
        let directory = tempfile::tempdir().unwrap();
        let first = Job {
            unlink: true,
            ..job(&directory.path().join("file"), Bytes::mib(1))
        };
        let second = Job {
            unlink: false,
            mix: second,
            ..first.clone()
        };
        let mut planned = workload(vec![first.clone()]);
        planned.stages.push(stage("second", vec![second]));
        let (options, stop) = (RunOptions::default(), StopFlag::new());
        run(&planned, &options, &stop, &mut Told::default()).unwrap();
        assert_eq!(directory.path().join("file").exists(), stays);
        // In the other order it is removed.
        planned.stages.reverse();
        run(&planned, &options, &stop, &mut Told::default()).unwrap();
        assert_eq!(names_in(directory.path()), [""; 0]);
    }
}

#[test]
fn more_than_fits_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let error = run_jobs(vec![job(&path, Bytes::gib(1 << 20))]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Target);
    let text = error.to_string();
    assert!(
        text.contains("free, but the files to be written there need 1 PiB"),
        "{text}"
    );
    assert!(!path.exists());
}
