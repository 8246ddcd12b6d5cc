//! What the kernel cannot be told.

use crate::Backend::{IoUring, Libaio, Sync};
use crate::{Backend, Job, PROCESSOR_MAX};

use super::Found;

/// Flags that a job's backend does not have.
pub(super) fn check(job: &Job, found: &mut Found) {
    let calls = &job.features.calls;
    if !calls.has_flags() {
        return;
    }
    if calls.polled > 100 {
        let message = format!("{} % of its I/Os are polled for", calls.polled);
        found.add("calls", message, "give 0 to 100");
    }
    let processor = calls.submitter.and_then(|thread| thread.processor);
    if let Some(processor) = processor.filter(|processor| *processor > PROCESSOR_MAX) {
        let message = format!("its submissions are taken on processor {processor}");
        found.add("calls", message, "give 0 to 4095");
    }
    let flags: [(bool, &str, &[Backend]); 6] = [
        (calls.polled > 0, "polled", &[IoUring, Sync]),
        (calls.uncached, "uncached", &[IoUring, Sync]),
        (calls.no_wait, "no_wait", &[IoUring, Libaio, Sync]),
        (calls.atomic, "atomic", &[IoUring, Libaio, Sync]),
        (calls.async_every > 0, "async_every", &[IoUring]),
        (calls.submitter.is_some(), "submitter", &[IoUring]),
    ];
    for (_, flag, backends) in flags.iter().filter(|(asked, ..)| *asked) {
        if !backends.contains(&job.backend) {
            let message = format!("the backend `{}` has no `{flag}`", job.backend.name());
            found.add("calls", message, "leave it out, or use `io_uring`");
        }
    }
    if job.backend == IoUring && (1..100).contains(&calls.polled) {
        let message = "of its I/Os some are polled for and some are not";
        let hint = "give 0 or 100, or use the backend `sync`";
        found.add("calls", message, hint);
    }
}
