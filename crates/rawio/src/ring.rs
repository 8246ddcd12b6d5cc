//! The memory that a ring of `io_uring` shares with the kernel, and the calls that make and enter it.
//!
//! Layout and order of accesses are those of `include/uapi/linux/io_uring.h`: who has written entries publishes them by
//! storing a tail, and who has read some gives their room back by storing a head. Both ends are kept on this side as well, so
//! that a request in line or a completion taken touches nothing shared but its own entry.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use fathom_units::Nanos;
use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags, IoringFeatureFlags, IoringRegisterOp,
    IoringSetupFlags, IoringSqFlags, Timespec, io_uring_cqe, io_uring_enter, io_uring_enter_arg,
    io_uring_files_update, io_uring_getevents_arg, io_uring_params, io_uring_ptr,
    io_uring_register, io_uring_rsrc_update, io_uring_setup, io_uring_sqe,
};

/// An entry of the submission queue in words, each of which is written as a whole.
pub(crate) type Words = [u64; size_of::<io_uring_sqe>() / size_of::<u64>()];

/// A ring.
#[repr(C)]
pub(crate) struct Ring {
    pub(crate) line: Line,
    pub(crate) arrivals: Arrivals,
    /// The number it is entered by, and how that is meant.
    number: RawFd,
    entered: IoringEnterFlags,
    /// What no round touches, out of the way.
    held: Box<Held>,
}

/// What keeps a ring there.
struct Held {
    fd: OwnedFd,
    _queues: Mapping,
    _entries: Mapping,
}

impl Ring {
    /// A ring whose queues have `entries` entries each, a power of two.
    ///
    /// # Errors
    /// Those of `io_uring_setup` and `mmap`; `Unsupported` where the kernel cannot wait with a time limit (before 5.11).
    pub(crate) fn new(entries: u32, mut wanted: io_uring_params) -> io::Result<Self> {
        // No more than what is in flight can complete; what is larger than need be takes room in the nearest cache.
        wanted.flags |= IoringSetupFlags::CQSIZE;
        wanted.cq_entries = entries;
        // SAFETY: the parameters name no memory.
        let fd = unsafe { io_uring_setup(entries, &mut wanted) }?;
        let needed = IoringFeatureFlags::EXT_ARG | IoringFeatureFlags::SINGLE_MMAP;
        if !wanted.features.contains(needed) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (sq, cq) = (&wanted.sq_off, &wanted.cq_off);
        let (submissions, completions) = (wanted.sq_entries as usize, wanted.cq_entries as usize);
        let array_end = sq.array as usize + submissions * size_of::<u32>();
        let entries_end = cq.cqes as usize + completions * size_of::<io_uring_cqe>();
        let queues = Mapping::new(&fd, IORING_OFF_SQ_RING, array_end.max(entries_end))?;
        let entries = Mapping::new(&fd, IORING_OFF_SQES, submissions * size_of::<Words>())?;
        let word = |offset| queues.at::<AtomicU32>(offset, 1);
        Ok(Self {
            line: Line {
                entries: entries.at(0, submissions),
                order: queues.at(sq.array, submissions),
                next: 0,
                taken: 0,
                count: wanted.sq_entries,
                tail: word(sq.tail),
                head: word(sq.head),
                flags: word(sq.flags),
            },
            arrivals: Arrivals {
                entries: queues.at(cq.cqes, completions),
                next: 0,
                there: 0,
                count: wanted.cq_entries,
                tail: word(cq.tail),
                head: word(cq.head),
            },
            number: fd.as_raw_fd(),
            entered: IoringEnterFlags::empty(),
            held: Box::new(Held {
                fd,
                _queues: queues,
                _entries: entries,
            }),
        })
    }

    /// Entries ever put in line whose completions were not taken: each entry has one completion.
    pub(crate) fn underway(&self) -> u32 {
        self.line.next.wrapping_sub(self.arrivals.next)
    }

    /// The call that submits `count` entries of the line, and as `flags` has it waits for `least` completions; it is inlined.
    ///
    /// # Safety
    /// What the entries in line point at stays as it is until they complete.
    #[expect(clippy::inline_always, reason = "as of `UringQueue::enter`")]
    #[inline(always)]
    pub(crate) unsafe fn enter(
        &self,
        count: u32,
        least: u32,
        flags: IoringEnterFlags,
    ) -> Result<u32, Errno> {
        // SAFETY: as asked of the caller; the number is the ring's.
        unsafe {
            let ring = BorrowedFd::borrow_raw(self.number);
            io_uring_enter(ring, count, least, flags | self.entered)
        }
    }

    /// The same for all that is in line, but it waits no longer than `timeout`.
    ///
    /// # Safety
    /// As of [`Self::enter`].
    pub(crate) unsafe fn enter_until(&self, least: u32, timeout: Nanos) -> Result<u32, Errno> {
        let mut time = Timespec {
            tv_sec: (timeout.get() / 1_000_000_000).cast_signed(),
            tv_nsec: (timeout.get() % 1_000_000_000).cast_signed(),
        };
        let until = io_uring_getevents_arg {
            ts: io_uring_ptr::new((&raw mut time).cast()),
            ..io_uring_getevents_arg::default()
        };
        let flags = IoringEnterFlags::GETEVENTS | IoringEnterFlags::EXT_ARG | self.entered;
        // SAFETY: as asked of the caller; the number is the ring's, and the time outlives the call.
        unsafe {
            let ring = BorrowedFd::borrow_raw(self.number);
            io_uring_enter_arg(ring, self.line.waiting(), least, flags, Some(&until))
        }
    }

    /// Lets entries name these buffers by number.
    ///
    /// # Safety
    /// They stay mapped until the ring is gone or [`Self::release`] has let go of them.
    pub(crate) unsafe fn register_buffers(&self, buffers: &[libc::iovec]) -> io::Result<()> {
        self.register(IoringRegisterOp::RegisterBuffers, buffers)
    }

    /// Lets entries name these files by number; the ring holds them open itself.
    pub(crate) fn register_files(&self, files: &[RawFd]) -> io::Result<()> {
        self.register(IoringRegisterOp::RegisterFiles, files)
    }

    /// Puts another file in the place of a registered one.
    pub(crate) fn replace_file(&self, index: u32, file: RawFd) -> io::Result<()> {
        let mut update = io_uring_files_update::default();
        update.offset = index;
        update.fds = io_uring_ptr::new((&raw const file).cast_mut().cast());
        // SAFETY: one file's number, which outlives the call.
        let updated = unsafe {
            let update = (&raw const update).cast();
            io_uring_register(
                &self.held.fd,
                IoringRegisterOp::RegisterFilesUpdate,
                update,
                1,
            )
        };
        updated?;
        Ok(())
    }

    /// Registers the ring's own number, which saves each entering call a look-up (Linux 5.18 and later).
    pub(crate) fn register_itself(&mut self) {
        let mut update = io_uring_rsrc_update::default();
        update.offset = u32::MAX;
        update.data = io_uring_ptr::new(std::ptr::without_provenance_mut(
            self.number.cast_unsigned() as usize,
        ));
        // SAFETY: one update, which the kernel changes during the call.
        let registered = unsafe {
            let update: *mut c_void = (&raw mut update).cast();
            io_uring_register(&self.held.fd, IoringRegisterOp::RegisterRingFds, update, 1)
        };
        if registered.is_ok_and(|count| count == 1) {
            self.number = update.offset.cast_signed();
            self.entered = IoringEnterFlags::REGISTERED_RING;
        }
    }

    /// Lets go of files, buffers and number: the kernel takes a closed ring apart later, at its leisure. What was never
    /// registered is an error that says nothing.
    pub(crate) fn release(&mut self) {
        let _ = self.register::<RawFd>(IoringRegisterOp::UnregisterFiles, &[]);
        let _ = self.register::<libc::iovec>(IoringRegisterOp::UnregisterBuffers, &[]);
        if self.entered == IoringEnterFlags::REGISTERED_RING {
            let mut update = io_uring_rsrc_update::default();
            update.offset = self.number.cast_unsigned();
            // SAFETY: one update, which outlives the call.
            let _ = unsafe {
                let update: *mut c_void = (&raw mut update).cast();
                io_uring_register(
                    &self.held.fd,
                    IoringRegisterOp::UnregisterRingFds,
                    update,
                    1,
                )
            };
            self.number = self.held.fd.as_raw_fd();
            self.entered = IoringEnterFlags::empty();
        }
    }

    fn register<T>(&self, operation: IoringRegisterOp, what: &[T]) -> io::Result<()> {
        let start = if what.is_empty() {
            std::ptr::null()
        } else {
            what.as_ptr().cast()
        };
        // SAFETY: so many elements, of which the kernel takes what it needs during the call; for what is behind them, see the
        // callers.
        unsafe { io_uring_register(&self.held.fd, operation, start, what.len() as u32) }?;
        Ok(())
    }
}

/// The submission queue: the entries, and in which order they stand in line.
///
/// The order goes through an array of the ring's (there is none with `NO_SQARRAY`, which is therefore not asked for), so that
/// an entry can belong to one slot for good: what never changes of it is written once.
#[repr(C)]
pub(crate) struct Line {
    entries: NonNull<Words>,
    order: NonNull<u32>,
    tail: NonNull<AtomicU32>,
    head: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    /// Entries ever put in line, modulo 2^32.
    next: u32,
    /// Those of them that the kernel had taken when it was last looked at.
    taken: u32,
    /// Room for so many, a power of two.
    count: u32,
}

/// Word of an entry that says what is done to which file.
pub(crate) const HEAD: usize = 0;
/// Word of the offset.
pub(crate) const OFFSET: usize = 1;
/// Word of the length, and of how it is done.
pub(crate) const LENGTH: usize = 3;

impl Line {
    /// Room for further entries.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        (self.count - self.waiting()) as usize
    }

    /// Entries in line that the kernel has not taken.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.next.wrapping_sub(self.taken)
    }

    /// Writes an entry.
    ///
    /// # Safety
    /// It is not in line.
    ///
    /// # Panics
    /// Where there is no entry of that number.
    pub(crate) unsafe fn write(&mut self, index: u32, words: Words) {
        assert!(index < self.count, "no entry {index}");
        // SAFETY: the index is below the number of entries, and the kernel reads none that is not in line.
        unsafe { self.entries.add(index as usize).write(words) };
    }

    /// Writes an entry and puts it in line.
    ///
    /// # Safety
    /// As of [`Self::write`].
    ///
    /// # Panics
    /// As [`Self::write`], and where there is no room.
    #[inline]
    pub(crate) unsafe fn put(&mut self, index: u32, words: Words) {
        assert!(self.room() > 0, "the line is full");
        // SAFETY: as asked of the caller.
        unsafe { self.write(index, words) };
        let place = self.next & (self.count - 1);
        // SAFETY: the place is below the number of entries, and the kernel reads it after its publication.
        unsafe { self.order.add(place as usize).write(index) };
        self.next = self.next.wrapping_add(1);
    }

    /// Puts `count` entries in line, of which only these words are written: the one of the head, that of the length, and that
    /// of the offset. `each` gives the number and the offset of each.
    ///
    /// # Safety
    /// The numbers are below that of the entries, and none of them is in line.
    ///
    /// # Panics
    /// Where there is no room for them.
    #[expect(
        clippy::inline_always,
        reason = "a call hands over what the entries are made of in memory"
    )]
    #[inline(always)]
    pub(crate) unsafe fn put_alike(
        &mut self,
        count: usize,
        (head, length): (u64, u64),
        mut each: impl FnMut(usize) -> (u32, u64),
    ) {
        assert!(count <= self.room(), "the line is full");
        let (entries, order) = (self.entries, self.order);
        let (mask, first) = (self.count - 1, self.next);
        for index in 0..count {
            let (number, offset) = each(index);
            let place = first.wrapping_add(index as u32) & mask;
            // SAFETY: as asked of the caller, the number is that of an entry which the kernel does not read now. The place is
            // below the number of entries; the kernel reads it between its publication and that of a head beyond it: there is
            // room, so it is not this one.
            unsafe {
                let words = entries.add(number as usize).cast::<u64>();
                words.add(HEAD).write(head);
                words.add(OFFSET).write(offset);
                words.add(LENGTH).write(length);
                order.add(place as usize).write(number);
            }
        }
        self.next = first.wrapping_add(count as u32);
    }

    /// Shows the kernel what is in line, and looks at what it has taken.
    #[inline]
    pub(crate) fn publish(&mut self) {
        // SAFETY: words of the mapping, which outlives its views; both sides access them atomically.
        let (tail, head) = unsafe { (self.tail.as_ref(), self.head.as_ref()) };
        tail.store(self.next, Ordering::Release);
        self.taken = head.load(Ordering::Acquire);
    }

    /// What the kernel says of itself.
    #[inline]
    pub(crate) fn flags(&self) -> IoringSqFlags {
        // SAFETY: as in `publish`.
        let flags = unsafe { self.flags.as_ref() }.load(Ordering::Acquire);
        IoringSqFlags::from_bits_retain(flags)
    }

    /// Whether the kernel's thread sleeps and does not see what was published.
    pub(crate) fn is_asleep(&self) -> bool {
        // The kernel sets the flag and then looks at the tail; here the tail was stored, and then the flag is looked at: with
        // full fences in between, one of both sees the other.
        fence(Ordering::SeqCst);
        self.flags().contains(IoringSqFlags::NEED_WAKEUP)
    }
}

/// The completion queue.
#[repr(C)]
pub(crate) struct Arrivals {
    entries: NonNull<io_uring_cqe>,
    tail: NonNull<AtomicU32>,
    head: NonNull<AtomicU32>,
    /// Entries ever taken, modulo 2^32.
    next: u32,
    /// Entries that had ever arrived when it was last looked at.
    there: u32,
    /// Room for so many, a power of two.
    count: u32,
}

impl Arrivals {
    /// How many have arrived and are not taken.
    #[inline]
    pub(crate) fn look(&mut self) -> u32 {
        // SAFETY: as in `Line::publish`.
        self.there = unsafe { self.tail.as_ref() }.load(Ordering::Acquire);
        self.there.wrapping_sub(self.next)
    }

    /// Takes at most `most` of those that were there when it was last looked at: what they were submitted with, and their
    /// results. Their room is given back by [`Self::give_back`].
    #[inline]
    pub(crate) fn take(&mut self, most: usize) -> impl ExactSizeIterator<Item = (u64, i32)> {
        let there = self.there.wrapping_sub(self.next).min(self.count);
        let taken = there.min(most.try_into().unwrap_or(u32::MAX));
        let first = self.next;
        self.next = first.wrapping_add(taken);
        self.entries_from(first, taken as usize)
    }

    /// The `count` entries taken last, whose room was not given back.
    pub(crate) fn taken_last(&self, count: usize) -> impl Iterator<Item = (u64, i32)> {
        let count = count.min(self.count as usize);
        self.entries_from(self.next.wrapping_sub(count as u32), count)
    }

    #[inline]
    fn entries_from(
        &self,
        first: u32,
        count: usize,
    ) -> impl ExactSizeIterator<Item = (u64, i32)> + use<> {
        let (start, mask) = (self.entries, self.count - 1);
        (0..count).map(move |index| {
            let place = first.wrapping_add(index as u32) & mask;
            // SAFETY: the index is below the number of entries, and the kernel writes an entry before it stores a tail beyond it
            // and not again before its room is given back.
            let entry = unsafe { start.add(place as usize).as_ref() };
            (entry.user_data.u64_(), entry.res)
        })
    }

    /// Gives the room of what was taken back to the kernel, and looks again.
    #[inline]
    pub(crate) fn give_back(&mut self) -> u32 {
        // SAFETY: as in `Line::publish`.
        unsafe { self.head.as_ref() }.store(self.next, Ordering::Release);
        self.look()
    }
}

/// Memory of a ring, mapped.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(ring: &OwnedFd, offset: u64, length: usize) -> io::Result<Self> {
        // SAFETY: a new shared mapping; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                ring.as_raw_fd(),
                offset.cast_signed(),
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The address of `count` values at `offset`.
    fn at<T>(&self, offset: u32, count: usize) -> NonNull<T> {
        let offset = offset as usize;
        assert!(
            offset + count * size_of::<T>() <= self.length
                && offset.is_multiple_of(align_of::<T>()),
            "the kernel's offsets lie within its ring"
        );
        // SAFETY: within the mapping, as was just asserted.
        unsafe { self.start.add(offset) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`; its views are fields of a `Ring`, and nothing uses them as it is dropped.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use rustix::io_uring::{IoringOp, io_uring_user_data};

    use super::*;

    fn nothing(number: u64) -> Words {
        let entry = io_uring_sqe {
            opcode: IoringOp::Nop,
            user_data: io_uring_user_data::from_u64(number),
            ..io_uring_sqe::default()
        };
        // SAFETY: the same bytes as words, all of them written.
        unsafe { std::mem::transmute::<io_uring_sqe, Words>(entry) }
    }

    /// Submits entries that do nothing, and gives what completed.
    fn round(ring: &mut Ring, numbers: &[u64]) -> Vec<(u64, i32)> {
        for (index, number) in (0..).zip(numbers) {
            // SAFETY: nothing is in line but what was put there for this round.
            unsafe { ring.line.put(index, nothing(*number)) };
        }
        ring.line.publish();
        let count = ring.line.waiting();
        assert_eq!(count as usize, numbers.len());
        // SAFETY: the entries point at nothing.
        let taken = unsafe { ring.enter(count, count, IoringEnterFlags::GETEVENTS) };
        assert_eq!(taken.unwrap(), count);
        ring.line.publish();
        assert_eq!((ring.line.waiting(), ring.line.room()), (0, 4));
        assert_eq!(ring.arrivals.look(), count);
        let done = ring.arrivals.take(usize::MAX).collect();
        assert_eq!(ring.arrivals.give_back(), 0);
        done
    }

    #[track_caller]
    fn check(flags: IoringSetupFlags) {
        let mut wanted = io_uring_params::default();
        wanted.flags |= flags;
        let mut ring = Ring::new(4, wanted).unwrap();
        for registered in [false, true] {
            if registered {
                ring.register_itself();
                assert_eq!(ring.entered, IoringEnterFlags::REGISTERED_RING);
            }
            // More than the queues hold, so that places are used again.
            for first in (0..20).step_by(3) {
                let numbers = [first, first + 1, first + 2];
                let done = round(&mut ring, &numbers);
                assert_eq!(done, numbers.map(|number| (number, 0)));
            }
        }
        ring.release();
        assert_eq!(round(&mut ring, &[1 << 40]), [(1 << 40, 0)]);
    }

    #[test]
    fn entries_come_back_however_the_ring_is_set_up() {
        check(IoringSetupFlags::empty());
        check(IoringSetupFlags::COOP_TASKRUN);
        let deferred = IoringSetupFlags::SINGLE_ISSUER | IoringSetupFlags::DEFER_TASKRUN;
        check(deferred);
    }

    #[test]
    fn a_wait_ends_with_its_time() {
        let mut ring = Ring::new(4, io_uring_params::default()).unwrap();
        ring.line.publish();
        // SAFETY: nothing is in line.
        let waited = unsafe { ring.enter_until(1, Nanos::from_millis(5)) };
        assert_eq!(waited.unwrap_err(), Errno::TIME);
    }

    #[test]
    #[should_panic(expected = "the line is full")]
    fn more_than_there_is_room_for_is_refused() {
        let mut ring = Ring::new(4, io_uring_params::default()).unwrap();
        for index in [0, 1, 2, 3, 0] {
            // SAFETY: the kernel is shown nothing of it.
            unsafe { ring.line.put(index, nothing(7)) };
        }
    }
}
