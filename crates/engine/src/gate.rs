//! When a stage begins that is not to begin as soon as it can: at a time of day, or together with other hosts.
//!
//! A gate is asked once for each stage and repeat, after everything is opened, laid out and armed, and nothing of it is left
//! when I/O begins: workers are told the moment and wait for it, as for a job's own start delay.

use std::hint::spin_loop;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

use crate::StopFlag;
use crate::timing::Begin;

/// How long before its stage begins a worker is told to: enough for threads to wake up on a busy machine.
const TOLD_BEFORE: Nanos = Nanos::from_millis(10);
/// How long before its stage begins a worker is awake: sleeps end late by tens of microseconds, now and then by more.
const AWAKE_BEFORE: Nanos = Nanos::from_micros(200);
/// How soon a request to stop is seen.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);
/// Lateness that is nobody's concern.
const LATE_LEAST: Nanos = Nanos::from_millis(1);

/// A stage, or one repeat of it, that stands ready for its first I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upcoming<'a> {
    /// Index among all stages and repeats of the run.
    pub index: usize,
    /// Stages and repeats of the run.
    pub count: usize,
    /// Index of the stage in the workload.
    pub stage: usize,
    /// From 0.
    pub repeat: u32,
    /// Its name, with that of the repeat.
    pub name: &'a str,
}

/// Says when stages begin.
pub trait Gate: std::fmt::Debug {
    /// The moment of [`Clock`] at which `stage` is to begin; `None`: it is not to begin, and the run ends as if the user had
    /// stopped it. A moment that has passed is now.
    ///
    /// It may block as long as it likes, on the thread that called [`crate::run_gated`], but must return soon after `stop`
    /// is raised.
    fn begin(&self, stage: &Upcoming<'_>, stop: &StopFlag) -> Option<Nanos>;
}

/// Waits for the moment at which `stage` is to begin, but for the last milliseconds, in which its workers are told;
/// `None` where it is not to begin.
pub(crate) fn pass(gate: &dyn Gate, stage: &Upcoming<'_>, stop: &StopFlag) -> Option<Begin> {
    let at = gate.begin(stage, stop);
    let Some(at) = at.filter(|_| !stop.is_requested()) else {
        stop.request();
        return None;
    };
    // What a busy machine adds while it waits is no lateness of what came before.
    let late = Clock::now().saturating_sub(at);
    let told = at.saturating_sub(TOLD_BEFORE);
    while Clock::now() < told {
        sleep_until(told.min(Clock::now() + LOOK_EVERY));
        if stop.is_requested() {
            return None;
        }
    }
    Some(Begin {
        at: at.max(Clock::now()),
        awake: AWAKE_BEFORE,
        late,
    })
}

/// What a reader is told of a stage that began `late`; `None` where that is nothing.
pub(crate) fn late_note(late: Nanos) -> Option<String> {
    let text = || {
        format!(
            "the stage began {late} after the time it was to begin at: what comes before it (opening and laying out files, \
             the stage before) took longer; choose a later time"
        )
    };
    (late > LATE_LEAST).then(text)
}

/// Sleeps until `moment` or until `is_called_off`, and is awake for the last `awake` of it.
pub(crate) fn wait_for(moment: Nanos, awake: Nanos, is_called_off: impl Fn() -> bool) {
    let asleep = moment.saturating_sub(awake);
    while Clock::now() < asleep && !is_called_off() {
        sleep_until(asleep.min(Clock::now() + LOOK_EVERY));
    }
    while Clock::now() < moment && !is_called_off() {
        spin_loop();
    }
}
