//! What the kernel is told with or before the I/O has the effect it is known for.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{assert_asked_by, job, run_jobs};
use fathom_rawio as rawio;
use fathom_record::EndReason;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Advice, Backend, Caching, Calls, Coverage, ExistingFiles, Job, Lifetime, Limits, Mix,
    SequentialScope, Submitter, SyncPolicy,
};

const SIZE: Bytes = Bytes::mib(8);
const PAGES: u64 = SIZE.get() / 4096;
/// The number that Linux gives it.
const EAGAIN: i32 = 11;
const SEQUENTIAL: Access = Access::Sequential {
    gap: Bytes::ZERO,
    scope: SequentialScope::PerWorker,
};
const RANDOM: Access = Access::Random {
    coverage: Coverage::EachBlockOnce,
    run: 1,
};

/// Pages of a file in the page cache, which looking does not change.
fn cached_pages(path: &Path) -> u64 {
    let told = Command::new("fincore")
        .args(["--noheadings", "--output", "PAGES"])
        .arg(path)
        .output()
        .unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    told.trim().parse().unwrap()
}

#[test]
fn the_kernel_is_told_how_long_data_lives() {
    for (caching, lifetime, number) in [
        (Caching::Buffered, None, 0),
        (Caching::Buffered, Some(Lifetime::Unknown), 1),
        (Caching::Buffered, Some(Lifetime::Short), 2),
        (Caching::Direct, Some(Lifetime::Extreme), 5),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut job = job(&path, SIZE);
        (job.caching, job.features.calls.lifetime) = (caching, lifetime);
        (job.mix, job.limits.ios) = (Mix::WRITE, Some(8));
        // As long as the file is open, the kernel keeps what it was told of it.
        let file = fs::File::create(&path).unwrap();
        file.set_len(SIZE.get()).unwrap();
        job.existing = ExistingFiles::AsPeer;
        let outcome = run_jobs(vec![job]).unwrap();
        assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
        let told = rawio::lifetime_number(&file).unwrap();
        // Up to Linux 5.17, direct I/O has its word for one descriptor alone.
        if caching == Caching::Buffered || told > 0 {
            assert_eq!(told, number, "{lifetime:?}");
        }
    }
}

/// Runs a job that reads the first block of a cold file, and says whether pages behind it were read ahead.
fn reads_ahead(backend: Backend, access: Access, advice: Advice) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut first = job(&path, SIZE);
    first.limits.ios = Some(1);
    // Laid out, and dropped from the page cache.
    run_jobs(vec![first.clone()]).unwrap();
    let file = fs::File::open(&path).unwrap();
    file.sync_all().unwrap();
    rawio::drop_cache(&file, 0, 0).unwrap();
    assert_eq!(cached_pages(&path), 0);
    (first.backend, first.caching, first.access) = (backend, Caching::Buffered, access);
    first.targets[0].length = Some(SIZE);
    first.features.calls.advice = advice;
    let outcome = run_jobs(vec![first]).unwrap();
    assert_eq!(outcome.results[0].workers[0].ios(), 1);
    let pages = cached_pages(&path);
    assert!(pages > 0);
    pages > 1
}

#[test]
fn advice_says_whether_pages_are_read_ahead() {
    for backend in [Backend::Sync, Backend::IoUring, Backend::Mmap] {
        let ahead = |access, advice| reads_ahead(backend, access, advice);
        assert!(ahead(SEQUENTIAL, Advice::None), "{backend:?}");
        assert!(ahead(SEQUENTIAL, Advice::ByPattern), "{backend:?}");
        assert!(ahead(SEQUENTIAL, Advice::Sequential), "{backend:?}");
        assert!(!ahead(SEQUENTIAL, Advice::Random), "{backend:?}");
        assert!(!ahead(RANDOM, Advice::ByPattern), "{backend:?}");
    }
}

/// Pages that are cached when a job has read the lower half of a file once in random order, and one block of it again. The
/// upper half was cached before.
fn cached_in_second_pass(backend: Backend, change: impl FnOnce(&mut Job)) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut job = job(&path, SIZE);
    job.limits.ios = Some(1);
    run_jobs(vec![job.clone()]).unwrap();
    let file = fs::File::open(&path).unwrap();
    file.sync_all().unwrap();
    fs::read(&path).unwrap();
    assert_cached(cached_pages(&path), PAGES);
    (job.backend, job.caching, job.access) = (backend, Caching::Buffered, RANDOM);
    (job.drop_cache, job.depth) = (true, 1);
    job.targets[0].length = Some(Bytes::new(SIZE.get() / 2));
    (job.limits.ios, job.limits.loops) = (Some(PAGES / 2 + 1), 2);
    change(&mut job);
    let outcome = run_jobs(vec![job]).unwrap();
    assert!(outcome.results[0].workers[0].ios() > PAGES / 2);
    cached_pages(&path)
}

/// Whether so many pages are cached, but for the few that the kernel may take back by itself meanwhile.
#[track_caller]
fn assert_cached(cached: u64, expected: u64) {
    let least = expected - expected / 16;
    assert!(
        (least..=expected).contains(&cached),
        "{cached} of {expected}"
    );
}

#[test]
fn each_pass_reads_from_the_device() {
    for backend in [Backend::Sync, Backend::Libaio, Backend::IoUring] {
        let cached = cached_in_second_pass(backend, |_| {});
        assert_cached(cached, PAGES / 2 + 1);
    }
    // With hooks between the stream and the worker.
    let limited = cached_in_second_pass(Backend::Sync, |job| {
        job.features.errors.latency_max = [Some(Nanos::from_secs(100)); 3];
    });
    assert_cached(limited, PAGES / 2 + 1);
    let kept = cached_in_second_pass(Backend::Sync, |job| job.drop_cache = false);
    assert_cached(kept, PAGES);
    // Draws that may repeat come to no end of the file while there is time.
    let repeating = cached_in_second_pass(Backend::Sync, |job| {
        job.access = Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        };
        (job.limits.time_based, job.limits.runtime) = (true, Some(Nanos::from_secs(1)));
    });
    assert_cached(repeating, PAGES);
}

fn ring(calls: Calls) -> (tempfile::TempDir, Job) {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(&directory.path().join("file"), SIZE);
    job.backend = Backend::IoUring;
    job.limits = Limits {
        ios: Some(3),
        ..Limits::default()
    };
    job.features.calls = calls;
    (directory, job)
}

#[test]
fn what_would_block_fails_where_it_is_told_to() {
    let (_directory, mut job) = ring(Calls {
        no_wait: true,
        ..Calls::default()
    });
    (job.caching, job.drop_cache) = (Caching::Buffered, true);
    // Linux reads ahead even so, and a fast device may have some of the blocks there at once.
    job.limits = Limits::default();
    let outcome = run_jobs(vec![job]).unwrap();
    let worker = &outcome.results[0].workers[0];
    assert_eq!(worker.ended, EndReason::Failed);
    assert_eq!(worker.errors[0].errno, EAGAIN);
}

#[track_caller]
fn check_refused(calls: Calls, change: impl FnOnce(&mut Job), expected: &str) {
    let (_directory, mut job) = ring(calls);
    change(&mut job);
    let refused = run_jobs(vec![job]).unwrap_err().to_string();
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn what_cannot_be_asked_is_told_before_any_io() {
    let polled = Calls {
        polled: 100,
        ..Calls::default()
    };
    check_refused(
        polled,
        |job| job.caching = Caching::Buffered,
        "buffered I/O cannot be polled for",
    );
    let syncs: [fn(&mut SyncPolicy); 4] = [
        |sync| sync.fsync_every = 1,
        |sync| sync.fdatasync_every = 1,
        |sync| sync.at_end = true,
        |sync| sync.on_close = true,
    ];
    for ask in syncs {
        let writes = |job: &mut Job| {
            job.mix = Mix::WRITE;
            ask(&mut job.sync);
        };
        check_refused(
            polled,
            writes,
            "a ring that polls for completions has no syncs",
        );
    }
    let far = Calls {
        submitter: Some(Submitter {
            processor: Some(4095),
        }),
        ..Calls::default()
    };
    check_refused(far, |_| {}, "kernel thread on processor 4095");
    let (_directory, job) = ring(far);
    assert_asked_by(&run_jobs(vec![job.clone()]).unwrap_err(), &job);
}

/// Devices with queues for it are polled; the others are told by name before any I/O, not by errors of it.
#[test]
fn a_device_is_polled_or_named() {
    let (_directory, mut job) = ring(Calls {
        polled: 100,
        ..Calls::default()
    });
    // It only reads, so this asks for nothing.
    job.sync.fsync_every = 1;
    match run_jobs(vec![job]) {
        Ok(outcome) => assert_eq!(outcome.results[0].workers[0].ios(), 3),
        Err(refused) => {
            let refused = refused.to_string();
            assert!(refused.contains("io_poll is 0"), "{refused}");
        }
    }
}
