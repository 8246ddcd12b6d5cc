//! Memory that workers lock, and the users that they run as.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use common::{assert_asked_by, for_time, job, run_jobs};
use fathom_engine::ExitClass;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, Caching, ExistingFiles, Job};

/// A user that no file of a test belongs to.
const OTHER: u32 = 54_321;

fn null() -> Job {
    let mut null = job(Path::new("/nothing"), Bytes::mib(1));
    null.backend = Backend::Null;
    null.limits = for_time(Nanos::from_millis(5));
    null
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn each_worker_locks_its_memory() {
    let mut job = null();
    job.name = "rights_locked".to_owned();
    job.workers = 2;
    // Long enough for the commands of both to run while both are there.
    job.limits = for_time(Nanos::from_millis(500));
    job.features.process.locked_memory = Bytes::mib(1);
    let command = "grep VmLck /proc/$PPID/status".to_owned();
    job.features.process.command_before = Some(command);
    run_jobs(vec![job]).unwrap();
    let kept = "rights_locked.prerun.txt";
    let told = fs::read_to_string(kept).unwrap();
    fs::remove_file(kept).unwrap();
    let words: Vec<_> = told.split_whitespace().collect();
    let kib: u64 = words[1].parse().unwrap();
    assert!(kib >= 2048, "{told}");
}

#[test]
fn memory_that_is_not_there_is_not_locked() {
    let mut job = null();
    job.features.process.locked_memory = Bytes::gib(1 << 20);
    let error = run_jobs(vec![job]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Input);
    let error = error.to_string();
    assert!(error.contains("for buffers and locked memory"), "{error}");
}

#[test]
fn files_are_opened_with_the_rights_of_the_jobs_user() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = directory.path().join("file");
    fs::write(&path, vec![1; 1 << 20]).unwrap();
    let mut job = job(&path, Bytes::mib(1));
    job.backend = Backend::Sync;
    job.caching = Caching::Buffered;
    job.existing = ExistingFiles::AsPeer;
    job.depth = 1;
    job.features.process.user = Some(OTHER);
    job.features.process.user_group = Some(OTHER);
    if !is_root() {
        let error = run_jobs(vec![job.clone()]).unwrap_err();
        assert_asked_by(&error, &job);
        assert!(error.to_string().contains("user 54321"), "{error}");
        return;
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        run_jobs(vec![job.clone()]).unwrap().results[0].workers[0].ios(),
        256
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let error = run_jobs(vec![job.clone()]).unwrap_err().to_string();
    assert!(error.contains("ermission denied"), "{error}");
    let cause = "it belongs to root:root, mode 0600, and this is user 54321; run as root";
    assert!(error.contains(cause), "{error}");
    // The rights were those of that job alone.
    job.features.process.user = None;
    job.features.process.user_group = None;
    assert!(run_jobs(vec![job]).is_ok());
}
