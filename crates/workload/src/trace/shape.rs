//! What a job's keys say of a trace that it replays: its mix and its sizes. The I/O itself comes from the trace.

use fathom_units::{Bytes, Percent};

use super::TraceSummary;
use crate::{BlockSizes, Direction, Mix, WeightedSize};

/// A buffer where nothing moves data.
const LEAST_BUFFER: u64 = 512;

impl TraceSummary {
    /// Bytes of the largest I/O that needs a buffer; trims need none.
    pub fn largest_buffer(&self) -> u64 {
        let [read, write, _] = self.largest;
        match read.max(write) {
            0 => LEAST_BUFFER,
            most => u64::from(most),
        }
    }

    /// The largest I/O of each direction, as the only size of it.
    pub fn block_sizes(&self) -> BlockSizes {
        let largest = |way: Direction| {
            let size = match (way, self.largest[way as usize]) {
                (Direction::Trim, _) | (_, 0) => self.largest_buffer(),
                (_, most) => u64::from(most),
            };
            vec![WeightedSize {
                size: Bytes::new(size),
                weight: 1,
            }]
        };
        BlockSizes {
            read: largest(Direction::Read),
            write: largest(Direction::Write),
            trim: largest(Direction::Trim),
            alignment: None,
        }
    }

    /// Shares as the trace has them, none of which is lost to rounding.
    pub fn mix(&self) -> Mix {
        let total: u64 = self.ios.iter().sum();
        let mut points = self.ios.map(|count| {
            let share = u128::from(count) * 10_000 / u128::from(total.max(1));
            if count > 0 { (share as u32).max(1) } else { 0 }
        });
        let sum: u32 = points.iter().sum();
        let most = (0..3).max_by_key(|way| points[*way]).unwrap_or(0);
        points[most] = (points[most] + 10_000).saturating_sub(sum);
        let [read, write, trim] =
            points.map(|points| Percent::from_basis_points(points).unwrap_or(Percent::ZERO));
        Mix { read, write, trim }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ios: [u64; 3], expected: [u32; 3]) {
        let summary = TraceSummary {
            ios,
            ..TraceSummary::default()
        };
        let mix = summary.mix();
        let points = [mix.read, mix.write, mix.trim].map(Percent::basis_points);
        assert_eq!(points, expected, "{ios:?}");
    }

    #[test]
    fn shares_add_up_and_none_is_lost() {
        check([7, 0, 0], [10_000, 0, 0]);
        check([1, 1, 1], [3333, 3333, 3334]);
        check([1_000_000_000, 1, 1], [9998, 1, 1]);
        check([0, 1, 3], [0, 2500, 7500]);
    }
}
