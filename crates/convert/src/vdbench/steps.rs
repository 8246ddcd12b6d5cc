//! Rates that follow one another: `distribution=variable` and `spike`.
//!
//! The list stands with the run, as rates of all its workloads together, and `skew=` says who gets how much of them.

use std::fmt::Write as _;

use fathom_units::Nanos;
use fathom_workload::{Job, Pacing, RateSteps};

/// Longest list that Vdbench takes, s.
const SECONDS_MAX: u64 = 3600;

/// The rates of a run.
pub(super) struct Steps {
    /// `iorate=` without its key.
    pub(super) rates: String,
    /// The word beside that of the gaps.
    pub(super) word: &'static str,
    /// Of each job its share, of 1.
    pub(super) shares: Vec<f64>,
}

impl Steps {
    /// Those of a run of these jobs; none where they do not change their rates together, in whole seconds and within the run.
    pub(super) fn of(jobs: &[(usize, &Job)]) -> Option<Self> {
        let all: Option<Vec<&RateSteps>> = jobs
            .iter()
            .map(|(_, job)| job.features.rate_steps.as_deref())
            .collect();
        let all = all?;
        let RateSteps { steps, together } = *all.first()?;
        let seconds: Option<Vec<u64>> = steps.iter().map(|step| seconds(step.length)).collect();
        let seconds = seconds?;
        let is_alike = |other: &&RateSteps| {
            other.together == *together
                && other.steps.len() == steps.len()
                && other
                    .steps
                    .iter()
                    .zip(steps)
                    .all(|(one, other)| one.length == other.length)
        };
        let runtimes = jobs.iter().map(|(_, job)| job.limits.runtime);
        let room = runtimes.map(|time| time.map_or(0, |time| time.get() / 1_000_000_000));
        let sum: u64 = seconds.iter().sum();
        if !all.iter().all(is_alike) || sum > room.max()?.min(SECONDS_MAX) {
            return None;
        }
        let mut totals = vec![0.0; steps.len()];
        let mut shares = Vec::with_capacity(jobs.len());
        for ((_, job), own) in jobs.iter().zip(&all) {
            let mut share = 0.0;
            for (total, step) in totals.iter_mut().zip(&own.steps) {
                let rate = step.rate.map_or(Some(0.0), |rate| rate_of(job, rate))?;
                *total += rate;
                share += rate;
            }
            shares.push(share);
        }
        let moved: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= moved;
        }
        let mut rates = String::new();
        for (total, seconds) in totals.iter().zip(&seconds) {
            let comma = if rates.is_empty() { "" } else { "," };
            let _ = write!(rates, "{comma}{},{seconds}", total.round());
        }
        Some(Self {
            rates: format!("({rates})"),
            word: if *together { "spike" } else { "variable" },
            shares,
        })
    }

    /// `skew=` of the job at that place, where jobs do not all have the same share.
    pub(super) fn skew(&self, place: usize) -> Option<f64> {
        let (first, share) = (self.shares.first()?, self.shares.get(place)?);
        let is_even = self
            .shares
            .iter()
            .all(|share| (share / first - 1.0).abs() < 1e-6);
        (!is_even).then(|| (share * 1e6).round() / 1e4)
    }
}

fn seconds(time: Nanos) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    (time > Nanos::ZERO && time.get().is_multiple_of(SECOND)).then(|| time.get() / SECOND)
}

/// I/Os a second of all workers.
fn rate_of(job: &Job, rate: Pacing) -> Option<f64> {
    let of_one = match rate {
        Pacing::Iops(iops) => iops.get() as f64,
        Pacing::Bytes(bytes) => bytes.get() as f64 / job.block.single_size(job.mix)?.get() as f64,
    };
    Some(of_one * f64::from(job.workers))
}
