//! I/Os of a worker that completed just now, and are not counted in histograms yet.
//!
//! An I/O is counted twice, for its worker and for the second that it completed in. Some at a time, its bucket is found once.
//!
//! Invariant: what is here completed in the interval that is going on.

use fathom_record::OpStats;
use fathom_stats::Histogram;
use fathom_units::Nanos;

/// Most I/Os that wait to be counted.
const MOST: usize = 32;

/// Completed I/Os of one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recent {
    latencies: [u64; MOST],
    count: usize,
    bytes: u64,
}

impl Recent {
    pub const NONE: Self = Self {
        latencies: [0; MOST],
        count: 0,
        bytes: 0,
    };

    /// One more completed; `true`: there is no room for another.
    #[inline]
    pub fn add(&mut self, bytes: u64, latency: Nanos) -> bool {
        if let Some(place) = self.latencies.get_mut(self.count) {
            *place = latency.get();
            self.count += 1;
            self.bytes += bytes;
        }
        self.count >= MOST
    }

    /// I/Os and bytes.
    pub fn counts(&self) -> (u64, u64) {
        (self.count as u64, self.bytes)
    }

    /// All latencies, in ns.
    pub fn latencies(&self) -> &[u64] {
        &self.latencies[..self.count]
    }

    /// Counts all of them in each of `stats`.
    pub fn count_in<const N: usize>(&self, stats: [&mut OpStats; N]) {
        let histograms = stats.map(|stats| {
            stats.bytes += self.bytes;
            &mut stats.latency
        });
        Histogram::record_in_each(histograms, self.latencies());
    }

    /// They are counted.
    pub fn clear(&mut self) {
        (self.count, self.bytes) = (0, 0);
    }
}
