//! The one flag that ends a run early, and what a second signal still cleans up.
//!
//! The first SIGINT or SIGTERM stops issuing, drains and summarises; the second removes the temporary files that have a
//! name and leaves at once. A terminal that is closed (SIGHUP) is a first one however often it is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_rawio::{Clock, FILE_SIZE_SIGNAL, is_ignored};
use fathom_units::Nanos;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

/// Exit code of a program that a user's interrupt ended: 128 + SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// How soon after a SIGTERM another one is the same one told again: `timeout` sends one to its command and another to the
/// group that it is of, so that a run which it ends at its time would lose its record now and then.
const TOLD_AGAIN: Nanos = Nanos::from_millis(100);

/// Whether `signal`, which came at `now`, is the `last` one told again. Somebody who presses Ctrl-C twice means it.
fn is_told_again(last: Option<(i32, Nanos)>, signal: i32, now: Nanos) -> bool {
    let same = last.filter(|(last, _)| signal == SIGTERM && *last == signal);
    same.is_some_and(|(_, at)| now.saturating_sub(at) < TOLD_AGAIN)
}

/// Asks a run to end. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requested: AtomicBool,
    /// The signal that raised it; 0: none did.
    signal: AtomicI32,
    /// Whether SIGUSR1 asked for what was measured so far.
    snapshot: AtomicBool,
    /// Whether the present stage is to end.
    stage: AtomicBool,
    /// Stages that are not to begin.
    skipped: AtomicUsize,
    temporary: Mutex<Vec<PathBuf>>,
}

impl StopFlag {
    /// A flag that nobody has raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises it.
    pub fn request(&self) {
        self.shared.requested.store(true, Ordering::Relaxed);
    }

    /// Whether it is raised.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::Relaxed)
    }

    /// Raises the flag at the first SIGINT or SIGTERM; at the second removes the run's temporary files and ends the
    /// process with exit code 130. SIGHUP raises it too, but where it is ignored, as `nohup` does, and never ends the process:
    /// shell and kernel may both send one as a terminal is closed. Nor does a SIGTERM at once after another, since `timeout` sends
    /// two. SIGUSR1 asks for a snapshot of what was measured so far, as fio has it. A write beyond the limit
    /// of a file's size (`ulimit -f`) is an error like others, and does not end the process.
    ///
    /// # Errors
    /// Where handlers cannot be installed.
    pub fn install_signal_handlers(&self) -> std::io::Result<()> {
        let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let others = [SIGINT, SIGTERM, SIGUSR1, FILE_SIZE_SIGNAL];
        let mut signals = Signals::new(closed.into_iter().chain(others))?;
        let flag = self.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || {
            let mut last = None;
            for signal in signals.forever() {
                let shared = &flag.shared;
                match signal {
                    SIGUSR1 => {
                        shared.snapshot.store(true, Ordering::Relaxed);
                        continue;
                    }
                    FILE_SIZE_SIGNAL => continue,
                    _ => {}
                }
                // Only the first one counts; whether one came before is what the swap below tells.
                let _ =
                    shared
                        .signal
                        .compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
                let was_requested = flag.shared.requested.swap(true, Ordering::Relaxed);
                let now = Clock::now();
                let is_same = is_told_again(last, signal, now);
                last = Some((signal, now));
                if was_requested && signal != SIGHUP && !is_same {
                    flag.remove_temporary();
                    signal_hook::low_level::exit(EXIT_INTERRUPTED);
                }
            }
        })?;
        Ok(())
    }

    /// Ends the present stage as if its time were over; the run goes on with the next.
    pub fn end_stage(&self) {
        self.shared.stage.store(true, Ordering::Relaxed);
    }

    /// Leaves out the next `count` stages and repeats. Meant for a consumer of events that has seen a stage finish: the next
    /// one does not begin before it has.
    pub fn skip_stages(&self, count: usize) {
        self.shared.skipped.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether the present stage is to end; forgotten when asked.
    pub(crate) fn take_stage_end(&self) -> bool {
        self.shared.stage.swap(false, Ordering::Relaxed)
    }

    /// Whether the stage that would begin is to be left out.
    pub(crate) fn take_skip(&self) -> bool {
        let skipped = &self.shared.skipped;
        let less = |left: usize| left.checked_sub(1);
        skipped
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }

    /// The number of the signal that raised it, if one did.
    pub fn signal(&self) -> Option<i32> {
        match self.shared.signal.load(Ordering::Relaxed) {
            0 => None,
            number => Some(number),
        }
    }

    /// Whether a snapshot was asked for since this was last called.
    pub(crate) fn take_snapshot_request(&self) -> bool {
        self.shared.snapshot.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn add_temporary(&self, path: &Path) {
        self.temporary().push(path.to_owned());
    }

    pub(crate) fn forget_temporary(&self, path: &Path) {
        self.temporary().retain(|other| other != path);
    }

    /// As [`Self::forget_temporary`] of many at once.
    pub(crate) fn forget_all(&self, paths: &[PathBuf]) {
        let gone: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        self.temporary()
            .retain(|other| !gone.contains(other.as_path()));
    }

    fn remove_temporary(&self) {
        for path in self.temporary().drain(..) {
            // The process is leaving; a file that is gone already is as good as removed.
            let _ = std::fs::remove_file(path);
        }
    }

    fn temporary(&self) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
        self.shared
            .temporary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_flag() {
        let flag = StopFlag::new();
        let other = flag.clone();
        assert!(!flag.is_requested());
        other.request();
        assert!(flag.is_requested());
    }

    #[test]
    fn the_first_signal_raises_the_flag() {
        let flag = StopFlag::new();
        flag.install_signal_handlers().unwrap();
        signal_hook::low_level::raise(SIGTERM).unwrap();
        while !flag.is_requested() {
            std::thread::yield_now();
        }
        assert_eq!(flag.signal(), Some(SIGTERM));
    }

    #[test]
    fn a_second_signal_is_meant_where_it_is_not_the_first_told_again() {
        let check = |last: Option<i32>, signal, ms, expected| {
            let at = Nanos::from_secs(7);
            let now = at + Nanos::from_millis(ms);
            let told = is_told_again(last.map(|last| (last, at)), signal, now);
            assert_eq!(told, expected, "{last:?} {signal} {ms}");
        };
        check(None, SIGTERM, 0, false);
        check(Some(SIGTERM), SIGTERM, 0, true);
        check(Some(SIGTERM), SIGTERM, 99, true);
        check(Some(SIGTERM), SIGTERM, 100, false);
        check(Some(SIGINT), SIGTERM, 0, false);
        check(Some(SIGTERM), SIGINT, 0, false);
        check(Some(SIGINT), SIGINT, 0, false);
    }

    #[test]
    fn leaving_removes_what_is_still_temporary() {
        let directory = tempfile::tempdir().unwrap();
        let (kept, removed) = (directory.path().join("kept"), directory.path().join("gone"));
        let flag = StopFlag::new();
        for path in [&kept, &removed] {
            std::fs::write(path, "x").unwrap();
            flag.add_temporary(path);
        }
        flag.forget_all(std::slice::from_ref(&kept));
        flag.remove_temporary();
        assert!(kept.exists() && !removed.exists());
    }
}
