//! Blocks in flight: an I/O that overlaps one of them waits.
//!
//! Reads may overlap each other; whatever changes data overlaps nothing.

use fathom_workload::Direction;
use fathom_workload::generator::Io;

use super::Slot;

/// I/Os in flight, at most the depth.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    blocks: Vec<Io>,
}

impl InFlight {
    pub(super) fn new(depth: u32) -> Self {
        Self {
            blocks: Vec::with_capacity(depth as usize),
        }
    }

    /// Whether `io` must wait.
    pub(super) fn holds_back(&self, io: &Io) -> bool {
        self.blocks.iter().any(|other| overlap(io, other))
    }

    pub(super) fn issued(&mut self, io: Io) {
        self.blocks.push(io);
    }

    /// Forgets the I/O of `slot`.
    pub(super) fn completed(&mut self, slot: &Slot) {
        let same =
            |io: &Io| (io.target, io.offset, io.length) == (slot.target, slot.offset, slot.length);
        if let Some(place) = self.blocks.iter().position(same) {
            self.blocks.swap_remove(place);
        }
    }
}

fn overlap(one: &Io, other: &Io) -> bool {
    let both_read = one.direction == Direction::Read && other.direction == Direction::Read;
    let ends = [one, other].map(|io| io.offset + u64::from(io.length));
    !both_read && one.target == other.target && one.offset < ends[1] && other.offset < ends[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ways: (Direction, Direction), offset: u64, expected: bool) {
        let io = |direction, offset| Io {
            index: 0,
            direction,
            target: 0,
            offset,
            length: 4096,
        };
        let mut flying = InFlight::new(1);
        flying.issued(io(ways.0, 8192));
        assert_eq!(flying.holds_back(&io(ways.1, offset)), expected);
    }

    #[test]
    fn only_what_changes_data_is_held_back_and_only_where_it_overlaps() {
        use Direction::{Read, Write};
        check((Write, Write), 8192 + 4095, true);
        check((Write, Write), 8192 - 4095, true);
        check((Write, Read), 8192, true);
        check((Read, Read), 8192, false);
        check((Write, Write), 8192 + 4096, false);
        check((Write, Write), 4096, false);
    }
}
