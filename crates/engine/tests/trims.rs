//! Trims of a real block device: a loop device over a file of its own. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{LoopDevice, job, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_record::{Ignore, WorkerStats};
use fathom_units::{Bytes, Percent};
use fathom_workload::{Backend, ExistingFiles, Job, Mix, Placement};

const SIZE: Bytes = Bytes::mib(1);

/// Trims of every block, the device full of sevens before it.
fn trimmer(device: &LoopDevice) -> Job {
    std::fs::write(device.image.path(), vec![7; SIZE.get() as usize]).unwrap();
    let mut job = job(Path::new(&device.path), SIZE);
    job.mix = Mix::TRIM;
    job.existing = ExistingFiles::AsPeer;
    job.split_latency = true;
    job
}

#[track_caller]
fn trimmed(device: &LoopDevice, job: Job) -> WorkerStats {
    let options = RunOptions {
        destroy_data: vec![device.name().to_owned()],
        ..RunOptions::default()
    };
    let outcome = run(
        &workload(vec![job]),
        &options,
        &StopFlag::new(),
        &mut Ignore,
    );
    let mut outcome = outcome.unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let worker = outcome.results.remove(0).workers.remove(0);
    let trims = worker.directions[2].as_ref().unwrap();
    assert_eq!((trims.ios(), trims.bytes), (256, SIZE.get()));
    // Each is in a batch, and completed in one.
    let batches = |counts: &[u64; 7]| counts.iter().sum::<u64>();
    assert!(batches(&worker.submit_batches) > 0);
    assert!(batches(&worker.complete_batches) > 0);
    worker
}

/// Whether the kernel takes trims as requests of io_uring (Linux 6.12).
fn kernel_queues_trims() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    (number(), number()) >= (Some(6), Some(12))
}

#[test]
fn trims_are_as_many_at_a_time_as_the_depth_says() {
    let device = LoopDevice::new(SIZE);
    for (backend, depth) in [
        (Backend::IoUring, 8),
        (Backend::IoUring, 1),
        (Backend::Libaio, 8),
        (Backend::Sync, 1),
    ] {
        let mut job = trimmer(&device);
        (job.backend, job.depth) = (backend, depth);
        let worker = trimmed(&device, job);
        let queued = backend == Backend::IoUring && depth > 1 && kernel_queues_trims();
        let at_depth = worker.depth_levels[if queued { 3 } else { 0 }];
        assert!(at_depth > 240, "{backend:?} {:?}", worker.depth_levels);
        let image = std::fs::read(device.image.path()).unwrap();
        assert!(image.iter().all(|byte| *byte == 0), "{backend:?} {depth}");
    }
}

/// What is written behind the trim of its block stays.
#[test]
fn no_write_overtakes_the_trim_before_it() {
    let device = LoopDevice::new(SIZE);
    let mut job = trimmer(&device);
    let half = Percent::whole(50).unwrap();
    job.limits.bytes = Some(SIZE);
    job.mix = Mix {
        write: half,
        trim: half,
        ..Mix::TRIM
    };
    job.features.placement = Some(Box::new(Placement {
        trim_then_write: true,
        ..Placement::default()
    }));
    let worker = trimmed(&device, job);
    assert_eq!(worker.directions[1].as_ref().unwrap().ios(), 256);
    let image = std::fs::read(device.image.path()).unwrap();
    let is_gone = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    assert_eq!(image.chunks(4096).filter(|block| is_gone(block)).count(), 0);
}
