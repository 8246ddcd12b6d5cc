//! Whether the program was started without a standard output.
//!
//! Before `main` the standard library opens `/dev/null` in place of a standard stream that is closed, so that a file opened
//! later does not take its number. What is printed would be lost in silence: only who looks earlier can tell.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the C library as the program is loaded, before the standard library sees to the streams.
// SAFETY: functions in this section are called once each and with one thread; this one takes none of the arguments that are
// passed, and uses nothing of the standard library that is to be set up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: takes numbers alone.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags < 0, Ordering::Relaxed);
}

/// An error where the program was started with its standard output closed (`>&-`).
///
/// # Errors
/// That it is closed.
pub fn stdout_is_open() -> io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    Ok(())
}
