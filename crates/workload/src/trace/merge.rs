//! Several binary traces of `blktrace` as one, in the order of their times.
//!
//! What is merged is what would be replayed: requests as they were queued. Each trace is read piece by piece, and again for
//! each of its passes; a pass begins where the one before it ended, at the time of that one's last record of any kind.
//!
//! Invariant: of records with one time, those of the trace that was named first come first.

use std::io::{self, BufRead, BufReader, Read, Write};

use super::blktrace::{BlktraceFormat, RECORD_BYTES, set_time, time_of};
use super::{TraceError, TraceReader, TraceSummary};
use crate::{Replay, TracePart};

/// Why traces cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A trace cannot be used.
    #[error("trace `{path}`: {source}")]
    Part {
        /// Which one.
        path: String,
        /// Why not.
        source: PartError,
    },
    /// The merged trace cannot be written.
    #[error("{0}")]
    Write(io::Error),
}

/// What is wrong with one of the traces.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// It cannot be opened.
    #[error("{0}")]
    Open(io::Error),
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It is of another format.
    #[error("it is no binary trace of blktrace")]
    OtherFormat,
    /// Its times, scaled and repeated, are no number of nanoseconds any more.
    #[error("its times exceed 584 years")]
    TooLong,
}

/// Opens a trace from its start.
pub type OpenTrace<'a> = &'a dyn Fn(&str) -> io::Result<Box<dyn BufRead + Send>>;

/// One trace, and the record of it that comes next.
struct Cursor<'a> {
    part: &'a TracePart,
    pass: u32,
    input: Box<dyn BufRead + Send>,
    format: BlktraceFormat,
    next: [u8; RECORD_BYTES],
    /// Time of the last record, known once a pass is over.
    length: u64,
}

/// The merged trace, as it would be read from a file.
pub struct MergedTrace<'a> {
    open: OpenTrace<'a>,
    cursors: Vec<Cursor<'a>>,
    record: [u8; RECORD_BYTES],
    /// Bytes of `record` that were read; all of them before the first.
    taken: usize,
}

/// Writes `parts`, as `open` opens them, as one trace to `output`.
///
/// # Errors
/// Which trace is at fault, and why, or that the merged one cannot be written.
pub fn merge_blktraces(
    open: OpenTrace<'_>,
    parts: &[TracePart],
    output: &mut dyn Write,
) -> Result<(), MergeError> {
    let mut merged = MergedTrace::new(open, parts)?;
    while let Some(record) = merged.next_record()? {
        output.write_all(&record).map_err(MergeError::Write)?;
    }
    output.flush().map_err(MergeError::Write)
}

/// What the traces hold that `replay` merges.
///
/// # Errors
/// A sentence on the trace that is at fault, which names what it is merged into.
pub fn merged_summary(open: OpenTrace<'_>, replay: &Replay) -> Result<TraceSummary, String> {
    let into = &replay.path;
    let of_merge = |error: &MergeError| match error {
        MergeError::Part { path, source } => {
            format!("trace `{path}`, to be merged into `{into}`: {source}")
        }
        MergeError::Write(error) => format!("trace `{into}`: {error}"),
    };
    let merged = MergedTrace::new(open, &replay.merged).map_err(|error| of_merge(&error))?;
    let trace = TraceReader::new(BufReader::new(merged));
    let summary = trace.and_then(|trace| TraceSummary::of(trace, replay));
    summary.map_err(|error| {
        // What reading the merged trace met is in one of its parts, wherever in the whole that is.
        let source = match &error {
            TraceError::Io { source, .. } => source.get_ref(),
            TraceError::Malformed { .. } => None,
        };
        let of_part = source.and_then(|source| source.downcast_ref::<MergeError>());
        of_part.map_or_else(|| format!("trace `{into}`: {error}"), of_merge)
    })
}

impl<'a> MergedTrace<'a> {
    /// At the first record of each part.
    ///
    /// # Errors
    /// Which trace is at fault, and why.
    pub fn new(open: OpenTrace<'a>, parts: &'a [TracePart]) -> Result<Self, MergeError> {
        let mut cursors = Vec::with_capacity(parts.len());
        for part in parts {
            let cursor = Cursor::new(open, part);
            cursors.extend(cursor.map_err(|error| of_part(part, error))?);
        }
        Ok(Self {
            open,
            cursors,
            record: [0; RECORD_BYTES],
            taken: RECORD_BYTES,
        })
    }

    /// The next record; `None` at the end.
    fn next_record(&mut self) -> Result<Option<[u8; RECORD_BYTES]>, MergeError> {
        let cursors = &mut self.cursors;
        // The first of several with one time.
        let Some(at) = (0..cursors.len()).min_by_key(|at| time_of(&cursors[*at].next)) else {
            return Ok(None);
        };
        let cursor = &mut cursors[at];
        let record = cursor.next;
        let more = cursor.advance(self.open);
        if !more.map_err(|error| of_part(cursor.part, error))? {
            cursors.remove(at);
        }
        Ok(Some(record))
    }
}

impl Read for MergedTrace<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == RECORD_BYTES {
            match self.next_record().map_err(io::Error::other)? {
                Some(record) => self.record = record,
                None => return Ok(0),
            }
            self.taken = 0;
        }
        let count = (&self.record[self.taken..]).read(into)?;
        self.taken += count;
        Ok(count)
    }
}

impl std::fmt::Debug for MergedTrace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergedTrace")
            .field("cursors", &self.cursors.len())
            .finish_non_exhaustive()
    }
}

fn of_part(part: &TracePart, source: PartError) -> MergeError {
    MergeError::Part {
        path: part.path.clone(),
        source,
    }
}

impl<'a> Cursor<'a> {
    /// At the first record; `None` where there is none.
    fn new(open: OpenTrace<'_>, part: &'a TracePart) -> Result<Option<Self>, PartError> {
        let (input, format) = begin(open, part)?;
        let mut cursor = Self {
            part,
            pass: 0,
            input,
            format,
            next: [0; RECORD_BYTES],
            length: 0,
        };
        Ok(cursor.in_pass()?.then_some(cursor))
    }

    /// Goes to the next record, in this pass or another; whether there is one.
    fn advance(&mut self, open: OpenTrace<'_>) -> Result<bool, PartError> {
        if self.in_pass()? {
            return Ok(true);
        }
        self.pass += 1;
        if self.pass >= self.part.passes {
            return Ok(false);
        }
        self.length = self.format.last_time;
        (self.input, self.format) = begin(open, self.part)?;
        self.in_pass()
    }

    /// Goes to the next record of this pass; whether there is one.
    fn in_pass(&mut self) -> Result<bool, PartError> {
        let Some(mut record) = self.format.next_queued(&mut *self.input)? else {
            return Ok(false);
        };
        let begun = u128::from(self.pass) * u128::from(self.length);
        let time = (u128::from(time_of(&record)) + begun) * u128::from(self.part.scale) / 100;
        let time = u64::try_from(time).map_err(|_| PartError::TooLong)?;
        set_time(&mut record, time);
        self.next = record;
        Ok(true)
    }
}

fn begin(
    open: OpenTrace<'_>,
    part: &TracePart,
) -> Result<(Box<dyn BufRead + Send>, BlktraceFormat), PartError> {
    let mut input = open(&part.path).map_err(PartError::Open)?;
    let start = input.fill_buf().map_err(PartError::Open)?;
    let format = BlktraceFormat::of(start).ok_or(PartError::OtherFormat)?;
    Ok((input, format))
}
