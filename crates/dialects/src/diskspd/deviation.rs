//! I/Os by buckets of time, and how far their rates deviate (`-D`).

use fathom_record::{LogChunk, LogWindow};
use fathom_units::Nanos;

/// Counts of I/Os in buckets of one length: reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    length: Nanos,
    most: usize,
    counts: Vec<[u64; 2]>,
}

/// Most buckets that are kept: more than any table of them is read.
const BUCKETS_MAX: u64 = 1 << 20;

impl Buckets {
    /// Empty buckets of `length` over `duration`; whole ones, the last rounded up.
    pub fn new(length: Nanos, duration: Nanos) -> Self {
        let length = Nanos::new(length.get().max(1));
        let most = duration.get().div_ceil(length.get()).min(BUCKETS_MAX);
        Self {
            length,
            most: most as usize,
            counts: Vec::new(),
        }
    }

    /// Counts what a worker tells.
    pub fn add(&mut self, chunk: &LogChunk) {
        for window in &chunk.windows {
            self.window(window);
        }
    }

    fn window(&mut self, window: &LogWindow) {
        let number = window.end.get().div_ceil(self.length.get()).max(1) - 1;
        let Some(index) = usize::try_from(number).ok().filter(|at| *at < self.most) else {
            return;
        };
        if self.counts.len() <= index {
            self.counts.resize(index + 1, [0; 2]);
        }
        for (count, sums) in self.counts[index].iter_mut().zip(&window.directions) {
            *count += sums.ios;
        }
    }

    /// Adds those of another worker, bucket by bucket.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), [0; 2]);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            mine[0] += theirs[0];
            mine[1] += theirs[1];
        }
    }

    /// Population standard deviation of I/Os a second over the buckets up to the last with an I/O; `count` picks what is
    /// counted of reads and writes.
    pub fn deviation(&self, count: impl Fn(&[u64; 2]) -> u64) -> f64 {
        let counts: Vec<u64> = self.counts.iter().map(count).collect();
        let used = counts
            .iter()
            .rposition(|count| *count > 0)
            .map_or(0, |at| at + 1);
        if used == 0 {
            return 0.0;
        }
        let seconds = self.length.as_secs_f64();
        let rates = || counts[..used].iter().map(|count| *count as f64 / seconds);
        let mean = rates().sum::<f64>() / used as f64;
        let squares: f64 = rates().map(|rate| (rate - mean).powi(2)).sum();
        (squares / used as f64).sqrt()
    }
}
