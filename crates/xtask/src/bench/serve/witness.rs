//! What the machine took away while something was measured.
//!
//! A witness on each processor sleeps a millisecond at a time, at a real-time priority where that is allowed, and notes how
//! late it woke: nothing but a kernel or a host that was elsewhere keeps it from waking. What other programs used is seen in
//! their books, and what a host says that it took in the system's.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::place::text;
use crate::command;

const NAP: Duration = Duration::from_millis(1);
/// A wake-up that is later than this is no ordinary one.
const LATE: Duration = Duration::from_micros(200);
/// Shares from which a round is doubtful: what witnesses missed or the host took, and what other programs used.
const DOUBTFUL: (f64, f64) = (0.01, 0.03);

/// Shares of the processors' time.
#[derive(Clone, Copy)]
pub struct Disturbance {
    /// Missed by witnesses.
    pub missed: f64,
    /// The latest wake-up, ms.
    pub latest_ms: f64,
    /// Used by programs that have no part in the measurement.
    pub others: f64,
    /// Taken by the host, as it says itself.
    pub stolen: f64,
}

impl Disturbance {
    /// Whether what was measured meanwhile is in doubt.
    pub fn doubtful(&self) -> bool {
        self.missed.max(self.stolen) > DOUBTFUL.0 || self.others > DOUBTFUL.1
    }

    /// In a few words.
    pub fn shown(&self) -> String {
        format!(
            "machine away {:.1} %, latest wake-up {:.1} ms, host took {:.1} %, others {:.1} %",
            self.missed * 100.0,
            self.latest_ms,
            self.stolen * 100.0,
            self.others * 100.0
        )
    }

    /// For the raw data.
    pub fn json(&self) -> Value {
        json!({
            "missed": self.missed,
            "latest_wakeup_ms": self.latest_ms,
            "others": self.others,
            "stolen": self.stolen,
            "doubtful": self.doubtful(),
        })
    }
}

/// Looks on until it is asked what it saw.
pub struct Witness {
    begun: Instant,
    ended: Arc<AtomicBool>,
    /// Of each processor: time missed, latest wake-up.
    threads: Vec<JoinHandle<(Duration, Duration)>>,
    programs: HashMap<u32, u64>,
    stolen: u64,
}

impl Witness {
    /// Begins to look.
    pub fn new() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let one = |processor| {
            let ended = Arc::clone(&ended);
            std::thread::spawn(move || {
                settle(processor);
                look(&ended)
            })
        };
        Self {
            threads: (0..processors).map(one).collect(),
            ended,
            programs: programs(),
            stolen: stolen(),
            begun: now(),
        }
    }

    /// What it saw; `ours` are the processes that are measured.
    pub fn end(self, ours: &[u32]) -> Disturbance {
        let wall = self.begun.elapsed().as_secs_f64();
        let processors = self.threads.len() as f64;
        let before = self.programs;
        let used = programs().into_iter().filter_map(|(process, ticks)| {
            let before = before.get(&process).copied().unwrap_or(0);
            (!ours.contains(&process)).then(|| ticks.saturating_sub(before))
        });
        let second = ticks_a_second() * wall * processors;
        let others = used.sum::<u64>() as f64 / second;
        let stolen = stolen().saturating_sub(self.stolen) as f64 / second;
        self.ended.store(true, Ordering::Relaxed);
        let seen: Vec<_> = self
            .threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect();
        let missed: Duration = seen.iter().map(|(missed, _)| missed).sum();
        let latest = seen.iter().map(|(_, latest)| *latest).max();
        Disturbance {
            missed: missed.as_secs_f64() / wall / processors,
            latest_ms: latest.unwrap_or_default().as_secs_f64() * 1e3,
            others,
            stolen,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a chore times whole programs")]
fn now() -> Instant {
    Instant::now()
}

/// Binds this thread to a processor, before all ordinary ones, as far as this user may.
fn settle(processor: usize) {
    let Ok(own) = std::fs::read_link("/proc/thread-self") else {
        return;
    };
    let own = own.file_name().unwrap_or_default().to_string_lossy();
    let processor = processor.to_string();
    let _ = command::output("taskset", &["-cp", &processor, &own]);
    let _ = command::output("chrt", &["-f", "-p", "21", &own]);
}

fn look(ended: &AtomicBool) -> (Duration, Duration) {
    let (mut missed, mut latest) = (Duration::ZERO, Duration::ZERO);
    while !ended.load(Ordering::Relaxed) {
        let due = now() + NAP;
        std::thread::park_timeout(NAP);
        let late = now().saturating_duration_since(due);
        latest = latest.max(late);
        if late > LATE {
            missed += late;
        }
    }
    (missed, latest)
}

/// Ticks of the system's clock in a second.
fn ticks_a_second() -> f64 {
    let told = command::output("getconf", &["CLK_TCK"]).ok();
    told.and_then(|told| told.trim().parse().ok())
        .unwrap_or(100.0)
}

/// What a process has used of the processors, all of its threads and those that have ended, in ns.
pub fn used_ns(process: u32) -> Option<f64> {
    let stat = text(format!("/proc/{process}/stat").as_ref());
    Some(used_ticks(&stat)?.1 as f64 * 1e9 / ticks_a_second())
}

/// The parent and the ticks, user and system, of a line of `/proc/PID/stat`.
fn used_ticks(stat: &str) -> Option<(u32, u64)> {
    // The name stands in brackets and may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((fields.get(1)?.parse().ok()?, ticks(11)? + ticks(12)?))
}

/// Ticks of every program but this one; threads of the kernel are no programs.
fn programs() -> HashMap<u32, u64> {
    const KERNEL: u32 = 2;
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let (parent, ticks) = used_ticks(&text(&entry.path().join("stat")))?;
        let counts = process != KERNEL && parent != KERNEL && process != std::process::id();
        counts.then_some((process, ticks))
    });
    all.collect()
}

/// Ticks that the host took from all processors, as it says.
fn stolen() -> u64 {
    let stat = text("/proc/stat".as_ref());
    let all = stat.lines().next().unwrap_or_default();
    let stolen = all.split_whitespace().nth(8);
    stolen.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::used_ticks;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let line = "12 (a) b (c)) S 7 12 12 0 -1 4194560 1 0 0 0 31 11 0 0 20 0 1 0 5 0 0";
        assert_eq!(used_ticks(line), Some((7, 42)));
        assert_eq!(used_ticks("12 (a"), None);
    }
}
