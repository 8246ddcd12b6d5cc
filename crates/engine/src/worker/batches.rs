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

/// As long as this many stay at work, a device wants for nothing: all that has arrived is then taken, and what follows goes
/// by one call. At a depth of 64 such reads took 0.85 of the time outside of calls and 0.96 of the processor, at 1.00 of the
/// I/Os; with half the queue at work at depths of 32 and 16 they took 0.76 and 0.68, and 0.88 and 0.87, at 0.99 of the I/Os, so
/// that batches stay as they are there. Writes lost four percent of them at all depths, since what they write is prepared
/// meanwhile, and never go so.
const KEPT_AT_WORK: u32 = 32;

/// How many I/Os go at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Most of one submitting call.
    pub(super) submit: usize,
    /// Most completions taken at a time.
    pub(super) take: usize,
    /// Where no more than these have arrived all are taken, and what follows them is submitted at once; 0 where there is no
    /// such rule.
    pub(super) few: usize,
}

impl Sizes {
    /// As they are found here or said by the job.
    fn of(batches: Batches) -> Self {
        Self {
            submit: batches.submit as usize,
            take: batches.complete_max as usize,
            few: 0,
        }
    }

    /// Most of one submitting call where the rule of the few is followed.
    #[inline]
    pub(super) fn most_alike(self) -> usize {
        self.submit.max(self.few)
    }

    /// How many are taken of these that have arrived, at most.
    #[inline]
    pub(super) fn taken_of(self, arrived: u32) -> usize {
        if arrived as usize <= self.few {
            self.take.max(self.few)
        } else {
            self.take
        }
    }
}

/// The sizes where a device is at work, and where submissions complete at once what they submit; a job's own batches are the
/// same for both.
pub(super) fn sizes(job: &Job, backend: Backend, slots: u32, batches: Batches) -> [Sizes; 2] {
    let device = Sizes::of(batches);
    if job.features.batches.is_some()
        || job.features.think_cycles > 0
        || backend != Backend::IoUring
    {
        return [device; 2];
    }
    let at_once = (slots / BATCHES_AT_ONCE).clamp(1, BATCH_AT_ONCE_MAX) as usize;
    let few = if job.mix.changes_data() {
        0
    } else {
        few_of(slots)
    };
    [
        Sizes { few, ..device },
        Sizes {
            submit: device.submit.max(at_once),
            take: slots as usize,
            few: 0,
        },
    ]
}

/// How many a device can lack and still has enough to do, where batches are not large anyhow.
fn few_of(slots: u32) -> usize {
    if slots / BATCHES_PER_DEPTH >= BATCH_MAX {
        0
    } else {
        slots.saturating_sub(KEPT_AT_WORK).min(BATCH_AT_ONCE_MAX) as usize
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_those_without_which_a_device_has_enough_to_do() {
        assert_eq!([1, 16, 32].map(few_of), [0; 3]);
        assert_eq!([40, 64, 128, 255].map(few_of), [8, 32, 32, 32]);
        // Batches are large enough.
        assert_eq!([256, 1024].map(few_of), [0; 2]);
    }

    #[test]
    fn few_are_taken_at_once_and_more_in_batches() {
        let sizes = Sizes {
            submit: 4,
            take: 4,
            few: 32,
        };
        assert_eq!([1, 32, 33, 64].map(|it| sizes.taken_of(it)), [32, 32, 4, 4]);
        assert_eq!(sizes.most_alike(), 32);
        let own = Sizes { few: 0, ..sizes };
        assert_eq!([0, 1, 64].map(|it| own.taken_of(it)), [4; 3]);
        assert_eq!(own.most_alike(), 4);
    }
}
