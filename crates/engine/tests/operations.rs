//! Operations on files and directories in place of reads and writes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{job, run_jobs, target};
use fathom_engine::{EngineError, RunOutcome};
use fathom_record::OpStats;
use fathom_units::Bytes;
use fathom_workload::{
    Access, Backend, Caching, ExistingFiles, FileChoice, FileOperation, Job, Mix, SequentialScope,
    StatCall,
};

const BLOCK: Bytes = Bytes::kib(4);

fn paths(directory: &Path, count: usize) -> Vec<std::path::PathBuf> {
    let names = (0..count).map(|number| directory.join(format!("name {number}")));
    names.collect()
}

fn operation(operation: FileOperation, paths: &[std::path::PathBuf]) -> Job {
    let mut job = job(&paths[0], BLOCK);
    job.targets = paths.iter().map(|path| target(path, Some(BLOCK))).collect();
    job.file_choice = FileChoice::Sequential;
    job.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    job.existing = ExistingFiles::AsPeer;
    job.features.operation = Some(operation);
    job
}

fn done(outcome: &RunOutcome) -> u64 {
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let stats = outcome.results[0].workers[0].directions.iter().flatten();
    stats.map(OpStats::ios).sum()
}

#[test]
fn each_name_gets_one_operation() {
    use FileOperation::{Create, CreateDirectory, Delete, DeleteDirectory, Stat, StatDirectory};
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 50);
    let count = |exists: fn(&Path) -> bool| paths.iter().filter(|path| exists(path)).count();
    for (what, files, directories) in [
        (Create, 50, 0),
        (Stat(StatCall::Statx), 50, 0),
        (Delete, 0, 0),
        (CreateDirectory, 0, 50),
        (StatDirectory(StatCall::Lstat), 0, 50),
        (DeleteDirectory, 0, 0),
        // What is to be looked at or removed is made first.
        (Stat(StatCall::Stat), 50, 0),
        (Delete, 0, 0),
        (DeleteDirectory, 0, 0),
    ] {
        let outcome = run_jobs(vec![operation(what, &paths)]).unwrap();
        assert_eq!(done(&outcome), 50, "{what:?}");
        let found = (count(Path::is_file), count(Path::is_dir));
        assert_eq!(found, (files, directories), "{what:?}");
    }
}

/// No file is open that could be trimmed or synced.
#[test]
fn trims_and_syncs_of_names_are_operations_and_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 10);
    for mix in [Mix::TRIM, Mix::WRITE] {
        for what in [
            FileOperation::Create,
            FileOperation::Stat(StatCall::Stat),
            FileOperation::Delete,
        ] {
            let mut job = operation(what, &paths);
            job.mix = mix;
            (job.sync.at_end, job.sync.on_close) = (true, true);
            assert_eq!(done(&run_jobs(vec![job]).unwrap()), 10, "{what:?}");
        }
        assert!(paths.iter().all(|path| !path.exists()));
    }
}

#[track_caller]
fn check_refused(job: Job, expected: &str) {
    let error = run_jobs(vec![job]).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn only_what_is_meant_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 3);
    std::fs::create_dir(&paths[0]).unwrap();
    std::fs::write(&paths[1], "kept").unwrap();
    std::os::unix::fs::symlink(&paths[1], &paths[2]).unwrap();
    let delete = FileOperation::Delete;
    check_refused(operation(delete, &paths[..1]), "is no regular file");
    check_refused(operation(delete, &paths[2..]), "is no regular file");
    check_refused(
        operation(delete, &["/dev/null".into()]),
        "is no regular file",
    );
    check_refused(
        operation(FileOperation::DeleteDirectory, &paths[1..2]),
        "is no directory",
    );
    let mut native = operation(delete, &paths[1..2]);
    native.existing = ExistingFiles::OnlyOurs;
    let error = run_jobs(vec![native]).unwrap_err();
    assert!(matches!(error, EngineError::Refused(_)), "{error}");
    let mut native = operation(FileOperation::DeleteDirectory, &paths[..1]);
    native.existing = ExistingFiles::OnlyOurs;
    assert!(matches!(
        run_jobs(vec![native]).unwrap_err(),
        EngineError::Refused(_)
    ));
    assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), "kept");
    assert!(paths[0].is_dir());
}

#[test]
fn a_failed_operation_ends_the_job() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 1);
    std::fs::create_dir(&paths[0]).unwrap();
    std::fs::write(paths[0].join("file"), "").unwrap();
    let job = operation(FileOperation::DeleteDirectory, &paths);
    let outcome = run_jobs(vec![job]).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(failure.contains("Directory not empty"), "{failure}");
}

#[test]
fn names_are_counted_apart_from_reads() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 5);
    let workload = common::workload(vec![operation(FileOperation::Create, &paths)]);
    let outcome = run_jobs(workload.stages[0].jobs.clone()).unwrap();
    let record = fathom_record::stage_record(&workload.stages[0], &outcome.results[0]);
    let job = &record.jobs[0];
    assert_eq!((job.meta["create"].ios, job.read.is_none()), (5, true));
    assert!(record.total.all.is_none() && record.total.read.is_none());
}

#[test]
fn space_is_reserved_and_files_are_cut() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    for (what, mix, size) in [
        (FileOperation::Allocate, Mix::WRITE, 64 << 10),
        (FileOperation::Allocate, Mix::TRIM, 64 << 10),
        (FileOperation::Truncate, Mix::WRITE, 60 << 10),
    ] {
        let mut job = operation(what, std::slice::from_ref(&path));
        job.targets[0].length = Some(Bytes::kib(64));
        job.mix = mix;
        job.caching = Caching::Buffered;
        let outcome = run_jobs(vec![job]).unwrap();
        assert_eq!(done(&outcome), 16, "{what:?}");
        assert_eq!(path.metadata().unwrap().len(), size, "{what:?}");
    }
}

#[test]
fn mapped_files_are_read_and_written() {
    let directory = tempfile::tempdir().unwrap();
    for (mix, caching) in [
        (Mix::WRITE, Caching::Buffered),
        (Mix::READ, Caching::Buffered),
        (Mix::WRITE, Caching::Direct),
    ] {
        let mut job = job(&directory.path().join("file"), Bytes::mib(1));
        (job.backend, job.mix, job.caching) = (Backend::Mmap, mix, caching);
        job.sync.fsync_every = 100;
        assert_eq!(done(&run_jobs(vec![job]).unwrap()), 256);
    }
}

#[test]
fn one_that_fails_is_told_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("name");
    let job = operation(FileOperation::Delete, &[path.clone(), path]);
    let outcome = run_jobs(vec![job]).unwrap();
    let told = outcome.failure.unwrap().to_string();
    assert!(told.contains(": delete of `"), "{told}");
    assert!(told.contains("`: No such file or directory"), "{told}");
    assert!(!told.contains("offset"), "{told}");
}

/// A second run finds the file that the first has made, and leaves it as it is; to remove it needs leave.
#[test]
fn a_file_that_is_there_may_be_opened_by_create() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 1);
    std::fs::write(&paths[0], "kept").unwrap();
    let mut job = operation(FileOperation::Create, &paths);
    job.existing = ExistingFiles::OnlyOurs;
    assert_eq!(done(&run_jobs(vec![job.clone()]).unwrap()), 1);
    assert_eq!(std::fs::read(&paths[0]).unwrap(), b"kept");
    job.unlink = true;
    let refused = run_jobs(vec![job]).unwrap_err();
    assert!(matches!(refused, EngineError::Refused(_)), "{refused}");
}

/// It is told by its own name, not as a read.
#[test]
fn an_operation_that_fails_is_told_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let paths = paths(directory.path(), 1);
    std::fs::create_dir(&paths[0]).unwrap();
    let mut job = operation(FileOperation::CreateDirectory, &paths);
    job.features.errors.go_on = [true; 3];
    let outcome = run_jobs(vec![job.clone()]).unwrap();
    let errors = &outcome.results[0].workers[0].errors;
    assert_eq!(errors[0].name(), "mkdir");
    assert!(errors[0].is_of_direction());
    job.features.errors.go_on = [false; 3];
    job.existing = ExistingFiles::AsPeer;
    let outcome = run_jobs(vec![job]).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.ends_with("hint: remove it first, or name another"),
        "{failure}"
    );
}
