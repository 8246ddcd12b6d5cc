//! A queue whose requests go to exports of NBD servers, over one connection for each target.
//!
//! Invariants: as those of [`super::link`]; a flush that a server does not have is over at once.

use std::fs::File;
use std::io;

use fathom_nbd::client::{Ask, request as wire};
use fathom_units::Nanos;

use super::NbdExport;
use super::link::{Asked, Board, Link, Patience};
use crate::buffer::Slots;
use crate::outside::CallTimer;
use crate::plain::take_from;
use crate::{Clock, Completion, Operation, OutsideCalls, Queue, Request, Taken};

/// When the writes of a queue are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NbdWrites {
    /// Whenever the server likes, or a sync asks for it.
    Cached,
    /// When they are answered; of servers that offer it.
    Through,
}

/// Connections to exports with the buffers of their requests.
#[derive(Debug)]
pub struct NbdQueue {
    links: Vec<Link>,
    board: Board,
    writes: NbdWrites,
    polls: Vec<libc::pollfd>,
}

impl NbdQueue {
    /// A queue of `slots` buffers of `size` bytes on `exports`.
    ///
    /// # Errors
    /// Where there is no memory for the buffers.
    pub fn new(
        exports: Vec<NbdExport>,
        slots: u32,
        size: u32,
        writes: NbdWrites,
    ) -> io::Result<Self> {
        let board = Board {
            slots: Slots::new(slots, size)?,
            asked: vec![Asked::NOTHING; slots as usize].into_boxed_slice(),
            done: Vec::with_capacity(slots as usize),
            timer: CallTimer::default(),
        };
        let links: Vec<_> = (0..)
            .zip(exports)
            .map(|(index, export)| Link::new(export, index, slots, size))
            .collect();
        Ok(Self {
            polls: Vec::with_capacity(links.len()),
            links,
            board,
            writes,
        })
    }

    fn has(&self, least: u32) -> bool {
        self.board.done.len() >= least.min(self.in_flight()) as usize
    }

    fn send(&mut self) {
        for link in &mut self.links {
            if link.has_line() {
                link.send(&mut self.board);
            }
        }
    }

    /// Takes in what has come, without waiting.
    fn look(&mut self) {
        for link in &mut self.links {
            link.receive(Patience::None, &mut self.board);
        }
    }

    /// The connection that alone can bring something, where nothing is to be sent: it can be waited for by a call that takes
    /// in what comes.
    fn only_one(&self) -> Option<usize> {
        let mut owed = self.links.iter().enumerate().filter(|it| it.1.is_owed());
        let (index, one) = owed.next()?;
        (owed.next().is_none() && !one.has_line()).then_some(index)
    }

    /// Waits until a connection can be read or written, and does what can be done; says whether there was one before `until`.
    fn poll(&mut self, until: Option<Nanos>) -> io::Result<bool> {
        self.polls.clear();
        self.polls.extend(self.links.iter().map(Link::poll));
        let left = until.map(|until| until.saturating_sub(Clock::now()).get());
        let left = left.map(|left| libc::timespec {
            tv_sec: (left / 1_000_000_000).cast_signed(),
            tv_nsec: (left % 1_000_000_000).cast_signed(),
        });
        let time = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (polls, count) = (self.polls.as_mut_ptr(), self.polls.len() as libc::nfds_t);
        // SAFETY: `polls` holds `count` entries, which the kernel writes to in this call alone; the time is there as long; no
        // signals are masked.
        let wait = || unsafe { libc::ppoll(polls, count, time, std::ptr::null()) };
        let ready = self.board.timer.around(wait);
        if ready < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(false),
                _ => Err(error),
            };
        }
        for (link, poll) in self.links.iter_mut().zip(&self.polls) {
            // Whatever else it is than room to send, reading tells.
            if poll.revents & !libc::POLLOUT != 0 {
                link.receive(Patience::None, &mut self.board);
            }
        }
        Ok(ready > 0)
    }
}

impl Queue for NbdQueue {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.board.slots.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        let Request {
            slot,
            file,
            operation,
            offset,
            length,
        } = request;
        self.board.slots.begin(slot, length);
        let link = &mut self.links[file as usize];
        let ask = match (operation, self.writes) {
            (Operation::Read, _) => Ask::Read,
            (Operation::Write, NbdWrites::Cached) => Ask::Write,
            (Operation::Write, NbdWrites::Through) => Ask::WriteThrough,
            (Operation::Fsync | Operation::Fdatasync, _) => Ask::Flush,
        };
        if ask == Ask::Flush && !link.export.offer.flags.has_flush() {
            let result = Ok(0);
            return self.board.done.push(Completion { slot, result });
        }
        let (offset, length) = match ask {
            Ask::Flush => (0, 0),
            _ => (offset, length),
        };
        let head = wire(ask, slot.into(), offset, length);
        self.board.asked[slot as usize] = Asked::new(head, file, operation, length);
        link.push(slot);
    }

    fn submit(&mut self) -> io::Result<()> {
        self.send();
        Ok(())
    }

    fn submit_and_wait(&mut self, least: u32, timeout: Option<Nanos>) -> io::Result<()> {
        let until = timeout.map(|timeout| Clock::now() + timeout);
        self.send();
        if least == 0 {
            self.look();
        }
        while !self.has(least) {
            match self.only_one().filter(|_| until.is_none()) {
                Some(one) => self.links[one].receive(Patience::UntilSome, &mut self.board),
                None if self.poll(until)? => self.send(),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn submit_for(&mut self, least: u32) -> io::Result<()> {
        self.submit_and_wait(least, None)
    }

    fn arrived(&mut self) -> u32 {
        self.board.done.len() as u32
    }

    fn take(&mut self, most: usize, into: &mut Vec<Completion>) -> Taken {
        self.take_each(most, |completion| into.push(completion))
    }

    fn take_each(&mut self, most: usize, each: impl FnMut(Completion)) -> Taken {
        take_from(&mut self.board.done, &mut self.board.slots, most, each)
    }

    fn in_flight(&self) -> u32 {
        self.board.slots.in_flight()
    }

    fn time_outside_calls(&mut self) {
        self.board.timer.begin();
    }

    fn outside_calls(&self) -> Option<OutsideCalls> {
        self.board.timer.told()
    }

    fn file(&self, index: u32) -> &File {
        &self.links[index as usize].export.socket
    }

    fn replace_file(&mut self, _: u32, _: File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for NbdQueue {
    fn drop(&mut self) {
        for link in &mut self.links {
            link.leave();
        }
        // No kernel uses the buffers once the calls have returned: they are unmapped whatever is in flight.
        let slots = &mut self.board.slots;
        for slot in 0..self.board.asked.len() as u32 {
            if slots.is_busy(slot) {
                slots.end(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests;
