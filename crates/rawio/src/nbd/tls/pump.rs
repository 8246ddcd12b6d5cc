//! The thread of a connection that ciphers: TLS on the network's side, plain bytes on the queue's.
//!
//! A queue takes in what comes and sends what is to be sent by calls on a socket, straight to and from the buffers of its
//! slots. So that it need not know of ciphers, its socket is one of a pair whose other end is here.
//!
//! Invariants: memory is bounded by [`CHUNK`] in each direction, so that a side which takes nothing stops the other; the
//! thread ends with either side, and no later than [`LINGER_MOST`] after the queue has left.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use fathom_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustls::ClientConnection;

use crate::Clock;

/// Bytes that are on their way at most, in each direction and on each side of the cipher.
const CHUNK: usize = 64 << 10;
/// Longest time in which what a queue has said last is sent.
const LINGER_MOST: Nanos = Nanos::from_secs(5);
/// Stack of the thread.
const STACK: usize = 256 << 10;

/// Carries a connection on whose handshake is over; gives the plain end.
pub(in super::super) fn carry(mut tls: ClientConnection, network: File) -> io::Result<File> {
    let (inside, here) = UnixStream::pair()?;
    inside.set_nonblocking(true)?;
    rustix::io::ioctl_fionbio(&network, true)?;
    tls.set_buffer_limit(Some(2 * CHUNK));
    let mut pump = Pump {
        tls,
        network,
        inside,
        ciphered: vec![0; CHUNK],
        cipher: 0..0,
        plain: vec![0; CHUNK],
        ready: 0..0,
        outward: vec![0; CHUNK],
        is_network_over: false,
        is_queue_over: false,
        until: None,
    };
    let thread = std::thread::Builder::new().name("nbd-tls".to_owned());
    // Its ends close with it, which the queue sees as a connection that broke.
    thread.stack_size(STACK).spawn(move || drop(pump.run()))?;
    Ok(File::from(OwnedFd::from(here)))
}

struct Pump {
    tls: ClientConnection,
    network: File,
    inside: UnixStream,
    /// What has come from the server, and what of it is not taken by `tls`.
    ciphered: Vec<u8>,
    cipher: std::ops::Range<usize>,
    /// What the server has said, and what of it the queue has not taken.
    plain: Vec<u8>,
    ready: std::ops::Range<usize>,
    /// Room for what the queue says.
    outward: Vec<u8>,
    /// Nothing more comes from the server.
    is_network_over: bool,
    /// Nothing more comes from the queue.
    is_queue_over: bool,
    /// When what is left to send is given up; set once the queue is gone.
    until: Option<Nanos>,
}

impl Pump {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let mut moved = self.send()?;
            moved |= self.receive()?;
            moved |= self.deliver();
            moved |= self.collect()?;
            if self.is_queue_over && !self.tls.wants_write() {
                return Ok(rustix::net::shutdown(
                    &self.network,
                    rustix::net::Shutdown::Write,
                )?);
            }
            if self.is_network_over && self.ready.is_empty() {
                return self.inside.shutdown(Shutdown::Both);
            }
            if !moved {
                self.wait()?;
            }
        }
    }

    /// Sends what is ciphered.
    fn send(&mut self) -> io::Result<bool> {
        let mut moved = false;
        while self.tls.wants_write() {
            match some(self.tls.write_tls(&mut self.network))? {
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(_) => moved = true,
                None => break,
            }
        }
        Ok(moved)
    }

    /// Takes from the server and deciphers, where the queue has taken all that there was: what one call brings, or there is
    /// room for.
    fn receive(&mut self) -> io::Result<bool> {
        if self.is_network_over || !self.ready.is_empty() {
            return Ok(false);
        }
        self.ready = 0..0;
        let mut is_asked = false;
        loop {
            if self.decipher()? {
                return Ok(true);
            }
            if self.cipher.is_empty() {
                if is_asked {
                    return Ok(!self.ready.is_empty());
                }
                match some(self.network.read(&mut self.ciphered)) {
                    Ok(None) => return Ok(!self.ready.is_empty()),
                    Ok(Some(count)) => self.cipher = 0..count,
                    Err(_) => {
                        self.is_network_over = true;
                        return Ok(true);
                    }
                }
                is_asked = true;
            }
            // Of nothing it takes the end. It takes a few KiB at a time, which is why it is not given the network itself.
            let taken = self
                .tls
                .read_tls(&mut &self.ciphered[self.cipher.clone()])?;
            self.cipher.start += taken;
            let went = self.tls.process_new_packets();
            went.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    /// Moves what is deciphered to where the queue is given it from; `true`: no more is to be looked for now.
    fn decipher(&mut self) -> io::Result<bool> {
        while self.ready.end < self.plain.len() {
            match self.tls.reader().read(&mut self.plain[self.ready.end..]) {
                Ok(0) => self.is_network_over = true,
                Ok(count) => {
                    self.ready.end += count;
                    continue;
                }
                // It has left without a word: what it had said counts.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    self.is_network_over = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            break;
        }
        Ok(true)
    }

    /// Gives the queue what the server has said.
    fn deliver(&mut self) -> bool {
        let mut moved = false;
        while !self.ready.is_empty() {
            match some(self.inside.write(&self.plain[self.ready.clone()])) {
                Ok(Some(count)) => self.ready.start += count,
                Ok(None) => break,
                // It is gone, and wants nothing any more.
                Err(_) => self.ready.start = self.ready.end,
            }
            moved = true;
        }
        moved
    }

    /// Takes what the queue says, and ciphers it.
    fn collect(&mut self) -> io::Result<bool> {
        if self.is_queue_over || self.tls.wants_write() {
            return Ok(false);
        }
        let count = match some(self.inside.read(&mut self.outward)) {
            Ok(None) => return Ok(false),
            Ok(Some(count)) => count,
            // It left with answers on their way to it.
            Err(_) => 0,
        };
        if count == 0 {
            self.is_queue_over = true;
            self.tls.send_close_notify();
            self.leave();
        } else {
            self.tls.writer().write_all(&self.outward[..count])?;
        }
        Ok(true)
    }

    /// The queue is gone: what it has said last has its time.
    fn leave(&mut self) {
        let now = Clock::now();
        self.until.get_or_insert(now + LINGER_MOST);
    }

    /// Waits until something can be moved.
    fn wait(&mut self) -> io::Result<()> {
        let (mut network, mut inside) = (PollFlags::empty(), PollFlags::empty());
        if self.tls.wants_write() {
            network |= PollFlags::OUT;
        } else if !self.is_queue_over {
            inside |= PollFlags::IN;
        }
        if self.ready.is_empty() {
            network |= PollFlags::IN;
        } else {
            inside |= PollFlags::OUT;
        }
        let timeout = self.until.map(|until| {
            let left = until.saturating_sub(Clock::now()).get();
            Timespec {
                tv_sec: (left / 1_000_000_000).cast_signed(),
                tv_nsec: (left % 1_000_000_000).cast_signed(),
            }
        });
        // An end that is gone tells so for ever: it is left out where that is known, or nothing is wanted of it.
        let mut ends = Vec::with_capacity(2);
        if self.until.is_none() {
            ends.push(PollFd::new(&self.inside, inside));
        }
        let is_asked = !network.is_empty();
        if is_asked {
            ends.push(PollFd::new(&self.network, network));
        }
        match poll(&mut ends, timeout.as_ref()) {
            Ok(0) => return Err(ErrorKind::TimedOut.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let gone = PollFlags::HUP | PollFlags::ERR;
        if self.until.is_none() && ends[0].revents().intersects(gone) {
            self.leave();
        }
        Ok(())
    }
}

/// What was moved; `None`: it cannot be now.
fn some(moved: io::Result<usize>) -> io::Result<Option<usize>> {
    match moved {
        Ok(count) => Ok(Some(count)),
        // Again at the next turn, where a signal came.
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
