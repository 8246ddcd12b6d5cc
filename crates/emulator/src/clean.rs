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
    let mut told = Vec::new();
    for folder in &stale {
        let name = folder.display();
        let loops = attach::below(folder);
        let loops =
            loops.map_err(|error| failed("loop devices cannot be listed".to_owned(), error))?;
        for device in loops {
            attach::detach(&device)
                .map_err(|error| failed(format!("{device} cannot be detached"), error))?;
            console.tell(&detached(&device));
            told.push(device);
        }
        mount::remove(folder)
            .map_err(|error| failed(format!("`{name}` cannot be unmounted"), error))?;
        console.tell(&format!("unmounted {name}"));
    }
    let dead = attach::dead(&told).unwrap_or_default();
    for (device, file) in &dead {
        console.tell(&format!(
            "note: the file `{file}` of {device} answers nothing: if a killed server showed it, in a mount that was removed \
             since, {} the device",
            freeing(device)
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

/// What is told of a device that has been detached: one that is mounted is there until it is not.
fn detached(device: &str) -> String {
    let places = attach::mounted(&[device]);
    if places.is_empty() {
        return format!("detached {device}");
    }
    let commands = unmounting(&places);
    format!("detached {device}, which is still mounted: it is gone after {commands}")
}

/// What frees a device whose file answers nothing.
fn freeing(device: &str) -> String {
    let places = attach::mounted(&[device]);
    let detach = format!("`losetup -d {device}`");
    match (places.is_empty(), attach::goes_by_itself(device)) {
        (true, _) => format!("{detach} frees"),
        (false, true) => format!("{} frees", unmounting(&places)),
        (false, false) => format!("{} and {detach} free", unmounting(&places)),
    }
}

/// Commands that unmount what is mounted of a device.
fn unmounting(places: &[(String, String)]) -> String {
    let commands = places.iter().map(|(_, place)| format!("`umount {place}`"));
    commands.collect::<Vec<_>>().join(" and ")
}
