//! Aligned buffers, one for each slot of a queue: at pages, or at their own size where that is less than a page.
//!
//! One anonymous mapping holds all of them, so that they can be registered with a ring and are aligned for direct I/O.
//!
//! Invariant: a slot's buffer is handed out only while no request uses it.

use std::io;
use std::ptr::NonNull;

/// Alignment of every buffer, in bytes; enough for direct I/O on any device with sectors up to 4 KiB.
const PAGE: usize = 4096;

/// Allocations of at least this size come straight from the kernel after [`map_large_allocations`].
const MAPPED_FROM: libc::c_int = 16 << 10;

/// Lets the allocator take larger blocks from the kernel one by one, whose pages are there only once they are used. A
/// worker's histograms are made in full before its first I/O, and a few of their pages are ever touched; the allocator
/// would otherwise fill all of them with zeroes.
pub fn map_large_allocations() {
    // SAFETY: sets a tunable of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM)
    };
}

/// Most bytes of a region that the kernel registers (`io_uring/rsrc.c` of Linux 5.1 and later: 1 GiB).
const REGION_MAX: usize = 1 << 30;

/// Smallest alignment that direct I/O asks for.
const SECTOR: usize = 512;

/// Distance between two buffers. Those below a page stand close together: at the starts of pages they would all compete
/// for the same few lines of the processor's first cache.
fn stride_of(size: usize) -> usize {
    if size < PAGE {
        size.max(SECTOR).next_power_of_two()
    } else {
        size.next_multiple_of(PAGE)
    }
}

/// Buffers of equal size, and which of them the kernel uses.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slots {
    in_flight: u32,
    busy: Box<[bool]>,
    size: usize,
    stride: usize,
    start: NonNull<u8>,
}

impl Slots {
    /// `count` buffers of `size` bytes each, filled with zeroes and resident in memory.
    pub(crate) fn new(count: u32, size: u32) -> io::Result<Self> {
        Self::mapped(count, size, libc::MAP_POPULATE)
    }

    /// `count` buffers of `size` bytes each, which take memory once they are used.
    pub(crate) fn untouched(count: u32, size: u32) -> io::Result<Self> {
        Self::mapped(count, size, 0)
    }

    fn mapped(count: u32, size: u32, flags: libc::c_int) -> io::Result<Self> {
        let stride = stride_of(size as usize);
        let length = stride
            .checked_mul(count as usize)
            .filter(|length| *length > 0 && *length < isize::MAX as usize)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new private mapping of ordinary memory; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            start,
            stride,
            size: size as usize,
            busy: vec![false; count as usize].into_boxed_slice(),
            in_flight: 0,
        })
    }

    /// The buffer of a slot that no request uses.
    pub(crate) fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is in flight");
        let address = self.address(slot);
        // SAFETY: `address` is the start of `size` mapped bytes of this slot alone; the kernel does not use them, since
        // the slot is not busy; the borrow of `self` keeps others out.
        unsafe { std::slice::from_raw_parts_mut(address, self.size) }
    }

    /// The buffer of a slot whose request is performed by this thread itself.
    pub(crate) fn busy_buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(self.busy[slot as usize], "slot {slot} is not in flight");
        let address = self.address(slot);
        // SAFETY: as in `buffer`; no kernel uses the bytes but by a call that this thread makes and waits for.
        unsafe { std::slice::from_raw_parts_mut(address, self.size) }
    }

    /// Marks a slot as used by a request of `length` bytes and gives the address of its buffer.
    #[inline]
    pub(crate) fn begin(&mut self, slot: u32, length: u32) -> *mut u8 {
        assert!(!self.busy[slot as usize], "slot {slot} is in flight");
        assert!(length as usize <= self.size, "request exceeds its buffer");
        self.busy[slot as usize] = true;
        self.in_flight += 1;
        self.address(slot)
    }

    /// Marks `count` slots as used by requests of `length` bytes: those that are given to what is returned.
    #[inline]
    pub(crate) fn begin_some(&mut self, count: u32, length: u32) -> impl FnMut(u32) {
        assert!(length as usize <= self.size, "request exceeds its buffer");
        self.in_flight += count;
        let busy = &mut *self.busy;
        |slot| {
            if std::mem::replace(&mut busy[slot as usize], true) {
                is_in_flight(slot);
            }
        }
    }

    /// Marks a slot's request as done.
    #[inline]
    pub(crate) fn end(&mut self, slot: u32) {
        assert!(
            self.busy[slot as usize],
            "slot {slot} completed but was not in flight"
        );
        self.busy[slot as usize] = false;
        self.in_flight -= 1;
    }

    /// Marks `count` requests as done: those of the slots that are given to what is returned.
    #[inline]
    pub(crate) fn end_some(&mut self, count: u32) -> impl FnMut(u32) {
        self.in_flight -= count;
        let busy = &mut *self.busy;
        |slot| {
            if !std::mem::take(&mut busy[slot as usize]) {
                was_not_in_flight(slot);
            }
        }
    }

    /// Whether a request uses the slot.
    pub(crate) fn is_busy(&self, slot: u32) -> bool {
        self.busy[slot as usize]
    }

    /// Number of requests that use a buffer.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// All buffers as the kernel wants them for registration, in as few regions as it takes, and the number of low bits
    /// without which a slot's number is that of its region. The kernel looks up one entry for each region: with one for
    /// each slot, those lookups alone would fill a good part of the nearest cache.
    pub(crate) fn regions(&self) -> (Vec<libc::iovec>, u32) {
        let shift = (REGION_MAX / self.stride).max(1).ilog2();
        let region = |first: usize| {
            let count = (self.busy.len() - first).min(1 << shift);
            libc::iovec {
                iov_base: self.address(first as u32).cast(),
                iov_len: count * self.stride,
            }
        };
        let firsts = (0..self.busy.len()).step_by(1 << shift);
        (firsts.map(region).collect(), shift)
    }

    #[inline]
    pub(crate) fn address(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.busy.len(), "no slot {slot}");
        // SAFETY: the slot is one of the mapped ones, so the result lies within the mapping.
        unsafe { self.start.add(slot as usize * self.stride).as_ptr() }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // The kernel may still write to buffers in flight: give the memory up rather than let another owner have it.
        if self.in_flight == 0 {
            // SAFETY: this is the mapping made in `new`, and nothing refers to it any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.stride * self.busy.len()) };
        }
    }
}

// They take the number by value: a message made in place has it stored in memory, slot by slot, in case.

#[cold]
#[inline(never)]
fn is_in_flight(slot: u32) -> ! {
    panic!("slot {slot} is in flight")
}

#[cold]
#[inline(never)]
fn was_not_in_flight(slot: u32) -> ! {
    panic!("slot {slot} completed but was not in flight")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let mut slots = Slots::new(3, 5000).unwrap();
        for slot in 0..3 {
            slots.buffer(slot).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            let buffer = slots.buffer(slot);
            assert_eq!(buffer.as_ptr() as usize % PAGE, 0);
            assert!(buffer.iter().all(|byte| *byte == slot as u8 + 1));
            assert_eq!(buffer.len(), 5000);
        }
    }

    #[test]
    fn regions_hold_all_buffers_within_the_kernels_limit() {
        let slots = Slots::untouched(5, 400 << 20).unwrap();
        let (regions, shift) = slots.regions();
        let lengths: Vec<_> = regions.iter().map(|it| it.iov_len >> 20).collect();
        assert_eq!((lengths, shift), (vec![800, 800, 400], 1));
        for slot in 0..5u32 {
            let region = &regions[(slot >> shift) as usize];
            let start = slots.address(slot) as usize - region.iov_base as usize;
            assert!(start + (400 << 20) <= region.iov_len, "slot {slot}");
        }
        let (regions, _) = Slots::untouched(64, 4096).unwrap().regions();
        assert_eq!(regions.len(), 1);
    }

    #[test]
    #[should_panic(expected = "slot 0 is in flight")]
    fn a_buffer_in_flight_is_not_handed_out() {
        let mut slots = Slots::new(1, 4096).unwrap();
        slots.begin(0, 4096);
        slots.buffer(0);
    }
}
