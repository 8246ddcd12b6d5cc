//! Stages of jobs, run one after another.

use fathom_units::Nanos;

use crate::{Job, RateFrom};

/// Everything to be run: stages one after another, from one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// In order of execution; at least one.
    pub stages: Vec<Stage>,
    /// Seed of every random choice in the workload.
    pub seed: u64,
}

/// Jobs that run together. Warm-up and length stand with each job ([`crate::Limits`]), since peers set them per job.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Unique within the workload.
    pub name: String,
    /// At least one.
    pub jobs: Vec<Job>,
    /// Pause after the stage.
    pub cooldown: Nanos,
    /// How often the stage is measured; each repeat is a stage of the record. At least 1.
    pub repeats: u32,
    /// A stage that prepares and is not reported.
    pub discard: bool,
    /// Rates that follow from what an earlier stage reached.
    pub rate_from: Option<RateFrom>,
}

impl Stage {
    /// From its begin to when the first job's measurement begins: the least of delay and warm-up.
    pub fn lead(&self) -> Nanos {
        let jobs = self.jobs.iter();
        let each = jobs.map(|job| job.limits.start_delay + job.warmup_time());
        each.min().unwrap_or_default()
    }
}

impl Workload {
    /// Every job with its stage's index, in order.
    pub fn jobs(&self) -> impl Iterator<Item = (usize, &Job)> {
        let stages = self.stages.iter().enumerate();
        stages.flat_map(|(index, stage)| stage.jobs.iter().map(move |job| (index, job)))
    }
}
