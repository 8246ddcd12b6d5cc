//! From a design to queues and paths, by the accounting table as the documents print it.

use std::collections::BTreeMap;

use fathom_catalog::{Catalog, DiskKind, Limits};
use fathom_model::{Design, Device, HostCaching, LatencyChoice, LatencyTable, Vm, Volume};
use fathom_units::Nanos;

use super::allowance::Allowance;
use super::cache::Cache;
use super::storage::{Disk, Queue, Row, Step, Storage, Volume as Built};
use super::stripe::Stripe;

/// A machine's budgets let I/Os leave 2 ms ahead of their rate, so that a saturated run is not short by its own latency.
const VM_TOLERANCE_NS: u64 = 2_000_000;

/// An I/O at a disk of an SSD counts as one for each 256 KiB begun.
const SSD_UNIT: u64 = 256 << 10;

/// The storage of `design`; media latencies come from `seed`.
pub fn build(design: &Design, seed: u64) -> Storage {
    let mut builder = Builder {
        storage: Storage::new(seed),
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
        let name = format!("{}/cached", vm.name);
        let names = ["vm-cached-iops", "vm-cached-bytes"];
        let cached = self.queue(name, &vm.size.cached, VM_TOLERANCE_NS, names);
        let name = format!("{}/uncached", vm.name);
        let names = ["vm-uncached-iops", "vm-uncached-bytes"];
        let uncached = self.queue(name, &vm.size.uncached, VM_TOLERANCE_NS, names);
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
            let queue = self.queue(
                disk_name,
                &volume.disk.limits,
                0,
                ["disk-iops", "disk-bytes"],
            );
            let ssd = matches!(
                volume.disk.kind,
                DiskKind::PremiumSsd | DiskKind::StandardSsd
            );
            self.storage.queues[queue].unit = ssd.then_some(SSD_UNIT);
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
        let queue = self.queue(device.name.clone(), &device.limits, 0, names);
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
        limits: &Limits,
        tolerance_ns: u64,
        limit_names: [&'static str; 2],
    ) -> usize {
        let limit = |rate| Allowance::new(rate, tolerance_ns);
        self.storage.queues.push(Queue {
            name,
            iops: limits.iops.map(|rate| limit(rate.get())),
            bytes: limits.bandwidth.map(|rate| limit(rate.get())),
            limit_names,
            unit: None,
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
