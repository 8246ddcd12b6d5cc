//! Recorded traces of I/O: reading them piece by piece, and writing one.
//!
//! Two formats are read and told apart by their first bytes: fio's text (its manual, "Trace file format v2" and "v3") and
//! the binary stream of `blktrace` (`blktrace.rs`). One text format is written, version 3. What a served run leaves is a
//! third, read by itself (`served.rs`).
//!
//! Invariants: nothing of a trace is held but the names of its files; what cannot be read is an error with its place;
//! entries come in the order of the trace, and their times never run backwards.

mod blktrace;
mod merge;
mod served;
mod summary;
mod text;

use std::collections::HashMap;
use std::io::{self, BufRead};

use fathom_units::Nanos;

use crate::Direction;

pub use merge::{MergeError, MergedTrace, OpenTrace, merge_blktraces, merged_summary};
pub use served::{LOOK_AHEAD, ServedEntry, ServedOp, ServedTrace};
pub use summary::TraceSummary;
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

/// A trace being read.
pub struct TraceReader<I = Box<dyn BufRead + Send>> {
    input: I,
    format: Format,
    files: Files,
    clock: TraceClock,
}

enum Format {
    Text(text::TextFormat),
    Blktrace(blktrace::BlktraceFormat),
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
        let format = match blktrace::BlktraceFormat::of(start) {
            Some(format) => Format::Blktrace(format),
            None => Format::Text(text::TextFormat::read(&mut input)?),
        };
        Ok(Self {
            input,
            format,
            files: Files::default(),
            clock: TraceClock::default(),
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
        }
    }

    /// Names of the files met so far; those of a `blktrace` stream are `MAJOR:MINOR`.
    pub fn files(&self) -> &[String] {
        &self.files.names
    }

    /// Most requests outstanding so far, where the trace tells completions too.
    pub fn depth(&self) -> Option<u32> {
        match &self.format {
            Format::Text(_) => None,
            Format::Blktrace(format) => Some(format.outstanding_max.max(1)),
        }
    }

    /// Whether its files are block devices by number.
    pub fn names_devices_by_number(&self) -> bool {
        matches!(self.format, Format::Blktrace(_))
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
