//! Latencies by I/O priority (`cmdprio_*`), gathered from what a run tells of its I/O.

use std::collections::BTreeMap;

use fathom_record::LogChunk;
use fathom_stats::Histogram;
use fathom_workload::IoPriority;

use crate::fio::input::FioInput;

/// Histograms in ns of one direction.
pub type ByPriority = BTreeMap<IoPriority, Histogram>;

/// Latencies of each job, direction and priority.
#[derive(Debug, Clone, Default)]
pub struct PriorityLatencies {
    /// By job of the input.
    jobs: BTreeMap<usize, [ByPriority; 3]>,
}

impl PriorityLatencies {
    /// Takes what the `job`th job of `input` tells. As fio has it, total latency counts where its percentiles are shown,
    /// completion latency elsewhere.
    pub fn take(&mut self, input: &FioInput, job: usize, chunk: &LogChunk) {
        let Some(meta) = input.jobs.get(job).filter(|meta| meta.has_priorities) else {
            return;
        };
        let ways = self.jobs.entry(job).or_default();
        for io in &chunk.ios {
            let latency = if meta.percentiles.total {
                io.latency
            } else {
                io.complete()
            };
            let histogram = ways[io.direction as usize].entry(io.priority);
            histogram.or_default().record(latency.get());
        }
    }

    /// Of the `job`th job.
    pub fn of(&self, job: usize) -> Option<&[ByPriority; 3]> {
        self.jobs.get(&job)
    }
}

/// Adds all of `theirs`.
pub fn add(mine: &mut ByPriority, theirs: &ByPriority) {
    for (priority, histogram) in theirs {
        mine.entry(*priority).or_default().merge(histogram);
    }
}
