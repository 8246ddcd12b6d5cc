//! What a failing host takes with it: for each block of a write-back cache, the content that its disk has.
//!
//! Clients write into the volume's bytes at once. On a volume with read-write caching what they wrote is in the host's memory
//! first, and the model tells how far it has come from there ([`Durability`]): so the content that a block had when it was
//! last durable is kept until the model says that a later one is. A crash puts it back.
//!
//! A block may be written again while a background write of it is under way, and a write may be on its way into the cache
//! while a background write begins: then what that background write takes is kept too.
//!
//! On a volume without such a cache the same can be kept of writes under way alone, so that a crash can tear them.
//!
//! What is kept takes memory, which is counted as taken from the budget, even below nothing: a write over bytes that are there
//! does not fail for it, but nothing new is taken in until it is given back.
//!
//! Invariants: of a block that is not kept here, the volume's bytes are durable; when no write is under way to a block, it has
//! no pending bytes; with nothing kept, the budget is as it was.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use fathom_model::{Durability, VolumeRange};

use crate::backing::{Budget, Disk};

/// Bytes that are kept, and lost, together.
pub(crate) const BLOCK: u64 = 4096;
/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// The bytes of a block. What is a hole takes no memory here either, and what is kept twice lies there once.
#[derive(Debug, Clone)]
enum Content {
    /// So many zeroes.
    Zeroes(usize),
    Bytes(Arc<Vec<u8>>),
}

impl Content {
    /// Where its bytes lie, if it has any.
    fn place(&self) -> Option<*const Vec<u8>> {
        match self {
            Self::Zeroes(_) => None,
            Self::Bytes(bytes) => Some(Arc::as_ptr(bytes)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Zeroes(length) => *length,
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    fn is(&self, other: &[u8]) -> bool {
        match self {
            Self::Zeroes(_) => other.iter().all(|byte| *byte == 0),
            Self::Bytes(bytes) => **bytes == other,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Zeroes(length) => vec![0; *length],
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }

    /// Replaces a part of it.
    fn put(&mut self, part: &Range<usize>, bytes: &[u8]) {
        if let Self::Zeroes(length) = *self {
            if bytes.iter().all(|byte| *byte == 0) {
                return;
            }
            *self = Self::Bytes(Arc::new(vec![0; length]));
        }
        if let Self::Bytes(own) = self {
            Arc::make_mut(own)[part.clone()].copy_from_slice(bytes);
        }
    }
}

/// What a crash has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gone {
    /// Bytes that no disk had.
    pub lost: u64,
    /// Bytes that a disk had, and that the file beneath could not be given.
    pub broken: u64,
}

/// A block whose bytes are not durable as they are.
#[derive(Debug)]
struct Block {
    /// The write with which it began: none that came before has pending bytes here.
    first: u64,
    /// What its disk has.
    durable: Content,
    /// Bytes of writes that have come and are not in the cache yet, and what the cache has meanwhile.
    pending: u64,
    cached: Option<Content>,
    /// Background writes under way in the order in which they began, and what each took: `None`, what is there now.
    taken: Vec<(u32, Option<Content>)>,
    /// Blocks of memory that are counted as taken for it.
    counted: i64,
}

impl Block {
    /// Counts the memory that it takes now.
    fn count(&mut self, budget: &mut Budget) {
        let places = || {
            let taken = self
                .taken
                .iter()
                .filter_map(|(_, content)| content.as_ref());
            let all = [&self.durable].into_iter().chain(&self.cached).chain(taken);
            all.filter_map(Content::place)
        };
        let is_first = |(index, place): &(usize, _)| !places().take(*index).any(|it| it == *place);
        let count = places().enumerate().filter(is_first).count();
        let count = (count as u64).cast_signed();
        budget.0 += self.counted - count;
        self.counted = count;
    }

    /// A write of `part` is over, of a block that is `now` like this, and its bytes alone: those of others that are under way
    /// are there too, and may never be acknowledged. Says whether all of the block is durable.
    fn ended(&mut self, now: &[u8], part: &Range<usize>, cached: bool) -> bool {
        let bytes = &now[part.clone()];
        let copy = |content: &mut Content| content.put(part, bytes);
        if self.pending == 0 {
            self.cached = None;
        }
        self.cached.iter_mut().for_each(copy);
        if cached {
            return false;
        }
        copy(&mut self.durable);
        // What was taken before must not take these bytes back.
        let taken = self.taken.iter_mut();
        taken
            .filter_map(|(_, content)| content.as_mut())
            .for_each(copy);
        self.pending == 0 && self.durable.is(now)
    }
}

/// What is not durable of one volume.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    blocks: HashMap<u64, Block>,
    /// Of writes under way, by their indices: what of them is in the cache, where that is not all.
    partly: HashMap<u64, Vec<(u64, u64)>>,
    /// How many times the host has failed: nothing is known any more of writes that came before.
    era: u32,
}

/// A write under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    /// Names it among the I/Os of its volume.
    pub index: u64,
    /// [`Undo::era`] when it came.
    pub era: u32,
    /// First byte and bytes.
    pub range: (u64, u64),
}

/// What a write is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// Bytes of its own.
    Bytes,
    /// Zeroes alone.
    Zeroes,
}

/// How a crash leaves a block of which a write was under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tearing {
    /// As it was before.
    No,
    /// Each sector as it was before or after, by a number drawn from this one.
    Sectors(u64),
}

fn blocks_of(offset: u64, length: u64) -> Range<u64> {
    if length == 0 {
        return 0..0;
    }
    offset / BLOCK..(offset + length).div_ceil(BLOCK)
}

/// What of a range lies in none of some parts of it.
fn rest_of((offset, length): (u64, u64), mut parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    parts.sort_unstable();
    let (mut at, mut rest) = (offset, Vec::new());
    for (start, length) in parts.into_iter().chain([(offset + length, 0)]) {
        if start > at {
            rest.push((at, start - at));
        }
        at = at.max(start + length);
    }
    rest
}

/// The bytes of a block of `size` that lie in a range.
fn part_of(number: u64, (offset, length): (u64, u64), size: usize) -> Range<usize> {
    let start = number * BLOCK;
    let within = |at: u64| (at.saturating_sub(start) as usize).min(size);
    within(offset)..within(offset + length)
}

impl Undo {
    /// How many times the host has failed.
    pub fn era(&self) -> u32 {
        self.era
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Blocks that are copied when a write comes to a range; more than `enough` may be told where it is enough.
    #[inline]
    pub fn copies(&self, disk: &Disk, (offset, length): (u64, u64), enough: u64) -> u64 {
        let all = blocks_of(offset, length);
        let most = all.end - all.start;
        if most <= enough {
            return most;
        }
        let is_copied = |number: &u64| {
            let block = self.blocks.get(number);
            let start = number * BLOCK;
            let length = BLOCK.min(disk.size().saturating_sub(start)) as u32;
            block.is_none_or(|block| block.pending == 0) && !disk.is_hole(start, length)
        };
        all.filter(is_copied).count() as u64
    }

    /// A write is about to change bytes of its range.
    pub fn will_write(
        &mut self,
        disk: &Disk,
        budget: &mut Budget,
        (index, (offset, length)): (u64, (u64, u64)),
        with: With,
    ) {
        for number in blocks_of(offset, length) {
            let (block, is_new) = match self.blocks.entry(number) {
                Entry::Occupied(block) => (block.into_mut(), false),
                Entry::Vacant(place) => {
                    let now = content(disk, number);
                    if with == With::Zeroes && matches!(now, Content::Zeroes(_)) {
                        // Whatever comes of it, nothing changes.
                        continue;
                    }
                    let block = Block {
                        first: index,
                        durable: now.clone(),
                        pending: 0,
                        cached: Some(now),
                        taken: Vec::new(),
                        counted: 0,
                    };
                    (place.insert(block), true)
                }
            };
            if block.pending == 0 && !is_new {
                let now = content(disk, number);
                for (_, taken) in &mut block.taken {
                    taken.get_or_insert_with(|| now.clone());
                }
                block.cached = Some(now);
            }
            block.pending += part_of(number, (offset, length), block.durable.len()).len() as u64;
            block.count(budget);
        }
    }

    /// A range of a write is in the cache and on no disk.
    pub fn is_cached(&mut self, disk: &Disk, budget: &mut Budget, write: Write, range: (u64, u64)) {
        if write.era != self.era {
            return;
        }
        if range != write.range {
            self.partly.entry(write.index).or_default().push(range);
        }
        self.wrote(disk, budget, (write.index, range), true);
    }

    /// A write is over; `cached`: some of it is in the cache and on no disk. All else is on its disk.
    pub fn is_over(&mut self, disk: &Disk, budget: &mut Budget, write: Write, cached: bool) {
        if write.era != self.era {
            return;
        }
        let parts = match self.partly.remove(&write.index) {
            None if cached => return,
            parts => parts.unwrap_or_default(),
        };
        for range in rest_of(write.range, parts) {
            self.wrote(disk, budget, (write.index, range), false);
        }
    }

    /// A write of a range is over; `cached`: its bytes are in the cache and on no disk.
    pub fn wrote(
        &mut self,
        disk: &Disk,
        budget: &mut Budget,
        (index, (offset, length)): (u64, (u64, u64)),
        cached: bool,
    ) {
        if self.blocks.is_empty() {
            return;
        }
        for number in blocks_of(offset, length) {
            let block = self.blocks.get_mut(&number);
            let Some(block) = block.filter(|block| block.first <= index) else {
                continue;
            };
            let part = part_of(number, (offset, length), block.durable.len());
            block.pending = block.pending.saturating_sub(part.len() as u64);
            let alone = block.pending == 0;
            if alone && cached {
                block.cached = None;
                block.count(budget);
                continue;
            }
            let whole = alone && part.len() == block.durable.len();
            if whole || block.ended(&content(disk, number).to_bytes(), &part, cached) {
                self.forget(number, budget);
            } else {
                block.count(budget);
            }
        }
    }

    /// A block is durable as it is.
    fn forget(&mut self, number: u64, budget: &mut Budget) {
        if let Some(block) = self.blocks.remove(&number) {
            budget.0 += block.counted;
        }
    }

    /// Takes note of what the model tells of background writes.
    pub fn hear(&mut self, budget: &mut Budget, told: &Durability) {
        match *told {
            Durability::Cached { .. } => {}
            Durability::Taken { run, range } => self.taken(run, range),
            Durability::Durable { run, range } => self.durable(budget, run, range),
        }
    }

    fn taken(&mut self, run: u32, range: VolumeRange) {
        for number in blocks_of(range.offset, range.length) {
            if let Some(block) = self.blocks.get_mut(&number) {
                block.taken.push((run, block.cached.clone()));
            }
        }
    }

    fn durable(&mut self, budget: &mut Budget, run: u32, range: VolumeRange) {
        for number in blocks_of(range.offset, range.length) {
            let Some(block) = self.blocks.get_mut(&number) else {
                continue;
            };
            let mut runs = block.taken.iter();
            let Some(place) = runs.position(|(other, _)| *other == run) else {
                // A later one has overtaken it.
                continue;
            };
            let (_, content) = block
                .taken
                .drain(..=place)
                .next_back()
                .unwrap_or((run, None));
            match content {
                Some(content) => {
                    block.durable = content;
                    block.count(budget);
                }
                None => self.forget(number, budget),
            }
        }
    }

    /// The host has failed: every block gets what its disk has.
    pub fn crash(&mut self, disk: &mut Disk, budget: &mut Budget, tearing: Tearing) -> Gone {
        let mut gone = Gone::default();
        self.era = self.era.wrapping_add(1);
        self.partly.clear();
        let mut blocks: Vec<(u64, Block)> = self.blocks.drain().collect();
        budget.0 += blocks.iter().map(|(_, block)| block.counted).sum::<i64>();
        blocks.sort_unstable_by_key(|(number, _)| *number);
        let (mut zeroes, mut rest) = (Vec::new(), Vec::new());
        for (number, block) in blocks {
            gone.lost += block.durable.len() as u64;
            match after_crash(disk, number, block, tearing) {
                Content::Zeroes(length) => zeroes.push((number, length)),
                Content::Bytes(bytes) if bytes.iter().all(|byte| *byte == 0) => {
                    zeroes.push((number, bytes.len()));
                }
                Content::Bytes(bytes) => rest.push((number, bytes)),
            }
        }
        // What gives room back comes first.
        for (number, length) in zeroes {
            let start = number * BLOCK;
            let is_there = disk.is_hole(start, length as u32)
                || disk.discard(budget, start, length as u64).is_ok();
            gone.broken += if is_there { 0 } else { length as u64 };
        }
        for (number, bytes) in rest {
            let (start, length) = (number * BLOCK, bytes.len() as u64);
            disk.reserve_anyway(budget, start, length);
            let is_there = disk.write(start, &bytes).is_ok();
            gone.broken += if is_there { 0 } else { length };
        }
        gone
    }
}

/// What a block is once its host has failed.
fn after_crash(disk: &Disk, number: u64, block: Block, tearing: Tearing) -> Content {
    let Tearing::Sectors(seed) = tearing else {
        return block.durable;
    };
    if block.pending == 0 && block.taken.is_empty() {
        return block.durable;
    }
    let (mut bytes, now) = (block.durable.to_bytes(), content(disk, number).to_bytes());
    let sectors = bytes.chunks_mut(SECTOR).zip(now.chunks(SECTOR));
    for (sector, (before, after)) in sectors.enumerate() {
        if drawn(seed, number, sector as u64) {
            before.copy_from_slice(after);
        }
    }
    Content::Bytes(Arc::new(bytes))
}

/// The bytes of a block; the last one of a volume may be shorter.
fn content(disk: &Disk, number: u64) -> Content {
    let start = number * BLOCK;
    let length = BLOCK.min(disk.size().saturating_sub(start)) as usize;
    if disk.is_hole(start, length as u32) {
        return Content::Zeroes(length);
    }
    let mut bytes = vec![0; length];
    disk.read(start, &mut bytes);
    Content::Bytes(Arc::new(bytes))
}

/// One of two, by three numbers: the finaliser of splitmix64.
fn drawn(seed: u64, block: u64, sector: u64) -> bool {
    let mut mixed = seed ^ block.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (sector << 56);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) & 1 == 1
}

#[cfg(test)]
mod tests {
    use fathom_catalog::Catalog;
    use fathom_model::{Design, VolumeId};

    use super::*;
    use crate::backing::Medium;

    /// A volume of a few blocks, and what of it is durable.
    struct Volume {
        disk: Disk,
        undo: Undo,
        id: VolumeId,
        budget: Budget,
        index: u64,
    }

    impl Volume {
        fn new() -> Self {
            let mut disk = Disk::new(&Medium::Memory, "v", 16 * BLOCK).unwrap();
            disk.reserve(&mut Budget(100), 0, 16 * BLOCK).unwrap();
            let text = "[[device]]\nname = 'v'\nmount = '/v'\nsize = '1GiB'\n";
            let (design, _) = Design::read(text, "v", Catalog::builtin()).unwrap();
            Self {
                disk,
                undo: Undo::default(),
                id: design.volume_ids().next().unwrap(),
                budget: Budget(100),
                index: 0,
            }
        }

        fn arrive(&mut self, block: u64, byte: u8) {
            self.begin(block * BLOCK, BLOCK, With::Bytes);
            // A crash may have given its room back.
            let room = self.disk.reserve(&mut Budget(100), block * BLOCK, BLOCK);
            room.unwrap();
            self.disk
                .write(block * BLOCK, &[byte; BLOCK as usize])
                .unwrap();
        }

        fn end(&mut self, block: u64, cached: bool) {
            self.over(block * BLOCK, BLOCK, cached);
        }

        /// A write that comes after all before it.
        fn begin(&mut self, offset: u64, length: u64, with: With) {
            let range = (offset, length);
            self.index += 1;
            self.undo
                .will_write(&self.disk, &mut self.budget, (self.index, range), with);
        }

        fn over(&mut self, offset: u64, length: u64, cached: bool) {
            let range = (offset, length);
            self.undo
                .wrote(&self.disk, &mut self.budget, (self.index, range), cached);
        }

        fn write(&mut self, block: u64, byte: u8) {
            self.arrive(block, byte);
            self.end(block, true);
        }

        fn told(&mut self, block: u64, what: fn(u32, VolumeRange) -> Durability, run: u32) {
            let range = VolumeRange {
                volume: self.id,
                offset: block * BLOCK,
                length: BLOCK,
            };
            self.undo.hear(&mut self.budget, &what(run, range));
        }

        fn take(&mut self, block: u64, run: u32) {
            self.told(block, |run, range| Durability::Taken { run, range }, run);
        }

        fn durable(&mut self, block: u64, run: u32) {
            self.told(block, |run, range| Durability::Durable { run, range }, run);
        }

        #[track_caller]
        fn check(&mut self, block: u64, expected: u8) {
            // What is put back of the volume's own bytes is no matter here.
            let mut room = self.budget;
            self.undo.crash(&mut self.disk, &mut room, Tearing::No);
            self.budget = Budget(100);
            assert!(content(&self.disk, block).is(&[expected; BLOCK as usize]));
            assert!(self.undo.blocks.is_empty());
        }
    }

    #[test]
    fn what_is_in_the_cache_alone_is_lost() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.check(3, 0);
        volume.write(3, 2);
        volume.take(3, 7);
        volume.check(3, 0);
        volume.write(3, 3);
        volume.take(3, 7);
        volume.durable(3, 7);
        volume.check(3, 3);
    }

    #[test]
    fn a_write_during_a_background_write_is_not_in_it() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.take(3, 7);
        volume.write(3, 2);
        volume.durable(3, 7);
        volume.check(3, 1);
    }

    #[test]
    fn a_write_that_is_not_in_the_cache_yet_is_not_taken() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.arrive(3, 2);
        volume.take(3, 7);
        volume.end(3, true);
        volume.durable(3, 7);
        volume.check(3, 1);
    }

    impl Volume {
        /// The first bytes of a sector of block 3 come; all of it is what the write is for.
        fn sector(&mut self, sector: u64, bytes: &[u8]) {
            let start = 3 * BLOCK + sector * SECTOR as u64;
            self.begin(start, SECTOR as u64, With::Bytes);
            self.disk.write(start, bytes).unwrap();
        }

        fn end_sector(&mut self, sector: u64, cached: bool) {
            let start = 3 * BLOCK + sector * SECTOR as u64;
            self.over(start, SECTOR as u64, cached);
        }

        /// First bytes of the first sectors after a crash.
        #[track_caller]
        fn check_sectors(&mut self, expected: [u8; 3]) {
            self.undo
                .crash(&mut self.disk, &mut Budget(100), Tearing::No);
            let block = content(&self.disk, 3).to_bytes();
            let first = |sector: usize| block[sector * SECTOR];
            assert_eq!([first(0), first(1), first(2)], expected);
        }
    }

    /// Another write to the block is under way all the time, and never ends.
    #[test]
    fn what_was_flushed_stays_whatever_else_is_under_way() {
        let mut volume = Volume::new();
        volume.sector(1, &[9; 256]);
        volume.sector(0, &[1; SECTOR]);
        volume.end_sector(0, true);
        volume.take(3, 7);
        volume.durable(3, 7);
        volume.check_sectors([1, 0, 0]);
    }

    #[test]
    fn a_write_that_goes_through_takes_no_other_with_it() {
        let mut volume = Volume::new();
        volume.sector(2, &[8; SECTOR]);
        volume.end_sector(2, true);
        volume.sector(1, &[9; 256]);
        volume.sector(0, &[1; SECTOR]);
        volume.end_sector(0, false);
        volume.check_sectors([1, 0, 0]);
    }

    /// A background write that began before has older bytes of the sector, which must not come back.
    #[test]
    fn a_background_write_takes_nothing_back_that_went_through() {
        let mut volume = Volume::new();
        volume.sector(2, &[8; SECTOR]);
        volume.end_sector(2, true);
        volume.take(3, 7);
        volume.sector(0, &[1; SECTOR]);
        volume.end_sector(0, false);
        volume.durable(3, 7);
        volume.check_sectors([1, 0, 8]);
        let mut clean = Volume::new();
        clean.sector(0, &[1; SECTOR]);
        clean.end_sector(0, false);
        assert!(clean.undo.blocks.is_empty());
    }

    #[test]
    fn a_write_that_goes_through_is_durable() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.arrive(3, 2);
        volume.end(3, false);
        volume.check(3, 2);
        volume.arrive(4, 9);
        volume.check(4, 0);
    }

    #[test]
    fn zeroes_that_are_lost_leave_what_was_there() {
        let mut volume = Volume::new();
        volume.arrive(3, 1);
        volume.end(3, false);
        volume.begin(3 * BLOCK, BLOCK, With::Zeroes);
        let hole = volume
            .disk
            .discard(&mut Budget(100), 3 * BLOCK, BLOCK)
            .unwrap();
        assert_eq!(hole, None);
        volume.end(3, true);
        assert!(volume.disk.is_hole(3 * BLOCK, BLOCK as u32));
        volume.check(3, 1);
        assert!(!volume.disk.is_hole(3 * BLOCK, BLOCK as u32));
    }

    #[test]
    fn a_background_write_that_was_overtaken_changes_nothing() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.take(3, 7);
        volume.write(3, 2);
        volume.take(3, 8);
        volume.write(3, 3);
        volume.durable(3, 8);
        volume.durable(3, 7);
        volume.check(3, 2);
    }

    #[test]
    fn a_torn_block_has_sectors_of_both() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        volume.take(3, 7);
        volume.write(5, 1);
        let tearing = Tearing::Sectors(42);
        volume
            .undo
            .crash(&mut volume.disk, &mut Budget(100), tearing);
        let torn = content(&volume.disk, 3).to_bytes();
        let sectors: Vec<u8> = torn.chunks(SECTOR).map(|sector| sector[0]).collect();
        assert!(sectors.contains(&0) && sectors.contains(&1), "{sectors:?}");
        assert!(
            torn.chunks(SECTOR)
                .all(|sector| sector.iter().all(|byte| *byte == sector[0]))
        );
        // Nothing of the other block was on its way.
        assert!(content(&volume.disk, 5).is(&[0; BLOCK as usize]));
    }

    #[test]
    fn holes_that_are_zeroed_take_nothing() {
        const SIZE: u64 = 1 << 30;
        let disk = Disk::new(&Medium::Memory, "v", SIZE).unwrap();
        let (mut undo, mut budget) = (Undo::default(), Budget(100));
        let zeroing = (0, (0, SIZE));
        undo.will_write(&disk, &mut budget, zeroing, With::Zeroes);
        assert!(undo.blocks.is_empty());
        // A write that comes meanwhile is its own: the end of the zeroing is not its end.
        undo.will_write(&disk, &mut budget, (1, (BLOCK, BLOCK)), With::Bytes);
        undo.wrote(&disk, &mut budget, zeroing, true);
        assert_eq!(undo.blocks[&1].pending, BLOCK);
    }

    /// The second part of a write fails, or goes to its disk at once, where the first is in the cache.
    #[test]
    fn what_of_a_write_is_in_no_cache_is_over_with_it() {
        let mut volume = Volume::new();
        for begins in [0, 100] {
            let range = (3 * BLOCK + begins, 2 * BLOCK);
            volume.begin(range.0, range.1, With::Bytes);
            let room = volume.disk.reserve(&mut Budget(100), range.0, range.1);
            room.unwrap();
            volume
                .disk
                .write(range.0, &[1; 2 * BLOCK as usize])
                .unwrap();
            let write = Write {
                index: volume.index,
                era: volume.undo.era(),
                range,
            };
            let part = (range.0, BLOCK);
            let Volume {
                disk, undo, budget, ..
            } = &mut volume;
            undo.is_cached(disk, budget, write, part);
            undo.is_over(disk, budget, write, true);
            assert!(undo.partly.is_empty());
            assert!(undo.blocks.values().all(|block| block.pending == 0));
            volume.check(3, 0);
            assert!(content(&volume.disk, 5).is(&[0; BLOCK as usize]) == (begins == 0));
        }
    }

    #[test]
    fn a_write_from_before_a_crash_ends_no_other() {
        let mut volume = Volume::new();
        volume.arrive(3, 1);
        let before = Write {
            index: volume.index,
            era: volume.undo.era(),
            range: (3 * BLOCK, BLOCK),
        };
        volume.check(3, 0);
        volume.arrive(3, 2);
        let Volume {
            disk, undo, budget, ..
        } = &mut volume;
        undo.is_over(disk, budget, before, false);
        volume.check(3, 0);
    }

    #[test]
    fn what_is_kept_takes_room_until_it_is_durable() {
        let mut volume = Volume::new();
        volume.write(3, 1);
        assert_eq!(volume.budget.0, 99);
        volume.take(3, 7);
        volume.write(3, 2);
        assert_eq!(volume.budget.0, 98);
        volume.durable(3, 7);
        assert_eq!(volume.budget.0, 99);
        volume.take(3, 8);
        volume.durable(3, 8);
        assert_eq!(volume.budget.0, 100);
    }

    #[test]
    fn a_crash_puts_everything_back_where_memory_is_used_up() {
        let mut disk = Disk::new(&Medium::Memory, "v", 16 * BLOCK).unwrap();
        let (mut undo, mut budget) = (Undo::default(), Budget(3));
        let filled = |byte: u8| [byte; BLOCK as usize];
        // A block that a disk has, and another.
        for block in [0, 1] {
            disk.reserve(&mut budget, block * BLOCK, BLOCK).unwrap();
        }
        disk.write(0, &filled(7)).unwrap();
        disk.write(BLOCK, &filled(6)).unwrap();
        let second = (0, (BLOCK, BLOCK));
        undo.will_write(&disk, &mut budget, second, With::Bytes);
        disk.write(BLOCK, &filled(8)).unwrap();
        undo.wrote(&disk, &mut budget, second, true);
        // The first is zeroed: what it gives back is what is kept of it.
        let first = (1, (0, BLOCK));
        undo.will_write(&disk, &mut budget, first, With::Zeroes);
        disk.discard(&mut budget, 0, BLOCK).unwrap();
        undo.wrote(&disk, &mut budget, first, true);
        assert_eq!(budget.0, 0);
        let more = disk.reserve(&mut budget, 5 * BLOCK, BLOCK);
        assert_eq!(more, Err(fathom_nbd::NbdError::NoSpace));
        let gone = undo.crash(&mut disk, &mut budget, Tearing::No);
        assert_eq!((gone.lost, gone.broken, budget.0), (2 * BLOCK, 0, 1));
        for (block, expected) in [(0, 7), (1, 6)] {
            assert!(content(&disk, block).is(&filled(expected)), "{block}");
        }
    }
}
