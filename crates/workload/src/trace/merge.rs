//! Several binary traces of `blktrace` as one, in the order of their times.
//!
//! What is merged is what would be replayed: requests as they were queued. Each trace is read piece by piece, and again for
//! each of its passes; a pass begins where the one before it ended, at the time of that one's last record of any kind.
//!
//! Invariant: of records with one time, those of the trace that was named first come first.

use std::io::{self, BufRead, Write};

use super::TraceError;
use super::blktrace::{BlktraceFormat, RECORD_BYTES, set_time, time_of};

/// What is done to one trace on its way into the merged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergePass {
    /// Its times, in percent of what they are: 50 makes it twice as fast.
    pub scale: u32,
    /// How often it comes, one pass after another.
    pub passes: u32,
}

/// Why traces cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A trace cannot be opened.
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
    /// The merged trace cannot be written.
    #[error("{0}")]
    Write(io::Error),
}

/// Opens trace `number` from its start.
pub type OpenTrace<'a> = &'a dyn Fn(usize) -> io::Result<Box<dyn BufRead + Send>>;

/// One trace, and the record of it that comes next.
struct Cursor {
    number: usize,
    how: MergePass,
    pass: u32,
    input: Box<dyn BufRead + Send>,
    format: BlktraceFormat,
    next: [u8; RECORD_BYTES],
    /// Time of the last record, known once a pass is over.
    length: u64,
}

/// Writes the traces that `open` opens as one to `output`. Returns how many records that are.
///
/// # Errors
/// The number of the trace that is at fault, and what is wrong; for the merged one that of the last.
pub fn merge_blktraces(
    open: OpenTrace<'_>,
    traces: &[MergePass],
    output: &mut dyn Write,
) -> Result<u64, (usize, MergeError)> {
    let mut cursors = Vec::with_capacity(traces.len());
    for (number, how) in traces.iter().enumerate() {
        let cursor = Cursor::new(open, number, *how);
        cursors.extend(cursor.map_err(|error| (number, error))?);
    }
    let mut count = 0;
    // The first of several with one time.
    while let Some(at) = (0..cursors.len()).min_by_key(|at| time_of(&cursors[*at].next)) {
        let cursor = &mut cursors[at];
        let number = cursor.number;
        let written = output.write_all(&cursor.next).map_err(MergeError::Write);
        let more = written.and_then(|()| cursor.advance(open));
        if !more.map_err(|error| (number, error))? {
            cursors.remove(at);
        }
        count += 1;
    }
    let flushed = output.flush().map_err(MergeError::Write);
    flushed.map_err(|error| (traces.len().saturating_sub(1), error))?;
    Ok(count)
}

impl Cursor {
    /// At the first record; `None` where there is none.
    fn new(open: OpenTrace<'_>, number: usize, how: MergePass) -> Result<Option<Self>, MergeError> {
        let (input, format) = begin(open, number)?;
        let mut cursor = Self {
            number,
            how,
            pass: 0,
            input,
            format,
            next: [0; RECORD_BYTES],
            length: 0,
        };
        Ok(cursor.in_pass()?.then_some(cursor))
    }

    /// Goes to the next record, in this pass or another; whether there is one.
    fn advance(&mut self, open: OpenTrace<'_>) -> Result<bool, MergeError> {
        if self.in_pass()? {
            return Ok(true);
        }
        self.pass += 1;
        if self.pass >= self.how.passes {
            return Ok(false);
        }
        self.length = self.format.last_time;
        (self.input, self.format) = begin(open, self.number)?;
        self.in_pass()
    }

    /// Goes to the next record of this pass; whether there is one.
    fn in_pass(&mut self) -> Result<bool, MergeError> {
        let Some(mut record) = self.format.next_queued(&mut *self.input)? else {
            return Ok(false);
        };
        let begun = u128::from(self.pass) * u128::from(self.length);
        let time = (u128::from(time_of(&record)) + begun) * u128::from(self.how.scale) / 100;
        set_time(
            &mut record,
            u64::try_from(time).map_err(|_| MergeError::TooLong)?,
        );
        self.next = record;
        Ok(true)
    }
}

fn begin(
    open: OpenTrace<'_>,
    number: usize,
) -> Result<(Box<dyn BufRead + Send>, BlktraceFormat), MergeError> {
    let mut input = open(number).map_err(MergeError::Open)?;
    let start = input.fill_buf().map_err(MergeError::Open)?;
    let format = BlktraceFormat::of(start).ok_or(MergeError::OtherFormat)?;
    Ok((input, format))
}
