//! `disks = { … }`: which disks a volume is made of, and with which limits.

use std::fmt::Display;

use fathom_catalog::{
    AdjustableDisk, BurstMode, Catalog, CatalogError, Disk, DiskKind, Era, Limits, VmSize,
};
use fathom_diagnostics::nearest;
use fathom_units::{Bytes, BytesPerSec, Iops, group_digits};

use super::rules;
use super::values::{Offer, read_bandwidth, read_iops};
use super::vm::Host;
use crate::design::{Burst, DiskSpec, figures};
use fathom_tables::{At, Complaints, Entry};

/// Most disks of one volume; the largest machines take 64.
const MOST_DISKS: u64 = 256;

/// Names in design files of the disks whose limits the buyer sets.
const ADJUSTABLE: [(&str, DiskKind); 2] = [
    ("premium-v2", DiskKind::PremiumSsdV2),
    ("ultra", DiskKind::Ultra),
];

/// Keys that the buyer of such a disk sets.
const SET_KEYS: [&str; 3] = ["size", "iops", "bandwidth"];

/// Disks of a volume.
pub(super) struct Disks {
    /// Each of them.
    pub spec: DiskSpec,
}

impl Disks {
    /// What bursting they may have.
    pub fn offer(&self) -> Offer {
        let spec = &self.spec;
        let mode = match (spec.burst_limits.is_empty(), spec.bucket_seconds) {
            (true, _) => Burst::Off,
            (false, Some(_)) => Burst::Credits,
            (false, None) => Burst::OnDemand,
        };
        let plus = if spec.performance_plus {
            " with performance plus"
        } else {
            ""
        };
        // Rows of older pages have no bursting where today's do.
        let era = if spec.era == Era::CURRENT {
            String::new()
        } else {
            format!(" of era `{}`", spec.era)
        };
        Offer {
            what: format!("`{}`{era}{plus}", spec.name),
            mode,
        }
    }
}

/// Reads the disks of a volume on a machine: how many, and of which kind. Either may be wrong and the other right.
pub(super) fn read(
    entry: &Entry<'_>,
    host: Host,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> (Option<At<u64>>, Option<Disks>) {
    if !entry.has("disks") {
        entry.missing("disks", "disks = { type = \"P30\", count = 2 }", complaints);
    }
    let Some(disks) = entry.table("disks", "`disks`", complaints) else {
        return (None, None);
    };
    let known = [
        "type",
        "count",
        "size",
        "iops",
        "bandwidth",
        "performance_plus",
    ];
    disks.check_keys(&known, complaints);
    let kind = disks.required_text("type", "type = \"P30\"", complaints);
    let count = if disks.has("count") {
        disks.number("count", 1..=MOST_DISKS, complaints)
    } else {
        let span = disks.span();
        Some(At { value: 1, span })
    };
    let spec = kind.and_then(|kind| read_kind(&disks, &kind, host, catalog, complaints));
    (count, spec.map(|spec| Disks { spec }))
}

/// The disk that `kind` names.
fn read_kind(
    disks: &Entry<'_>,
    kind: &At<&str>,
    host: Host,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<DiskSpec> {
    let mut spec = match ADJUSTABLE.iter().find(|(name, _)| *name == kind.value) {
        Some((name, product)) => {
            let rows = catalog.adjustable_disks();
            let row = rows.iter().find(|row| row.kind == *product)?;
            adjustable(disks, name, row, catalog, complaints)?
        }
        None => named(disks, kind, host.era, catalog, complaints)?,
    };
    if let Some(size) = host.size {
        rules::check_premium(size, &spec, &kind.span, complaints);
        rules::cap_data_disk(size, &mut spec, &kind.span, complaints);
    }
    Some(spec)
}

/// A disk whose name gives its limits.
fn named(
    disks: &Entry<'_>,
    kind: &At<&str>,
    era: Era,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<DiskSpec> {
    let disk = match catalog.disk(era, kind.value) {
        Ok(disk) => disk,
        Err(error) => {
            let hint = hint_of(&error, kind.value);
            complaints.error(&kind.span, error.to_string(), &hint);
            return None;
        }
    };
    let why = format!(
        "cannot be set: the limits of `{}` come with its name",
        disk.name
    );
    let hint = "leave it out, or choose `premium-v2` or `ultra`";
    disks.refuse_keys(&SET_KEYS, &why, hint, complaints);
    let plus = disks.truth("performance_plus", complaints);
    let wants_plus = plus.as_ref().is_some_and(|plus| plus.value);
    if let Some(plus) = plus.filter(|plus| plus.value && disk.performance_plus.is_empty()) {
        let message = format!(
            "`{}` of era `{}` has no performance plus: it is for premium and standard SSDs above 512 GiB",
            disk.name, disk.era
        );
        complaints.error(&plus.span, message, "leave `performance_plus` out");
        return None;
    }
    // No page prints how disks with performance plus burst.
    let burst = disk.burst.as_ref().filter(|_| !wants_plus);
    Some(DiskSpec {
        name: disk.name.to_owned(),
        kind: disk.kind,
        era: disk.era,
        size: disk.size,
        limits: limits_of(disk, wants_plus),
        write_bandwidth: None,
        burst_limits: burst.map_or_else(Limits::default, |burst| burst.limits),
        bucket_seconds: burst
            .filter(|burst| burst.mode == BurstMode::Credits)
            .and_then(|burst| burst.seconds),
        io_unit: catalog.io_unit(disk.kind),
        performance_plus: wants_plus,
        source: &disk.source,
    })
}

fn limits_of(disk: &Disk, performance_plus: bool) -> Limits {
    if performance_plus {
        disk.performance_plus
    } else {
        disk.limits
    }
}

fn hint_of(error: &CatalogError, name: &str) -> String {
    let adjustable = ADJUSTABLE.iter().map(|(name, _)| *name);
    let meant = adjustable
        .clone()
        .find(|known| known.replace('-', "") == name.replace(['-', '_', ' '], "").to_lowercase());
    let meant = meant.or_else(|| {
        let products = ["premium_ssd_v2", "premiumv2", "ultra_ssd", "ultra-disk"];
        let near = nearest(name, products)?;
        Some(if near.starts_with("ultra") {
            ADJUSTABLE[1].0
        } else {
            ADJUSTABLE[0].0
        })
    });
    match (error.hint(), meant) {
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (Some(hint), None) => hint,
        (None, None) => "`fathom catalog list` prints every disk".to_owned(),
    }
}

/// A disk whose limits the buyer sets within bounds.
fn adjustable(
    disks: &Entry<'_>,
    name: &str,
    row: &'static AdjustableDisk,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<DiskSpec> {
    let why = format!("is no option of `{name}`, whose limits are set as they are wanted");
    let hint = "leave it out, and set `iops` and `bandwidth`";
    disks.refuse_keys(&["performance_plus"], &why, hint, complaints);
    if !disks.has("size") {
        disks.missing("size", "size = \"1TiB\"", complaints);
    }
    let needed = if row.kind == DiskKind::Ultra {
        &SET_KEYS[1..]
    } else {
        &[]
    };
    for key in needed.iter().filter(|key| !disks.has(key)) {
        let example = if *key == "iops" {
            "iops = 20000"
        } else {
            "bandwidth = \"600MB/s\""
        };
        disks.missing(key, example, complaints);
    }
    let size = disks.quantity::<Bytes>("size", complaints);
    let iops = read_iops(disks, complaints);
    let bandwidth = read_bandwidth(disks, complaints);
    let size = size.filter(|size| size_is_sold(name, row, size, complaints))?;
    let default = row.min.iops.unwrap_or_default();
    let iops_set = iops.as_ref().map_or(default, |iops| iops.value);
    let iops_fit = iops.is_none_or(|iops| iops_are_sold(name, row, size.value, &iops, complaints));
    let default = row.min.bandwidth.unwrap_or_default();
    let rate_set = bandwidth.as_ref().map_or(default, |rate| rate.value);
    let rate_fits =
        bandwidth.is_none_or(|rate| rate_is_sold(name, row, iops_set, &rate, complaints));
    (iops_fit && rate_fits).then(|| DiskSpec {
        name: name.to_owned(),
        kind: row.kind,
        era: Era::CURRENT,
        size: size.value,
        limits: Limits {
            iops: Some(iops_set),
            bandwidth: Some(rate_set),
        },
        write_bandwidth: None,
        burst_limits: Limits::default(),
        bucket_seconds: None,
        io_unit: catalog.io_unit(row.kind),
        performance_plus: false,
        source: &row.source,
    })
}

fn size_is_sold(
    name: &str,
    row: &AdjustableDisk,
    size: &At<Bytes>,
    complaints: &mut Complaints<'_>,
) -> bool {
    let (least, most) = (row.min_size, row.max_size);
    let whole = size.value.get().is_multiple_of(1 << 30);
    let sold = whole && size.value >= least && size.value <= most;
    if !sold {
        let message = format!("`{name}` is sold in whole GiB from {least} to {most}");
        complaints.error(&size.span, message, "choose such a size");
    }
    sold
}

fn iops_are_sold(
    name: &str,
    row: &AdjustableDisk,
    size: Bytes,
    iops: &At<Iops>,
    complaints: &mut Complaints<'_>,
) -> bool {
    let least = row.min.iops.unwrap_or_default();
    let most = figures::most_iops(row, size);
    let sold = iops.value >= least && iops.value <= most;
    if !sold {
        let message = format!(
            "`{name}` of {size} can be given {}: at most {} for each GiB, and {} in all",
            span_of(least, most),
            group_digits(row.iops_per_gib),
            row.max.iops.unwrap_or_default()
        );
        let hint = if iops.value < least {
            format!("set at least {least}")
        } else {
            "set fewer IOPS, or a larger size".to_owned()
        };
        complaints.error(&iops.span, message, &hint);
    }
    sold
}

fn rate_is_sold(
    name: &str,
    row: &AdjustableDisk,
    iops: Iops,
    rate: &At<BytesPerSec>,
    complaints: &mut Complaints<'_>,
) -> bool {
    let least = row.min.bandwidth.unwrap_or_default();
    let most = figures::most_bandwidth(row, iops);
    let sold = rate.value >= least && rate.value <= most;
    if !sold {
        let message = format!(
            "`{name}` of {iops} can be given {}: at most 0.25 MB/s for each of its IOPS, and {} in all",
            span_of(least, most),
            row.max.bandwidth.unwrap_or_default()
        );
        let hint = if rate.value < least {
            format!("set at least {least}")
        } else {
            "set less bandwidth, or more IOPS".to_owned()
        };
        complaints.error(&rate.span, message, &hint);
    }
    sold
}

/// From `least` to `most`, or that one figure.
fn span_of<T: Copy + Display + PartialEq>(least: T, most: T) -> String {
    if least == most {
        format!("{least} alone")
    } else {
        format!("{least} to {most}")
    }
}

/// The temporary disk of a machine size; `None` where it has none.
pub(super) fn temporary(size: &'static VmSize) -> Option<DiskSpec> {
    Some(DiskSpec {
        name: "temp".to_owned(),
        kind: DiskKind::Temporary,
        era: size.era,
        size: size.temporary_disk?,
        limits: size.temporary,
        write_bandwidth: size.temporary_write,
        burst_limits: Limits::default(),
        bucket_seconds: None,
        io_unit: None,
        performance_plus: false,
        source: &size.source,
    })
}
