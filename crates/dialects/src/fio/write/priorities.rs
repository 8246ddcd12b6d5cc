//! Latencies by I/O priority (`cmdprio_*`), gathered from what a run tells of its I/O.
//!
//! Priorities stand in fio's order: that of a job first, then those that its I/Os are given, one job after another.

use std::collections::BTreeMap;

use fathom_record::LogChunk;
use fathom_stats::Histogram;
use fathom_workload::IoPriority;
use serde::{Deserialize, Serialize};

use super::wire_histogram;
use crate::fio::input::FioInput;

/// Histograms in ns of one direction.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<OfOne>", into = "Vec<OfOne>")]
pub struct ByPriority(Vec<(IoPriority, Histogram)>);

/// One of them on its way to another machine.
#[derive(Serialize, Deserialize)]
struct OfOne {
    class: u16,
    hint: u16,
    level: u16,
    #[serde(with = "wire_histogram")]
    latency: Option<Histogram>,
}

impl From<ByPriority> for Vec<OfOne> {
    fn from(all: ByPriority) -> Self {
        let of_one = |(priority, histogram): (IoPriority, Histogram)| OfOne {
            class: priority.class(),
            hint: priority.hint(),
            level: priority.level(),
            latency: Some(histogram),
        };
        all.0.into_iter().map(of_one).collect()
    }
}

impl From<Vec<OfOne>> for ByPriority {
    fn from(sent: Vec<OfOne>) -> Self {
        let mut all = Self::default();
        for one in sent {
            let priority = IoPriority::new(one.class, one.hint, one.level).unwrap_or_default();
            if let Some(histogram) = one.latency {
                all.of(priority).merge(&histogram);
            }
        }
        all
    }
}

impl ByPriority {
    /// The histogram of a priority, which comes last where it is a new one.
    pub fn of(&mut self, priority: IoPriority) -> &mut Histogram {
        let found = self.0.iter().position(|(known, _)| *known == priority);
        let place = found.unwrap_or_else(|| {
            self.0.push((priority, Histogram::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// Adds all of `theirs`.
    pub fn add(&mut self, theirs: &Self) {
        for (priority, histogram) in &theirs.0 {
            self.of(*priority).merge(histogram);
        }
    }

    /// Those of which there are I/Os, where there are several; nothing elsewhere.
    pub fn told(&self) -> Vec<(IoPriority, &Histogram)> {
        let some = self.0.iter().filter(|(_, histogram)| histogram.count() > 0);
        let told: Vec<_> = some
            .map(|(priority, histogram)| (*priority, histogram))
            .collect();
        if told.len() > 1 { told } else { Vec::new() }
    }
}

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
        let ways = self.jobs.entry(job).or_insert_with(|| {
            let mut way = ByPriority::default();
            way.of(meta.priority);
            [way.clone(), way.clone(), way]
        });
        for io in &chunk.ios {
            let latency = if meta.percentiles.total {
                io.latency
            } else {
                io.complete()
            };
            let histogram = ways[io.direction as usize].of(io.priority);
            histogram.record(latency.get());
        }
    }

    /// Of the `job`th job.
    pub fn of(&self, job: usize) -> Option<&[ByPriority; 3]> {
        self.jobs.get(&job)
    }
}
