//! Priorities of single I/Os.
//!
//! Each I/O draws a number from its own place in the stream, so that the choice is the same in every run of a seed and
//! shifts no other.

use fathom_workload::generator::Io;
use fathom_workload::{Direction, IoPriority, Priorities};

/// The priorities of one worker.
#[derive(Debug)]
pub(super) struct PriorityPicker<'a> {
    priorities: &'a Priorities,
    seed: u64,
    drawn: u64,
    /// What is in flight, by slot.
    by_slot: Vec<IoPriority>,
}

impl<'a> PriorityPicker<'a> {
    pub(super) fn new(priorities: &'a Priorities, seed: u64) -> Self {
        Self {
            priorities,
            seed,
            drawn: 0,
            by_slot: Vec::new(),
        }
    }

    /// The priority of an I/O that goes into `slot`.
    pub(super) fn pick(&mut self, io: &Io, slot: u32) -> IoPriority {
        self.drawn += 1;
        let number = scatter(self.seed ^ self.drawn) % 100;
        let is_write = io.direction == Direction::Write;
        let priority = self
            .priorities
            .pick(is_write, u64::from(io.length), number as u32);
        let slot = slot as usize;
        if self.by_slot.len() <= slot {
            self.by_slot.resize(slot + 1, IoPriority::default());
        }
        self.by_slot[slot] = priority;
        priority
    }

    /// What the I/O in `slot` has.
    pub(super) fn of(&self, slot: u32) -> IoPriority {
        self.by_slot.get(slot as usize).copied().unwrap_or_default()
    }
}

/// SplitMix64's finisher (Steele, Lea and Flood, 2014).
fn scatter(value: u64) -> u64 {
    let value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
