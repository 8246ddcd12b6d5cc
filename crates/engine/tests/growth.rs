//! Files that jobs write first: reserved as asked, not laid out, and doubted where they are read without having been
//! written.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use common::{Told, command, job, stage, workload};
use fathom_engine::{EngineError, ExitClass, RunOptions, RunOutcome, StopFlag, run};
use fathom_rawio::{OpenHow, extent_shares, open};
use fathom_record::{Event, EventSink};
use fathom_units::Bytes;
use fathom_workload::{
    Backend, Caching, ExistingFiles, Growth, Job, Mix, Place, Reserve, Workload,
};

const SIZE: Bytes = Bytes::mib(4);
const WAYS: [Reserve; 4] = [
    Reserve::Nothing,
    Reserve::Allocate,
    Reserve::KeepSize,
    Reserve::Truncate,
];

/// Writes all of the file.
fn writer(path: &Path, how: Reserve) -> Job {
    let mut writer = job(path, SIZE);
    writer.mix = Mix::WRITE;
    writer.existing = ExistingFiles::AsPeer;
    writer.features.files.grows = Growth::Reserved(how);
    writer
}

fn run_told(planned: &Workload, told: &mut Told) -> Result<RunOutcome, EngineError> {
    run(planned, &RunOptions::default(), &StopFlag::new(), told)
}

#[test]
fn space_is_reserved_and_nothing_else_is_written() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for how in WAYS {
        let path = directory.path().join(format!("{how:?}"));
        let mut few = writer(&path, how);
        few.limits.ios = Some(8);
        let mut told = Told::default();
        let outcome = run_told(&workload(vec![few]), &mut told).unwrap();
        assert_eq!(outcome.results[0].workers[0].ios(), 8);
        assert_eq!((told.layout.len(), told.notes.len()), (0, 0), "{how:?}");
        let found = fs::metadata(&path).unwrap();
        let sized = matches!(how, Reserve::Allocate | Reserve::Truncate);
        assert_eq!(found.len() == SIZE.get(), sized, "{how:?} {}", found.len());
        let reserved = matches!(how, Reserve::Allocate | Reserve::KeepSize);
        let blocks = found.blocks() * 512;
        assert_eq!(blocks >= SIZE.get(), reserved, "{how:?}: {blocks}");
        assert!(blocks < SIZE.get() + (64 << 10), "{how:?}: {blocks}");
        let shares = extent_shares(&open(&path, OpenHow::LOOK).unwrap(), Bytes::ZERO, SIZE);
        let shares = shares.unwrap();
        assert_eq!(shares.written, Bytes::kib(32), "{how:?}");
        let rest = if reserved {
            shares.unwritten
        } else {
            shares.hole
        };
        assert_eq!(rest, SIZE.saturating_sub(Bytes::kib(32)), "{how:?}");
    }
}

#[test]
fn what_one_stage_wrote_the_next_reads_without_a_doubt() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (backend, caching) in [
        (Backend::IoUring, Caching::Direct),
        (Backend::IoUring, Caching::Buffered),
        (Backend::Libaio, Caching::Direct),
        (Backend::Sync, Caching::Buffered),
    ] {
        for how in WAYS {
            let path = directory
                .path()
                .join(format!("{backend:?}{caching:?}{how:?}"));
            let mut jobs = [writer(&path, how), job(&path, SIZE)];
            for job in &mut jobs {
                (job.backend, job.caching) = (backend, caching);
                job.existing = ExistingFiles::AsPeer;
            }
            let [write, read] = jobs;
            let mut planned = workload(vec![write]);
            planned.stages.push(stage("read", vec![read]));
            let mut told = Told::default();
            let outcome = run_told(&planned, &mut told).unwrap();
            let what = format!("{backend:?} {caching:?} {how:?}");
            assert!(outcome.failure.is_none(), "{what}");
            let ios = |stage: usize| outcome.results[stage].workers[0].ios();
            assert_eq!((ios(0), ios(1)), (1024, 1024), "{what}");
            assert_eq!(outcome.notes, [""; 0], "{what}");
            // A reader that finds no size has the file laid out, as fio has it.
            let laid_out = matches!(how, Reserve::Nothing | Reserve::KeepSize);
            assert_eq!(!told.layout.is_empty(), laid_out, "{what}");
            assert_eq!(
                outcome.facts.targets[0].unwritten_share,
                Some(0.0),
                "{what}"
            );
        }
    }
}

#[test]
fn a_file_written_whole_by_a_job_is_not_laid_out_for_later_ones() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("file");
    let mut whole = writer(&path, Reserve::Nothing);
    whole.features.files.grows = Growth::Whole;
    let mut planned = workload(vec![whole]);
    planned.stages.push(stage("read", vec![job(&path, SIZE)]));
    let mut told = Told::default();
    let outcome = run_told(&planned, &mut told).unwrap();
    assert!(outcome.failure.is_none() && told.layout.is_empty());
    assert_eq!(outcome.results[1].workers[0].ios(), 1024);
}

#[test]
fn reads_of_what_was_never_written_are_told() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let told_of = |planned: &Workload, share: f64| {
        let mut told = Told::default();
        let outcome = run_told(planned, &mut told).unwrap();
        assert_eq!(told.layout, []);
        let found = outcome.facts.targets[0].unwritten_share.unwrap();
        assert!((found - share).abs() < 0.01, "{found}");
        let [note] = outcome.notes.as_slice() else {
            panic!("{:?}", outcome.notes)
        };
        assert!(note.contains("holds no data"), "{note}");
    };
    for how in [Reserve::Allocate, Reserve::Truncate] {
        let path = directory.path().join(format!("{how:?}"));
        let mut half = writer(&path, how);
        half.limits.ios = Some(512);
        let mut planned = workload(vec![half]);
        // Twice: it is told once.
        for name in ["read", "again"] {
            planned.stages.push(stage(name, vec![job(&path, SIZE)]));
        }
        told_of(&planned, 0.5);
        // In the same stage nothing is written yet.
        let path = directory.path().join(format!("{how:?} together"));
        told_of(&workload(vec![writer(&path, how), job(&path, SIZE)]), 1.0);
    }
}

#[test]
fn what_a_file_holds_stays() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for how in WAYS {
        let path = directory.path().join(format!("{how:?}"));
        fs::write(&path, vec![7; 100_001]).unwrap();
        let mut rest = writer(&path, how);
        rest.targets[0].offset = Bytes::mib(1);
        run_told(&workload(vec![rest]), &mut Told::default()).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, (5 << 20), "{how:?}");
        assert!(bytes[..100_001].iter().all(|byte| *byte == 7), "{how:?}");
        assert!(bytes[100_001..1 << 20].iter().all(|byte| *byte == 0));
    }
}

/// Does something when a note is told: files are made by then, and no stage has begun.
struct AtNote<F: FnMut()>(F);

impl<F: FnMut()> EventSink for AtNote<F> {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Note { .. }) {
            (self.0)();
        }
    }
}

/// A missing and a short file that are to grow, and a hollow one whose holes are told of.
fn three(directory: &Path, how: Reserve) -> Workload {
    let [new, short, hollow] = ["new", "short", "hollow"].map(|name| directory.join(name));
    fs::write(&short, [7; 4096]).unwrap();
    fs::File::create(&hollow).unwrap().set_len(4 << 20).unwrap();
    let jobs = vec![writer(&new, how), writer(&short, how), job(&hollow, SIZE)];
    workload(jobs)
}

#[test]
fn a_run_that_does_not_begin_leaves_files_as_they_were() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| directory.path().join(name);
    for how in WAYS {
        let planned = three(directory.path(), how);
        let options = RunOptions::default();
        let check = || {
            assert!(!at("new").exists(), "{how:?}");
            assert_eq!(fs::read(at("short")).unwrap(), [7; 4096], "{how:?}");
            assert!(fs::metadata(at("short")).unwrap().blocks() <= 16, "{how:?}");
        };
        let stop = StopFlag::new();
        let mut seen = 0;
        let mut stops = AtNote(|| {
            seen += usize::from(at("new").exists());
            stop.request();
        });
        let outcome = run(&planned, &options, &stop, &mut stops).unwrap();
        assert!(outcome.interrupted && outcome.results.is_empty());
        assert_eq!(seen, 1, "it was made, and is gone");
        check();
        // The stage cannot begin without all its files.
        let mut removes = AtNote(|| fs::remove_file(at("hollow")).unwrap());
        let error = run(&planned, &options, &StopFlag::new(), &mut removes).unwrap_err();
        assert!(error.to_string().contains("hollow"), "{error}");
        check();
    }
}

#[test]
fn a_file_that_was_made_is_ours() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("file");
    for _ in 0..2 {
        let mut again = writer(&path, Reserve::Allocate);
        again.existing = ExistingFiles::OnlyOurs;
        run_told(&workload(vec![again]), &mut Told::default()).unwrap();
    }
}

#[test]
fn space_that_is_not_there_is_refused_where_it_is_reserved_and_missed_where_it_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().display().to_string();
    command(&format!("mount -t tmpfs -o size=2m tmpfs {place}"));
    let path = directory.path().join("file");
    let ran = WAYS.map(|how| {
        let mut writer = writer(&path, how);
        (writer.caching, writer.backend) = (Caching::Buffered, Backend::Sync);
        let ran = run_told(&workload(vec![writer]), &mut Told::default());
        let _ = fs::remove_file(&path);
        ran
    });
    command(&format!("umount {place}"));
    for (how, ran) in WAYS.into_iter().zip(ran) {
        if matches!(how, Reserve::Allocate | Reserve::KeepSize) {
            let error = ran.unwrap_err();
            assert!(
                matches!(error, EngineError::NoSpace { .. }),
                "{how:?}: {error}"
            );
            assert_eq!(error.exit_class(), ExitClass::Target);
        } else {
            let outcome = ran.unwrap();
            let failure = outcome.failure.unwrap().to_string();
            assert!(failure.contains("No space left"), "{how:?}: {failure}");
            assert!(outcome.results[0].workers[0].ios() > 256);
        }
    }
}

#[test]
fn a_fresh_file_grows_too() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for how in WAYS {
        let mut told = Told::default();
        let mut fresh = writer(directory.path(), how);
        fresh.targets[0].place = Place::FreshFileIn(directory.path().display().to_string());
        let outcome = run_told(&workload(vec![fresh]), &mut told).unwrap();
        assert_eq!(outcome.results[0].workers[0].ios(), 1024);
        assert_eq!(told.layout, []);
    }
}
