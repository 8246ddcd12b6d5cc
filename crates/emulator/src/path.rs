//! What messages cost on their way between a client and this server.
//!
//! A modelled delay begins when the client sends and ends when it has the answer. The server sees neither moment, but it can
//! time such a way on this machine: a thread of its own takes part like a client that waits for its disk, over the same kind of
//! socket. It is called some times a second while others are served, since a way takes longer where processors have gone to
//! sleep, or have other things to do.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use fathom_rawio::{Clock, precise_timers, sleep_until};
use fathom_units::Nanos;

/// Ways of which the median counts.
const WAYS: usize = 31;
/// Rest between them before the first client comes, so that both sides sleep: as long as a quick disk takes.
const REST: Nanos = Nanos::from_micros(500);
/// Time between them later.
const EVERY: Nanos = Nanos::from_millis(100);
/// No way takes longer but on a machine that has no time for this: it is not taken off what the model says.
const MOST: Nanos = Nanos::from_micros(150);
/// A request, and a simple reply with 4 KiB.
const REQUEST: usize = 28;
const REPLY: usize = 16 + 4096;

/// The thread that takes part, and what it has shown.
#[derive(Debug)]
pub(crate) struct Echo {
    socket: Option<UnixStream>,
    client: Option<JoinHandle<()>>,
    /// When it was last sent an answer; `None`: its request has come.
    called: Option<Nanos>,
    next: Nanos,
    ways: Vec<Nanos>,
    oldest: usize,
}

impl Echo {
    /// Starts it and times the first ways; gives their median.
    ///
    /// # Errors
    ///
    /// Where sockets or threads cannot be had.
    pub fn new() -> io::Result<(Self, Nanos)> {
        let (here, there) = UnixStream::pair()?;
        let thread = std::thread::Builder::new().name("echo".to_owned());
        let client = thread.spawn(move || answer(there))?;
        let mut echo = Self {
            socket: Some(here),
            client: Some(client),
            called: None,
            next: Nanos::ZERO,
            ways: Vec::with_capacity(WAYS),
            oldest: 0,
        };
        let mut path = Nanos::ZERO;
        while echo.ways.len() < WAYS {
            sleep_until(Clock::now() + REST);
            echo.call(Clock::now().max(echo.next))?;
            path = echo.heard()?.unwrap_or(path);
        }
        Ok((echo, path))
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

    /// Takes its request; gives what a way takes now.
    pub fn heard(&mut self) -> io::Result<Option<Nanos>> {
        let (Some(called), Some(socket)) = (self.called.take(), &mut self.socket) else {
            return Ok(None);
        };
        socket.read_exact(&mut [0; REQUEST])?;
        let way = Clock::now().saturating_sub(called).min(MOST);
        if self.ways.len() < WAYS {
            self.ways.push(way);
        } else {
            self.ways[self.oldest] = way;
            self.oldest = (self.oldest + 1) % WAYS;
        }
        let mut sorted = self.ways.clone();
        sorted.sort_unstable();
        Ok(Some(sorted[sorted.len() / 2]))
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

/// The other side: takes a reply, sends a request.
fn answer(mut socket: UnixStream) {
    precise_timers();
    let (mut reply, request) = ([0; REPLY], [0; REQUEST]);
    while socket.read_exact(&mut reply).is_ok() && socket.write_all(&request).is_ok() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_takes_some_time_and_is_bounded() {
        let (mut echo, first) = Echo::new().unwrap();
        assert!(first > Nanos::ZERO && first <= MOST, "{first}");
        echo.call(Nanos::MAX.saturating_sub(EVERY)).unwrap();
        let way = echo.heard().unwrap().unwrap();
        assert!(way > Nanos::ZERO && way <= MOST, "{way}");
        assert_eq!(echo.heard().unwrap(), None);
    }
}
