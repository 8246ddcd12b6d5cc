//! What whoever started this program has done about its signals, and the one that the C library names alone.

/// Comes where a write goes beyond what `ulimit -f` allows, and ends whoever does not handle it; then the write fails instead,
/// with `EFBIG`.
pub const FILE_SIZE_SIGNAL: i32 = libc::SIGXFSZ;

/// Whether a signal is ignored, as `nohup` does with that of a terminal which is closed.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set where the new action is null, and the present one is written to `action`, which has its size.
    let told = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bytes of `action` are zeroes or what the kernel wrote, of which either is a valid one.
    told == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_known() {
        // Rust's own start ignores the one of broken pipes, and nobody that of a user.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGUSR2));
        assert!(!is_ignored(-1));
    }
}
