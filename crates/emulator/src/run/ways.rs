//! How clients and orders come to a server, a fault script among them, and what ends serving.

use std::os::unix::net::UnixStream;
use std::path::Path;

use fathom_fuse::Tree;
use fathom_model::Storage;
use fathom_rawio::{FILE_SIZE_SIGNAL, inherited_sockets, is_ignored};
use fathom_session::{Code, Console, Failure, unread};
use fathom_units::Bytes;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::ServeArgs;
use crate::control::{Control, no_usual_place, usual_place};
use crate::exports::ExportTable;
use crate::listen::{Greeting, ListenError, Listener, Place, Reach};
use crate::mount::Mount;
use crate::script::{self, Fault};
use crate::server::Files;
use crate::tls::{Clients, Tls, TlsError};

/// What ends serving.
pub(super) struct Stops {
    /// Readable after the first SIGINT or SIGTERM, or where the terminal was closed, and its other side.
    pub(super) signals: UnixStream,
    pub(super) bell: UnixStream,
    /// Readable after block devices were given up, and its other side.
    pub(super) stop: UnixStream,
    pub(super) ended: UnixStream,
}

impl Stops {
    pub(super) fn new() -> std::io::Result<Self> {
        let (signals, bell) = UnixStream::pair()?;
        // Who wants it to outlive its terminal has said so.
        let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(closed) {
            signal_hook::low_level::pipe::register(signal, bell.try_clone()?)?;
        }
        // What goes beyond the limit of a file's size is told to whoever wrote it.
        signal_hook::flag::register(FILE_SIZE_SIGNAL, std::sync::Arc::default())?;
        let (stop, ended) = UnixStream::pair()?;
        Ok(Self {
            signals,
            bell,
            stop,
            ended,
        })
    }
}

/// The fault script, where there is one.
pub(super) fn faults(
    args: &ServeArgs,
    exports: &ExportTable,
    storage: &Storage,
) -> Result<Vec<Fault>, Failure> {
    match &args.faults {
        None => Ok(Vec::new()),
        Some(path) => script::read(path, args.seed, exports, storage),
    }
}

/// A way for orders, at the place asked for or the usual one.
pub(super) fn control(args: &ServeArgs, console: &dyn Console) -> Result<Control, Failure> {
    let mut control = Control::new().map_err(|error| Failure::new(Code::Unexpected, error))?;
    let Some(place) = args.control.clone().or_else(usual_place) else {
        if let Some(why) = no_usual_place().filter(|_| !args.quiet) {
            console.tell(&format!(
                "orders: none can come, for {why}; `--control SOCKET` makes a socket for them"
            ));
        }
        return Ok(control);
    };
    let opened = control.listen(&place);
    opened.map_err(|error| {
        let message = format!(
            "the control socket `{}` cannot be made: {error}",
            place.display()
        );
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another server answers there: stop it, or name another socket with `--control`"
            }
            std::io::ErrorKind::AlreadyExists => {
                "something that is no socket has that name: move it away, or name another with `--control`"
            }
            _ => "name another with `--control`",
        };
        Failure::new(Code::Target, message).hint(hint)
    })?;
    if let Some(place) = control.path().filter(|_| !args.quiet) {
        console.tell(&format!(
            "orders: fathom ctl --control {} …",
            place.display()
        ));
    }
    Ok(control)
}

/// The volumes as files, where they are to be shown as such.
pub(super) fn files(
    args: &ServeArgs,
    exports: &ExportTable,
    started_unix_ns: u64,
) -> Result<Option<Files>, Failure> {
    let Some(folder) = &args.fuse else {
        return Ok(None);
    };
    let names = exports.exports.iter();
    let names = names.map(|export| (export.name.as_str(), export.size));
    let owner = (rustix::process::getuid(), rustix::process::getgid());
    let owner = (owner.0.as_raw(), owner.1.as_raw());
    let tree = Tree::new(names, started_unix_ns, owner);
    let tree = tree.map_err(|error| {
        Failure::new(Code::Input, error)
            .hint("give the volume another name, or serve over NBD alone")
    })?;
    let mount = Mount::new(folder).map_err(|error| Failure::new(Code::Target, error))?;
    Ok(Some(Files::new(mount, tree)))
}

pub(super) fn listeners(args: &ServeArgs, tls: Option<&Tls>) -> Result<Vec<Listener>, Failure> {
    let reach = match tls.map(Tls::clients) {
        Some(Clients::Certified) => Reach::Anybody,
        _ if args.insecure => Reach::Anybody,
        _ => Reach::Local,
    };
    let greeting = match tls {
        Some(_) => Greeting::Tls,
        None => Greeting::Plain,
    };
    let usage = |error: &dyn std::fmt::Display| Failure::new(Code::Usage, error);
    let places = args.nbd.iter().map(|place| Place::parse(place));
    let places: Vec<Place> = places
        .collect::<Result<_, _>>()
        .map_err(|error| usage(&error))?;
    let mut listeners = Vec::new();
    for (index, place) in places.iter().enumerate() {
        if let Place::Unix(directory) = place
            && places[..index].contains(place)
        {
            return Err(usage(&ListenError::Twice(directory.display().to_string())));
        }
        let listener = Listener::new(place, reach, greeting);
        listeners.push(listener.map_err(|error| match error {
            ListenError::Open(_) => Failure::new(Code::Refused, error),
            _ => Failure::new(Code::Target, error),
        })?);
    }
    for socket in inherited_sockets() {
        let listener = Listener::inherited(socket, greeting);
        listeners.push(listener.map_err(|error| Failure::new(Code::Target, error))?);
    }
    if listeners.is_empty() && args.fuse.is_none() {
        let message = "nothing says where clients come";
        return Err(Failure::new(Code::Usage, message).hint(
            "name a directory for the socket, `--nbd unix:/tmp/disks`, or for files, `--fuse /mnt/disks`",
        ));
    }
    if tls.is_some()
        && listeners
            .iter()
            .all(|one| one.greeting() == Greeting::Plain)
    {
        let message = "TLS is spoken over TCP, and no client comes that way";
        return Err(Failure::new(Code::Usage, message)
            .hint("add `--nbd tcp:ADDRESS:PORT`, or leave the certificates out"));
    }
    Ok(listeners)
}

/// How TLS is spoken, where it is.
pub(super) fn tls(args: &ServeArgs) -> Result<Option<Tls>, Failure> {
    Tls::new(&args.tls).map_err(|errors| {
        let told = errors.iter().map(|error| match error {
            TlsError::Read { path, source } => unread("", path, source),
            other => Failure::new(Code::Input, other),
        });
        let told: Vec<String> = told.map(|failure| failure.message).collect();
        Failure {
            code: Code::Input,
            message: told.join("\n"),
        }
    })
}

/// Says where each export is found.
pub(super) fn announce(
    args: &ServeArgs,
    exports: &ExportTable,
    listeners: &[Listener],
    console: &dyn Console,
) {
    if args.quiet {
        return;
    }
    let folder = args.fuse.as_deref().map(Path::display);
    for export in &exports.exports {
        let size = Bytes::new(export.size);
        for listener in listeners {
            console.tell(&format!("serving {} ({size})", listener.uri(&export.name)));
        }
        if let Some(folder) = &folder {
            console.tell(&format!("serving {folder}/{} ({size})", export.name));
        }
    }
}
