//! The profile's own I/O as a workload: what proves a design in prediction, and the real thing once it is built.

use std::fmt::Write as _;

use fathom_profile::PeriodKind;
use fathom_units::{Bytes, Percent};

use crate::candidate::{Candidate, Storage};
use crate::design::{host, mounts, quoted, size};
use crate::drive::Drive;
use crate::need::{Load, Need, VolumeNeed};

/// Largest file of a workload; what is not known to fit half a volume is smaller.
const FILE: Bytes = Bytes::gib(16);

/// Most I/Os outstanding of one job.
const MOST_OUTSTANDING: u64 = 8192;

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
            drive.of_period(*period).measure.get() / 1_000_000,
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
                let split = if drive.is_real {
                    job.by_file()
                } else {
                    vec![job]
                };
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
            rate: rate_up_to(number + 1) - rate_up_to(number),
        });
        // Of fewer I/Os a second than files some files have none: the load is what is needed, and no more.
        parts.filter(|part| part.rate > 0).collect()
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
        let depth = if drive.of_period(load.period).is_tight {
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
            shares(load, drive.is_real),
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
