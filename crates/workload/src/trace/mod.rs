//! Recorded traces of I/O: reading them piece by piece, and writing one.
//!
//! Formats are told apart by how a file begins, whatever its name: fio's text (its manual, "Trace file format v2" and "v3"),
//! the binary stream of `blktrace` (`blktrace.rs`), and lines of one I/O each (`lines.rs`): what a served run leaves, what
//! `blkparse` prints, and the CSV of the traces of Microsoft Research Cambridge. One text format is written, version 3.
//!
//! A trace can be read as what is to be done ([`TraceReader::next_entry`]), or as what came to storage
//! ([`TraceReader::next_arrival`]), which keeps what real storage cannot be told alike: durable writes and zeroes.
//!
//! Invariants: nothing of a trace is held but the names of its files; what cannot be read is an error with its place;
//! entries come in the order of the trace, and their times never run backwards.

mod arrivals;
mod blkparse;
mod blktrace;
mod foreign;
mod lines;
mod merge;
mod msr;
mod served;
mod shape;
mod summary;
mod text;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead};

use fathom_units::Nanos;

use crate::{Direction, Replay};

pub use lines::{LOOK_AHEAD, ServedEntry, ServedOp};
pub use merge::{MergeError, MergedTrace, OpenTrace, merge_blktraces, merged_summary};
pub use summary::{FileUse, TraceSummary};
pub use text::{HEADER_V3, write_file_action, write_io};

/// Most files of a trace.
pub const TRACE_FILES_MAX: usize = 65_536;

/// What a trace says was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceAction {
    /// A read, write or trim of some bytes.
    Io {
        /// Which way data moved.
        direction: Direction,
        /// First byte.
        offset: u64,
        /// Bytes, at least 1.
        length: u32,
        /// Whether a write was durable when it completed.
        durable: bool,
    },
    /// Data was made durable.
    Sync {
        /// `fdatasync` rather than `fsync`.
        data_only: bool,
    },
    /// Nothing for this long, counted from the end of the last such wait.
    Wait(Nanos),
    /// The file is named, opened or closed; nothing is to be done.
    File,
}

/// One entry of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// Time since the first entry; `None` in a format without times.
    pub at: Option<Nanos>,
    /// Number of the file, in the order in which the trace first names them.
    pub file: u32,
    /// What was done.
    pub action: TraceAction,
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading it failed.
    #[error("{place}: {source}")]
    Io {
        /// Line or record.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// It holds something that is no part of its format.
    #[error("{place}: {what}")]
    Malformed {
        /// Line or record.
        place: String,
        /// What is wrong.
        what: String,
    },
}

impl TraceError {
    /// What reading line `number` met: where that is no text, it is no error of the system.
    fn unread_line(number: u64, source: io::Error) -> Self {
        let place = format!("line {number}");
        if source.kind() != io::ErrorKind::InvalidData {
            return Self::Io { place, source };
        }
        let what = "it holds bytes that are no text in UTF-8".to_owned();
        Self::Malformed { place, what }
    }

    /// What is wrong with line `number`, which is `text`; the last one may have been cut.
    fn malformed_line(number: u64, text: &str, what: &str) -> Self {
        let cut = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            " (it is the last line and has no end: the trace was cut short)"
        };
        Self::Malformed {
            place: format!("line {number}"),
            what: format!("{what}{cut}"),
        }
    }
}

/// A trace being read.
pub struct TraceReader<I = Box<dyn BufRead + Send>> {
    input: I,
    format: Format,
    files: Files,
    clock: TraceClock,
    /// What follows from the entry that was given last.
    pending: VecDeque<TraceEntry>,
    /// End of the waits so far, in a format without times.
    waited: Nanos,
    /// Requests for zeroes so far, of each file.
    zeroes: Vec<u64>,
}

enum Format {
    Text(text::TextFormat),
    Blktrace(blktrace::BlktraceFormat),
    Lines(Box<lines::LineFormat>),
}

/// The names of a trace's files, in the order of their first mention.
#[derive(Debug, Default)]
struct Files {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Files {
    /// The number of `name`; `None` where there are too many names.
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if self.names.len() >= TRACE_FILES_MAX {
            return None;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Some(number)
    }
}

/// Turns the times of a trace into times since its first entry that never run backwards.
#[derive(Debug, Default)]
struct TraceClock {
    last: Option<Nanos>,
    at: Nanos,
}

impl TraceClock {
    fn at(&mut self, time: Nanos) -> Nanos {
        let since = self
            .last
            .map_or(Nanos::ZERO, |last| time.saturating_sub(last));
        self.at = self.at.saturating_add(since);
        self.last = Some(time);
        self.at
    }
}

impl<I: BufRead> TraceReader<I> {
    /// Looks at the first bytes of `input` to tell its format.
    ///
    /// # Errors
    /// Where it is no trace of a known format.
    pub fn new(mut input: I) -> Result<Self, TraceError> {
        let start = input.fill_buf().map_err(|source| TraceError::Io {
            place: "its start".to_owned(),
            source,
        })?;
        let what = foreign::foreign(start);
        let format = if let Some(format) = blktrace::BlktraceFormat::of(start) {
            Format::Blktrace(format)
        } else if let Some(kind) = lines::LineKind::of(start) {
            Format::Lines(Box::new(lines::LineFormat::new(kind)))
        } else {
            let what = what.map_or_else(|| foreign::beginning(start), |what| Some(what.to_owned()));
            Format::Text(text::TextFormat::read(&mut input, what.as_deref())?)
        };
        Ok(Self {
            input,
            format,
            files: Files::default(),
            clock: TraceClock::default(),
            pending: VecDeque::new(),
            waited: Nanos::ZERO,
            zeroes: Vec::new(),
        })
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// Where reading fails, or what is read is no entry.
    pub fn next_entry(&mut self) -> Result<Option<TraceEntry>, TraceError> {
        let (input, files, clock) = (&mut self.input, &mut self.files, &mut self.clock);
        match &mut self.format {
            Format::Text(format) => format.next_entry(input, files, clock),
            Format::Blktrace(format) => format.next_entry(input, files, clock),
            Format::Lines(format) => {
                if self.pending.is_empty()
                    && let Some(entry) = format.next_entry(input, files)?
                {
                    let at = clock.at(entry.arrival);
                    if entry.op == ServedOp::Zeroes {
                        let file = entry.volume as usize;
                        self.zeroes.resize(self.zeroes.len().max(file + 1), 0);
                        self.zeroes[file] += 1;
                    }
                    self.pending.extend(entry.asked(at));
                }
                Ok(self.pending.pop_front())
            }
        }
    }

    /// Reads a trace as `replay` has it: in fio's place without what [`Replay::plain_writes`] leaves out.
    #[must_use]
    pub fn replayed_by(mut self, replay: &Replay) -> Self {
        if let Format::Blktrace(format) = &mut self.format {
            format.tells_barriers = !replay.plain_writes;
        }
        self
    }

    /// Names of the files met so far; those of `blktrace` and `blkparse` are `MAJOR:MINOR`.
    pub fn files(&self) -> &[String] {
        &self.files.names
    }

    /// Most requests outstanding so far, where the trace tells completions too.
    pub fn depth(&self) -> Option<u32> {
        match &self.format {
            Format::Text(_) | Format::Lines(_) => None,
            Format::Blktrace(format) => Some(format.outstanding_max.max(1)),
        }
    }

    /// Whether its entries have times.
    pub fn has_times(&self) -> bool {
        match &self.format {
            Format::Text(format) => format.has_times(),
            Format::Blktrace(_) | Format::Lines(_) => true,
        }
    }

    /// Whether its files are block devices by number.
    pub fn names_devices_by_number(&self) -> bool {
        match &self.format {
            Format::Text(_) => false,
            Format::Blktrace(_) => true,
            Format::Lines(format) => format.names_devices_by_number(),
        }
    }
}

impl<I> std::fmt::Debug for TraceReader<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceReader")
            .field("files", &self.files.names.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
