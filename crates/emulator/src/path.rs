//! What messages cost on their way between a client and this server.
//!
//! A modelled delay begins when the client sends and ends when it has the answer. The server sees neither moment, but it can
//! time such a way on this machine: a thread of its own takes part like a client that waits for its disk, over the same kind of
//! socket, and says when it had the answer and when it sent its request. It is called some times a second while others are
//! served, since a way takes longer where processors have gone to sleep, or have other things to do.
//!
//! Most of a way is waking up. A server that looks at the socket while it waits sees a request at once; of the way in, only
//! those count for which it slept.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use fathom_rawio::{Clock, precise_timers, sleep_until};
use fathom_units::Nanos;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Ways of which the median counts.
const WAYS: usize = 31;
/// Rest between them before the first client comes, so that both sides sleep: as long as a quick disk takes.
const REST: Nanos = Nanos::from_micros(500);
/// Time between them later.
const EVERY: Nanos = Nanos::from_millis(100);
/// No way in one direction takes longer but on a machine that has no time for this: it is not taken off what the model says.
const MOST: Nanos = Nanos::from_micros(75);
/// A request, and a simple reply with 4 KiB.
const REQUEST: usize = 28;
const HEAD: usize = 16;
const REPLY: usize = HEAD + 4096;

/// What the two ways of a message take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ways {
    /// From this server until the client has it.
    pub out: Nanos,
    /// From the client until this server, which slept, has it.
    pub back: Nanos,
}

impl Ways {
    /// There and back.
    pub fn both(self) -> Nanos {
        self.out.saturating_add(self.back)
    }
}

/// Whether the server slept when something came, and so had to wake up for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Was {
    /// It did.
    Asleep,
    /// It looked.
    Awake,
}

/// The thread that takes part, and what it has shown.
#[derive(Debug)]
pub(crate) struct Echo {
    socket: Option<UnixStream>,
    client: Option<JoinHandle<()>>,
    /// When it was last sent an answer; `None`: its request has come.
    called: Option<Nanos>,
    next: Nanos,
    out: Median,
    back: Median,
}

/// The median of the last few.
#[derive(Debug, Default)]
struct Median {
    last: Vec<Nanos>,
    oldest: usize,
}

impl Median {
    fn add(&mut self, value: Nanos) {
        let value = value.min(MOST);
        if self.last.len() < WAYS {
            self.last.push(value);
        } else {
            self.last[self.oldest] = value;
            self.oldest = (self.oldest + 1) % WAYS;
        }
    }

    fn get(&self) -> Nanos {
        let mut sorted = self.last.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

impl Echo {
    /// Starts it and times the first ways; gives their medians.
    ///
    /// # Errors
    ///
    /// Where sockets or threads cannot be had.
    pub fn new() -> io::Result<(Self, Ways)> {
        let (here, there) = UnixStream::pair()?;
        let thread = std::thread::Builder::new().name("echo".to_owned());
        let client = thread.spawn(move || answer(there))?;
        let mut echo = Self {
            socket: Some(here),
            client: Some(client),
            called: None,
            next: Nanos::ZERO,
            out: Median::default(),
            back: Median::default(),
        };
        for _ in 0..WAYS {
            sleep_until(Clock::now() + REST);
            echo.call(Clock::now().max(echo.next))?;
            echo.heard(Was::Asleep)?;
        }
        let ways = echo.ways();
        Ok((echo, ways))
    }

    fn ways(&self) -> Ways {
        Ways {
            out: self.out.get(),
            back: self.back.get(),
        }
    }

    /// When it is to be called again.
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Calls it, if it is time to.
    #[inline]
    pub fn call(&mut self, now: Nanos) -> io::Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        if self.called.is_none()
            && let Some(socket) = &mut self.socket
        {
            self.called = Some(Clock::now());
            socket.write_all(&[0; REPLY])?;
        }
        Ok(())
    }

    /// Takes its request; gives what ways take now.
    pub fn heard(&mut self, was: Was) -> io::Result<Option<Ways>> {
        let (Some(called), Some(socket)) = (self.called.take(), &mut self.socket) else {
            return Ok(None);
        };
        let mut request = [0; REQUEST];
        socket.read_exact(&mut request)?;
        let now = Clock::now();
        let moment = |at: usize| {
            let bytes = request[at..at + 8].try_into();
            Nanos::new(bytes.map_or(0, u64::from_ne_bytes))
        };
        let (had, sent) = (moment(0), moment(8));
        self.out.add(had.saturating_sub(called));
        if was == Was::Asleep {
            self.back.add(now.saturating_sub(sent));
        }
        Ok(Some(self.ways()))
    }
}

impl AsFd for Echo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // The socket goes with this value alone.
        self.socket
            .as_ref()
            .expect("it is open until the end")
            .as_fd()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.socket = None;
        if let Some(client) = self.client.take() {
            let _ = client.join();
        }
    }
}

/// The other side: takes a reply, sends a request with the moments of both. It does so as clients do: it is woken up by
/// `poll`, and takes the head of a reply before its data.
fn answer(mut socket: UnixStream) {
    precise_timers();
    let (mut reply, mut request) = ([0; REPLY], [0; REQUEST]);
    loop {
        let mut there = [PollFd::new(&socket, PollFlags::IN)];
        if poll(&mut there, None).is_err_and(|error| error != Errno::INTR) {
            return;
        }
        let (head, data) = reply.split_at_mut(HEAD);
        let read = socket.read_exact(head);
        if read.and_then(|()| socket.read_exact(data)).is_err() {
            return;
        }
        let had = Clock::now();
        request[..8].copy_from_slice(&had.get().to_ne_bytes());
        request[8..16].copy_from_slice(&Clock::now().get().to_ne_bytes());
        if socket.write_all(&request).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_take_some_time_and_are_bounded() {
        let (mut echo, first) = Echo::new().unwrap();
        let bounded = |way: Nanos| way > Nanos::ZERO && way <= MOST;
        assert!(bounded(first.out) && bounded(first.back), "{first:?}");
        echo.call(Nanos::MAX.saturating_sub(EVERY)).unwrap();
        let ways = echo.heard(Was::Awake).unwrap().unwrap();
        assert!(bounded(ways.out), "{ways:?}");
        // A way in for which nobody slept is no measure of one.
        assert_eq!(ways.back, first.back);
        assert_eq!(echo.heard(Was::Asleep).unwrap(), None);
    }
}
