//! A queue of one slot whose requests are done at once by something other than `pread` and `pwrite`.
//!
//! What does them is a [`Performer`]: copies to and from a mapped file, operations on names, changes of a file's extents.

use std::fs::File;
use std::io;

use fathom_units::Nanos;

use crate::buffer::Slots;
use crate::{Completion, Queue, Request, Taken};

/// Does one request.
pub trait Performer {
    /// Does `request` with its buffer, which is as long as the request; gives the bytes it stands for, or the error number.
    ///
    /// # Errors
    /// The error number of the system call.
    fn perform(&mut self, request: Request, buffer: &mut [u8]) -> Result<u32, i32>;

    /// What has to be done before the next request, and is not part of it.
    fn prepare(&mut self) {}

    /// The files it was made with.
    fn files(&self) -> &[File];
}

impl Performer for Box<dyn Performer> {
    fn perform(&mut self, request: Request, buffer: &mut [u8]) -> Result<u32, i32> {
        (**self).perform(request, buffer)
    }

    fn prepare(&mut self) {
        (**self).prepare();
    }

    fn files(&self) -> &[File] {
        (**self).files()
    }
}

/// A queue of one slot, whose requests are over when they are submitted.
#[derive(Debug)]
pub struct OneByOne<P> {
    slots: Slots,
    performer: P,
    waiting: Option<Request>,
    done: Option<Completion>,
}

impl<P: Performer> OneByOne<P> {
    /// A queue with one buffer of `size` bytes.
    ///
    /// # Errors
    /// Where there is no memory for the buffer.
    pub fn new(performer: P, size: u32) -> io::Result<Self> {
        Ok(Self {
            slots: Slots::new(1, size)?,
            performer,
            waiting: None,
            done: None,
        })
    }
}

impl<P: Performer> Queue for OneByOne<P> {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.slots.begin(request.slot, request.length);
        self.performer.prepare();
        self.waiting = Some(request);
    }

    fn submit(&mut self) -> io::Result<()> {
        if let Some(request) = self.waiting.take() {
            self.slots.end(request.slot);
            let buffer = &mut self.slots.buffer(request.slot)[..request.length as usize];
            let result = self.performer.perform(request, buffer);
            self.slots.begin(request.slot, request.length);
            self.done = Some(Completion {
                slot: request.slot,
                result,
            });
        }
        Ok(())
    }

    fn submit_and_wait(&mut self, _least: u32, _timeout: Option<Nanos>) -> io::Result<()> {
        self.submit()
    }

    fn arrived(&mut self) -> u32 {
        u32::from(self.done.is_some())
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    fn take_each(&mut self, most: usize, mut each: impl FnMut(Completion)) -> Taken {
        if most == 0 {
            return Taken::Some;
        }
        if let Some(completion) = self.done.take() {
            self.slots.end(completion.slot);
            each(completion);
        }
        Taken::All
    }

    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    fn file(&self, index: u32) -> &File {
        &self.performer.files()[index as usize]
    }

    fn replace_file(&mut self, _: u32, _: File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
