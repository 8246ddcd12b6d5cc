//! How many I/Os are submitted, and how many completions are taken, at a time.

use fathom_workload::{Backend, Batches, Caching, Job};

/// A full queue is submitted in this many batches, so that the device works on the first while the rest is prepared. With
/// one batch of 32 a virtual disk that answers in batches itself was idle for a sixth of the time, and with batches of 4 it
/// took in a few percent fewer writes than with batches of 2. At a depth of 64 such a disk read as fast with batches of 2, 3
/// and 4 as a peer that submits one by one, and with batches of 6 and 8 four and six percent slower.
const BATCHES_PER_DEPTH: u32 = 16;
/// Beyond this, a larger batch saves nothing more.
const BATCH_MAX: u32 = 16;
/// Where submissions complete what they submit, there is no device to keep at work, and half a queue goes at once.
const BATCHES_AT_ONCE: u32 = 2;
/// Beyond this, buffers fall out of the nearest caches between two uses.
const BATCH_AT_ONCE_MAX: u32 = 32;
/// `io_submit` waits for each read of a file that is not cached. What it was given together is kept back from the device until
/// the thread sleeps, and another thread of the kernel begins it then, which comes milliseconds later where other programs
/// have the processors: beside four of them on two processors, random reads in batches of 4 went at 275 a second, and one by
/// one at 8,180.
const BATCH_WITHIN_THE_CALL: u32 = 1;

/// The sizes of a batch that is submitted and of one that is taken, where a device is at work and where submissions complete
/// at once what they submit; a job's own batches are the same for both.
pub(super) fn sizes(
    job: &Job,
    backend: Backend,
    slots: u32,
    batches: Batches,
) -> [(usize, usize); 2] {
    let device = (batches.submit as usize, batches.complete_max as usize);
    if job.features.batches.is_some()
        || job.features.think_cycles > 0
        || backend != Backend::IoUring
    {
        return [device; 2];
    }
    let at_once = (slots / BATCHES_AT_ONCE).clamp(1, BATCH_AT_ONCE_MAX);
    [device, (device.0.max(at_once as usize), slots as usize)]
}

/// The job's own batches, or those that cost least.
pub(super) fn of_job(job: &Job, backend: Backend, slots: u32) -> Batches {
    if job.features.think_cycles > 0 {
        // What an I/O is followed by must not hold it back.
        let own = job.features.batches;
        return Batches {
            submit: 1,
            complete_min: own.map_or(1, |own| own.complete_min.min(slots)),
            complete_max: own.map_or(slots, |own| own.complete_max.clamp(1, slots)),
            low: own.map_or(0, |own| own.low),
        };
    }
    if let Some(batches) = job.features.batches {
        return Batches {
            submit: batches.submit.clamp(1, slots),
            complete_min: batches.complete_min.min(slots),
            complete_max: batches.complete_max.clamp(1, slots),
            ..batches
        };
    }
    let most = match backend {
        Backend::Null => slots,
        Backend::Libaio if job.caching == Caching::Buffered => BATCH_WITHIN_THE_CALL,
        _ => (slots / BATCHES_PER_DEPTH).clamp(1, BATCH_MAX),
    };
    Batches {
        submit: most,
        complete_min: 1,
        complete_max: most,
        low: 0,
    }
}
