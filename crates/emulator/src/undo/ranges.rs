//! Ranges of bytes, and the blocks that they touch.

use std::ops::Range;

use super::BLOCK;

/// The blocks of which a range has bytes.
pub(super) fn blocks_of(offset: u64, length: u64) -> Range<u64> {
    if length == 0 {
        return 0..0;
    }
    offset / BLOCK..(offset + length).div_ceil(BLOCK)
}

/// What of a range lies in none of some parts of it.
pub(super) fn rest_of((offset, length): (u64, u64), mut parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
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
pub(super) fn part_of(number: u64, (offset, length): (u64, u64), size: usize) -> Range<usize> {
    let start = number * BLOCK;
    let within = |at: u64| (at.saturating_sub(start) as usize).min(size);
    within(offset)..within(offset + length)
}
