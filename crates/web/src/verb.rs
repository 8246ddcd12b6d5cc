//! The verb: from arguments to a server, until it is told to stop.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use fathom_rawio::is_ignored;
use fathom_session::{Code, Console, Failure, store_failure, user_store};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::access::Access;
use crate::args::UiArgs;
use crate::door;
use crate::shelf::Shelf;
use crate::site::Site;
use crate::workers::Workers;

/// Serves the pages until an interrupt.
///
/// # Errors
/// There is no store, or the address cannot be served at.
pub fn run(args: &UiArgs, console: &dyn Console) -> Result<Code, Failure> {
    let unexpected = |error: io::Error| Failure::new(Code::Unexpected, error);
    let store = user_store()?;
    store.runs().map_err(|error| store_failure(&error))?;
    let (stop, bell) = UnixStream::pair().map_err(unexpected)?;
    listen_to_signals(&bell).map_err(unexpected)?;
    let asked = SocketAddr::new(args.listen, args.port);
    let listener = TcpListener::bind(asked).map_err(|error| unusable(asked, &error))?;
    let address = listener.local_addr().map_err(unexpected)?;
    let access = Access::new(address).map_err(unexpected)?;
    let link = access.link();
    let folder = store.folder().display().to_string();
    let site = Arc::new(Site {
        access,
        shelf: Shelf::new(store),
    });
    let workers = Workers::start(&site).map_err(unexpected)?;
    console.print(&format!("{link}\n"));
    console.tell(&format!(
        "the runs in `{folder}`, until Ctrl-C: open the address in a browser"
    ));
    if !address.ip().is_loopback() {
        console.tell(&format!(
            "warning: other machines can come to port {} of this one, and what is sent can be read on the way: whoever has \
             the address, or sees its token there, can read every stored run\n  hint: without `--listen`, and with `ssh -L`, \
             it stays on this machine",
            address.port()
        ));
    }
    door::serve(&listener, &stop, &workers).map_err(unexpected)?;
    Ok(Code::Success)
}

/// Has the first interrupt ring the bell, and the closing of the terminal, unless whoever started it wants it to outlive that.
fn listen_to_signals(bell: &UnixStream) -> io::Result<()> {
    let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(closed) {
        signal_hook::low_level::pipe::register(signal, bell.try_clone()?)?;
    }
    Ok(())
}

fn unusable(asked: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "something else serves there: name another `--port`, or leave it out for one that is free"
        }
        io::ErrorKind::AddrNotAvailable => {
            "`--listen` takes an address that this machine has: `ip address` lists them"
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 are for root: name a higher one",
        _ => "name another `--listen` or `--port`",
    };
    let message = format!("`{asked}` cannot be served at: {error}");
    Failure::new(Code::Target, message).hint(hint)
}
