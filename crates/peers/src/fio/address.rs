//! Where a server listens and a client connects: fio's words for it.
//!
//! `HOST`, `HOST,PORT`, `,PORT`, `ip:HOST[,PORT]`, `ip4:…`, `ip6:…`, `sock:PATH`. Without a host a server listens on
//! 127.0.0.1 alone: whoever reaches it can have jobs run.

use std::fmt;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use fathom_dialects::fio::Host;
use rustix::net::sockopt;

/// fio's own port.
const PORT: u16 = 8765;
/// A machine that was silent for so long is asked whether it is there, three times in as long again.
const SILENCE: Duration = Duration::from_secs(9);

/// An address as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host, empty for this one, and a port.
    Ip(String, u16),
    /// A socket in the file system.
    Socket(String),
}

impl Address {
    /// Reads fio's word for it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("sock:") {
            return Ok(Self::Socket(path.to_owned()));
        }
        let kinds = ["ip:", "ip4:", "ip6:"];
        let text = kinds
            .iter()
            .find_map(|kind| text.strip_prefix(kind))
            .unwrap_or(text);
        let (host, port) = match text.split_once(',') {
            None => (text, PORT),
            Some((host, port)) => match port.parse() {
                Ok(port) if port > 0 => (host, port),
                _ => return Err(format!("`{port}` is no port; write one from 1 to 65535")),
            },
        };
        Ok(Self::Ip(host.to_owned(), port))
    }

    /// As results name it.
    pub fn host(&self) -> Host {
        match self {
            Self::Ip(name, port) => Host {
                name: name.clone(),
                port: *port,
            },
            Self::Socket(path) => Host {
                name: path.clone(),
                port: 0,
            },
        }
    }

    fn ip(host: &str, port: u16) -> (&str, u16) {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        (if host.is_empty() { "127.0.0.1" } else { host }, port)
    }

    /// What to do where a server cannot listen there.
    pub fn other(&self) -> &'static str {
        match self {
            Self::Ip(..) => {
                "name an address of this machine, or another port, as in `--server=,8766`"
            }
            Self::Socket(_) => {
                "name a socket in a folder that you may write to, at a place where nothing is"
            }
        }
    }

    /// Listens.
    ///
    /// # Errors
    /// Where that is not possible.
    pub fn listen(&self) -> std::io::Result<Listener> {
        match self {
            Self::Ip(host, port) => TcpListener::bind(Self::ip(host, *port)).map(Listener::Tcp),
            Self::Socket(path) => {
                // One that a dead server left behind is in the way; what is no socket is nobody's to remove.
                let left = std::fs::symlink_metadata(path);
                let is_left = left.is_ok_and(|found| found.file_type().is_socket());
                if is_left && UnixStream::connect(path).is_err() {
                    let _ = std::fs::remove_file(path);
                }
                UnixListener::bind(path).map(Listener::Unix)
            }
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// Where nobody listens.
    pub fn connect(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(match self {
            Self::Ip(host, port) => watched(TcpStream::connect(Self::ip(host, *port))?)?,
            Self::Socket(path) => Box::new(UnixStream::connect(path)?),
        })
    }
}

/// A connection whose other end is known to be gone 18 s after its machine was cut off, and which says each
/// word at once.
fn watched(stream: TcpStream) -> std::io::Result<Box<dyn Connection>> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(&stream, true)?;
    sockopt::set_tcp_keepidle(&stream, SILENCE)?;
    sockopt::set_tcp_keepintvl(&stream, SILENCE / 3)?;
    sockopt::set_tcp_keepcnt(&stream, 3)?;
    Ok(Box::new(stream))
}

/// Where it leads: what stands in place of a host that was left out, too, and no port of a socket.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(host, port) => {
                let (host, port) = Self::ip(host, *port);
                write!(f, "{host},{port}")
            }
            Self::Socket(path) => f.write_str(path),
        }
    }
}

/// Something that takes connections.
#[derive(Debug)]
pub enum Listener {
    /// By IP.
    Tcp(TcpListener),
    /// Through the file system.
    Unix(UnixListener),
}

impl Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn accept(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(match self {
            Self::Tcp(listener) => watched(listener.accept()?.0)?,
            Self::Unix(listener) => Box::new(listener.accept()?.0),
        })
    }
}

/// One end of a connection.
pub trait Connection: Read + Write + Send {
    /// The same end once more.
    ///
    /// # Errors
    /// Where descriptors are used up.
    fn again(&self) -> std::io::Result<Box<dyn Connection>>;

    /// Ends it for both of its ends, whoever waits.
    fn end(&self);
}

impl Connection for TcpStream {
    fn again(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Connection for UnixStream {
    fn again(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, host: &str, port: u16) {
        assert_eq!(Address::parse(text), Ok(Address::Ip(host.to_owned(), port)));
    }

    #[test]
    fn addresses_are_written_as_for_fio() {
        check("", "", 8765);
        check(",8766", "", 8766);
        check("storage-1", "storage-1", 8765);
        check("ip:10.0.0.1,9000", "10.0.0.1", 9000);
        check("ip6:::1,9000", "::1", 9000);
        let socket = Address::parse("sock:/tmp/s").unwrap();
        assert_eq!(socket, Address::Socket("/tmp/s".to_owned()));
        for (text, shown) in [
            ("", "127.0.0.1,8765"),
            (",8766", "127.0.0.1,8766"),
            ("ip:storage-1", "storage-1,8765"),
            ("sock:/tmp/s", "/tmp/s"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown, "{text}");
        }
        for bad in [",x", "a,0", "a,70000"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
