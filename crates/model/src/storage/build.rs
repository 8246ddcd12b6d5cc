//! From a design and a layout to stages, windows, delays and paths.
//!
//! This file has what every kind of storage needs; each kind has its own: [`disks`] for volumes of machines, [`device`] for
//! devices and arrays, [`nfs`] and [`smb`] for what is reached over the network.

mod device;
mod disks;
mod nfs;
mod smb;

use std::collections::{BTreeMap, VecDeque};

use fathom_catalog::{Catalog, Limits as CatalogLimits};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use super::agenda::Agenda;
use super::ahead::Ahead;
use super::changes::Faults;
use super::path::{DelayLaw, PathId, Paths, Step};
use super::token::{Slab, Tokens};
use super::{DiskPaths, ModelError, NONE, Storage, VolumeKind, VolumeModel};
use crate::design::{Design, LatencyChoice};
use crate::factor::Factor;
use crate::latency::LatencyTable;
use crate::layout::Layout;
use crate::limiter::{CreditRate, Limits, Rate};
use crate::random::mix;
use crate::stage::{Stage, StageKind};
use crate::statistics::Meter;
use crate::stripe::Stripe;
use crate::window::{Bounds, Window};

/// How far ahead of its rate a machine's budget lets I/Os leave.
///
/// How a provider releases I/O below a second is not documented. A real budget is metered over some window, so that a run
/// which saturates it is not short of the printed limit by its own first and last latency; and a driver in real time that
/// wakes late must not lose the allowance of the time it slept. Two milliseconds cover both: the 99th percentile of the
/// host cache's media latency is 1.5 ms, and over 30 s they add 0.007 % to the limit. Disks and devices release smoothly.
const VM_TOLERANCE: Nanos = Nanos::from_millis(2);

/// How far ahead of their rate the limits of a stage let I/Os leave.
pub(super) const fn tolerance(kind: StageKind) -> Nanos {
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
            storage: Self::empty(),
            layout,
            catalog: Catalog::builtin(),
            seed,
            scale: design.scale,
            networks: Vec::new(),
            log_normals: BTreeMap::new(),
        };
        for vm in &design.vms {
            builder.vm(vm)?;
        }
        for device in &design.devices {
            builder.device(device);
        }
        if !(design.nfs.is_empty() && design.smb.is_empty()) {
            builder.networks(design);
        }
        for volume in &design.nfs {
            builder.nfs(design, volume);
        }
        for share in &design.smb {
            builder.smb(design, share);
        }
        let mut storage = builder.storage;
        storage.agenda = Agenda::new(storage.stages.len(), storage.caches.len());
        Ok(storage)
    }

    fn empty() -> Self {
        Self {
            stages: Vec::new(),
            stage_names: Vec::new(),
            windows: Vec::new(),
            delays: Vec::new(),
            paths: Paths::default(),
            disks: Vec::new(),
            volumes: Vec::new(),
            volume_names: Vec::new(),
            caches: Vec::new(),
            flushers: Vec::new(),
            periods: Vec::new(),
            runs: Slab::default(),
            arrays: Vec::new(),
            nfs: Vec::new(),
            shares: Vec::new(),
            requests: 0,
            look_ahead: 0,
            agenda: Agenda::new(0, 0),
            tokens: Tokens::default(),
            parents: Slab::default(),
            ready: VecDeque::new(),
            faults: Faults::default(),
            durability: None,
            ahead: Ahead::default(),
        }
    }
}

struct Builder<'a> {
    storage: Storage,
    layout: &'a Layout,
    catalog: &'static Catalog,
    seed: u64,
    /// What every rate is multiplied by.
    scale: Factor,
    /// The network stage of each machine, where the design has network storage and the size a printed bandwidth.
    networks: Vec<Option<u32>>,
    /// Laws of media by median and 99th percentile.
    log_normals: BTreeMap<(Nanos, Nanos), u32>,
}

/// The limits of a stage with what raises them.
#[derive(Debug, Clone, Copy, Default)]
struct Raised {
    base: CatalogLimits,
    /// Highest rates; empty: none.
    burst: CatalogLimits,
    /// Seconds that full buckets last and the share (0 to 1) that is there at the start; `None`: bursting has no bucket.
    bucket: Option<(u64, f64)>,
}

impl Raised {
    const fn steady(base: CatalogLimits) -> Self {
        Self {
            base,
            burst: CatalogLimits {
                iops: None,
                bandwidth: None,
            },
            bucket: None,
        }
    }

    /// The same with every rate multiplied. Buckets are as many seconds of the difference of two rates, and so multiplied
    /// with them.
    fn scaled(mut self, scale: Factor) -> Self {
        if scale != Factor::ONE {
            for limits in [&mut self.base, &mut self.burst] {
                let scaled = |rate: u64| scale.times(rate).max(1);
                limits.iops = limits.iops.map(|rate| Iops::new(scaled(rate.get())));
                let bandwidth = limits.bandwidth;
                limits.bandwidth = bandwidth.map(|rate| BytesPerSec::new(scaled(rate.get())));
            }
        }
        self
    }

    fn rates(&self) -> (Option<Rate>, Option<Rate>) {
        let rate = |base: u64, burst: Option<u64>| match (burst.filter(|top| *top > base), self) {
            (None, _) => Rate::Steady(base),
            (Some(top), Self { bucket: None, .. }) => Rate::Steady(top),
            (
                Some(top),
                Self {
                    bucket: Some((seconds, start)),
                    ..
                },
            ) => Rate::Credits(CreditRate::for_seconds(base, top, *seconds).starting_at(*start)),
        };
        let burst = &self.burst;
        let iops = self.base.iops.map(|base| {
            let burst = burst.iops.map(Iops::get);
            rate(base.get(), burst)
        });
        let bytes = self.base.bandwidth.map(|base| {
            let burst = burst.bandwidth.map(BytesPerSec::get);
            rate(base.get(), burst)
        });
        (iops, bytes)
    }

    /// The limits in words with units.
    fn words(&self) -> Vec<String> {
        let word = |base: Option<String>, burst: Option<String>| {
            base.map(|base| match burst.filter(|top| *top != base) {
                None => base,
                Some(top) => format!("{base}, bursts to {top}"),
            })
        };
        let (base, burst) = (&self.base, &self.burst);
        let text = |rate: &dyn std::fmt::Display| rate.to_string();
        let iops = word(
            base.iops.map(|rate| text(&rate)),
            burst.iops.map(|rate| text(&rate)),
        );
        let bytes = word(
            base.bandwidth.map(|rate| text(&rate)),
            burst.bandwidth.map(|rate| text(&rate)),
        );
        iops.into_iter().chain(bytes).collect()
    }
}

impl Builder<'_> {
    fn push_volume(
        &mut self,
        kind: VolumeKind,
        stripe: Stripe,
        first_disk: u32,
        name: (String, &'static str),
    ) {
        self.storage.volumes.push(VolumeModel {
            kind,
            stripe,
            first_disk,
            disk_count: (self.storage.disks.len() as u32).saturating_sub(first_disk),
            cache: None,
            meter: Meter::default(),
            reads: 0,
            hits: 0,
            memory_hits: 0,
        });
        self.storage.volume_names.push(name);
    }

    fn stage(
        &mut self,
        name: String,
        kind: StageKind,
        limits: &Raised,
        io_unit: Option<Bytes>,
    ) -> u32 {
        let limits = limits.scaled(self.scale);
        let (iops, bytes) = limits.rates();
        let enforced = Limits::new(iops, bytes, tolerance(kind));
        let unit = io_unit.map_or(0, Bytes::get);
        self.storage.stages.push(Stage::new(kind, enforced, unit));
        self.storage.stage_names.push((name, limits.words()));
        self.storage.stages.len() as u32 - 1
    }

    fn window(&mut self, bounds: Bounds) -> u32 {
        self.storage.windows.push(Window::new(bounds));
        self.storage.windows.len() as u32 - 1
    }

    /// The key of the media latencies of the next disk or volume.
    fn random_key(&self) -> u64 {
        mix(self.seed ^ mix(self.storage.disks.len() as u64))
    }

    /// The index of a law of media latency; `None`: media take no time.
    fn choice(&mut self, choice: &LatencyChoice) -> Option<u32> {
        self.scaled_choice(choice, |time| time)
    }

    /// The same with both quantiles changed.
    fn scaled_choice(
        &mut self,
        choice: &LatencyChoice,
        scale: impl Fn(Nanos) -> Nanos,
    ) -> Option<u32> {
        match choice {
            LatencyChoice::None => None,
            LatencyChoice::LogNormal { median, p99, .. } => {
                Some(self.log_normal(scale(*median), scale(*p99)))
            }
        }
    }

    /// The index of the law of media with these quantiles. Its tables take a tenth of a millisecond to make, and a design
    /// may ask for the same law at each of 100,000 mounts.
    fn log_normal(&mut self, median: Nanos, p99: Nanos) -> u32 {
        if let Some(law) = self.log_normals.get(&(median, p99)) {
            return *law;
        }
        let table = LatencyTable::log_normal(median, p99);
        let law = self.delay(DelayLaw::Table(table));
        self.log_normals.insert((median, p99), law);
        law
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
        self.storage.paths.add(steps)
    }

    /// A disk whose reads and writes take these paths, and which no cache covers.
    fn push_disk(&mut self, read: PathId, write: PathId) {
        let random_key = self.random_key();
        self.storage.disks.push(DiskPaths {
            read,
            read_hit: read,
            read_memory: read,
            write,
            write_back: write,
            random_key,
            cache_base: 0,
            flusher: NONE,
        });
    }
}

/// One disk of `size` bytes.
fn whole(size: Bytes) -> Stripe {
    let size = size.get().max(1);
    Stripe::new(1, size, size)
}
