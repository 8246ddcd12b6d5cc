//! What happens on this machine now: the kernel's counters at each interval, and each I/O where that can be had.
//!
//! Invariants: devices are never opened; whatever comes or goes meanwhile is a doubt, never an end; memory grows with the
//! number of intervals alone, which is bounded.

mod counters;
mod devices;
mod doubts;
mod ending;
mod processes;
mod trace;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_rawio::{Clock, sleep_until, thread_usage, wall_clock};
use fathom_units::{Nanos, counted_ios};

use self::counters::{
    Counters, Processors, count_processors, read_diskstats, read_meminfo, read_stat,
};
use self::devices::{Chosen, choose, is_empty};
use self::doubts::Doubts;
use self::processes::Moved;
use self::trace::{Interval, Tracer, Wanted, tracefs};
use crate::samples::{Device, MachineSample, Observation, Sample};

/// Between two looks at whether to stop.
const LOOK: Nanos = Nanos::from_millis(100);
/// Shorter pieces than this at the end are left out.
const PIECE_LEAST: Nanos = Nanos::from_millis(50);
/// The wall clock and the run's clock may drift apart by so much in an interval; more is a jump.
const JUMP: i64 = 500_000_000;
/// Traced I/Os are kept apart by stretches of at least a minute, and at most so many.
const STRETCHES_MOST: u64 = 1440;
const MINUTE: Nanos = Nanos::from_secs(60);

/// What to watch and for how long.
#[derive(Debug, Clone)]
pub struct Options {
    /// Devices by name or path; none named, all physical disks.
    pub devices: Vec<String>,
    /// Processes whose I/O counts, with their descendants; none named, all.
    pub processes: Vec<u32>,
    /// How long.
    pub duration: Nanos,
    /// Length of an interval.
    pub interval: Nanos,
    /// Whether each I/O is traced where there is a right to.
    pub tracing: Tracing,
    /// Share of one processor that the program may use itself before it traces parts of the time alone.
    pub use_most: f64,
}

/// Share of one processor that the program may use itself, where nobody says another.
pub const USE_MOST: f64 = 0.02;

/// The names under which the devices of `options` would be watched.
///
/// # Errors
/// A device that was named is not there.
pub fn names(options: &Options) -> Result<Vec<String>, LiveError> {
    let chosen = choose(Path::new("/sys"), &options.devices).map_err(LiveError::Named)?;
    Ok(chosen.devices.into_iter().map(|it| it.name).collect())
}

/// Whether each I/O is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// Where there is a right to.
    WherePossible,
    /// Not at all.
    Off,
}

/// What was seen.
#[derive(Debug)]
pub struct Seen {
    /// The samples.
    pub observation: Observation,
    /// What a reader should know, one sentence each: the choice of devices, and what the watching cost.
    pub notes: Vec<String>,
    /// Whether it was stopped before its time.
    pub interrupted: bool,
    /// Parts of the time, by the run's clock, in which each I/O that began was traced to its end.
    pub traced: Vec<(Nanos, Nanos)>,
}

/// Why nothing could be watched.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The devices or processes that were named are not there.
    #[error("{0}")]
    Named(String),
    /// The kernel's counters cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Counters {
        /// The file.
        path: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

/// Watches until the time is over or `stop` is raised; `show` is told of each interval.
///
/// # Errors
/// What was named is not there, or there are no counters.
pub fn watch(
    options: &Options,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&str),
) -> Result<Seen, LiveError> {
    let chosen = choose(Path::new("/sys"), &options.devices).map_err(LiveError::Named)?;
    let missing: Vec<_> = options
        .processes
        .iter()
        .filter(|it| !is_there(**it))
        .map(u32::to_string)
        .collect();
    if !missing.is_empty() {
        return Err(LiveError::Named(format!(
            "there is no process {}: `--pid` takes running ones",
            missing.join(", ")
        )));
    }
    let mut watcher = Watcher::new(options, chosen)?;
    let mut interrupted = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            interrupted = true;
            break;
        }
        if watcher.last.0 >= watcher.end {
            break;
        }
        if !options.processes.is_empty() && !options.processes.iter().any(|it| is_there(*it)) {
            watcher.notes.push(
                "every process that was named has ended, and the observation with it".to_owned(),
            );
            break;
        }
        watcher.step()?;
        if let Some(line) = watcher.line.take() {
            show(&line);
        }
    }
    if Clock::now().saturating_sub(watcher.last.0) >= PIECE_LEAST {
        watcher.close_interval()?;
    }
    Ok(watcher.finish(interrupted))
}

/// Whether a process still runs: one that has ended stays until its parent asks for it, which some never do.
fn is_there(process: u32) -> bool {
    let place = Path::new("/proc").join(process.to_string());
    let Ok(stat) = fs::read_to_string(place.join("stat")) else {
        return place.exists();
    };
    // Its name stands before, in brackets, and may hold brackets itself.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    state.flatten().is_some_and(|state| !"ZX".contains(state))
}

fn read(path: &'static str) -> Result<String, LiveError> {
    fs::read_to_string(path).map_err(|source| LiveError::Counters { path, source })
}

struct Watcher<'a> {
    options: &'a Options,
    chosen: Chosen,
    tracer: Option<Tracer>,
    no_trace: Option<String>,
    begun: (Nanos, i64),
    end: Nanos,
    /// When the last interval ended: by the run's clock and by the wall's.
    last: (Nanos, i64),
    next: Nanos,
    stretch: Nanos,
    stretch_ends: Nanos,
    counters: HashMap<String, Counters>,
    processors: Option<Processors>,
    own: (Nanos, Nanos),
    own_begun: Nanos,
    used_most: f64,
    moved: Moved,
    /// I/Os that the kernel's workers issued while only some processes counted.
    by_kernel: u64,
    seen: Observation,
    doubts: Doubts,
    notes: Vec<String>,
    traced: Vec<(Nanos, Nanos)>,
    line: Option<String>,
}

fn own_use() -> Nanos {
    thread_usage().map_or(Nanos::ZERO, |usage| usage.user.saturating_add(usage.system))
}

fn wall() -> i64 {
    i64::try_from(wall_clock()).unwrap_or(i64::MAX)
}

impl<'a> Watcher<'a> {
    fn new(options: &'a Options, chosen: Chosen) -> Result<Self, LiveError> {
        let (tracer, no_trace) = match begin_tracing(options, &chosen) {
            Ok(tracer) => (Some(tracer), None),
            Err(why) => (None, Some(why)),
        };
        let devices = chosen.devices.iter().map(|watched| Device {
            name: watched.name.clone(),
            disks: Some(1),
            capacity: watched.capacity,
            ..Device::default()
        });
        let memory = fs::read_to_string("/proc/meminfo")
            .ok()
            .and_then(|text| read_meminfo(&text));
        let mut seen = Observation {
            devices: devices.collect(),
            ..Observation::default()
        };
        seen.machine.processors = fs::read_to_string("/proc/stat")
            .ok()
            .and_then(|text| count_processors(&text));
        seen.machine.memory = memory.map(|it| it.0);
        seen.machine.name = fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .map(|it| it.trim().to_owned());
        let mut doubts = Doubts::default();
        for watched in &chosen.devices {
            let place = PathBuf::from("/sys/class/block")
                .join(&watched.name)
                .join("queue/iostats");
            if fs::read_to_string(place).is_ok_and(|text| text.trim() == "0") {
                doubts.add(format!(
                    "the kernel does not count I/O on `{}`: write 1 to its queue/iostats",
                    watched.name
                ));
            }
        }
        let text = read("/proc/diskstats")?;
        let (now, begun) = (Clock::now(), wall());
        let stretch = MINUTE.max(Nanos::new(options.duration.get() / STRETCHES_MOST));
        Ok(Self {
            options,
            notes: chosen.notes.clone(),
            traced: Vec::new(),
            chosen,
            tracer,
            no_trace,
            begun: (now, begun),
            end: now.saturating_add(options.duration),
            last: (now, begun),
            next: now.saturating_add(options.interval),
            stretch,
            stretch_ends: now.saturating_add(stretch),
            counters: owned(&read_diskstats(&text)),
            processors: fs::read_to_string("/proc/stat")
                .ok()
                .and_then(|text| read_stat(&text)),
            own: (own_use(), now),
            own_begun: own_use(),
            used_most: 0.0,
            by_kernel: 0,
            moved: Moved::of(PathBuf::from("/proc"), &options.processes),
            seen,
            doubts,
            line: None,
        })
    }

    /// Waits for what is next, and does it.
    fn step(&mut self) -> Result<(), LiveError> {
        let now = Clock::now();
        let mut wake = self.next.min(self.end).min(now.saturating_add(LOOK));
        if let Some(tracer) = &self.tracer {
            wake = wake.min(tracer.wake_at(now));
        }
        sleep_until(wake);
        let now = Clock::now();
        if now >= self.next || now >= self.end {
            self.close_interval()?;
            while self.next <= now {
                self.next = self.next.saturating_add(self.options.interval);
            }
        } else {
            self.advance(now);
        }
        Ok(())
    }

    /// Takes in the traced I/Os up to `moment`; tracing that fails is given up, with the reason.
    fn advance(&mut self, moment: Nanos) {
        if let Some(tracer) = &mut self.tracer
            && let Err(why) = tracer.advance(moment)
        {
            self.doubts.add(format!("tracing ended early: {why}"));
            self.end_tracing();
        }
    }

    fn close_interval(&mut self) -> Result<(), LiveError> {
        let text = read("/proc/diskstats")?;
        let (now, wall) = (Clock::now(), wall());
        self.advance(now);
        let length = now.saturating_sub(self.last.0);
        // Times of samples are those of the clock as it was at the start, so that intervals never overlap.
        let at = self
            .begun
            .1
            .saturating_add_unsigned(now.saturating_sub(self.begun.0).get());
        self.look_at_clock(length, wall);
        let used = self.own_share(now);
        let traced = self.tracer.as_mut().map(|it| it.end_interval(length, used));
        let current = owned(&read_diskstats(&text));
        let mut rate = 0.0;
        for place in 0..self.seen.devices.len() {
            let sample = self.sample(place, &current, length, at);
            let traced = traced.as_ref().map(|traced| traced[place]);
            let narrowed = !self.options.processes.is_empty();
            // What a narrowed choice did while nothing was traced is not known: the interval is left out.
            let is_blind = narrowed && traced.is_some_and(|it| it.traced == 0);
            if let Some(mut sample) = sample.filter(|_| !is_blind) {
                if let Some(traced) = traced {
                    add_traced(&mut sample, &traced, narrowed);
                }
                rate += sample.per_second(sample.ios().unwrap_or(0.0));
                self.seen.devices[place].samples.push(sample);
            }
        }
        self.look_for_new(&current);
        self.look_for_detached();
        self.counters = current;
        self.sample_machine(at);
        self.moved.read();
        if now >= self.stretch_ends {
            self.close_stretch(at);
            self.stretch_ends = now.saturating_add(self.stretch);
        }
        self.last = (now, wall);
        // In whole seconds: the last interval is not over to the nanosecond.
        let left = self.end.saturating_sub(now).as_secs_f64().round() as u64;
        let left = (left > 0).then(|| Nanos::from_secs(left));
        self.line = Some(progress(rate, left));
        Ok(())
    }

    fn sample(
        &mut self,
        place: usize,
        current: &HashMap<String, Counters>,
        length: Nanos,
        at: i64,
    ) -> Option<Sample> {
        let name = &self.seen.devices[place].name;
        match (self.counters.get(name), current.get(name)) {
            (Some(earlier), Some(later)) => later
                .since(earlier, length, at)
                .map_err(|_| self.doubts.add(format!("the counters of `{name}` went back: it was replaced, or they were reset; that interval is left out")))
                .ok(),
            (Some(_), None) => {
                self.doubts.add(format!("`{name}` went away while it was watched"));
                None
            }
            (None, Some(_)) => {
                self.doubts.add(format!("`{name}` came back while it was watched; the time between is left out"));
                None
            }
            (None, None) => None,
        }
    }

    fn look_at_clock(&mut self, length: Nanos, wall: i64) {
        let moved = wall.saturating_sub(self.last.1);
        let jump = moved.saturating_sub(i64::try_from(length.get()).unwrap_or(i64::MAX));
        if jump.abs() > JUMP {
            let way = if jump > 0 { "ahead" } else { "back" };
            let by = Nanos::new(jump.unsigned_abs());
            self.doubts.add(format!(
                "the machine's clock was set {way} by {by}; times go on as they began"
            ));
        }
        if length.get() > self.options.interval.get().saturating_mul(2) && length > MINUTE {
            self.doubts.add(format!(
                "an interval took {length}: the machine slept or stood still"
            ));
        }
    }

    /// A loop device that is detached, or a drive without its medium, is there still, with the counters that it had.
    fn look_for_detached(&mut self) {
        for device in &mut self.chosen.devices {
            if device.capacity.is_some() && is_empty(Path::new("/sys"), &device.name) {
                device.capacity = None;
                self.doubts.add(format!(
                    "`{}` was detached while it was watched: it has no size any more",
                    device.name
                ));
            }
        }
    }

    fn look_for_new(&mut self, current: &HashMap<String, Counters>) {
        if self.options.devices.is_empty() && current.len() > self.counters.len() {
            let is_watched = |name: &String| self.seen.devices.iter().any(|it| it.name == *name);
            let new = current
                .keys()
                .filter(|name| !self.counters.contains_key(*name) && !is_watched(name));
            for name in new {
                self.doubts
                    .add(format!("`{name}` appeared meanwhile and is not watched"));
            }
        }
    }

    fn own_share(&mut self, now: Nanos) -> f64 {
        let used = own_use();
        let passed = now.saturating_sub(self.own.1).as_secs_f64();
        let share = used.saturating_sub(self.own.0).as_secs_f64() / passed.max(1e-3);
        self.own = (used, now);
        // A short piece at the end says little.
        if passed >= 0.5 {
            self.used_most = self.used_most.max(share);
            return share;
        }
        0.0
    }

    fn sample_machine(&mut self, at_unix_ns: i64) {
        let stat = fs::read_to_string("/proc/stat")
            .ok()
            .and_then(|text| read_stat(&text));
        let processors = stat
            .zip(self.processors)
            .and_then(|(now, before)| now.since(&before));
        self.processors = stat.or(self.processors);
        let memory = fs::read_to_string("/proc/meminfo")
            .ok()
            .and_then(|text| read_meminfo(&text));
        self.seen.machine.samples.push(MachineSample {
            at_unix_ns,
            processors,
            memory: memory.map(|it| it.1),
        });
    }

    fn close_stretch(&mut self, at: i64) {
        if let Some(tracer) = &mut self.tracer {
            for (device, tally) in self.seen.devices.iter_mut().zip(tracer.tallies()) {
                device.stretches.extend(tally.end_stretch(at));
            }
        }
    }
}

fn begin_tracing(options: &Options, chosen: &Chosen) -> Result<Tracer, String> {
    if options.tracing == Tracing::Off {
        return Err("`--no-trace` was given".to_owned());
    }
    let mounts = fs::read_to_string("/proc/mounts")
        .map_err(|error| format!("`/proc/mounts` cannot be read: {error}"))?;
    let place = tracefs(&mounts)?;
    let wanted = Wanted(options.processes.clone());
    Tracer::new(&place, &chosen.devices, wanted, options.use_most)
}

fn owned(counters: &HashMap<&str, Counters>) -> HashMap<String, Counters> {
    counters
        .iter()
        .map(|(name, it)| ((*name).to_owned(), *it))
        .collect()
}

/// Adds what was traced. Where only some processes count, rates are theirs too; else they are those of the counters.
fn add_traced(sample: &mut Sample, traced: &Interval, narrowed: bool) {
    if traced.traced == 0 {
        return;
    }
    let scale = sample.length.get() as f64 / traced.traced as f64;
    sample.placed = (traced.placed.judged > 0).then_some(traced.placed);
    sample.fastest = traced.fastest.map(Nanos::new);
    sample.split = Some(traced.splits as f64 * 1e9 / traced.traced as f64);
    if narrowed {
        let (reads, writes) = traced.ways();
        sample.reads = Some(reads.ops(scale));
        sample.writes = Some(writes.ops(scale));
        sample.queue = Some(traced.queued as f64 / traced.traced as f64);
        sample.busy = None;
    }
}

/// What is shown of an interval while it goes on: its rate, and what is left of the time.
fn progress(rate: f64, left: Option<Nanos>) -> String {
    let rate = counted_ios(rate.round() as u64);
    match left {
        None => format!("{rate} a second"),
        Some(left) => format!("{rate} a second, {left} left"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_io_is_told_as_one() {
        assert_eq!(progress(0.6, None), "1 I/O a second");
        let left = Some(Nanos::from_secs(3));
        assert_eq!(progress(0.4, left), "0 I/Os a second, 3 s left");
        assert_eq!(progress(1_234.0, left), "1,234 I/Os a second, 3 s left");
    }
}
