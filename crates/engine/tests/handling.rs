//! Files and errors that are treated otherwise than by default.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{Mounted, for_time, job, run_jobs, target};
use fathom_record::{EndReason, OpStats};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Backend, Caching, ExistingFiles, Growth, Limits, Mix, Reserve, SequentialScope,
    SyncRange,
};

#[test]
fn a_job_goes_on_after_errors_it_survives() {
    // Reads past the end of a device fail; a pipe of zero length stands in for one that is broken.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut shrinking = job(&path, Bytes::kib(64));
    shrinking.caching = Caching::Buffered;
    shrinking.backend = Backend::Sync;
    let mut cut = job(&path, Bytes::kib(64));
    cut.features.operation = Some(fathom_workload::FileOperation::Truncate);
    (cut.mix, cut.existing) = (Mix::WRITE, ExistingFiles::AsPeer);
    cut.caching = Caching::Buffered;
    cut.limits.ios = Some(1);
    shrinking.features.process.after = Some("cut".to_owned());
    cut.name = "cut".to_owned();
    cut.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    for (survived, ended, errors) in [(false, EndReason::Failed, 1), (true, EndReason::Done, 16)] {
        let mut reading = shrinking.clone();
        reading.features.errors.go_on = [survived; 3];
        let outcome = run_jobs(vec![cut.clone(), reading]).unwrap();
        let workers = &outcome.results[0].workers;
        let reader = workers.iter().find(|worker| worker.job == 1).unwrap();
        let failed: u64 = reader.errors.iter().map(|error| error.count).sum();
        assert_eq!((reader.ended, failed), (ended, errors));
        assert_eq!(outcome.failure.is_none(), survived);
    }
}

#[test]
fn a_file_system_that_is_full_is_the_end_where_that_is_asked_for() {
    let small = Mounted::new("-t tmpfs -o size=64k tmpfs");
    let mut fills = job(&small.directory.path().join("file"), Bytes::kib(1024));
    (fills.mix, fills.existing) = (Mix::WRITE, ExistingFiles::AsPeer);
    (fills.backend, fills.caching) = (Backend::Sync, Caching::Buffered);
    fills.access = Access::Sequential {
        gap: Bytes::ZERO,
        scope: SequentialScope::PerWorker,
    };
    fills.features.files.grows = Growth::Reserved(Reserve::Nothing);
    // Its time is far away, and it would begin anew: neither counts any more.
    for limits in [Limits::default(), for_time(Nanos::from_secs(600))] {
        fills.limits = limits;
        fills.features.errors.full_ends = true;
        let outcome = run_jobs(vec![fills.clone()]).unwrap();
        assert!(outcome.failure.is_none());
        let worker = &outcome.results[0].workers[0];
        assert_eq!((worker.ended, worker.ios()), (EndReason::Time, 16));
        assert!(worker.errors.is_empty());
        assert!(worker.measured < Nanos::from_secs(600));
        fills.features.errors.full_ends = false;
        let outcome = run_jobs(vec![fills.clone()]).unwrap();
        let worker = &outcome.results[0].workers[0];
        assert_eq!((worker.ended, worker.ios()), (EndReason::Failed, 16));
        assert_eq!(worker.errors[0].errno, 28);
    }
}

#[test]
fn an_io_that_takes_too_long_ends_the_job() {
    let directory = tempfile::tempdir().unwrap();
    let mut slow = job(&directory.path().join("file"), Bytes::mib(1));
    slow.features.errors.latency_max = [Some(Nanos::new(1)), None, None];
    let outcome = run_jobs(vec![slow.clone()]).unwrap();
    let failure = outcome.failure.unwrap().to_string();
    assert!(failure.contains("where 1 ns is the most"), "{failure}");
    // It has succeeded, and its time is among the others.
    let worker = &outcome.results[0].workers[0];
    assert!(worker.ios() > 0);
    assert_eq!(worker.ios(), worker.errors[0].count);
    slow.features.errors.latency_max = [Some(Nanos::from_secs(60)), None, None];
    assert!(run_jobs(vec![slow]).unwrap().failure.is_none());
}

#[test]
fn files_are_written_back_and_read_before() {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), Bytes::mib(1));
    (job.mix, job.caching) = (Mix::WRITE, Caching::Buffered);
    job.features.files.pre_read = true;
    job.features.files.end_syncfs = true;
    job.features.files.sync_range = Some(SyncRange {
        every: 16,
        wait_before: true,
        write: true,
        wait_after: true,
    });
    let outcome = run_jobs(vec![job]).unwrap();
    assert!(outcome.failure.is_none());
    let written = outcome.results[0].workers[0].directions[1].as_ref();
    assert_eq!(written.map(OpStats::ios), Some(256));
}

#[test]
fn ranges_are_written_back_before_another_write_alone() {
    // The call fails of a device that stores nothing, so that it shows whether there was one.
    #[track_caller]
    fn check(length: Bytes, backend: Backend, expected: (u64, Option<&str>)) {
        let null = Path::new("/dev/null");
        let mut job = job(null, length);
        (job.mix, job.caching, job.backend) = (Mix::WRITE, Caching::Buffered, backend);
        job.access = Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        };
        job.targets = vec![target(null, Some(length))];
        job.existing = ExistingFiles::AsPeer;
        job.features.files.sync_range = Some(SyncRange {
            every: 4,
            wait_before: false,
            write: true,
            wait_after: false,
        });
        let outcome = run_jobs(vec![job]).unwrap();
        let written = outcome.results[0].workers[0].directions[1].as_ref();
        let failure = outcome.failure.map(|error| error.to_string());
        let says = failure.as_deref().zip(expected.1);
        assert!(
            says.is_none_or(|(it, part)| it.contains(part)),
            "{failure:?}"
        );
        let found = (written.map_or(0, OpStats::ios), failure.is_some());
        assert_eq!(found, (expected.0, expected.1.is_some()), "{failure:?}");
    }
    for backend in [Backend::Sync, Backend::IoUring, Backend::Libaio] {
        check(Bytes::kib(16), backend, (4, None));
        check(Bytes::kib(20), backend, (5, Some("Illegal seek")));
        // Where a rest is left that no block fits into, another is looked for.
        check(Bytes::kib(18), backend, (4, Some("Illegal seek")));
    }
}

#[test]
fn a_file_that_must_exist_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut job = job(&path, Bytes::kib(64));
    job.features.files.must_exist = true;
    let error = run_jobs(vec![job.clone()]).unwrap_err().to_string();
    assert!(
        error.contains("it does not exist, and the job may not make it"),
        "{error}"
    );
    assert!(!path.exists());
    std::fs::write(&path, vec![1; 65536]).unwrap();
    job.targets = vec![target(&path, None)];
    assert!(run_jobs(vec![job]).is_ok());
}
