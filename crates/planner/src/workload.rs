//! The profile's own I/O as a workload: what proves a design in prediction, and the real thing once it is built.

use std::fmt::Write as _;

use fathom_profile::{Level, PeriodKind};
use fathom_units::{Bytes, Nanos, Percent};

use crate::candidate::{Candidate, Storage};
use crate::design::{host, mounts, quoted, size};
use crate::limits::{self, Terms};
use crate::need::{Load, Need, VolumeNeed};

/// Largest file of a workload; what is not known to fit half a volume is smaller.
const FILE: Bytes = Bytes::gib(16);

/// Headroom below which a design is driven for longer.
const TIGHT: f64 = 1.02;
/// Most I/Os outstanding of one job.
const MOST_OUTSTANDING: u64 = 8192;

/// Shortest measurement of a prediction.
const SECONDS: u64 = 4;
/// Shortest measurement of the real thing.
const REAL_SECONDS: u64 = 60;
/// Longest measurement that is made longer for the percentiles of a rare direction.
const MOST_SECONDS: u64 = 300;
/// I/Os a period that a prediction takes at most for that: more would leave other designs without their proofs.
const MOST_IOS: u64 = 500_000;

/// How a design is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drive {
    warmup: Nanos,
    measure: Nanos,
    tight: bool,
    /// For the real thing: a job for each file, and offsets that every peer can draw.
    real: bool,
}

impl Drive {
    /// How the real thing is driven by each of `machines`.
    pub fn real(need: &Need, machines: u32) -> Self {
        let seconds = seconds_for_percentiles(need, machines).clamp(REAL_SECONDS, MOST_SECONDS);
        Self {
            warmup: Nanos::from_secs(10),
            measure: Nanos::from_secs(seconds),
            tight: false,
            real: true,
        }
    }

    /// `headroom` is the least of the design's limits, as a multiple of the need. Random I/O fills the disks of a stripe
    /// unevenly: I/Os gather at one disk while another waits. How far the rate falls short shrinks with the square root of
    /// the I/Os of a disk, so that a stripe whose headroom is less than that is driven for longer and deeper.
    pub fn of(need: &Need, candidate: &Candidate, headroom: f64) -> Self {
        let seconds = seconds_for_percentiles(need, 1);
        let seconds = seconds
            .min(seconds_of_ios(need))
            .clamp(SECONDS, MOST_SECONDS);
        let is_tight = |volume: &VolumeNeed, storage: &Storage| {
            let Some(disks) = storage.disks().filter(|disks| disks.count > 1) else {
                return false;
            };
            let rates = volume.loads.iter().map(|load| {
                limits::parts(load.iops.get(), load.size, disks.count, disks.stripe_unit)
            });
            let each = u64::from(disks.count) * u64::from(candidate.machines);
            let ios = rates.max().unwrap_or(0).saturating_mul(seconds) / each;
            // Three standard deviations of a disk's share.
            headroom < TIGHT.max(1.0 + 3.0 / (ios.max(1) as f64).sqrt())
        };
        let volumes = need.volumes.iter().zip(&candidate.volumes);
        let tight = volumes
            .into_iter()
            .any(|(volume, storage)| is_tight(volume, storage));
        Self {
            warmup: Nanos::from_secs(1),
            measure: Nanos::from_secs(if tight { seconds.max(60) } else { seconds }),
            tight,
            real: false,
        }
    }

    /// As long as warm-up and measurement take together.
    pub fn lasts(&self) -> Nanos {
        self.warmup.saturating_add(self.measure)
    }

    /// The same, but for so long in all.
    #[must_use]
    pub fn lasting(self, all: Nanos) -> Self {
        Self {
            measure: all.saturating_sub(self.warmup),
            ..self
        }
    }

    /// I/Os that predicting a need so takes; of stripes their parts. It is what proofs are rationed by.
    pub fn operations(&self, need: &Need, candidate: &Candidate) -> u64 {
        self.counted(need, candidate, |load| load.iops.get())
    }

    /// The same with every call over NFS counted, of which a large I/O has several: how long a prediction takes.
    pub fn calls(&self, need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> u64 {
        self.counted(need, candidate, |load| limits::calls(load, terms))
    }

    fn counted(&self, need: &Need, candidate: &Candidate, of_nfs: impl Fn(&Load) -> u64) -> u64 {
        let volumes = need.volumes.iter().zip(&candidate.volumes);
        let a_second = volumes.map(|(volume, storage)| {
            let parts = |load: &Load| match storage {
                Storage::Disks(disks) => {
                    limits::parts(load.iops.get(), load.size, disks.count, disks.stripe_unit)
                }
                Storage::Nfs(_) => of_nfs(load),
                Storage::Smb(_) => load.iops.get(),
            };
            let loads = volume.loads.iter().map(parts);
            loads.fold(0_u64, u64::saturating_add)
        });
        let a_second = a_second.fold(0_u64, u64::saturating_add);
        a_second.saturating_mul(self.lasts().get().div_ceil(1_000_000_000))
    }
}

/// Seconds until the rarest direction of each period has I/Os enough for the percentiles that are read of it: p99 of all
/// volumes together, as every record has it, and the goals of each. A percentile of fewer is chance, and so is a proof by it.
/// Of these I/Os each of `machines` does its part.
fn seconds_for_percentiles(need: &Need, machines: u32) -> u64 {
    let seconds = need.periods().flat_map(|period| {
        let loads = need.volumes.iter().filter_map(move |volume| {
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
        of_all.into_iter().chain(of_goals).collect::<Vec<_>>()
    });
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

/// Seconds in which the busiest period does as many I/Os as a prediction may take.
fn seconds_of_ios(need: &Need) -> u64 {
    let rates = need.periods().map(|period| {
        let loads = need.volumes.iter().filter_map(|volume| volume.load(period));
        loads.fold(0_u64, |sum, load| sum.saturating_add(load.iops.get()))
    });
    MOST_IOS / rates.max().unwrap_or(0).max(1)
}

/// One stage for each of `periods`; in it open loops, so that a design that is too slow cannot slow the application's
/// demand down. `machine`: the jobs of one machine alone, without its name.
pub fn text(
    need: &Need,
    candidate: &Candidate,
    drive: &Drive,
    (periods, machine): (&[PeriodKind], Option<u32>),
) -> String {
    let mut text = String::new();
    for period in periods {
        let _ = write!(
            text,
            "[[stage]]\nname = \"{}\"\nwarmup = \"{}ms\"\nmeasure = \"{}ms\"\n\n",
            period.name(),
            drive.warmup.get() / 1_000_000,
            drive.measure.get() / 1_000_000,
        );
        for (volume, storage) in need.volumes.iter().zip(&candidate.volumes) {
            let Some(load) = volume.load(*period) else {
                continue;
            };
            for job in jobs(volume, storage, load, candidate.machines) {
                let host = match (machine, candidate.machines) {
                    (Some(only), _) if only != job.machine => continue,
                    (Some(_), _) | (None, 1) => String::new(),
                    (None, _) => format!("host = {}\n", quoted(&job.host)),
                };
                let split = if drive.real { job.by_file() } else { vec![job] };
                for job in split {
                    job.write(&mut text, &host, load, drive);
                }
            }
        }
    }
    text
}

/// What separates a job's number from the name of its volume.
const NUMBER: &str = " #";

/// The volume that a job of [`text`] belongs to.
pub fn volume_of<'n>(need: &'n Need, job: &str) -> Option<&'n VolumeNeed> {
    let exact = need.volumes.iter().find(|volume| volume.slug == job);
    exact.or_else(|| {
        let (slug, _) = job.rsplit_once(NUMBER)?;
        need.volumes.iter().find(|volume| volume.slug == slug)
    })
}

struct PlannedJob {
    name: String,
    machine: u32,
    host: String,
    paths: Vec<String>,
    file: Bytes,
    rate: u64,
}

/// The jobs of one volume, whose rates add up to the load's: one for each machine, or several where one thread is not
/// enough.
fn jobs(volume: &VolumeNeed, storage: &Storage, load: &Load, machines: u32) -> Vec<PlannedJob> {
    // Several channels cost a single thread something.
    let (threads, files) = match storage {
        Storage::Smb(shares) => {
            let files = shares.files.div_ceil(machines);
            let threads = u32::from(shares.channels > 1) + 1;
            (threads, files.max(threads))
        }
        Storage::Disks(_) | Storage::Nfs(_) => (1, 1),
    };
    let all = u64::from(machines) * u64::from(threads);
    let all = all.min(load.iops.get()).max(1);
    let places = mounts(volume, storage);
    let on_one = match storage {
        Storage::Disks(disks) => u64::from(disks.count),
        Storage::Nfs(_) | Storage::Smb(_) => 1,
    };
    let space = storage.size().get().saturating_mul(on_one) / 2;
    let sharing = match storage {
        Storage::Disks(_) => 1,
        Storage::Nfs(_) | Storage::Smb(_) => u64::from(machines) * u64::from(files),
    };
    let block = load.size.get().max(1);
    let file = FILE.get().min(space / sharing) / block * block;
    let rate_up_to = |job: u64| load.iops.get() * job / all;
    let planned = (0..all).map(|job| {
        let machine = 1 + (job % u64::from(machines)) as u32;
        let name = match all {
            1 => volume.slug.clone(),
            _ => format!("{}{NUMBER}{}", volume.slug, job + 1),
        };
        let paths = (1..=files).flat_map(|file| {
            let name = match (machines, files) {
                (1, 1) => "fathom.dat".to_owned(),
                _ => format!("fathom-{machine}-{file}.dat"),
            };
            places.iter().map(move |place| format!("{place}/{name}"))
        });
        PlannedJob {
            name,
            machine,
            host: host(machines, machine),
            paths: paths.collect(),
            file: Bytes::new(file.max(block)),
            rate: rate_up_to(job + 1) - rate_up_to(job),
        }
    });
    planned.collect()
}

impl PlannedJob {
    /// The same with a job for each file, since not every peer shares a rate among files.
    fn by_file(self) -> Vec<Self> {
        let count = self.paths.len() as u64;
        if count < 2 {
            return vec![self];
        }
        let rate_up_to = |file: u64| self.rate * file / count;
        let parts = self.paths.iter().zip(0_u64..);
        let parts = parts.map(|(path, number)| Self {
            name: format!("{} file {}", self.name, number + 1),
            machine: self.machine,
            host: self.host.clone(),
            paths: vec![path.clone()],
            file: self.file,
            rate: (rate_up_to(number + 1) - rate_up_to(number)).max(1),
        });
        parts.collect()
    }

    fn write(&self, text: &mut String, host: &str, load: &Load, drive: &Drive) {
        let targets = self.paths.iter().map(|path| {
            let (path, file) = (quoted(path), size(self.file));
            format!("{{ path = {path}, size = {file} }}")
        });
        let targets: Vec<_> = targets.collect();
        let targets = match targets.as_slice() {
            [one] => format!("target = {one}"),
            several => format!("targets = [{}]", several.join(", ")),
        };
        let depth = if drive.tight {
            MOST_OUTSTANDING
        } else {
            (self.rate / 20).clamp(64, MOST_OUTSTANDING)
        };
        // The depth is what 50 ms need by Little's law: more would mean a latency that nothing is planned for.
        let _ = write!(
            text,
            "[[stage.job]]\nname = {}\n{host}{targets}\n{}\
             block = {}\narrival = {{ rate = \"{}/s\" }}\ndepth = {depth}\n\n",
            quoted(&self.name),
            shares(load, drive.real),
            size(load.size),
            self.rate,
        );
    }
}

/// Shares of reads and of random I/O.
fn shares(load: &Load, real: bool) -> String {
    let reads = load.reads.unwrap_or_default();
    let percent = |share: Percent| {
        let points = share.basis_points();
        format!("{}.{:02}%", points / 100, points % 100)
    };
    let mix = format!(
        "mix = {{ read = \"{}\", write = \"{}\" }}\n",
        percent(reads),
        percent(reads.rest())
    );
    let access = match load.random {
        Percent::ALL if real => "access = \"independent\"\n".to_owned(),
        Percent::ALL => "access = \"random\"\n".to_owned(),
        Percent::ZERO => "access = \"sequential\"\n".to_owned(),
        share => format!(
            "access = {{ kind = \"mixed\", random = \"{}\" }}\n",
            percent(share)
        ),
    };
    mix + &access
}
