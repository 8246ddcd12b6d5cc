//! A queue whose requests go to exports of NBD servers, over one connection for each target.
//!
//! Invariants: as those of [`super::link`]; a flush that a server does not have is over at once; where a [`Silence`] is heeded,
//! no wait outlasts it.

use std::fs::File;
use std::io;
use std::time::Duration;

use fathom_nbd::client::{Ask, request as wire};
use fathom_units::Nanos;
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::NbdExport;
use super::link::{Asked, Board, Link, Patience};
use super::silence::{STEP, Silence};
use crate::buffer::Slots;
use crate::outside::CallTimer;
use crate::plain::take_from;
use crate::{Clock, Completion, Operation, OutsideCalls, Queue, Request, Taken, Trims};

/// When the writes of a queue are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NbdWrites {
    /// Whenever the server likes, or a sync asks for it.
    Cached,
    /// When they are answered; where a server does not offer that, once the flush is that follows each.
    Through,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Polled {
    /// A connection could be read or written.
    Ready,
    /// None could in time.
    Late,
    /// A signal came.
    Interrupted,
}

/// Connections to exports with the buffers of their requests.
#[derive(Debug)]
pub struct NbdQueue<'a> {
    links: Vec<Link>,
    board: Board,
    writes: NbdWrites,
    polls: Vec<libc::pollfd>,
    /// `None`: servers are waited for without end.
    silence: Option<Silence<'a>>,
}

impl<'a> NbdQueue<'a> {
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
            heard: false,
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
            silence: None,
        })
    }

    /// The same, which gives up on servers that say nothing for too long.
    ///
    /// # Errors
    /// Where a connection does not let its calls end in time.
    pub fn heeding(mut self, silence: Silence<'a>) -> io::Result<Self> {
        for link in &self.links {
            let (way, time) = (Timeout::Recv, Duration::from_nanos(STEP.get()));
            set_socket_timeout(&link.export.socket, way, Some(time))?;
        }
        self.silence = Some(silence);
        Ok(self)
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

    /// Ends what was asked of servers that have said nothing for too long.
    fn judge_silence(&mut self) {
        let Some(silence) = &mut self.silence else {
            return;
        };
        if std::mem::take(&mut self.board.heard) {
            return silence.broken();
        }
        let is_slow = || self.board.asked.iter().any(Asked::is_slow);
        if let Some(errno) = silence.judge(Clock::now(), is_slow) {
            for link in self.links.iter_mut().filter(|link| link.is_owed()) {
                link.fail(errno, &mut self.board);
            }
        }
    }

    /// Up to when a call may wait that would wait until then.
    fn until_next_look(&self, until: Option<Nanos>) -> Option<Nanos> {
        if self.silence.is_none() {
            return until;
        }
        let next = Clock::now() + STEP;
        Some(until.map_or(next, |until| until.min(next)))
    }

    /// Puts a write in line that is durable when it ends. Where the server has no such writes, a flush follows it, as the block
    /// layer of Linux has it on devices without FUA; where it has no flush either, nothing it has taken is lost.
    fn write_through(&mut self, request: Request) {
        let flags = self.links[request.file as usize].export.offer.flags;
        if flags.has_fua() {
            return self.ask(Ask::WriteThrough, request);
        }
        self.ask(Ask::Write, request);
        if flags.has_flush() {
            let asked = &mut self.board.asked[request.slot as usize];
            *asked = asked.and_flush();
        }
    }

    /// Puts a request in line.
    fn ask(&mut self, ask: Ask, request: Request) {
        let Request {
            slot,
            file,
            offset,
            length,
            ..
        } = request;
        let head = wire(ask, slot.into(), offset, length);
        self.board.asked[slot as usize] = Asked::new(head, file, ask, length);
        self.links[file as usize].push(slot);
    }

    /// Waits until a connection can be read or written, and does what can be done.
    fn poll(&mut self, until: Option<Nanos>) -> io::Result<Polled> {
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
                io::ErrorKind::Interrupted => Ok(Polled::Interrupted),
                _ => Err(error),
            };
        }
        for (link, poll) in self.links.iter_mut().zip(&self.polls) {
            // Whatever else it is than room to send, reading tells.
            if poll.revents & !libc::POLLOUT != 0 {
                link.receive(Patience::None, &mut self.board);
            }
        }
        Ok(if ready > 0 {
            Polled::Ready
        } else {
            Polled::Late
        })
    }
}

impl Queue for NbdQueue<'_> {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.board.slots.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.board.slots.begin(request.slot, request.length);
        let ask = match (request.operation, self.writes) {
            (Operation::Read, _) => Ask::Read,
            (Operation::Write, NbdWrites::Cached) => Ask::Write,
            (Operation::Write, NbdWrites::Through) | (Operation::WriteThrough, _) => {
                return self.write_through(request);
            }
            (Operation::Fsync | Operation::Fdatasync, _) => {
                let flags = self.links[request.file as usize].export.offer.flags;
                if !flags.has_flush() {
                    let (slot, result) = (request.slot, Ok(0));
                    return self.board.done.push(Completion { slot, result });
                }
                let (offset, length) = (0, 0);
                let all = Request {
                    offset,
                    length,
                    ..request
                };
                return self.ask(Ask::Flush, all);
            }
        };
        self.ask(ask, request);
    }

    fn push_trim(&mut self, request: Request) -> Trims {
        // No data goes with it, so that it may be longer than the slot's buffer.
        self.board.slots.begin(request.slot, 0);
        self.ask(Ask::Trim, request);
        Trims::InLine
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
            if let Some(one) = self.only_one().filter(|_| until.is_none()) {
                self.links[one].receive(Patience::UntilSome, &mut self.board);
                self.judge_silence();
                continue;
            }
            let next = self.until_next_look(until);
            let went = self.poll(next)?;
            self.judge_silence();
            match went {
                Polled::Ready => self.send(),
                Polled::Late if next != until => {}
                Polled::Late | Polled::Interrupted => return Ok(()),
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

    fn is_gone(&self, index: u32) -> bool {
        self.links[index as usize].is_broken()
    }

    fn file(&self, index: u32) -> &File {
        &self.links[index as usize].export.socket
    }

    fn replace_file(&mut self, _: u32, _: File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for NbdQueue<'_> {
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
