//! Where the ranges of `-rd` lie on a target of a known size.
//!
//! Ends are whole steps of the alignment, as they are drawn; offsets count from the base offset.

use super::settings::{SpreadUnit, Target};

/// A part of a target, in bytes, with its share of the I/Os in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Percent of the I/Os.
    pub io: u32,
    /// First byte.
    pub start: u64,
    /// First byte past it.
    pub end: u64,
}

/// The parts of a target of `size` bytes, one after another, those without I/O too. Nothing where offsets are drawn uniformly,
/// or where a range has no room for its I/Os, which then go everywhere.
pub fn parts(target: &Target, size: u64) -> Vec<Part> {
    let used = target.end.map_or(size, |end| end.min(size));
    let used = used.saturating_sub(target.base);
    let step = target.step().max(1);
    let whole = |bytes: u64| bytes / step * step;
    let mut parts: Vec<Part> = Vec::new();
    let (mut told, mut start) = (0u64, 0);
    for (io, length) in &target.spread.ranges {
        told = told.saturating_add(*length);
        let end = match target.spread.unit {
            SpreadUnit::Percent if told >= 100 => used,
            SpreadUnit::Percent => {
                whole((u128::from(used) * u128::from(told) / 100).min(u128::from(used)) as u64)
            }
            // The last range may be all that is left.
            SpreadUnit::Absolute if *length == 0 => used,
            SpreadUnit::Absolute => whole(told.min(used)),
        };
        if *io > 0 && end <= start {
            return Vec::new();
        }
        parts.push(Part {
            io: *io,
            start,
            end,
        });
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diskspd::settings::Spread;

    #[track_caller]
    fn check(unit: SpreadUnit, ranges: &[(u32, u64)], size: u64, expected: &[(u32, u64, u64)]) {
        let ranges = ranges.to_vec();
        let target = Target {
            block: 4096,
            random: Some(100),
            spread: Spread { unit, ranges },
            ..Target::default()
        };
        let found = parts(&target, size << 10);
        let found: Vec<_> = found
            .iter()
            .map(|part| (part.io, part.start >> 10, part.end >> 10))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ranges_end_at_whole_blocks() {
        let ranges = [(10, 10), (10, 10), (0, 10), (80, 70)];
        let expected = [(10, 0, 8), (10, 8, 20), (0, 20, 28), (80, 28, 100)];
        check(SpreadUnit::Percent, &ranges, 100, &expected);
        let ranges = [(10, 16 << 10), (90, 0)];
        check(
            SpreadUnit::Absolute,
            &ranges,
            100,
            &[(10, 0, 16), (90, 16, 100)],
        );
        // A range without room, or past the end.
        check(SpreadUnit::Percent, &[(50, 1), (50, 99)], 100, &[]);
        check(
            SpreadUnit::Absolute,
            &[(50, 1 << 20), (50, 1 << 20)],
            100,
            &[],
        );
        check(SpreadUnit::Percent, &[], 100, &[]);
    }
}
