//! URIs of exports, as `doc/uri.md` of NetworkBlockDevice/nbd has them.
//!
//! `nbd://HOST:PORT/EXPORT` and `nbd+unix:///EXPORT?socket=PATH`, and the same with `nbds` for TLS with certificates; what is
//! encoded with `%` is decoded. TLS by pre-shared keys is not spoken, and said so.

mod secure;

pub use secure::{Peer, Security};

/// The port where a URI names none.
pub const DEFAULT_PORT: u16 = 10_809;
/// Longest name of an export, as the protocol has it.
const EXPORT_MAX: usize = 4096;

/// Where an export is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    /// Of its server.
    pub address: Address,
    /// Its name; an empty one asks for the server's default.
    pub export: String,
    /// How TLS is spoken; `None`: it is not.
    pub security: Option<Security>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// By TCP.
    Tcp {
        /// Name or address, without the brackets of IPv6.
        host: String,
        /// Port.
        port: u16,
    },
    /// By a Unix socket: its path, or what follows the zero byte of an abstract one.
    Unix {
        /// Bytes of the path or name.
        path: Vec<u8>,
        /// Whether it is a name in the abstract namespace.
        is_abstract: bool,
    },
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix { path, is_abstract } => {
                let at = if *is_abstract { "@" } else { "" };
                write!(f, "{at}{}", String::from_utf8_lossy(path))
            }
        }
    }
}

/// What is wrong with a URI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// Another scheme, or one of NBD that is not spoken.
    #[error("`{0}` is no scheme of NBD")]
    Scheme(String),
    /// It asks for TLS by pre-shared keys.
    #[error("it asks for TLS by a pre-shared key (PSK), which is not spoken")]
    PreSharedKey,
    /// A parameter of TLS beside a scheme that has none.
    #[error("its parameter `{0}` is of TLS, which its scheme does not ask for")]
    Insecure(String),
    /// TLS without a word on which servers are trusted.
    #[error("it does not say which servers are trusted")]
    NoAuthority,
    /// TLS over a Unix socket without a name.
    #[error("its server has no name that a certificate could be held against")]
    NoName,
    /// A parameter with a value that it cannot have.
    #[error("`{0}` is no value of its parameter `{1}`")]
    Value(String, &'static str),
    /// A Unix socket without its path.
    #[error("it names no socket")]
    NoSocket,
    /// TCP without a host.
    #[error("it names no host")]
    NoHost,
    /// A Unix socket with a host.
    #[error("it names a host (`{0}`) beside a Unix socket")]
    HostOfSocket(String),
    /// No port.
    #[error("`{0}` is no port")]
    Port(String),
    /// A parameter that nothing is known of.
    #[error("nothing is known of its parameter `{0}`")]
    Parameter(String),
    /// `%` without two hexadecimal digits, or what is no UTF-8.
    #[error("`{0}` is not encoded rightly")]
    Encoding(String),
    /// A name that no export can have.
    #[error("no export has a name with a zero byte, or of over 4,096 bytes")]
    Name,
}

impl UriError {
    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::PreSharedKey => {
                "use certificates (`tls-certificates=DIR`) on a server that has them, or let a local client of it \
                 (`nbd-client`, `qemu-nbd --connect`) make a block device of the export, and name that"
            }
            Self::Insecure(_) => {
                "name it with `nbds://` or `nbds+unix://` where the server speaks TLS, or leave it out"
            }
            Self::NoAuthority => {
                "add `tls-certificates=DIR`, a directory with `ca-cert.pem` of the authority that signed the server's certificate \
                 (and, where the server wants them, `client-cert.pem` and `client-key.pem`); `tls-verify-peer=false` trusts anybody"
            }
            Self::NoName => {
                "add `tls-hostname=NAME`, the name that stands in the server's certificate"
            }
            Self::Value(..) => {
                "write `true` or `false`, a directory that is there, or the name in the server's certificate"
            }
            Self::NoSocket | Self::HostOfSocket(_) => {
                "name it so: `nbd+unix:///EXPORT?socket=/path/of/socket`"
            }
            Self::Scheme(_) | Self::NoHost | Self::Port(_) => {
                "name it so: `nbd://HOST:PORT/EXPORT`, or `nbd+unix:///EXPORT?socket=/path/of/socket`"
            }
            Self::Parameter(_) => {
                "leave it out; there is `socket` of Unix sockets, and `tls-certificates`, `tls-verify-peer` and `tls-hostname` of TLS"
            }
            Self::Encoding(_) => "write `%` as `%25`, and other bytes as `%` and two digits",
            Self::Name => "ask the server for its names: `nbdinfo --list URI`",
        }
    }
}

impl Uri {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(UriError::Scheme(text.to_owned()));
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let export = text_of(path)?;
        if export.len() > EXPORT_MAX || export.contains('\0') {
            return Err(UriError::Name);
        }
        let given = Parameters::read(query)?;
        let (transport, is_secure) = match scheme {
            "nbd" => (Transport::Tcp, false),
            "nbds" => (Transport::Tcp, true),
            "nbd+unix" => (Transport::Unix, false),
            "nbds+unix" => (Transport::Unix, true),
            other => return Err(UriError::Scheme(other.to_owned())),
        };
        let address = match transport {
            // A user is known to pre-shared keys alone.
            _ if authority.contains('@') => return Err(UriError::PreSharedKey),
            Transport::Unix if !authority.is_empty() => {
                return Err(UriError::HostOfSocket(authority.to_owned()));
            }
            Transport::Unix => unix(given.socket)?,
            Transport::Tcp if given.socket.is_some() => {
                return Err(UriError::Parameter("socket".to_owned()));
            }
            Transport::Tcp => tcp(authority)?,
        };
        let security = given.security.of(&address, is_secure)?;
        Ok(Self {
            address,
            export,
            security,
        })
    }
}

/// What carries the bytes of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Tcp,
    Unix,
}

/// What stands behind the question mark.
#[derive(Debug, Default)]
struct Parameters {
    socket: Option<Vec<u8>>,
    security: secure::Wishes,
}

impl Parameters {
    fn read(query: &str) -> Result<Self, UriError> {
        let mut given = Self::default();
        for parameter in query.split('&').filter(|it| !it.is_empty()) {
            match parameter.split_once('=') {
                Some(("socket", path)) => given.socket = Some(decoded(path)?),
                Some((name, value)) if name.starts_with("tls-") => {
                    given.security.take(name, value)?;
                }
                _ => return Err(UriError::Parameter(parameter.to_owned())),
            }
        }
        Ok(given)
    }
}

fn unix(socket: Option<Vec<u8>>) -> Result<Address, UriError> {
    let path = socket.unwrap_or_default();
    let (is_abstract, path) = match path.split_first() {
        None => return Err(UriError::NoSocket),
        Some((0, name)) => (true, name.to_vec()),
        Some(_) => (false, path),
    };
    Ok(Address::Unix { path, is_abstract })
}

fn tcp(authority: &str) -> Result<Address, UriError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(literal) => literal.split_once(']').ok_or(UriError::NoHost)?,
        None => match authority.find(':') {
            Some(colon) => authority.split_at(colon),
            None => (authority, ""),
        },
    };
    if host.is_empty() {
        return Err(UriError::NoHost);
    }
    let port = match port {
        "" | ":" => DEFAULT_PORT,
        port => port
            .strip_prefix(':')
            .and_then(|port| port.parse().ok())
            .filter(|port| *port != 0)
            .ok_or_else(|| UriError::Port(port.trim_start_matches(':').to_owned()))?,
    };
    let host = text_of(host)?;
    Ok(Address::Tcp { host, port })
}

fn text_of(encoded: &str) -> Result<String, UriError> {
    String::from_utf8(decoded(encoded)?).map_err(|_| UriError::Encoding(encoded.to_owned()))
}

fn decoded(encoded: &str) -> Result<Vec<u8>, UriError> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = encoded.bytes();
    let mut out = Vec::with_capacity(encoded.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = bytes
            .next()
            .and_then(digit)
            .zip(bytes.next().and_then(digit));
        let (high, low) = digits.ok_or_else(|| UriError::Encoding(encoded.to_owned()))?;
        out.push((high * 16 + low) as u8);
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
