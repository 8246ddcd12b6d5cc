//! Machines: their budgets, their host cache, and their volumes of managed or temporary disks.

use fathom_catalog::{AccountingMode, Budget, CacheAccess, Limits as CatalogLimits};
use fathom_units::Bytes;

use super::super::write_back::{Flusher, Period};
use super::super::{DiskPaths, ModelError, NONE, VolumeKind};
use super::{Builder, Raised};
use crate::cache::{HostCache, LINE, MOST_STATE_BYTES};
use crate::design::{Burst, HostCaching, Media, Vm, Volume, VolumeId};
use crate::stage::StageKind;
use crate::storage::path::Step;
use crate::stripe::Stripe;

/// Seconds that a machine's full buckets last at the burst rates: "30 minutes at the maximum burst rate"
/// (managed-disks-bursting-2.md, 14 January 2025, for machines as for disks).
const VM_BUCKET_SECONDS: u64 = 1800;

/// Stages and cache that a machine's volumes share.
struct Shared {
    cached: u32,
    uncached: u32,
    cache: u32,
    /// Index of the law of its local SSD; `None`: it takes no time.
    hit_latency: Option<u32>,
    /// The same of its memory; that of the SSD, where the memory is no tier of its own.
    memory_latency: Option<u32>,
    /// Bytes of cached disks so far.
    space: u64,
    /// Where the disks with write-back lie among them.
    write_back: Vec<std::ops::Range<u64>>,
}

/// Laws of what the cache serves.
#[derive(Clone, Copy)]
struct CacheLatency {
    hit: Option<u32>,
    memory: Option<u32>,
}

impl Builder<'_> {
    pub(super) fn vm(&mut self, vm: &Vm) -> Result<(), ModelError> {
        let budget = |base, burst| Raised {
            base,
            burst: if vm.burst == Burst::Off {
                CatalogLimits::default()
            } else {
                burst
            },
            bucket: Some((VM_BUCKET_SECONDS, vm.credits.share())),
        };
        let limits = budget(vm.size.cached, vm.size.burst_cached);
        let cached = self.stage(
            format!("{}/cached", vm.name),
            StageKind::VmCached,
            &limits,
            None,
        );
        let limits = budget(vm.size.uncached, vm.size.burst_uncached);
        let uncached_name = format!("{}/uncached", vm.name);
        let uncached = self.stage(uncached_name, StageKind::VmUncached, &limits, None);
        let hit_latency = self.choice(&vm.cache.latency);
        let memory = vm.cache.memory.as_ref();
        let memory_latency = memory.map_or(hit_latency, |memory| self.choice(&memory.latency));
        let mut shared = Shared {
            cached,
            uncached,
            cache: self.storage.caches.len() as u32,
            hit_latency,
            memory_latency,
            space: 0,
            write_back: Vec::new(),
        };
        for volume in &vm.volumes {
            match volume.media() {
                Media::Disks => self.volume(vm, volume, &mut shared),
                Media::Temp => self.temporary(vm, volume, &shared),
            }
        }
        self.cache(vm, &shared)
    }

    fn cache(&mut self, vm: &Vm, shared: &Shared) -> Result<(), ModelError> {
        let capacity = vm.size.cache.unwrap_or_default().get();
        let write_back = !shared.write_back.is_empty();
        let memory = vm.cache.memory.as_ref();
        let state = HostCache::state_bytes(capacity, shared.space, write_back, memory.is_some());
        if state > MOST_STATE_BYTES {
            return Err(ModelError::CacheTooLarge {
                vm: vm.name.clone(),
                files: Bytes::new(shared.space),
                state: Bytes::new(state),
            });
        }
        let mut cache = HostCache::new(capacity, shared.space);
        if write_back {
            cache = cache.with_write_back(&shared.write_back);
        }
        if let Some(memory) = memory {
            cache = cache.with_memory(memory.size.get());
        }
        self.storage.caches.push(cache);
        self.storage.periods.push(Period::default());
        Ok(())
    }

    fn volume(&mut self, vm: &Vm, volume: &Volume, shared: &mut Shared) {
        let name = format!("{}/{}", vm.name, volume.name);
        let used = self.used_of_next();
        let stripe = stripe_of(volume);
        let latency = self.choice(&volume.latency);
        // A design that wants no media latency wants none from the cache either.
        let at_cache = CacheLatency {
            hit: latency.and(shared.hit_latency),
            memory: latency.and(shared.memory_latency),
        };
        let first_disk = self.storage.disks.len() as u32;
        let limits = disk_limits(volume);
        let cached = volume.caching != HostCaching::None;
        for disk in 0..volume.disk_count {
            let disk_name = format!("{name}/disk{}", disk + 1);
            let stage = self.stage(disk_name, StageKind::Disk, &limits, volume.disk.io_unit);
            let mut paths = self.disk_paths(volume.caching, shared, stage, (latency, at_cache));
            if cached {
                let bytes = stripe.used_of_disk(disk, used).next_multiple_of(LINE);
                paths.cache_base = shared.space;
                if volume.caching == HostCaching::ReadWrite {
                    paths.flusher = self.flusher(shared, bytes, stage, latency);
                }
                shared.space += bytes;
            }
            self.storage.disks.push(paths);
        }
        self.push_volume(VolumeKind::Disks, stripe, first_disk, (name, "volume"));
        if let Some(volume) = self.storage.volumes.last_mut().filter(|_| cached) {
            volume.cache = Some(shared.cache);
        }
    }

    fn disk_paths(
        &mut self,
        caching: HostCaching,
        shared: &Shared,
        stage: u32,
        (latency, at_cache): (Option<u32>, CacheLatency),
    ) -> DiskPaths {
        let mut path_to = |mode, access, hit_latency| {
            let budgets = self.catalog.budgets(mode, access);
            // What is answered by the cache alone spends its media time there.
            let delay = if budgets.contains(&Budget::Disk) {
                (latency, stage)
            } else {
                (hit_latency, shared.cached)
            };
            self.path(&path_of(budgets, shared, stage, delay))
        };
        let mut path = |mode, access| path_to(mode, access, at_cache.hit);
        let none = AccountingMode::None;
        let through = AccountingMode::ReadOnly;
        let [read, read_hit, write, write_back] = match caching {
            HostCaching::None => {
                let (read, write) = (
                    path(none, CacheAccess::Read),
                    path(none, CacheAccess::Write),
                );
                [read, read, write, write]
            }
            HostCaching::ReadOnly => {
                let write = path(through, CacheAccess::Write);
                let miss = path(through, CacheAccess::ReadMiss);
                [miss, path(through, CacheAccess::ReadHit), write, write]
            }
            HostCaching::ReadWrite => {
                let mode = AccountingMode::ReadWrite;
                [
                    path(mode, CacheAccess::ReadMiss),
                    path(mode, CacheAccess::ReadHit),
                    // Writes that must be durable, or find no room, go through as with read-only caching.
                    path(through, CacheAccess::Write),
                    path(mode, CacheAccess::Write),
                ]
            }
        };
        let read_memory = match caching {
            HostCaching::None => read,
            HostCaching::ReadOnly => path_to(through, CacheAccess::ReadHit, at_cache.memory),
            HostCaching::ReadWrite => path_to(
                AccountingMode::ReadWrite,
                CacheAccess::ReadHit,
                at_cache.memory,
            ),
        };
        DiskPaths {
            read,
            read_hit,
            read_memory,
            write,
            write_back,
            random_key: self.random_key(),
            cache_base: 0,
            flusher: NONE,
        }
    }

    /// What writes the dirty blocks of the next disk, which takes `bytes` of the cache's space.
    fn flusher(
        &mut self,
        shared: &mut Shared,
        bytes: u64,
        stage: u32,
        latency: Option<u32>,
    ) -> u32 {
        let later = [Budget::Disk, Budget::VmUncached];
        let path = self.path(&path_of(&later, shared, stage, (latency, stage)));
        let range = shared.space..shared.space + bytes;
        let flusher = Flusher::new(
            (shared.cache, shared.write_back.len()),
            path,
            !self.random_key(),
        );
        shared.write_back.push(range);
        self.storage.flushers.push(flusher);
        self.storage.flushers.len() as u32 - 1
    }

    /// The temporary disk: the cached budget, and its own limits where its size prints them apart.
    fn temporary(&mut self, vm: &Vm, volume: &Volume, shared: &Shared) {
        let name = format!("{}/{}", vm.name, volume.name);
        let latency = self.choice(&volume.latency);
        let own = Raised::steady(volume.disk.limits);
        let stage = self.stage(format!("{name}/disk1"), StageKind::Disk, &own, None);
        let delay = latency.map(|law| Step::Delay { law, inside: stage });
        let mut steps = vec![Step::Rate(shared.cached), Step::Rate(stage)];
        let read = self.path(&with(&steps, delay));
        let write = match volume.disk.write_bandwidth {
            None => read,
            Some(bandwidth) => {
                let limits = Raised::steady(CatalogLimits {
                    iops: None,
                    bandwidth: Some(bandwidth),
                });
                let writes = self.stage(format!("{name}/writes"), StageKind::Disk, &limits, None);
                steps.push(Step::Rate(writes));
                self.path(&with(&steps, delay))
            }
        };
        let first_disk = self.storage.disks.len() as u32;
        self.push_disk(read, write);
        self.push_volume(
            VolumeKind::Disks,
            stripe_of(volume),
            first_disk,
            (name, "volume"),
        );
    }

    /// Bytes that files take on the volume that is built next.
    fn used_of_next(&self) -> u64 {
        let next = VolumeId::new(self.storage.volumes.len());
        self.layout.used(next).get()
    }
}

fn with(steps: &[Step], delay: Option<Step>) -> Vec<Step> {
    steps.iter().copied().chain(delay).collect()
}

/// What each disk of a volume may do.
fn disk_limits(volume: &Volume) -> Raised {
    let disk = &volume.disk;
    let bucket = disk.bucket_seconds.map(u64::from);
    match volume.burst {
        Burst::Off => Raised::steady(disk.limits),
        Burst::Credits => Raised {
            base: disk.limits,
            burst: disk.burst_limits,
            bucket: bucket.map(|seconds| (seconds, volume.credits.share())),
        },
        Burst::OnDemand => Raised {
            base: disk.limits,
            burst: disk.burst_limits,
            bucket: None,
        },
    }
}

fn stripe_of(volume: &Volume) -> Stripe {
    let unit = volume.stripe_unit.get();
    let columns = volume.columns;
    // Whole stripes alone can be used.
    let per_disk = if columns == 1 {
        volume.disk.size.get()
    } else {
        volume.disk.size.get() / unit * unit
    };
    Stripe::new(columns, unit, per_disk * u64::from(columns))
}

/// The steps of the accounting table, then the media.
fn path_of(
    budgets: &[Budget],
    shared: &Shared,
    disk: u32,
    (latency, inside): (Option<u32>, u32),
) -> Vec<Step> {
    let stages = budgets.iter().map(|budget| match budget {
        Budget::VmCached => shared.cached,
        Budget::VmUncached => shared.uncached,
        Budget::Disk => disk,
    });
    let delay = latency.map(|law| Step::Delay { law, inside });
    stages.map(Step::Rate).chain(delay).collect()
}
