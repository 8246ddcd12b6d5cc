//! Many files and many workers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{for_time, job, run_jobs, target};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Backend, Caching, ExistingFiles, FileChoice};

#[test]
fn ten_thousand_files_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let paths = (0..10_000).map(|number| directory.path().join(number.to_string()));
    let paths: Vec<_> = paths.collect();
    for path in &paths {
        std::fs::write(path, [7; 512]).unwrap();
    }
    let mut job = job(&paths[0], Bytes::new(512));
    job.targets = paths.iter().map(|path| target(path, None)).collect();
    job.block = fathom_workload::BlockSizes::uniform(Bytes::new(512));
    (job.backend, job.caching) = (Backend::Sync, Caching::Buffered);
    (job.file_choice, job.existing) = (FileChoice::Random, ExistingFiles::AsPeer);
    let outcome = run_jobs(vec![job]).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    assert_eq!(outcome.results[0].workers[0].ios(), 10_000);
}

#[test]
fn a_thousand_workers_start_promptly() {
    let mut job = job(std::path::Path::new("/nothing"), Bytes::mib(1));
    (job.backend, job.workers, job.depth) = (Backend::Null, 1_000, 1);
    job.limits = for_time(Nanos::from_millis(500));
    job.limits.time_based = false;
    let outcome = run_jobs(vec![job]).unwrap();
    let workers = &outcome.results[0].workers;
    assert_eq!(workers.len(), 1_000);
    assert!(workers.iter().all(|worker| worker.ios() == 256));
    let last = workers.iter().map(|worker| worker.started).max().unwrap();
    assert!(last < Nanos::from_secs(2), "the last began after {last}");
}
