//! What an offer buys, part by part: what is provisioned of each, as it is ordered, and what it costs.

use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::candidate::{Candidate, Disks, Storage};
use crate::line::Unit;
use crate::need::Need;
use crate::{Cost, Prices};

/// One kind of thing to buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bought {
    /// What it is, and how much of it, in words.
    pub what: String,
    /// Name of the volume of the profile that it carries; `None`: the machines.
    pub volume: Option<String>,
    /// Its name on price lists.
    pub item: String,
    /// How many, on all machines together.
    pub count: u64,
    /// What each of them has; of machines nothing.
    pub each: Option<Provisioned>,
    /// What all of it costs a month, in millionths; `None` where there is no price list.
    pub price: Option<u64>,
}

/// What is ordered of each disk, volume or share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provisioned {
    /// Its size.
    pub size: Bytes,
    /// I/Os a second, where they are provisioned and printed.
    pub iops: Option<Iops>,
    /// Bytes a second, where they are printed, in the unit that they are sold in.
    pub bandwidth: Option<(Unit, BytesPerSec)>,
    /// Whether it bursts on demand.
    pub on_demand: bool,
    /// Whether it has the option "performance plus".
    pub performance_plus: bool,
    /// The capacity pool that all of them lie in together.
    pub pool: Option<Bytes>,
}

impl Bought {
    /// The machines, then the storage of each volume. Their prices add up to the offer's.
    pub fn of(need: &Need, candidate: &Candidate, prices: Option<&Prices>) -> Vec<Self> {
        let (vm, machines) = (candidate.vm, candidate.machines);
        let price = |cost: Option<Cost>, times: u32| {
            prices?;
            cost.map(|cost| cost.times(times).price)
        };
        let computers = Self {
            what: format!("{machines} × {}", vm.name),
            volume: None,
            item: vm.name.to_owned(),
            count: machines.into(),
            each: None,
            price: price(Cost::of_machine(vm, prices), machines),
        };
        let volumes = need.volumes.iter().zip(&candidate.volumes);
        let storage = volumes.map(|(volume, storage)| {
            let is_shared = storage.disks().is_none();
            let of_each = if is_shared || machines == 1 {
                ""
            } else {
                " on each machine"
            };
            let each = Provisioned::of(storage, candidate);
            let what = format!("{}{of_each}", each.words(storage));
            let times = if is_shared { 1 } else { machines };
            Self {
                what: volume.told(&what),
                volume: Some(volume.name.clone()),
                item: storage.item(),
                count: u64::from(storage.count()) * u64::from(times),
                each: Some(each),
                price: price(Cost::of_storage(storage, vm, prices), times),
            }
        });
        std::iter::once(computers).chain(storage).collect()
    }
}

impl Provisioned {
    fn of(storage: &Storage, candidate: &Candidate) -> Self {
        let (iops, bandwidth) = match storage {
            Storage::Disks(disks) => {
                let rate = BytesPerSec::new(disks.kind.bandwidth());
                let iops = disks.kind.iops(candidate.vm);
                (Some(iops), (Unit::Bandwidth, rate))
            }
            Storage::Nfs(volumes) => (None, (Unit::BinaryBandwidth, volumes.bandwidth)),
            Storage::Smb(shares) => {
                let rate = (Unit::BinaryBandwidth, shares.bandwidth);
                (Some(shares.iops.get()), rate)
            }
        };
        // What no page prints is no figure of an order.
        let iops = iops.filter(|iops| *iops != u64::MAX);
        Self {
            size: storage.size(),
            iops: iops.map(Iops::new),
            bandwidth: Some(bandwidth).filter(|(_, rate)| rate.get() != u64::MAX),
            on_demand: storage.disks().is_some_and(|disks| disks.on_demand),
            performance_plus: storage.disks().is_some_and(|disks| disks.kind.has_plus()),
            pool: match storage {
                Storage::Nfs(volumes) => Some(volumes.pool()),
                Storage::Disks(_) | Storage::Smb(_) => None,
            },
        }
    }

    /// Number and product, and size and limits of each.
    fn words(&self, storage: &Storage) -> String {
        let figures = [
            Some(of_size(self.size)),
            self.iops.map(|iops| iops.to_string()),
            self.bandwidth.map(|(unit, rate)| unit.figure(rate.get())),
        ];
        let figures: Vec<_> = figures.into_iter().flatten().collect();
        let raised = storage.disks().map_or("", Disks::raised);
        let each = if storage.count() == 1 {
            "of"
        } else {
            "each of"
        };
        let pool = self.pool.map_or_else(String::new, |pool| {
            format!(", in a capacity pool of {pool}")
        });
        let (count, item) = (storage.count(), storage.item());
        format!(
            "{count} × {item}{raised}, {each} {}{pool}",
            figures.join(", ")
        )
    }
}

/// A size in whole GiB, as it is ordered, where it is no whole number of TiB.
fn of_size(size: Bytes) -> String {
    let gib = 1_u64 << 30;
    if size.get() >= gib << 10 && !size.get().is_multiple_of(gib << 10) {
        format!(
            "{} GiB",
            fathom_units::group_digits(size.get().div_ceil(gib))
        )
    } else {
        size.to_string()
    }
}
