//! Disks and what is known by disk kind.

use fathom_units::{Bytes, Nanos};

use crate::{Era, Limits, Source};

/// The products that disks belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiskKind {
    /// Premium SSD.
    PremiumSsd,
    /// Premium SSD v2.
    PremiumSsdV2,
    /// Ultra disk.
    Ultra,
    /// Standard SSD.
    StandardSsd,
    /// Standard HDD.
    StandardHdd,
    /// A machine's own temporary disk.
    Temporary,
}

impl DiskKind {
    /// The name that facts and media-latency tiers use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PremiumSsd => "premium_ssd",
            Self::PremiumSsdV2 => "premium_ssd_v2",
            Self::Ultra => "ultra",
            Self::StandardSsd => "standard_ssd",
            Self::StandardHdd => "standard_hdd",
            Self::Temporary => "temporary",
        }
    }

    /// The product's name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::PremiumSsd => "premium SSD",
            Self::PremiumSsdV2 => "premium SSD v2",
            Self::Ultra => "ultra disk",
            Self::StandardSsd => "standard SSD",
            Self::StandardHdd => "standard HDD",
            Self::Temporary => "temporary disk",
        }
    }

    /// Whether it needs a machine that supports premium storage.
    pub const fn is_premium(self) -> bool {
        matches!(self, Self::PremiumSsd | Self::PremiumSsdV2 | Self::Ultra)
    }
}

/// How a disk goes above its own limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstMode {
    /// From credits saved below the limits; on by default where offered.
    Credits,
    /// Where it was enabled and is paid for, without end.
    OnDemand,
}

/// Burst figures of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// How it is earned.
    pub mode: BurstMode,
    /// Highest rates while it lasts.
    pub limits: Limits,
    /// Seconds that a full bucket lasts at the highest rate; `None`: without end.
    pub seconds: Option<u32>,
}

/// What has a credit bucket of a length that all of its kind share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstScope {
    /// A machine's cached and uncached budgets.
    Vm,
    /// A share.
    Share,
}

/// How long a full credit bucket lasts at the highest rate: it holds (burst limit − base) × seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BurstBucket {
    /// What has it.
    pub what: BurstScope,
    /// The seconds.
    pub seconds: u32,
    /// Where the rule was read.
    pub source: Source,
}

/// How bursting on demand is billed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDemandRules {
    /// Bytes above the base count as transactions of this size.
    pub unit: Bytes,
    /// Transactions that are billed together.
    pub billed_transactions: u64,
    /// Hours that it stays on at least.
    pub min_hours: u32,
    /// Where the rule was read.
    pub source: Source,
}

/// One disk size as one page prints it. Key: (`era`, `name`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// Which pages it was read from.
    pub era: Era,
    /// Name, such as `P30`.
    pub name: &'static str,
    /// Product it belongs to.
    pub kind: DiskKind,
    /// Capacity.
    pub size: Bytes,
    /// Limits without bursting.
    pub limits: Limits,
    /// Burst figures, where it can burst.
    pub burst: Option<Burst>,
    /// Limits with the option "performance plus".
    pub performance_plus: Limits,
    /// Whether the limits are provisioned; otherwise they are an upper bound.
    pub guaranteed: bool,
    /// Whether the host cache may be used.
    pub host_cacheable: bool,
    /// Where the row was read.
    pub source: Source,
}

/// Bounds of a disk whose limits are set by the buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdjustableDisk {
    /// Product.
    pub kind: DiskKind,
    /// Smallest size.
    pub min_size: Bytes,
    /// Largest size.
    pub max_size: Bytes,
    /// Limits that every size has.
    pub min: Limits,
    /// Limits that no size exceeds.
    pub max: Limits,
    /// Most I/Os a second for each GiB.
    pub iops_per_gib: u64,
    /// Most bytes a second for each I/O a second.
    pub bytes_per_io: u64,
    /// Where the row was read.
    pub source: Source,
}

/// Size above which an I/O counts as several at a disk: ceil(size / unit).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoUnit {
    /// Product.
    pub kind: DiskKind,
    /// The unit.
    pub unit: Bytes,
    /// Where the row was read.
    pub source: Source,
}

/// A printed design target of latency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyTarget {
    /// Product.
    pub kind: DiskKind,
    /// Upper bound.
    pub below: Nanos,
    /// Share of time it should hold, in hundredths of a percent, where printed.
    pub share_basis_points: Option<u32>,
    /// Where the row was read.
    pub source: Source,
}
