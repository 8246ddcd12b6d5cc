//! The host cache of one machine: which blocks of its cached disks it holds.
//!
//! Capacity is given out in blocks of 4 KiB, because a miss fetches the blocks that the I/O asked for and nothing more. The
//! book of them is kept by lines of 64 KiB, as masks of 16 blocks: valid, used, dirty. When the capacity is given out, the
//! CLOCK algorithm chooses what to give up: a hand goes round the lines in the order of their positions, and a line gives
//! up its blocks that were not used since the hand last came by. A block is used when it is filled and when an I/O finds
//! it. So the granularity is that of exact caches of 4 KiB blocks: the hit share is at most half a point outside what an
//! exact CLOCK and an exact LRU have (`cache::granularity`). A block that is touched in part counts as touched.
//!
//! The cache is the host's memory over its local SSD. No size of the first is published: without one in the design it is one
//! tier. With one, a second, smaller book of the same kind says which of the blocks are in memory too: a block comes there
//! when it is filled, written or found.
//!
//! Memory: a line that files can touch costs 4 bytes and a bit, and 2 bytes more on a machine with write-back disks, in
//! pages that the operating system gives out when they are first touched. The largest cache (4,224 GiB) over files of its
//! own size costs 286 MB, or 535 MB with write-back and all the dirty lines it may hold. A machine whose files need more
//! than 1 GiB is refused ([`HostCache::state_bytes`], [`MOST_STATE_BYTES`]).
//!
//! Invariants: no more blocks are resident than the capacity holds; a block that was never filled is never a hit; a dirty
//! block is not given up before its write has begun.

mod lines;
mod write_back;

#[cfg(test)]
mod granularity;
#[cfg(test)]
mod tests;

use std::ops::Range;

use lines::{BLOCK, PER_LINE, line_of, lines_of};
use write_back::WriteBack;

pub use lines::LINE;
pub use write_back::{FLUSH_DEPTH, FLUSH_PERIOD, LostBlocks, Run};

/// Most bytes of state that the cache of one machine may take.
pub const MOST_STATE_BYTES: u64 = 1 << 30;

/// Which blocks are held. Positions are byte offsets in the space of all cached disks laid one after another.
#[derive(Debug, Clone)]
pub struct HostCache {
    /// Of each line: valid blocks in the low half, those used since the hand came by in the high half. One word, so that an
    /// I/O touches one place in memory.
    lines: Vec<u32>,
    /// One bit a line: has valid blocks. Empty where the capacity is no less than the space: there none is ever given up.
    occupied: Vec<u64>,
    /// One bit a line: all its blocks are valid, whatever `lines` says of it. Empty where the capacity is less than the
    /// space: there an I/O must leave behind which blocks it used, and here none is ever given up, so that a bit is all
    /// that a read needs to look at.
    whole: Vec<u64>,
    /// How many of these bits are set.
    wholes: usize,
    /// Whether some of these bits are set where `lines` has none. As long as none is, a look at `lines` tells all.
    whole_by_bits: bool,
    /// The line that the hand looks at next.
    hand: usize,
    /// Valid blocks of all lines.
    resident: u64,
    /// Most of them.
    capacity: u64,
    /// What is written and not yet on its disk, where a disk has write-back.
    write_back: Option<Box<WriteBack>>,
    /// Which of the blocks are in the host's memory too, where that has a size of its own.
    memory: Option<Box<HostCache>>,
}

/// Whether a range went in as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmed {
    /// All of it is held.
    All,
    /// The capacity ended before the range.
    Full,
}

impl HostCache {
    /// An empty cache of `capacity` bytes over `space` bytes of disks (at most 2^32 lines).
    pub fn new(capacity: u64, space: u64) -> Self {
        let lines = space.div_ceil(LINE) as usize;
        let words = lines.div_ceil(64);
        let roomy = Self::is_roomy(capacity, lines as u64);
        Self {
            lines: vec![0; lines],
            occupied: vec![0; if roomy { 0 } else { words }],
            whole: vec![0; if roomy { words } else { 0 }],
            wholes: 0,
            whole_by_bits: false,
            hand: 0,
            resident: 0,
            capacity: capacity / BLOCK,
            write_back: None,
            memory: None,
        }
    }

    /// The same with `capacity` bytes of it in the host's memory.
    #[must_use]
    pub fn with_memory(mut self, capacity: u64) -> Self {
        let space = self.lines.len() as u64 * LINE;
        self.memory = Some(Box::new(Self::new(capacity, space)));
        self
    }

    /// The same with write-back on the disks that lie at `disks`; a disk is then known by its index there.
    #[must_use]
    pub fn with_write_back(mut self, disks: &[Range<u64>]) -> Self {
        let capacity = self.capacity * BLOCK / LINE;
        self.write_back = Some(Box::new(WriteBack::new(self.lines.len(), capacity, disks)));
        self
    }

    /// Whether all blocks of so many lines fit.
    const fn is_roomy(capacity: u64, lines: u64) -> bool {
        lines * PER_LINE <= capacity / BLOCK
    }

    /// Bytes of state for `capacity` bytes of cache over `space` bytes of disks; `memory`: with a book of the host's memory.
    pub fn state_bytes(capacity: u64, space: u64, write_back: bool, memory: bool) -> u64 {
        let lines = space.div_ceil(LINE);
        let book = lines * 4 + lines.div_ceil(64) * 8;
        let read = if memory { 2 * book } else { book };
        if write_back {
            read + lines * 2 + WriteBack::queue_bytes(capacity / LINE)
        } else {
            read
        }
    }

    /// Whether every block of the range is held; if so, they are used.
    #[inline]
    pub fn holds(&mut self, offset: u64, length: u64) -> bool {
        if let Some((line, blocks)) = line_of(offset, length) {
            let whole_first = self.is_mostly_whole();
            if whole_first && self.is_whole(line) {
                return true;
            }
            let blocks = u32::from(blocks);
            let masks = &mut self.lines[line];
            let all = *masks & blocks == blocks;
            // No branch: whether it is a hit cannot be predicted.
            *masks |= (blocks << 16) & u32::from(all).wrapping_neg();
            return all || (!whole_first && self.is_whole_by_bits(line));
        }
        self.holds_lines(offset, length)
    }

    /// Whether most of what is held is held by whole lines, so that a read looks for one of them first.
    #[inline]
    fn is_mostly_whole(&self) -> bool {
        self.wholes as u64 * PER_LINE > self.resident / 2
    }

    /// The same for a range of several lines.
    fn holds_lines(&mut self, offset: u64, length: u64) -> bool {
        let all =
            lines_of(offset, length).all(|(line, blocks)| self.valid(line) & blocks == blocks);
        if all {
            for (line, blocks) in lines_of(offset, length) {
                self.lines[line] |= u32::from(blocks) << 16;
            }
        }
        all
    }

    /// Whether the host's memory has a size of its own.
    #[inline]
    pub fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether a range that is held is in the host's memory as a whole; if not, it comes there now.
    pub fn recall(&mut self, offset: u64, length: u64) -> bool {
        let Some(memory) = &mut self.memory else {
            return false;
        };
        let there = memory.holds(offset, length);
        if !there {
            memory.fill(offset, length);
        }
        there
    }

    /// A range that was filled or written is in the host's memory.
    fn remember(&mut self, offset: u64, length: u64) {
        if let Some(memory) = &mut self.memory {
            memory.fill(offset, length);
        }
    }

    /// Whether all blocks of a line are held, and no other ever takes their place.
    #[inline]
    fn is_whole(&self, line: usize) -> bool {
        let word = self.whole.get(line / 64).copied().unwrap_or_default();
        word >> (line % 64) & 1 == 1
    }

    /// The same where `lines` may not tell.
    #[inline]
    fn is_whole_by_bits(&self, line: usize) -> bool {
        self.whole_by_bits && self.is_whole(line)
    }

    /// Whether every block of the disks is held, and stays so.
    pub fn holds_all(&self) -> bool {
        !self.whole.is_empty() && self.wholes == self.lines.len()
    }

    /// Has the processor bring the line of a position near.
    #[inline]
    pub fn touch(&self, offset: u64) {
        let line = (offset / LINE) as usize;
        if self.is_mostly_whole() {
            std::hint::black_box(self.is_whole(line));
        } else if let Some(masks) = self.lines.get(line) {
            std::hint::black_box(*masks);
        }
    }

    /// Takes in the blocks of the range, giving up others where the capacity asks for it. What finds no room, because all
    /// else is dirty, is left out.
    pub fn fill(&mut self, offset: u64, length: u64) {
        self.remember(offset, length);
        if let Some((line, blocks)) = line_of(offset, length) {
            let held = self.valid(line);
            let new = u64::from((blocks & !held).count_ones());
            if (held != 0 || self.occupied.is_empty()) && self.resident + new <= self.capacity {
                // The line is known as occupied, or need not be: one place in memory is all there is to touch.
                self.resident += new;
                self.lines[line] |= u32::from(blocks) | u32::from(blocks) << 16;
                self.note_whole(line);
                return;
            }
        }
        self.fill_lines(offset, length);
    }

    /// The same for whatever range.
    fn fill_lines(&mut self, offset: u64, length: u64) {
        for (line, blocks) in lines_of(offset, length) {
            loop {
                let new = u64::from((blocks & !self.valid(line)).count_ones());
                if self.resident + new <= self.capacity {
                    self.admit(line, blocks, new);
                    self.lines[line] |= u32::from(blocks) << 16;
                    break;
                }
                if new > self.capacity || !self.give_up() {
                    return;
                }
            }
        }
    }

    /// Takes in the blocks of the range as long as there is room; says whether all of it went in.
    pub fn warm(&mut self, offset: u64, length: u64) -> Warmed {
        if let Some(memory) = &mut self.memory {
            let _: Warmed = memory.warm(offset, length);
        }
        let end = offset + length;
        let whole = offset.next_multiple_of(LINE)..end / LINE * LINE;
        let holds_whole_lines_alone = self.wholes as u64 * PER_LINE == self.resident;
        if !self.whole.is_empty() && !whole.is_empty() && holds_whole_lines_alone {
            self.warm_whole_lines((whole.start / LINE) as usize..(whole.end / LINE) as usize);
            // All fits, the rest of the first line and of the last one too.
            let _: Warmed = self.warm_lines(offset..whole.start);
            return self.warm_lines(whole.end..end);
        }
        self.warm_lines(offset..end)
    }

    /// The same line by line.
    fn warm_lines(&mut self, range: Range<u64>) -> Warmed {
        if range.is_empty() {
            return Warmed::All;
        }
        for (line, blocks) in lines_of(range.start, range.end - range.start) {
            let new = u64::from((blocks & !self.valid(line)).count_ones());
            if self.resident + new > self.capacity {
                return Warmed::Full;
            }
            self.admit(line, blocks, new);
        }
        Warmed::All
    }

    /// The same for whole lines, where every line is held whole or not at all: their bits are all that changes.
    fn warm_whole_lines(&mut self, lines: Range<usize>) {
        self.whole_by_bits = true;
        let mut line = lines.start;
        while line < lines.end {
            let end = lines.end.min(line / 64 * 64 + 64);
            let bits = u64::MAX >> (64 - (end - line)) << (line % 64);
            let word = &mut self.whole[line / 64];
            let new = (bits & !*word).count_ones();
            *word |= bits;
            self.wholes += new as usize;
            self.resident += u64::from(new) * PER_LINE;
            line = end;
        }
    }

    /// Forgets everything, as after a reboot in good order.
    pub fn cold(&mut self) {
        self.lines.fill(0);
        self.occupied.fill(0);
        self.whole.fill(0);
        (self.wholes, self.hand, self.resident) = (0, 0, 0);
        self.whole_by_bits = false;
        if let Some(memory) = &mut self.memory {
            memory.cold();
        }
    }

    /// Forgets the blocks of a range, which may end behind the last disk. None of them may be dirty.
    pub fn forget(&mut self, offset: u64, length: u64) {
        let first = (offset / LINE) as usize;
        let count = usize::try_from(length.div_ceil(LINE)).unwrap_or(usize::MAX);
        let end = first.saturating_add(count).min(self.lines.len());
        for line in first..end {
            self.drop_blocks(line, u16::MAX);
        }
        if let Some(memory) = &mut self.memory {
            memory.forget(offset, length);
        }
    }

    #[inline]
    fn valid(&self, line: usize) -> u16 {
        if self.is_whole_by_bits(line) {
            return u16::MAX;
        }
        self.lines[line] as u16
    }

    fn admit(&mut self, line: usize, blocks: u16, new: u64) {
        self.resident += new;
        self.lines[line] |= u32::from(blocks);
        if let Some(word) = self.occupied.get_mut(line / 64) {
            *word |= 1 << (line % 64);
        }
        self.note_whole(line);
    }

    /// Blocks of a line have come.
    #[inline]
    fn note_whole(&mut self, line: usize) {
        if self.valid(line) == u16::MAX && !self.is_whole(line) {
            self.make_whole(line);
        }
    }

    fn make_whole(&mut self, line: usize) {
        if let Some(word) = self.whole.get_mut(line / 64) {
            *word |= 1 << (line % 64);
            self.wholes += 1;
        }
    }

    /// The blocks of `line` are no longer held.
    fn drop_blocks(&mut self, line: usize, blocks: u16) {
        let valid = self.valid(line);
        let (held, left) = (valid & blocks, valid & !blocks);
        if held != 0 && self.is_whole(line) {
            self.whole[line / 64] &= !(1 << (line % 64));
            self.wholes -= 1;
        }
        self.resident -= u64::from(held.count_ones());
        let used = self.lines[line] >> 16 & u32::from(left);
        self.lines[line] = u32::from(left) | used << 16;
        if let Some(word) = self.occupied.get_mut(line / 64).filter(|_| left == 0) {
            *word &= !(1 << (line % 64));
        }
    }

    /// The next line with blocks that are neither used nor dirty gives them up; false where there is none.
    fn give_up(&mut self) -> bool {
        let end = self.occupied.len() * 64;
        // The first turn is not whole, and the second may find every block used.
        let mut turns = 0;
        while turns < 3 {
            let ahead = u64::MAX << (self.hand % 64);
            let here = self.occupied[self.hand / 64] & ahead;
            let line = self.hand / 64 * 64 + here.trailing_zeros() as usize;
            self.hand = if here == 0 { line } else { line + 1 };
            if self.hand == end {
                self.hand = 0;
                turns += 1;
            }
            if here == 0 {
                continue;
            }
            let used = (self.lines[line] >> 16) as u16;
            self.lines[line] &= 0xffff;
            let idle = self.valid(line) & !used & !self.dirty(line);
            if idle != 0 {
                self.drop_blocks(line, idle);
                return true;
            }
        }
        false
    }

    fn dirty(&self, line: usize) -> u16 {
        let write_back = self.write_back.as_ref();
        write_back.map_or(0, |write_back| write_back.dirty(line))
    }

    /// Bytes held.
    #[cfg(test)]
    pub fn resident_bytes(&self) -> u64 {
        self.resident * BLOCK
    }
}
