//! `size`, `iops` and `bandwidth` of a share: what its model gives, and what its buyer may set.

use fathom_catalog::{Limits, ShareModel, Sold};
use fathom_units::{Bytes, BytesPerSec, Iops};

use super::values::{read_bandwidth, read_iops};
use crate::design::figures;
use fathom_tables::{At, Complaints, Entry};

const MIB: u64 = 1 << 20;

/// What a share has been given.
pub(super) struct Provisioned {
    pub size: Bytes,
    pub limits: Limits,
    /// `None` where it does not burst, or has nothing left to burst to.
    pub burst_iops: Option<Iops>,
}

/// Reads the three keys; `None` where something is wrong.
pub(super) fn read(
    entry: &Entry<'_>,
    model: Option<&ShareModel>,
    complaints: &mut Complaints<'_>,
) -> Option<Provisioned> {
    let iops = read_iops(entry, complaints);
    let bandwidth = read_bandwidth(entry, complaints);
    let model = model?;
    let size = read_size(entry, model, complaints)?;
    if model.sold != Sold::AsBought {
        let why = match model.sold {
            Sold::BySize => "cannot be set: the size gives the limits of such a share",
            Sold::AsUsed | Sold::AsBought => {
                "cannot be set: such a share has the limits of its storage account"
            }
        };
        let hint = "leave it out, or choose `ssd-v2` or `hdd-v2`";
        entry.refuse_keys(&["iops", "bandwidth"], why, hint, complaints);
        return Some(with(model, size, figures::share_iops(model, size), None));
    }
    let fits = iops
        .as_ref()
        .is_none_or(|iops| iops_are_sold(model, iops, complaints))
        & bandwidth
            .as_ref()
            .is_none_or(|rate| rate_is_sold(model, rate, complaints));
    let wrong =
        (entry.has("iops") && iops.is_none()) || (entry.has("bandwidth") && bandwidth.is_none());
    if !fits || wrong {
        return None;
    }
    let iops = iops.map_or_else(|| figures::share_iops(model, size), |iops| iops.value);
    Some(with(model, size, iops, bandwidth.map(|rate| rate.value)))
}

fn with(
    model: &ShareModel,
    size: Bytes,
    iops: Iops,
    bandwidth: Option<BytesPerSec>,
) -> Provisioned {
    let bandwidth = bandwidth.unwrap_or_else(|| figures::share_bandwidth(model, size));
    let burst = figures::share_burst(model, size, iops);
    Provisioned {
        size,
        limits: Limits {
            iops: Some(iops),
            bandwidth: Some(bandwidth),
        },
        burst_iops: burst.filter(|burst| *burst > iops),
    }
}

fn read_size(
    entry: &Entry<'_>,
    model: &ShareModel,
    complaints: &mut Complaints<'_>,
) -> Option<Bytes> {
    if !entry.has("size") {
        if model.sold == Sold::AsUsed {
            return Some(model.max_size);
        }
        entry.missing("size", "size = \"1TiB\"", complaints);
    }
    let size = entry.quantity::<Bytes>("size", complaints)?;
    let whole = size.value.get().is_multiple_of(1 << 30);
    if !whole || size.value < model.min_size || size.value > model.max_size {
        let message = format!(
            "a share `{}` has a size in whole GiB from {} to {}",
            model.name, model.min_size, model.max_size
        );
        complaints.error(&size.span, message, "choose such a size");
        return None;
    }
    Some(size.value)
}

fn iops_are_sold(model: &ShareModel, iops: &At<Iops>, complaints: &mut Complaints<'_>) -> bool {
    let least = model.min_iops.unwrap_or_default();
    let sold = iops.value >= least && iops.value <= model.max_iops;
    if !sold {
        let message = format!(
            "a share `{}` can be given {least} to {}",
            model.name, model.max_iops
        );
        complaints.error(&iops.span, message, "choose a number within");
    }
    sold
}

fn rate_is_sold(
    model: &ShareModel,
    rate: &At<BytesPerSec>,
    complaints: &mut Complaints<'_>,
) -> bool {
    let least = model.min_mibps.unwrap_or_default();
    let mibps = rate.value.get() / MIB;
    let whole = rate.value.get().is_multiple_of(MIB);
    let sold = whole && mibps >= least && mibps <= model.max_mibps;
    if !sold {
        let message = format!(
            "a share `{}` can be given whole MiB/s from {least} to {}",
            model.name, model.max_mibps
        );
        complaints.error(&rate.span, message, "write such as `200MiB/s`");
    }
    sold
}
