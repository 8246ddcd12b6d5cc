//! The binary stream of `blktrace`.
//!
//! Records of 48 bytes, each followed by as many bytes of payload as it says. Only what was queued counts; what the block
//! layer made of it (merges, splits, issues, completions) is its own doing. A write can ask for a flush before it, and to be
//! durable when it completes (FUA): the flush is an entry of its own at the same time.
//!
//! Source: `struct blk_io_trace` and `enum blktrace_cat` of `linux/blktrace_api.h`.

use std::io::{self, BufRead, Read as _};

use fathom_units::Nanos;

use super::{Files, TraceAction, TraceClock, TraceEntry, TraceError};
use crate::Direction;

pub(super) const RECORD_BYTES: usize = 48;
/// `BLK_IO_TRACE_MAGIC`; its lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// `__BLK_TA_QUEUE`, in the lower half of an action.
const QUEUED: u32 = 1;
const BACK_MERGED: u32 = 2;
const FRONT_MERGED: u32 = 3;
const COMPLETE: u32 = 8;
/// Categories, in the upper half of an action.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
/// A device number has 20 bits of minor number.
const MINOR_BITS: u32 = 20;
const SECTOR: u64 = 512;
/// Where the numbers of a record lie, and how long each is.
const FIELDS: [(usize, usize); 11] = [
    (0, 4),
    (4, 4),
    (TIME, 8),
    (16, 8),
    (24, 4),
    (28, 4),
    (32, 4),
    (36, 4),
    (40, 4),
    (44, 2),
    (PAYLOAD, 2),
];
const TIME: usize = 8;
const PAYLOAD: usize = 46;

/// Where a reader of a binary trace is.
#[derive(Debug)]
pub(super) struct BlktraceFormat {
    swapped: bool,
    record: u64,
    /// Requests queued and not yet complete, and the most of them so far.
    outstanding: u32,
    pub(super) outstanding_max: u32,
    /// Time of the last record that was read, of whatever kind.
    pub(super) last_time: u64,
    /// Whether flushes before writes, and that writes are durable, are told.
    pub(super) tells_barriers: bool,
    /// The write whose flush was given last.
    after_flush: Option<TraceEntry>,
}

impl BlktraceFormat {
    /// Whether a stream that begins with `start` is one, and of which byte order.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        let first: [u8; 4] = start.get(..4)?.try_into().ok()?;
        let magic = u32::from_ne_bytes(first);
        let swapped = if magic & 0xffff_ff00 == MAGIC {
            false
        } else if magic.swap_bytes() & 0xffff_ff00 == MAGIC {
            true
        } else {
            return None;
        };
        Some(Self {
            swapped,
            record: 0,
            outstanding: 0,
            outstanding_max: 0,
            last_time: 0,
            tells_barriers: true,
            after_flush: None,
        })
    }

    /// The number of the record that was read last.
    pub(super) fn record(&self) -> u64 {
        self.record
    }

    fn place(&self) -> String {
        format!("record {}", self.record)
    }

    fn malformed(&self, what: &str) -> TraceError {
        TraceError::Malformed {
            place: self.place(),
            what: what.to_owned(),
        }
    }

    pub(super) fn next_entry(
        &mut self,
        input: &mut dyn BufRead,
        files: &mut Files,
        clock: &mut TraceClock,
    ) -> Result<Option<TraceEntry>, TraceError> {
        if let Some(write) = self.after_flush.take() {
            return Ok(Some(write));
        }
        while let Some(record) = self.read_record(input)? {
            let queued = record.action & 0xffff == QUEUED && record.action & NOTIFY == 0;
            self.count(&record);
            let Some(action) = record.what(self.tells_barriers).filter(|_| queued) else {
                continue;
            };
            let number = record.device;
            let (major, minor) = (number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1));
            let file = files.number(&format!("{major}:{minor}"));
            let file = file.ok_or_else(|| self.malformed("the trace names too many devices"))?;
            let at = Some(clock.at(Nanos::new(record.time)));
            let entry = TraceEntry { at, file, action };
            if self.tells_barriers && record.action & FLUSH != 0 && record.bytes > 0 {
                self.after_flush = Some(entry);
                let action = TraceAction::Sync { data_only: false };
                return Ok(Some(TraceEntry { action, ..entry }));
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }

    /// The next record of a request that was queued, in this machine's byte order and without its payload; `None` at the end.
    pub(super) fn next_queued(
        &mut self,
        input: &mut dyn BufRead,
    ) -> Result<Option<[u8; RECORD_BYTES]>, TraceError> {
        while let Some(record) = self.read_record(input)? {
            let queued = record.action & 0xffff == QUEUED && record.action & NOTIFY == 0;
            if queued && record.action & (READ | WRITE | FLUSH | DISCARD) != 0 {
                return Ok(Some(self.native(record.raw)));
            }
        }
        Ok(None)
    }

    fn native(&self, mut record: [u8; RECORD_BYTES]) -> [u8; RECORD_BYTES] {
        if self.swapped {
            for (at, length) in FIELDS {
                record[at..at + length].reverse();
            }
        }
        record[PAYLOAD..].fill(0);
        record
    }

    /// What is merged into another request completes with that one.
    fn count(&mut self, record: &Record) {
        if record.action & NOTIFY != 0 {
            return;
        }
        match record.action & 0xffff {
            QUEUED if record.bytes > 0 => self.outstanding += 1,
            BACK_MERGED | FRONT_MERGED | COMPLETE => {
                self.outstanding = self.outstanding.saturating_sub(1);
            }
            _ => {}
        }
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
    }

    fn read_record(&mut self, input: &mut dyn BufRead) -> Result<Option<Record>, TraceError> {
        self.record += 1;
        let io_error = |format: &Self, source| TraceError::Io {
            place: format.place(),
            source,
        };
        if input
            .fill_buf()
            .map_err(|error| io_error(self, error))?
            .is_empty()
        {
            return Ok(None);
        }
        let mut bytes = [0; RECORD_BYTES];
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.malformed("the trace ends within it"));
            }
            read => read.map_err(|error| io_error(self, error))?,
        }
        let fields = Fields {
            bytes: &bytes,
            swapped: self.swapped,
        };
        let magic = fields.u32(0);
        if magic & 0xffff_ff00 != MAGIC {
            return Err(self.malformed("it does not begin as a record of blktrace does"));
        }
        if magic & 0xff != VERSION {
            return Err(self.malformed("it is of a version of blktrace other than 7"));
        }
        let record = Record {
            time: fields.u64(TIME),
            sector: fields.u64(16),
            bytes: fields.u32(24),
            action: fields.u32(28),
            device: fields.u32(36),
            raw: bytes,
        };
        self.last_time = record.time;
        let payload = u64::from(fields.u16(PAYLOAD));
        let skipped = io::copy(&mut input.take(payload), &mut io::sink());
        if skipped.map_err(|error| io_error(self, error))? < payload {
            return Err(self.malformed("the trace ends within its payload"));
        }
        Ok(Some(record))
    }
}

struct Record {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    /// As it stands in the trace.
    raw: [u8; RECORD_BYTES],
}

/// The time of a record in this machine's byte order.
pub(super) fn time_of(record: &[u8; RECORD_BYTES]) -> u64 {
    let mut time = [0; 8];
    time.copy_from_slice(&record[TIME..TIME + 8]);
    u64::from_ne_bytes(time)
}

/// Gives a record in this machine's byte order another time.
pub(super) fn set_time(record: &mut [u8; RECORD_BYTES], time: u64) {
    record[TIME..TIME + 8].copy_from_slice(&time.to_ne_bytes());
}

impl Record {
    /// `None` for records that move nothing. `tells_barriers`: whether a write can be durable.
    fn what(&self, tells_barriers: bool) -> Option<TraceAction> {
        let direction = if self.action & DISCARD != 0 {
            Direction::Trim
        } else if self.action & FLUSH != 0 && self.bytes == 0 {
            return Some(TraceAction::Sync { data_only: false });
        } else if self.action & WRITE != 0 {
            Direction::Write
        } else {
            Direction::Read
        };
        let offset = self.sector.checked_mul(SECTOR)?;
        offset.checked_add(u64::from(self.bytes))?;
        (self.bytes > 0).then_some(TraceAction::Io {
            direction,
            offset,
            length: self.bytes,
            durable: tells_barriers && direction == Direction::Write && self.action & FUA != 0,
        })
    }
}

/// Numbers of a record in the byte order of the machine that made it.
struct Fields<'a> {
    bytes: &'a [u8; RECORD_BYTES],
    swapped: bool,
}

impl Fields<'_> {
    fn take<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut taken = [0; N];
        taken.copy_from_slice(&self.bytes[at..at + N]);
        if self.swapped {
            taken.reverse();
        }
        taken
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.take(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.take(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.take(at))
    }
}
