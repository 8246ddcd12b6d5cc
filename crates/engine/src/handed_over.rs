//! Writes that the kernel handed to threads of its own.
//!
//! A ring's request that cannot be done at once goes to a kernel thread of the worker that submitted it. Writes through the
//! page cache always go there on file systems that cannot say beforehand whether they would wait (ext4 and tmpfs; XFS and Btrfs
//! can). That takes some tens of microseconds, which are in the latency, and processor time that no worker has: a program
//! that calls `pwrite` has neither.

use std::fs;

use fathom_units::Percent;
use fathom_workload::{Backend, Caching, Job, SyncPolicy};

/// What a reader of the figures is told of `job`, of which the calling thread is worker number `worker`; of each job the first
/// looks for all.
pub(crate) fn note(job: &Job, backend: Backend, worker: u32) -> Option<String> {
    // Syncs are done by such threads on every file system, and tell nothing of its writes.
    let writes = job.mix.write > Percent::ZERO && job.sync == SyncPolicy::default();
    let by_ring = backend == Backend::IoUring && job.caching == Caching::Buffered;
    let asked_for = job.features.calls.async_every > 0 || job.features.calls.submitter.is_some();
    if worker > 0 || !writes || !by_ring || asked_for || !has_kernel_thread() {
        return None;
    }
    Some(format!(
        "job `{}`: the kernel handed its writes through the page cache to threads of its own, as the file system asks of \
         io_uring: their latency includes that (some tens of microseconds), and the processor time counted leaves those threads \
         out; a job with a depth of 1 that calls `pwrite` (`sync`) has neither",
        job.name
    ))
}

/// Whether the calling thread has kernel threads that work for it; Linux names them after its number.
fn has_kernel_thread() -> bool {
    // "PROCESS/task/THREAD".
    let (Ok(own), Ok(threads)) = (
        fs::read_link("/proc/thread-self"),
        fs::read_dir("/proc/self/task"),
    ) else {
        return false;
    };
    let Some(number) = own.file_name() else {
        return false;
    };
    let name = format!("iou-wrk-{}", number.display());
    threads.flatten().any(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim() == name)
    })
}
