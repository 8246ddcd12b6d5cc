//! What an open loop asks for: so many I/Os or bytes a second.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::{Arrival, Direction, Job, Pacing, RateSteps};

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateUnit {
    Ios,
    Bytes,
}

impl RateUnit {
    /// A second's worth, with its unit.
    pub fn words(self, rate: f64) -> String {
        let whole = rate.round() as u64;
        match self {
            Self::Ios => Iops::new(whole).to_string(),
            Self::Bytes => BytesPerSec::new(whole).to_string(),
        }
    }
}

/// A rate that each worker of a job is to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AskedRate {
    /// `None`: of all directions together.
    pub direction: Option<Direction>,
    /// A second's worth; the mean over the measurement, where rates follow one another.
    pub per_sec: f64,
    pub unit: RateUnit,
}

/// Rates of a job: one, or those of single directions, or none where it is a closed loop.
pub(crate) fn asked_rates(job: &Job) -> Vec<AskedRate> {
    let features = &job.features;
    match (&features.rates, &features.rate_steps, job.arrival) {
        (Some(rates), ..) => used(job)
            .filter_map(|way| Some(AskedRate::of(Some(way), rates.rates[way as usize]?)))
            .collect(),
        (None, Some(steps), _) => vec![mean_of_steps(job, steps)],
        (None, None, Arrival::Open { rate, .. }) => vec![AskedRate::of(None, rate)],
        (None, None, Arrival::Closed) => Vec::new(),
    }
}

/// I/Os a second that each worker is to do, where I/Os pace all its directions.
pub(crate) fn asked_iops(job: &Job) -> Option<f64> {
    let rates = asked_rates(job);
    let paces_all = match rates.first()?.direction {
        None => true,
        Some(_) => rates.len() == used(job).count(),
    };
    let by_ios = rates.iter().all(|rate| rate.unit == RateUnit::Ios);
    (paces_all && by_ios).then(|| rates.iter().map(|rate| rate.per_sec).sum())
}

impl AskedRate {
    fn of(direction: Option<Direction>, pacing: Pacing) -> Self {
        let (per_sec, unit) = match pacing {
            Pacing::Iops(rate) => (rate.get(), RateUnit::Ios),
            Pacing::Bytes(rate) => (rate.get(), RateUnit::Bytes),
        };
        Self {
            direction,
            per_sec: per_sec as f64,
            unit,
        }
    }
}

/// The directions that a job's mix has.
fn used(job: &Job) -> impl Iterator<Item = Direction> {
    let mix = job.mix;
    let ways = Direction::ALL.into_iter();
    ways.filter(move |way| mix.share(*way).basis_points() > 0)
}

/// In I/Os, where it can be: rates of I/Os that are no whole numbers are written in bytes.
fn mean_of_steps(job: &Job, steps: &RateSteps) -> AskedRate {
    let from = job.limits.warmup;
    let length = job.limits.runtime.unwrap_or_else(|| steps.length());
    let per_sec = mean_between(steps, from, from.saturating_add(length));
    let paces_bytes =
        |step: &fathom_workload::RateStep| matches!(step.rate, Some(Pacing::Bytes(_)));
    let in_bytes = steps.steps.iter().any(paces_bytes);
    let size = job.block.single_size(job.mix).map(Bytes::get);
    match size.filter(|size| in_bytes && *size > 0) {
        Some(size) => AskedRate {
            direction: None,
            per_sec: per_sec / size as f64,
            unit: RateUnit::Ios,
        },
        None => AskedRate {
            direction: None,
            per_sec,
            unit: if in_bytes {
                RateUnit::Bytes
            } else {
                RateUnit::Ios
            },
        },
    }
}

/// The mean rate from one moment of the steps, which start over and over, to another.
fn mean_between(steps: &RateSteps, from: Nanos, until: Nanos) -> f64 {
    let length = until.saturating_sub(from).as_secs_f64();
    if length > 0.0 {
        (sum_until(steps, until) - sum_until(steps, from)) / length
    } else {
        0.0
    }
}

/// I/Os or bytes that the steps come to from their first start to `moment`.
fn sum_until(steps: &RateSteps, moment: Nanos) -> f64 {
    let round = steps.length().get().max(1);
    let of_part = |part: Nanos| -> f64 {
        let mut left = part.as_secs_f64();
        let each = steps.steps.iter().map(|step| {
            let length = step.length.as_secs_f64().min(left);
            left -= length;
            let rate = step.rate.map_or(0, |rate| match rate {
                Pacing::Iops(rate) => rate.get(),
                Pacing::Bytes(rate) => rate.get(),
            });
            rate as f64 * length
        });
        each.sum()
    };
    let rounds = moment.get() / round;
    let rest = Nanos::new(moment.get() % round);
    rounds as f64 * of_part(Nanos::new(round)) + of_part(rest)
}

#[cfg(test)]
mod tests {
    use fathom_units::{Iops, Nanos};
    use fathom_workload::{Pacing, RateStep, RateSteps};

    use super::mean_between;

    #[test]
    fn steps_start_over_and_over() {
        let step = |rate, secs| RateStep {
            rate: Some(Pacing::Iops(Iops::new(rate))),
            length: Nanos::from_secs(secs),
        };
        let steps = RateSteps {
            steps: vec![step(100, 2), step(400, 1)],
            together: false,
        };
        let mean =
            |from, until| mean_between(&steps, Nanos::from_secs(from), Nanos::from_secs(until));
        let expected = [
            ((0, 3), 200.0),
            ((0, 2), 100.0),
            ((2, 3), 400.0),
            ((1, 7), 200.0),
        ];
        for ((from, until), wanted) in expected {
            let mean = mean(from, until);
            assert!((mean - wanted).abs() < 1e-6, "{from} to {until}: {mean}");
        }
    }
}
