//! Backends without a ring: one system call at a time, and none at all.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};

use fathom_units::Nanos;
use rustix::io::{Errno, ReadWriteFlags};

use crate::buffer::Slots;
use crate::calls::Share;
use crate::outside::CallTimer;
use crate::{Calls, Completion, Operation, OutsideCalls, Queue, Request, Taken};

/// Requests in line and completions of them, both in order and never more than there are slots.
#[derive(Debug)]
struct Lines {
    slots: Slots,
    files: Vec<File>,
    waiting: Vec<Request>,
    done: Vec<Completion>,
}

impl Lines {
    fn new(files: Vec<File>, slots: u32, size: u32) -> io::Result<Self> {
        Ok(Self {
            slots: Slots::new(slots, size)?,
            files,
            waiting: Vec::with_capacity(slots as usize),
            done: Vec::with_capacity(slots as usize),
        })
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.slots.begin(request.slot, request.length);
        self.waiting.push(request);
    }

    /// Ends every request in line with what `perform` says of it.
    fn finish(&mut self, mut perform: impl FnMut(&File, Request, &mut [u8]) -> Result<u32, i32>) {
        let Self {
            slots,
            files,
            waiting,
            done,
        } = self;
        for request in waiting.iter() {
            let buffer = &mut slots.busy_buffer(request.slot)[..request.length as usize];
            let result = perform(&files[request.file as usize], *request, buffer);
            done.push(Completion {
                slot: request.slot,
                result,
            });
        }
        waiting.clear();
    }
}

/// Gives completions out of a line, and frees their slots.
#[inline]
pub(crate) fn take_from(
    done: &mut Vec<Completion>,
    slots: &mut Slots,
    most: usize,
    mut each: impl FnMut(Completion),
) -> Taken {
    let count = done.len().min(most);
    let mut end = slots.end_some(count as u32);
    for completion in &done[..count] {
        end(completion.slot);
        each(*completion);
    }
    taken_out(done, count)
}

/// Removes what was taken out of a line.
#[inline]
fn taken_out(done: &mut Vec<Completion>, count: usize) -> Taken {
    if count == done.len() {
        done.clear();
        return Taken::All;
    }
    done.drain(..count);
    Taken::Some
}

/// `pread` and `pwrite`: each request is over when its submission returns.
#[derive(Debug)]
pub struct SyncQueue {
    lines: Lines,
    timer: CallTimer,
    /// Calls with flags in their place.
    flagged: Option<Flagged>,
}

/// `preadv2` and `pwritev2`, which take flags.
#[derive(Debug)]
struct Flagged {
    /// Of reads, and of writes.
    flags: [ReadWriteFlags; 2],
    polled: Share,
}

impl Flagged {
    /// Performs one request.
    #[inline(never)]
    fn perform(&mut self, file: &File, request: Request, buffer: &mut [u8]) -> Result<u32, i32> {
        let [reads, writes] = self.flags;
        let mut flags = match request.operation {
            Operation::Read => reads,
            Operation::Write => writes,
            Operation::WriteThrough => writes | ReadWriteFlags::DSYNC,
            Operation::Fsync | Operation::Fdatasync => return perform(file, request, buffer),
        };
        flags.set(ReadWriteFlags::HIPRI, self.polled.next());
        loop {
            let moved = if request.operation == Operation::Read {
                let buffers = &mut [IoSliceMut::new(buffer)];
                rustix::io::preadv2(file, buffers, request.offset, flags)
            } else {
                let buffers = &[IoSlice::new(buffer)];
                rustix::io::pwritev2(file, buffers, request.offset, flags)
            };
            match moved {
                Ok(moved) => return Ok(moved as u32),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.raw_os_error()),
            }
        }
    }
}

impl SyncQueue {
    /// A queue of `slots` buffers of `size` bytes on `files`.
    ///
    /// # Errors
    /// Where there is no memory for the buffers.
    pub fn new(files: Vec<File>, slots: u32, size: u32) -> io::Result<Self> {
        Self::with_calls(files, slots, size, &Calls::default())
    }

    /// The same with flags of each read and write, of which the ring's own do not count.
    ///
    /// # Errors
    /// As [`SyncQueue::new`].
    pub fn with_calls(files: Vec<File>, slots: u32, size: u32, calls: &Calls) -> io::Result<Self> {
        let flags = [calls.read_flags(), calls.write_flags()];
        let is_flagged = calls.polled > 0 || flags.iter().any(|flags| !flags.is_empty());
        Ok(Self {
            lines: Lines::new(files, slots, size)?,
            timer: CallTimer::default(),
            flagged: is_flagged.then(|| Flagged {
                flags,
                polled: Share::new(calls.polled),
            }),
        })
    }
}

/// Performs one request by an ordinary system call, without the C library: its calls first say that the thread may be
/// cancelled, which none of ours is.
#[inline]
pub(crate) fn perform(file: &File, request: Request, buffer: &mut [u8]) -> Result<u32, i32> {
    loop {
        let moved = match request.operation {
            Operation::Read => rustix::io::pread(file, &mut *buffer, request.offset),
            Operation::Write => rustix::io::pwrite(file, buffer, request.offset),
            Operation::WriteThrough => {
                let buffers = &[IoSlice::new(buffer)];
                rustix::io::pwritev2(file, buffers, request.offset, ReadWriteFlags::DSYNC)
            }
            Operation::Fsync => rustix::fs::fsync(file).map(|()| 0),
            Operation::Fdatasync => rustix::fs::fdatasync(file).map(|()| 0),
        };
        match moved {
            Ok(moved) => return Ok(moved as u32),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.raw_os_error()),
        }
    }
}

impl Queue for SyncQueue {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.lines.slots.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.lines.push(request);
    }

    fn submit(&mut self) -> io::Result<()> {
        let Self {
            lines,
            timer,
            flagged,
        } = self;
        lines.finish(|file, request, buffer| {
            timer.around(|| match flagged {
                None => perform(file, request, buffer),
                Some(flagged) => flagged.perform(file, request, buffer),
            })
        });
        Ok(())
    }

    fn submit_and_wait(&mut self, _least: u32, _timeout: Option<Nanos>) -> io::Result<()> {
        self.submit()
    }

    fn is_one_by_one(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, request: Request) -> Result<u32, i32> {
        let Lines { slots, files, .. } = &mut self.lines;
        let buffer = &mut slots.buffer(request.slot)[..request.length as usize];
        let file = &files[request.file as usize];
        let flagged = &mut self.flagged;
        self.timer.around(|| match flagged {
            None => perform(file, request, buffer),
            Some(flagged) => flagged.perform(file, request, buffer),
        })
    }

    fn arrived(&mut self) -> u32 {
        self.lines.done.len() as u32
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    #[inline]
    fn take_each(&mut self, most: usize, each: impl FnMut(Completion)) -> Taken {
        take_from(&mut self.lines.done, &mut self.lines.slots, most, each)
    }

    fn in_flight(&self) -> u32 {
        self.lines.slots.in_flight()
    }

    fn time_outside_calls(&mut self) {
        self.timer.begin();
    }

    fn outside_calls(&self) -> Option<OutsideCalls> {
        self.timer.told()
    }

    fn file(&self, index: u32) -> &File {
        &self.lines.files[index as usize]
    }

    fn replace_file(&mut self, index: u32, file: File) -> io::Result<()> {
        self.lines.files[index as usize] = file;
        Ok(())
    }
}

/// No I/O: every request is complete as soon as it is pushed. Measures what the generator and recorder cost.
#[derive(Debug)]
pub struct NullQueue {
    slots: Slots,
    files: Vec<File>,
    done: Vec<Completion>,
}

impl NullQueue {
    /// A queue of `slots` buffers of `size` bytes; it opens and touches nothing.
    ///
    /// # Errors
    /// Where there is no memory for the buffers.
    pub fn new(files: Vec<File>, slots: u32, size: u32) -> io::Result<Self> {
        Ok(Self {
            slots: Slots::untouched(slots, size)?,
            files,
            done: Vec::with_capacity(slots as usize),
        })
    }
}

impl Queue for NullQueue {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.slots.begin(request.slot, request.length);
        let result = match request.operation {
            Operation::Read | Operation::Write | Operation::WriteThrough => Ok(request.length),
            Operation::Fsync | Operation::Fdatasync => Ok(0),
        };
        self.done.push(Completion {
            slot: request.slot,
            result,
        });
    }

    #[inline]
    fn push_alike(
        &mut self,
        like: Request,
        slots: &[u32],
        offsets: &[u64],
        mut each: impl FnMut(u32, u64),
    ) {
        assert_eq!(slots.len(), offsets.len());
        let mut begin = self.slots.begin_some(slots.len() as u32, like.length);
        self.done
            .extend(slots.iter().zip(offsets).map(|(slot, offset)| {
                begin(*slot);
                each(*slot, *offset);
                Completion {
                    slot: *slot,
                    result: Ok(like.length),
                }
            }));
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn submit_and_wait(&mut self, _least: u32, _timeout: Option<Nanos>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn arrived(&mut self) -> u32 {
        self.done.len() as u32
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    #[inline]
    fn take_each(&mut self, most: usize, each: impl FnMut(Completion)) -> Taken {
        take_from(&mut self.done, &mut self.slots, most, each)
    }

    #[inline]
    fn take_alike(
        &mut self,
        length: u32,
        into: &mut [u32],
        odd: &mut Vec<Completion>,
    ) -> (usize, Taken) {
        let count = self.done.len().min(into.len());
        let mut end = self.slots.end_some(count as u32);
        for (completion, place) in self.done[..count].iter().zip(into) {
            end(completion.slot);
            if completion.result != Ok(length) {
                odd.push(*completion);
            }
            *place = completion.slot;
        }
        (count, taken_out(&mut self.done, count))
    }

    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    fn file(&self, index: u32) -> &File {
        &self.files[index as usize]
    }

    fn replace_file(&mut self, index: u32, file: File) -> io::Result<()> {
        self.files[index as usize] = file;
        Ok(())
    }
}
