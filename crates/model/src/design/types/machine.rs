//! Machines and their volumes of managed or temporary disks.
//!
//! Everything here is resolved: what the file left out has its default, and names of the catalogue are figures.

use fathom_catalog::{DiskKind, Era, Limits, Source, VmSize};
use fathom_diagnostics::Location;
use fathom_units::{Bytes, BytesPerSec};

use super::{Burst, Credits, LatencyChoice, Mount};

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Vm {
    /// Unique within the design.
    pub name: String,
    /// Its size, with limits.
    pub size: &'static VmSize,
    /// Whether its cached and uncached budgets burst, where the size has burst limits.
    pub burst: Burst,
    /// How full its credit buckets are at the start.
    pub credits: Credits,
    /// Its host cache, of the size that its page prints.
    pub cache: HostCacheTiers,
    /// Its volumes: those of data disks and the temporary disk.
    pub volumes: Vec<Volume>,
}

/// What a host cache is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCacheTiers {
    /// Latency of the host's local SSD, which holds all of the cache.
    pub latency: LatencyChoice,
    /// The host's memory before it; `None`: the cache is one tier.
    pub memory: Option<MemoryTier>,
}

/// The part of a host cache that lies in the host's memory too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryTier {
    /// Bytes that it holds; at most those of the cache.
    pub size: Bytes,
    /// Latency of a read that it serves.
    pub latency: LatencyChoice,
}

impl Vm {
    /// The time whose pages its figures come from.
    pub fn era(&self) -> Era {
        self.size.era
    }
}

/// A volume of equal disks.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Unique within its machine.
    pub name: String,
    /// How paths find it.
    pub mount: Mount,
    /// Each of the disks it is made of.
    pub disk: DiskSpec,
    /// How many of them; at least 1.
    pub disk_count: u32,
    /// Disks that stripe units alternate over; divides `disk_count`.
    pub columns: u32,
    /// Bytes that go to one disk before the next.
    pub stripe_unit: Bytes,
    /// Host caching of its disks.
    pub caching: HostCaching,
    /// What the host cache holds at the start.
    pub cache_start: CacheStart,
    /// Whether its disks burst.
    pub burst: Burst,
    /// How full each disk's credit buckets are at the start.
    pub credits: Credits,
    /// What it is for.
    pub role: Role,
    /// Latency of its disks' media.
    pub latency: LatencyChoice,
    /// Where the design file describes it.
    pub place: Location,
}

/// What a volume's bytes lie on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// Managed disks, attached over the provider's network.
    Disks,
    /// The machine's own temporary disk, which shares the cached budget and forgets everything when the machine moves.
    Temp,
}

/// One disk with the limits it has been given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSpec {
    /// Name in design files: `P30`, `premium-v2`, `ultra`, `temp`.
    pub name: String,
    /// The product.
    pub kind: DiskKind,
    /// The time whose pages its figures come from.
    pub era: Era,
    /// Capacity.
    pub size: Bytes,
    /// Limits without bursting; an absent one is no limit of the disk's own.
    pub limits: Limits,
    /// Bytes written a second, where they have a limit of their own (temporary disks of some sizes).
    pub write_bandwidth: Option<BytesPerSec>,
    /// Highest rates while bursting, in the mode that the product offers; empty where it offers none.
    pub burst_limits: Limits,
    /// Seconds that full buckets last at the highest rates; `None`: no buckets (no bursting, or on demand).
    pub bucket_seconds: Option<u32>,
    /// An I/O of more bytes counts as several, one for each unit begun; `None`: every I/O counts once.
    pub io_unit: Option<Bytes>,
    /// Whether the option "performance plus" gave it its limits.
    pub performance_plus: bool,
    /// Where its figures, or their formula, were read.
    pub source: &'static Source,
}

/// Host-cache modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCaching {
    /// None.
    None,
    /// Reads are cached; writes go to cache and disk.
    ReadOnly,
    /// Reads are cached; writes complete in the cache and reach the disk later, or when flushed.
    ReadWrite,
}

/// What a host cache holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheStart {
    /// Nothing.
    #[default]
    Cold,
    /// The workload's target blocks in order of first mention, up to capacity.
    Warm,
}

/// What a volume is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The operating system.
    Os,
    /// Data.
    #[default]
    Data,
    /// A log.
    Log,
}

impl Volume {
    /// Bytes it holds: with stripes, whole stripe units alone.
    pub fn capacity(&self) -> Bytes {
        let unit = if self.columns > 1 {
            self.stripe_unit.get()
        } else {
            1
        };
        let per_disk = self.disk.size.get() / unit * unit;
        Bytes::new(per_disk * u64::from(self.disk_count))
    }

    /// What its bytes lie on.
    pub fn media(&self) -> Media {
        match self.disk.kind {
            DiskKind::Temporary => Media::Temp,
            _ => Media::Disks,
        }
    }
}
