//! fio's text traces.
//!
//! ```text
//! fio version 3 iolog
//! 0 /mnt/file add
//! 20 /mnt/file open
//! 1250 /mnt/file write 4096 512
//! 1300 /mnt/file close
//! ```
//!
//! A line of version 3 has a time in microseconds, a file name without blanks, an action and, for I/O, offset and length in
//! bytes. Version 2 has no times, but the action `wait` with microseconds in place of the offset.
//!
//! fio appends to a trace that is there, so that the first line stands once more wherever a further run, or a clone of the job,
//! begins. It also writes lines of `sync_file_range`, which it does not read.
//!
//! Source: the sections "Trace file format v2" and "v3" of fio's HOWTO (3.42), and what fio 3.42 writes.

use std::io::{self, BufRead, Read as _, Write};

use fathom_units::Nanos;

use super::{Files, TraceAction, TraceClock, TraceEntry, TraceError};
use crate::Direction;

/// First line of what is written.
pub const HEADER_V3: &str = "fio version 3 iolog";
const HEADER_V2: &str = "fio version 2 iolog";
/// What is told of a file that is nothing known.
const OTHER: &str = "it begins as none of `fathom serve --trace`, of fio's `write_iolog` (version 2 or 3), of blktrace or \
                     blkparse, and is no CSV as the traces of MSR Cambridge are";
/// Characters of a first line that are told.
const SHOWN_MOST: usize = 60;
/// Longest line: a path, and room for the rest.
const LINE_MAX: u64 = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl Version {
    /// The first line of a trace of this version.
    const fn header(self) -> &'static str {
        match self {
            Self::Two => HEADER_V2,
            Self::Three => HEADER_V3,
        }
    }
}

/// Where a reader of a text trace is.
#[derive(Debug)]
pub(super) struct TextFormat {
    version: Version,
    line: u64,
    text: String,
}

impl TextFormat {
    /// Reads the first line; `known`: what the file is where it is no trace.
    pub(super) fn read(input: &mut dyn BufRead, known: Option<&str>) -> Result<Self, TraceError> {
        let none = |what: &str| TraceError::Malformed {
            place: "line 1".to_owned(),
            what: format!("it is no trace: {what}"),
        };
        if let Some(known) = known {
            return Err(none(known));
        }
        let mut format = Self {
            version: Version::Three,
            line: 0,
            text: String::new(),
        };
        format.read_line(input)?;
        format.version = match &format.text {
            first if first.starts_with(HEADER_V3) => Version::Three,
            first if first.starts_with(HEADER_V2) => Version::Two,
            first if first.is_empty() => return Err(none("it is empty")),
            first => {
                let shown: String = first.trim_end().chars().take(SHOWN_MOST).collect();
                return Err(none(&format!("{OTHER}; its first line is {shown:?}")));
            }
        };
        Ok(format)
    }

    /// Whether its lines have times.
    pub(super) fn has_times(&self) -> bool {
        self.version == Version::Three
    }

    /// The number of the line that was read last.
    pub(super) fn line(&self) -> u64 {
        self.line
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
            return Err(self.malformed("the line is longer than 8 KiB"));
        }
        Ok(read > 0)
    }

    pub(super) fn next_entry(
        &mut self,
        input: &mut dyn BufRead,
        files: &mut Files,
        clock: &mut TraceClock,
    ) -> Result<Option<TraceEntry>, TraceError> {
        loop {
            if !self.read_line(input)? {
                return Ok(None);
            }
            if self.text.trim().is_empty() || self.text.starts_with(self.version.header()) {
                continue;
            }
            if let Some(entry) = self.entry(files, clock)? {
                return Ok(Some(entry));
            }
        }
    }

    /// The entry of the present line; `None` where it says nothing to this version.
    fn entry(
        &self,
        files: &mut Files,
        clock: &mut TraceClock,
    ) -> Result<Option<TraceEntry>, TraceError> {
        let mut words = self.text.split_ascii_whitespace();
        let number = |word: Option<&str>, what: &str| {
            let value = word.and_then(|word| word.parse::<u64>().ok());
            value.ok_or_else(|| self.malformed(&format!("{what} is missing or no whole number")))
        };
        let at = match self.version {
            Version::Two => None,
            Version::Three => {
                let micros = number(words.next(), "the time in microseconds")?;
                let time = micros.checked_mul(1000).map(Nanos::new);
                let time = time.ok_or_else(|| self.malformed("the time is too long"))?;
                Some(clock.at(time))
            }
        };
        let (Some(name), Some(action)) = (words.next(), words.next()) else {
            return Err(self.malformed("a file and an action are missing"));
        };
        let direction = match action {
            "read" => Some(Direction::Read),
            "write" => Some(Direction::Write),
            "trim" => Some(Direction::Trim),
            _ => None,
        };
        let action = match (action, direction) {
            ("add" | "open" | "close", _) => TraceAction::File,
            ("wait", _) if self.version == Version::Three => return Ok(None),
            ("sync_file_range", _) => return Ok(None),
            ("wait", _) => {
                let micros = number(words.next(), "the length of the wait")?;
                let time = micros.checked_mul(1000).map(Nanos::new);
                TraceAction::Wait(time.ok_or_else(|| self.malformed("the wait is too long"))?)
            }
            ("sync", _) => TraceAction::Sync { data_only: false },
            ("datasync", _) => TraceAction::Sync { data_only: true },
            (_, Some(direction)) => {
                let offset = number(words.next(), "the offset")?;
                let length = number(words.next(), "the length")?;
                let fits = u32::try_from(length).ok().filter(|length| {
                    *length > 0 && offset.checked_add(u64::from(*length)).is_some()
                });
                let length =
                    fits.ok_or_else(|| self.malformed("the length is 0 or exceeds 4 GiB"))?;
                TraceAction::Io {
                    direction,
                    offset,
                    length,
                    durable: false,
                }
            }
            (other, None) => {
                return Err(self.malformed(&format!("`{other}` is no action of a trace")));
            }
        };
        let file = files.number(name);
        let file = file.ok_or_else(|| self.malformed("the trace names more than 65,536 files"))?;
        Ok(Some(TraceEntry { at, file, action }))
    }
}

/// Writes the line of an I/O: `kind` is `read`, `write`, `trim`, `sync` or `datasync`.
///
/// # Errors
/// Those of `out`.
pub fn write_io(
    out: &mut dyn Write,
    at: Nanos,
    path: &str,
    kind: &str,
    offset: u64,
    length: u32,
) -> io::Result<()> {
    let micros = at.get() / 1000;
    writeln!(out, "{micros} {path} {kind} {offset} {length}")
}

/// Writes the line of what happened to a file: `action` is `add`, `open` or `close`.
///
/// # Errors
/// Those of `out`.
pub fn write_file_action(
    out: &mut dyn Write,
    at: Nanos,
    path: &str,
    action: &str,
) -> io::Result<()> {
    writeln!(out, "{} {path} {action}", at.get() / 1000)
}
