//! How fast jobs go and when they end: shares of a run's rate, gaps, and the limits of each.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::{
    Arrival, BlockSizes, Flow, Job, Limits, Mix, Pacing, Poisson, RateStep, RateSteps, WhenFull,
};

use super::super::expand::steps_of;
use super::super::run::RunRate;
use super::super::sections::{Gaps, MaxData, Rd, Seek, Varies};
use super::super::shares::{of_skews, whole};
use super::{Slot, Spec};

/// Rates of a job below this many I/Os a second are given in bytes, which divide more finely.
const FINE_BELOW: f64 = 1000.0;

/// How the jobs of a run share its rate.
pub(super) struct Pace {
    rate: RunRate,
    poisson: Poisson,
    /// Of each job its share of the run's rate; 0 where its workload has a rate of its own.
    weights: Vec<f64>,
    /// Rates that follow one another, with their seconds.
    steps: Vec<(u64, u64)>,
    /// Whether the I/Os of a second start together.
    together: bool,
    /// Sum of the weights.
    sum: f64,
    /// Of each job its part of a rate that is a number.
    parts: Vec<u64>,
    /// Whether shares are kept where the run is as fast as it can be. Among priorities nobody waits for anybody.
    keeps_shares: bool,
}

impl Pace {
    pub(super) fn of(rd: &Rd, slots: &[Slot], specs: &[Spec<'_>], rate: RunRate) -> Self {
        let weights = weights(slots, specs);
        let rate = match rate {
            RunRate::Number(total) => RunRate::Number(left_of(total, specs)),
            rate => rate,
        };
        let parts = match rate {
            RunRate::Number(total) => whole((total.round() as u64).max(1), &weights),
            RunRate::Varying(total) => whole(total, &weights),
            _ => Vec::new(),
        };
        let poisson = match rd.gaps {
            Gaps::Exponential => Poisson::Exponential,
            Gaps::Uniform => Poisson::Uniform,
            Gaps::Deterministic => Poisson::Fixed,
        };
        Self {
            rate,
            poisson,
            steps: match rate {
                RunRate::Varying(_) => steps_of(rd).unwrap_or_default(),
                _ => Vec::new(),
            },
            together: rd.varies == Varies::Spikes,
            sum: weights.iter().sum(),
            weights,
            parts,
            keeps_shares: specs.iter().all(|spec| spec.wd.priority.is_none()),
        }
    }

    /// The rates of the jobs, to each other: in I/Os a second where the run's rate is a number.
    pub(super) fn rates(&self, slots: &[Slot], specs: &[Spec<'_>]) -> Vec<f64> {
        let total = match self.rate {
            RunRate::Number(total) => Some(total),
            RunRate::Varying(total) => Some(total as f64),
            _ => None,
        };
        let sharing = specs.iter().filter(|spec| spec.wd.iorate.is_none());
        let sharing = sharing.count().max(1) as f64;
        let rate = |(slot, weight): (&Slot, &f64)| match (specs[slot.member].wd.iorate, total) {
            (Some(own), Some(_)) => own as f64 * slot.share,
            // How the others' rate compares is not known: they are taken to be as fast, each.
            (Some(_), None) => slot.share / sharing,
            (None, _) => weight / self.sum.max(f64::MIN_POSITIVE) * total.unwrap_or(1.0),
        };
        slots.iter().zip(&self.weights).map(rate).collect()
    }

    /// Gives job `number` the rate that the run and its workload ask for, or the share that is to be kept.
    pub(super) fn set(&self, job: &mut Job, number: usize, slot: &Slot, spec: Spec<'_>) {
        let weight = self.weights[number];
        let open = |rate: u64| Arrival::Open {
            rate: Pacing::Iops(Iops::new(rate.max(1))),
            poisson: self.poisson,
            when_full: WhenFull::Queue,
        };
        if let Some(own) = spec.wd.iorate {
            let exact = own as f64 * slot.share;
            job.arrival = open(exact.round() as u64);
            return refine(job, exact);
        }
        match self.rate {
            RunRate::Number(total) => {
                job.arrival = open(self.parts[number]);
                let share = weight / self.sum.max(f64::MIN_POSITIVE);
                refine(job, total * share);
            }
            RunRate::Varying(_) => {
                job.arrival = open(self.parts[number]);
                let share = weight / self.sum.max(f64::MIN_POSITIVE);
                job.features.rate_steps = Some(Box::new(self.steps_of(job, share)));
            }
            // Shares of a rate that is not known yet stand in its place, finely enough.
            RunRate::Of { .. } => job.arrival = open((weight * 1e9).round() as u64),
            RunRate::Controlled | RunRate::ControlledCurve if self.keeps_shares && weight > 0.0 => {
                job.features.flow = Some(Flow {
                    id: 1,
                    weight: (weight * 1e6).round().max(1.0) as u32,
                    pause: Nanos::ZERO,
                });
            }
            _ => {}
        }
    }
}

impl Pace {
    /// A job's part of rates that follow one another: in bytes where they are no whole numbers and all I/Os of one size.
    fn steps_of(&self, job: &Job, share: f64) -> RateSteps {
        let exact = |rate: u64| rate as f64 * share;
        let is_fine = |(rate, _): &(u64, u64)| {
            let exact = exact(*rate);
            exact < FINE_BELOW && exact.fract() > 1e-9
        };
        let size = job.block.single_size(job.mix);
        let size = size.filter(|_| self.steps.iter().any(is_fine));
        let pacing = |rate: u64| match size {
            Some(size) => {
                let bytes = (exact(rate) * size.get() as f64).round() as u64;
                Pacing::Bytes(BytesPerSec::new(bytes.max(1)))
            }
            None => Pacing::Iops(Iops::new((exact(rate).round() as u64).max(1))),
        };
        let steps = self.steps.iter().map(|(rate, seconds)| RateStep {
            rate: (*rate > 0).then(|| pacing(*rate)),
            length: Nanos::from_secs(*seconds),
        });
        RateSteps {
            steps: steps.collect(),
            together: self.together,
        }
    }
}

/// What the workloads with a rate of their own leave of a run's rate to the others.
fn left_of(total: f64, specs: &[Spec<'_>]) -> f64 {
    let own = specs.iter().filter_map(|spec| spec.wd.iorate);
    (total - own.map(|rate| rate as f64).sum::<f64>()).max(0.0)
}

/// Of each job its share of the run's rate; those of workloads with a rate of their own have none.
fn weights(slots: &[Slot], specs: &[Spec<'_>]) -> Vec<f64> {
    let sharing = specs.iter().filter(|spec| spec.wd.iorate.is_none());
    let mut shares = of_skews(sharing.map(|spec| spec.wd.skew)).into_iter();
    let of_specs = specs.iter().map(|spec| match spec.wd.iorate {
        Some(_) => 0.0,
        None => shares.next().unwrap_or(0.0),
    });
    let of_specs: Vec<f64> = of_specs.collect();
    let share = |slot: &Slot| slot.share * of_specs[slot.member];
    slots.iter().map(share).collect()
}

/// Gives a low rate that is no whole number of I/Os a second in bytes, where all I/Os are of one size.
fn refine(job: &mut Job, exact: f64) {
    let Some(size) = job.block.single_size(job.mix) else {
        return;
    };
    if let Arrival::Open { rate, .. } = &mut job.arrival
        && exact < FINE_BELOW
        && exact.fract() > 1e-9
    {
        let bytes = (exact * size.get() as f64).round() as u64;
        *rate = Pacing::Bytes(BytesPerSec::new(bytes.max(1)));
    }
}

/// Without a warm-up, Vdbench leaves the first interval of `elapsed=` out of its averages; here that is the warm-up of all
/// jobs, or where some may be done within it, of none. `maxdata=` counts what comes after a warm-up that is asked for,
/// which no job can know by itself.
pub(super) fn limits(
    (rd, until_eof): (&Rd, bool),
    spec: Spec<'_>,
    block: &BlockSizes,
    mix: Mix,
    maxdata: Option<f64>,
) -> Limits {
    let interval = rd.interval.max(1);
    let eof = spec.seek == Seek::Eof;
    let ends_early = until_eof || rd.maxdata != MaxData::default();
    let maxdata = maxdata.filter(|_| rd.warmup == 0);
    let (warmup, runtime) = match rd.warmup {
        0 if ends_early || rd.elapsed <= interval => (0, rd.elapsed),
        0 => (interval, rd.elapsed - interval),
        warmup => (warmup, rd.elapsed),
    };
    let bytes =
        maxdata.map(|bytes| Bytes::new((bytes.round() as u64).max(block.largest(mix).get())));
    Limits {
        warmup: Nanos::from_secs(warmup),
        runtime: Some(Nanos::from_secs(runtime)),
        time_based: !eof && bytes.is_none(),
        bytes: bytes.filter(|_| !eof),
        ..Limits::default()
    }
}
