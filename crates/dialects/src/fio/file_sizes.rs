//! `filesize`: the size of each file of a job, or the range it is drawn from.

use super::scatter::scatter;

/// The sizes that files may have, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizes {
    /// Smallest size in bytes.
    pub low: u64,
    /// Largest size in bytes, no smaller than `low`.
    pub high: u64,
}

impl FileSizes {
    /// Whether sizes differ from file to file.
    pub fn is_range(self) -> bool {
        self.low < self.high
    }

    /// Whether a file of `size` bytes is left as it is.
    pub fn contains(self, size: u64) -> bool {
        (self.low..=self.high).contains(&size)
    }

    /// Size of one file of a clone: drawn evenly from the range and rounded down to whole blocks, where one fits in.
    pub fn of_file(self, seed: u64, clone: u64, file: u64, block: u64) -> u64 {
        if !self.is_range() {
            return self.low;
        }
        let number = scatter(scatter(seed ^ clone.rotate_left(32)).wrapping_add(file));
        let span = u128::from(self.high - self.low) + 1;
        let drawn = self.low + ((u128::from(number) * span) >> 64) as u64;
        let whole = drawn - drawn % block;
        whole.max(block.min(self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fill_the_range() {
        let sizes = FileSizes {
            low: 64 << 10,
            high: 1 << 20,
        };
        let drawn: Vec<u64> = (0..4096)
            .map(|file| sizes.of_file(137, 0, file, 4096))
            .collect();
        assert!(drawn.iter().all(|size| size.is_multiple_of(4096)));
        assert_eq!(drawn.iter().min(), Some(&(64 << 10)));
        assert!((1 << 20) - 4096 <= *drawn.iter().max().unwrap());
        let mean = drawn.iter().sum::<u64>() as f64 / 4096.0;
        let expected = 544.0 * 1024.0;
        // Standard error of the mean of an even distribution: range / sqrt(12 * n), here 0.8 %.
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean}");
        let again = (0..4096).map(|file| sizes.of_file(137, 1, file, 4096));
        assert!(again.ne(drawn), "clones have sizes of their own");
    }

    #[test]
    fn small_sizes_are_one_block() {
        let sizes = |low, high| FileSizes { low, high };
        for file in 0..100 {
            assert!([4096, 8192].contains(&sizes(1, 8192).of_file(1, 0, file, 4096)));
            assert!((1..=100).contains(&sizes(1, 100).of_file(1, 0, file, 4096)));
            assert_eq!(sizes(5000, 5000).of_file(1, 0, file, 4096), 5000);
        }
    }
}
