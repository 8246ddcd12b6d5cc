//! From a design to queues and paths, by the accounting table as the documents print it.

use std::collections::BTreeMap;

use fathom_catalog::{Catalog, DiskKind, Limits as CatalogLimits};
use fathom_model::{
    Burst, Credits, Design, Device, HostCaching, LatencyChoice, LatencyTable, Vm, Volume,
};
use fathom_units::{BytesPerSec, Iops, Nanos};

use super::allowance::Allowance;
use super::cache::Cache;
use super::storage::{Counts, Disk, Limit, Queue, Row, Step, Storage, Volume as Built};
use super::stripe::Stripe;

/// A machine's budgets let I/Os leave 2 ms ahead of their rate, so that a saturated run is not short by its own latency.
const VM_TOLERANCE_NS: u64 = 2_000_000;

/// An I/O at a disk of an SSD counts as one for each 256 KiB begun.
const SSD_UNIT: u64 = 256 << 10;

/// Full buckets of machines last 30 minutes at the highest rate.
const BUCKET_SECONDS: u32 = 1800;

/// The storage of `design`; media latencies come from `seed`.
pub fn build(design: &Design, seed: u64) -> Storage {
    let mut builder = Builder {
        storage: Storage::new(seed),
        bursts: !design
            .notes
            .iter()
            .any(|note| note.contains("without bursting")),
        laws: BTreeMap::new(),
    };
    for vm in &design.vms {
        builder.vm(vm);
    }
    for device in &design.devices {
        builder.device(device);
    }
    builder.storage
}

struct Builder {
    storage: Storage,
    /// Whether the model bursts at all; it says so where it does not.
    bursts: bool,
    /// Laws by their median and 99th percentile in ns.
    laws: BTreeMap<(u64, u64), usize>,
}

/// What a machine's volumes share.
#[derive(Clone, Copy)]
struct Shared {
    cached: usize,
    uncached: usize,
    cache: usize,
    hit_law: Option<usize>,
}

impl Builder {
    fn vm(&mut self, vm: &Vm) {
        let bursting = |highest| Bursting {
            how: if self.bursts { vm.burst } else { Burst::Off },
            highest,
            seconds: BUCKET_SECONDS,
            start: vm.credits,
        };
        let budget = |base, highest| limits(base, VM_TOLERANCE_NS, bursting(highest));
        let cached = budget(&vm.size.cached, &vm.size.burst_cached);
        let uncached = budget(&vm.size.uncached, &vm.size.burst_uncached);
        let name = format!("{}/cached", vm.name);
        let names = ["vm-cached-iops", "vm-cached-bytes"];
        let cached = self.queue(name, cached, names, None);
        let name = format!("{}/uncached", vm.name);
        let names = ["vm-uncached-iops", "vm-uncached-bytes"];
        let uncached = self.queue(name, uncached, names, None);
        let hits = Catalog::builtin().media_latency("host_cache");
        let hit_law = hits.map(|row| self.law(row.median.get(), row.p99.get()));
        let cache = self.storage.caches.len();
        let capacity = vm.size.cache.unwrap_or_default().get();
        self.storage.caches.push(Cache::new(capacity));
        let shared = Shared {
            cached,
            uncached,
            cache,
            hit_law,
        };
        for volume in &vm.volumes {
            self.volume(&vm.name, volume, shared);
        }
    }

    fn volume(&mut self, vm: &str, volume: &Volume, shared: Shared) {
        let name = format!("{vm}/{}", volume.name);
        let first_disk = self.storage.disks.len();
        let law = self.choice(&volume.latency);
        for disk in 1..=volume.disk_count {
            let disk_name = format!("{name}/disk{disk}");
            let bursting = Bursting {
                how: if self.bursts {
                    volume.burst
                } else {
                    Burst::Off
                },
                highest: &volume.disk.burst_limits,
                seconds: volume.disk.bucket_seconds.unwrap_or_default(),
                start: volume.credits,
            };
            let ssd = matches!(
                volume.disk.kind,
                DiskKind::PremiumSsd | DiskKind::StandardSsd
            );
            let limits = limits(&volume.disk.limits, 0, bursting);
            let names = ["disk-iops", "disk-bytes"];
            let queue = self.queue(disk_name, limits, names, ssd.then_some(SSD_UNIT));
            self.storage
                .disks
                .push(paths(volume.caching, queue, shared, law));
        }
        let (unit, columns) = (volume.stripe_unit.get(), u64::from(volume.columns));
        let size = volume.disk.size.get();
        let stripe = Stripe {
            columns,
            unit,
            disk_bytes: if columns == 1 {
                size
            } else {
                size - size % unit
            },
        };
        self.storage.volumes.push(Built {
            name: Some(name),
            stripe,
            first_disk,
            cache: (volume.caching != HostCaching::None).then_some(shared.cache),
            row: Row::default(),
        });
    }

    fn device(&mut self, device: &Device) {
        let names = ["device-iops", "device-bytes"];
        let limits = limits(&device.limits, 0, Bursting::NONE);
        let queue = self.queue(device.name.clone(), limits, names, None);
        let law = self.choice(&device.latency);
        let path = path(&[queue], law.map(|law| (law, queue)));
        self.storage.volumes.push(Built {
            name: None,
            stripe: Stripe {
                columns: 1,
                unit: device.size.get(),
                disk_bytes: device.size.get(),
            },
            first_disk: self.storage.disks.len(),
            cache: None,
            row: Row::default(),
        });
        self.storage.disks.push(Disk {
            read: path.clone(),
            read_hit: path.clone(),
            write: path,
        });
    }

    fn queue(
        &mut self,
        name: String,
        limits: Vec<Limit>,
        limit_names: [&'static str; 2],
        unit: Option<u64>,
    ) -> usize {
        self.storage.queues.push(Queue {
            name,
            limits,
            limit_names,
            unit,
            waiting: Vec::new(),
            row: Row::default(),
            left: Vec::new(),
        });
        self.storage.queues.len() - 1
    }

    fn choice(&mut self, choice: &LatencyChoice) -> Option<usize> {
        match choice {
            LatencyChoice::None => None,
            LatencyChoice::LogNormal { median, p99, .. } => Some(self.law(median.get(), p99.get())),
        }
    }

    fn law(&mut self, median: u64, p99: u64) -> usize {
        let storage = &mut self.storage;
        *self.laws.entry((median, p99)).or_insert_with(|| {
            let table = LatencyTable::log_normal(Nanos::new(median), Nanos::new(p99));
            storage.laws.push(table);
            storage.laws.len() - 1
        })
    }
}

/// How something goes above its own limits.
#[derive(Clone, Copy)]
struct Bursting<'a> {
    how: Burst,
    highest: &'a CatalogLimits,
    /// How long a full bucket lasts at the highest rate.
    seconds: u32,
    start: Credits,
}

impl Bursting<'static> {
    const NONE: Self = Self {
        how: Burst::Off,
        highest: &CatalogLimits {
            iops: None,
            bandwidth: None,
        },
        seconds: 0,
        start: Credits::FULL,
    };
}

/// The limits of a queue, those of I/Os first.
fn limits(base: &CatalogLimits, tolerance_ns: u64, bursting: Bursting<'_>) -> Vec<Limit> {
    let highest = bursting.highest;
    let pairs = [
        (
            Counts::Ios,
            base.iops.map(Iops::get),
            highest.iops.map(Iops::get),
        ),
        (
            Counts::Bytes,
            base.bandwidth.map(BytesPerSec::get),
            highest.bandwidth.map(BytesPerSec::get),
        ),
    ];
    let mut limits = Vec::new();
    for (counts, base, highest) in pairs {
        let Some(base) = base else { continue };
        let mut add = |allowance| limits.push(Limit { counts, allowance });
        match (bursting.how, highest) {
            (Burst::Off, _) | (_, None) => add(Allowance::new(base, tolerance_ns)),
            (Burst::OnDemand, Some(highest)) => add(Allowance::new(highest, tolerance_ns)),
            (Burst::Credits, Some(highest)) => {
                add(Allowance::new(highest, tolerance_ns));
                let seconds = u64::from(bursting.seconds);
                add(Allowance::bucket(
                    base,
                    highest,
                    seconds,
                    bursting.start.share(),
                ));
            }
        }
    }
    limits
}

/// Which budgets an I/O counts against (disks-performance.md, 2026-09-09). What it spends on media it spends at the disk,
/// a cache hit in the cache. A volume without media latency has none in the cache either.
fn paths(caching: HostCaching, disk: usize, shared: Shared, law: Option<usize>) -> Disk {
    let Shared {
        cached, uncached, ..
    } = shared;
    let on_disk = law.map(|law| (law, disk));
    match caching {
        HostCaching::None => {
            let all = path(&[disk, uncached], on_disk);
            Disk {
                read: all.clone(),
                read_hit: all.clone(),
                write: all,
            }
        }
        HostCaching::ReadOnly | HostCaching::ReadWrite => {
            let through = path(&[cached, disk, uncached], on_disk);
            let hit = law.and(shared.hit_law).map(|law| (law, cached));
            Disk {
                read: through.clone(),
                read_hit: path(&[cached], hit),
                write: through,
            }
        }
    }
}

fn path(queues: &[usize], media: Option<(usize, usize)>) -> Vec<Step> {
    let queues = queues.iter().map(|queue| Step::Queue(*queue));
    let media = media.map(|(law, row)| Step::Media { law, row });
    queues.chain(media).collect()
}
