//! What rounds count between two moments.

use fathom_record::{WorkerStats, batch_level, depth_level};
use fathom_units::Nanos;

use crate::timing::Gauge;

/// What rounds count, in few lines of the cache; the worker gets it at each moment.
#[repr(C)]
pub(super) struct Counts {
    pub(super) outstanding_ns: u64,
    /// I/Os that did what they were asked for.
    pub(super) done: u64,
    /// I/Os submitted that left no slot free.
    pub(super) filling: u64,
    /// How long completions of batches may have lain unseen, and the longest of that.
    pub(super) unseen_ns: u64,
    pub(super) longest_unseen: Nanos,
    /// Batches by their size, as far as each has its own place; larger ones go to the worker at once, and of those taken
    /// their number stands here.
    pub(super) submitted: [u32; BATCH_SIZES],
    pub(super) taken: [u32; BATCH_SIZES],
    pub(super) taken_large: u64,
}

/// Sizes of batches that have a place of their own.
const BATCH_SIZES: usize = 17;

impl Counts {
    pub(super) const ZERO: Self = Self {
        outstanding_ns: 0,
        done: 0,
        filling: 0,
        unseen_ns: 0,
        longest_unseen: Nanos::ZERO,
        submitted: [0; BATCH_SIZES],
        taken: [0; BATCH_SIZES],
        taken_large: 0,
    };

    /// Adds what was counted of batches and depths to what the worker has.
    pub(super) fn add_to(&self, stats: &mut WorkerStats, stamp_error: &mut Gauge, slots: usize) {
        stats.outstanding_ns += u128::from(self.outstanding_ns);
        stats.depth_levels[depth_level(slots as u32)] += self.filling;
        for (size, count) in (0..).zip(self.submitted) {
            stats.submit_batches[batch_level(size)] += u64::from(count);
        }
        for (size, count) in (0..).zip(self.taken) {
            stats.complete_batches[batch_level(size)] += u64::from(count);
        }
        stamp_error.merge(&Gauge {
            count: self.taken_large + self.taken.iter().copied().map(u64::from).sum::<u64>(),
            sum: u128::from(self.unseen_ns),
            max: self.longest_unseen,
        });
    }
}
