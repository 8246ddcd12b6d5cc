//! Traces of one line for each I/O, with a time of its own in each: what storage was asked, by whom it was recorded.
//!
//! Three formats are read: what a served run leaves (`served.rs`), what `blkparse` prints (`blkparse.rs`), and the CSV of the
//! traces of Microsoft Research Cambridge (`msr.rs`). Each file says what a line of its format means; lines are put in order
//! here.
//!
//! Lines may stand in the order in which I/Os completed: entries come in the order of their arrivals, as long as no line
//! stands more than [`LOOK_AHEAD`] lines behind its place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufRead, Read as _};

use fathom_units::Nanos;

use super::{Files, TraceError, blkparse, msr, served};

/// Longest line.
const LINE_MAX: u64 = 8192;
/// Lines that are read ahead, to put them in order: some 10 MB.
pub const LOOK_AHEAD: usize = 1 << 17;

/// What a served I/O did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedOp {
    /// Made what was written before durable. It stands first: a line may say that a write has one before it.
    Flush,
    /// Read data.
    Read,
    /// Wrote data.
    Write,
    /// Said that data is not needed any more.
    Trim,
    /// Wrote zeroes that were not sent.
    Zeroes,
}

/// One I/O of a trace, as it came to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedEntry {
    /// When it came, on the trace's clock.
    pub arrival: Nanos,
    /// Its line, or its record in a binary trace.
    pub line: u64,
    /// Number of its volume, in the order in which the trace first names them.
    pub volume: u32,
    /// What it did.
    pub op: ServedOp,
    /// Whether a write was durable when it completed.
    pub fua: bool,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 of a flush.
    pub length: u32,
}

impl ServedEntry {
    /// The flush that its line says came before it.
    fn flush_before(self) -> Self {
        Self {
            op: ServedOp::Flush,
            fua: false,
            offset: 0,
            length: 0,
            ..self
        }
    }
}

/// What a line says.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) arrival: Nanos,
    pub(super) volume: String,
    pub(super) op: ServedOp,
    /// Whether what was written before had to be durable first.
    pub(super) flushes: bool,
    pub(super) fua: bool,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// Whose lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Served,
    Blkparse,
    Msr,
}

impl LineKind {
    /// Whose lines a stream holds that begins with `start`.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        let first = start.split(|byte| *byte == b'\n').next()?;
        let first = std::str::from_utf8(first).ok()?.trim_end();
        if served::is_header(first) {
            Some(Self::Served)
        } else if blkparse::is_line(first) {
            Some(Self::Blkparse)
        } else if msr::is_header(first) || msr::is_line(first) {
            Some(Self::Msr)
        } else {
            None
        }
    }

    /// What a line says; `None` where it is of no I/O that came.
    fn parse(self, line: &str) -> Result<Option<Line>, String> {
        match self {
            Self::Served if served::is_header(line) => Ok(None),
            Self::Served => served::parse(line).map(Some),
            Self::Blkparse => blkparse::parse(line),
            Self::Msr if msr::is_header(line) => Ok(None),
            Self::Msr => msr::parse(line).map(Some),
        }
    }
}

/// Where a reader of such lines is.
pub(super) struct LineFormat {
    kind: LineKind,
    line: u64,
    text: String,
    ahead: BinaryHeap<Reverse<ServedEntry>>,
    ended: bool,
    /// Arrival of the last entry that was given.
    given: Nanos,
}

impl LineFormat {
    /// Before the first line.
    pub(super) fn new(kind: LineKind) -> Self {
        Self {
            kind,
            line: 0,
            text: String::new(),
            ahead: BinaryHeap::new(),
            ended: false,
            given: Nanos::ZERO,
        }
    }

    /// Whether its volumes are block devices by number.
    pub(super) fn names_devices_by_number(&self) -> bool {
        self.kind == LineKind::Blkparse
    }

    /// The entry that arrived next; `None` at the end. After an error that names a line the rest can be read.
    ///
    /// # Errors
    /// Where reading fails, a line is no entry, or one stands too far from its place.
    pub(super) fn next_entry(
        &mut self,
        input: &mut dyn BufRead,
        files: &mut Files,
    ) -> Result<Option<ServedEntry>, TraceError> {
        while !self.ended && self.ahead.len() < LOOK_AHEAD {
            if !self.read_line(input)? {
                self.ended = true;
            } else if !self.text.trim().is_empty()
                && let Some((entry, flushes)) = self.entry(files)?
            {
                if flushes {
                    self.ahead.push(Reverse(entry.flush_before()));
                }
                self.ahead.push(Reverse(entry));
            }
        }
        let Some(Reverse(entry)) = self.ahead.pop() else {
            return Ok(None);
        };
        if entry.arrival < self.given {
            return Err(TraceError::Malformed {
                place: format!("line {}", entry.line),
                what: format!(
                    "it arrived before a line that stands more than {LOOK_AHEAD} lines above it; sort the lines by \
                     their times"
                ),
            });
        }
        self.given = entry.arrival;
        Ok(Some(entry))
    }

    fn malformed(&self, what: &str) -> TraceError {
        TraceError::malformed_line(self.line, &self.text, what)
    }

    /// Reads the next line into `text`; nothing at the end.
    fn read_line(&mut self, input: &mut dyn BufRead) -> Result<bool, TraceError> {
        self.text.clear();
        self.line += 1;
        let read = input.take(LINE_MAX).read_line(&mut self.text);
        let read = read.map_err(|source| TraceError::unread_line(self.line, source))?;
        if read as u64 == LINE_MAX && !self.text.ends_with('\n') {
            // What is left of it would be read as lines of their own.
            self.ended = true;
            return Err(TraceError::Malformed {
                place: format!("line {}", self.line),
                what: "the line is longer than 8 KiB".to_owned(),
            });
        }
        Ok(read > 0)
    }

    /// The entry of the present line, and whether a flush stands before it.
    fn entry(&self, volumes: &mut Files) -> Result<Option<(ServedEntry, bool)>, TraceError> {
        let parsed = self.kind.parse(self.text.trim_end());
        let Some(line) = parsed.map_err(|what| self.malformed(&what))? else {
            return Ok(None);
        };
        let length = match (line.op, u32::try_from(line.length)) {
            (ServedOp::Flush, _) => 0,
            (_, Ok(length)) if length > 0 => length,
            _ => return Err(self.malformed("the length is 0, or 4 GiB and more")),
        };
        if line.offset.checked_add(u64::from(length)).is_none() {
            return Err(self.malformed("it ends past 2^64 bytes"));
        }
        let volume = volumes.number(&line.volume);
        let volume = volume.ok_or_else(|| self.malformed("the trace names too many volumes"))?;
        let entry = ServedEntry {
            arrival: line.arrival,
            line: self.line,
            volume,
            op: line.op,
            fua: line.fua,
            offset: line.offset,
            length,
        };
        Ok(Some((entry, line.flushes)))
    }
}

/// The whole number that a column holds.
pub(super) fn whole(text: &str, what: &str) -> Result<u64, String> {
    let value = text.trim().parse::<u64>();
    value.map_err(|_| format!("{what} `{text}` is no whole number"))
}
