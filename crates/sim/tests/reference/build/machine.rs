//! Machines, by the accounting table as the documents print it (disks-performance.md, 2026-09-09).

use fathom_catalog::{DiskKind, Limits};
use fathom_model::{HostCaching, Media, Vm, Volume};

use super::limits::{Bursting, raised, steady};
use super::{Builder, path};
use crate::cache::Cache;
use crate::stripe::Stripe;
use crate::volume::{Disk, Kind};

/// A machine's budgets let I/Os leave 2 ms ahead of their rate, so that a saturated run is not short by its own latency.
const VM_TOLERANCE_NS: u64 = 2_000_000;
/// An I/O at a disk of an SSD counts as one for each 256 KiB begun.
const SSD_UNIT: u64 = 256 << 10;
/// Full buckets of machines last 30 minutes at the highest rate.
const BUCKET_SECONDS: u64 = 1800;

const DISK: [&str; 2] = ["disk-iops", "disk-bytes"];

/// What a machine's volumes share.
#[derive(Clone, Copy)]
struct Shared {
    cached: usize,
    uncached: usize,
    cache: usize,
    hit_law: Option<usize>,
    memory_law: Option<usize>,
}

impl Builder {
    pub fn vm(&mut self, vm: &Vm) {
        let bursting = |highest| Bursting {
            how: vm.burst,
            highest,
            seconds: BUCKET_SECONDS,
            start: vm.credits,
        };
        let budget = |base, highest| raised(base, VM_TOLERANCE_NS, bursting(highest));
        let limits = budget(&vm.size.cached, vm.size.burst_cached);
        let names = ["vm-cached-iops", "vm-cached-bytes"];
        let cached = self.queue(format!("{}/cached", vm.name), limits, names, None);
        let limits = budget(&vm.size.uncached, vm.size.burst_uncached);
        let names = ["vm-uncached-iops", "vm-uncached-bytes"];
        let uncached = self.queue(format!("{}/uncached", vm.name), limits, names, None);
        let hit_law = self.choice(&vm.cache.latency);
        let cache = self.storage.caches.len();
        let capacity = vm.size.cache.unwrap_or_default().get();
        let mut tiers = Cache::new(capacity);
        let mut memory_law = None;
        if let Some(memory) = &vm.cache.memory {
            tiers.memory = Some(Box::new(Cache::new(memory.size.get())));
            memory_law = self.choice(&memory.latency);
        }
        self.storage.caches.push(tiers);
        let shared = Shared {
            cached,
            uncached,
            cache,
            hit_law,
            memory_law,
        };
        for volume in &vm.volumes {
            match volume.media() {
                Media::Disks => self.disks(&vm.name, volume, shared),
                Media::Temp => self.temporary(&vm.name, volume, shared),
            }
        }
    }

    fn disks(&mut self, vm: &str, volume: &Volume, shared: Shared) {
        let name = format!("{vm}/{}", volume.name);
        let first_disk = self.storage.disks.len();
        let law = self.choice(&volume.latency);
        let spec = &volume.disk;
        for disk in 1..=volume.disk_count {
            let bursting = Bursting {
                how: volume.burst,
                highest: spec.burst_limits,
                seconds: spec.bucket_seconds.unwrap_or_default().into(),
                start: volume.credits,
            };
            let ssd = matches!(spec.kind, DiskKind::PremiumSsd | DiskKind::StandardSsd);
            let limits = raised(&spec.limits, 0, bursting);
            let unit = ssd.then_some(SSD_UNIT);
            let queue = self.queue(format!("{name}/disk{disk}"), limits, DISK, unit);
            let paths = paths(volume.caching, queue, shared, law);
            self.storage.disks.push(paths);
        }
        let cache = (volume.caching != HostCaching::None).then_some(shared.cache);
        let kind = Kind::Disks(stripe_of(volume));
        self.volume(Some(name), kind, first_disk, cache);
    }

    /// The temporary disk is the machine's own: it counts against the cached budget, and what its size prints for it.
    fn temporary(&mut self, vm: &str, volume: &Volume, shared: Shared) {
        let name = format!("{vm}/{}", volume.name);
        let first_disk = self.storage.disks.len();
        let law = self.choice(&volume.latency);
        let limits = steady(&volume.disk.limits);
        let disk = self.queue(format!("{name}/disk1"), limits, DISK, None);
        let media = law.map(|law| (law, disk));
        let read = path(&[shared.cached, disk], media);
        let write = match volume.disk.write_bandwidth {
            None => read.clone(),
            Some(bandwidth) => {
                let limits = steady(&Limits {
                    iops: None,
                    bandwidth: Some(bandwidth),
                });
                let writes = self.queue(format!("{name}/writes"), limits, DISK, None);
                path(&[shared.cached, disk, writes], media)
            }
        };
        self.storage.disks.push(Disk {
            read,
            write,
            ..Disk::default()
        });
        let kind = Kind::Disks(stripe_of(volume));
        self.volume(Some(name), kind, first_disk, None);
    }
}

/// Whole rows of stripe units alone are used.
fn stripe_of(volume: &Volume) -> Stripe {
    let (unit, columns) = (volume.stripe_unit.get(), u64::from(volume.columns));
    let size = volume.disk.size.get();
    Stripe {
        columns,
        unit,
        disk_bytes: if columns == 1 {
            size
        } else {
            size - size % unit
        },
    }
}

/// Which budgets an I/O counts against. What it spends on media it spends at the disk; what the cache answers, in the cache. A
/// volume without media latency has none in the cache either.
fn paths(caching: HostCaching, disk: usize, shared: Shared, law: Option<usize>) -> Disk {
    let Shared {
        cached, uncached, ..
    } = shared;
    let on_disk = law.map(|law| (law, disk));
    let in_cache = law.and(shared.hit_law).map(|law| (law, cached));
    let around = path(&[disk, uncached], on_disk);
    let through = path(&[cached, disk, uncached], on_disk);
    let hit = path(&[cached], in_cache);
    let in_memory = law.and(shared.memory_law).map(|law| (law, cached));
    let read_memory = path(&[cached], in_memory);
    match caching {
        HostCaching::None => Disk {
            read: around.clone(),
            write: around,
            ..Disk::default()
        },
        HostCaching::ReadOnly => Disk {
            read: through.clone(),
            read_hit: hit,
            read_memory,
            write: through,
            ..Disk::default()
        },
        HostCaching::ReadWrite => Disk {
            read: through.clone(),
            read_hit: hit.clone(),
            read_memory,
            write: through,
            into_cache: hit,
            flush: around,
            flushed: 0,
        },
    }
}
