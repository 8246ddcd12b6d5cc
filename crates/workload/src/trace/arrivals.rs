//! A trace of any format as what came to storage, and lines of what came as what is to be done.

use std::io::BufRead;

use fathom_units::Nanos;

use super::{Format, ServedEntry, ServedOp, TraceAction, TraceEntry, TraceError, TraceReader};
use crate::Direction;

/// Real storage gets zeroes as data, in pieces of this many bytes.
const ZEROES_PIECE: u32 = 1 << 20;

impl ServedEntry {
    /// What is to be done at `at`, in its order: zeroes are written as data.
    pub(super) fn asked(self, at: Nanos) -> impl Iterator<Item = TraceEntry> {
        let (direction, piece) = match self.op {
            ServedOp::Write => (Direction::Write, u32::MAX),
            ServedOp::Trim => (Direction::Trim, u32::MAX),
            ServedOp::Zeroes => (Direction::Write, ZEROES_PIECE),
            // A flush has no bytes, so that no piece of it is moved.
            ServedOp::Read | ServedOp::Flush => (Direction::Read, u32::MAX),
        };
        let sync = (self.op == ServedOp::Flush).then_some(TraceAction::Sync { data_only: false });
        let pieces = (0..self.length.div_ceil(piece)).map(move |number| {
            let from = number * piece;
            TraceAction::Io {
                direction,
                offset: self.offset + u64::from(from),
                length: piece.min(self.length - from),
                durable: self.fua,
            }
        });
        let file = self.volume;
        let at = Some(at);
        pieces
            .chain(sync)
            .map(move |action| TraceEntry { at, file, action })
    }
}

impl<I: BufRead> TraceReader<I> {
    /// The I/O that came next; `None` at the end. Where a trace has no times, its I/Os come at the ends of its waits. To be
    /// called in place of [`Self::next_entry`]; after an error that names a line the rest of a trace of lines can be read.
    ///
    /// # Errors
    /// Where reading fails, or what is read is no entry.
    pub fn next_arrival(&mut self) -> Result<Option<ServedEntry>, TraceError> {
        if let Format::Lines(format) = &mut self.format {
            return format.next_entry(&mut self.input, &mut self.files);
        }
        while let Some(entry) = self.next_entry()? {
            let (op, offset, length, fua) = match entry.action {
                TraceAction::Io {
                    direction,
                    offset,
                    length,
                    durable,
                } => (served(direction), offset, length, durable),
                TraceAction::Sync { .. } => (ServedOp::Flush, 0, 0, false),
                TraceAction::Wait(time) => {
                    self.waited = self.waited.saturating_add(time);
                    continue;
                }
                TraceAction::File => continue,
            };
            return Ok(Some(ServedEntry {
                arrival: entry.at.unwrap_or(self.waited),
                line: self.number(),
                volume: entry.file,
                op,
                fua,
                offset,
                length,
            }));
        }
        Ok(None)
    }

    /// The number of what was read last.
    fn number(&self) -> u64 {
        match &self.format {
            Format::Text(format) => format.line(),
            Format::Blktrace(format) => format.record(),
            Format::Lines(_) => 0,
        }
    }

    /// What [`ServedEntry::line`] counts: `line` or `record`.
    pub fn counts(&self) -> &'static str {
        match &self.format {
            Format::Text(_) | Format::Lines(_) => "line",
            Format::Blktrace(_) => "record",
        }
    }
}

fn served(direction: Direction) -> ServedOp {
    match direction {
        Direction::Read => ServedOp::Read,
        Direction::Write => ServedOp::Write,
        Direction::Trim => ServedOp::Trim,
    }
}
