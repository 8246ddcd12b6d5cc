//! What a whole trace comes to: its files, how far each is used, and its largest I/Os.
//!
//! A replay must know these before it starts: which files the write guard has to judge, how long files must be, and how
//! large buffers.

use std::collections::HashMap;
use std::io::BufRead;

use fathom_units::Nanos;

use super::{Format, TraceAction, TraceError, TraceReader};
use crate::{Direction, Replay};

/// What a whole trace comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceSummary {
    /// Names of its files, in the order of their first mention.
    pub files: Vec<String>,
    /// End of the farthest byte used of each file.
    pub ends: Vec<u64>,
    /// I/Os of each [`Direction`].
    pub ios: [u64; 3],
    /// Bytes of each [`Direction`].
    pub bytes: [u64; 3],
    /// Largest I/O of each [`Direction`], in bytes; 0 where there is none.
    pub largest: [u32; 3],
    /// Syncs.
    pub syncs: u64,
    /// Requests for zeroes that were not sent, which are written as data.
    pub zeroes: u64,
    /// Time of its last entry, at the trace's own speed.
    pub length: Nanos,
    /// Whether its files are block devices by number.
    pub devices: bool,
    /// Most requests outstanding, where the trace tells that.
    pub depth: Option<u32>,
    /// Largest power of two that all offsets and lengths of I/Os are multiples of; 0 where there is no I/O.
    pub unit: u64,
    /// The same of each file.
    pub each: Vec<FileUse>,
}

/// What a trace does with one of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileUse {
    /// I/Os of each [`Direction`].
    pub ios: [u64; 3],
    /// Bytes of each [`Direction`].
    pub bytes: [u64; 3],
    /// Largest I/O of each [`Direction`], in bytes; 0 where there is none.
    pub largest: [u32; 3],
    /// Syncs.
    pub syncs: u64,
    /// Requests for zeroes.
    pub zeroes: u64,
    /// End of the farthest byte used.
    pub end: u64,
    /// All offsets and lengths, each bit that is in any of them.
    places: u64,
    /// Its waits, of a trace without times.
    waited: Nanos,
}

impl FileUse {
    /// A time and its waits.
    fn and_waits(time: Nanos, one: &Self) -> Nanos {
        time.saturating_add(one.waited)
    }

    fn add(&mut self, action: TraceAction) {
        match action {
            TraceAction::Io {
                direction,
                offset,
                length,
                ..
            } => {
                self.places |= offset | u64::from(length);
                let way = direction as usize;
                self.ios[way] += 1;
                self.bytes[way] = self.bytes[way].saturating_add(length.into());
                self.largest[way] = self.largest[way].max(length);
                self.end = self.end.max(offset.saturating_add(length.into()));
            }
            TraceAction::Sync { .. } => self.syncs += 1,
            TraceAction::Wait(time) => self.waited = self.waited.saturating_add(time),
            TraceAction::File => {}
        }
    }
}

impl TraceSummary {
    /// Reads `trace` to its end, as `replay` would replay it.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    pub fn of<I: BufRead>(trace: TraceReader<I>, replay: &Replay) -> Result<Self, TraceError> {
        let mut trace = trace.replayed_by(replay);
        let mut each: Vec<FileUse> = Vec::new();
        let mut last = Nanos::ZERO;
        while let Some(entry) = trace.next_entry()? {
            last = last.max(entry.at.unwrap_or_default());
            let file = entry.file as usize;
            if each.len() <= file {
                each.resize_with(file + 1, FileUse::default);
            }
            if let Some(action) = trace.adapted(entry.action, replay) {
                each[file].add(action);
            }
        }
        each.resize_with(trace.files().len(), FileUse::default);
        if !replay.skip[Direction::Write as usize] {
            for (file, zeroes) in each.iter_mut().zip(&trace.zeroes) {
                file.zeroes = *zeroes;
            }
        }
        let whole = Self {
            files: trace.files().to_vec(),
            length: each.iter().fold(last, FileUse::and_waits),
            devices: trace.names_devices_by_number(),
            depth: trace.depth(),
            each,
            ..Self::default()
        };
        Ok(match replay.files.as_slice() {
            [] => whole.of_files(trace.files()),
            files => whole.of_files(files),
        })
    }

    /// What these files of it come to alone, in this order; times are those of the whole trace.
    #[must_use]
    pub fn of_files(&self, files: &[String]) -> Self {
        let numbered = self.files.iter().map(String::as_str).zip(&self.each);
        let uses: HashMap<&str, &FileUse> = numbered.collect();
        let each = files.iter().map(|name| uses.get(name.as_str()).copied());
        let each: Vec<FileUse> = each.map(|it| it.copied().unwrap_or_default()).collect();
        let waited = self.each.iter().fold(Nanos::ZERO, FileUse::and_waits);
        let last = self.length.saturating_sub(waited);
        let mut part = Self {
            files: files.to_vec(),
            ends: each.iter().map(|it| it.end).collect(),
            length: each.iter().fold(last, FileUse::and_waits),
            devices: self.devices,
            depth: self.depth,
            ..Self::default()
        };
        let mut places = 0;
        for one in &each {
            for way in 0..part.ios.len() {
                part.ios[way] += one.ios[way];
                part.bytes[way] = part.bytes[way].saturating_add(one.bytes[way]);
                part.largest[way] = part.largest[way].max(one.largest[way]);
            }
            part.syncs += one.syncs;
            part.zeroes += one.zeroes;
            places |= one.places;
        }
        // Its lowest bit is the lowest of any of them.
        part.unit = places & places.wrapping_neg();
        part.each = each;
        part
    }
}

impl<I: BufRead> TraceReader<I> {
    /// The number that a file of this trace has in `replay`; `None` where it is left out.
    pub fn file_of(&self, file: u32, replay: &Replay) -> Option<u32> {
        if replay.files.is_empty() {
            return Some(file);
        }
        let name = self.files.names.get(file as usize)?;
        let place = replay.files.iter().position(|taken| taken == name)?;
        u32::try_from(place).ok()
    }

    /// What `replay` makes of an action of this trace: `None` where it is left out.
    pub fn adapted(&self, action: TraceAction, replay: &Replay) -> Option<TraceAction> {
        match action {
            TraceAction::Io { direction, .. } if replay.skip[direction as usize] => None,
            // As in fio, `fdatasync` is never left out.
            TraceAction::Sync { data_only: false } if replay.skip[3] => None,
            TraceAction::Io {
                direction,
                offset,
                length,
                durable,
            } => {
                let offset = offset / u64::from(replay.scale.max(1));
                let Some(mask) = replay.align.checked_sub(1) else {
                    return Some(TraceAction::Io {
                        direction,
                        offset,
                        length,
                        durable,
                    });
                };
                // As in fio, those of text stay as they are.
                let longer = length
                    .checked_add(mask)
                    .filter(|_| matches!(self.format, Format::Blktrace(_)))
                    .map_or(length, |longer| longer & !mask);
                Some(TraceAction::Io {
                    direction,
                    offset: offset & !u64::from(mask),
                    length: longer,
                    durable,
                })
            }
            other => Some(other),
        }
    }
}

impl Replay {
    /// Which directions the trace of `summary` moves data in.
    pub fn directions(summary: &TraceSummary) -> [bool; 3] {
        Direction::ALL.map(|way| summary.ios[way as usize] > 0)
    }
}
