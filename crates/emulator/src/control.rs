//! The control socket: orders from `fathom ctl`, and replies.
//!
//! One connection, one order: a line of JSON with its words, answered by a line of JSON, `{"ok": …, "text": …}`. The socket
//! lies where only its user comes. Threads take orders in; the server carries them out between two I/Os.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use rustix::event::EventfdFlags;
use serde_json::{Value, json};

use crate::listen::bind_for_owner;
use crate::order::Order;

/// The longest order.
const ORDER_MOST: u64 = 64 << 10;
/// How long a client may take to say its order.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most clients that are heard at once.
const CLIENTS_MOST: usize = 64;
/// How long is waited where no client can be taken in.
const PAUSE: Duration = Duration::from_millis(100);
/// How sockets of servers begin, in the user's folder for such things.
const PREFIX: &str = "fathom-serve-";

/// What came of an order: what was done, or why not.
pub(crate) type Reply = Result<String, String>;

/// An order, and where its reply goes.
type Asked = (Order, SyncSender<Reply>);

/// A way for orders to the server. Its socket is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    orders: Receiver<Asked>,
    asks: Sender<Asked>,
    bell: Arc<OwnedFd>,
    path: Option<PathBuf>,
}

/// A place from which orders come, in another thread.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    asks: Sender<Asked>,
    bell: Arc<OwnedFd>,
    /// Counts those that are heard.
    heard: Arc<()>,
}

impl Control {
    /// A way without a socket.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(rustix::event::eventfd(0, flags)?);
        let (asks, orders) = channel();
        Ok(Self {
            orders,
            asks,
            bell,
            path: None,
        })
    }

    /// Opens a socket at `path`, which its user alone can use.
    pub fn listen(&mut self, path: &Path) -> io::Result<()> {
        if UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        // A server that was killed has left it.
        match fs::symlink_metadata(path) {
            Ok(found) if std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()) => {
                fs::remove_file(path)?;
            }
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => {}
        }
        let listener = bind_for_owner(path)?;
        self.path = Some(path.to_owned());
        let orders = self.orders();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                match client {
                    Ok(client) => orders.take(client),
                    // There is no descriptor for it: it waits.
                    Err(_) => std::thread::park_timeout(PAUSE),
                }
            }
        });
        Ok(())
    }

    /// Where its orders come from.
    pub fn orders(&self) -> Orders {
        Orders {
            asks: self.asks.clone(),
            bell: Arc::clone(&self.bell),
            heard: Arc::new(()),
        }
    }

    /// Its socket.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Readable while there are orders.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell, before the orders are taken.
    pub fn heard(&self) {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
    }

    /// The next order.
    pub fn next(&self) -> Option<Asked> {
        self.orders.try_recv().ok()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

impl Orders {
    /// Has an order carried out.
    pub fn give(&self, order: Order) -> Reply {
        let (reply, come) = sync_channel(1);
        let ended = || "the server has ended".to_owned();
        self.asks.send((order, reply)).map_err(|_| ended())?;
        let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
        come.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Hears one client in a thread of its own: whoever says nothing keeps nobody waiting. One too many is not heard.
    fn take(&self, client: UnixStream) {
        let orders = self.clone();
        if Arc::strong_count(&self.heard) <= CLIENTS_MOST {
            let thread = std::thread::Builder::new().name("order".to_owned());
            // Without a thread it is not heard either.
            let _ = thread.spawn(move || orders.serve(&client));
        }
    }

    /// Takes the order of one client, and replies. A client that breaks off is no loss.
    fn serve(&self, client: &UnixStream) {
        let reply = match read_order(client) {
            Ok(order) => self.give(order),
            Err(why) => Err(why),
        };
        let reply = match reply {
            Ok(text) => json!({ "ok": true, "text": text }),
            Err(text) => json!({ "ok": false, "text": text }),
        };
        let mut client = client;
        let _ = writeln!(client, "{reply}");
    }
}

fn read_order(client: &UnixStream) -> Result<Order, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the order cannot be read: {error}");
    client
        .set_read_timeout(Some(PATIENCE))
        .map_err(|error| failed(&error))?;
    let mut line = String::new();
    BufReader::new(client.take(ORDER_MOST))
        .read_line(&mut line)
        .map_err(|error| failed(&error))?;
    let words: Vec<String> = serde_json::from_str(&line).map_err(|error| failed(&error))?;
    Order::parse(&words).map_err(|error| error.to_string())
}

/// Sends an order to a server, and gives its reply.
///
/// # Errors
/// Where there is no server, or it breaks off.
pub(crate) fn send(socket: &Path, words: &[String]) -> io::Result<Reply> {
    let mut server = UnixStream::connect(socket)?;
    writeln!(server, "{}", json!(words))?;
    let mut line = String::new();
    BufReader::new(&server).read_line(&mut line)?;
    let reply: Value = serde_json::from_str(&line)?;
    let text = reply["text"].as_str().unwrap_or_default().to_owned();
    Ok(if reply["ok"] == true {
        Ok(text)
    } else {
        Err(text)
    })
}

/// Where a server of this process has its socket, unless it is told otherwise; `None`: there is no folder for such.
pub(crate) fn usual_place() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR")?;
    let name = format!("{PREFIX}{}.sock", std::process::id());
    let folder = PathBuf::from(folder);
    folder.is_dir().then(|| folder.join(name))
}

/// Why there is no such folder, if there is none.
pub(crate) fn no_usual_place() -> Option<&'static str> {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        None => Some("`XDG_RUNTIME_DIR` is not set"),
        Some(folder) if !Path::new(&folder).is_dir() => Some("`XDG_RUNTIME_DIR` names no folder"),
        Some(_) => None,
    }
}

/// Sockets of servers of this user that answer.
pub(crate) fn running() -> Vec<PathBuf> {
    let mut paths = sockets();
    paths.retain(|path| UnixStream::connect(path).is_ok());
    paths
}

/// Sockets of servers of this user that were killed: nobody listens, and the process is gone.
pub(crate) fn left() -> Vec<PathBuf> {
    let mut paths = sockets();
    paths.retain(|path| {
        let is_refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        let refused = UnixStream::connect(path).is_err_and(is_refused);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let process = name
            .strip_prefix(PREFIX)
            .map(|id| Path::new("/proc").join(id));
        refused && process.is_some_and(|process| !process.exists())
    });
    paths
}

/// What has the name of such a socket, in order.
fn sockets() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("XDG_RUNTIME_DIR") else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let mut paths: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
