//! One connection to an export: what is to be sent, and what comes.
//!
//! Replies are taken many at once: what arrives goes to a staging buffer, and only the rest of a read that does not fit there
//! straight to its slot. Writes are sent from their slots.
//!
//! Invariants: sending never waits, so that a server which waits for us to take its replies is always heard; a slot's
//! buffer is written to only while its read is not answered; a connection that broke answers all its requests with that
//! error, those to come included.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use fathom_nbd::REQUEST_BYTES;
use fathom_nbd::client::{Ask, Offer, REPLY_BYTES, Reply, request};

use crate::Completion;
use crate::buffer::Slots;
use crate::outside::CallTimer;

/// Pieces of most calls: laying out room for more takes longer than the call needs for them.
const FEW: usize = 8;
/// Most pieces of one call: half as many requests, or more where they are no writes.
const PIECES_MAX: usize = 128;
/// Bytes that small replies are gathered in: those of a deep queue of small reads in one call.
const STAGING_BYTES: usize = 128 << 10;
/// The same where reads are large: little beyond heads, so that what was read is copied once.
const STAGING_OF_LARGE: usize = 4 << 10;
/// A read from here on is large.
const LARGE: u32 = 64 << 10;

const NO_VECTOR: libc::iovec = libc::iovec {
    iov_base: std::ptr::null_mut(),
    iov_len: 0,
};

/// A connection to an export whose handshake is over.
#[derive(Debug)]
pub struct NbdExport {
    /// The connection.
    pub socket: File,
    /// What may be asked over it.
    pub offer: Offer,
}

/// Where a slot's request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Idle,
    /// Not all of it is sent.
    InLine,
    /// All of it is.
    Sent,
}

/// The request of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    head: [u8; REQUEST_BYTES],
    state: State,
    link: u32,
    ask: Ask,
    length: u32,
    /// Whether a flush follows it, which ends it.
    flushes: bool,
}

impl Asked {
    pub(super) const NOTHING: Self = Self {
        head: [0; REQUEST_BYTES],
        state: State::Idle,
        link: 0,
        ask: Ask::Read,
        length: 0,
        flushes: false,
    };

    pub(super) const fn new(head: [u8; REQUEST_BYTES], link: u32, ask: Ask, length: u32) -> Self {
        Self {
            head,
            state: State::InLine,
            link,
            ask,
            length,
            flushes: false,
        }
    }

    /// The same, over once a flush behind it is.
    pub(super) const fn and_flush(self) -> Self {
        Self {
            flushes: true,
            ..self
        }
    }

    /// The flush that follows what was the request of `slot`, and stands for it: it ends with as many bytes.
    fn flush(&mut self, slot: u32) {
        self.head = request(Ask::Flush, slot.into(), 0, 0);
        (self.state, self.ask, self.flushes) = (State::InLine, Ask::Flush, false);
    }

    /// Bytes of data that follow its head.
    const fn payload(&self) -> usize {
        match self.ask {
            Ask::Write | Ask::WriteThrough => self.length as usize,
            _ => 0,
        }
    }

    /// Whether it is not answered yet, and may take a server much longer than others.
    pub(super) fn is_slow(&self) -> bool {
        self.state != State::Idle && self.ask == Ask::Flush
    }
}

/// The slots of a queue, their requests, and what became of those that ended.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) slots: Slots,
    pub(super) asked: Box<[Asked]>,
    pub(super) done: Vec<Completion>,
    pub(super) timer: CallTimer,
    /// Whether anything has come since this was last looked at.
    pub(super) heard: bool,
}

impl Board {
    fn end(&mut self, slot: u32, result: Result<u32, i32>) {
        self.asked[slot as usize].state = State::Idle;
        self.done.push(Completion { slot, result });
    }
}

/// Whether a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// It returns at once.
    None,
    /// It returns once something has come.
    UntilSome,
}

/// One connection of a queue.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) export: NbdExport,
    index: u32,
    /// Slots whose requests are not sent, in order.
    line: VecDeque<u32>,
    /// Bytes of the first one that are.
    sent: usize,
    /// Requests in line or not answered.
    owed: u32,
    staging: Box<[u8]>,
    /// What of it is not taken yet.
    staged: std::ops::Range<usize>,
    /// The slot of a read whose data is coming, and how much of it has come.
    filling: Option<(u32, usize)>,
    broken: Option<i32>,
}

impl Link {
    pub(super) fn new(export: NbdExport, index: u32, slots: u32, size: u32) -> Self {
        let staging = if size < LARGE {
            STAGING_BYTES
        } else {
            STAGING_OF_LARGE
        };
        Self {
            export,
            index,
            line: VecDeque::with_capacity(slots as usize),
            sent: 0,
            owed: 0,
            staging: vec![0; staging].into_boxed_slice(),
            staged: 0..0,
            filling: None,
            broken: None,
        }
    }

    pub(super) fn push(&mut self, slot: u32) {
        self.line.push_back(slot);
        self.owed += 1;
    }

    /// Whether there is something to send.
    pub(super) fn has_line(&self) -> bool {
        !self.line.is_empty()
    }

    /// Whether answers are to come.
    pub(super) fn is_owed(&self) -> bool {
        self.owed > 0
    }

    /// Whether its requests fail, all of them.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// What its connection is to be polled for.
    pub(super) fn poll(&self) -> libc::pollfd {
        let out = if self.has_line() { libc::POLLOUT } else { 0 };
        libc::pollfd {
            // One below zero is left out.
            fd: if self.is_owed() {
                self.export.socket.as_raw_fd()
            } else {
                -1
            },
            events: libc::POLLIN | out,
            revents: 0,
        }
    }

    /// Sends what can be sent without waiting.
    pub(super) fn send(&mut self, board: &mut Board) {
        while self.has_line() && self.broken.is_none() {
            let sent = if self.line.len() <= FEW / 2 {
                self.send_some(&mut [NO_VECTOR; FEW], board)
            } else {
                self.send_some(&mut [NO_VECTOR; PIECES_MAX], board)
            };
            match sent {
                Ok(sent) => self.note_sent(sent, board),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.fail(error.raw_os_error().unwrap_or(libc::EIO), board),
            }
        }
        if let Some(errno) = self.broken {
            self.fail(errno, board);
        }
    }

    fn send_some(&self, vectors: &mut [libc::iovec], board: &mut Board) -> io::Result<usize> {
        let mut count = 0;
        let mut skip = self.sent;
        for slot in &self.line {
            // A request takes two at most.
            if count + 2 > vectors.len() {
                break;
            }
            let asked = &board.asked[*slot as usize];
            let pieces = [
                (asked.head.as_ptr(), REQUEST_BYTES),
                (board.slots.address(*slot).cast_const(), asked.payload()),
            ];
            for (start, length) in pieces {
                let skipped = skip.min(length);
                skip -= skipped;
                if skipped < length {
                    vectors[count] = libc::iovec {
                        // Within the piece, since less than its length is skipped.
                        iov_base: start.wrapping_add(skipped).cast_mut().cast(),
                        iov_len: length - skipped,
                    };
                    count += 1;
                }
            }
        }
        // SAFETY: all zeroes are a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = vectors.as_mut_ptr();
        message.msg_iovlen = count as _;
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        let socket = self.export.socket.as_raw_fd();
        // SAFETY: each vector is a part of a request's head or of a slot's buffer, within their lengths (`Slots::begin` held
        // the request's against the buffer's), which the kernel only reads in this call.
        let send = || unsafe { libc::sendmsg(socket, &raw const message, flags) };
        let sent = board.timer.around(send);
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    fn note_sent(&mut self, sent: usize, board: &mut Board) {
        self.sent += sent;
        while let Some(slot) = self.line.front() {
            let asked = &mut board.asked[*slot as usize];
            let length = REQUEST_BYTES + asked.payload();
            if self.sent < length {
                return;
            }
            self.sent -= length;
            asked.state = State::Sent;
            self.line.pop_front();
        }
    }

    /// Takes in what has come, in one call or more, and ends what it answers.
    pub(super) fn receive(&mut self, mut patience: Patience, board: &mut Board) {
        while self.is_owed() && self.broken.is_none() {
            match self.receive_once(patience, board) {
                Ok(Filled::Yes) => patience = Patience::None,
                Ok(Filled::No) => return,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Whoever waits looks at what the signal was for.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
                Err(error) => self.fail(error.raw_os_error().unwrap_or(libc::EIO), board),
            }
        }
    }

    /// One call.
    fn receive_once(&mut self, patience: Patience, board: &mut Board) -> io::Result<Filled> {
        let (to, rest) = match self.filling {
            None => (std::ptr::null_mut(), 0),
            Some((slot, filled)) => {
                let rest = board.asked[slot as usize].length as usize - filled;
                (board.slots.address(slot).wrapping_add(filled), rest)
            }
        };
        let free = &mut self.staging[self.staged.end..];
        let room = rest + free.len();
        let mut vectors = [
            libc::iovec {
                iov_base: to.cast(),
                iov_len: rest,
            },
            libc::iovec {
                iov_base: free.as_mut_ptr().cast(),
                iov_len: free.len(),
            },
        ];
        // SAFETY: all zeroes are a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = vectors.as_mut_ptr();
        message.msg_iovlen = vectors.len() as _;
        let flags = match patience {
            Patience::None => libc::MSG_DONTWAIT,
            Patience::UntilSome => 0,
        };
        let socket = self.export.socket.as_raw_fd();
        // SAFETY: the vectors are the rest of the buffer of a slot in flight, which nothing else uses meanwhile and which is as
        // long as its request, and the free end of the staging buffer, which is borrowed for it.
        let receive = || unsafe { libc::recvmsg(socket, &raw mut message, flags) };
        let came = board.timer.around(receive);
        let came = usize::try_from(came).map_err(|_| io::Error::last_os_error())?;
        if came == 0 {
            return Err(io::Error::from_raw_os_error(libc::ECONNRESET));
        }
        board.heard = true;
        if let Some((_, filled)) = &mut self.filling {
            *filled += came.min(rest);
        }
        self.staged.end += came.saturating_sub(rest);
        self.take_staged(board)?;
        Ok(if came == room {
            Filled::Yes
        } else {
            Filled::No
        })
    }

    /// Ends what is answered by what is staged, and leaves the beginning of a reply's head.
    fn take_staged(&mut self, board: &mut Board) -> io::Result<()> {
        let senseless = || io::Error::from_raw_os_error(libc::EPROTO);
        loop {
            if let Some((slot, filled)) = &mut self.filling {
                let (slot, from) = (*slot, *filled);
                let length = board.asked[slot as usize].length as usize;
                let count = self.staged.len().min(length - from);
                let start = self.staged.start;
                board.slots.busy_buffer(slot)[from..from + count]
                    .copy_from_slice(&self.staging[start..start + count]);
                self.staged.start += count;
                *filled += count;
                if *filled < length {
                    break;
                }
                self.filling = None;
                self.answered(slot, Ok(length as u32), board);
            }
            let staged = &self.staging[self.staged.clone()];
            let Some(reply) = Reply::read(staged).map_err(|_| senseless())? else {
                break;
            };
            self.staged.start += REPLY_BYTES;
            let slot = self.slot_of(reply.cookie, board).ok_or_else(senseless)?;
            let asked = board.asked[slot as usize];
            match (reply.result, asked.ask) {
                (Ok(()), Ask::Read) => self.filling = Some((slot, 0)),
                (Ok(()), _) if asked.flushes => {
                    board.asked[slot as usize].flush(slot);
                    self.line.push_back(slot);
                }
                (Ok(()), _) => self.answered(slot, Ok(asked.length), board),
                (Err(errno), _) => self.answered(slot, Err(errno), board),
            }
        }
        // What is left is less than a head: where it stands at the start, all the rest is free.
        self.staging.copy_within(self.staged.clone(), 0);
        self.staged = 0..self.staged.len();
        Ok(())
    }

    /// The slot of a reply; `None` where nothing of it was asked on this connection.
    fn slot_of(&self, cookie: u64, board: &Board) -> Option<u32> {
        let slot = u32::try_from(cookie).ok()?;
        let asked = board.asked.get(slot as usize)?;
        (asked.state == State::Sent && asked.link == self.index).then_some(slot)
    }

    fn answered(&mut self, slot: u32, result: Result<u32, i32>, board: &mut Board) {
        self.owed -= 1;
        board.end(slot, result);
    }

    /// Ends all that is asked over this connection.
    #[cold]
    pub(super) fn fail(&mut self, errno: i32, board: &mut Board) {
        self.broken = Some(errno);
        self.line.clear();
        self.filling = None;
        self.owed = 0;
        for slot in 0..board.asked.len() {
            let asked = &board.asked[slot];
            if asked.state != State::Idle && asked.link == self.index {
                board.end(slot as u32, Err(errno));
            }
        }
    }

    /// Tells the server that the client leaves, where that makes sense to it.
    pub(super) fn leave(&mut self) {
        if self.broken.is_none() && self.sent == 0 {
            let bytes = request(Ask::Disconnect, 0, 0, 0);
            let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
            // It is a courtesy: the connection is closed in any case.
            let _ = rustix::net::send(&self.export.socket, &bytes, flags);
        }
    }
}

/// Whether a call filled all the room that it had, so that more may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filled {
    Yes,
    No,
}
