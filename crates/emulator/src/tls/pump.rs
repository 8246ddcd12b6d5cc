//! A pump: TLS on one side, plain bytes on the other.
//!
//! Invariants: memory is bounded by [`CHUNK`] in each direction, so that a side that does not take anything stops the other; a
//! handshake ends within [`HANDSHAKE_MOST`]; what a client sends can end its own connection only.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_rawio::Clock;
use fathom_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ServerConnection;

use super::{Newcomer, Refusals, version};

/// Bytes that are on their way at most, in each direction and on each side of the cipher.
const CHUNK: usize = 64 << 10;
/// Longest time from the client's wish for TLS to its end.
const HANDSHAKE_MOST: Nanos = Nanos::from_secs(10);
/// Longest time that a client may take for its last answers.
const LINGER_MOST: Nanos = Nanos::from_secs(5);

/// Carries bytes until one side ends. A handshake that comes to nothing is noted.
pub(super) fn carry(mut tls: ServerConnection, newcomer: Newcomer, refusals: &Refusals) {
    tls.set_buffer_limit(Some(2 * CHUNK));
    let mut pump = Pump {
        tls,
        network: newcomer.network.into(),
        inside: newcomer.inside,
        orderly: newcomer.orderly,
        first: newcomer.first,
        cipher: Buffer::new(),
        plain: Buffer::new(),
        outward: vec![0; CHUNK],
        client: Client::Sends,
        server: Server::Sends,
        until: Some(Clock::now() + HANDSHAKE_MOST),
    };
    // One that is cut off has no address any more.
    let whence = pump.network.peer_addr();
    if let Err(error) = pump.run() {
        // Why, if it can be told: an alert.
        let _ = pump.tls.write_tls(&mut pump.network);
        if pump.tls.is_handshaking() {
            let whence = whence.map_or("a client".to_owned(), |address| address.to_string());
            refusals.add(&whence, &reason(&error));
        }
    }
}

/// Bytes on their way.
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    fn new() -> Self {
        Self {
            bytes: vec![0; CHUNK],
            start: 0,
            end: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where more can go.
    fn space(&mut self) -> &mut [u8] {
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
        &mut self.bytes[self.end..]
    }
}

/// How far the client has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Sends,
    /// Nothing more comes.
    Ended,
    /// The server knows.
    Told,
}

/// How far the server has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Sends,
    /// It has closed its side, in order; what it sent before is still to be taken.
    Left,
    /// Nothing is left of that.
    Ended,
}

struct Pump {
    tls: ServerConnection,
    network: TcpStream,
    inside: UnixStream,
    /// Whether the server ends the connection in order.
    orderly: Arc<AtomicBool>,
    /// What the client is sent before TLS.
    first: Vec<u8>,
    /// Received from the client: ciphered, and plain.
    cipher: Buffer,
    plain: Buffer,
    /// Room for what the server sends.
    outward: Vec<u8>,
    client: Client,
    server: Server,
    /// When patience ends.
    until: Option<Nanos>,
}

impl Pump {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let mut moved = self.send()?;
            if self.first.is_empty() {
                moved |= self.receive()?;
                moved |= self.deliver()?;
                moved |= self.collect()?;
            }
            if self.server == Server::Ended && !self.tls.wants_write() {
                return self.network.shutdown(Shutdown::Write);
            }
            if !moved {
                self.wait()?;
            }
        }
    }

    /// Sends the client what is ready for it.
    fn send(&mut self) -> io::Result<bool> {
        let mut moved = false;
        while !self.first.is_empty() {
            match some(self.network.write(&self.first))? {
                Some(count) => drop(self.first.drain(..count)),
                None => return Ok(moved),
            }
            moved = true;
        }
        while self.tls.wants_write() {
            match some(self.tls.write_tls(&mut self.network))? {
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(_) => moved = true,
                None => break,
            }
        }
        Ok(moved)
    }

    /// Nothing more comes from the client.
    fn end(&mut self) {
        if self.client == Client::Sends {
            self.client = Client::Ended;
        }
    }

    /// Takes from the client and deciphers, until there is no more or no room.
    fn receive(&mut self) -> io::Result<bool> {
        let mut moved = false;
        loop {
            while !self.plain.space().is_empty() {
                match self.tls.reader().read(self.plain.space()) {
                    Ok(0) => self.end(),
                    Ok(count) => {
                        self.plain.end += count;
                        moved = true;
                        continue;
                    }
                    // It has left without a word: what it had said counts.
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                        self.end();
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
                break;
            }
            let room = !self.plain.space().is_empty();
            if self.client != Client::Sends || !room || !self.tls.wants_read() {
                return Ok(moved);
            }
            if self.cipher.is_empty() {
                let Some(count) = some(self.network.read(self.cipher.space()))? else {
                    return Ok(moved);
                };
                self.cipher.end += count;
            }
            // An empty one tells the end.
            let count = self.tls.read_tls(&mut self.cipher.filled())?;
            self.cipher.start += count;
            let state = self.tls.process_new_packets();
            state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            moved = true;
            if !self.tls.is_handshaking() && self.server == Server::Sends {
                self.until = None;
            }
        }
    }

    /// Gives the server what the client has sent.
    fn deliver(&mut self) -> io::Result<bool> {
        let mut moved = false;
        while !self.plain.is_empty() {
            let given = some(self.inside.write(self.plain.filled()));
            match given {
                Ok(Some(count)) => self.plain.start += count,
                Ok(None) => return Ok(moved),
                // Nobody there wants it.
                Err(_) => {
                    self.plain.start = self.plain.end;
                    self.client = Client::Told;
                }
            }
            moved = true;
        }
        if self.client == Client::Ended {
            self.client = Client::Told;
            self.inside.shutdown(Shutdown::Write)?;
            moved = true;
        }
        Ok(moved)
    }

    /// Takes what the server sends, and ciphers it.
    fn collect(&mut self) -> io::Result<bool> {
        if self.server == Server::Ended || self.tls.is_handshaking() || self.tls.wants_write() {
            return Ok(false);
        }
        let Some(count) = some(self.inside.read(&mut self.outward))? else {
            return Ok(false);
        };
        if count == 0 {
            self.leave()?;
            self.server = Server::Ended;
            self.tls.send_close_notify();
            return Ok(true);
        }
        self.tls.writer().write_all(&self.outward[..count])?;
        Ok(true)
    }

    /// The server has left: in order, or as a dead host does.
    fn leave(&mut self) -> io::Result<()> {
        if !self.orderly.load(Ordering::Acquire) {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        if self.server == Server::Sends {
            self.server = Server::Left;
            self.until = Some(Clock::now() + LINGER_MOST);
        }
        Ok(())
    }

    /// Waits until something can be moved.
    fn wait(&mut self) -> io::Result<()> {
        let (mut network, mut inside) = (PollFlags::empty(), PollFlags::empty());
        let handshaking = self.tls.is_handshaking();
        if !self.first.is_empty() || self.tls.wants_write() {
            network |= PollFlags::OUT;
        } else if !handshaking && self.server != Server::Ended {
            inside |= PollFlags::IN;
        }
        let sends = self.client == Client::Sends;
        if sends && self.plain.is_empty() && self.cipher.is_empty() && self.tls.wants_read() {
            network |= PollFlags::IN;
        }
        if !self.plain.is_empty() {
            inside |= PollFlags::OUT;
        }
        let timeout = self.until.map(|until| {
            let left = until.saturating_sub(Clock::now()).get();
            Timespec {
                tv_sec: (left / 1_000_000_000).cast_signed(),
                tv_nsec: (left % 1_000_000_000).cast_signed(),
            }
        });
        let mut ends = [
            PollFd::new(&self.network, network),
            PollFd::new(&self.inside, inside),
        ];
        // Its side closed, the pair of the server tells nothing new any more.
        let count = if self.server == Server::Sends { 2 } else { 1 };
        match poll(&mut ends[..count], timeout.as_ref()) {
            Ok(0) => return Err(ErrorKind::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [network, inside] = ends.map(|end| end.revents());
        let gone = PollFlags::HUP | PollFlags::ERR;
        if network.intersects(gone) {
            return Err(ErrorKind::ConnectionReset.into());
        }
        if count == 2 && inside.intersects(gone) {
            self.leave()?;
        }
        Ok(())
    }
}

/// Why a handshake came to nothing.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => format!("its handshake was not over after {HANDSHAKE_MOST}"),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            "it went away".to_owned()
        }
        _ if is_certificate_old(error) => format!("its certificate {}", version::WHAT),
        _ => error.to_string(),
    }
}

fn is_certificate_old(error: &io::Error) -> bool {
    let cause = error.get_ref();
    let cause = cause.and_then(|cause| cause.downcast_ref::<rustls::Error>());
    cause.is_some_and(version::is_old)
}

/// What was moved; `None`: it cannot be now.
fn some(moved: io::Result<usize>) -> io::Result<Option<usize>> {
    match moved {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        // Again at the next turn.
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}
