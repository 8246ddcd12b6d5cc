//! Input that cannot be run is refused in full before anything is written, and never panics.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{assert_asked_by, job, run_jobs, target};
use fathom_engine::{EngineError, ExitClass};
use fathom_units::{Bytes, Iops, Nanos};
use fathom_workload::{
    Arrival, Backend, BlockSizes, Caching, Job, Mix, Pacing, Place, Poisson, WhenFull,
};

#[track_caller]
fn check(change: impl Fn(&mut Job, &Path), expected: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let mut changed = job(&directory.path().join("file"), Bytes::mib(1));
    change(&mut changed, directory.path());
    let error = run_jobs(vec![changed]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Input, "{error}");
    let text = error.to_string();
    for part in expected {
        assert!(text.contains(part), "`{part}` is missing from: {text}");
    }
    assert!(!directory.path().join("file").exists());
}

#[test]
fn targets_that_are_not_there_or_hold_nothing() {
    check(
        |job, at| job.targets[0] = target(&at.join("no/file"), Some(Bytes::mib(1))),
        &["there is no directory", "make the directory first"],
    );
    check(
        |job, at| job.targets[0] = target(&at.join("file"), None),
        &["it holds no bytes, and no size is given"],
    );
    check(
        |job, _| job.targets[0].length = Some(Bytes::ZERO),
        &["it holds no bytes"],
    );
    check(
        |job, at| job.targets[0] = target(at, None),
        &["it is a directory, and no size is given"],
    );
    check(
        |job, at| job.targets[0].place = Place::FreshFileIn(at.join("none").display().to_string()),
        &["no such directory"],
    );
    check(
        |job, _| job.targets[0] = target(Path::new("/dev/null"), None),
        &[
            "neither a regular file nor a block device",
            "choose the null engine",
        ],
    );
    check(
        |job, _| job.targets[0] = target(Path::new("/dev/sdzz"), Some(Bytes::mib(1))),
        &["there is no such device"],
    );
    check(
        |job, _| job.targets[0] = target(Path::new(""), Some(Bytes::mib(1))),
        &["there is no directory"],
    );
    check(|job, _| job.targets.clear(), &["it names no target"]);
}

#[test]
fn a_link_to_nothing_is_told_before_anything_is_written() {
    check(
        |job, at| {
            std::os::unix::fs::symlink("nowhere", at.join("link")).unwrap();
            job.targets[0] = target(&at.join("link"), Some(Bytes::mib(1)));
        },
        &[
            "it is a link to `nowhere`, which is not there",
            "make what it leads to, or remove the link",
        ],
    );
}

#[test]
fn sizes_that_do_not_fit() {
    check(
        |job, _| job.targets[0].length = Some(Bytes::new(1000)),
        &["1000 B of it are used, less than one block of 4 KiB"],
    );
    // A file that is there, of which a part is used that is not.
    let of_a_file = |job: &mut Job, at: &Path, offset: Bytes, length: Option<Bytes>| {
        let other = at.join("other");
        std::fs::write(&other, [7; 4096]).unwrap();
        job.targets[0] = target(&other, length);
        job.targets[0].offset = offset;
    };
    check(
        |job, at| of_a_file(job, at, Bytes::kib(8), None),
        &[
            "the offset (8 KiB) lies past its end (4 KiB)",
            "use a smaller offset, or a larger target",
        ],
    );
    check(
        |job, at| of_a_file(job, at, Bytes::ZERO, Some(Bytes::ZERO)),
        &[
            "a length of zero leaves nothing to do",
            "give a size above 0",
        ],
    );
    // Of many targets that is said once.
    check(
        |job, _| {
            job.targets[0].length = Some(Bytes::new(1000));
            job.targets.resize(1500, job.targets[0].clone());
        },
        &["` and 1,499 more: 1000 B of it are used"],
    );
    check(
        |job, _| job.targets[0].offset = Bytes::new(u64::MAX),
        &["exceed 2^64 bytes"],
    );
    check(
        |job, _| job.block = BlockSizes::uniform(Bytes::ZERO),
        &["job"],
    );
    check(
        |job, _| job.block = BlockSizes::uniform(Bytes::gib(2)),
        &["a block of 2 GiB is too large"],
    );
    check(
        |job, _| {
            job.depth = 30_000;
            job.workers = 4000;
        },
        &["for buffers and locked memory, and this machine has"],
    );
}

#[test]
fn numbers_without_sense() {
    check(|job, _| job.depth = 0, &["a depth of 0 is not possible"]);
    check(|job, _| job.depth = u32::MAX, &["a depth of 4294967295"]);
    check(|job, _| job.workers = 0, &["0 workers are not possible"]);
    check(|job, _| job.limits.time_based = true, &["no time is given"]);
    check(|job, _| job.limits.warmup = Nanos::MAX, &["is too long"]);
    check(
        |job, _| job.limits.runtime = Some(Nanos::ZERO),
        &["a runtime of zero"],
    );
    check(
        |job, _| {
            job.arrival = Arrival::Open {
                rate: Pacing::Iops(Iops::new(0)),
                poisson: Poisson::Fixed,
                when_full: WhenFull::Queue,
            };
        },
        &["a rate of zero"],
    );
    check(
        |job, _| job.mix = Mix::TRIM,
        &["only block devices can be trimmed"],
    );
}

#[test]
fn all_complaints_come_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = job(&directory.path().join("no/file"), Bytes::mib(1));
    first.depth = 0;
    let second = job(Path::new("/dev/null"), Bytes::mib(1));
    let EngineError::Invalid(problems) = run_jobs(vec![first, second]).unwrap_err() else {
        panic!("another error");
    };
    assert_eq!(problems.0.len(), 3, "{problems}");
}

#[test]
fn a_device_wants_whole_sectors() {
    let device = common::LoopDevice::new(Bytes::mib(8));
    check(
        |job, _| {
            job.targets[0] = target(Path::new(&device.path), None);
            job.block = BlockSizes::uniform(Bytes::new(1000));
        },
        &["the smallest block (1000 B) is no multiple of its sector (512 B)"],
    );
    check(
        |job, _| job.targets[0] = target(Path::new(&device.path), Some(Bytes::mib(9))),
        &["it has 8 MiB, but 9 MiB are asked for"],
    );
}

#[test]
fn the_null_backend_needs_a_size_but_no_file() {
    let mut null = job(Path::new("/no/such/file"), Bytes::gib(100));
    null.backend = Backend::Null;
    null.limits.ios = Some(1000);
    let outcome = run_jobs(vec![null.clone()]).unwrap();
    assert_eq!(outcome.results[0].workers[0].ios(), 1000);
    null.targets[0].length = None;
    assert_eq!(
        run_jobs(vec![null]).unwrap_err().exit_class(),
        ExitClass::Input
    );
}

#[test]
fn a_file_system_without_direct_io_is_said() {
    // A file of the kernel's own: regular, readable, without direct I/O.
    let mut direct = job(Path::new("/proc/self/status"), Bytes::kib(4));
    direct.targets[0].length = None;
    let error = run_jobs(vec![direct.clone()]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Input, "{error}");
    let path = Path::new("/sys/kernel/notes");
    if path.exists() {
        direct.targets[0] = target(path, Some(Bytes::new(1)));
        direct.caching = Caching::Direct;
        direct.block = BlockSizes::uniform(Bytes::new(1));
        let error = run_jobs(vec![direct.clone()]).unwrap_err();
        assert_asked_by(&error, &direct);
    }
}
