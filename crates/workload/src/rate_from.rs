//! A stage's rate that follows from what an earlier stage reached.
//!
//! Peers measure how fast storage goes, and then run at percentages of that ("curves"). The rates of such a stage are
//! known when the earlier one has ended: engine and simulator resolve them as the stage starts, by one rule.

use fathom_units::Iops;

use crate::{Arrival, Job, Pacing, Stage};

/// The rate of a stage, as a share of what an earlier stage reached. Its jobs must have open arrivals in I/Os a second;
/// the rates that stand there are in proportion what each job gets ([`RateShares::AsGiven`]). Jobs on file sets have the rate
/// of their work in its place, and count requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateFrom {
    /// Index of the earlier stage, which is reported. Of its repeats, the last counts.
    pub stage: usize,
    /// Percent of its average I/Os a second; above 0, at most 10,000.
    pub percent: f64,
    /// To which whole number the rate is rounded.
    pub rounding: RateRounding,
    /// How the rate is shared out among the jobs.
    pub shares: RateShares,
}

/// Rounding of a rate that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateRounding {
    /// To the nearest I/O a second.
    #[default]
    Nearest,
    /// Down to a whole number, and that up to a multiple of 100 I/Os a second, of 10 where it is at most 1,000 (Vdbench's
    /// curves).
    UpToHundreds,
}

/// Who gets how much of a stage's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateShares {
    /// In proportion to the jobs' own rates.
    #[default]
    AsGiven,
    /// In proportion to the I/Os that the job of the same index did in the earlier stage.
    AsMeasured,
}

impl RateFrom {
    /// The rate of the whole stage, where the earlier one reached `iops`; at least 1.
    ///
    /// ```
    /// use fathom_workload::{RateFrom, RateRounding, RateShares};
    /// let point = RateFrom { stage: 0, percent: 50.0, rounding: RateRounding::UpToHundreds, shares: RateShares::AsGiven };
    /// assert_eq!(point.total(62_481.3), 31_300);
    /// assert_eq!(point.total(1_503.0), 760);
    /// assert_eq!(point.total(1_501.0), 750);
    /// ```
    pub fn total(&self, iops: f64) -> u64 {
        let rounded = match self.rounding {
            RateRounding::Nearest => (iops * self.percent / 100.0).round(),
            RateRounding::UpToHundreds => {
                // Vdbench's whole numbers: of what was reached, and of its share.
                let whole = (iops.round() * self.percent / 100.0).floor();
                let step = if whole > 1000.0 { 100.0 } else { 10.0 };
                (whole / step).ceil() * step
            }
        };
        (rounded as u64).max(1)
    }
}

impl Stage {
    /// The stage with its jobs' rates adding up to `total` I/Os a second, in proportion to `weights`, one for each job.
    /// Each worker gets a whole number and at least 1, so that few I/Os for many workers become more than was asked for.
    #[must_use]
    pub fn at_rate(&self, total: u64, weights: &[f64]) -> Self {
        let mut stage = self.clone();
        let sum: f64 = weights.iter().sum();
        // Shares of a running sum: what rounding takes from one job it gives to the next.
        let mut passed = 0.0;
        let mut given = 0u64;
        for (job, weight) in stage.jobs.iter_mut().zip(weights) {
            passed += weight;
            let until = if sum > 0.0 {
                (total as f64 * (passed / sum)).round() as u64
            } else {
                total
            };
            let of_job = until.saturating_sub(given);
            given = given.max(until);
            let work = job.features.file_work.as_deref_mut();
            if let Some(rate) = work.and_then(|work| work.rate.as_mut()) {
                rate.rate = Iops::new(of_job.max(1));
            } else if let Arrival::Open { rate, .. } = &mut job.arrival {
                let workers = u64::from(job.workers.max(1));
                *rate = Pacing::Iops(Iops::new((of_job / workers).max(1)));
            }
        }
        stage
    }

    /// The jobs' own rates as weights of [`Self::at_rate`].
    pub fn rate_weights(&self) -> Vec<f64> {
        let of_set = |job: &Job| job.features.file_work.as_deref()?.rate;
        let weights = self.jobs.iter().map(|job| match job.arrival {
            _ if of_set(job).is_some() => of_set(job).map_or(0.0, |rate| rate.rate.get() as f64),
            Arrival::Open {
                rate: Pacing::Iops(iops),
                ..
            } => iops.get() as f64 * f64::from(job.workers),
            _ => 0.0,
        });
        weights.collect()
    }
}
