//! The host cache of one machine: which blocks of its cached disks it holds.
//!
//! Capacity is given out in lines of 64 KiB; within a line, blocks of 4 KiB are valid or not, because a miss fetches the
//! blocks that the I/O asked for and nothing more. When all lines are given out, the CLOCK algorithm (a hand goes round and
//! takes the first line not used since it last came by) chooses which to give up.
//!
//! Only lines that the workload's files can touch are tracked, two bytes and a bit each, so that a cache of half a TiB costs
//! some tens of MB.
//!
//! Invariants: no more lines are resident than the capacity holds; a block that was never filled is never a hit.

/// Bytes of a line.
pub(crate) const LINE: u64 = 64 << 10;
/// Bytes of a block within a line: 16 blocks fit a `u16` of valid bits.
const BLOCK: u64 = 4 << 10;

/// Which blocks are held. Positions are byte offsets in the space of all cached disks laid one after another.
#[derive(Debug, Clone)]
pub(crate) struct HostCache {
    /// Valid blocks of each line; 0: not resident.
    valid: Vec<u16>,
    /// One bit a line: used since the hand came by.
    used: Vec<u64>,
    /// Resident lines in the order the hand visits them.
    ring: Vec<u32>,
    hand: usize,
    /// Most resident lines.
    capacity: usize,
}

impl HostCache {
    /// An empty cache of `capacity` bytes over `space` bytes of disks (at most 2^32 lines).
    pub fn new(capacity: u64, space: u64) -> Self {
        let lines = space.div_ceil(LINE) as usize;
        let capacity = (capacity / LINE) as usize;
        Self {
            valid: vec![0; lines],
            used: vec![0; lines.div_ceil(64)],
            ring: Vec::with_capacity(capacity.min(lines)),
            hand: 0,
            capacity,
        }
    }

    /// Whether every block of the range is held; marks its lines as used.
    #[inline]
    pub fn holds(&mut self, offset: u64, length: u64) -> bool {
        let all =
            lines_of(offset, length).all(|(line, blocks)| self.valid[line] & blocks == blocks);
        if all {
            for (line, _) in lines_of(offset, length) {
                self.used[line / 64] |= 1 << (line % 64);
            }
        }
        all
    }

    /// Takes in the blocks of the range, giving up other lines where the capacity asks for it.
    pub fn fill(&mut self, offset: u64, length: u64) {
        if self.capacity == 0 {
            return;
        }
        for (line, blocks) in lines_of(offset, length) {
            if self.valid[line] == 0 {
                self.admit(line);
            }
            self.valid[line] |= blocks;
        }
    }

    /// Takes in the blocks of the range as long as there is room; says whether all of it went in.
    pub fn warm(&mut self, offset: u64, length: u64) -> Warmed {
        for (line, blocks) in lines_of(offset, length) {
            if self.valid[line] == 0 {
                if self.ring.len() >= self.capacity {
                    return Warmed::Full;
                }
                self.ring.push(line as u32);
            }
            self.valid[line] |= blocks;
        }
        Warmed::All
    }

    fn admit(&mut self, line: usize) {
        if self.ring.len() < self.capacity {
            self.ring.push(line as u32);
            return;
        }
        loop {
            let resident = self.ring[self.hand] as usize;
            let bit = 1 << (resident % 64);
            if self.used[resident / 64] & bit == 0 {
                self.valid[resident] = 0;
                self.ring[self.hand] = line as u32;
                self.hand = (self.hand + 1) % self.ring.len();
                return;
            }
            self.used[resident / 64] &= !bit;
            self.hand = (self.hand + 1) % self.ring.len();
        }
    }

    /// Lines held.
    #[cfg(test)]
    pub fn resident_lines(&self) -> usize {
        self.valid.iter().filter(|blocks| **blocks != 0).count()
    }
}

/// Whether a range went in as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warmed {
    /// All of it is held.
    All,
    /// The capacity ended before the range.
    Full,
}

/// The lines that a range touches, with the blocks of each; a block touched in part counts as touched.
#[inline]
fn lines_of(offset: u64, length: u64) -> impl Iterator<Item = (usize, u16)> {
    let first = offset / BLOCK;
    let last = (offset + length.max(1) - 1) / BLOCK;
    let per_line = LINE / BLOCK;
    (first / per_line..=last / per_line).map(move |line| {
        let low = first.saturating_sub(line * per_line);
        let high = (last - line * per_line).min(per_line - 1);
        let blocks = (0xffff_u16 >> (per_line - 1 - high)) & (0xffff_u16 << low);
        (line as usize, blocks)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_blocks_of_lines() {
        #[track_caller]
        fn check(offset: u64, length: u64, expected: &[(usize, u16)]) {
            assert_eq!(
                lines_of(offset, length).collect::<Vec<_>>(),
                expected,
                "{offset} {length}"
            );
        }
        check(0, 4096, &[(0, 1)]);
        check(4096, 8192, &[(0, 0b110)]);
        check(100, 4096, &[(0, 0b11)]);
        check(0, 65536, &[(0, 0xffff)]);
        check(61440, 8192, &[(0, 0x8000), (1, 1)]);
        check(65536, 131_072, &[(1, 0xffff), (2, 0xffff)]);
    }

    #[test]
    fn blocks_are_hits_once_filled() {
        let mut cache = HostCache::new(4 * LINE, 100 * LINE);
        assert!(!cache.holds(0, 8192));
        cache.fill(0, 4096);
        assert!(!cache.holds(0, 8192));
        cache.fill(4096, 4096);
        assert!(cache.holds(0, 8192));
    }

    #[test]
    fn the_capacity_is_kept_and_used_lines_stay() {
        let mut cache = HostCache::new(4 * LINE, 100 * LINE);
        for line in 0..4 {
            cache.fill(line * LINE, LINE);
        }
        assert!(cache.holds(0, LINE));
        cache.fill(50 * LINE, LINE);
        assert_eq!(cache.resident_lines(), 4);
        assert!(cache.holds(0, LINE), "the line in use was given up");
        assert!(!cache.holds(LINE, LINE));
        for line in 60..90 {
            cache.fill(line * LINE, 4096);
            assert_eq!(cache.resident_lines(), 4);
        }
    }

    #[test]
    fn warming_stops_at_the_capacity() {
        let mut cache = HostCache::new(4 * LINE, 100 * LINE);
        assert_eq!(cache.warm(0, 4 * LINE), Warmed::All);
        assert_eq!(cache.warm(4 * LINE, 1), Warmed::Full);
        assert_eq!(cache.resident_lines(), 4);
        assert!(cache.holds(3 * LINE, LINE) && !cache.holds(4 * LINE, 1));
    }

    #[test]
    fn a_cache_without_room_holds_nothing() {
        let mut cache = HostCache::new(100, 10 * LINE);
        cache.fill(0, LINE);
        assert!(!cache.holds(0, 1));
    }
}
