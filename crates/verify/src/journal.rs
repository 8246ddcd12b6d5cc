//! The journal of storage whose blocks are checked: what is needed to check them after the program, the machine or the storage
//! has come to an unforeseen end.
//!
//! A journal is a head, then records, one behind another. It begins with the keys of all blocks as they were when it was made, in
//! pieces; behind them stands what changed since. A write is told before it is submitted and again when it has succeeded, so that
//! of a block whose write was told once alone (it was under way, or failed) it is known that it may hold what was there before,
//! what was written, or sectors of each.
//!
//! | bytes of the head | contents (numbers lowest byte first) |
//! |---|---|
//! | 0x00 | `FathomJL` |
//! | 0x08 | version of the format, 4 bytes: 1 |
//! | 0x0c | size of a key block, 4 bytes |
//! | 0x10 | key blocks of the storage, 8 bytes |
//! | 0x18 | hash of the storage's name, 8 bytes |
//! | 0x20 | the name's first 8 bytes, filled up with blanks |
//! | 0x28 | CRC-32 of all before, 4 bytes, and 4 bytes of zero |
//!
//! | bytes of a record | contents |
//! |---|---|
//! | 0x00 | 1: keys follow; 2: a write begins; 3: it has succeeded; 4: what a block was found to hold; 5: what a journal begins with ends here |
//! | 0x01 | the key found (4), else 0, and two bytes of zero |
//! | 0x04 | blocks, 4 bytes |
//! | 0x08 | the first of them, 8 bytes |
//! | 0x10 | number of the record in its file, from 0, 4 bytes |
//! | 0x14 | CRC-32 of all before and of the keys that follow, 4 bytes |
//!
//! Invariant: a record counts when it and all before it are whole; what is behind a record that is not was being written when
//! the end came, and no write was submitted before its record was whole.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use crate::{BlockRange, KeyMap, Stamp, next_key};

const MAGIC: &[u8; 8] = b"FathomJL";
const VERSION: u32 = 1;
const HEAD: usize = 48;
const RECORD: usize = 24;
/// The kinds of records.
const KEYS: u8 = 1;
const BEGINS: u8 = 2;
const ENDED: u8 = 3;
const FOUND: u8 = 4;
const BASE: u8 = 5;
/// Keys that one record holds at most.
const KEYS_MAX: usize = 1 << 16;

/// What a journal is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalHead {
    /// Bytes of a key block.
    pub key_block: u32,
    /// Key blocks of the storage.
    pub blocks: u64,
    name: [u8; 8],
    whole_name: u64,
}

/// Why a journal cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum JournalProblem {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no journal of Fathom's")]
    Foreign,
    /// A later Fathom wrote it.
    #[error("it has version {0} of the format, and this Fathom knows version {VERSION}")]
    Version(u32),
    /// Its head is damaged.
    #[error("its head is damaged")]
    Head,
    /// It is of other storage, or of other transfers.
    #[error("it is of {found}, and this run has {expected}")]
    Other {
        /// What it is of.
        found: String,
        /// What it should be of.
        expected: String,
    },
    /// The keys it begins with are not whole.
    #[error("the keys it begins with are not whole, so that nothing can be told of any block")]
    Keys,
}

/// What a journal told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Blocks of which something is known.
    pub known: u64,
    /// Blocks of those, or first written, whose last write was begun and is not known to have ended.
    pub pending: u64,
    /// Blocks that were found wrong.
    pub bad: u64,
    /// Bytes behind the last whole record.
    pub torn: u64,
}

/// A change of blocks, as a journal tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// They are about to be written, each with the key after its last.
    Begins(BlockRange),
    /// Their write has succeeded.
    Ended(BlockRange),
    /// A block whose write was not known to have ended was found to hold this key's data; 0: sectors of both.
    Found(u64, u8),
}

impl JournalHead {
    /// Of storage of `length` bytes in blocks of `key_block` bytes (at least 1), whose sectors have `stamp`.
    pub fn new(length: u64, key_block: u32, stamp: &Stamp) -> Self {
        let (name, whole_name) = stamp.name();
        Self {
            key_block: key_block.max(1),
            blocks: KeyMap::memory(length, key_block),
            name,
            whole_name,
        }
    }

    /// As it begins a file.
    fn bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.key_block.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.blocks.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.whole_name.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.name);
        let sum = crc32fast::hash(&bytes[..40]);
        bytes[40..44].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the head of a journal.
    ///
    /// # Errors
    /// It cannot be read, or is none that this version knows.
    pub fn read(from: &mut impl Read) -> Result<Self, JournalProblem> {
        let mut bytes = [0; HEAD];
        let length = read_up_to(from, &mut bytes)?;
        if length < MAGIC.len() || !bytes.starts_with(MAGIC) {
            return Err(JournalProblem::Foreign);
        }
        let version = four(&bytes[8..12]);
        if length == HEAD && version != VERSION {
            return Err(JournalProblem::Version(version));
        }
        if length < HEAD || four(&bytes[40..44]) != crc32fast::hash(&bytes[..40]) {
            return Err(JournalProblem::Head);
        }
        let mut name = [0; 8];
        name.copy_from_slice(&bytes[32..40]);
        Ok(Self {
            key_block: four(&bytes[12..16]),
            blocks: eight(&bytes[16..24]),
            name,
            whole_name: eight(&bytes[24..32]),
        })
    }

    /// Whether what it tells is of storage like that of `expected`, which may reach further.
    pub fn fits(self, expected: Self) -> bool {
        let Self {
            key_block,
            blocks,
            name,
            whole_name,
        } = self;
        (key_block, name, whole_name) == (expected.key_block, expected.name, expected.whole_name)
            && blocks <= expected.blocks
    }

    /// In words.
    pub fn describe(self) -> String {
        let name = String::from_utf8_lossy(&self.name);
        let (blocks, size) = (self.blocks, self.key_block);
        format!(
            "{blocks} key blocks of {size} bytes of `{}`",
            name.trim_end().escape_debug()
        )
    }
}

/// Writes records, and numbers them.
#[derive(Debug, Default)]
pub struct JournalWriter {
    number: u32,
    bytes: Vec<u8>,
}

impl JournalWriter {
    /// Writes a whole new journal: a head, the keys of `map`, and `open`, the blocks whose writes have begun, with the keys that
    /// they had before.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn begin(
        head: JournalHead,
        map: &KeyMap,
        open: &HashMap<u64, u8>,
        to: &mut impl Write,
    ) -> io::Result<Self> {
        let mut writer = Self::default();
        to.write_all(&head.bytes())?;
        let mut keys = Vec::new();
        for piece in map.known_pieces() {
            keys.clear();
            keys.extend(piece.clone().map(|number| {
                let before = open.get(&number).copied();
                before.unwrap_or_else(|| map.key(number))
            }));
            for (index, keys) in keys.chunks(KEYS_MAX).enumerate() {
                let first = piece.start + (index * KEYS_MAX) as u64;
                writer.record(KEYS, 0, (first, keys.len() as u32), keys);
            }
            writer.give(to)?;
        }
        for number in open.keys().copied().chain(map.pending()) {
            writer.record(BEGINS, 0, (number, 1), &[]);
        }
        writer.record(BASE, 0, (0, 0), &[]);
        writer.give(to)?;
        Ok(writer)
    }

    /// A change, as it is appended to the file.
    pub fn change(&mut self, change: Change) -> &[u8] {
        self.bytes.clear();
        let of = |range: BlockRange| {
            let numbers = range.numbers();
            (numbers.start, (numbers.end - numbers.start) as u32)
        };
        match change {
            Change::Begins(range) => self.record(BEGINS, 0, of(range), &[]),
            Change::Ended(range) => self.record(ENDED, 0, of(range), &[]),
            Change::Found(number, key) => self.record(FOUND, key, (number, 1), &[]),
        }
        &self.bytes
    }

    fn record(&mut self, kind: u8, key: u8, (first, count): (u64, u32), keys: &[u8]) {
        let mut record = [0; RECORD];
        record[0] = kind;
        record[1] = key;
        record[4..8].copy_from_slice(&count.to_le_bytes());
        record[8..16].copy_from_slice(&first.to_le_bytes());
        record[16..20].copy_from_slice(&self.number.to_le_bytes());
        let sum = sum(&record, keys);
        record[20..].copy_from_slice(&sum.to_le_bytes());
        self.bytes.extend_from_slice(&record);
        self.bytes.extend_from_slice(keys);
        self.number = self.number.wrapping_add(1);
    }

    fn give(&mut self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Puts into `map`, of which nothing is known yet, what the journal behind its head tells.
///
/// # Errors
/// It cannot be read, is of other storage than `expected`, or what it begins with is not whole.
pub fn recover(
    from: &mut impl Read,
    expected: JournalHead,
    map: &KeyMap,
) -> Result<Recovered, JournalProblem> {
    let found = JournalHead::read(from)?;
    if !found.fits(expected) {
        return Err(JournalProblem::Other {
            found: found.describe(),
            expected: expected.describe(),
        });
    }
    let mut recovered = Recovered::default();
    let mut keys = vec![0; KEYS_MAX];
    let mut number = 0_u32;
    let mut has_base = false;
    loop {
        let mut record = [0; RECORD];
        let length = read_up_to(from, &mut record)?;
        let has_keys = !has_base && record[0] == KEYS;
        let count = four(&record[4..8]) as usize;
        let keys = &mut keys[..if has_keys { count.min(KEYS_MAX) } else { 0 }];
        let got = read_up_to(from, keys)?;
        let is_whole = length == RECORD
            && got == keys.len()
            && (!has_keys || got == count)
            && four(&record[16..20]) == number
            && four(&record[20..]) == sum(&record, keys);
        if !is_whole || !apply(map, &record, keys) {
            if !has_base {
                return Err(JournalProblem::Keys);
            }
            recovered.torn = (length + got) as u64 + io::copy(from, &mut io::sink())?;
            break;
        }
        has_base |= record[0] == BASE;
        number = number.wrapping_add(1);
    }
    recovered.known = map.known();
    recovered.bad = map.bad();
    recovered.pending = map.pending().len() as u64;
    Ok(recovered)
}

/// Puts a record into the map; `false`: it is none that belongs there.
fn apply(map: &KeyMap, record: &[u8; RECORD], keys: &[u8]) -> bool {
    let (first, count) = (eight(&record[8..16]), u64::from(four(&record[4..8])));
    let Some(end) = first.checked_add(count).filter(|end| *end <= map.blocks()) else {
        return false;
    };
    match record[0] {
        KEYS => (first..end)
            .zip(keys)
            .filter(|(_, key)| **key != 0)
            .for_each(|(number, key)| map.settle(number, *key)),
        BEGINS => (first..end).for_each(|number| map.set_pending(number)),
        ENDED => (first..end).for_each(|number| map.settle(number, next_key(map.key(number)))),
        FOUND => (first..end).for_each(|number| map.settle(number, record[1])),
        BASE => {}
        _ => return false,
    }
    true
}

/// Reads until `into` is full or nothing more comes.
fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < into.len() {
        match from.read(&mut into[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// The CRC-32 of a record and the keys behind it.
fn sum(record: &[u8; RECORD], keys: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&record[..20]);
    sum.update(keys);
    sum.finalize()
}

fn four(bytes: &[u8]) -> u32 {
    eight(bytes) as u32
}

fn eight(bytes: &[u8]) -> u64 {
    let lowest_last = bytes.iter().rev();
    lowest_last.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
