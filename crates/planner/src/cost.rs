//! What designs are ranked by.

use fathom_catalog::VmSize;

use crate::burst;
use crate::candidate::{Candidate, Choice, Disks, Storage};
use crate::network::{NfsVolumes, SmbShares};
use crate::{Per, Prices};

/// What designs are ranked by: prices, or where nobody gave any, what is provisioned.
///
/// It adds up: the cost of a design is that of its machines and of each volume's storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cost {
    /// Millionths of the currency a month; 0 without prices.
    pub price: u64,
    /// Virtual processors.
    pub vcpus: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// I/Os a second provisioned at disks and shares.
    pub iops: u64,
    /// Bytes a second provisioned at volumes and shares over the network.
    pub bandwidth: u64,
    /// Bytes provisioned.
    pub capacity: u64,
    /// Disks, volumes and shares.
    pub pieces: u64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            price: self.price.saturating_add(other.price),
            vcpus: self.vcpus + other.vcpus,
            memory: self.memory + other.memory,
            iops: self.iops.saturating_add(other.iops),
            bandwidth: self.bandwidth.saturating_add(other.bandwidth),
            capacity: self.capacity.saturating_add(other.capacity),
            pieces: self.pieces + other.pieces,
        }
    }
}

impl Cost {
    /// So many times the cost.
    #[must_use]
    pub const fn times(self, count: u32) -> Self {
        let count = count as u64;
        Self {
            price: self.price.saturating_mul(count),
            vcpus: self.vcpus * count,
            memory: self.memory * count,
            iops: self.iops.saturating_mul(count),
            bandwidth: self.bandwidth.saturating_mul(count),
            capacity: self.capacity.saturating_mul(count),
            pieces: self.pieces * count,
        }
    }

    /// Cost of a machine; `None` where there is a price list without it.
    pub fn of_machine(vm: &VmSize, prices: Option<&Prices>) -> Option<Self> {
        let price = match prices {
            Some(prices) => prices.of(vm.name, &[(Per::Each, 1)])?,
            None => 0,
        };
        Some(Self {
            price,
            vcpus: u64::from(vm.vcpus),
            memory: vm.memory.get(),
            ..Self::default()
        })
    }

    /// Cost of what carries one volume; of disks, those of one machine. `None` where there is a price list without it.
    pub fn of_storage(storage: &Storage, vm: &VmSize, prices: Option<&Prices>) -> Option<Self> {
        let one = match storage {
            Storage::Disks(disks) => of_disk(disks, vm, prices),
            Storage::Nfs(volumes) => return of_volumes(volumes, prices),
            Storage::Smb(shares) => of_share(shares, prices),
        };
        Some(one?.times(storage.count()))
    }

    /// Cost of the whole design; `None` where there is a price list without a part of it.
    pub fn of(candidate: &Candidate, prices: Option<&Prices>) -> Option<Self> {
        let machine = Self::of_machine(candidate.vm, prices)?.times(candidate.machines);
        candidate.volumes.iter().try_fold(machine, |sum, storage| {
            let cost = Self::of_storage(storage, candidate.vm, prices)?;
            let times = storage.disks().map_or(1, |_| candidate.machines);
            Some(sum + cost.times(times))
        })
    }
}

fn of_disk(disks: &Disks, vm: &VmSize, prices: Option<&Prices>) -> Option<Cost> {
    let size = disks.kind.size().get();
    let mut amounts = vec![(Per::Each, 1), (Per::Gib, size)];
    if let Choice::Set {
        iops, bandwidth, ..
    } = disks.kind
    {
        amounts.push((Per::Iops, iops.get()));
        amounts.push((Per::Mbps, bandwidth.get()));
    }
    let [iops, _] = burst::of_disk(disks, vm);
    let price = match prices {
        Some(prices) => {
            let paid = prices.of(disks.kind.name(), &amounts)?;
            let raised = if disks.on_demand {
                prices.on_demand(disks.kind.name())?
            } else {
                0
            };
            let plus = if disks.kind.has_plus() {
                prices.performance_plus(disks.kind.name())?
            } else {
                0
            };
            paid.saturating_add(raised).saturating_add(plus)
        }
        None => 0,
    };
    Some(Cost {
        price,
        iops: iops.steady,
        capacity: size,
        pieces: 1,
        ..Cost::default()
    })
}

/// Volumes and their pool: it is the pool that is paid for.
fn of_volumes(volumes: &NfsVolumes, prices: Option<&Prices>) -> Option<Cost> {
    let count = u64::from(volumes.count);
    let pool = volumes.pool().get();
    let bandwidth = volumes.bandwidth.get().saturating_mul(count);
    let mut amounts = vec![(Per::Each, 1), (Per::Gib, pool)];
    if volumes.is_assigned() {
        amounts.push((Per::Mibps, bandwidth));
    }
    let price = match prices {
        Some(prices) => prices.of(&volumes.item(), &amounts)?,
        None => 0,
    };
    Some(Cost {
        price,
        bandwidth,
        capacity: pool,
        pieces: count,
        ..Cost::default()
    })
}

fn of_share(shares: &SmbShares, prices: Option<&Prices>) -> Option<Cost> {
    let (size, iops) = (shares.size.get(), shares.iops.get());
    let bandwidth = shares.bandwidth.get();
    let mut amounts = vec![(Per::Each, 1), (Per::Gib, size)];
    if shares.is_set() {
        amounts.push((Per::Iops, iops));
        amounts.push((Per::Mibps, bandwidth));
    }
    let price = match prices {
        Some(prices) => prices.of(&shares.item(), &amounts)?,
        None => 0,
    };
    Some(Cost {
        price,
        iops,
        bandwidth,
        capacity: size,
        pieces: 1,
        ..Cost::default()
    })
}
