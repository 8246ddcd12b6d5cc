//! A warm-up that lasts until so many bytes were moved.
//!
//! Jobs of a group that is reported together count together: each ends its own warm-up with its first completion after
//! the group has moved enough.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_units::Bytes;
use fathom_workload::Job;

/// Who counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counters {
    Group(u32),
    Job(usize),
}

/// The warm-ups of a stage that bytes end.
#[derive(Debug, Default)]
pub(crate) struct WarmUps(BTreeMap<Counters, Arc<AtomicU64>>);

impl WarmUps {
    /// That of one more worker of `job`, where bytes end it.
    pub(crate) fn join(&mut self, index: usize, job: &Job) -> Option<WarmUp> {
        let least = job.features.warmup_bytes;
        if least == Bytes::ZERO {
            return None;
        }
        let who = if job.group.together {
            Counters::Group(job.group.id)
        } else {
            Counters::Job(index)
        };
        Some(WarmUp {
            moved: Arc::clone(self.0.entry(who).or_default()),
            least: least.get(),
            is_over: false,
        })
    }
}

/// The warm-up of one worker.
#[derive(Debug)]
pub(crate) struct WarmUp {
    moved: Arc<AtomicU64>,
    least: u64,
    is_over: bool,
}

impl WarmUp {
    /// Counts bytes that were read, written or trimmed. Nothing is counted once it is over.
    pub(super) fn moved(&mut self, bytes: u32) {
        if !self.is_over {
            let bytes = u64::from(bytes);
            let all = self.moved.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.is_over = all >= self.least;
        }
    }

    /// Whether enough was moved by all that count together.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}
