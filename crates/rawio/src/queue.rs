//! The interface of every backend: requests go in by slot, completions come out by slot.
//!
//! A slot is a buffer and at most one request in flight; its number is the request's identity, so no other user data
//! is needed and nothing is looked up.

use std::fs::File;
use std::io;

use fathom_units::Nanos;

use crate::OutsideCalls;

/// Most slots of a queue: the largest submission queue the kernel makes (32,768 entries).
pub const SLOTS_MAX: u32 = 32_768;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Storage to the slot's buffer.
    Read,
    /// The slot's buffer to storage.
    Write,
    /// The same, durable when it is complete: one request, as with `RWF_DSYNC` of `pwritev2`.
    WriteThrough,
    /// Make everything of the file durable.
    Fsync,
    /// Make the data of the file durable, and of its metadata what is needed to read it back.
    Fdatasync,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The slot whose buffer it uses; must not be in flight.
    pub slot: u32,
    /// Index of the file among those the queue was made with.
    pub file: u32,
    /// What to do.
    pub operation: Operation,
    /// First byte; ignored by the syncs.
    pub offset: u64,
    /// Bytes, at most the size of a buffer; ignored by the syncs.
    pub length: u32,
}

/// One request that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Its slot, free again.
    pub slot: u32,
    /// Bytes moved, or the error number.
    pub result: Result<u32, i32>,
}

/// Whether completions are left that have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// None are.
    All,
    /// There may be more.
    Some,
}

/// Whether a trim is a request among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trims {
    /// It stands in line.
    InLine,
    /// It is to be done by a call of its own.
    Apart,
}

/// A backend with its buffers and files. It stays on the thread that made it.
pub trait Queue {
    /// The buffer of a slot that is not in flight.
    ///
    /// # Panics
    /// Where the slot is in flight.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Puts a request in line for the next submission.
    ///
    /// # Panics
    /// Where its slot is in flight, or it exceeds its buffer.
    fn push(&mut self, request: Request);

    /// Puts reads or writes in line that differ from `like` in nothing but slot and offset, of which `each` is told.
    ///
    /// # Panics
    /// As [`Queue::push`], and where there are not as many slots as offsets.
    fn push_alike(
        &mut self,
        like: Request,
        slots: &[u32],
        offsets: &[u64],
        mut each: impl FnMut(u32, u64),
    ) where
        Self: Sized,
    {
        assert_eq!(slots.len(), offsets.len());
        for (slot, offset) in slots.iter().zip(offsets) {
            each(*slot, *offset);
            self.push(Request {
                slot: *slot,
                offset: *offset,
                ..like
            });
        }
    }

    /// Puts a trim of the request's range in line, whatever its operation says; where the backend has none among its requests,
    /// nothing happens, and its caller does it with [`discard`](crate::discard).
    ///
    /// # Panics
    /// Where its slot is in flight.
    fn push_trim(&mut self, request: Request) -> Trims {
        let _ = request;
        Trims::Apart
    }

    /// The priority of what is pushed from now on, as the kernel takes it (`linux/ioprio.h`); backends without
    /// asynchronous I/O have none.
    fn set_priority(&mut self, priority: u16) {
        let _ = priority;
    }

    /// Submits what is in line.
    ///
    /// # Errors
    /// Those of the submitting system call that mean more than "try again"; errors of single requests come as completions.
    fn submit(&mut self) -> io::Result<()>;

    /// Submits what is in line and waits until at least `least` requests (or all in flight, if those are fewer) are
    /// complete, or `timeout` is over, or a signal comes. Returns at once where nothing is in flight.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    fn submit_and_wait(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()>;

    /// Submits what is in line, and waits as [`Queue::submit_and_wait`] does without a time limit where `least` is not 0: one
    /// piece of code for both. With 0, what is complete has arrived after it.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    fn submit_for(&mut self, least: u32) -> io::Result<()> {
        if least == 0 {
            self.submit()
        } else {
            self.submit_and_wait(least, None)
        }
    }

    /// Whether this backend does one request at a time, which [`Queue::perform`] then does without the line.
    fn is_one_by_one(&self) -> bool {
        false
    }

    /// Performs a read or write at once and gives its result; an error (`EOPNOTSUPP`) where [`Queue::is_one_by_one`] is
    /// false.
    ///
    /// # Errors
    /// The error number of the call.
    ///
    /// # Panics
    /// Where the slot is in flight, or the request exceeds its buffer.
    fn perform(&mut self, request: Request) -> Result<u32, i32> {
        let _ = request;
        Err(libc::EOPNOTSUPP)
    }

    /// How many completions have arrived, as far as can be told without a system call.
    fn arrived(&mut self) -> u32;

    /// Moves at most `most` completions that have arrived to the end of `into`, in order of arrival, without waiting;
    /// says whether all that have arrived were taken.
    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken;

    /// As [`Queue::take`], but gives each completion to `each`.
    fn take_each(&mut self, most: usize, each: impl FnMut(Completion)) -> Taken
    where
        Self: Sized;

    /// As [`Queue::take`], of requests that all asked for `length` bytes, at most as many as `into` is long: their slots go to its
    /// start, and what became of those that moved anything else goes to the end of `odd` as well. Says how many were taken.
    fn take_alike(
        &mut self,
        length: u32,
        into: &mut [u32],
        odd: &mut Vec<Completion>,
    ) -> (usize, Taken)
    where
        Self: Sized,
    {
        let mut count = 0;
        let taken = self.take_each(into.len(), |completion| {
            into[count] = completion.slot;
            count += 1;
            if completion.result != Ok(length) {
                odd.push(completion);
            }
        });
        (count, taken)
    }

    /// Requests pushed and not yet returned as completions.
    fn in_flight(&self) -> u32;

    /// Measures from now on how long the thread is outside the system calls of this queue; backends that make none have no
    /// such time.
    fn time_outside_calls(&mut self) {}

    /// What was measured since [`Queue::time_outside_calls`]; `None` where nothing was.
    fn outside_calls(&self) -> Option<OutsideCalls> {
        None
    }

    /// Whether nothing that is asked of this file can succeed any more: the connection that it is has broken.
    fn is_gone(&self, index: u32) -> bool {
        let _ = index;
        false
    }

    /// A file by its index.
    fn file(&self, index: u32) -> &File;

    /// Puts another file in the place of one, for all requests pushed from now on. Those pushed before must have been
    /// submitted; what of them is in flight goes on with the old file.
    ///
    /// # Errors
    /// Those of registering it with the kernel; `Unsupported` where files are mapped, or not read and written at all.
    fn replace_file(&mut self, index: u32, file: File) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use super::*;
    use crate::{AioQueue, Calls, NullQueue, Submitter, SyncQueue, UringQueue, open_unnamed};

    /// What no device reads in the moment that a call takes.
    const BLOCK: u32 = 8 << 20;

    fn run(queue: &mut dyn Queue, requests: &[Request]) -> Vec<Completion> {
        for request in requests {
            queue.push(*request);
        }
        let mut completions = Vec::new();
        while queue.in_flight() > 0 {
            queue.submit_and_wait(1, None).unwrap();
            queue.take(usize::MAX, &mut completions);
        }
        completions.sort_by_key(|completion| completion.slot);
        completions
    }

    fn request(slot: u32, operation: Operation, offset: u64, length: u32) -> Request {
        Request {
            slot,
            file: 0,
            operation,
            offset,
            length,
        }
    }

    /// Slots that had syncs, and one that has one still, among many reads that are alike.
    #[track_caller]
    fn check_alike_after_syncs<Q: Queue>(queue: &mut Q) {
        let sync = request(5, Operation::Fdatasync, 0, 0);
        for still in [&[][..], &[sync]] {
            for sync in still {
                queue.push(*sync);
            }
            let read = request(0, Operation::Read, 0, 4096);
            queue.push_alike(read, &[1, 3, 0], &[2 * 4096, 4096, 3 * 4096], |_, _| {});
            let done = run(queue, &[]);
            assert!(done.iter().all(|it| matches!(it.result, Ok(4096 | 0))));
            for (slot, byte) in [(1, 3), (3, 2), (0, 4)] {
                assert!(queue.buffer(slot).iter().all(|it| *it == byte));
                queue.buffer(slot).fill(0);
            }
        }
    }

    /// Writes four blocks, syncs, and reads them back into other slots, past the end of the file at last.
    #[track_caller]
    fn check<Q: Queue>(make: impl Fn(Vec<File>) -> Q) {
        let file = open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        let mut queue = make(vec![file]);
        for slot in 0..4 {
            queue.buffer(slot).fill(slot as u8 + 1);
        }
        let mut told = Vec::new();
        for (slots, offsets) in [
            (&[][..], &[][..]),
            (&[2, 0, 3, 1], &[2 * 4096, 0, 3 * 4096, 4096]),
        ] {
            let write = request(0, Operation::Write, 0, 4096);
            queue.push_alike(write, slots, offsets, |slot, offset| {
                told.push((slot, offset));
            });
        }
        assert_eq!(told, [(2, 2 * 4096), (0, 0), (3, 3 * 4096), (1, 4096)]);
        assert_eq!(queue.in_flight(), 4);
        let done = run(&mut queue, &[]);
        assert!(done.iter().all(|completion| completion.result == Ok(4096)));
        let syncs = [
            request(0, Operation::Fsync, 0, 0),
            request(1, Operation::Fdatasync, 0, 0),
        ];
        assert!(
            run(&mut queue, &syncs)
                .iter()
                .all(|done| done.result == Ok(0))
        );
        let reads =
            (0..4).map(|slot| request(slot + 4, Operation::Read, u64::from(slot) * 4096, 4096));
        run(&mut queue, &reads.collect::<Vec<_>>());
        for slot in 0..4 {
            assert!(
                queue
                    .buffer(slot + 4)
                    .iter()
                    .all(|byte| *byte == slot as u8 + 1)
            );
        }
        // One slot again and again: only the offset differs from one request to the next.
        for block in [2, 0, 3, 1] {
            run(
                &mut queue,
                &[request(6, Operation::Read, block * 4096, 4096)],
            );
            assert!(
                queue
                    .buffer(6)
                    .iter()
                    .all(|byte| u64::from(*byte) == block + 1)
            );
        }
        check_alike_after_syncs(&mut queue);
        let past = run(
            &mut queue,
            &[request(0, Operation::Read, 3 * 4096 + 1024, 4096)],
        );
        assert_eq!(past[0].result, Ok(3072));
        let refused = run(&mut queue, &[request(0, Operation::Read, 1 << 63, 4096)]);
        assert_eq!(refused[0].result, Err(libc::EINVAL));
    }

    #[test]
    fn what_is_written_is_read_back() {
        check(|files| UringQueue::new(files, 8, 4096).unwrap());
        check(|files| AioQueue::new(files, 8, 4096).unwrap());
        check(|files| SyncQueue::new(files, 8, 4096).unwrap());
    }

    fn with(calls: Calls) -> impl Fn(Vec<File>) -> UringQueue {
        move |files| UringQueue::with_calls(files, 8, 4096, &calls).unwrap()
    }

    #[test]
    fn the_kernel_takes_submissions_by_itself() {
        for processor in [None, Some(0)] {
            check(with(Calls {
                submitter: Some(Submitter { processor }),
                ..Calls::default()
            }));
        }
        let calls = Calls {
            submitter: Some(Submitter {
                processor: Some(4095),
            }),
            ..Calls::default()
        };
        let refused = UringQueue::with_calls(Vec::new(), 8, 4096, &calls).unwrap_err();
        assert!(refused.to_string().contains("processor 4095"), "{refused}");
    }

    #[test]
    fn a_submitter_that_sleeps_is_woken() {
        let file = open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        let calls = Calls {
            submitter: Some(Submitter::default()),
            ..Calls::default()
        };
        let mut queue = UringQueue::with_calls(vec![file], 8, 4096, &calls).unwrap();
        for _ in 0..2 {
            crate::sleep_until(crate::Clock::now() + Nanos::from_millis(1200));
            let done = run(&mut queue, &[request(3, Operation::Write, 0, 4096)]);
            assert_eq!(done[0].result, Ok(4096));
        }
    }

    #[test]
    fn some_are_handed_over() {
        for async_every in [1, 3] {
            check(with(Calls {
                async_every,
                ..Calls::default()
            }));
        }
    }

    #[test]
    fn flagged_calls_move_the_same() {
        let calls = Calls {
            polled: 30,
            ..Calls::default()
        };
        check(|files| SyncQueue::with_calls(files, 8, 4096, &calls).unwrap());
    }

    /// Pages of a file in the page cache, which looking does not change.
    fn cached_pages(file: &File) -> u64 {
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let told = std::process::Command::new("fincore")
            .args(["--noheadings", "--output", "PAGES", &path])
            .output()
            .unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        told.trim().parse().unwrap()
    }

    /// What is read uncached does not stay in the page cache, and what is not there cannot all be read without waiting; what
    /// is there can.
    #[track_caller]
    fn check_flags(make: impl Fn(Vec<File>, &Calls) -> Box<dyn Queue>) {
        let file = open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
        let mut written = &file;
        written.write_all(&vec![1; BLOCK as usize]).unwrap();
        file.sync_all().unwrap();
        let read_again = |calls: &Calls| {
            let mut queue = make(vec![file.try_clone().unwrap()], calls);
            run(queue.as_mut(), &[request(0, Operation::Read, 0, BLOCK)])[0].result
        };
        let read = |calls: &Calls| {
            crate::drop_cache(&file, 0, 0).unwrap();
            assert_eq!(cached_pages(&file), 0);
            read_again(calls)
        };
        let uncached = Calls {
            uncached: true,
            ..Calls::default()
        };
        match read(&uncached) {
            // Before Linux 6.14, and on file systems without it.
            Err(libc::EOPNOTSUPP) => {}
            result => {
                assert_eq!(result, Ok(BLOCK));
                assert!(cached_pages(&file) < u64::from(BLOCK) / 8192);
            }
        }
        assert_eq!(read(&Calls::default()), Ok(BLOCK));
        assert!(cached_pages(&file) > u64::from(BLOCK) / 8192);
        let no_wait = Calls {
            no_wait: true,
            ..Calls::default()
        };
        // A few pages may be reclaimed at any moment.
        let all_there = |_| {
            assert_eq!(read_again(&Calls::default()), Ok(BLOCK));
            read_again(&no_wait) == Ok(BLOCK)
        };
        assert!((0..20).any(all_there));
        // Linux reads ahead even so, and what is read before it looks again is given.
        match read(&no_wait) {
            Err(errno) => assert_eq!(errno, libc::EAGAIN),
            Ok(bytes) => assert!(bytes < BLOCK),
        }
    }

    #[test]
    fn flags_reach_the_kernel() {
        check_flags(|files, calls| {
            Box::new(UringQueue::with_calls(files, 1, BLOCK, calls).unwrap())
        });
        check_flags(|files, calls| {
            Box::new(SyncQueue::with_calls(files, 1, BLOCK, calls).unwrap())
        });
        check_flags(|files, calls| Box::new(AioQueue::with_calls(files, 1, BLOCK, calls).unwrap()));
    }

    /// A ring that polls moves data where the device has queues for it, and says of each request where it has none.
    #[test]
    fn devices_are_polled() {
        let file = open_unnamed(&std::env::temp_dir(), crate::Caching::Direct).unwrap();
        file.set_len(1 << 20).unwrap();
        let calls = Calls {
            polled: 100,
            ..Calls::default()
        };
        let mut queue = UringQueue::with_calls(vec![file], 8, 4096, &calls).unwrap();
        queue.buffer(2).fill(7);
        let written = run(&mut queue, &[request(2, Operation::Write, 8192, 4096)])[0].result;
        let read = run(&mut queue, &[request(3, Operation::Read, 8192, 4096)])[0].result;
        let told = [Ok(4096), Err(libc::EOPNOTSUPP)];
        assert!(told.contains(&written) && told.contains(&read));
        if (written, read) == (Ok(4096), Ok(4096)) {
            assert!(queue.buffer(3).iter().all(|byte| *byte == 7));
        }
        let refused = run(&mut queue, &[request(0, Operation::Fsync, 0, 0)])[0].result;
        assert_eq!(refused, Err(libc::EINVAL));
    }

    #[test]
    fn the_null_queue_completes_everything_at_once() {
        let mut queue = NullQueue::new(Vec::new(), 2, 4096).unwrap();
        let requests = [
            request(0, Operation::Read, 0, 4096),
            request(1, Operation::Write, 1 << 50, 512),
        ];
        let done = run(&mut queue, &requests);
        assert_eq!((done[0].result, done[1].result), (Ok(4096), Ok(512)));
    }

    #[test]
    fn a_wait_without_completions_ends_in_time() {
        let (silent, peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(silent));
        let mut queue = UringQueue::new(vec![file], 1, 4096).unwrap();
        queue.push(request(0, Operation::Read, 0, 4096));
        let start = crate::Clock::now();
        queue
            .submit_and_wait(1, Some(Nanos::from_millis(5)))
            .unwrap();
        assert!(crate::Clock::now().saturating_sub(start) >= Nanos::from_millis(4));
        let mut none = Vec::new();
        assert_eq!((queue.take(1, &mut none), none.len()), (Taken::All, 0));
        drop(peer);
    }

    /// A caller that panics leaves slots marked whose requests never came into line, or whose completions it did not look at:
    /// none of them is waited for, while what the kernel was given is.
    #[track_caller]
    fn check_panics<Q: Queue>(make: impl Fn(Vec<File>) -> Q + Send + 'static) {
        let (ended, end) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            for panics_at_completion in [false, true] {
                let file = open_unnamed(&std::env::temp_dir(), crate::Caching::Buffered).unwrap();
                let mut queue = make(vec![file]);
                queue.push(request(7, Operation::Write, 0, 4096));
                queue.submit().unwrap();
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let write = request(0, Operation::Write, 0, 4096);
                    queue.push_alike(write, &[0, 1, 2], &[0, 4096, 8192], |slot, _| {
                        assert!(slot != 1 || panics_at_completion);
                    });
                    while queue.in_flight() > 0 {
                        queue.submit_and_wait(4, None).unwrap();
                        queue.take_each(usize::MAX, |_| panic!("a caller's"));
                    }
                }));
                assert!(caught.is_err());
                drop(queue);
                ended.send(()).unwrap();
            }
        });
        for _ in 0..2 {
            end.recv_timeout(std::time::Duration::from_secs(30))
                .expect("the queue is dropped");
        }
        thread.join().unwrap();
    }

    #[test]
    fn a_panic_of_its_caller_leaves_nothing_to_wait_for() {
        check_panics(|files| UringQueue::new(files, 8, 4096).unwrap());
        check_panics(|files| AioQueue::new(files, 8, 4096).unwrap());
        let calls = || Calls {
            submitter: Some(Submitter::default()),
            ..Calls::default()
        };
        check_panics(move |files| UringQueue::with_calls(files, 8, 4096, &calls()).unwrap());
    }

    #[test]
    fn too_many_slots_are_an_error() {
        assert!(UringQueue::new(Vec::new(), SLOTS_MAX + 1, 512).is_err());
        assert!(AioQueue::new(Vec::new(), 0, 512).is_err());
    }
}
