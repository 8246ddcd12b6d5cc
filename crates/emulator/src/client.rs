//! One client's connection: what has come from it, and what is owed to it.
//!
//! Invariant: what a client makes the server keep is bounded: at most [`OWED_MOST`] requests and [`BYTES_MOST`] bytes of them
//! are taken in before answers have left, and what was received beyond that is at most one buffer.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use fathom_nbd::reply::{self, Head};
use fathom_nbd::{Handshake, NbdError, Session};
use fathom_rawio::{Piece, send_pieces};
use fathom_units::Nanos;
use rustix::event::epoll::EventFlags;
use rustix::net::{AddressFamily, sockopt};

use crate::backing::Disk;
use crate::pace::HandedOn;
use crate::server::{Starved, Turn};
use crate::tls::Farewell;

/// Most requests of one client that are not answered yet.
pub(crate) const OWED_MOST: usize = 1024;
/// Most bytes of those requests: the model may take a line of memory for each stripe unit of them.
pub(crate) const BYTES_MOST: u64 = 256 << 20;
/// Pieces that are sent in one call.
const PIECES: usize = 256;

/// How far a client has come.
#[derive(Debug)]
pub(crate) enum Phase {
    /// It has not chosen an export yet.
    Handshake(Handshake),
    /// It sends requests.
    Requests(Session),
}

/// The data of a write on its way in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Landing {
    /// The write; `None`: it was refused, and its data is thrown away.
    pub io: Option<u32>,
    /// What is answered then, behind the data: a client that still sends may not understand an answer.
    pub refusal: Option<Refusal>,
    pub export: u32,
    /// Where the next byte goes.
    pub offset: u64,
    /// Bytes to come.
    pub left: u32,
    /// How many ranges of the export had been given back when room was taken for it.
    pub discards: u64,
}

/// The answer to a request that is not done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub structured: bool,
    pub cookie: u64,
    pub error: NbdError,
}

impl Refusal {
    pub fn head(self) -> Head {
        if self.structured {
            reply::failed(self.cookie, self.error)
        } else {
            reply::simple(self.cookie, Some(self.error))
        }
    }
}

/// Something to be sent.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A head alone.
    Head(Head),
    /// A head and bytes of an export.
    Bytes {
        head: Head,
        export: u32,
        offset: u64,
        length: u32,
    },
    /// A text of any length.
    Text(Vec<u8>),
}

impl Outgoing {
    fn length(&self) -> u64 {
        match self {
            Self::Head(head) => head.bytes().len() as u64,
            Self::Bytes { head, length, .. } => head.bytes().len() as u64 + u64::from(*length),
            Self::Text(text) => text.len() as u64,
        }
    }

    /// Appends what is left of it after `sent` bytes.
    #[inline]
    fn pieces<'a>(&'a self, sent: u64, disks: &'a [Disk], pieces: &mut Vec<Piece<'a>>) {
        let head = match self {
            Self::Head(head) | Self::Bytes { head, .. } => head.bytes(),
            Self::Text(text) => text,
        };
        if let Some(rest) = head.get(sent as usize..).filter(|rest| !rest.is_empty()) {
            pieces.push(Piece::Bytes(rest));
        }
        if let Self::Bytes {
            export,
            offset,
            length,
            ..
        } = self
            && let Some(disk) = disks.get(*export as usize)
        {
            let begun = sent.saturating_sub(head.len() as u64);
            let end = offset + u64::from(*length);
            disk.pieces(offset + begun, end, PIECES, pieces);
        }
    }
}

/// Whether a connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It does.
    Open,
    /// It ends when everything owed has been sent.
    Leaving,
    /// It is over.
    Over,
}

/// Whether the kernel tells what a client has not read of its answers: it does of Unix sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It does.
    Told,
    /// It tells what has not arrived, at best.
    Unknown,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    pub socket: OwnedFd,
    pub unread: Unread,
    /// Tells it from others that had its place before.
    pub generation: u32,
    /// When it came.
    pub came: Nanos,
    pub phase: Phase,
    pub life: Life,
    /// Received and not understood yet: a part of a message, or what came while too much was owed.
    pub stash: Vec<u8>,
    pub landing: Option<Landing>,
    /// Whether requests in the stash wait until answers have left.
    pub held: bool,
    /// Whether the first of them waits for a hole.
    pub waits: bool,
    /// The first of them is a write that lacks room, or did.
    pub starved: Option<Starved>,
    /// Requests under way, and their bytes.
    pub in_flight: usize,
    pub in_flight_bytes: u64,
    /// What each of the last answers hands on to the request that follows it.
    pub handed_on: VecDeque<HandedOn>,
    /// What its socket is asked for.
    pub asked: EventFlags,
    /// Where TLS is spoken: how its end is told from a cut.
    pub farewell: Option<Farewell>,
    out: VecDeque<Outgoing>,
    /// Bytes of the first of `out` that have gone.
    sent: u64,
    blocked: bool,
}

impl Client {
    pub fn new(socket: OwnedFd, generation: u32, came: Nanos) -> Self {
        let mut out = VecDeque::new();
        out.push_back(Outgoing::Text(fathom_nbd::GREETING.to_vec()));
        let domain = sockopt::socket_domain(&socket);
        Self {
            unread: match domain {
                Ok(AddressFamily::UNIX) => Unread::Told,
                _ => Unread::Unknown,
            },
            socket,
            generation,
            came,
            phase: Phase::Handshake(Handshake::new()),
            life: Life::Open,
            stash: Vec::new(),
            landing: None,
            held: false,
            waits: false,
            starved: None,
            in_flight: 0,
            in_flight_bytes: 0,
            handed_on: VecDeque::new(),
            asked: EventFlags::IN,
            farewell: None,
            out,
            sent: 0,
            blocked: false,
        }
    }

    /// Whether no more requests are taken in until some are answered.
    #[inline]
    pub fn is_full(&self) -> bool {
        let owed = self.in_flight + self.out.len();
        owed >= OWED_MOST || self.in_flight_bytes >= BYTES_MOST || self.waits || self.starves()
    }

    /// Whether a write of it waits for room.
    #[inline]
    fn starves(&self) -> bool {
        self.starved.is_some_and(|one| one.turn == Turn::Waits)
    }

    /// Whether a part of a message has come, and its rest has not.
    #[inline]
    pub fn is_between(&self) -> bool {
        self.landing.is_some() || !self.stash.is_empty()
    }

    /// What its socket should be asked for now.
    pub fn interest(&self) -> EventFlags {
        let mut flags = EventFlags::empty();
        if self.life == Life::Open && !self.is_full() {
            flags |= EventFlags::IN;
        }
        if self.blocked {
            flags |= EventFlags::OUT;
        }
        flags
    }

    /// Owes it something.
    #[inline]
    pub fn owe(&mut self, outgoing: Outgoing) {
        self.out.push_back(outgoing);
    }

    /// An answer hands something on to the request that will follow it.
    #[inline]
    pub fn hand_on(&mut self, handed_on: HandedOn) {
        if self.handed_on.len() >= OWED_MOST {
            self.handed_on.pop_front();
        }
        self.handed_on.push_back(handed_on);
    }

    /// Sends as much as the socket takes.
    pub fn send(&mut self, disks: &[Disk]) -> io::Result<()> {
        while !self.out.is_empty() {
            let mut pieces = Vec::with_capacity(PIECES);
            let mut sent = self.sent;
            for outgoing in &self.out {
                outgoing.pieces(sent, disks, &mut pieces);
                sent = 0;
                if pieces.len() >= PIECES {
                    break;
                }
            }
            match send_pieces(self.socket.as_fd(), &pieces) {
                Ok(count) => self.take_off(count as u64),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.blocked = false;
        if self.life == Life::Leaving && self.in_flight == 0 {
            self.life = Life::Over;
            if let Some(farewell) = &self.farewell {
                farewell.say();
            }
        }
        Ok(())
    }

    /// All that its handshake owes it and has not sent.
    pub fn take_owed(&mut self) -> Vec<u8> {
        let mut sent = std::mem::take(&mut self.sent) as usize;
        let mut owed = Vec::new();
        for outgoing in self.out.drain(..) {
            // Nothing else is owed before requests.
            if let Outgoing::Text(text) = outgoing {
                owed.extend_from_slice(text.get(sent..).unwrap_or_default());
            }
            sent = 0;
        }
        self.blocked = false;
        owed
    }

    fn take_off(&mut self, mut count: u64) {
        while let Some(first) = self.out.front() {
            let left = first.length() - self.sent;
            if count < left {
                self.sent += count;
                return;
            }
            count -= left;
            self.sent = 0;
            self.out.pop_front();
        }
    }
}
