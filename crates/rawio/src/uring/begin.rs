//! The making of a ring: the best set-up that the kernel knows, with files and buffers registered where it lets us.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, RawFd};

use rustix::io_uring::{IoringSetupFlags, io_uring_params};

use super::{Entering, Looking, Registered, Template, UringQueue};
use crate::buffer::Slots;
use crate::calls::{Calls, Submitter as SubmissionThread};
use crate::copying::copies_sooner_if_registered;
use crate::file::{Caching, caching_of, writes_to_cache};
use crate::outside::CallTimer;
use crate::ring::Ring;
use crate::{RingUnusable, SLOTS_MAX};

/// Milliseconds without submissions after which the kernel thread sleeps: the kernel's own default, and fio's.
const SUBMITTER_IDLE_MS: u32 = 1000;

impl UringQueue {
    /// A queue of `slots` buffers of `size` bytes on `files`.
    ///
    /// # Errors
    /// Says why the kernel gives no ring.
    pub fn new(files: Vec<File>, slots: u32, size: u32) -> Result<Self, RingUnusable> {
        Self::with_calls(files, slots, size, &Calls::default())
    }

    /// The same, made and used as `calls` has it.
    ///
    /// A ring that polls takes direct reads and writes on files whose devices can be polled, and no syncs; the kernel
    /// refuses all else with `EOPNOTSUPP` and `EINVAL`, request by request.
    ///
    /// # Errors
    /// As [`UringQueue::new`].
    pub fn with_calls(
        files: Vec<File>,
        slots: u32,
        size: u32,
        calls: &Calls,
    ) -> Result<Self, RingUnusable> {
        let other = |source| RingUnusable::Other {
            ring: "io_uring",
            slots,
            source,
        };
        if slots == 0 || slots > SLOTS_MAX {
            return Err(other(io::ErrorKind::InvalidInput.into()));
        }
        let count = slots;
        let worked_on = calls.polled < 100 && files.iter().any(writes_to_cache);
        let mut ring = build(slots, calls, worked_on)?;
        let slots = Slots::new(slots, size).map_err(other)?;
        let (regions, region_shift) = slots.regions();
        let direct = files.iter().any(|file| caching_of(file) == Caching::Direct);
        // Linux refuses atomic writes out of registered buffers with `EINVAL` (`generic_atomic_write_valid`).
        let registers = !calls.atomic && (direct || copies_sooner_if_registered(size));
        let buffers = if registers {
            // SAFETY: the vectors name memory that lives until after the ring is gone (field order).
            unsafe { ring.register_buffers(&regions) }
        } else {
            Err(io::ErrorKind::Unsupported.into())
        };
        let numbers: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        // The kernel refuses both where limits are low (RLIMIT_MEMLOCK, RLIMIT_NOFILE); the ring works without them.
        let registered_files = ring.register_files(&numbers);
        let fixed_buffers = Registered::from_result(&buffers);
        let region_shift = match fixed_buffers {
            Registered::Yes => region_shift,
            Registered::No => u32::BITS - 1,
        };
        ring.register_itself();
        let mut queue = Self {
            ring,
            fixed_buffers,
            fixed_files: Registered::from_result(&registered_files),
            templates: Default::default(),
            region_shift,
            slots,
            files,
            priority: 0,
            flags: [calls.read_flags(), calls.write_flags()],
            entering: match calls {
                Calls {
                    submitter: Some(_), ..
                } => Entering::Rarely,
                Calls { polled: 100, .. } => Entering::Polling,
                _ if worked_on => Entering::Looking,
                _ => Entering::Plainly,
            },
            timer: CallTimer::default(),
            until_async: (calls.async_every, calls.async_every),
            is_unusual: calls.async_every > 0,
            spoilt: Vec::new(),
            looking: Looking::default(),
            takes_trims: None,
            stays: PhantomData,
        };
        for slot in 0..count {
            let entry = queue.entry(&Template::default(), 0, slot);
            // SAFETY: nothing is in line yet.
            unsafe { queue.ring.line.write(slot, entry) };
        }
        Ok(queue)
    }
}

/// Set-ups of a ring that its worker enters, the best first.
const ENTERED: [IoringSetupFlags; 3] = [
    DEFERRED,
    IoringSetupFlags::COOP_TASKRUN.union(IoringSetupFlags::SUBMIT_ALL),
    IoringSetupFlags::empty(),
];

/// Completions are worked on in calls that ask for them, all of one thread.
pub(super) const DEFERRED: IoringSetupFlags = IoringSetupFlags::SINGLE_ISSUER
    .union(IoringSetupFlags::DEFER_TASKRUN)
    .union(IoringSetupFlags::SUBMIT_ALL);

/// Those of a ring whose requests kernel workers complete: what work is put off stands in memory only once it is entered.
const WORKED_ON: &[IoringSetupFlags] = ENTERED.split_at(1).1;

/// Those of a ring whose submissions a kernel thread takes: work cannot be put off until it is entered.
const TAKEN_FROM: [IoringSetupFlags; 3] = [
    IoringSetupFlags::SINGLE_ISSUER.union(IoringSetupFlags::SUBMIT_ALL),
    IoringSetupFlags::SUBMIT_ALL,
    IoringSetupFlags::empty(),
];

/// Makes a ring with the best set-up the kernel knows.
///
/// `worked_on`: kernel workers complete its requests.
fn build(slots: u32, calls: &Calls, worked_on: bool) -> Result<Ring, RingUnusable> {
    let mut wanted = io_uring_params::default();
    if calls.polled == 100 {
        wanted.flags |= IoringSetupFlags::IOPOLL;
    }
    let mut attempts = if worked_on { WORKED_ON } else { &ENTERED };
    if let Some(SubmissionThread { processor }) = calls.submitter {
        attempts = &TAKEN_FROM;
        wanted.flags |= IoringSetupFlags::SQPOLL;
        wanted.sq_thread_idle = SUBMITTER_IDLE_MS;
        if let Some(processor) = processor {
            wanted.flags |= IoringSetupFlags::SQ_AFF;
            wanted.sq_thread_cpu = processor;
        }
    }
    let mut last = io::Error::from(io::ErrorKind::Unsupported);
    for set_up in attempts {
        let mut wanted = wanted;
        wanted.flags |= *set_up;
        match Ring::new(slots.next_power_of_two(), wanted) {
            Ok(ring) => return Ok(ring),
            Err(error) if error.raw_os_error().is_none() => return Err(RingUnusable::TooOld),
            Err(error) => last = error,
        }
    }
    let processor = calls.submitter.and_then(|thread| thread.processor);
    Err(RingUnusable::io_uring(slots, processor, last))
}

/// Whether io_uring can be used by this process.
///
/// # Errors
/// Says why not.
pub fn probe_uring() -> Result<(), RingUnusable> {
    build(2, &Calls::default(), false).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_unnamed;

    #[test]
    fn rings_that_write_to_the_page_cache_look_before_they_sleep() {
        let folder = std::env::temp_dir();
        let entering = |file: File, calls: Calls| {
            let queue = UringQueue::with_calls(vec![file], 8, 4096, &calls).unwrap();
            queue.entering
        };
        let written = open_unnamed(&folder, Caching::Buffered).unwrap();
        let read = File::open(std::env::current_exe().unwrap()).unwrap();
        let none = Calls::default();
        assert_eq!(entering(written, none), Entering::Looking);
        assert_eq!(entering(read, none), Entering::Plainly);
        if let Ok(direct) = open_unnamed(&folder, Caching::Direct) {
            assert_eq!(entering(direct, none), Entering::Plainly);
        }
    }
}
