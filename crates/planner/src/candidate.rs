//! A design under consideration, and what it costs.

use fathom_catalog::{Disk, DiskKind, VmSize};
use fathom_model::HostCaching;
use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::Prices;

/// One machine and the disks of each of its volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The machine.
    pub vm: &'static VmSize,
    /// In the order of the need's volumes.
    pub volumes: Vec<Disks>,
}

/// The disks of one volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disks {
    /// Each of them.
    pub kind: Choice,
    /// How many; all are columns of one stripe.
    pub count: u32,
    /// Bytes of a stripe unit; means nothing for one disk.
    pub stripe_unit: Bytes,
    /// Host caching.
    pub caching: HostCaching,
}

/// A disk as it is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A size whose name gives its limits.
    Named(&'static Disk),
    /// A product whose limits the buyer sets.
    Set {
        /// The product.
        kind: DiskKind,
        /// Its name in designs.
        name: &'static str,
        /// Size.
        size: Bytes,
        /// I/Os a second.
        iops: Iops,
        /// Bytes a second.
        bandwidth: BytesPerSec,
    },
}

impl Choice {
    /// Its name in designs and price lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Named(disk) => disk.name,
            Self::Set { name, .. } => name,
        }
    }

    /// Its product.
    pub fn kind(&self) -> DiskKind {
        match self {
            Self::Named(disk) => disk.kind,
            Self::Set { kind, .. } => *kind,
        }
    }

    /// Its size.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Named(disk) => disk.size,
            Self::Set { size, .. } => *size,
        }
    }

    /// I/Os a second; on a machine that holds each standard disk to a number of its own, at most that.
    pub fn iops(&self, vm: &VmSize) -> u64 {
        let own = match self {
            Self::Named(disk) => disk.limits.iops.map_or(u64::MAX, Iops::get),
            Self::Set { iops, .. } => iops.get(),
        };
        let each = vm.data_disk_iops_each.filter(|_| !self.kind().is_premium());
        own.min(each.map_or(u64::MAX, Iops::get))
    }

    /// Bytes a second.
    pub fn bandwidth(&self) -> u64 {
        match self {
            Self::Named(disk) => disk.limits.bandwidth.map_or(u64::MAX, BytesPerSec::get),
            Self::Set { bandwidth, .. } => bandwidth.get(),
        }
    }
}

/// What designs are ranked by: prices, or where nobody gave any, what is provisioned.
///
/// It adds up: the cost of a design is that of its machine and of each volume's disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cost {
    /// Hundredths of the currency a month; 0 without prices.
    pub price: u64,
    /// Virtual processors.
    pub vcpus: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// I/Os a second provisioned at disks.
    pub iops: u64,
    /// Bytes provisioned at disks.
    pub capacity: u64,
    /// Disks.
    pub disks: u64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            price: self.price.saturating_add(other.price),
            vcpus: self.vcpus + other.vcpus,
            memory: self.memory + other.memory,
            iops: self.iops.saturating_add(other.iops),
            capacity: self.capacity.saturating_add(other.capacity),
            disks: self.disks + other.disks,
        }
    }
}

impl Cost {
    /// Cost of a machine; `None` where there is a price list without it.
    pub fn of_machine(vm: &VmSize, prices: Option<&Prices>) -> Option<Self> {
        let price = match prices {
            Some(prices) => prices.of(vm.name, 1)?,
            None => 0,
        };
        Some(Self {
            price,
            vcpus: u64::from(vm.vcpus),
            memory: vm.memory.get(),
            ..Self::default()
        })
    }

    /// Cost of one volume's disks; `None` where there is a price list without them.
    pub fn of_disks(disks: &Disks, vm: &VmSize, prices: Option<&Prices>) -> Option<Self> {
        let count = u64::from(disks.count);
        let price = match prices {
            Some(prices) => prices.of(disks.kind.name(), count)?,
            None => 0,
        };
        Some(Self {
            price,
            iops: disks.kind.iops(vm).saturating_mul(count),
            capacity: disks.kind.size().get().saturating_mul(count),
            disks: count,
            ..Self::default()
        })
    }

    /// Cost of the whole design; `None` where there is a price list without a part of it.
    pub fn of(candidate: &Candidate, prices: Option<&Prices>) -> Option<Self> {
        let machine = Self::of_machine(candidate.vm, prices)?;
        candidate.volumes.iter().try_fold(machine, |sum, disks| {
            Some(sum + Self::of_disks(disks, candidate.vm, prices)?)
        })
    }
}
