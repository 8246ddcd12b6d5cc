//! What a message costs on its way between a client and this server, measured before the first client comes.
//!
//! A modelled delay begins when the client sends and ends when it has the answer. The server sees neither moment, but it can
//! measure how long such a way takes on this machine: a thread of its own answers over the same kind of socket, woken from
//! sleep as a client is that waits for its disk.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use fathom_rawio::{Clock, precise_timers, sleep_until};
use fathom_units::Nanos;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

/// Ways there and back that are timed. Half of them are thrown away as too slow.
const ROUNDS: usize = 81;
/// Rest before each, so that both sides sleep: as long as a quick disk takes.
const REST: Nanos = Nanos::from_micros(400);
/// A request and a simple reply with 4 KiB.
const REQUEST: usize = 28;
const REPLY: usize = 16 + 4096;

/// The median time from sending to having been answered, as a server with epoll takes part in it.
///
/// # Errors
///
/// Where sockets cannot be had.
pub(crate) fn measure() -> io::Result<Nanos> {
    let (mut here, there) = UnixStream::pair()?;
    let client = std::thread::spawn(move || answer(there));
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &here, EventData::new_u64(0), EventFlags::IN)?;
    let mut times = Vec::with_capacity(ROUNDS);
    let (reply, mut request) = ([0; REPLY], [0; REQUEST]);
    let mut events = Vec::with_capacity(4);
    for _ in 0..ROUNDS {
        sleep_until(Clock::now() + REST);
        let before = Clock::now();
        here.write_all(&reply)?;
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        here.read_exact(&mut request)?;
        times.push(Clock::now().saturating_sub(before));
    }
    drop(here);
    client
        .join()
        .map_err(|_| io::Error::other("the measuring client ended early"))?;
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}

/// The other side: takes a reply, sends a request.
fn answer(mut socket: UnixStream) {
    precise_timers();
    let (mut reply, request) = ([0; REPLY], [0; REQUEST]);
    while socket.read_exact(&mut reply).is_ok() && socket.write_all(&request).is_ok() {}
}
