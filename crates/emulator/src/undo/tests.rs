//! What is kept, put back and forgotten, block by block.

use fathom_catalog::Catalog;
use fathom_model::{Design, VolumeId};

use super::content::content;
use super::crash::SECTOR;
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
        disk.reserve(&mut Budget::new(100), 0, 16 * BLOCK).unwrap();
        let text = "[[device]]\nname = 'v'\nmount = '/v'\nsize = '1GiB'\n";
        let (design, _) = Design::read(text, "v", Catalog::builtin()).unwrap();
        Self {
            disk,
            undo: Undo::default(),
            id: design.volume_ids().next().unwrap(),
            budget: Budget::new(100),
            index: 0,
        }
    }

    fn arrive(&mut self, block: u64, byte: u8) {
        self.begin(block * BLOCK, BLOCK, With::Bytes);
        // A crash may have given its room back.
        let room = self
            .disk
            .reserve(&mut Budget::new(100), block * BLOCK, BLOCK);
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
        self.budget = Budget::new(100);
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
            .crash(&mut self.disk, &mut Budget::new(100), Tearing::No);
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
        .discard(&mut Budget::new(100), 3 * BLOCK, BLOCK)
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
        .crash(&mut volume.disk, &mut Budget::new(100), tearing);
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
    let (mut undo, mut budget) = (Undo::default(), Budget::new(100));
    let zeroing = (0, (0, SIZE));
    undo.will_write(&disk, &mut budget, zeroing, With::Zeroes);
    assert!(undo.blocks.is_empty());
    // A write that comes meanwhile is its own: the end of the zeroing is not its end.
    undo.will_write(&disk, &mut budget, (1, (BLOCK, BLOCK)), With::Bytes);
    undo.wrote(&disk, &mut budget, zeroing, true);
    assert_eq!(undo.blocks[&1].pending, BLOCK);
}

/// A hole needs no copy, and neither does what has one already.
#[test]
fn copies_are_counted_of_data_alone() {
    let (mut undo, mut budget) = (Undo::default(), Budget::new(100));
    let mut disk = Disk::new(&Medium::Memory, "v", 16 * BLOCK).unwrap();
    disk.reserve(&mut budget, 5 * BLOCK, 2 * BLOCK).unwrap();
    disk.write(5 * BLOCK, &[1; 2 * BLOCK as usize]).unwrap();
    let count = |undo: &Undo, range| undo.copies(&disk, range);
    for (first, blocks, expected) in [(0, 16, 2), (0, 5, 0), (5, 1, 1), (6, 1, 1), (7, 9, 0)] {
        let range = (first * BLOCK, blocks * BLOCK);
        assert_eq!(count(&undo, range), expected, "{range:?}");
    }
    let write = (0, (5 * BLOCK, BLOCK));
    undo.will_write(&disk, &mut budget, write, With::Bytes);
    assert_eq!(count(&undo, (0, 16 * BLOCK)), 1);
}

/// The second part of a write fails, or goes to its disk at once, where the first is in the cache.
#[test]
fn what_of_a_write_is_in_no_cache_is_over_with_it() {
    let mut volume = Volume::new();
    for begins in [0, 100] {
        let range = (3 * BLOCK + begins, 2 * BLOCK);
        volume.begin(range.0, range.1, With::Bytes);
        let room = volume.disk.reserve(&mut Budget::new(100), range.0, range.1);
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

/// Of a long write whose host fails, a disk has the parts that the model was done with before, unless the cache has them.
#[test]
fn parts_that_the_model_is_done_with_are_not_undone() {
    let mut volume = Volume::new();
    volume.disk.write(0, &[7; 4 * BLOCK as usize]).unwrap();
    let range = (0, 4 * BLOCK);
    volume.begin(0, 4 * BLOCK, With::Bytes);
    volume.disk.write(0, &[9; 4 * BLOCK as usize]).unwrap();
    let (index, era) = (volume.index, volume.undo.era());
    let write = Write { index, era, range };
    let Volume {
        disk, undo, budget, ..
    } = &mut volume;
    undo.is_cached(disk, budget, write, (0, BLOCK));
    for (done, left) in [(2, 97), (2, 97), (3, 98)] {
        undo.has_come_to(disk, budget, write, done * BLOCK);
        assert_eq!(budget.left(), left);
    }
    for (block, expected) in [(0, 7), (1, 9), (2, 9), (3, 7)] {
        volume.check(block, expected);
    }
}

#[test]
fn what_is_kept_takes_room_until_it_is_durable() {
    let mut volume = Volume::new();
    volume.write(3, 1);
    assert_eq!(volume.budget.left(), 99);
    volume.take(3, 7);
    volume.write(3, 2);
    assert_eq!(volume.budget.left(), 98);
    volume.durable(3, 7);
    assert_eq!(volume.budget.left(), 99);
    volume.take(3, 8);
    volume.durable(3, 8);
    assert_eq!(volume.budget.left(), 100);
}

#[test]
fn a_crash_puts_everything_back_where_memory_is_used_up() {
    let mut disk = Disk::new(&Medium::Memory, "v", 16 * BLOCK).unwrap();
    let (mut undo, mut budget) = (Undo::default(), Budget::new(3));
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
    assert_eq!(budget.left(), 0);
    // Copies go by themselves, so only data is refused its room.
    disk.reserve(&mut budget, 5 * BLOCK, 2 * BLOCK).unwrap();
    assert_eq!(budget.left(), -2);
    let more = disk.reserve(&mut budget, 7 * BLOCK, BLOCK);
    assert_eq!(more, Err(fathom_nbd::NbdError::NoSpace));
    let gone = undo.crash(&mut disk, &mut budget, Tearing::No);
    assert_eq!((gone.lost, gone.broken, budget.left()), (2 * BLOCK, 0, -1));
    for (block, expected) in [(0, 7), (1, 6)] {
        assert!(content(&disk, block).is(&filled(expected)), "{block}");
    }
}
