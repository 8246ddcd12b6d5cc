//! From a design and a layout to stages and paths.

use std::collections::VecDeque;

use fathom_catalog::{AccountingMode, Budget, CacheAccess, Catalog, Limits as CatalogLimits};
use fathom_units::{Bytes, Nanos};

use super::agenda::Agenda;
use super::path::{DelayLaw, Path, PathId, Step};
use super::token::{Slab, TokenWaits};
use super::wakes::Wakes;
use super::{DiskPaths, ModelError, Storage, VolumeModel};
use crate::cache::{HostCache, LINE};
use crate::design::{
    Burst, Design, Device, HostCaching, LatencyChoice, Media, Vm, Volume, VolumeId,
};
use crate::latency::LatencyTable;
use crate::layout::Layout;
use crate::limiter::{Limits, Rate};
use crate::random::mix;
use crate::stage::{Stage, StageKind};
use crate::statistics::Meter;
use crate::stripe::Stripe;

/// Most cache lines tracked for one machine: 16 TiB of files.
const MOST_LINES: u64 = 1 << 28;

/// How far ahead of its rate a machine's budget lets I/Os leave.
///
/// How a provider releases I/O below a second is not documented. A real budget is metered over some window, so that a run
/// which saturates it is not short of the printed limit by its own first and last latency; and a driver in real time that
/// wakes late must not lose the allowance of the time it slept. Two milliseconds cover both: the 99th percentile of the
/// host cache's media latency is 1.5 ms, and over 30 s they add 0.007 % to the limit. Disks and devices release smoothly.
const VM_TOLERANCE: Nanos = Nanos::from_millis(2);

/// How far ahead of their rate the limits of a stage let I/Os leave.
const fn tolerance(kind: StageKind) -> Nanos {
    match kind {
        StageKind::VmCached | StageKind::VmUncached => VM_TOLERANCE,
        _ => Nanos::ZERO,
    }
}

impl Storage {
    /// The model of `design` for files that lie as in `layout`. Equal seeds give equal media latencies.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where the files are too many to track.
    pub fn new(design: &Design, layout: &Layout, seed: u64) -> Result<Self, ModelError> {
        let mut builder = Builder {
            storage: Self {
                stages: Vec::new(),
                stage_names: Vec::new(),
                windows: Vec::new(),
                delays: Vec::new(),
                paths: Vec::new(),
                disks: Vec::new(),
                volumes: Vec::new(),
                volume_names: Vec::new(),
                caches: Vec::new(),
                wakes: Wakes::default(),
                agenda: Agenda::default(),
                tokens: Slab::default(),
                waits: TokenWaits::default(),
                parents: Slab::default(),
                ready: VecDeque::new(),
            },
            layout,
            catalog: Catalog::builtin(),
            seed,
        };
        check_built(design)?;
        for vm in &design.vms {
            builder.vm(vm)?;
        }
        for device in &design.devices {
            builder.device(device);
        }
        builder.storage.wakes = Wakes::new(builder.storage.stages.len());
        Ok(builder.storage)
    }
}

/// Refuses what the design format has and this model does not: the one place to lift when it does.
fn check_built(design: &Design) -> Result<(), ModelError> {
    let not_built = |what: String| Err(ModelError::NotBuilt { what });
    for vm in &design.vms {
        for volume in &vm.volumes {
            let name = format!("the volume `{}/{}`", vm.name, volume.name);
            if volume.media() == Media::Temp {
                return not_built(format!("{name} is a temporary disk"));
            }
            if volume.caching == HostCaching::ReadWrite {
                return not_built(format!("{name} is cached read-write"));
            }
            if volume.burst == Burst::OnDemand {
                return not_built(format!("{name} bursts on demand"));
            }
        }
    }
    if let Some(device) = design.devices.iter().find(|device| device.disk_count > 1) {
        return not_built(format!("the device `{}` is made of disks", device.name));
    }
    if let Some(volume) = design.nfs.first() {
        return not_built(format!("the volume `{}` is reached over NFS", volume.name));
    }
    if let Some(share) = design.smb.first() {
        return not_built(format!("the share `{}` is reached over SMB", share.name));
    }
    Ok(())
}

struct Builder<'a> {
    storage: Storage,
    layout: &'a Layout,
    catalog: &'static Catalog,
    seed: u64,
}

/// Stages and cache that a machine's volumes share.
struct Shared {
    cached: u32,
    uncached: u32,
    cache: u32,
    /// Index of the law of its media; `None`: it takes no time.
    hit_latency: Option<u32>,
}

impl Builder<'_> {
    fn vm(&mut self, vm: &Vm) -> Result<(), ModelError> {
        let cached_name = format!("{}/cached", vm.name);
        let cached = self.stage(cached_name, StageKind::VmCached, &vm.size.cached, None);
        let uncached_name = format!("{}/uncached", vm.name);
        let uncached = self.stage(
            uncached_name,
            StageKind::VmUncached,
            &vm.size.uncached,
            None,
        );
        let hit = self.catalog.media_latency("host_cache");
        let hit_latency = hit.map(|row| {
            let table = LatencyTable::log_normal(row.median, row.p99);
            self.delay(DelayLaw::Table(table))
        });
        let cache = self.storage.caches.len() as u32;
        let shared = Shared {
            cached,
            uncached,
            cache,
            hit_latency,
        };
        let mut space = 0;
        for volume in &vm.volumes {
            self.volume(vm, volume, &shared, &mut space);
        }
        let lines = space / LINE;
        if lines > MOST_LINES {
            let vm = vm.name.clone();
            return Err(ModelError::CacheTooLarge {
                vm,
                lines,
                most: MOST_LINES,
            });
        }
        let capacity = vm.size.cache.unwrap_or_default();
        self.storage
            .caches
            .push(HostCache::new(capacity.get(), space));
        Ok(())
    }

    fn volume(&mut self, vm: &Vm, volume: &Volume, shared: &Shared, space: &mut u64) {
        let name = format!("{}/{}", vm.name, volume.name);
        let used = self
            .layout
            .used(VolumeId::new(self.storage.volumes.len()))
            .get();
        let stripe = stripe_of(volume);
        let latency = self.choice(&volume.latency);
        // A design that wants no media latency wants none from the cache either.
        let hit_latency = latency.and(shared.hit_latency);
        let first_disk = self.storage.disks.len() as u32;
        let cached = volume.caching == HostCaching::ReadOnly;
        for disk in 0..volume.disk_count {
            let disk_name = format!("{name}/disk{}", disk + 1);
            let (limits, unit) = (&volume.disk.limits, volume.disk.io_unit);
            let stage = self.stage(disk_name, StageKind::Disk, limits, unit);
            let mut path = |access, latency| {
                let budgets = self.catalog.budgets(volume.caching.accounting(), access);
                // What a cache hit spends on media, it spends in the cache.
                let hit = access == CacheAccess::ReadHit;
                let inside = if hit { shared.cached } else { stage };
                self.path(&path_of(budgets, shared, stage, (latency, inside)))
            };
            let (read, read_hit) = match volume.caching {
                HostCaching::None => {
                    let read = path(CacheAccess::Read, latency);
                    (read, read)
                }
                HostCaching::ReadOnly | HostCaching::ReadWrite => (
                    path(CacheAccess::ReadMiss, latency),
                    path(CacheAccess::ReadHit, hit_latency),
                ),
            };
            let write = path(CacheAccess::Write, latency);
            let random_key = mix(self.seed ^ mix(self.storage.disks.len() as u64));
            let cache_base = *space;
            if cached {
                *space += stripe.used_of_disk(disk, used).next_multiple_of(LINE);
            }
            let paths = DiskPaths {
                read,
                read_hit,
                write,
                random_key,
                cache_base,
            };
            self.storage.disks.push(paths);
        }
        let cache = cached.then_some(shared.cache);
        self.push_volume(stripe, first_disk, cache, (name, "volume"));
    }

    fn device(&mut self, device: &Device) {
        let (whole, disk) = (device.limits, device.disk_limits);
        let limits = CatalogLimits {
            iops: whole.iops.into_iter().chain(disk.iops).min(),
            bandwidth: whole.bandwidth.into_iter().chain(disk.bandwidth).min(),
        };
        let stage = self.stage(device.name.clone(), StageKind::Device, &limits, None);
        let latency = self.choice(&device.latency);
        let delay = latency.map(|law| Step::Delay { law, inside: stage });
        let steps: Vec<_> = [Step::Rate(stage)].into_iter().chain(delay).collect();
        let path = self.path(&steps);
        let first_disk = self.storage.disks.len() as u32;
        let random_key = mix(self.seed ^ mix(u64::from(first_disk)));
        self.storage.disks.push(DiskPaths {
            read: path,
            read_hit: path,
            write: path,
            random_key,
            cache_base: 0,
        });
        let size = device.size.get().max(1);
        let stripe = Stripe::new(1, size, size);
        self.push_volume(stripe, first_disk, None, (device.name.clone(), "device"));
    }

    fn push_volume(
        &mut self,
        stripe: Stripe,
        first_disk: u32,
        cache: Option<u32>,
        name: (String, &'static str),
    ) {
        let meter = Meter::default();
        let volume = VolumeModel {
            stripe,
            first_disk,
            cache,
            meter,
            reads: 0,
            hits: 0,
        };
        self.storage.volumes.push(volume);
        self.storage.volume_names.push(name);
    }

    fn stage(
        &mut self,
        name: String,
        kind: StageKind,
        limits: &CatalogLimits,
        io_unit: Option<Bytes>,
    ) -> u32 {
        let iops = limits.iops.map(|rate| Rate::Steady(rate.get()));
        let bytes = limits.bandwidth.map(|rate| Rate::Steady(rate.get()));
        let enforced = Limits::new(iops, bytes, tolerance(kind));
        let mut words = Vec::new();
        words.extend(limits.iops.map(|rate| rate.to_string()));
        words.extend(limits.bandwidth.map(|rate| rate.to_string()));
        let unit = io_unit.map_or(0, Bytes::get);
        self.storage.stages.push(Stage::new(kind, enforced, unit));
        self.storage.stage_names.push((name, words));
        self.storage.stages.len() as u32 - 1
    }

    /// The index of a law of media latency; `None`: media take no time.
    fn choice(&mut self, choice: &LatencyChoice) -> Option<u32> {
        match choice {
            LatencyChoice::None => None,
            LatencyChoice::LogNormal { median, p99, .. } => {
                let table = LatencyTable::log_normal(*median, *p99);
                Some(self.delay(DelayLaw::Table(table)))
            }
        }
    }

    /// The index of a law; equal laws are one.
    fn delay(&mut self, law: DelayLaw) -> u32 {
        let laws = &mut self.storage.delays;
        if let Some(index) = laws.iter().position(|known| *known == law) {
            return index as u32;
        }
        laws.push(law);
        laws.len() as u32 - 1
    }

    /// The index of the path of these steps.
    fn path(&mut self, steps: &[Step]) -> PathId {
        self.storage.paths.push(Path::new(steps));
        self.storage.paths.len() as PathId - 1
    }
}

impl HostCaching {
    const fn accounting(self) -> AccountingMode {
        match self {
            Self::None => AccountingMode::None,
            Self::ReadOnly => AccountingMode::ReadOnly,
            Self::ReadWrite => AccountingMode::ReadWrite,
        }
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
