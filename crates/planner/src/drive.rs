//! How long and how deep a design is driven, period by period: for its proof, and for the real thing.
//!
//! A period is driven until the rarer of its reads and writes has I/Os enough for the percentiles that are read of it. The
//! seconds that a few I/Os of one period need would make the proof of a busier one as many times too long, so that it lasts as
//! long as the others only where that is cheap.

use fathom_profile::{Level, PeriodKind};
use fathom_units::Nanos;

use crate::candidate::{Candidate, Disks, Storage};
use crate::limits::{self, Figure, Terms};
use crate::need::{Load, Need, VolumeNeed};

/// Headroom below which a stripe is driven for longer.
const TIGHT: f64 = 1.02;

/// Shortest measurement of a prediction.
const SECONDS: u64 = 4;
/// Shortest measurement of a stripe with next to no headroom.
const TIGHT_SECONDS: u64 = 60;
/// Shortest measurement of the real thing.
const REAL_SECONDS: u64 = 60;
/// Longest measurement that is made longer for the percentiles of a rare direction.
const MOST_SECONDS: u64 = 300;
/// I/Os of a period that a prediction takes at most for that: more would leave other designs without their proofs.
const MOST_IOS: u64 = 500_000;
/// I/Os of a period that are predicted without need, where another lasts longer: percentiles of more I/Os are less of chance.
const CHEAP_IOS: u64 = 50_000;

/// How a design is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drive {
    /// Before each measurement.
    pub warmup: Nanos,
    /// In the order of [`PeriodKind::ALL`].
    periods: [OfPeriod; PeriodKind::ALL.len()],
    /// For the real thing: a job for each file, and offsets that every peer can draw.
    pub is_real: bool,
}

/// How a design is driven in one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfPeriod {
    /// What is measured.
    pub measure: Nanos,
    /// Whether a stripe has next to no headroom, so that many I/Os wait at one disk before others have as many.
    pub is_tight: bool,
}

impl Drive {
    /// How the real thing is driven by each of `machines`.
    pub fn real(need: &Need, machines: u32) -> Self {
        let periods = PeriodKind::ALL.map(|period| {
            let seconds = seconds_for_percentiles(need, period, machines);
            OfPeriod {
                measure: Nanos::from_secs(seconds.clamp(REAL_SECONDS, MOST_SECONDS)),
                is_tight: false,
            }
        });
        Self {
            warmup: Nanos::from_secs(10),
            periods,
            is_real: true,
        }
    }

    /// Random I/O fills the disks of a stripe unevenly: I/Os gather at one disk while another waits. How far the rate falls
    /// short shrinks with the square root of the I/Os of a disk, so that a stripe whose headroom is less than that is driven
    /// for longer and deeper. What is no stripe, and the machine, are one queue each.
    pub fn of(need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> Self {
        let part = need.part(candidate.machines);
        let own = |period| {
            let seconds = seconds_for_percentiles(need, period, 1);
            seconds
                .min(seconds_of_ios(need, period, MOST_IOS))
                .clamp(SECONDS, MOST_SECONDS)
        };
        let longest = need.periods().map(own).max().unwrap_or(SECONDS);
        let periods = PeriodKind::ALL.map(|period| {
            let cheap = seconds_of_ios(need, period, CHEAP_IOS).min(longest);
            let seconds = own(period).max(cheap);
            let mut stripes = part.volumes.iter().zip(&candidate.volumes);
            let is_tight = stripes.any(|(volume, storage)| {
                let striped = storage.disks().filter(|disks| disks.count > 1);
                let load = striped.zip(volume.load(period));
                load.is_some_and(|(disks, load)| {
                    is_tight(volume, load, (disks, candidate), seconds, terms)
                })
            });
            let least = if is_tight { TIGHT_SECONDS } else { SECONDS };
            OfPeriod {
                measure: Nanos::from_secs(seconds.max(least)),
                is_tight,
            }
        });
        Self {
            warmup: Nanos::from_secs(1),
            periods,
            is_real: false,
        }
    }

    /// How a period is driven.
    pub const fn of_period(&self, period: PeriodKind) -> OfPeriod {
        self.periods[period as usize]
    }

    /// As long as warm-up and measurement of a period take together.
    pub fn lasts(&self, period: PeriodKind) -> Nanos {
        self.warmup.saturating_add(self.of_period(period).measure)
    }

    /// The same, but for so long in all, each period.
    #[must_use]
    pub fn lasting(self, all: Nanos) -> Self {
        let measure = all.saturating_sub(self.warmup);
        Self {
            periods: self.periods.map(|of| OfPeriod { measure, ..of }),
            ..self
        }
    }

    /// I/Os that predicting a need so takes; of stripes their parts, and over NFS every call, of which a large I/O has thousands.
    /// It is what proofs are rationed by, for so long does a prediction take.
    pub fn operations(&self, need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> u64 {
        let volumes = need.volumes.iter().zip(&candidate.volumes);
        let counts = volumes.flat_map(|(volume, storage)| {
            volume.loads.iter().map(move |load| {
                let a_second = match storage {
                    Storage::Disks(disks) => parts(load, disks),
                    Storage::Nfs(_) => limits::calls(load, terms),
                    Storage::Smb(_) => load.iops.get(),
                };
                let lasts = self.lasts(load.period).get().div_ceil(1_000_000_000);
                a_second.saturating_mul(lasts)
            })
        });
        counts.fold(0, u64::saturating_add)
    }
}

/// Parts of I/Os a second that disks get of a load.
fn parts(load: &Load, disks: &Disks) -> u64 {
    limits::parts(load.iops.get(), load.size, disks.count, disks.stripe_unit)
}

/// Whether a stripe of one machine has less headroom in a period than random I/O over its disks varies by in so many seconds.
fn is_tight(
    volume: &VolumeNeed,
    load: &Load,
    (disks, candidate): (&Disks, &Candidate),
    seconds: u64,
    terms: &Terms<'_>,
) -> bool {
    let alone = VolumeNeed {
        loads: vec![load.clone()],
        ..volume.clone()
    };
    let figures = limits::of_disks(&alone, disks, candidate.vm, terms);
    let rates = figures.iter().filter(|figure| figure.unit.is_rate());
    let headroom = rates.filter_map(Figure::headroom);
    let headroom = headroom.fold(f64::INFINITY, f64::min);
    let ios = parts(load, disks).saturating_mul(seconds) / u64::from(disks.count);
    // Three standard deviations of a disk's share.
    headroom < TIGHT.max(1.0 + 3.0 / (ios.max(1) as f64).sqrt())
}

/// Seconds until the rarest direction of a period has I/Os enough for the percentiles that are read of it: p99 of all volumes
/// together, as every record has it, and the goals of each. A percentile of fewer is chance, and so is a proof by it. Of these
/// I/Os each of `machines` does its part.
fn seconds_for_percentiles(need: &Need, period: PeriodKind, machines: u32) -> u64 {
    let loads = need.volumes.iter().filter_map(|volume| {
        let (reads, writes) = hourly(volume.load(period)?);
        Some((volume, [reads, writes]))
    });
    let all = loads.clone().fold([0_u64; 2], |sums, (_, rates)| {
        [0, 1].map(|way| sums[way].saturating_add(rates[way]))
    });
    let of_goals = loads.flat_map(|(volume, rates)| {
        let levels = volume.goal.iter().map(|(level, _)| *level);
        levels.flat_map(move |level| rates.map(|rate| (level, rate)))
    });
    let of_all = all.map(|rate| (Level::P99, rate));
    let seconds = of_all.into_iter().chain(of_goals);
    let seconds = seconds.filter(|(_, rate)| *rate > 0);
    let seconds = seconds.map(|(level, rate)| {
        let each = (rate / u64::from(machines.max(1))).max(1);
        (samples(level) * 3600).div_ceil(each)
    });
    seconds.max().unwrap_or(0)
}

/// Reads and writes of an hour.
fn hourly(load: &Load) -> (u64, u64) {
    let reads = u64::from(load.reads.unwrap_or_default().basis_points());
    let of = |points: u64| {
        let ios = u128::from(load.iops.get()) * u128::from(points) * 3600 / 10_000;
        u64::try_from(ios).unwrap_or(u64::MAX)
    };
    (of(reads), of(10_000 - reads))
}

/// I/Os of which ten are beyond the percentile, and a tenth more: arrivals are random.
const fn samples(level: Level) -> u64 {
    match level {
        Level::P50 => 22,
        Level::P90 => 110,
        Level::P99 => 1100,
    }
}

/// Seconds in which a period does so many I/Os.
fn seconds_of_ios(need: &Need, period: PeriodKind, ios: u64) -> u64 {
    let loads = need.volumes.iter().filter_map(|volume| volume.load(period));
    let rate = loads.fold(0_u64, |sum, load| sum.saturating_add(load.iops.get()));
    ios / rate.max(1)
}
