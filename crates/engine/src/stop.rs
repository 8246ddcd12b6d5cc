//! The one flag that ends a run early, and what a second signal still cleans up.
//!
//! The first SIGINT or SIGTERM stops issuing, drains and summarises; the second removes the temporary files that have a
//! name and leaves at once. A terminal that is closed (SIGHUP) is a first one however often it is told, and what a program
//! sends twice at once is one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_rawio::{Clock, FILE_SIZE_SIGNAL, is_ignored};
use fathom_units::Nanos;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

/// Exit code of a program that a user's interrupt ended: 128 + SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// How soon after a signal that a program sent the same one is that one told again: `timeout` sends one to its command and
/// another to the group that it is of, and what starts programs may pass on what the group had already, so that a run which they
/// end would lose its record now and then.
const TOLD_AGAIN: Nanos = Nanos::from_millis(100);

/// Who sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The kernel, as it does when keys are pressed on a terminal.
    Kernel,
    Program,
}

impl Sender {
    /// By the `si_code` of a signal: what programs send has none above zero (sigaction(2)).
    fn of(code: i32) -> Self {
        if code > 0 {
            Self::Kernel
        } else {
            Self::Program
        }
    }
}

/// Whether `signal`, which came at `now`, is the `first` one told again. Somebody who presses Ctrl-C twice means it.
fn is_told_again(first: Option<(i32, Nanos)>, (signal, sender): (i32, Sender), now: Nanos) -> bool {
    let same = first.filter(|(first, _)| sender == Sender::Program && *first == signal);
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
    /// shell and kernel may both send one as a terminal is closed. Nor does one that a program sends at once after the same one, since
    /// `timeout` sends two. SIGUSR1 asks for a snapshot of what was measured so far, as fio has it. A write beyond the limit
    /// of a file's size (`ulimit -f`) is an error like others, and does not end the process.
    ///
    /// # Errors
    /// Where handlers cannot be installed.
    pub fn install_signal_handlers(&self) -> std::io::Result<()> {
        let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let others = [SIGINT, SIGTERM, SIGUSR1, FILE_SIZE_SIGNAL];
        let mut signals = SignalsInfo::<WithRawSiginfo>::new(closed.into_iter().chain(others))?;
        let flag = self.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || {
            let mut first = None;
            for told in signals.forever() {
                let signal = told.si_signo;
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
                let is_same = is_told_again(first, (signal, Sender::of(told.si_code)), now);
                first.get_or_insert((signal, now));
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
        // What `kill`, `tgkill` and keys of a terminal give.
        let [kill, tgkill, key] = [0, -6, 128];
        let check = |first: Option<i32>, (signal, code), ms, expected| {
            let at = Nanos::from_secs(7);
            let now = at + Nanos::from_millis(ms);
            let first = first.map(|first| (first, at));
            let told = is_told_again(first, (signal, Sender::of(code)), now);
            assert_eq!(told, expected, "{first:?} {signal} {code} {ms}");
        };
        for signal in [SIGTERM, SIGINT] {
            check(None, (signal, kill), 0, false);
            check(Some(signal), (signal, kill), 0, true);
            check(Some(signal), (signal, tgkill), 99, true);
            check(Some(signal), (signal, kill), 100, false);
            check(Some(signal), (signal, key), 0, false);
        }
        check(Some(SIGINT), (SIGTERM, kill), 0, false);
        check(Some(SIGTERM), (SIGINT, kill), 0, false);
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
