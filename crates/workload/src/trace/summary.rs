//! What a whole trace comes to: its files, how far each is used, and its largest I/Os.
//!
//! A replay must know these before it starts: which files the write guard has to judge, how long files must be, and how
//! large buffers.

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
    /// Time of its last entry, at the trace's own speed.
    pub length: Nanos,
    /// Whether its files are block devices by number.
    pub devices: bool,
    /// Most requests outstanding, where the trace tells that.
    pub depth: Option<u32>,
    /// Largest power of two that all offsets and lengths of I/Os are multiples of; 0 where there is no I/O.
    pub unit: u64,
}

impl TraceSummary {
    /// Reads `trace` to its end, as `replay` would replay it.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    pub fn of<I: BufRead>(mut trace: TraceReader<I>, replay: &Replay) -> Result<Self, TraceError> {
        let mut summary = Self::default();
        let mut places = 0;
        while let Some(entry) = trace.next_entry()? {
            summary.length = summary.length.max(entry.at.unwrap_or_default());
            let Some(file) = trace.file_of(entry.file, replay) else {
                continue;
            };
            let file = file as usize;
            if summary.ends.len() <= file {
                summary.ends.resize(file + 1, 0);
            }
            match trace.adapted(entry.action, replay) {
                Some(TraceAction::Io {
                    direction,
                    offset,
                    length,
                }) => {
                    places |= offset | u64::from(length);
                    let way = direction as usize;
                    summary.ios[way] += 1;
                    summary.bytes[way] = summary.bytes[way].saturating_add(length.into());
                    summary.largest[way] = summary.largest[way].max(length);
                    let end = &mut summary.ends[file];
                    *end = (*end).max(offset.saturating_add(length.into()));
                }
                Some(TraceAction::Sync { .. }) => summary.syncs += 1,
                Some(TraceAction::Wait(time)) => {
                    summary.length = summary.length.saturating_add(time);
                }
                Some(TraceAction::File) | None => {}
            }
        }
        // Its lowest bit is the lowest of any of them.
        summary.unit = places & places.wrapping_neg();
        summary.files = match replay.files.as_slice() {
            [] => trace.files().to_vec(),
            files => files.to_vec(),
        };
        summary.ends.resize(summary.files.len(), 0);
        summary.devices = trace.names_devices_by_number();
        summary.depth = trace.depth();
        Ok(summary)
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
            } => {
                let offset = offset / u64::from(replay.scale.max(1));
                let Some(mask) = replay.align.checked_sub(1) else {
                    return Some(TraceAction::Io {
                        direction,
                        offset,
                        length,
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
