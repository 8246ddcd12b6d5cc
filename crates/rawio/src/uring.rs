//! `io_uring`: one system call submits a batch and waits for completions.
//!
//! Files are registered where the kernel lets us, which saves it looking them up for every request, and buffers where a file
//! is read or written past the page cache, which saves it pinning them, and where the kernel copies to them sooner
//! (`copying.rs`). The fastest set-up the kernel knows is taken: `SINGLE_ISSUER` with `DEFER_TASKRUN` and `NO_SQARRAY` (Linux
//! 6.6), the first two (6.1), `COOP_TASKRUN` (5.19), or none.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use fathom_units::Nanos;
use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter, opcode, squeue, types};

use crate::buffer::Slots;
use crate::calls::{Calls, Submitter as SubmissionThread};
use crate::clock::{Clock, timespec};
use crate::copying::copies_sooner_if_registered;
use crate::file::{Caching, caching_of};
use crate::outside::CallTimer;
use crate::{Completion, Operation, OutsideCalls, Queue, Request, RingUnusable, SLOTS_MAX, Taken};

/// The queue entry of a request on a file, which is registered or not: the two are types without a common public trait.
macro_rules! entry_on {
    ($file:expr, $request:expr, $address:expr, $fixed_buffers:expr, $priority:expr, $flags:expr) => {{
        let Request { offset, length, .. } = $request;
        match ($request.operation, $fixed_buffers) {
            (Operation::Read, Registered::Yes) => {
                opcode::ReadFixed::new($file, $address, length, 0)
                    .offset(offset)
                    .ioprio($priority)
                    .rw_flags($flags)
                    .build()
            }
            (Operation::Write, Registered::Yes) => {
                opcode::WriteFixed::new($file, $address, length, 0)
                    .offset(offset)
                    .ioprio($priority)
                    .rw_flags($flags)
                    .build()
            }
            (Operation::Read, Registered::No) => opcode::Read::new($file, $address, length)
                .offset(offset)
                .ioprio($priority)
                .rw_flags($flags)
                .build(),
            (Operation::Write, Registered::No) => opcode::Write::new($file, $address, length)
                .offset(offset)
                .ioprio($priority)
                .rw_flags($flags)
                .build(),
            (Operation::Fsync, _) => opcode::Fsync::new($file).build(),
            (Operation::Fdatasync, _) => opcode::Fsync::new($file)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
        }
    }};
}

/// Flag of the entering call that makes it look for completions (`IORING_ENTER_GETEVENTS` of `linux/io_uring.h`).
const GETEVENTS: u32 = 1;

/// Flag of the entering call that wakes the kernel thread which takes submissions (`IORING_ENTER_SQ_WAKEUP`).
const SQ_WAKEUP: u32 = 2;

/// Milliseconds without submissions after which the kernel thread sleeps: the kernel's own default, and fio's.
const SUBMITTER_IDLE_MS: u32 = 1000;

/// Looks for completions before others are let on to the processor in between: some 20 microseconds.
const SPINS: u32 = 1000;

/// A ring on the heap, which its own parts refer to.
struct Owned(NonNull<IoUring>);

impl Owned {
    /// The ring, and its three parts, which must be gone before it is.
    fn new(
        ring: IoUring,
    ) -> (
        Self,
        Submitter<'static>,
        SubmissionQueue<'static>,
        CompletionQueue<'static>,
    ) {
        let ring = Box::leak(Box::new(ring));
        let owned = Self(NonNull::from(&mut *ring));
        let (submitter, submission, completion) = ring.split();
        (owned, submitter, submission, completion)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it was leaked from a box in `new`; its parts are fields of `UringQueue` that stand before this one, and
        // fields are dropped in their order.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A ring with its buffers and files, on the thread that made it.
///
/// The parts of the ring are held open: a request pushed touches no memory that the kernel shares, and the ring's own
/// number is registered, so that entering it looks nothing up.
pub struct UringQueue {
    submitter: Submitter<'static>,
    submission: SubmissionQueue<'static>,
    completion: CompletionQueue<'static>,
    // Dropped after its parts and before `slots`, so that the kernel has let go of the buffers when they are unmapped.
    _ring: Owned,
    slots: Slots,
    /// Of reads and of writes.
    templates: [Template; 2],
    /// A slot's number without so many low bits is that of its registered buffer, or 0 where none is registered.
    region_shift: u32,
    files: Vec<File>,
    fixed_buffers: Registered,
    fixed_files: Registered,
    priority: u16,
    /// Flags of reads and writes.
    flags: i32,
    entering: Entering,
    timer: CallTimer,
    /// Reads and writes until one is handed to a kernel worker, and how many that is; 0: none is.
    until_async: (u32, u32),
    // A ring made for one issuer must stay on its thread.
    stays: PhantomData<*const ()>,
}

impl std::fmt::Debug for UringQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UringQueue({} in flight)", self.slots.in_flight())
    }
}

/// The entry of a read or write without its place, buffer and slot, used as long as nothing else changes.
///
/// It is kept in words, each of which is read and written as a whole: a processor waits where it loads at once what was
/// stored in parts a moment ago, as an entry that is changed in memory and then copied would be.
#[derive(Default)]
struct Template {
    words: Words,
    /// The file and length it was made of; it is void once the priority changes.
    made_of: Option<(u32, u32)>,
}

/// The kernel's `struct io_uring_sqe` of 64 bytes (`include/uapi/linux/io_uring.h`).
type Words = [u64; 8];
/// Word of the offset.
const OFFSET: usize = 1;
/// Word of the buffer's address.
const ADDRESS: usize = 2;
/// Word of the user data.
const USER_DATA: usize = 4;
/// Word that begins with the two bytes of the registered buffer's number; what follows them is zero.
const BUFFER: usize = 5;

impl Template {
    #[inline]
    fn entry(&self, request: &Request, address: *mut u8, region: u32) -> squeue::Entry {
        entry(self.words, request.offset, address, request.slot, region)
    }
}

/// The entry of a template's words in one place of the file and one slot, whose buffer is in that region.
#[inline]
fn entry(mut words: Words, offset: u64, address: *mut u8, slot: u32, region: u32) -> squeue::Entry {
    words[OFFSET] = offset;
    words[ADDRESS] = address as u64;
    words[USER_DATA] = u64::from(slot);
    words[BUFFER] = u64::from((region as u16).to_le());
    // SAFETY: an entry is these 64 bytes, of which any are valid.
    unsafe { std::mem::transmute::<Words, squeue::Entry>(words) }
}

/// How a ring is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entering {
    /// To submit, and to wait.
    Plainly,
    /// To submit, and to poll the devices for completions.
    Polling,
    /// Only where the kernel thread that takes submissions sleeps: what it has completed is looked for in memory.
    Rarely,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registered {
    Yes,
    No,
}

impl Registered {
    fn from_result(result: &io::Result<()>) -> Self {
        if result.is_ok() { Self::Yes } else { Self::No }
    }
}

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
        let ring = build(slots, calls)?;
        let slots = Slots::new(slots, size).map_err(other)?;
        let (ring, mut submitter, submission, completion) = Owned::new(ring);
        let (regions, region_shift) = slots.regions();
        let direct = files.iter().any(|file| caching_of(file) == Caching::Direct);
        let buffers = if direct || copies_sooner_if_registered(size) {
            // SAFETY: the vectors name memory that lives until after the ring is gone (field order).
            unsafe { submitter.register_buffers(&regions) }
        } else {
            Err(io::ErrorKind::Unsupported.into())
        };
        let numbers: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        // The kernel refuses both where limits are low (RLIMIT_MEMLOCK, RLIMIT_NOFILE); the ring works without them.
        let registered_files = submitter.register_files(&numbers);
        let fixed_buffers = Registered::from_result(&buffers);
        let region_shift = match fixed_buffers {
            Registered::Yes => region_shift,
            Registered::No => u32::BITS - 1,
        };
        // Linux 5.18 knows it; without it each entry looks the ring up.
        let _ = submitter.register_ring_fd();
        Ok(Self {
            submitter,
            submission,
            completion,
            _ring: ring,
            fixed_buffers,
            fixed_files: Registered::from_result(&registered_files),
            templates: Default::default(),
            region_shift,
            slots,
            files,
            priority: 0,
            flags: calls.flags().bits().cast_signed(),
            entering: match calls {
                Calls {
                    submitter: Some(_), ..
                } => Entering::Rarely,
                Calls { polled: 100, .. } => Entering::Polling,
                _ => Entering::Plainly,
            },
            timer: CallTimer::default(),
            until_async: (calls.async_every, calls.async_every),
            stays: PhantomData,
        })
    }

    /// The entry of a request, made anew.
    #[inline(never)]
    fn make(&self, request: &Request, address: *mut u8) -> squeue::Entry {
        let entry = if self.fixed_files == Registered::Yes {
            entry_on!(
                types::Fixed(request.file),
                *request,
                address,
                self.fixed_buffers,
                self.priority,
                self.flags
            )
        } else {
            let file = types::Fd(self.files[request.file as usize].as_raw_fd());
            entry_on!(
                file,
                *request,
                address,
                self.fixed_buffers,
                self.priority,
                self.flags
            )
        };
        entry.user_data(u64::from(request.slot))
    }

    /// Puts the entry of a slot that is busy in line for the next submission.
    ///
    /// The entry is lent to nothing that is not inlined: it then never stands in memory but in the queue itself.
    #[inline]
    fn line_up(&mut self, entry: &squeue::Entry) {
        if self.submission.is_full() {
            self.look_again(1);
        }
        // SAFETY: the buffer stays mapped and untouched while its slot is busy, and the file stays open as long as the
        // ring; there are as many entries as slots, so the line is not full.
        let pushed = unsafe { self.submission.push(entry) };
        assert!(pushed.is_ok(), "the submission queue holds every slot");
    }

    /// Submits what is in line and waits for `least` completions. What leads to the call and away from it is inlined: after
    /// it, the processor foresees no return of a function rightly.
    #[expect(
        clippy::inline_always,
        reason = "left to the compiler it was once not, which took 35 ns a call"
    )]
    #[inline(always)]
    fn enter(&mut self, least: u32) -> io::Result<()> {
        if self.entering != Entering::Plainly {
            return self.enter_otherwise(least, None);
        }
        self.submission.sync();
        let count = self.submission.len() as u32;
        // Work that was put off is done by calls that ask for completions.
        let asks = least > 0 || self.submission.taskrun() || self.submission.cq_overflow();
        let flags = if asks { GETEVENTS } else { 0 };
        let no_signals = None::<&libc::sigset_t>;
        // SAFETY: entries in line are valid (`push`, `push_alike`), and no argument points anywhere.
        let call = || unsafe { self.submitter.enter(count, least, flags, no_signals) };
        match self.timer.around(call) {
            Ok(_) => Ok(()),
            Err(error) => forgive(error),
        }
    }

    /// The same, but waits no longer than `timeout`.
    #[inline(never)]
    fn enter_until(&mut self, least: u32, timeout: Nanos) -> io::Result<()> {
        if self.entering != Entering::Plainly {
            return self.enter_otherwise(least, Some(timeout));
        }
        self.submission.sync();
        let time = timespec(timeout);
        let time = types::Timespec::new()
            .sec(time.tv_sec as u64)
            .nsec(time.tv_nsec as u32);
        let arguments = types::SubmitArgs::new().timespec(&time);
        let call = || self.submitter.submit_with_args(least as usize, &arguments);
        self.timer.around(call).map(drop).or_else(forgive)
    }

    /// The same for rings that poll, and for those whose submissions a kernel thread takes. Neither sleeps: whoever asks for
    /// them gives a processor for the latency.
    #[inline(never)]
    fn enter_otherwise(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        let until = timeout.map(|timeout| Clock::now() + timeout);
        let mut rounds = 0u32;
        loop {
            self.submission.sync();
            let flags = match self.entering {
                Entering::Rarely if self.submission.need_wakeup() => Some(SQ_WAKEUP),
                Entering::Rarely if self.submission.cq_overflow() => Some(GETEVENTS),
                Entering::Rarely => None,
                // Without a least number the devices are asked once, and what else is due is seen in between.
                Entering::Polling | Entering::Plainly => Some(GETEVENTS),
            };
            if let Some(flags) = flags {
                let count = self.submission.len() as u32;
                let no_signals = None::<&libc::sigset_t>;
                // SAFETY: entries in line are valid (`push`, `push_alike`), and no argument points anywhere.
                let call = || unsafe { self.submitter.enter(count, 0, flags, no_signals) };
                self.timer.around(call).map(drop).or_else(forgive)?;
            }
            if self.arrived() >= least || until.is_some_and(|until| Clock::now() >= until) {
                return Ok(());
            }
            rounds += 1;
            if rounds < SPINS {
                std::hint::spin_loop();
            } else {
                // The kernel's thread may be waiting for this very processor.
                std::thread::yield_now();
            }
        }
    }

    /// Hands an entry to a kernel worker at once, if it is the turn of one.
    #[cold]
    fn hand_over(&mut self, entry: squeue::Entry) -> squeue::Entry {
        let (left, every) = &mut self.until_async;
        *left -= 1;
        if *left > 0 {
            return entry;
        }
        *left = *every;
        entry.flags(squeue::Flags::ASYNC)
    }

    /// Where the line seems to have no room for so many: seen from here, what the kernel took is still in it.
    ///
    /// A kernel thread gives room back once it has submitted all it saw, by when some of it may be complete and in line again.
    #[inline(never)]
    fn look_again(&mut self, count: usize) {
        loop {
            self.submission.sync();
            let has_room = self.submission.capacity() - self.submission.len() >= count;
            if has_room || self.entering != Entering::Rarely {
                return;
            }
            // It takes all that is in line before it sleeps, and what was woken in vain is asked again by the next wait.
            let _ = self.enter_otherwise(0, None);
            std::thread::yield_now();
        }
    }

    /// Puts reads or writes in line one by one.
    #[cold]
    fn push_each(&mut self, like: Request, slots: &[u32], offsets: &[u64]) {
        for (slot, offset) in slots.iter().zip(offsets) {
            self.push(Request {
                slot: *slot,
                offset: *offset,
                ..like
            });
        }
    }

    /// Puts a sync in line.
    #[cold]
    fn push_sync(&mut self, request: &Request) {
        let address = self.slots.begin(request.slot, 0);
        let entry = self.make(request, address);
        self.line_up(&entry);
    }

    /// The template of reads or writes like this one.
    #[inline]
    fn template_of(&mut self, request: &Request, address: *mut u8) -> &Template {
        let way = usize::from(request.operation == Operation::Write);
        if self.templates[way].made_of != Some((request.file, request.length)) {
            self.make_template(way, request, address);
        }
        &self.templates[way]
    }

    /// The template of these reads or writes, made anew.
    #[cold]
    fn make_template(&mut self, way: usize, request: &Request, address: *mut u8) {
        assert!((request.file as usize) < self.files.len());
        let entry = self.make(request, address);
        self.templates[way] = Template {
            // SAFETY: 64 bytes that were all written, as words.
            words: unsafe { std::mem::transmute::<squeue::Entry, Words>(entry) },
            made_of: Some((request.file, request.length)),
        };
    }
}

/// Set-ups of a ring that its worker enters, the best first.
const ENTERED: [fn(&mut io_uring::Builder); 4] = [
    |builder| {
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_no_sqarray()
            .setup_submit_all();
    },
    |builder| {
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all();
    },
    |builder| {
        builder.setup_coop_taskrun().setup_submit_all();
    },
    |_| {},
];

/// Those of a ring whose submissions a kernel thread takes: work cannot be put off until it is entered.
const TAKEN_FROM: [fn(&mut io_uring::Builder); 3] = [
    |builder| {
        builder
            .setup_single_issuer()
            .setup_no_sqarray()
            .setup_submit_all();
    },
    |builder| {
        builder.setup_submit_all();
    },
    |_| {},
];

/// Makes a ring with the best set-up the kernel knows.
fn build(slots: u32, calls: &Calls) -> Result<IoUring, RingUnusable> {
    let entries = slots.next_power_of_two();
    let attempts: &[fn(&mut io_uring::Builder)] = match calls.submitter {
        None => &ENTERED,
        Some(_) => &TAKEN_FROM,
    };
    let mut last = io::Error::from(io::ErrorKind::Unsupported);
    for set_up in attempts {
        let mut builder = IoUring::builder();
        // No more than the slots can complete; what is larger than need be takes room in the nearest cache.
        builder.setup_cqsize(entries);
        if calls.polled == 100 {
            builder.setup_iopoll();
        }
        if let Some(SubmissionThread { processor }) = calls.submitter {
            builder.setup_sqpoll(SUBMITTER_IDLE_MS);
            if let Some(processor) = processor {
                builder.setup_sqpoll_cpu(processor);
            }
        }
        set_up(&mut builder);
        match builder.build(entries) {
            Ok(ring) if ring.params().is_feature_ext_arg() => return Ok(ring),
            Ok(_) => return Err(RingUnusable::TooOld),
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
    build(2, &Calls::default()).map(drop)
}

/// Errors of the entering call after which the same call can be made again.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY)
    )
}

#[cold]
fn forgive(error: io::Error) -> io::Result<()> {
    if is_transient(&error) {
        Ok(())
    } else {
        Err(error)
    }
}

impl Queue for UringQueue {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    #[inline]
    fn set_priority(&mut self, priority: u16) {
        if self.priority != priority {
            self.priority = priority;
            self.templates = Default::default();
        }
    }

    #[inline]
    fn push(&mut self, request: Request) {
        if !matches!(request.operation, Operation::Read | Operation::Write) {
            return self.push_sync(&request);
        }
        let address = self.slots.begin(request.slot, request.length);
        let region = request.slot >> self.region_shift;
        let entry = self
            .template_of(&request, address)
            .entry(&request, address, region);
        if self.until_async.1 > 0 {
            let entry = self.hand_over(entry);
            return self.line_up(&entry);
        }
        self.line_up(&entry);
    }

    #[inline]
    fn push_alike(&mut self, like: Request, slots: &[u32], offsets: &[u64]) {
        assert_eq!(slots.len(), offsets.len());
        // A sync would become the template of the reads that follow.
        assert!(matches!(like.operation, Operation::Read | Operation::Write));
        let Some(first) = slots.first() else {
            return;
        };
        if self.until_async.1 > 0 {
            return self.push_each(like, slots, offsets);
        }
        if self.submission.capacity() - self.submission.len() < slots.len() {
            self.look_again(slots.len());
        }
        let address = self.slots.address(*first);
        // Copied, it stays in registers.
        let words = self.template_of(&like, address).words;
        let shift = self.region_shift;
        let addresses = self.slots.begin_all(slots, like.length);
        for ((slot, address), offset) in slots.iter().zip(addresses).zip(offsets) {
            let entry = entry(words, *offset, address, *slot, *slot >> shift);
            // SAFETY: as in `line_up`.
            let pushed = unsafe { self.submission.push(&entry) };
            assert!(pushed.is_ok(), "the submission queue holds every slot");
        }
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.enter(0)
    }

    #[inline]
    fn submit_and_wait(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        let in_flight = self.slots.in_flight();
        if in_flight == 0 {
            return Ok(());
        }
        match timeout {
            None => self.enter(least.min(in_flight)),
            Some(timeout) => self.enter_until(least.min(in_flight), timeout),
        }
    }

    #[inline]
    fn arrived(&mut self) -> u32 {
        self.completion.sync();
        self.completion.len() as u32
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    #[inline]
    fn take_each(&mut self, most: usize, mut each: impl FnMut(Completion)) -> Taken {
        self.completion.sync();
        let ready = self.completion.len().min(most);
        let mut end = self.slots.end_some(ready as u32);
        for entry in self.completion.by_ref().take(ready) {
            let slot = entry.user_data() as u32;
            end(slot);
            let result = u32::try_from(entry.result()).map_err(|_| -entry.result());
            each(Completion { slot, result });
        }
        self.completion.sync();
        if self.completion.is_empty() {
            Taken::All
        } else {
            Taken::Some
        }
    }

    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    fn time_outside_calls(&mut self) {
        self.timer.begin();
    }

    fn outside_calls(&self) -> Option<OutsideCalls> {
        self.timer.told()
    }

    fn file(&self, index: u32) -> &File {
        &self.files[index as usize]
    }

    fn replace_file(&mut self, index: u32, file: File) -> io::Result<()> {
        if self.fixed_files == Registered::Yes {
            self.submitter
                .register_files_update(index, &[file.as_raw_fd()])?;
        }
        self.files[index as usize] = file;
        Ok(())
    }
}

impl Drop for UringQueue {
    fn drop(&mut self) {
        // Whatever is in flight uses our buffers: wait for it. Should the kernel refuse, the buffers are given up.
        while self.slots.in_flight() > 0 {
            if self.submit_and_wait(1, None).is_err() {
                return;
            }
            self.take(usize::MAX, &mut Vec::new());
        }
        // The kernel takes a closed ring apart later, at its leisure: let go of files and buffers now, so that a file
        // system can be unmounted and a device be taken by others at once. What was never registered is an error.
        let _ = self.submitter.unregister_files();
        let _ = self.submitter.unregister_buffers();
        let _ = self.submitter.unregister_ring_fd();
    }
}
