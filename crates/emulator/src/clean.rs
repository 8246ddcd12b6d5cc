//! `fathom serve --clean`: what servers that were killed have left.
//!
//! Bytes are never touched: a mount whose server is gone has none, and loop devices of its files answer nothing. Of loop
//! devices whose mount somebody has removed nothing says whose they were: they are told of, and left.

use fathom_session::{Code, Console, Failure};

use crate::{attach, control, mount};

/// Detaches loop devices of dead mounts, removes those mounts, and sockets for orders that nobody hears; says which, and what
/// may be left beside them.
///
/// # Errors
///
/// What could not be removed.
pub(crate) fn clean(console: &dyn Console) -> Result<Code, Failure> {
    let failed = |what: String, error: std::io::Error| {
        Failure::new(Code::Target, format!("{what}: {error}")).hint("run it as root")
    };
    let stale = mount::stale();
    let stale = stale.map_err(|error| failed("mounts cannot be listed".to_owned(), error))?;
    for folder in &stale {
        let name = folder.display();
        let loops = attach::below(folder);
        let loops =
            loops.map_err(|error| failed("loop devices cannot be listed".to_owned(), error))?;
        for device in loops {
            attach::detach(&device)
                .map_err(|error| failed(format!("{device} cannot be detached"), error))?;
            console.tell(&format!("detached {device}"));
        }
        mount::remove(folder)
            .map_err(|error| failed(format!("`{name}` cannot be unmounted"), error))?;
        console.tell(&format!("unmounted {name}"));
    }
    let dead = attach::dead().unwrap_or_default();
    for (device, file) in &dead {
        console.tell(&format!(
            "note: the file `{file}` of {device} answers nothing: if a killed server showed it, in a mount that was removed \
             since, `losetup -d {device}` frees the device"
        ));
    }
    let sockets = control::left();
    for socket in &sockets {
        let name = socket.display();
        std::fs::remove_file(socket)
            .map_err(|error| failed(format!("`{name}` cannot be removed"), error))?;
        console.tell(&format!("removed {name}"));
    }
    if stale.is_empty() && dead.is_empty() && sockets.is_empty() {
        console.tell("nothing was left behind");
    }
    Ok(Code::Success)
}
