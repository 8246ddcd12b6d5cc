//! Traces of served runs: every I/O that modelled storage served, one line each.
//!
//! ```text
//! arrival_ns,volume,op,offset,length,due_ns,done_ns,limit
//! 1000000,vm/data,read,8192,4096,1200000,1210500,disk-iops
//! 1000350,vm/data,write+fua,12288,4096,3200000,3201000,
//! 1004000,vm/data,flush,0,0,1004000,1005100,
//! ```
//!
//! Operations are `read`, `write`, `flush`, `trim` and `zeroes`; `+fua` behind `write` or `zeroes` says that it was durable
//! when it completed. Times are of one clock. Columns behind `length` are what came of the I/O, and are not read. Lines may
//! stand in the order in which I/Os completed: entries come in the order of their arrivals, as long as no line stands more
//! than [`LOOK_AHEAD`] lines behind its place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufRead, Read as _};

use fathom_units::Nanos;

use super::{Files, TraceError};

/// How the first line begins.
const COLUMNS: &str = "arrival_ns,volume,op,offset,length";
/// Longest line.
const LINE_MAX: u64 = 8192;
/// Lines that are read ahead, to put them in order: some 10 MB.
pub const LOOK_AHEAD: usize = 1 << 17;

/// What a served I/O did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedOp {
    /// Read data.
    Read,
    /// Wrote data.
    Write,
    /// Made what was written before durable.
    Flush,
    /// Said that data is not needed any more.
    Trim,
    /// Wrote zeroes that were not sent.
    Zeroes,
}

/// One I/O of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedEntry {
    /// When it came, on the trace's clock.
    pub arrival: Nanos,
    /// Its line.
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

/// A trace being read.
pub struct ServedTrace {
    input: Box<dyn BufRead + Send>,
    line: u64,
    text: String,
    volumes: Files,
    ahead: BinaryHeap<Reverse<ServedEntry>>,
    ended: bool,
    /// Arrival of the last entry that was given.
    given: Nanos,
}

impl ServedTrace {
    /// Reads the first line of `input`.
    ///
    /// # Errors
    /// Where it is no trace of a served run.
    pub fn new(input: Box<dyn BufRead + Send>) -> Result<Self, TraceError> {
        let mut trace = Self {
            input,
            line: 0,
            text: String::new(),
            volumes: Files::default(),
            ahead: BinaryHeap::new(),
            ended: false,
            given: Nanos::ZERO,
        };
        trace.read_line()?;
        let first = trace.text.trim_end();
        if first == COLUMNS || first.starts_with(&format!("{COLUMNS},")) {
            return Ok(trace);
        }
        let what = format!("it is no trace of a served run: its first line is not `{COLUMNS},…`");
        Err(trace.malformed(&what))
    }

    /// The entry that arrived next; `None` at the end. After an error that names a line the rest can be read.
    ///
    /// # Errors
    /// Where reading fails, a line is no entry, or one stands too far from its place.
    pub fn next_entry(&mut self) -> Result<Option<ServedEntry>, TraceError> {
        while !self.ended && self.ahead.len() < LOOK_AHEAD {
            if !self.read_line()? {
                self.ended = true;
            } else if !self.text.trim().is_empty() {
                let entry = self.entry()?;
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
                     their first column"
                ),
            });
        }
        self.given = entry.arrival;
        Ok(Some(entry))
    }

    /// Names of the volumes met so far.
    pub fn volumes(&self) -> &[String] {
        &self.volumes.names
    }

    fn malformed(&self, what: &str) -> TraceError {
        TraceError::Malformed {
            place: format!("line {}", self.line),
            what: what.to_owned(),
        }
    }

    /// Reads the next line into `text`; nothing at the end.
    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.text.clear();
        self.line += 1;
        let read = self.input.as_mut().take(LINE_MAX).read_line(&mut self.text);
        let place = || format!("line {}", self.line);
        let read = read.map_err(|source| TraceError::Io {
            place: place(),
            source,
        })?;
        if read as u64 == LINE_MAX && !self.text.ends_with('\n') {
            // What is left of it would be read as lines of their own.
            self.ended = true;
            return Err(self.malformed("the line is longer than 8 KiB"));
        }
        Ok(read > 0)
    }

    /// The entry of the present line.
    fn entry(&mut self) -> Result<ServedEntry, TraceError> {
        let columns: Vec<&str> = self.text.trim_end().splitn(6, ',').collect();
        let [arrival, volume, op, offset, length, ..] = columns.as_slice() else {
            return Err(self.malformed(&format!("it has fewer columns than `{COLUMNS}`")));
        };
        let number = |text: &str, what: &str| {
            let value = text.trim().parse::<u64>();
            value.map_err(|_| self.malformed(&format!("{what} `{text}` is no whole number")))
        };
        let arrival = Nanos::new(number(arrival, "the arrival")?);
        let (offset, length) = (number(offset, "the offset")?, number(length, "the length")?);
        let (op, fua) = self.operation(op.trim())?;
        let length = match (op, u32::try_from(length)) {
            (ServedOp::Flush, _) => 0,
            (_, Ok(length)) if length > 0 => length,
            _ => return Err(self.malformed("the length is 0, or 4 GiB and more")),
        };
        if offset.checked_add(u64::from(length)).is_none() {
            return Err(self.malformed("it ends past 2^64 bytes"));
        }
        let name = volume.trim().to_owned();
        let volume = self.volumes.number(&name);
        let volume = volume.ok_or_else(|| self.malformed("the trace names too many volumes"))?;
        Ok(ServedEntry {
            arrival,
            line: self.line,
            volume,
            op,
            fua,
            offset,
            length,
        })
    }

    fn operation(&self, text: &str) -> Result<(ServedOp, bool), TraceError> {
        let (name, fua) = match text.strip_suffix("+fua") {
            Some(name) => (name, true),
            None => (text, false),
        };
        match (name, fua) {
            ("read", false) => Ok((ServedOp::Read, false)),
            ("write", fua) => Ok((ServedOp::Write, fua)),
            ("zeroes", fua) => Ok((ServedOp::Zeroes, fua)),
            ("flush", false) => Ok((ServedOp::Flush, false)),
            ("trim", false) => Ok((ServedOp::Trim, false)),
            _ => Err(self.malformed(&format!(
                "`{text}` is no operation: it must be `read`, `write`, `flush`, `trim` or `zeroes`, and `+fua` may \
                 follow `write` and `zeroes`"
            ))),
        }
    }
}

impl std::fmt::Debug for ServedTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedTrace")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<ServedTrace, TraceError> {
        ServedTrace::new(Box::new(std::io::Cursor::new(text.to_owned())))
    }

    fn header(lines: &str) -> String {
        format!("{COLUMNS},due_ns,done_ns,limit\n{lines}")
    }

    #[test]
    fn entries_come_in_the_order_of_their_arrivals() {
        let lines = "30,b,read,0,512,40,41,disk-iops\n10,a,write+fua,4096,4096,50,51,\n\n20,a,flush,0,0,60,61,\n\
                     20,b,zeroes,1,2,70,71,\n25,a,trim,3,4294967295,80,81";
        let mut trace = open(&header(lines)).unwrap();
        let mut found = Vec::new();
        while let Some(entry) = trace.next_entry().unwrap() {
            found.push((
                entry.arrival.get(),
                entry.volume,
                entry.op,
                entry.fua,
                entry.length,
            ));
        }
        let expected = [
            (10, 1, ServedOp::Write, true, 4096),
            (20, 1, ServedOp::Flush, false, 0),
            (20, 0, ServedOp::Zeroes, false, 2),
            (25, 1, ServedOp::Trim, false, u32::MAX),
            (30, 0, ServedOp::Read, false, 512),
        ];
        assert_eq!(found, expected);
        assert_eq!(trace.volumes(), ["b", "a"]);
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = match open(text) {
            Err(error) => error.to_string(),
            Ok(mut trace) => trace.next_entry().unwrap_err().to_string(),
        };
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn errors_name_their_line() {
        check("", "line 1: it is no trace of a served run");
        check(
            "fio version 3 iolog\n",
            "line 1: it is no trace of a served run",
        );
        check(&header("1,a,read,0\n"), "line 2: it has fewer columns");
        check(
            &header("x,a,read,0,1\n"),
            "line 2: the arrival `x` is no whole number",
        );
        check(&header("1,a,read,-5,1\n"), "line 2: the offset `-5`");
        check(&header("\n1,a,read,0,0\n"), "line 3: the length is 0");
        check(
            &header("1,a,read,0,4294967296\n"),
            "line 2: the length is 0, or 4 GiB",
        );
        check(&header("1,a,read,18446744073709551615,2\n"), "past 2^64");
        check(&header("1,a,read+fua,0,1\n"), "`read+fua` is no operation");
        check(&header("1,a,sync,0,1\n"), "`sync` is no operation");
        check(&header(&"x".repeat(9000)), "longer than 8 KiB");
    }

    #[test]
    fn a_line_too_far_from_its_place_is_an_error() {
        let many = (0..=LOOK_AHEAD).map(|line| format!("{},a,read,0,1\n", line + 10));
        let text = header(&(many.collect::<String>() + "5,a,read,0,1\n"));
        let mut trace = open(&text).unwrap();
        let error = loop {
            match trace.next_entry() {
                Ok(entry) => assert!(entry.is_some()),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("sort the lines"), "{error}");
    }
}
