//! blktrace's binary files, one a processor: `struct blk_io_trace` of version 7, and the wider one of version 8.
//!
//! Each event begins with the magic 0x65617400 and its version, in the machine's byte order; what follows it (`pdu`) is of
//! the length it tells. Times are nanoseconds since the trace began; a note tells the wall clock's time of one moment, other
//! notes the names of processes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Nanos;

use super::merge::File;
use super::trace::{Place, Tracker, width};
use super::{Options, devices, unknown};
use crate::Observation;

const MAGIC: u32 = 0x6561_7400;

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

/// Whether bytes begin as a trace does.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first: &[u8; 4]| {
        let known = |word: u32| word & 0xffff_ff00 == MAGIC;
        known(u32::from_le_bytes(*first)) || known(u32::from_be_bytes(*first))
    })
}

/// One event.
#[derive(Debug, Clone, Copy)]
struct Event<'a> {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u64,
    pid: u32,
    device: u32,
    cpu: u32,
    payload: &'a [u8],
}

/// Bytes of a file in its own order.
struct Bytes<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Bytes<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        let two = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u16::from_be_bytes(two)
        } else {
            u16::from_le_bytes(two)
        })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let four = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        })
    }

    fn u64(&self, at: usize) -> Option<u64> {
        let eight = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u64::from_be_bytes(eight)
        } else {
            u64::from_le_bytes(eight)
        })
    }
}

/// Latest time that is believed: a century.
const LAST: u64 = 1 << 62;

/// Why there is no event.
enum Stop {
    End,
    Cut,
    Magic,
    Version(u32),
}

impl<'a> Bytes<'a> {
    /// The event at `at`, and where the next one begins.
    fn event(&self, at: usize) -> Result<(Event<'a>, usize), Stop> {
        if at >= self.bytes.len() {
            return Err(Stop::End);
        }
        let magic = self.u32(at).ok_or(Stop::Cut)?;
        if magic & 0xffff_ff00 != MAGIC {
            return Err(Stop::Magic);
        }
        let (wide, length) = match magic & 0xff {
            7 => (false, 48),
            8 => (true, 64),
            other => return Err(Stop::Version(other)),
        };
        let read = || {
            let payload = self.u16(at + if wide { 50 } else { 46 })?;
            let end = at + length + usize::from(payload);
            let (action, pid, device, cpu) = if wide {
                (
                    self.u64(at + 32)?,
                    self.u32(at + 28)?,
                    self.u32(at + 40)?,
                    self.u32(at + 44)?,
                )
            } else {
                let action = u64::from(self.u32(at + 28)?);
                (
                    action,
                    self.u32(at + 32)?,
                    self.u32(at + 36)?,
                    self.u32(at + 40)?,
                )
            };
            let event = Event {
                sequence: self.u32(at + 4)?,
                time: self.u64(at + 8)?.min(LAST),
                sector: self.u64(at + 16)?,
                bytes: self.u32(at + 24)?,
                action,
                pid,
                device,
                cpu,
                payload: self.bytes.get(at + length..end)?,
            };
            Some((event, end))
        };
        read().ok_or(Stop::Cut)
    }
}

/// Most events of all files together: their order in time is kept in memory.
const MOST_EVENTS: usize = 12_000_000;

/// Most devices of one trace.
const MOST_DEVICES: usize = 64;

/// Reads the files of one trace together.
pub(super) fn read(files: &[File], options: &Options) -> Result<Observation, Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut doubts = Vec::new();
    let mut order: Vec<(u64, u32, u32)> = Vec::new();
    let sources: Vec<Bytes<'_>> = files
        .iter()
        .map(|file| Bytes {
            bytes: &file.bytes,
            big: file.bytes.first() == Some(&0x65),
        })
        .collect();
    for (index, (file, source)) in files.iter().zip(&sources).enumerate() {
        match index_events(source, index as u32, &mut order) {
            Ok(None) => {}
            Ok(Some(at)) => doubts.push(format!(
                "`{}` ends within an event, at byte {at}: the event is left out",
                file.name
            )),
            Err(complaint) => {
                let message = format!("{}: {}", file.name, complaint.message);
                complaints.push(Diagnostic {
                    message,
                    ..*complaint
                });
            }
        }
    }
    if order.is_empty() && !complaints.has_errors() {
        let message = "the trace holds no event";
        complaints.push(
            Diagnostic::error(message)
                .hint("trace while there is load: `blktrace -d /dev/sda -w 60`"),
        );
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    order.sort_unstable();
    let events = || {
        order.iter().filter_map(|(_, file, at)| {
            let (event, _) = sources[*file as usize].event(*at as usize).ok()?;
            Some((event, *file))
        })
    };
    let numbers: BTreeSet<u32> = events()
        .filter(|(event, _)| event.action & category::NOTIFY == 0)
        .map(|(event, _)| event.device)
        .collect();
    if numbers.len() > MOST_DEVICES {
        let message = format!(
            "the trace holds {} devices: {MOST_DEVICES} are read",
            numbers.len()
        );
        complaints.push(Diagnostic::error(message).hint("name the files of some of them"));
        return Err(complaints);
    }
    let span = order.last().map_or(0, |last| last.0) - order.first().map_or(0, |first| first.0);
    let mut follower = Follower {
        width: width(span, numbers.len()),
        ..Follower::default()
    };
    for (event, file) in events() {
        follower.event(&event, file, &sources[file as usize]);
    }
    follower.finish(files, options, doubts)
}

/// Notes where the events of a file are; where it ends within one.
fn index_events(
    source: &Bytes<'_>,
    index: u32,
    order: &mut Vec<(u64, u32, u32)>,
) -> Result<Option<usize>, Box<Diagnostic>> {
    let mut at = 0;
    loop {
        if order.len() == MOST_EVENTS {
            let message = format!("the trace holds more than {MOST_EVENTS} events");
            let hint =
                "trace a shorter time, or only what is needed: `blktrace -a issue -a complete`";
            return Err(Box::new(Diagnostic::error(message).hint(hint)));
        }
        match source.event(at) {
            Ok((event, next)) => {
                order.push((event.time, index, at as u32));
                at = next;
            }
            Err(Stop::End) => return Ok(None),
            Err(Stop::Cut) => return Ok(Some(at)),
            Err(Stop::Magic) => {
                let message = format!("at byte {at} no event begins: the file is damaged");
                return Err(Box::new(
                    Diagnostic::error(message).hint("copy it anew, in binary mode"),
                ));
            }
            Err(Stop::Version(version)) => {
                let message =
                    format!("at byte {at} stands an event of version {version}: 7 and 8 are known");
                return Err(Box::new(
                    Diagnostic::error(message).hint("trace with blktrace 1.0 or later"),
                ));
            }
        }
    }
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
    fn event(&mut self, event: &Event<'_>, file: u32, source: &Bytes<'_>) {
        let kind = event.action & kind::MASK;
        if event.action & category::NOTIFY != 0 {
            self.note(kind, event, source);
            return;
        }
        self.count_lost(event, file);
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
            .or_insert_with(|| (Tracker::new(start, self.width), file));
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

    fn note(&mut self, kind: u64, event: &Event<'_>, source: &Bytes<'_>) {
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
                    big: source.big,
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
    fn count_lost(&mut self, event: &Event<'_>, file: u32) {
        if event.sequence == 0 {
            return;
        }
        if let Some(last) = self.sequences.insert((file, event.cpu), event.sequence) {
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
