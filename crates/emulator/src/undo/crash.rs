//! What a failing host leaves: every block as its disk has it, or torn.

use std::sync::Arc;

use super::block::Block;
use super::content::{Content, content};
use super::{BLOCK, Undo};
use crate::backing::Disk;
use crate::budget::Budget;

/// Bytes that a disk writes whole or not at all.
pub(super) const SECTOR: usize = 512;

/// What a crash has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gone {
    /// Bytes that no disk had.
    pub lost: u64,
    /// Bytes that a disk had, and that the file beneath could not be given.
    pub broken: u64,
}

/// How a crash leaves a block of which a write was under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tearing {
    /// As it was before.
    No,
    /// Each sector as it was before or after, by a number drawn from this one.
    Sectors(u64),
}

impl Undo {
    /// The host has failed: every block gets what its disk has.
    pub fn crash(&mut self, disk: &mut Disk, budget: &mut Budget, tearing: Tearing) -> Gone {
        let mut gone = Gone::default();
        self.era = self.era.wrapping_add(1);
        self.partly.clear();
        let mut blocks: Vec<(u64, Block)> = self.blocks.drain().collect();
        budget.keep(-blocks.iter().map(|(_, block)| block.counted).sum::<i64>());
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

/// One of two, by three numbers: the finaliser of splitmix64.
fn drawn(seed: u64, block: u64, sector: u64) -> bool {
    let mut mixed = seed ^ block.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (sector << 56);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) & 1 == 1
}
