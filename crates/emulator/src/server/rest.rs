//! Rest, while the only client has many answers to read.
//!
//! A client that keeps many requests under way and is slower than this server has a line of answers to read, and sends a
//! request for each that it has read. Taking each of them in at once costs a wake-up, a read and an answer each, and helps
//! nobody: the line only gets longer. The server then sleeps for a while, and takes in all that has come in one go.
//!
//! Invariants: there is rest only where the model takes no time for what was answered last, so that nothing is dated wrongly,
//! and where nothing is under way; only for a client on a Unix socket, of which the kernel tells what it has not read. No rest
//! lasts beyond what is due next. It gets shorter where a client has come to the end of its line.

use std::os::fd::AsFd;

use fathom_model::Waits;
use fathom_nbd::Command;
use fathom_rawio::{Clock, sleep_until, unread_bytes};
use fathom_units::Nanos;

use super::Server;
use crate::client::Unread;
use crate::in_flight::Io;

/// Answers that a client must have before it.
const LINE_LEAST: u64 = 8;
/// What the kernel keeps beside the bytes of one message.
const BESIDE: u64 = 768;
/// The longest rest: about as long as a client needs for those answers.
const LONGEST: Nanos = Nanos::from_micros(100);
/// The shortest that is worth going to sleep for.
const SHORTEST: Nanos = Nanos::from_micros(10);

/// Whether there may be rest now, and for how long.
#[derive(Debug)]
pub(super) struct Rest {
    /// The client that was answered, and the memory that a line of answers like the last ones fills.
    line: Option<(u32, u64)>,
    length: Nanos,
}

impl Rest {
    pub fn new() -> Self {
        Self {
            line: None,
            length: SHORTEST,
        }
    }

    /// These were answered, and so many are still under way.
    pub fn answered(&mut self, answered: &[Io], under_way: usize) {
        self.line = None;
        let Some(last) = answered.last() else {
            return;
        };
        let no_time = |io: &Io| io.due == Some(io.sent) && io.waits == Waits::NONE;
        if under_way > 0 || !answered.iter().all(no_time) {
            return;
        }
        let bytes = match last.command {
            Command::Read => u64::from(last.length),
            _ => 0,
        };
        self.line = Some((last.client.0, LINE_LEAST * (BESIDE + bytes)));
    }
}

impl Server<'_> {
    /// Sleeps for a while, but not until `wake`, if the client that was answered last has enough to do; `true`: it did.
    pub(super) fn rest(&mut self, now: Nanos, wake: Nanos) -> bool {
        let Some((place, line)) = self.rest.line.take() else {
            return false;
        };
        if self.crowd.alive() != 1 || self.files.is_some() || now + self.rest.length >= wake {
            return false;
        }
        let unread = |server: &Self| {
            let client = server.crowd.places.get(place as usize)?.as_ref()?;
            let unread = || unread_bytes(client.socket.as_fd()).ok();
            (client.unread == Unread::Told).then(unread).flatten()
        };
        if unread(self).is_none_or(|unread| unread < line) {
            return false;
        }
        sleep_until(Clock::now() + self.rest.length);
        let left = unread(self).unwrap_or_default();
        let length = self.rest.length.get();
        let next = if left < line / 4 {
            length / 2
        } else {
            length + length / 8
        };
        self.rest.length = Nanos::new(next).clamp(SHORTEST, LONGEST);
        true
    }
}
