//! What would have to change for a limit to grow.

use fathom_catalog::{Catalog, Limits, Sold, VmSize};
use fathom_units::{BytesPerSec, Iops, group_digits};

use crate::candidate::{Choice, Disks};
use crate::limits::Meter;
use crate::line::Unit;
use crate::network::{NfsVolumes, SmbShares};

/// More of a machine's disks.
pub fn disks(disks: &Disks, vm: &VmSize) -> String {
    let more = match disks.kind {
        Choice::Named(_) => "a larger disk",
        Choice::Set { .. } => "more IOPS, bandwidth or space bought for each disk",
    };
    if disks.count < vm.max_data_disks {
        format!(
            "{} disks in place of {}, or {more}",
            disks.count + 1,
            disks.count
        )
    } else {
        format!("{more}, or a machine that takes more than {}", disks.count)
    }
}

/// More of a volume over NFS.
pub fn quota(volumes: &NfsVolumes, catalog: &Catalog) -> String {
    let rules = catalog.netapp_volume();
    let fastest = if volumes.large {
        rules.large_max_bandwidth
    } else {
        rules.max_bandwidth
    };
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

/// More of a share.
pub fn share(shares: &SmbShares) -> String {
    let what = match shares.model.sold {
        Sold::BySize => "a larger share",
        Sold::AsBought => "more IOPS, bandwidth or space bought",
        Sold::AsUsed => return "another share in a storage account of its own".to_owned(),
    };
    format!(
        "{what}, up to {} and {} MiB/s; then another share",
        shares.model.max_iops,
        group_digits(shares.model.max_mibps)
    )
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
