//! `io_uring`: one system call submits a batch and waits for completions.
//!
//! Files are registered where the kernel lets us, which saves it looking them up for every request, and buffers where a file
//! is read or written past the page cache, which saves it pinning them, and where the kernel copies to them sooner
//! (`copying.rs`). The fastest set-up the kernel knows is taken: `SINGLE_ISSUER` with `DEFER_TASKRUN` (Linux 6.1),
//! `COOP_TASKRUN` (5.19), or none; `COOP_TASKRUN` too where files are written through the page cache (`looking.rs`).
//!
//! Each slot has an entry of its own in the submission queue. Where reads and writes follow each other, its buffer and user
//! data stay as they are.

mod begin;
mod entry;
mod looking;
mod trims;

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use fathom_units::Nanos;
use rustix::io::{Errno, ReadWriteFlags};
use rustix::io_uring::{IoringEnterFlags, IoringSqFlags, IoringSqeFlags};

pub use self::begin::probe_uring;
use self::entry::{ADDRESS, BUFFER, Template, USER_DATA, made_of};
use self::looking::Looking;
use crate::buffer::Slots;
use crate::clock::Clock;
use crate::outside::CallTimer;
use crate::ring::{HEAD, LENGTH, OFFSET, Ring, Words};
use crate::{Completion, Operation, OutsideCalls, Queue, Request, Taken, Trims};

/// Looks for completions before others are let on to the processor in between: some 20 microseconds.
const SPINS: u32 = 1000;

/// A ring with its buffers and files, on the thread that made it.
///
/// The ring's own number is registered, so that entering it looks nothing up.
#[repr(C)]
pub struct UringQueue {
    // Dropped before `slots`, so that the kernel has let go of the buffers when they are unmapped.
    ring: Ring,
    slots: Slots,
    entering: Entering,
    /// Whether entries are to be written in whole.
    is_unusual: bool,
    timer: CallTimer,
    /// Of reads and of writes.
    templates: [Template; 2],
    /// A slot's number without so many low bits is that of its registered buffer, or 0 where none is registered.
    region_shift: u32,
    /// Reads and writes until one is handed to a kernel worker, and how many that is; 0: none is.
    until_async: (u32, u32),
    /// Slots whose entries a sync or a durable write has changed since.
    spoilt: Vec<u32>,
    files: Vec<File>,
    fixed_buffers: Registered,
    fixed_files: Registered,
    priority: u16,
    /// Flags of reads, and of writes.
    flags: [ReadWriteFlags; 2],
    looking: Looking,
    /// Whether trims are requests of the ring, once that was asked.
    takes_trims: Option<bool>,
    // A ring made for one issuer must stay on its thread.
    stays: PhantomData<*const ()>,
}

impl std::fmt::Debug for UringQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UringQueue({} in flight)", self.slots.in_flight())
    }
}

/// How a ring is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entering {
    /// To submit, and to wait.
    Plainly,
    /// To submit, and to wait if nothing comes soon: what kernel workers have completed is looked for in memory.
    Looking,
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
    /// The entry of a slot's read or write in one place of the file.
    #[inline]
    fn entry(&self, template: &Template, offset: u64, slot: u32) -> Words {
        let region = slot >> self.region_shift;
        let mut words = Words::default();
        words[HEAD] = template.head;
        words[OFFSET] = offset;
        words[ADDRESS] = self.slots.address(slot) as u64;
        words[LENGTH] = template.length;
        words[USER_DATA] = u64::from(slot);
        words[BUFFER] = u64::from((region as u16).to_le());
        words
    }

    /// Puts the entry of a slot in line for the next submission.
    ///
    /// # Safety
    /// The slot became busy just now, so that its entry is not in line.
    #[inline]
    unsafe fn line_up(&mut self, slot: u32, entry: Words) {
        while self.ring.line.room() == 0 {
            self.look_again(1);
        }
        // SAFETY: as asked of the caller.
        unsafe { self.ring.line.put(slot, entry) };
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
        self.ring.line.publish();
        let count = self.ring.line.waiting();
        // Work that was put off is done by calls that ask for completions. Each does: the flag that would say whether there
        // is any (`TASKRUN_FLAG`) is set by whichever processor the device interrupts, in the very line of the cache that
        // holds the heads and tails of both queues.
        let flags = IoringEnterFlags::GETEVENTS;
        // SAFETY: entries in line are those of slots that are busy, whose buffers and files stay.
        let call = || unsafe { self.ring.enter(count, least, flags) };
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
        self.ring.line.publish();
        // SAFETY: as in `enter`.
        let call = || unsafe { self.ring.enter_until(least, timeout) };
        self.timer.around(call).map(drop).or_else(forgive)
    }

    /// The same for rings that look, that poll, and those whose submissions a kernel thread takes.
    #[inline(never)]
    fn enter_otherwise(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        match self.entering {
            Entering::Plainly | Entering::Looking => self.enter_looking(least, timeout),
            Entering::Polling | Entering::Rarely => self.enter_awake(least, timeout),
        }
    }

    /// The same where kernel workers complete what is asked for.
    fn enter_looking(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        self.ring.line.publish();
        if least > 0 && self.looking.is_due() {
            if self.ring.line.waiting() > 0 {
                self.enter_for(0)?;
                self.ring.line.publish();
            }
            let arrivals = &mut self.ring.arrivals;
            if self.looking.look(|| arrivals.look() >= least) {
                return Ok(());
            }
        }
        match timeout {
            None => self.enter_for(least),
            Some(timeout) => {
                // SAFETY: as in `enter`.
                let call = || unsafe { self.ring.enter_until(least, timeout) };
                self.timer.around(call).map(drop).or_else(forgive)
            }
        }
    }

    /// Submits what was published, and waits for `least` completions.
    fn enter_for(&mut self, least: u32) -> io::Result<()> {
        let (count, flags) = (self.ring.line.waiting(), IoringEnterFlags::GETEVENTS);
        // SAFETY: as in `enter`.
        let call = || unsafe { self.ring.enter(count, least, flags) };
        self.timer.around(call).map(drop).or_else(forgive)
    }

    /// The same for rings that poll, and for those whose submissions a kernel thread takes. Neither sleeps: whoever asks for
    /// them gives a processor for the latency.
    fn enter_awake(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        let until = timeout.map(|timeout| Clock::now() + timeout);
        let mut rounds = 0u32;
        loop {
            self.ring.line.publish();
            let overflow = self.ring.line.flags().contains(IoringSqFlags::CQ_OVERFLOW);
            let flags = match self.entering {
                Entering::Rarely if self.ring.line.is_asleep() => Some(IoringEnterFlags::SQ_WAKEUP),
                Entering::Rarely if overflow => Some(IoringEnterFlags::GETEVENTS),
                Entering::Rarely => None,
                // Without a least number the devices are asked once, and what else is due is seen in between.
                Entering::Polling | Entering::Plainly | Entering::Looking => {
                    Some(IoringEnterFlags::GETEVENTS)
                }
            };
            if let Some(flags) = flags {
                let count = self.ring.line.waiting();
                // SAFETY: as in `enter`.
                let call = || unsafe { self.ring.enter(count, 0, flags) };
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
    fn hand_over(&mut self, mut entry: Words) -> Words {
        let (left, every) = &mut self.until_async;
        *left -= 1;
        if *left > 0 {
            return entry;
        }
        *left = *every;
        // The second byte of an entry is that of its flags.
        let mut bytes = entry[HEAD].to_ne_bytes();
        bytes[1] |= IoringSqeFlags::ASYNC.bits();
        entry[HEAD] = u64::from_ne_bytes(bytes);
        entry
    }

    /// Gives the entries of slots that had one of those what they have for reads and writes; `false` where entries have to be
    /// written in whole all the same.
    #[cold]
    #[inline(never)]
    fn mend_entries(&mut self) -> bool {
        let mut spoilt = std::mem::take(&mut self.spoilt);
        spoilt.retain(|slot| {
            let is_busy = self.slots.is_busy(*slot);
            if !is_busy {
                let entry = self.entry(&Template::default(), 0, *slot);
                // SAFETY: what is in line is of slots that are busy.
                unsafe { self.ring.line.write(*slot, entry) };
            }
            is_busy
        });
        self.is_unusual = self.until_async.1 > 0 || !spoilt.is_empty();
        self.spoilt = spoilt;
        !self.is_unusual
    }

    /// Where the line seems to have no room for so many: seen from here, what the kernel took is still in it.
    ///
    /// A kernel thread gives room back once it has submitted all it saw, by when some of it may be complete and in line again.
    ///
    /// # Panics
    /// Where there is none, and no such thread.
    #[inline(never)]
    fn look_again(&mut self, count: usize) {
        loop {
            self.ring.line.publish();
            if self.ring.line.room() >= count {
                return;
            }
            assert!(self.entering == Entering::Rarely, "the line is full");
            // It takes all that is in line before it sleeps, and what was woken in vain is asked again by the next wait.
            let _ = self.enter_otherwise(0, None);
            std::thread::yield_now();
        }
    }

    /// Puts reads or writes in line one by one.
    #[cold]
    fn push_each(
        &mut self,
        (operation, file, length): (Operation, u32, u32),
        slots: &[u32],
        offsets: &[u64],
        mut each: impl FnMut(u32, u64),
    ) {
        for (slot, offset) in slots.iter().zip(offsets) {
            each(*slot, *offset);
            self.push(Request {
                slot: *slot,
                file,
                operation,
                offset: *offset,
                length,
            });
        }
    }

    /// Puts a sync or a durable write in line.
    #[cold]
    fn push_unlike(&mut self, request: &Request) {
        let length = match request.operation {
            Operation::WriteThrough => request.length,
            _ => 0,
        };
        let address = self.slots.begin(request.slot, length);
        let mut entry = self.make(request, address);
        if length > 0 {
            entry[BUFFER] = self.entry(&Template::default(), 0, request.slot)[BUFFER];
        }
        // SAFETY: the slot has begun just now.
        unsafe { self.line_up_unlike(request.slot, entry) };
    }

    /// Puts an entry in line that has another shape than those of reads and writes.
    ///
    /// # Safety
    /// As of [`Self::line_up`].
    #[cold]
    unsafe fn line_up_unlike(&mut self, slot: u32, entry: Words) {
        if self.spoilt.len() == self.spoilt.capacity() {
            self.mend_entries();
        }
        self.spoilt.push(slot);
        self.is_unusual = true;
        // SAFETY: as asked of the caller.
        unsafe { self.line_up(slot, entry) };
    }

    /// Those of the `count` completions taken last that did not do all they were asked for.
    #[cold]
    #[inline(never)]
    fn find_odd(&self, length: u32, count: usize, odd: &mut Vec<Completion>) {
        let taken = self.ring.arrivals.taken_last(count);
        let is_odd = |(_, result): &(u64, i32)| i64::from(*result) != i64::from(length);
        odd.extend(taken.filter(is_odd).map(|(user_data, result)| Completion {
            slot: user_data as u32,
            result: u32::try_from(result).map_err(|_| -result),
        }));
    }

    /// The template of such reads or writes.
    #[inline]
    fn template_of(&mut self, operation: Operation, file: u32, length: u32) -> &Template {
        let way = usize::from(operation == Operation::Write);
        if self.templates[way].made_of != made_of(file, length) {
            self.make_template(operation, file, length);
        }
        &self.templates[way]
    }
}

/// What taking some says of so many that are left.
fn left(count: u32) -> Taken {
    if count == 0 { Taken::All } else { Taken::Some }
}

/// Takes errors of the entering call after which the same call can be made again for none.
#[cold]
fn forgive(error: Errno) -> io::Result<()> {
    match error {
        Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY => Ok(()),
        _ => Err(error.into()),
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
            return self.push_unlike(&request);
        }
        self.slots.begin(request.slot, request.length);
        let template = *self.template_of(request.operation, request.file, request.length);
        let mut entry = self.entry(&template, request.offset, request.slot);
        if self.until_async.1 > 0 {
            entry = self.hand_over(entry);
        }
        // SAFETY: the slot has begun just now.
        unsafe { self.line_up(request.slot, entry) };
    }

    fn push_trim(&mut self, request: Request) -> Trims {
        if !self.takes_trims(request.file) {
            return Trims::Apart;
        }
        // No data goes with it, so that it may be longer than the slot's buffer.
        self.slots.begin(request.slot, 0);
        let entry = self.trim_of(&request);
        // SAFETY: the slot has begun just now.
        unsafe { self.line_up_unlike(request.slot, entry) };
        Trims::InLine
    }

    #[expect(clippy::inline_always, reason = "as of `enter`")]
    #[inline(always)]
    fn push_alike(
        &mut self,
        like: Request,
        slots: &[u32],
        offsets: &[u64],
        mut each: impl FnMut(u32, u64),
    ) {
        assert_eq!(slots.len(), offsets.len());
        // A sync would become the template of the reads that follow.
        assert!(matches!(like.operation, Operation::Read | Operation::Write));
        if self.is_unusual && !self.mend_entries() {
            let like = (like.operation, like.file, like.length);
            return self.push_each(like, slots, offsets, each);
        }
        let template = self.template_of(like.operation, like.file, like.length);
        let words = (template.head, template.length);
        while self.ring.line.room() < slots.len() {
            self.look_again(slots.len());
        }
        let offsets = &offsets[..slots.len()];
        let mut begin = self.slots.begin_some(slots.len() as u32, like.length);
        let each = |index| {
            let (slot, offset) = (slots[index], offsets[index]);
            each(slot, offset);
            begin(slot);
            (slot, offset)
        };
        // SAFETY: each slot begins just now, so that it is one of the queue's and its entry is not in line; there are at least as
        // many entries as slots.
        unsafe { self.ring.line.put_alike(slots.len(), words, each) };
    }

    #[expect(clippy::inline_always, reason = "as of `enter`")]
    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.enter(0)
    }

    #[expect(clippy::inline_always, reason = "as of `enter`")]
    #[inline(always)]
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

    #[expect(clippy::inline_always, reason = "as of `enter`")]
    #[inline(always)]
    fn submit_for(&mut self, least: u32) -> io::Result<()> {
        let in_flight = self.slots.in_flight();
        if in_flight == 0 {
            return Ok(());
        }
        self.enter(least.min(in_flight))
    }

    #[inline]
    fn arrived(&mut self) -> u32 {
        self.ring.arrivals.look()
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    #[inline]
    fn take_each(&mut self, most: usize, mut each: impl FnMut(Completion)) -> Taken {
        self.ring.arrivals.look();
        let arrived = self.ring.arrivals.take(most);
        let mut end = self.slots.end_some(arrived.len() as u32);
        for (user_data, result) in arrived {
            let slot = user_data as u32;
            end(slot);
            let result = u32::try_from(result).map_err(|_| -result);
            each(Completion { slot, result });
        }
        left(self.ring.arrivals.give_back())
    }

    #[expect(clippy::inline_always, reason = "as of `enter`")]
    #[inline(always)]
    fn take_alike(
        &mut self,
        length: u32,
        into: &mut [u32],
        odd: &mut Vec<Completion>,
    ) -> (usize, Taken) {
        self.ring.arrivals.look();
        let arrived = self.ring.arrivals.take(into.len());
        let count = arrived.len();
        let mut end = self.slots.end_some(count as u32);
        let mut differing = 0;
        for (place, (user_data, result)) in into.iter_mut().zip(arrived) {
            let slot = user_data as u32;
            end(slot);
            differing |= result ^ length.cast_signed();
            *place = slot;
        }
        drop(end);
        if differing != 0 {
            self.find_odd(length, count, odd);
        }
        (count, left(self.ring.arrivals.give_back()))
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
            self.ring.replace_file(index, file.as_raw_fd())?;
        }
        self.files[index as usize] = file;
        Ok(())
    }
}

impl Drop for UringQueue {
    fn drop(&mut self) {
        // Whatever is in flight uses our buffers: wait for it. Should the kernel refuse, the buffers are given up. Slots may be
        // marked that never came into line, or were never given back, where a caller panicked in between: the ring alone knows.
        while self.ring.underway() > 0 {
            if self.enter(1).is_err() {
                return;
            }
            self.ring.arrivals.look();
            self.ring.arrivals.take(usize::MAX).for_each(drop);
            self.ring.arrivals.give_back();
        }
        // Let go of files and buffers now, so that a file system can be unmounted and a device be taken by others at once.
        self.ring.release();
    }
}
