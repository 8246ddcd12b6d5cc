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
//! Invariant: of a block that is not kept here, the volume's bytes are durable.

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
    /// What its disk has.
    durable: Content,
    /// Writes whose bytes have come and that are not in the cache yet, and what the cache has meanwhile.
    pending: u32,
    cached: Option<Content>,
    /// Background writes under way in the order in which they began, and what each took: `None`, what is there now.
    taken: Vec<(u32, Option<Content>)>,
}

impl Block {
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
    offset / BLOCK..(offset + length).div_ceil(BLOCK)
}

/// The bytes of a block of `size` that lie in a range.
fn part_of(number: u64, (offset, length): (u64, u64), size: usize) -> Range<usize> {
    let start = number * BLOCK;
    let within = |at: u64| (at.saturating_sub(start) as usize).min(size);
    within(offset)..within(offset + length)
}

impl Undo {
    /// A write to a range is about to change its bytes.
    pub fn will_write(&mut self, disk: &Disk, offset: u64, length: u64) {
        for number in blocks_of(offset, length) {
            let block = match self.blocks.entry(number) {
                Entry::Occupied(block) => block.into_mut(),
                Entry::Vacant(place) => {
                    let now = content(disk, number);
                    place.insert(Block {
                        durable: now.clone(),
                        pending: 1,
                        cached: Some(now),
                        taken: Vec::new(),
                    });
                    continue;
                }
            };
            if block.pending == 0 {
                let now = content(disk, number);
                for (_, taken) in &mut block.taken {
                    taken.get_or_insert_with(|| now.clone());
                }
                block.cached = Some(now);
            }
            block.pending += 1;
        }
    }

    /// A write to a range is over; `cached`: its bytes are in the cache and on no disk.
    pub fn wrote(&mut self, disk: &Disk, (offset, length): (u64, u64), cached: bool) {
        for number in blocks_of(offset, length) {
            let Some(block) = self.blocks.get_mut(&number) else {
                continue;
            };
            block.pending = block.pending.saturating_sub(1);
            let part = part_of(number, (offset, length), block.durable.len());
            let alone = block.pending == 0;
            if alone && cached {
                block.cached = None;
                continue;
            }
            let whole = alone && part.len() == block.durable.len();
            if whole || block.ended(&content(disk, number).to_bytes(), &part, cached) {
                self.blocks.remove(&number);
            }
        }
    }

    /// Takes note of what the model tells of background writes.
    pub fn hear(&mut self, told: &Durability) {
        match *told {
            Durability::Cached { .. } => {}
            Durability::Taken { run, range } => self.taken(run, range),
            Durability::Durable { run, range } => self.durable(run, range),
        }
    }

    fn taken(&mut self, run: u32, range: VolumeRange) {
        for number in blocks_of(range.offset, range.length) {
            if let Some(block) = self.blocks.get_mut(&number) {
                block.taken.push((run, block.cached.clone()));
            }
        }
    }

    fn durable(&mut self, run: u32, range: VolumeRange) {
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
                Some(content) => block.durable = content,
                None => {
                    self.blocks.remove(&number);
                }
            }
        }
    }

    /// The host has failed: every block gets what its disk has.
    pub fn crash(&mut self, disk: &mut Disk, budget: &mut Budget, tearing: Tearing) -> Gone {
        let mut gone = Gone::default();
        let mut blocks: Vec<(u64, Block)> = self.blocks.drain().collect();
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
            }
        }

        fn arrive(&mut self, block: u64, byte: u8) {
            self.undo.will_write(&self.disk, block * BLOCK, BLOCK);
            // A crash may have given its room back.
            let room = self.disk.reserve(&mut Budget(100), block * BLOCK, BLOCK);
            room.unwrap();
            self.disk
                .write(block * BLOCK, &[byte; BLOCK as usize])
                .unwrap();
        }

        fn end(&mut self, block: u64, cached: bool) {
            self.undo.wrote(&self.disk, (block * BLOCK, BLOCK), cached);
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
            self.undo.hear(&what(run, range));
        }

        fn take(&mut self, block: u64, run: u32) {
            self.told(block, |run, range| Durability::Taken { run, range }, run);
        }

        fn durable(&mut self, block: u64, run: u32) {
            self.told(block, |run, range| Durability::Durable { run, range }, run);
        }

        #[track_caller]
        fn check(&mut self, block: u64, expected: u8) {
            self.undo
                .crash(&mut self.disk, &mut Budget(100), Tearing::No);
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
            self.undo.will_write(&self.disk, start, SECTOR as u64);
            self.disk.write(start, bytes).unwrap();
        }

        fn end_sector(&mut self, sector: u64, cached: bool) {
            let start = 3 * BLOCK + sector * SECTOR as u64;
            self.undo.wrote(&self.disk, (start, SECTOR as u64), cached);
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
        volume.undo.will_write(&volume.disk, 3 * BLOCK, BLOCK);
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
    fn holes_that_are_zeroed_are_kept_as_holes() {
        const SIZE: u64 = 1 << 30;
        let mut disk = Disk::new(&Medium::Memory, "v", SIZE).unwrap();
        let mut undo = Undo::default();
        undo.will_write(&disk, 0, SIZE);
        let is_hole = |content: &Content| matches!(content, Content::Zeroes(_));
        let are_holes = |block: &Block| {
            let cached = block.cached.as_ref().is_some_and(is_hole);
            is_hole(&block.durable) && cached
        };
        assert!(undo.blocks.values().all(are_holes));
        undo.wrote(&disk, (0, SIZE), true);
        let gone = undo.crash(&mut disk, &mut Budget(0), Tearing::No);
        assert_eq!((gone.lost, gone.broken), (SIZE, 0));
    }

    #[test]
    fn a_crash_puts_everything_back_where_memory_is_used_up() {
        let mut disk = Disk::new(&Medium::Memory, "v", 16 * BLOCK).unwrap();
        let (mut undo, mut budget) = (Undo::default(), Budget(2));
        let filled = |byte: u8| [byte; BLOCK as usize];
        // Two blocks of which a disk has the first.
        for block in [0, 1] {
            disk.reserve(&mut budget, block * BLOCK, BLOCK).unwrap();
        }
        disk.write(0, &filled(7)).unwrap();
        undo.will_write(&disk, BLOCK, BLOCK);
        disk.write(BLOCK, &filled(8)).unwrap();
        undo.wrote(&disk, (BLOCK, BLOCK), true);
        // The first is zeroed, which gives its room back, and another write takes that.
        undo.will_write(&disk, 0, BLOCK);
        disk.discard(&mut budget, 0, BLOCK).unwrap();
        undo.wrote(&disk, (0, BLOCK), true);
        disk.reserve(&mut budget, 5 * BLOCK, BLOCK).unwrap();
        disk.write(5 * BLOCK, &filled(9)).unwrap();
        assert_eq!(budget.0, 0);
        let gone = undo.crash(&mut disk, &mut budget, Tearing::No);
        assert_eq!((gone.lost, gone.broken, budget.0), (2 * BLOCK, 0, 0));
        for (block, expected) in [(0, 7), (1, 0), (5, 9)] {
            assert!(content(&disk, block).is(&filled(expected)), "{block}");
        }
        assert!(disk.is_hole(BLOCK, BLOCK as u32), "its room is given back");
    }
}
