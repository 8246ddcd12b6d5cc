//! Latencies that are not counted yet.
//!
//! Counting touches a histogram's buckets, sums and extremes and some hundred bytes of code, all of which the kernel has
//! driven out of the nearest caches since the round before. Latencies are therefore kept one after the other, and counted many
//! at a time.

use fathom_stats::Histogram;

/// So many entries are kept; a round adds one or two.
const ENTRIES: usize = 256;

/// Low bits of an entry, which hold how many I/Os had its latency; those above hold the latency (2^56 ns are two years).
const COUNT_BITS: u32 = 8;

/// Latencies, and how many I/Os had each.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Room for them is made when the first finds none.
    entries: Box<[u64]>,
    used: usize,
}

impl Tally {
    /// Keeps what `count` I/Os took, in nanoseconds; `false` where it has no room for that: what is kept
    /// is to be counted then, and this as well.
    #[inline]
    pub(super) fn keep(&mut self, latency: u64, count: u64) -> bool {
        let (most, longest) = (1 << COUNT_BITS, u64::MAX >> COUNT_BITS);
        match self.entries.get_mut(self.used) {
            Some(entry) if count < most && latency <= longest => {
                *entry = latency << COUNT_BITS | count;
                self.used += 1;
                true
            }
            _ => false,
        }
    }

    /// Counts what is kept in `histogram`, if there is one, and what found no room.
    #[cold]
    #[inline(never)]
    pub(super) fn count_with(
        &mut self,
        latency: u64,
        count: u64,
        histogram: Option<&mut Histogram>,
    ) {
        if let Some(histogram) = histogram {
            self.count_in(Some(&mut *histogram));
            histogram.record_many(latency, count);
        }
        self.used = 0;
        if self.entries.is_empty() {
            self.entries = vec![0; ENTRIES].into_boxed_slice();
        }
    }

    /// Counts what is kept in `histogram`, if there is one, and forgets it.
    pub(super) fn count_in(&mut self, histogram: Option<&mut Histogram>) {
        let used = std::mem::take(&mut self.used);
        let Some(histogram) = histogram else {
            return;
        };
        for entry in &self.entries[..used] {
            let count = entry & ((1 << COUNT_BITS) - 1);
            histogram.record_many(entry >> COUNT_BITS, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_once() {
        let mut tally = Tally::default();
        let (mut at_once, mut later) = (Histogram::new(), Histogram::new());
        for round in 0..3 * ENTRIES as u64 + 7 {
            let (latency, count) = (round * round * 1_000, round % 33);
            at_once.record_many(latency, count);
            if !tally.keep(latency, count) {
                assert!(tally.used == ENTRIES || round == 0, "{round}");
                tally.count_with(latency, count, Some(&mut later));
            }
        }
        tally.count_in(Some(&mut later));
        tally.count_in(Some(&mut later));
        assert_eq!(later, at_once);
        assert!(tally.keep(5, 1));
        tally.count_in(None);
        tally.count_in(Some(&mut later));
        assert_eq!(later, at_once);
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let mut tally = Tally::default();
        let mut counted = Histogram::new();
        assert!(!tally.keep(7, 1));
        tally.count_with(7, 1, Some(&mut counted));
        assert_eq!(counted.count(), 1);
        assert!(!tally.keep(1, 1 << COUNT_BITS));
        assert!(!tally.keep(u64::MAX, 1));
        assert!(tally.keep(u64::MAX >> COUNT_BITS, (1 << COUNT_BITS) - 1));
        for _ in 1..ENTRIES {
            assert!(tally.keep(1, 1));
        }
        assert!(!tally.keep(1, 1));
    }
}
