//! A design under consideration: machines, and what carries each volume.

use fathom_catalog::{Disk, DiskKind, VmSize};
use fathom_model::HostCaching;
use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::network::{NfsVolumes, SmbShares};

/// Equal machines, and the storage of each volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The machine.
    pub vm: &'static VmSize,
    /// How many; each does an equal part of the I/O.
    pub machines: u32,
    /// In the order of the need's volumes.
    pub volumes: Vec<Storage>,
}

/// What carries one volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Disks of each machine, for the machine's part of the I/O.
    Disks(Disks),
    /// Volumes over NFS that all machines mount.
    Nfs(NfsVolumes),
    /// Shares over SMB that all machines mount.
    Smb(SmbShares),
}

impl Storage {
    /// The disks, if it is made of such.
    pub const fn disks(&self) -> Option<&Disks> {
        match self {
            Self::Disks(disks) => Some(disks),
            Self::Nfs(_) | Self::Smb(_) => None,
        }
    }

    /// How many disks of each machine, or volumes, or shares.
    pub const fn count(&self) -> u32 {
        match self {
            Self::Disks(disks) => disks.count,
            Self::Nfs(volumes) => volumes.count,
            Self::Smb(shares) => shares.count,
        }
    }

    /// Its name on price lists.
    pub fn item(&self) -> String {
        match self {
            Self::Disks(disks) => disks.kind.name().to_owned(),
            Self::Nfs(volumes) => volumes.item(),
            Self::Smb(shares) => shares.item(),
        }
    }

    /// Size of each disk, volume or share.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Disks(disks) => disks.kind.size(),
            Self::Nfs(volumes) => volumes.quota,
            Self::Smb(shares) => shares.size,
        }
    }

    /// Number and product, such as `4 × P30`.
    pub fn title(&self) -> String {
        match self {
            Self::Disks(disks) => {
                let raised = disks.raised();
                format!("{} × {}{raised}", disks.count, disks.kind.name())
            }
            Self::Nfs(_) | Self::Smb(_) => {
                let size = quota(self.size());
                format!("{} × {} of {size}", self.count(), self.item())
            }
        }
    }
}

/// A quota, to a hundredth of a TiB where it is one or more.
fn quota(size: Bytes) -> String {
    let tib = 1_u64 << 40;
    if size.get() < tib || size.get().is_multiple_of(tib) {
        size.to_string()
    } else {
        format!("{:.2} TiB", size.get() as f64 / tib as f64)
    }
}

impl Candidate {
    /// Machines and storage in one line.
    pub fn title(&self) -> String {
        let storage: Vec<_> = self.volumes.iter().map(Storage::title).collect();
        let storage = storage.join(" and ");
        match self.machines {
            1 => format!("{} with {storage}", self.vm.name),
            several if self.volumes.iter().all(|it| it.disks().is_some()) => {
                format!("{several} × {} with {storage} each", self.vm.name)
            }
            several => format!("{several} × {} with {storage}", self.vm.name),
        }
    }
}

/// The disks of one volume on one machine.
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
    /// Whether they burst on demand, which is paid for.
    pub on_demand: bool,
}

impl Disks {
    /// What they have beyond the limits of their name, in words that follow it; empty: nothing.
    pub const fn raised(&self) -> &'static str {
        match (self.on_demand, self.kind.has_plus()) {
            (true, _) => " bursting on demand",
            (_, true) => " with performance plus",
            _ => "",
        }
    }
}

/// A disk as it is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A size whose name gives its limits.
    Named(&'static Disk),
    /// The same with the limits of the option "performance plus", which is chosen as a disk is created.
    Plus(&'static Disk),
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
    /// Whether it has the option "performance plus".
    pub const fn has_plus(&self) -> bool {
        matches!(self, Self::Plus(_))
    }

    /// Its name in designs and price lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.name,
            Self::Set { name, .. } => name,
        }
    }

    /// Its product.
    pub fn kind(&self) -> DiskKind {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.kind,
            Self::Set { kind, .. } => *kind,
        }
    }

    /// Whether its limits are provisioned; otherwise they are an upper bound.
    pub fn is_guaranteed(&self) -> bool {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.guaranteed,
            Self::Set { .. } => true,
        }
    }

    /// Its size.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Named(disk) | Self::Plus(disk) => disk.size,
            Self::Set { size, .. } => *size,
        }
    }

    /// I/Os a second; on a machine that holds each standard disk to a number of its own, at most that.
    pub fn iops(&self, vm: &VmSize) -> u64 {
        let own = match self {
            Self::Named(disk) => disk.limits.iops.map_or(u64::MAX, Iops::get),
            Self::Plus(disk) => disk.performance_plus.iops.map_or(u64::MAX, Iops::get),
            Self::Set { iops, .. } => iops.get(),
        };
        let each = vm.data_disk_iops_each.filter(|_| !self.kind().is_premium());
        own.min(each.map_or(u64::MAX, Iops::get))
    }

    /// Bytes a second.
    pub fn bandwidth(&self) -> u64 {
        match self {
            Self::Named(disk) => disk.limits.bandwidth.map_or(u64::MAX, BytesPerSec::get),
            Self::Plus(disk) => {
                let rate = disk.performance_plus.bandwidth;
                rate.map_or(u64::MAX, BytesPerSec::get)
            }
            Self::Set { bandwidth, .. } => bandwidth.get(),
        }
    }
}
