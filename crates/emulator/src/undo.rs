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
//! What is kept takes memory, which is counted as taken from the budget, even below nothing: nothing fails for it, but who needs
//! room waits until it is given back.
//!
//! Invariants: of a block that is not kept here, the volume's bytes are durable; when no write is under way to a block, it has
//! no pending bytes; with nothing kept, the budget is as it was.

mod block;
mod content;
mod crash;
mod ranges;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fathom_model::{Durability, VolumeRange};

use self::block::Block;
use self::content::{Content, content};
pub(crate) use self::crash::Tearing;
use self::ranges::{blocks_of, part_of, rest_of};
use crate::backing::Disk;
use crate::budget::Budget;

/// Bytes that are kept, and lost, together.
pub(crate) const BLOCK: u64 = 4096;

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

impl Undo {
    /// How many times the host has failed.
    pub fn era(&self) -> u32 {
        self.era
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Blocks that are copied when a write or zeroes come to a range.
    pub fn copies(&self, disk: &Disk, (offset, length): (u64, u64)) -> u64 {
        let is_copied = |number: &u64| {
            let block = self.blocks.get(number);
            let start = number * BLOCK;
            let length = BLOCK.min(disk.size().saturating_sub(start)) as u32;
            block.is_none_or(|block| block.pending == 0) && !disk.is_hole(start, length)
        };
        blocks_of(offset, length).filter(is_copied).count() as u64
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

    /// What of a write the model is done with is on its disk where it is not in the cache; the rest of it is under way.
    pub fn has_come_to(&mut self, disk: &Disk, budget: &mut Budget, write: Write, done: u64) {
        if write.era != self.era {
            return;
        }
        let parts = self.partly.entry(write.index).or_default();
        let rest = rest_of((write.range.0, done), parts.clone());
        parts.extend(&rest);
        for range in rest {
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
            budget.keep(-block.counted);
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
}
