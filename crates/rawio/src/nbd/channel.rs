//! What a handshake is held over: a socket, and TLS on it once both sides have agreed on that.
//!
//! Invariant: no call waits beyond its deadline, however little a server says at a time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use fathom_nbd::client::Purpose;
use fathom_units::Nanos;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustls::{ClientConnection, Stream};

use super::tls;
use crate::Clock;

/// A connection of which a handshake is held.
pub(super) struct Channel {
    pub(super) socket: File,
    /// Where the server is to speak it.
    tls: Option<Box<ClientConnection>>,
    is_secure: bool,
}

impl Channel {
    pub(super) fn new(socket: File, tls: Option<ClientConnection>) -> Self {
        Self {
            socket,
            tls: tls.map(Box::new),
            is_secure: false,
        }
    }

    /// Whether TLS has begun.
    pub(super) fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Begins TLS, and waits until it is there.
    pub(super) fn secure(&mut self, deadline: Nanos) -> io::Result<()> {
        let socket = &mut self.socket;
        let Some(tls) = &mut self.tls else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        self.is_secure = true;
        let mut timed = Timed { socket, deadline };
        while tls.is_handshaking() {
            tls.complete_io(&mut timed)?;
        }
        Ok(())
    }

    /// Sends all of `out`, and empties it.
    pub(super) fn say(&mut self, out: &mut Vec<u8>, deadline: Nanos) -> io::Result<()> {
        self.with(deadline, |stream| {
            stream.write_all(out)?;
            stream.flush()
        })?;
        out.clear();
        Ok(())
    }

    /// Reads until `input` is as long as is wanted.
    pub(super) fn hear(
        &mut self,
        input: &mut Vec<u8>,
        wanted: usize,
        deadline: Nanos,
    ) -> io::Result<()> {
        while input.len() < wanted {
            let start = input.len();
            input.resize(wanted, 0);
            let came = self.with(deadline, |stream| stream.read(&mut input[start..]));
            match came {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => input.truncate(start + count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => input.truncate(start),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn with<T>(
        &mut self,
        deadline: Nanos,
        act: impl FnOnce(&mut dyn ReadWrite) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut timed = Timed {
            socket: &mut self.socket,
            deadline,
        };
        match &mut self.tls {
            Some(tls) if self.is_secure => act(&mut Stream::new(&mut **tls, &mut timed)),
            _ => act(&mut timed),
        }
    }

    /// The socket over which requests go. Where none will, TLS is ended.
    pub(super) fn into_socket(mut self, purpose: Purpose) -> io::Result<File> {
        let Some(mut tls) = self.tls else {
            return Ok(self.socket);
        };
        if purpose == Purpose::Use {
            return tls::carry(*tls, self.socket);
        }
        tls.send_close_notify();
        // It is a courtesy: the connection is closed in any case.
        let _ = tls.write_tls(&mut self.socket);
        Ok(self.socket)
    }
}

trait ReadWrite: Read + Write {}

impl<T: Read + Write> ReadWrite for T {}

/// A socket whose calls end at a time.
struct Timed<'a> {
    socket: &'a mut File,
    deadline: Nanos,
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        allow(&*self.socket, Some(left(self.deadline)?))?;
        self.socket.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        allow(&*self.socket, Some(left(self.deadline)?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Time until a deadline; an error where there is none.
pub(super) fn left(deadline: Nanos) -> io::Result<Duration> {
    let left = deadline.saturating_sub(Clock::now());
    if left == Nanos::ZERO {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(Duration::from_nanos(left.get()))
}

/// How long calls on a socket may wait; `None`: for ever.
pub(super) fn allow(socket: impl AsFd, time: Option<Duration>) -> io::Result<()> {
    for way in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, way, time)?;
    }
    Ok(())
}
