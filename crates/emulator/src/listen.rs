//! Sockets that clients come to.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// Where clients come, as the command line has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `fathom.sock` in this directory.
    Unix(PathBuf),
    /// This address.
    Tcp(String),
}

/// Name of the socket in its directory.
pub(crate) const SOCKET: &str = "fathom.sock";

/// Bytes of a socket's path: `sun_path` of unix(7) has 108, the last of them zero.
const PATH_MOST: usize = 107;

/// A place could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// What was asked for is no place.
    #[error(
        "`{0}` is no place to serve at\n  hint: say `unix:DIR` or `tcp:ADDRESS:PORT`, such as `unix:/tmp/disks` or `tcp:127.0.0.1:10809`"
    )]
    Unknown(String),
    /// The system does not give it.
    #[error("`{place}` cannot be served at: {source}\n  hint: name another place")]
    Io {
        /// The place.
        place: String,
        /// Why.
        source: io::Error,
    },
    /// The system has no room for its name.
    #[error(
        "`{0}` cannot be served at: the path of a socket has {PATH_MOST} bytes at most\n  hint: name a \
         directory with a shorter path"
    )]
    Long(PathBuf),
    /// Somebody answers there.
    #[error(
        "another server answers at `{0}`\n  hint: stop that one first, or name another directory"
    )]
    Busy(PathBuf),
    /// This server is there already.
    #[error("`unix:{0}` was asked for twice\n  hint: once is enough for all clients")]
    Twice(String),
    /// Something else has the name.
    #[error("`{0}` exists and is no socket\n  hint: move it away, or name another directory")]
    NoSocket(PathBuf),
    /// Anybody could reach it.
    #[error(
        "`{0}` can be reached from other machines, and whoever reaches it may read and write every volume\n  hint: serve \
         at 127.0.0.1, ask clients for certificates (`--tls-certificate`, `--tls-key` and `--tls-clients`, or \
         `--tls-certificates`), or say `--insecure`"
    )]
    Open(SocketAddr),
}

impl Place {
    pub fn parse(text: &str) -> Result<Self, ListenError> {
        match text.split_once(':') {
            Some(("unix", directory)) if !directory.is_empty() => Ok(Self::Unix(directory.into())),
            Some(("tcp", address)) if has_port(address) => Ok(Self::Tcp(address.to_owned())),
            _ => Err(ListenError::Unknown(text.to_owned())),
        }
    }
}

fn has_port(address: &str) -> bool {
    let port = address.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Which clients may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This machine's alone.
    Local,
    /// Everybody's.
    Anybody,
}

/// This process may have no more descriptors, so a client that waits cannot be let in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoDescriptor;

/// A socket that clients come to. One in the file system goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    /// How clients are told of an export there: with its name at the place of the brace.
    uri: String,
    /// The socket's file, with its device and inode.
    file: Option<(PathBuf, (u64, u64))>,
    /// The directory of that file, where it was made for it.
    made: Option<PathBuf>,
    is_tcp: bool,
    greeting: Greeting,
}

/// What is spoken at a socket first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// NBD.
    Plain,
    /// NBD, in which nothing but TLS may be asked for; then all of it in TLS.
    Tls,
}

impl Listener {
    /// A socket of its own; only TCP is ever greeted with TLS.
    pub fn new(place: &Place, reach: Reach, greeting: Greeting) -> Result<Self, ListenError> {
        match place {
            Place::Unix(directory) => Self::unix(directory),
            Place::Tcp(address) => Self::tcp(address, reach, greeting),
        }
    }

    fn unix(directory: &Path) -> Result<Self, ListenError> {
        let path = directory.join(SOCKET);
        let failed = |source| ListenError::Io {
            place: path.display().to_string(),
            source,
        };
        let is_missing = !directory.exists();
        if is_missing {
            std::fs::create_dir(directory).map_err(failed)?;
        }
        let directory = directory.canonicalize().map_err(failed)?;
        let made = is_missing.then(|| directory.clone());
        Self::in_directory(&directory, made.clone()).inspect_err(|_| {
            if let Some(directory) = made {
                let _ = std::fs::remove_dir(directory);
            }
        })
    }

    fn in_directory(directory: &Path, made: Option<PathBuf>) -> Result<Self, ListenError> {
        let path = directory.join(SOCKET);
        if path.as_os_str().len() > PATH_MOST {
            return Err(ListenError::Long(path));
        }
        let failed = |source| ListenError::Io {
            place: path.display().to_string(),
            source,
        };
        if let Ok(facts) = std::fs::symlink_metadata(&path) {
            if !facts.file_type().is_socket() {
                return Err(ListenError::NoSocket(path));
            }
            if UnixStream::connect(&path).is_ok() {
                return Err(ListenError::Busy(path));
            }
            // Of a server that was killed.
            std::fs::remove_file(&path).map_err(failed)?;
        }
        // Whoever may connect may write: the owner alone, until the owner says otherwise.
        let listener = bind_for_owner(&path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let facts = std::fs::symlink_metadata(&path).map_err(failed)?;
        Ok(Self {
            uri: format!(
                "nbd+unix:///{{}}?socket={}",
                encoded(path.as_os_str().as_bytes())
            ),
            socket: listener.into(),
            file: Some((path, (facts.dev(), facts.ino()))),
            made,
            is_tcp: false,
            greeting: Greeting::Plain,
        })
    }

    fn tcp(text: &str, reach: Reach, greeting: Greeting) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Io {
            place: format!("tcp:{text}"),
            source,
        };
        let mut addresses = text.to_socket_addrs().map_err(failed)?;
        let address = addresses.next();
        let address = address.ok_or_else(|| ListenError::Unknown(format!("tcp:{text}")))?;
        if reach == Reach::Local && !address.ip().is_loopback() {
            return Err(ListenError::Open(address));
        }
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let scheme = match greeting {
            Greeting::Plain => "nbd",
            Greeting::Tls => "nbds",
        };
        Ok(Self {
            socket: listener.into(),
            uri: format!("{scheme}://{address}/{{}}"),
            file: None,
            made: None,
            is_tcp: true,
            greeting,
        })
    }

    /// A socket that whoever started this program has opened.
    pub fn inherited(socket: OwnedFd, greeting: Greeting) -> Result<Self, ListenError> {
        let failed = |source: Errno| ListenError::Io {
            place: "the inherited socket".to_owned(),
            source: source.into(),
        };
        let domain = rustix::net::sockopt::socket_domain(&socket).map_err(failed)?;
        rustix::io::ioctl_fionbio(&socket, true).map_err(failed)?;
        let is_tcp = domain != AddressFamily::UNIX;
        Ok(Self {
            socket,
            uri: "export `{}` at the inherited socket".to_owned(),
            file: None,
            made: None,
            is_tcp,
            greeting: if is_tcp { greeting } else { Greeting::Plain },
        })
    }

    /// What is spoken there first.
    pub fn greeting(&self) -> Greeting {
        self.greeting
    }

    /// Where an export is found.
    pub fn uri(&self, export: &str) -> String {
        if self.uri.contains("://") {
            self.uri.replace("{}", &encoded(export.as_bytes()))
        } else {
            self.uri.replace("{}", export)
        }
    }

    /// The next client that waits, if any does.
    pub fn accept(&self) -> Result<Option<OwnedFd>, NoDescriptor> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let client = match rustix::net::accept_with(&self.socket, flags) {
            Ok(client) => client,
            Err(Errno::MFILE | Errno::NFILE) => return Err(NoDescriptor),
            Err(_) => return Ok(None),
        };
        if self.is_tcp {
            // Without it answers are late, and nothing else is wrong.
            let _ = rustix::net::sockopt::set_tcp_nodelay(&client, true);
        }
        Ok(Some(client))
    }
}

/// A socket at `path` that its owner alone may connect to, from its first moment on: `bind` gives the file the mode that the
/// socket has by then, less the umask.
pub(crate) fn bind_for_owner(path: &Path) -> io::Result<UnixListener> {
    /// As the standard library asks for: as many as the system allows.
    const WAITING: i32 = -1;
    let owner = Mode::RUSR | Mode::WUSR;
    let family = AddressFamily::UNIX;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::fs::fchmod(&socket, owner)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    let listens = rustix::net::listen(&socket, WAITING);
    listens.inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })?;
    Ok(socket.into())
}

/// Text as a URI has it: what is no letter, digit, slash or one of `-._~` by its bytes in hexadecimal (RFC 3986, section 2).
fn encoded(text: &[u8]) -> String {
    let mut encoded = String::new();
    for byte in text {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

impl AsFd for Listener {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some((path, identity)) = &self.file else {
            return;
        };
        // Another server may have taken the name meanwhile.
        let facts = std::fs::symlink_metadata(path);
        if facts.is_ok_and(|facts| (facts.dev(), facts.ino()) == *identity) {
            let _ = std::fs::remove_file(path);
        }
        if let Some(directory) = &self.made {
            // Of no use without the socket. One that others have put something into stays.
            let _ = std::fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn listen(place: &str, reach: Reach) -> Result<Listener, ListenError> {
        Listener::new(&Place::parse(place)?, reach, Greeting::Tls)
    }

    #[test]
    fn places_are_directories_and_addresses_with_a_port() {
        let tcp = |address: &str| Some(Place::Tcp(address.to_owned()));
        for (text, expected) in [
            ("unix:/a:b", Some(Place::Unix("/a:b".into()))),
            ("tcp:[::1]:0", tcp("[::1]:0")),
            ("tcp:host:65535", tcp("host:65535")),
            ("tcp:host:65536", None),
            ("tcp:host", None),
            ("unix:", None),
            ("/a", None),
        ] {
            assert_eq!(Place::parse(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_socket_is_its_owners_and_goes_with_the_directory_made_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("a b");
        let place = format!("unix:{}", directory.display());
        let listener = listen(&place, Reach::Local).unwrap();
        let socket = directory.join(SOCKET);
        let facts = std::fs::symlink_metadata(&socket).unwrap();
        assert_eq!(facts.permissions().mode() & 0o777, 0o600);
        // TLS is for TCP alone.
        assert_eq!(listener.greeting(), Greeting::Plain);
        let uri = listener.uri("ü/%");
        assert!(uri.starts_with("nbd+unix:///%C3%BC/%25?socket=/"), "{uri}");
        assert!(uri.ends_with("/a%20b/fathom.sock"), "{uri}");
        assert!(listener.accept().unwrap().is_none());
        let client = UnixStream::connect(&socket).unwrap();
        assert!(listener.accept().unwrap().is_some());
        drop(client);
        assert!(matches!(
            listen(&place, Reach::Local),
            Err(ListenError::Busy(_))
        ));
        drop(listener);
        assert!(!directory.exists());
    }

    /// Nothing restricts it later: this is the mode that it was made with.
    #[test]
    fn a_socket_is_its_owners_from_its_first_moment() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| {
            let facts = std::fs::symlink_metadata(path).unwrap();
            assert!(facts.file_type().is_socket());
            facts.permissions().mode() & 0o777
        };
        let (own, plain) = (folder.path().join("own"), folder.path().join("plain"));
        let listener = bind_for_owner(&own).unwrap();
        assert_eq!(mode(&own), 0o600);
        // Others have what the umask leaves, which is more.
        let _plain = UnixListener::bind(&plain).unwrap();
        assert_ne!(mode(&plain), 0o600);
        let client = UnixStream::connect(&own).unwrap();
        listener.accept().unwrap();
        drop(client);
        let again = bind_for_owner(&own).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn what_others_put_in_the_place_of_a_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = format!("unix:{}", folder.path().display());
        let socket = folder.path().join(SOCKET);
        // A dead one gives way.
        drop(UnixListener::bind(&socket).unwrap());
        let listener = listen(&place, Reach::Local).unwrap();
        std::fs::remove_file(&socket).unwrap();
        std::fs::write(&socket, "another's").unwrap();
        drop(listener);
        assert!(socket.exists());
        assert!(matches!(
            listen(&place, Reach::Local),
            Err(ListenError::NoSocket(_))
        ));
    }

    #[test]
    fn addresses_that_others_reach_are_for_who_asks() {
        assert!(matches!(
            listen("tcp:0.0.0.0:0", Reach::Local),
            Err(ListenError::Open(_))
        ));
        assert!(listen("tcp:0.0.0.0:0", Reach::Anybody).is_ok());
        let listener = listen("tcp:127.0.0.1:0", Reach::Local).unwrap();
        assert_eq!(listener.greeting(), Greeting::Tls);
        let uri = listener.uri("d");
        assert!(uri.starts_with("nbds://127.0.0.1:"), "{uri}");
    }

    #[test]
    fn a_path_is_as_long_as_a_socket_has_room_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let room = PATH_MOST - root.as_os_str().len() - SOCKET.len() - 2;
        for (length, fits) in [(room, true), (room + 1, false)] {
            let directory = root.join("d".repeat(length));
            let came = listen(&format!("unix:{}", directory.display()), Reach::Local);
            assert_eq!(came.is_ok(), fits, "{came:?}");
            // What was made for nothing is gone.
            assert_eq!(directory.exists(), fits);
        }
    }
}
