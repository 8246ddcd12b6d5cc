//! What an offer buys, part by part: what is provisioned of each, as it is ordered, and what it costs.

use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::candidate::{Candidate, Storage};
use crate::line::Unit;
use crate::need::Need;
use crate::{Cost, Prices};

/// One kind of thing to buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bought {
    /// What it is, and how much of it.
    pub what: String,
    /// What all of it costs a month, in millionths; `None` where there is no price list.
    pub price: Option<u64>,
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
            let what = format!("{}{of_each}", provisioned(storage, candidate));
            Self {
                what: volume.told(&what),
                price: price(
                    Cost::of_storage(storage, vm, prices),
                    if is_shared { 1 } else { machines },
                ),
            }
        });
        std::iter::once(computers).chain(storage).collect()
    }
}

/// Number and product, and size and limits of each.
fn provisioned(storage: &Storage, candidate: &Candidate) -> String {
    let (iops, rate) = match storage {
        Storage::Disks(disks) => (
            Some(disks.kind.iops(candidate.vm)),
            Some((Unit::Bandwidth, disks.kind.bandwidth())),
        ),
        Storage::Nfs(volumes) => (None, Some(binary(volumes.bandwidth))),
        Storage::Smb(shares) => (Some(shares.iops.get()), Some(binary(shares.bandwidth))),
    };
    // What no page prints is no figure of an order.
    let iops = iops.filter(|iops| *iops != u64::MAX);
    let rate = rate.filter(|(_, rate)| *rate != u64::MAX);
    let figures = [
        Some(of_size(storage.size())),
        iops.map(|iops| Iops::new(iops).to_string()),
        rate.map(|(unit, rate)| unit.figure(rate)),
    ];
    let figures: Vec<_> = figures.into_iter().flatten().collect();
    let raised = match storage {
        Storage::Disks(disks) if disks.on_demand => " bursting on demand",
        _ => "",
    };
    let each = if storage.count() == 1 {
        "of"
    } else {
        "each of"
    };
    let pool = match storage {
        Storage::Nfs(volumes) => format!(", in a capacity pool of {}", volumes.pool()),
        Storage::Disks(_) | Storage::Smb(_) => String::new(),
    };
    let (count, item) = (storage.count(), storage.item());
    format!(
        "{count} × {item}{raised}, {each} {}{pool}",
        figures.join(", ")
    )
}

fn binary(rate: BytesPerSec) -> (Unit, u64) {
    (Unit::BinaryBandwidth, rate.get())
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
