//! Lines of the cache and the blocks in them.

/// Bytes of a line.
pub const LINE: u64 = 64 << 10;
/// Bytes of a block within a line: 16 blocks fit a `u16` of valid bits.
pub(super) const BLOCK: u64 = 4 << 10;
/// Blocks of a line.
pub(super) const PER_LINE: u64 = LINE / BLOCK;

/// The line that a range lies in, with its blocks; `None` where there are several.
#[inline]
pub(super) fn line_of(offset: u64, length: u64) -> Option<(usize, u16)> {
    let first = offset / BLOCK;
    let last = (offset + length.max(1) - 1) / BLOCK;
    let line = first / PER_LINE;
    let blocks =
        (0xffff_u16 >> (PER_LINE - 1 - last % PER_LINE)) & (0xffff_u16 << (first % PER_LINE));
    (last / PER_LINE == line).then_some((line as usize, blocks))
}

/// The lines that a range touches, with the blocks of each; a block touched in part counts as touched.
#[inline]
pub(super) fn lines_of(offset: u64, length: u64) -> impl Iterator<Item = (usize, u16)> {
    let first = offset / BLOCK;
    let last = (offset + length.max(1) - 1) / BLOCK;
    (first / PER_LINE..=last / PER_LINE).map(move |line| {
        let low = first.saturating_sub(line * PER_LINE);
        let high = (last - line * PER_LINE).min(PER_LINE - 1);
        let blocks = (0xffff_u16 >> (PER_LINE - 1 - high)) & (0xffff_u16 << low);
        (line as usize, blocks)
    })
}

/// The runs of set bits of a line's mask, as (offset, length) in bytes, in order.
pub(super) fn runs_of(line: u32, blocks: u16) -> impl Iterator<Item = (u64, u64)> {
    let mut rest = u32::from(blocks);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let low = rest.trailing_zeros();
        let count = (rest >> low).trailing_ones();
        rest &= !(((1 << count) - 1) << low);
        let offset = u64::from(line) * LINE + u64::from(low) * BLOCK;
        Some((offset, u64::from(count) * BLOCK))
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
    fn masks_become_runs() {
        #[track_caller]
        fn check(line: u32, blocks: u16, expected: &[(u64, u64)]) {
            assert_eq!(
                runs_of(line, blocks).collect::<Vec<_>>(),
                expected,
                "{blocks:b}"
            );
        }
        check(0, 0, &[]);
        check(0, 0xffff, &[(0, 65536)]);
        check(1, 1, &[(65536, 4096)]);
        check(
            0,
            0b1000_0000_0110_0001,
            &[(0, 4096), (20480, 8192), (61440, 4096)],
        );
    }
}
