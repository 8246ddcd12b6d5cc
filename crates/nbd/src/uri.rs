//! URIs of exports, as `doc/uri.md` of NetworkBlockDevice/nbd has them.
//!
//! `nbd://HOST:PORT/EXPORT` and `nbd+unix:///EXPORT?socket=PATH`; what is encoded with `%` is decoded. TLS is not spoken, and
//! said so.

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
    /// It asks for TLS.
    #[error("it asks for TLS, which is not spoken to exports")]
    Tls,
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
            Self::Tls => {
                "use `nbd://` or `nbd+unix://` on a server without TLS, or let a local client of it \
                 (`nbd-client`, `qemu-nbd --connect`) make a block device of the export, and name that"
            }
            Self::NoSocket | Self::HostOfSocket(_) => {
                "name it so: `nbd+unix:///EXPORT?socket=/path/of/socket`"
            }
            Self::Scheme(_) | Self::NoHost | Self::Port(_) => {
                "name it so: `nbd://HOST:PORT/EXPORT`, or `nbd+unix:///EXPORT?socket=/path/of/socket`"
            }
            Self::Parameter(_) => "leave it out; `socket` is the only one, of `nbd+unix://`",
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
        let socket = socket_of(query)?;
        let address = match scheme {
            "nbd" => match socket {
                Some(_) => return Err(UriError::Parameter("socket".to_owned())),
                None => tcp(authority)?,
            },
            "nbd+unix" if !authority.is_empty() => {
                return Err(UriError::HostOfSocket(authority.to_owned()));
            }
            "nbd+unix" => unix(socket)?,
            "nbds" | "nbds+unix" => return Err(UriError::Tls),
            other => return Err(UriError::Scheme(other.to_owned())),
        };
        Ok(Self { address, export })
    }
}

/// The value of `socket` among the parameters of a URI.
fn socket_of(query: &str) -> Result<Option<Vec<u8>>, UriError> {
    let mut socket = None;
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        match parameter.split_once('=') {
            Some(("socket", path)) => socket = Some(decoded(path)?),
            Some((name, _)) if name.starts_with("tls-") => return Err(UriError::Tls),
            _ => return Err(UriError::Parameter(parameter.to_owned())),
        }
    }
    Ok(socket)
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
    // A user is known to TLS alone.
    if authority.contains('@') {
        return Err(UriError::Tls);
    }
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
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, address: &str, export: &str) {
        let uri = Uri::parse(text).unwrap();
        assert_eq!(
            (uri.address.to_string().as_str(), uri.export.as_str()),
            (address, export)
        );
    }

    #[test]
    fn exports_are_named_by_uris() {
        check("nbd://example.com/disk", "example.com:10809", "disk");
        check("nbd://example.com", "example.com:10809", "");
        check("nbd://example.com:/", "example.com:10809", "");
        check("nbd://example.com:99//disk", "example.com:99", "/disk");
        check("nbd://[::1]:99/a%20b", "[::1]:99", "a b");
        check("nbd://[::1]", "[::1]:10809", "");
        check("nbd+unix:///disk?socket=nbd.sock", "nbd.sock", "disk");
        check("nbd+unix://?socket=/a%20b", "/a b", "");
        check("nbd+unix:///?socket=%00/name", "@/name", "");
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = Uri::parse(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!error.remedy().is_empty());
    }

    #[test]
    fn what_is_no_uri_of_an_export_is_refused() {
        refused("/dev/nbd0", "`/dev/nbd0` is no scheme of NBD");
        refused("ftp://a/b", "`ftp` is no scheme of NBD");
        refused(
            "nbds://a/b",
            "it asks for TLS, which is not spoken to exports",
        );
        refused(
            "nbds+unix:///b?socket=a",
            "it asks for TLS, which is not spoken to exports",
        );
        refused(
            "nbd://user@a/b",
            "it asks for TLS, which is not spoken to exports",
        );
        refused(
            "nbd://a?tls-type=psk",
            "it asks for TLS, which is not spoken to exports",
        );
        refused("nbd+unix:///b", "it names no socket");
        refused("nbd+unix:///b?socket=", "it names no socket");
        refused(
            "nbd+unix://a/b?socket=c",
            "it names a host (`a`) beside a Unix socket",
        );
        refused("nbd:///b", "it names no host");
        refused("nbd://[::1/b", "it names no host");
        refused("nbd://a:0/b", "`0` is no port");
        refused("nbd://a:70000/b", "`70000` is no port");
        refused("nbd://[::1]99/b", "`99` is no port");
        refused(
            "nbd://a/b?socket=c",
            "nothing is known of its parameter `socket`",
        );
        refused("nbd://a/b?c=d", "nothing is known of its parameter `c=d`");
        refused("nbd://a/%2", "`%2` is not encoded rightly");
        refused("nbd://a/%ff", "`%ff` is not encoded rightly");
        let name = "no export has a name with a zero byte, or of over 4,096 bytes";
        refused("nbd://a/b%00", name);
        refused(&format!("nbd://a/{}", "b".repeat(4097)), name);
    }
}
