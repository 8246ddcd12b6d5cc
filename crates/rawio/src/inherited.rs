//! Sockets that whoever started this program has opened for it (`LISTEN_FDS`, as systemd and libnbd pass them).

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of the first.
const FIRST: RawFd = 3;
/// More than anybody passes.
const MOST: RawFd = 64;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The sockets that were passed to this very process. They can be had once; later calls give none.
pub fn inherited_sockets() -> Vec<OwnedFd> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<RawFd>().ok();
    let process = number("LISTEN_PID");
    let count = number("LISTEN_FDS").unwrap_or(0).clamp(0, MOST);
    let ours = process == Some(std::process::id().cast_signed());
    if !ours || TAKEN.swap(true, Ordering::Relaxed) {
        return Vec::new();
    }
    let numbers = FIRST..FIRST + count;
    let sockets = numbers.filter(|number| close_on_exec(*number));
    // SAFETY: the descriptor is open, and by the protocol it belongs to this process, where nobody else uses it: they are
    // handed out once.
    let owned = sockets.map(|number| unsafe { OwnedFd::from_raw_fd(number) });
    owned.collect()
}

/// Keeps a descriptor from programs that this one starts; whether there is such a descriptor.
fn close_on_exec(number: RawFd) -> bool {
    // SAFETY: takes numbers alone.
    unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) == 0 }
}
