//! How often each block of a piece of storage was written: one byte a block, kept over all stages of a run.
//!
//! A block is *reserved* by whoever has an I/O on it, so that what it should hold is never in doubt. Blocks that were found wrong
//! are never used again. Memory is taken a piece at a time, where something is written.
//!
//! Invariants: a byte changes in the hands of whoever reserved it alone; a block is never reserved twice.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Blocks of which memory is taken together.
const PIECE: u64 = 1 << 16;
/// Set while an I/O is on the block.
const RESERVED: u8 = 0x80;
/// The key of a block that was found wrong.
const BAD: u8 = 127;
/// The key of the 126th write; the next is 1 again.
const LAST: u8 = 126;

/// Keys of all blocks.
#[derive(Debug)]
pub struct KeyMap {
    key_block: u32,
    blocks: u64,
    pieces: Box<[OnceLock<Box<[AtomicU8]>>]>,
    checked: AtomicU64,
    bad: AtomicU64,
    /// Blocks whose last write is not known to have ended: they hold their key's data or the next one's.
    pending: Mutex<BTreeSet<u64>>,
    /// How many those are.
    pending_count: AtomicU64,
}

/// Whether blocks may be used now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// They are the caller's until they are released.
    Granted,
    /// An I/O is on one of them.
    Busy,
    /// One of them was found wrong.
    Bad,
    /// They are not whole blocks, or reach past the last.
    Outside,
}

/// Blocks that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRange {
    first: u64,
    count: u32,
}

impl BlockRange {
    /// Their numbers.
    pub fn numbers(self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }
}

/// The key of the write after one with `key`.
pub fn next_key(key: u8) -> u8 {
    if key >= LAST { 1 } else { key + 1 }
}

impl KeyMap {
    /// Of storage of `length` bytes, in blocks of `key_block` bytes (at least 1): nothing is known of any.
    pub fn new(length: u64, key_block: u32) -> Self {
        let blocks = length.div_ceil(u64::from(key_block.max(1)));
        let pieces = (0..blocks.div_ceil(PIECE)).map(|_| OnceLock::new());
        Self {
            key_block: key_block.max(1),
            blocks,
            pieces: pieces.collect(),
            checked: AtomicU64::new(0),
            bad: AtomicU64::new(0),
            pending: Mutex::default(),
            pending_count: AtomicU64::new(0),
        }
    }

    /// Bytes of a block.
    pub fn key_block(&self) -> u32 {
        self.key_block
    }

    /// Blocks of the storage.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Bytes of memory that it takes at most.
    pub fn memory(length: u64, key_block: u32) -> u64 {
        length.div_ceil(u64::from(key_block.max(1)))
    }

    /// The blocks of an I/O; none where it is not of whole blocks of the storage.
    pub fn range(&self, offset: u64, length: u32) -> Option<BlockRange> {
        let block = u64::from(self.key_block);
        let is_whole = offset.is_multiple_of(block) && length.is_multiple_of(self.key_block);
        let range = BlockRange {
            first: offset / block,
            count: length / self.key_block,
        };
        (is_whole && range.numbers().end <= self.blocks).then_some(range)
    }

    /// Reserves all of them, or none.
    pub fn reserve(&self, range: BlockRange) -> Reservation {
        for number in range.numbers() {
            let byte = self.byte(number);
            let mut now = byte.load(Ordering::Relaxed);
            let refused = loop {
                if now & RESERVED != 0 {
                    break Some(Reservation::Busy);
                }
                if now == BAD {
                    break Some(Reservation::Bad);
                }
                let taken = (Ordering::Acquire, Ordering::Relaxed);
                match byte.compare_exchange_weak(now, now | RESERVED, taken.0, taken.1) {
                    Ok(_) => break None,
                    Err(other) => now = other,
                }
            };
            if let Some(refused) = refused {
                (range.first..number).for_each(|taken| self.free(taken));
                return refused;
            }
        }
        Reservation::Granted
    }

    /// Gives reserved blocks back.
    pub fn release(&self, range: BlockRange) {
        range.numbers().for_each(|number| self.free(number));
    }

    /// The key of a block that the caller has reserved; 0 where nothing is known of it.
    pub fn key(&self, number: u64) -> u8 {
        self.byte(number).load(Ordering::Relaxed) & !RESERVED
    }

    /// Whether anything is known of reserved blocks.
    pub fn knows_any(&self, range: BlockRange) -> bool {
        range.numbers().any(|number| self.key(number) != 0)
    }

    /// Whether one of the blocks has a write that is not known to have ended.
    pub fn has_pending(&self, range: BlockRange) -> bool {
        self.pending_count.load(Ordering::Relaxed) > 0
            && self.pending_set().range(range.numbers()).next().is_some()
    }

    /// Whether a block has a write that is not known to have ended.
    pub fn is_pending(&self, number: u64) -> bool {
        self.pending_count.load(Ordering::Relaxed) > 0 && self.pending_set().contains(&number)
    }

    /// All blocks with a write that is not known to have ended.
    pub fn pending(&self) -> Vec<u64> {
        self.pending_set().iter().copied().collect()
    }

    /// A block's write has begun, as a journal tells it.
    pub(crate) fn set_pending(&self, number: u64) {
        let mut pending = self.pending_set();
        pending.insert(number);
        self.pending_count
            .store(pending.len() as u64, Ordering::Relaxed);
    }

    /// What a block holds is known now: the data of `key`, or nothing of which anything can be said (0). Whether it is reserved
    /// stays as it is.
    pub fn settle(&self, number: u64, key: u8) {
        let key = key & !RESERVED;
        let byte = self.byte(number);
        let was = byte.load(Ordering::Relaxed);
        byte.store(was & RESERVED | key, Ordering::Relaxed);
        if key == BAD && was & !RESERVED != BAD {
            self.bad.fetch_add(1, Ordering::Relaxed);
        }
        if self.pending_count.load(Ordering::Relaxed) > 0 {
            let mut pending = self.pending_set();
            pending.remove(&number);
            self.pending_count
                .store(pending.len() as u64, Ordering::Relaxed);
        }
    }

    /// Blocks of which something is known.
    pub(crate) fn known(&self) -> u64 {
        let bytes = self.pieces.iter().filter_map(OnceLock::get).flatten();
        let known = bytes.filter(|byte| byte.load(Ordering::Relaxed) & !RESERVED != 0);
        known.count() as u64
    }

    /// The pieces of the storage in which anything may be known.
    pub(crate) fn known_pieces(&self) -> impl Iterator<Item = Range<u64>> {
        let made = (0_u64..)
            .zip(&self.pieces)
            .filter(|(_, piece)| piece.get().is_some());
        made.map(|(index, _)| index * PIECE..((index + 1) * PIECE).min(self.blocks))
    }

    fn pending_set(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserved blocks were written, each with the key after its last. They stay reserved.
    pub fn written(&self, range: BlockRange) {
        for number in range.numbers() {
            let key = next_key(self.key(number));
            self.byte(number).store(RESERVED | key, Ordering::Relaxed);
        }
    }

    /// A reserved block is wrong. It stays reserved, and is not used again once it is released.
    pub fn mark_bad(&self, number: u64) {
        self.settle(number, BAD);
    }

    /// Counts blocks that were compared.
    pub fn count_checked(&self, blocks: u64) {
        self.checked.fetch_add(blocks, Ordering::Relaxed);
    }

    /// Blocks that were compared since this was last asked.
    pub fn take_checked(&self) -> u64 {
        self.checked.swap(0, Ordering::Relaxed)
    }

    /// Blocks that were found wrong so far.
    pub fn bad(&self) -> u64 {
        self.bad.load(Ordering::Relaxed)
    }

    fn free(&self, number: u64) {
        self.byte(number).fetch_and(!RESERVED, Ordering::Release);
    }

    fn byte(&self, number: u64) -> &AtomicU8 {
        let piece = self.pieces[(number / PIECE) as usize].get_or_init(|| {
            let bytes = (0..PIECE).map(|_| AtomicU8::new(0));
            bytes.collect()
        });
        &piece[(number % PIECE) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_blocks_of_the_storage_have_keys() {
        let map = KeyMap::new(1 << 20, 4096);
        for (offset, length, is_known) in [
            (0, 4096, true),
            (8192, 65536, true),
            ((1 << 20) - 4096, 4096, true),
            ((1 << 20) - 4096, 8192, false),
            (512, 4096, false),
            (0, 4608, false),
        ] {
            assert_eq!(
                map.range(offset, length).is_some(),
                is_known,
                "{offset} {length}"
            );
        }
    }

    #[test]
    fn what_is_reserved_is_nobody_else_s_and_what_is_bad_is_nobody_s() {
        let map = KeyMap::new(1 << 20, 4096);
        let [two, first, second] = [(0, 8192), (0, 4096), (4096, 4096)]
            .map(|(offset, length)| map.range(offset, length).unwrap());
        assert_eq!(map.reserve(second), Reservation::Granted);
        assert_eq!(map.reserve(two), Reservation::Busy);
        // What was taken before that was seen is free again.
        assert_eq!(map.reserve(first), Reservation::Granted);
        map.mark_bad(1);
        map.mark_bad(1);
        map.release(second);
        map.release(first);
        assert_eq!(map.reserve(two), Reservation::Bad);
        assert_eq!(map.reserve(first), Reservation::Granted);
        assert_eq!(map.bad(), 1);
    }

    #[test]
    fn keys_go_from_1_to_126_and_over_again() {
        let map = KeyMap::new(4096, 4096);
        let range = map.range(0, 4096).unwrap();
        assert_eq!(map.reserve(range), Reservation::Granted);
        assert!(!map.knows_any(range));
        let keys: Vec<u8> = (0..127)
            .map(|_| {
                map.written(range);
                map.key(0)
            })
            .collect();
        assert_eq!((keys[0], keys[125], keys[126]), (1, 126, 1));
        assert!(map.knows_any(range));
        assert_eq!(map.reserve(range), Reservation::Busy);
    }
}
