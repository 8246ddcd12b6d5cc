//! Writes that are stored whole or not at all are asked for where they are offered. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs::File;
use std::path::Path;

use common::{LoopDevice, Mounted, assert_asked_by, command, job, run_jobs};
use fathom_engine::ExitClass;
use fathom_record::EndReason;
use fathom_units::{Bytes, Percent};
use fathom_workload::{Backend, BlockSizes, Caching, Job, Limits, Mix};

/// `EINVAL`.
const INVALID: i32 = 22;
const BACKENDS: [Backend; 3] = [Backend::Sync, Backend::Libaio, Backend::IoUring];

fn writer(path: &Path, backend: Backend, block: Bytes) -> Job {
    let mut job = job(path, Bytes::mib(1));
    (job.backend, job.caching) = (backend, Caching::Direct);
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.block = BlockSizes::uniform(block);
    job.limits = Limits {
        ios: Some(32),
        ..Limits::default()
    };
    job.features.calls.atomic = true;
    job
}

/// XFS offers them without a disk's help since Linux 6.16. What is not at a multiple of its size cannot be one, which shows
/// that the kernel was asked for them; reads are none.
#[test]
fn writes_are_whole_or_not_at_all() {
    let device = LoopDevice::new(Bytes::mib(320));
    command(&format!("mkfs.xfs -q {}", device.path));
    let mounted = Mounted::new(&device.path);
    let path = mounted.directory.path().join("file");
    let file = File::create(path.with_extension("looked-at")).unwrap();
    let offered = fathom_rawio::atomic_write_sizes(&file).unwrap();
    for backend in BACKENDS {
        let outcome = run_jobs(vec![writer(&path, backend, Bytes::kib(16))]);
        let Some((least, most)) = offered else {
            let refused = outcome.unwrap_err().to_string();
            assert!(refused.contains("offers no writes"), "{refused}");
            continue;
        };
        let outcome = outcome.unwrap();
        let worker = &outcome.results[0].workers[0];
        assert!(worker.errors.is_empty(), "{backend:?}: {:?}", worker.errors);
        assert_eq!(worker.ios(), 32, "{backend:?}");

        let mut between = writer(&path, backend, Bytes::kib(16));
        between.targets[0].offset = Bytes::kib(4);
        between.targets[0].length = Some(Bytes::kib(512));
        let outcome = run_jobs(vec![between.clone()]).unwrap();
        let worker = &outcome.results[0].workers[0];
        assert_eq!(worker.ended, EndReason::Failed, "{backend:?}");
        assert_eq!(worker.errors[0].errno, INVALID, "{backend:?}");
        between.features.calls.atomic = false;
        let outcome = run_jobs(vec![between]).unwrap();
        assert!(outcome.failure.is_none(), "{:?}", outcome.failure);

        for size in [u64::from(least) / 2, u64::from(most) * 2] {
            if (512..=1 << 20).contains(&size) {
                let refused = run_jobs(vec![writer(&path, backend, Bytes::new(size))]);
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains("it offers those of"), "{refused}");
            }
        }
    }
}

#[track_caller]
fn check_refused(change: impl Fn(&mut Job), expected: (ExitClass, &str)) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    for backend in BACKENDS {
        let mut job = writer(&directory.path().join("file"), backend, Bytes::kib(4));
        change(&mut job);
        let error = run_jobs(vec![job.clone()]).unwrap_err();
        assert_eq!(error.exit_class(), expected.0, "{error}");
        if expected.0 == ExitClass::Unsupported {
            assert_asked_by(&error, &job);
        }
        assert!(error.to_string().contains(expected.1), "{error}");
    }
}

#[test]
fn what_cannot_be_atomic_is_told_before_any_io() {
    let invalid = |what| (ExitClass::Input, what);
    check_refused(
        |job| job.caching = Caching::Buffered,
        invalid("buffered writes cannot be atomic"),
    );
    check_refused(
        |job| job.block = BlockSizes::uniform(Bytes::kib(12)),
        invalid("an atomic write of 12 KiB is not possible"),
    );
    // Memory has no power to lose.
    let none = "it offers no writes that are stored whole or not at all";
    check_refused(|_| {}, (ExitClass::Unsupported, none));
}

/// A job that only reads asks for nothing.
#[test]
fn reads_are_not_asked() {
    let directory = tempfile::tempdir().unwrap();
    let mut reader = writer(
        &directory.path().join("file"),
        Backend::Sync,
        Bytes::kib(12),
    );
    (reader.mix, reader.caching) = (Mix::READ, Caching::Buffered);
    let outcome = run_jobs(vec![reader]).unwrap();
    assert_eq!(outcome.results[0].workers[0].ios(), 32);
}
