//! What would have to change for a limit to grow.

use fathom_catalog::{Catalog, Disk, Limits, Sold, VmSize};
use fathom_model::figures;
use fathom_units::{BytesPerSec, Iops, group_digits};

use crate::candidate::{Choice, Disks};
use crate::limits::Meter;
use crate::line::Unit;
use crate::network::{NfsVolumes, SmbShares};

/// More of what disks of one machine give; `free` slots of it are taken by no disk yet.
pub fn disks(disks: &Disks, (vm, free): (&VmSize, u32), unit: Unit, catalog: &Catalog) -> String {
    let larger = match disks.kind {
        Choice::Named(disk) => larger_disk(&disks.kind, disk, (vm, unit), catalog),
        Choice::Plus(disk) => larger_disk(&disks.kind, disk, (vm, unit), catalog)
            .map(|larger| format!("{larger}, with performance plus")),
        Choice::Set { .. } => may_have_more(&disks.kind, unit, catalog)
            .then(|| format!("{} bought for each disk", bought(unit))),
    };
    let more = disks.count + 1;
    match (free, larger) {
        (1.., Some(larger)) => format!("{more} disks in place of {}, or {larger}", disks.count),
        (1.., None) => format!("{more} disks in place of {}", disks.count),
        (0, Some(larger)) => format!("{larger}, or a machine that takes more disks"),
        (0, None) => "a machine that takes more disks".to_owned(),
    }
}

/// The smallest disk of the same product that gives more of a unit.
fn larger_disk(
    bought: &Choice,
    own: &Disk,
    (vm, unit): (&VmSize, Unit),
    catalog: &Catalog,
) -> Option<String> {
    let gives = |disk: &'static Disk| {
        let so = if bought.has_plus() {
            Choice::Plus(disk)
        } else {
            Choice::Named(disk)
        };
        match unit {
            Unit::Capacity => disk.size.get(),
            _ if bought.has_plus() && disk.performance_plus.is_empty() => 0,
            Unit::Iops => so.iops(vm),
            _ => so.bandwidth(),
        }
    };
    let own = catalog.disk(vm.era, own.name).ok()?;
    let alike = catalog.disks().iter().filter(|row| row.kind == own.kind);
    let alike = alike.filter_map(|row| catalog.disk(vm.era, row.name).ok());
    let alike = alike.filter(|disk| disk.kind == own.kind && gives(disk) > gives(own));
    let next = alike.min_by_key(|disk| (gives(disk), disk.size))?;
    Some(format!("{} in place of {}", next.name, own.name))
}

/// Whether a disk whose limits the buyer sets is sold with more of a unit, the largest that there is.
fn may_have_more(disk: &Choice, unit: Unit, catalog: &Catalog) -> bool {
    let Choice::Set {
        kind,
        size,
        iops,
        bandwidth,
        ..
    } = disk
    else {
        return false;
    };
    let mut rows = catalog.adjustable_disks().iter();
    let row = rows.find(|row| row.kind == *kind);
    row.is_some_and(|row| {
        let most_iops = figures::most_iops(row, row.max_size);
        match unit {
            Unit::Iops => *iops < most_iops,
            Unit::Capacity => *size < row.max_size,
            _ => *bandwidth < figures::most_bandwidth(row, most_iops),
        }
    })
}

/// What is bought more of.
const fn bought(unit: Unit) -> &'static str {
    match unit {
        Unit::Iops => "more IOPS",
        Unit::Capacity => "more space",
        _ => "more bandwidth",
    }
}

/// More of what a volume over NFS gives.
pub fn quota(volumes: &NfsVolumes, unit: Unit, catalog: &Catalog) -> String {
    let rules = catalog.netapp_volume();
    let (largest, fastest) = if volumes.large {
        (rules.large_max_size, rules.large_max_bandwidth)
    } else {
        (rules.max_size, rules.max_bandwidth)
    };
    if unit == Unit::Capacity {
        return if volumes.quota < largest {
            format!("a larger quota, up to {largest}")
        } else {
            format!("another volume, since one holds {largest} at most")
        };
    }
    if volumes.bandwidth >= fastest {
        let mib = group_digits(fastest.get() >> 20);
        return format!("another volume, since one does {mib} MiB/s at most");
    }
    match volumes.level.bandwidth_per_tib {
        Some(per_tib) => format!(
            "a larger quota: each TiB gives {} MiB/s",
            per_tib.get() >> 20
        ),
        None => "more bandwidth assigned, out of a pool that has it".to_owned(),
    }
}

/// More I/Os in flight over NFS.
pub fn slots(volumes: &NfsVolumes, catalog: &Catalog) -> String {
    let most = catalog.nfs().max_connections;
    if volumes.connections < most {
        format!("up to {most} connections (`nconnect`)")
    } else {
        "more machines, or a shorter way to the storage".to_owned()
    }
}

/// More of what a share gives.
pub fn share(shares: &SmbShares, unit: Unit) -> String {
    const ANOTHER: &str = "another share in a storage account of its own";
    let model = shares.model;
    let (own, most, told) = match unit {
        Unit::Iops => {
            let most = model.max_iops;
            (shares.iops.get(), most.get(), most.to_string())
        }
        Unit::Capacity => {
            let most = model.max_size;
            (shares.size.get(), most.get(), most.to_string())
        }
        // What is written has a limit that grows with nothing.
        Unit::BinaryBandwidthWritten => return ANOTHER.to_owned(),
        _ => {
            let most = model.max_mibps;
            let told = format!("{} MiB/s", group_digits(most));
            (shares.bandwidth.get() >> 20, most, told)
        }
    };
    let what = match (model.sold, unit) {
        (Sold::AsBought, unit) => format!("{} bought", bought(unit)),
        (Sold::AsUsed, Unit::Capacity) => "a larger quota".to_owned(),
        (Sold::AsUsed, _) => return ANOTHER.to_owned(),
        (Sold::BySize, _) => "a larger share".to_owned(),
    };
    if own < most {
        format!("{what}, up to {told}; then another share")
    } else {
        ANOTHER.to_owned()
    }
}

/// More of a machine's channels.
pub fn channels(shares: &SmbShares, catalog: &Catalog) -> String {
    let most = catalog.share_channel().max_channels;
    if shares.channels < most && shares.model.media == fathom_catalog::ShareMedia::Ssd {
        format!("up to {most} channels, or more machines")
    } else {
        "more machines".to_owned()
    }
}

/// The next larger machine of the series.
pub fn machine(vm: &VmSize, (meter, unit): (Meter, Unit), catalog: &Catalog) -> String {
    let has = |vm: &VmSize| -> u64 {
        let of = |limits: &Limits| match unit {
            Unit::Iops => limits.iops.map_or(0, Iops::get),
            _ => limits.bandwidth.map_or(0, BytesPerSec::get),
        };
        match meter {
            Meter::Uncached => of(&vm.uncached),
            Meter::Cached => of(&vm.cached),
            Meter::Processors => u64::from(vm.vcpus),
            Meter::Memory => vm.memory.get(),
            Meter::Slots => u64::from(vm.max_data_disks),
            Meter::Writes | Meter::Reads => u64::from(vm.network_mbps.unwrap_or(0)),
        }
    };
    let own = has(vm);
    let alike = catalog.vms().iter();
    let alike = alike.filter(|other| other.era == vm.era && other.series == vm.series);
    let larger = alike.filter(|other| has(other) > own);
    let next = larger.min_by_key(|other| (has(other), other.vcpus));
    next.map_or_else(
        || "a machine of another series, for this is the largest; or more machines".to_owned(),
        |next| format!("{}, or more machines", next.name),
    )
}
