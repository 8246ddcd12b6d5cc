//! Where clients come in: one thread that lets them in and waits for what they ask, until the program is told to stop.
//!
//! No thread waits for a client that has not said what it wants: those that say nothing, or say it slowly, take a place here,
//! and lose it in the end.

use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::request::{HEAD_MOST, Request, Wrong};
use crate::workers::Workers;

/// Most clients that have not said yet what they want. Browsers open a few connections ahead.
const COMING_MOST: usize = 128;
/// How long one may take to say it.
const HEAD_TIME: Nanos = Nanos::from_secs(10);
/// How long nobody is let in where the system has no room for another client.
const HOLD_OFF: Nanos = Nanos::from_millis(50);

/// A client that has not said yet what it wants.
struct Coming {
    client: TcpStream,
    head: Vec<u8>,
    until: Nanos,
}

/// What becomes of it.
enum Step {
    Waits(Coming),
    Asks(TcpStream, Result<Request, Wrong>),
    Gone,
}

/// Lets clients in and gives what they ask to `workers`, until `stop` can be read.
///
/// # Errors
/// The system cannot tell what has come.
pub(crate) fn serve(
    listener: &TcpListener,
    stop: &UnixStream,
    workers: &Workers,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut coming: Vec<Coming> = Vec::new();
    loop {
        let Some((is_knocked, ready)) = wait(listener, stop, &coming)? else {
            return Ok(());
        };
        let now = Clock::now();
        let all = std::mem::take(&mut coming).into_iter().zip(ready);
        for (one, is_ready) in all {
            match one.step(is_ready, now) {
                Step::Waits(one) => coming.push(one),
                Step::Asks(client, request) => workers.give(client, request),
                Step::Gone => {}
            }
        }
        if is_knocked {
            let_in(listener, &mut coming);
        }
    }
}

/// Whether somebody knocks, and who of those `coming` has said something; `None` where it is to stop.
fn wait(
    listener: &TcpListener,
    stop: &UnixStream,
    coming: &[Coming],
) -> io::Result<Option<(bool, Vec<bool>)>> {
    let mut looked_at = vec![
        PollFd::new(stop, PollFlags::IN),
        PollFd::new(listener, PollFlags::IN),
    ];
    let clients = coming.iter();
    looked_at.extend(clients.map(|one| PollFd::new(&one.client, PollFlags::IN)));
    let first = coming.iter().map(|one| one.until).min();
    let left = first.map(|until| {
        let left = until.saturating_sub(Clock::now()) + Nanos::from_millis(1);
        Timespec {
            tv_sec: (left.get() / 1_000_000_000).cast_signed(),
            tv_nsec: (left.get() % 1_000_000_000).cast_signed(),
        }
    });
    match poll(&mut looked_at, left.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Some((false, vec![false; coming.len()]))),
        Err(error) => return Err(error.into()),
    }
    let mut ready = looked_at.iter().map(|one| !one.revents().is_empty());
    if ready.next() == Some(true) {
        return Ok(None);
    }
    let is_knocked = ready.next() == Some(true);
    Ok(Some((is_knocked, ready.collect())))
}

fn let_in(listener: &TcpListener, coming: &mut Vec<Coming>) {
    loop {
        match listener.accept() {
            Ok((client, _)) => {
                if client.set_nonblocking(true).is_err() {
                    continue;
                }
                if coming.len() >= COMING_MOST {
                    // Who has said nothing for the longest time makes way.
                    coming.remove(0);
                }
                coming.push(Coming {
                    client,
                    head: Vec::new(),
                    until: Clock::now() + HEAD_TIME,
                });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            // A client that has gone before it was let in.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => {
                if coming.is_empty() {
                    sleep_until(Clock::now() + HOLD_OFF);
                } else {
                    coming.remove(0);
                }
                return;
            }
        }
    }
}

impl Coming {
    fn step(mut self, is_ready: bool, now: Nanos) -> Step {
        if is_ready {
            let mut piece = [0; 4 << 10];
            match self.client.read(&mut piece) {
                Ok(0) => return Step::Gone,
                Ok(count) => self.head.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Step::Gone,
            }
            debug_assert!(self.head.len() < HEAD_MOST + piece.len());
            if let Some(request) = Request::read(&self.head) {
                return Step::Asks(self.client, request);
            }
        }
        if now < self.until {
            return Step::Waits(self);
        }
        // A connection that a browser has opened ahead asks for nothing.
        if self.head.is_empty() {
            return Step::Gone;
        }
        Step::Asks(self.client, Err(Wrong::TooSlow))
    }
}
