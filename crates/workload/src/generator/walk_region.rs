//! One target of a walk: its positions by direction, its present zone, and which of its blocks were visited.

use super::TargetRange;
use super::bitmap::Bitmap;
use super::cells::Cells;
use super::permutation::Permutation;
use super::spread::Spread;
use crate::Direction;

/// No I/O of this direction yet.
const NEVER: u64 = u64::MAX;

/// Which blocks of the smallest size were visited in this round.
#[derive(Debug)]
pub(super) enum Map {
    /// Nobody asks.
    None,
    /// All I/Os have one size: the order alone tells.
    Order(Visit),
    /// Sizes differ: the target is cut into them.
    Cells(Visit, Cells),
    /// Sizes differ by direction, or are no whole numbers of the smallest: an I/O ends where one was before.
    Blocks(Visit, Bitmap),
}

/// An order of blocks and how much of it is done.
#[derive(Debug)]
pub(super) struct Visit {
    order: Permutation,
    next: u64,
    count: u64,
}

impl Visit {
    pub(super) fn new(count: u64, key: u64) -> Self {
        Self {
            order: Permutation::new(count, key),
            next: 0,
            count,
        }
    }

    fn next(&mut self) -> Option<u64> {
        let index = (self.next < self.count).then_some(self.next)?;
        self.next += 1;
        Some(self.order.at(index))
    }
}

/// A target on the walk. Offsets are bytes from the start of the target.
#[derive(Debug)]
pub(super) struct WalkRegion {
    /// Start of the range.
    pub(super) start: u64,
    /// Bytes of the range.
    pub(super) length: u64,
    /// End of the target itself, at or past that of the range.
    pub(super) end: u64,
    /// Start of the present zone, or of the range.
    pub(super) base: u64,
    /// End of the last I/O of each direction.
    pub(super) last_end: [u64; 3],
    last_start: [u64; 3],
    /// The trim whose write comes next: (offset, length).
    pub(super) trimmed: Option<(u64, u64)>,
    pub(super) map: Map,
    /// By direction, where draws are not uniform.
    pub(super) spreads: Option<Box<[Spread; 3]>>,
}

/// What a sequential I/O depends on beside the positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    /// Bytes from the end of an I/O to the start of the next.
    pub(super) skip: i64,
    /// At the end of the range the walk goes on from its start.
    pub(super) wraps: bool,
}

impl WalkRegion {
    pub(super) fn new(range: TargetRange, past_end: bool) -> Self {
        let TargetRange { offset, length } = range;
        let mut region = Self {
            start: offset,
            length,
            end: if past_end {
                i64::MAX as u64
            } else {
                offset.saturating_add(length)
            },
            base: offset,
            last_end: [0; 3],
            last_start: [NEVER; 3],
            trimmed: None,
            map: Map::None,
            spreads: None,
        };
        region.rewind();
        region
    }

    /// Positions at the start of the present zone, as if nothing had been done.
    pub(super) fn rewind(&mut self) {
        self.last_end = [self.base; 3];
        self.last_start = [NEVER; 3];
    }

    /// Bytes from `offset` to the end of the range.
    pub(super) fn room(&self, offset: u64) -> u64 {
        (self.start + self.length).saturating_sub(offset)
    }

    /// Whether the next sequential I/O of a direction goes on from the start of the range.
    pub(super) fn wraps(&self, direction: Direction, steps: Steps) -> bool {
        steps.wraps && self.last_end[direction as usize] >= self.start + self.length
    }

    /// Where the next sequential I/O of a direction starts, from the start of the range; `None` at the target's end.
    ///
    /// Both the wrap past the end of the target and that before its start follow fio 3.42: a walk that skips goes on from
    /// the range's own offset, one backwards from the range's end.
    pub(super) fn follow(&mut self, direction: Direction, steps: Steps) -> Option<u64> {
        let way = direction as usize;
        if self.wraps(direction, steps) {
            self.last_end[way] = self.base;
        }
        if self.last_end[way] >= self.end {
            return None;
        }
        let last = self.length.min(self.end);
        if steps.skip < 0 && self.base > 0 && self.last_end[way] == self.base {
            self.last_end[way] = last;
        }
        let position = self.last_end[way].wrapping_sub(self.base);
        if position == 0 || steps.skip == 0 {
            return Some(position);
        }
        let stepped = position.wrapping_add_signed(steps.skip);
        Some(if stepped < self.end {
            stepped
        } else if steps.skip > 0 {
            self.base
        } else {
            last.wrapping_add_signed(steps.skip)
        })
    }

    /// The place of the direction's last I/O, from the start of the range.
    pub(super) fn repeat(&self, direction: Direction) -> u64 {
        match self.last_start[direction as usize] {
            NEVER => 0,
            start => start.wrapping_sub(self.base),
        }
    }

    /// Whether a trim or a write comes next where both go their own way: a trim once the last write began where the last
    /// trim did.
    pub(super) fn next_of_pair(&self) -> Direction {
        let last = |way: Direction| self.last_start[way as usize];
        if last(Direction::Write) == last(Direction::Trim) {
            Direction::Trim
        } else {
            Direction::Write
        }
    }

    /// Notes an I/O.
    pub(super) fn done(&mut self, direction: Direction, offset: u64, size: u64) {
        self.last_start[direction as usize] = offset;
        self.last_end[direction as usize] = offset + size;
    }

    /// The next unvisited block, as a number of blocks of `unit` bytes, and the size of its I/O in blocks where that is
    /// settled; the block is the start of one of `step` blocks of which `least` bytes lie within the range. `draw` gives a
    /// size of at most as many blocks as it is told. `None` when all were visited.
    pub(super) fn next_unvisited(
        &mut self,
        (step, least, unit): (u64, u64, u64),
        draw: impl FnMut(u64) -> u64,
    ) -> Option<(u64, Option<u64>)> {
        let whole = self.length;
        match &mut self.map {
            Map::None => None,
            Map::Order(visit) => Some((visit.next()?, None)),
            Map::Cells(visit, cells) => {
                let (first, count) = cells.next(|| visit.next(), draw)?;
                Some((first, Some(count)))
            }
            Map::Blocks(visit, map) => loop {
                let block = visit.next()?;
                let first = block - block % step;
                let fits = first * unit + least <= whole;
                if fits && map.is_free(first) {
                    return Some((first, None));
                }
            },
        }
    }

    /// Marks the blocks of an I/O, and gives the bytes of it that were not visited before.
    pub(super) fn visit(&mut self, relative: u64, size: u64, unit: u64) -> u64 {
        match &mut self.map {
            Map::Blocks(_, map) => {
                let taken = map.take(relative / unit, size.div_ceil(unit));
                size.min(taken * unit)
            }
            Map::None | Map::Order(_) | Map::Cells(..) => size,
        }
    }

    /// Forgets what was visited; `count` blocks come in a new order.
    pub(super) fn restart_map(&mut self, count: u64, key: u64) {
        match &mut self.map {
            Map::None => {}
            Map::Order(visit) => *visit = Visit::new(count, key),
            Map::Cells(visit, cells) => {
                *visit = Visit::new(cells.slots(), key);
                cells.clear();
            }
            Map::Blocks(visit, map) => {
                *visit = Visit::new(count, key);
                map.clear();
            }
        }
    }
}
