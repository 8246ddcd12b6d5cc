//! blktrace's binary files, one a processor: `struct blk_io_trace` of version 7, and the wider one of version 8.
//!
//! Each event begins with the magic 0x65617400 and its version, in the machine's byte order; what follows it (`pdu`) is of
//! the length it tells. Times are nanoseconds since the trace began; a note tells the wall clock's time of one moment, other
//! notes the names of processes.

mod events;

use std::collections::{BTreeMap, HashMap};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Nanos;

use self::events::{Bytes, Event, each, look};
use super::input::File;
use super::trace::{Place, Tracker, width};
use super::{Options, devices, unknown};
use crate::Observation;

pub(super) use self::events::looks_like;

/// Kinds of events, in the lower half of their action.
mod kind {
    pub const QUEUE: u64 = 1;
    pub const BACK_MERGE: u64 = 2;
    pub const FRONT_MERGE: u64 = 3;
    pub const REQUEUE: u64 = 6;
    pub const ISSUE: u64 = 7;
    pub const COMPLETE: u64 = 8;
    /// Set beside the kind where a cgroup's number begins what follows the event.
    pub const CGROUP: u64 = 1 << 8;
    pub const MASK: u64 = 0xffff & !CGROUP;
    /// Kinds of notes.
    pub const PROCESS: u64 = 0;
    pub const TIMESTAMP: u64 = 1;
}

/// Categories, above them.
mod category {
    const SHIFT: u64 = 16;
    pub const WRITE: u64 = 1 << (SHIFT + 1);
    pub const PASS_THROUGH: u64 = 1 << (SHIFT + 9);
    pub const NOTIFY: u64 = 1 << (SHIFT + 10);
    pub const DISCARD: u64 = 1 << (SHIFT + 13);
}

/// Queued places whose process is remembered until they are issued.
const MOST_QUEUED: usize = 1 << 16;

/// Most devices of one trace.
const MOST_DEVICES: usize = 64;

/// Reads the files of one trace together.
pub(super) fn read(files: &[File], options: &Options) -> Result<Observation, Diagnostics> {
    let look = look(files)?;
    let refuse = |message: &str, hint: &str| {
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let message = format!("{}: {message}", devices::list(&names));
        Err(Diagnostics(vec![Diagnostic::error(message).hint(hint)]))
    };
    let Some(first) = look.first else {
        let hint = "trace while there is load: `blktrace -d /dev/sda -w 60`";
        return refuse("the trace holds no event", hint);
    };
    let count = look.devices.len();
    if count > MOST_DEVICES {
        let message = format!("the trace holds {count} devices: {MOST_DEVICES} are read");
        return refuse(&message, "name the files of some of them");
    }
    let mut follower = Follower {
        width: width(look.last - first, count),
        ..Follower::default()
    };
    each(files, &look, |event| follower.event(event))?;
    follower.finish(files, options, look.doubts)
}

/// What the events have told so far.
#[derive(Default)]
struct Follower {
    width: Nanos,
    devices: BTreeMap<u32, (Tracker, u32)>,
    names: HashMap<u32, String>,
    queued: HashMap<(u32, Place), u32>,
    sequences: HashMap<(u32, u32), u32>,
    lost: u64,
    discards: u64,
    zero: Option<i64>,
    start: Option<u64>,
    end: u64,
}

impl Follower {
    fn event(&mut self, event: &Event) {
        let kind = event.action & kind::MASK;
        if event.action & category::NOTIFY != 0 {
            self.note(kind, event);
            return;
        }
        self.count_lost(event);
        let start = *self.start.get_or_insert(event.time);
        self.end = self.end.max(event.time);
        let place = Place {
            sector: event.sector,
            write: event.action & category::WRITE != 0,
        };
        if event.action & (category::DISCARD | category::PASS_THROUGH) != 0 || event.bytes == 0 {
            self.discards += u64::from(kind == kind::ISSUE && event.bytes > 0);
            return;
        }
        let (tracker, _) = self
            .devices
            .entry(event.device)
            .or_insert_with(|| (Tracker::new(start, self.width), event.file));
        match kind {
            kind::QUEUE => {
                if self.queued.len() >= MOST_QUEUED {
                    self.queued.clear();
                }
                self.queued.insert((event.device, place), event.pid);
            }
            kind::BACK_MERGE | kind::FRONT_MERGE => tracker.merge(event.time, place.write),
            kind::REQUEUE => tracker.requeue(event.time, place),
            kind::ISSUE => {
                // Who issues may be the kernel's worker for whoever queued.
                let process = self
                    .queued
                    .remove(&(event.device, place))
                    .unwrap_or(event.pid);
                tracker.issue(event.time, place, u64::from(event.bytes), process);
            }
            kind::COMPLETE => tracker.complete(event.time, place),
            _ => {}
        }
    }

    fn note(&mut self, kind: u64, event: &Event) {
        let skipped = if event.action & kind::CGROUP == 0 {
            0
        } else {
            8
        };
        let payload = event.payload.get(skipped..).unwrap_or_default();
        match kind {
            kind::PROCESS => {
                let name = payload.split(|byte| *byte == 0).next().unwrap_or_default();
                let name = String::from_utf8_lossy(&name[..name.len().min(64)]).into_owned();
                if self.names.len() < 1 << 16 && !name.is_empty() {
                    self.names.insert(event.pid, name);
                }
            }
            kind::TIMESTAMP => {
                let part = Bytes {
                    bytes: payload,
                    big: event.big,
                };
                if let (Some(seconds), Some(nanos)) = (part.u32(0), part.u32(4)) {
                    let wall = i64::from(seconds) * 1_000_000_000 + i64::from(nanos);
                    let zero = i128::from(wall) - i128::from(event.time);
                    self.zero = self.zero.or(i64::try_from(zero).ok());
                }
            }
            _ => {}
        }
    }

    /// Events of a processor are numbered one by one: what is missing was lost.
    fn count_lost(&mut self, event: &Event) {
        if event.sequence == 0 {
            return;
        }
        if let Some(last) = self
            .sequences
            .insert((event.file, event.cpu), event.sequence)
        {
            self.lost += u64::from(event.sequence.saturating_sub(last).saturating_sub(1));
        }
    }

    fn finish(
        self,
        files: &[File],
        options: &Options,
        mut doubts: Vec<String>,
    ) -> Result<Observation, Diagnostics> {
        let (mut orphans, mut open, mut dropped) = (0, 0, 0);
        let alone = self.devices.len() == 1;
        let mut found = Vec::new();
        let zero = self.zero.unwrap_or(0);
        for (number, (tracker, file)) in self.devices {
            orphans += tracker.orphans;
            open += tracker.open_count();
            dropped += tracker.dropped;
            let name = stem(&files[file as usize].name)
                .filter(|_| alone)
                .unwrap_or_else(|| format!("{}:{}", number >> 20, number & 0xf_ffff));
            let mut device = tracker.finish(name, self.end, zero, &self.names);
            if let Some(traced) = &mut device.traced {
                traced.lost = self.lost;
            }
            found.push(device);
        }
        if self.zero.is_none() {
            doubts.push(
                "it does not tell when it was taken: its times are its own clock's".to_owned(),
            );
        }
        let said = [
            (
                orphans,
                "completions have no issue in the trace (begun before it, or lost)",
            ),
            (open as u64, "I/Os were not back when it ended"),
            (
                dropped,
                "I/Os were issued to a place where one was outstanding",
            ),
            (
                self.discards,
                "discards and pass-through commands are left out",
            ),
            (
                self.lost,
                "events are missing by their numbers: the kernel's buffers were full (`blktrace -b 4096 -n 16`)",
            ),
        ];
        doubts.extend(
            said.iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, text)| format!("{count} {text}")),
        );
        if !options.devices.is_empty() {
            devices::choose(&mut found, &options.devices, &mut doubts)
                .map_err(|error| Diagnostics(vec![*error]))?;
        }
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        Ok(Observation {
            source: format!("blktrace's {}", devices::list(&names)),
            devices: found,
            unknown: vec![unknown::PROCESSORS, unknown::MEMORY],
            doubts,
            ..Observation::default()
        })
    }
}

/// The device of `sda.blktrace.0`.
fn stem(name: &str) -> Option<String> {
    let file = name.rsplit('/').next()?;
    let (stem, _) = file.split_once(".blktrace")?;
    Some(stem.to_owned()).filter(|stem| !stem.is_empty())
}
