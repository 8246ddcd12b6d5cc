//! Connections to exports, from the address to the end of the handshake, TLS among it.
//!
//! Invariants: no server keeps anyone here for longer than [`HANDSHAKE_MOST`] once its name is resolved; no byte is read that
//! comes after the handshake.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fathom_nbd::client::{Ask, Hello, HelloError, Offer, Purpose, Step, request};
use fathom_nbd::{Address, Uri};
use fathom_units::Nanos;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::NbdExport;
use super::channel::{Channel, allow, left};
use super::tls::{self, TlsFileError};
use crate::Clock;

/// How long a server may take until requests may follow.
const HANDSHAKE_MOST: Nanos = Nanos::from_secs(5);

/// How long a server may take to see off a client that has seen enough: some complain where they find it gone.
const FAREWELL_MOST: Nanos = Nanos::from_millis(200);
/// An answer without a body.
const FAREWELL_BYTES: usize = 20;

/// Why there is no connection to an export.
#[derive(Debug, thiserror::Error)]
pub enum NbdUnreachable {
    /// Nobody is there.
    #[error("`{address}` cannot be reached: {source}")]
    Connecting {
        /// Of the server.
        address: Address,
        /// What the system says.
        source: io::Error,
    },
    /// The connection broke in the handshake.
    #[error("the connection to `{address}` broke before an export was agreed on: {source}")]
    Broken {
        /// Of the server.
        address: Address,
        /// What the system says.
        source: io::Error,
    },
    /// It closed the connection in the handshake.
    #[error("the server at `{0}` closed the connection before an export was agreed on")]
    Closed(Address),
    /// It says nothing.
    #[error("the server at `{0}` does not answer within {HANDSHAKE_MOST}")]
    Silent(Address),
    /// What the URI names does for no TLS.
    #[error(transparent)]
    Files(#[from] TlsFileError),
    /// There is no TLS with it.
    #[error("no TLS with the server at `{address}`: {why}")]
    Insecure {
        /// Of the server.
        address: Address,
        /// Why.
        why: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// What it says is no offer.
    #[error("the server at `{address}`: {source}{}", names(source))]
    Hello {
        /// Of the server.
        address: Address,
        /// What it says.
        source: HelloError,
    },
}

/// The exports that a server has in place of the one asked for.
fn names(error: &HelloError) -> String {
    match error {
        HelloError::Unknown(names) if !names.is_empty() => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("; it has {}", names.join(", "))
        }
        _ => String::new(),
    }
}

impl NbdUnreachable {
    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Connecting { .. } => {
                "start the server, or name its socket or host and port as it has them"
            }
            Self::Silent(_) => {
                "let the server take one connection for each worker and one to look at the export (qemu-nbd: `--shared=0`)"
            }
            Self::Broken { .. } | Self::Closed(_) => {
                "look at what the server says; some end with their first client (qemu-nbd: `--persistent`)"
            }
            Self::Files(error) => error.remedy(),
            Self::Insecure { remedy, .. } => remedy,
            Self::Hello { source, .. } => match source {
                HelloError::Unknown(_) => {
                    "name an export that it has; `nbdinfo --list` shows them all"
                }
                HelloError::Tls => {
                    "name it with `nbds://` (or `nbds+unix://`), and the directory of certificates: `?tls-certificates=DIR`"
                }
                HelloError::NoTls(_) => {
                    "let the server speak TLS, or name it with `nbd://` (or `nbd+unix://`) where anybody on the way may read along"
                }
                HelloError::Refused(_) => "look at what the server says of it",
                HelloError::Protocol(_) | HelloError::Oldstyle => {
                    "name the address of a server of NBD with the newstyle handshake"
                }
            },
        }
    }
}

/// Asks what a server offers of an export, and leaves.
///
/// # Errors
/// Why nothing is offered.
pub fn look_at_export(uri: &Uri) -> Result<Offer, NbdUnreachable> {
    Ok(offered(uri, Purpose::Look)?.0.offer)
}

/// Asks what a server offers of an export and whether it can structure its replies (`None`: it was asked in the oldest way,
/// which has no such question), and leaves.
///
/// # Errors
/// Why nothing is offered.
pub fn survey_export(uri: &Uri) -> Result<(Offer, Option<bool>), NbdUnreachable> {
    let (export, hello) = offered(uri, Purpose::Survey)?;
    Ok((export.offer, hello.has_structured()))
}

/// Asks a server for the names of its exports, of which [`LISTED_MAX`] are told at most, and leaves. The name in `uri` does
/// not matter.
///
/// # Errors
/// Why there is no list.
///
/// [`LISTED_MAX`]: fathom_nbd::client::LISTED_MAX
pub fn list_exports(uri: &Uri) -> Result<Vec<String>, NbdUnreachable> {
    Ok(shake_hands(uri, Purpose::List)?.hello.names().to_vec())
}

/// Connects to an export.
///
/// # Errors
/// Why there is no connection.
pub fn connect_to_export(uri: &Uri) -> Result<NbdExport, NbdUnreachable> {
    Ok(offered(uri, Purpose::Use)?.0)
}

/// A connection after its handshake.
struct Shaken {
    channel: Channel,
    hello: Hello,
    /// `None` where only names were asked for.
    offer: Option<Offer>,
}

/// A handshake that ends with an offer.
fn offered(uri: &Uri, purpose: Purpose) -> Result<(NbdExport, Hello), NbdUnreachable> {
    let Shaken {
        channel,
        hello,
        offer,
    } = shake_hands(uri, purpose)?;
    let address = || uri.address.clone();
    let offer = offer.ok_or_else(|| NbdUnreachable::Hello {
        address: address(),
        source: HelloError::Protocol("it does not tell of the export"),
    })?;
    let socket = channel.into_socket(purpose);
    let socket = socket.map_err(|source| NbdUnreachable::Broken {
        address: address(),
        source,
    })?;
    Ok((NbdExport { socket, offer }, hello))
}

fn shake_hands(uri: &Uri, purpose: Purpose) -> Result<Shaken, NbdUnreachable> {
    let tls = uri.security.as_ref().map(tls::connection).transpose()?;
    let deadline = Clock::now() + HANDSHAKE_MOST;
    let address = || uri.address.clone();
    let socket = connect(&uri.address, deadline).map_err(|source| {
        if is_late(&source) {
            return NbdUnreachable::Silent(address());
        }
        let address = address();
        NbdUnreachable::Connecting { address, source }
    })?;
    let mut hello = Hello::new(&uri.export, purpose);
    if tls.is_some() {
        hello = hello.in_tls();
    }
    let mut channel = Channel::new(socket, tls);
    let offer = converse(&mut channel, &mut hello, purpose, deadline);
    let offer = offer.map_err(|error| match error {
        Ended::Call(call) if channel.is_secure() && is_gone(&call) => NbdUnreachable::Insecure {
            address: address(),
            why: "it closed the connection before an export was agreed on".to_owned(),
            remedy: tls::WANTS_CERTIFICATE,
        },
        error => error.at(&uri.address),
    })?;
    Ok(Shaken {
        channel,
        hello,
        offer,
    })
}

/// What ends a handshake, wherever it is held.
enum Ended {
    /// A call on the socket.
    Call(io::Error),
    /// The server's words.
    Words(HelloError),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Call(error)
    }
}

impl From<HelloError> for Ended {
    fn from(error: HelloError) -> Self {
        Self::Words(error)
    }
}

impl Ended {
    fn at(self, address: &Address) -> NbdUnreachable {
        let address = address.clone();
        match self {
            Self::Words(source) => NbdUnreachable::Hello { address, source },
            Self::Call(source) if is_late(&source) => NbdUnreachable::Silent(address),
            Self::Call(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                NbdUnreachable::Closed(address)
            }
            Self::Call(source) => match tls::told(&source) {
                Some((why, remedy)) => NbdUnreachable::Insecure {
                    address,
                    why,
                    remedy,
                },
                None => NbdUnreachable::Broken { address, source },
            },
        }
    }
}

/// Holds a handshake to its end; gives what is offered.
fn converse(
    channel: &mut Channel,
    hello: &mut Hello,
    purpose: Purpose,
    deadline: Nanos,
) -> Result<Option<Offer>, Ended> {
    let (mut input, mut out) = (Vec::new(), Vec::new());
    let offer = loop {
        let (taken, step) = hello.take(&input, &mut out)?;
        input.drain(..taken);
        if matches!(step, Step::More | Step::Secure) {
            if step == Step::Secure {
                // What came unciphered must not count inside.
                input.clear();
                channel.secure(deadline)?;
                hello.secured(&mut out);
            }
            channel.say(&mut out, deadline)?;
            let wanted = hello.wanted(&input);
            channel.hear(&mut input, wanted, deadline)?;
            continue;
        }
        let begins = matches!(step, Step::Begin(_));
        let is_used = begins && purpose == Purpose::Use;
        if begins && !is_used {
            out.extend_from_slice(&request(Ask::Disconnect, 0, 0, 0));
        }
        let said = channel.say(&mut out, deadline);
        if is_used {
            said?;
        } else if !begins {
            let farewell = deadline.min(Clock::now() + FAREWELL_MOST);
            let _ = channel.hear(&mut input, FAREWELL_BYTES, farewell);
        }
        break match step {
            Step::Seen(offer) | Step::Begin(offer) => Some(offer),
            Step::More | Step::Secure | Step::Listed => None,
        };
    };
    allow(&channel.socket, None)?;
    Ok(offer)
}

/// Whether a call ended because the time was over.
fn is_late(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut)
}

/// Whether a call ended because the other side is no longer there.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn connect(address: &Address, deadline: Nanos) -> io::Result<File> {
    match address {
        Address::Unix { path, is_abstract } => {
            let name = if *is_abstract {
                SocketAddrUnix::new_abstract_name(path)
            } else {
                SocketAddrUnix::new(Path::new(OsStr::from_bytes(path)))
            };
            let kind = (AddressFamily::UNIX, SocketType::STREAM);
            let socket = rustix::net::socket_with(kind.0, kind.1, SocketFlags::CLOEXEC, None)?;
            // Connecting waits where others do, up to the time that sending may take.
            allow(&socket, Some(left(deadline)?))?;
            rustix::net::connect(&socket, &name?)?;
            Ok(File::from(socket))
        }
        Address::Tcp { host, port } => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for place in (host.as_str(), *port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&place, left(deadline)?) {
                    Ok(stream) => {
                        // A request goes at once, however small it is.
                        stream.set_nodelay(true)?;
                        return Ok(File::from(OwnedFd::from(stream)));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
