//! Linux native asynchronous I/O (`io_submit`), which `libaio` wraps.
//!
//! The system calls are made directly; their structures are those of `linux/aio_abi.h`. Only direct I/O is really
//! asynchronous with it. Syncs are handed to a thread of the kernel; where a file has none of that, they are done while
//! submitting.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use fathom_units::Nanos;

use crate::buffer::Slots;
use crate::clock::timespec;
use crate::outside::CallTimer;
use crate::plain::{perform, take_from};
use crate::{
    Calls, Completion, Operation, OutsideCalls, Queue, Request, RingUnusable, SLOTS_MAX, Taken,
};

const COMMAND_PREAD: u16 = 0;
const COMMAND_PWRITE: u16 = 1;
const COMMAND_FSYNC: u16 = 2;
const COMMAND_FDSYNC: u16 = 3;

/// `IOCB_FLAG_IOPRIO` of `linux/aio_abi.h`: the block's priority counts.
const FLAG_PRIORITY: u32 = 2;

/// `struct iocb` of `linux/aio_abi.h` on little-endian machines.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct ControlBlock {
    user_data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct IoEvent {
    user_data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<ControlBlock>() == 64 && size_of::<IoEvent>() == 32);

/// An asynchronous I/O context with its buffers and files.
#[derive(Debug)]
pub struct AioQueue {
    context: libc::c_ulong,
    slots: Slots,
    files: Vec<File>,
    blocks: Box<[ControlBlock]>,
    /// Addresses of the blocks in line, as `io_submit` wants them.
    waiting: Vec<*mut ControlBlock>,
    events: Box<[IoEvent]>,
    done: Vec<Completion>,
    priority: u16,
    /// Flags of reads, and of writes.
    rw_flags: [i32; 2],
    timer: CallTimer,
    stays: PhantomData<*const ()>,
}

impl AioQueue {
    /// A queue of `slots` buffers of `size` bytes on `files`.
    ///
    /// # Errors
    /// Says why the kernel gives no context.
    pub fn new(files: Vec<File>, slots: u32, size: u32) -> Result<Self, RingUnusable> {
        Self::with_calls(files, slots, size, &Calls::default())
    }

    /// The same with flags of each read and write; nothing of it but [`Calls::uncached`], [`Calls::no_wait`] and
    /// [`Calls::atomic`] counts.
    ///
    /// # Errors
    /// As [`AioQueue::new`].
    pub fn with_calls(
        files: Vec<File>,
        slots: u32,
        size: u32,
        calls: &Calls,
    ) -> Result<Self, RingUnusable> {
        let other = |source| RingUnusable::Other {
            ring: "libaio",
            slots,
            source,
        };
        if slots == 0 || slots > SLOTS_MAX {
            return Err(other(io::ErrorKind::InvalidInput.into()));
        }
        let buffers = Slots::new(slots, size).map_err(other)?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: io_setup writes the new context's number to `context`.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, slots, &raw mut context) };
        if result != 0 {
            return Err(RingUnusable::libaio(slots, io::Error::last_os_error()));
        }
        let count = slots as usize;
        Ok(Self {
            context,
            slots: buffers,
            files,
            blocks: vec![ControlBlock::default(); count].into_boxed_slice(),
            waiting: Vec::with_capacity(count),
            events: vec![IoEvent::default(); count].into_boxed_slice(),
            done: Vec::with_capacity(count),
            priority: 0,
            rw_flags: [calls.read_flags(), calls.write_flags()].map(|it| it.bits().cast_signed()),
            timer: CallTimer::default(),
            stays: PhantomData,
        })
    }

    /// What becomes of a request that the kernel would not take, with its reason.
    #[cold]
    fn refused(&self, block: &ControlBlock, errno: i32) -> Result<u32, i32> {
        let operation = match (block.opcode, errno) {
            (COMMAND_FSYNC, libc::EINVAL) => Operation::Fsync,
            (COMMAND_FDSYNC, libc::EINVAL) => Operation::Fdatasync,
            _ => return Err(errno),
        };
        let descriptor = block.file.cast_signed();
        let file = self.files.iter().find(|it| it.as_raw_fd() == descriptor);
        let request = Request {
            slot: block.user_data as u32,
            file: 0,
            operation,
            offset: 0,
            length: 0,
        };
        file.map_or(Err(errno), |file| perform(file, request, &mut []))
    }

    /// Takes events out of the kernel: at least `least` unless time runs out.
    fn get_events(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        let time = timeout.map(timespec);
        let time_address = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `events` has room for as many as are asked for; the time outlives the call.
        let call = || unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                libc::c_long::from(least),
                self.events.len().cast_signed() as libc::c_long,
                self.events.as_mut_ptr(),
                time_address,
            )
        };
        let count = self.timer.around(call);
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(())
            } else {
                Err(error)
            };
        }
        for event in &self.events[..count as usize] {
            self.done.push(Completion {
                slot: event.user_data as u32,
                result: u32::try_from(event.result).map_err(|_| -event.result as i32),
            });
        }
        Ok(())
    }
}

impl AioQueue {
    /// A sync names a file and nothing else.
    fn push_sync(&mut self, request: Request, opcode: u16) {
        self.slots.begin(request.slot, 0);
        let block = &mut self.blocks[request.slot as usize];
        *block = ControlBlock {
            user_data: u64::from(request.slot),
            opcode,
            file: self.files[request.file as usize].as_raw_fd() as u32,
            ..ControlBlock::default()
        };
        self.waiting.push(std::ptr::from_mut(block));
    }
}

impl Queue for AioQueue {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    fn set_priority(&mut self, priority: u16) {
        self.priority = priority;
    }

    fn push(&mut self, request: Request) {
        let opcode = match request.operation {
            Operation::Read => COMMAND_PREAD,
            Operation::Write | Operation::WriteThrough => COMMAND_PWRITE,
            Operation::Fsync => return self.push_sync(request, COMMAND_FSYNC),
            Operation::Fdatasync => return self.push_sync(request, COMMAND_FDSYNC),
        };
        let [reads, writes] = self.rw_flags;
        let rw_flags = match request.operation {
            Operation::Read => reads,
            Operation::WriteThrough => writes | libc::RWF_DSYNC,
            _ => writes,
        };
        let address = self.slots.begin(request.slot, request.length);
        let block = &mut self.blocks[request.slot as usize];
        *block = ControlBlock {
            user_data: u64::from(request.slot),
            rw_flags,
            opcode,
            priority: self.priority.cast_signed(),
            flags: if self.priority == 0 { 0 } else { FLAG_PRIORITY },
            file: self.files[request.file as usize].as_raw_fd() as u32,
            buffer: address as u64,
            length: u64::from(request.length),
            offset: request.offset.cast_signed(),
            ..ControlBlock::default()
        };
        self.waiting.push(std::ptr::from_mut(block));
    }

    fn submit(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            // SAFETY: every address is that of a block in `self.blocks`, filled in by `push`; the buffers they name stay
            // mapped while their slots are busy; the kernel copies the blocks.
            let call = || unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    self.waiting.len().cast_signed() as libc::c_long,
                    self.waiting.as_mut_ptr(),
                )
            };
            let count = self.timer.around(call);
            if count > 0 {
                self.waiting.drain(..count as usize);
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) => self.get_events(1, None)?,
                code => {
                    // The first in line was refused: that is the end of this request, not of the queue.
                    let refused = self.waiting.remove(0);
                    // SAFETY: a block of `self.blocks`, which nothing else refers to now.
                    let block = unsafe { *refused };
                    let result = self.refused(&block, code.unwrap_or(libc::EIO));
                    let slot = block.user_data as u32;
                    self.done.push(Completion { slot, result });
                }
            }
        }
        Ok(())
    }

    fn submit_and_wait(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        self.submit()?;
        if self.slots.in_flight() == 0 {
            return Ok(());
        }
        let there = self.done.len() as u32;
        let least = least.min(self.slots.in_flight());
        self.get_events(least.saturating_sub(there), timeout)
    }

    /// Events are not seen without a call of their own, not even where nobody waits for them.
    fn submit_for(&mut self, least: u32) -> io::Result<()> {
        if least == 0 && !self.done.is_empty() {
            return self.submit();
        }
        self.submit_and_wait(least, None)
    }

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
        self.files[index as usize] = file;
        Ok(())
    }
}

impl Drop for AioQueue {
    fn drop(&mut self) {
        // SAFETY: the context is ours; io_destroy waits for whatever the kernel was given, whatever is marked here: a caller
        // that panicked may have left marks of requests that were never submitted.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
