//! How often the thread of messages looks: often while others wait, seldom while I/O is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use fathom_engine::StopFlag;
use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

/// While others wait: a begin comes no more than this late.
const WATCHING: Nanos = Nanos::from_millis(1);
/// While I/O is measured: nothing is waited for then but a request to stop.
const RESTING: Nanos = Nanos::from_millis(20);
/// How often each host says that it is there; far below the shortest `--lost-after`.
const TELL_EACH: Nanos = Nanos::from_millis(250);

/// What the process was asked by signals.
#[derive(Debug)]
pub struct Asked {
    /// Ends the run.
    pub stop: StopFlag,
    /// SIGUSR1 came, which launchers pass on to all.
    early: Arc<AtomicBool>,
}

impl Asked {
    /// Takes signals from now on: SIGINT, SIGTERM and SIGUSR1 end the run.
    ///
    /// # Errors
    /// Where handlers cannot be installed.
    pub fn install() -> std::io::Result<Self> {
        let stop = StopFlag::new();
        stop.install_signal_handlers()?;
        let early = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&early))?;
        Ok(Self { stop, early })
    }

    /// Does what was asked meanwhile.
    pub fn heed(&self) {
        if self.early.load(Ordering::Relaxed) {
            self.stop.request();
        }
    }

    /// Whether the launcher ends all, and kills soon what has not ended.
    pub fn is_hurried(&self) -> bool {
        self.stop.signal() == Some(signal_hook::consts::SIGTERM)
    }
}

/// How long to nap, and when to say that this host is there.
#[derive(Debug)]
pub struct Pace {
    nap: Nanos,
    told: Nanos,
}

impl Pace {
    /// One that watches.
    pub fn new() -> Self {
        Self {
            nap: WATCHING,
            told: Nanos::ZERO,
        }
    }

    /// I/O is measured from now on.
    pub fn rest(&mut self) {
        self.nap = RESTING;
    }

    /// Somebody waits from now on.
    pub fn watch(&mut self) {
        self.nap = WATCHING;
    }

    /// How long to nap.
    pub fn nap(&self) -> Nanos {
        self.nap
    }

    /// Whether it is time to say that this host is there; told once each time.
    pub fn is_time_to_tell(&mut self) -> bool {
        let now = Clock::now();
        let due = now.saturating_sub(self.told) >= TELL_EACH;
        if due {
            self.told = now;
        }
        due
    }
}

/// The own run's thread is gone without a word.
#[derive(Debug)]
pub struct Gone;

/// What the own run says within a nap; of a run that is over nothing more is waited for.
pub fn next<T>(from_run: &Receiver<T>, nap: Nanos, is_over: bool) -> Result<Option<T>, Gone> {
    if is_over {
        sleep_until(Clock::now() + nap);
        return Ok(None);
    }
    match from_run.recv_timeout(Duration::from(nap)) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Gone),
    }
}
