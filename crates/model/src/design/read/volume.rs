//! One volume of a machine.

use fathom_catalog::{BurstMode, Catalog, Disk, Limits, VmSize};
use fathom_diagnostics::nearest;
use fathom_units::Bytes;

use super::entry::{At, Complaints, Entry, not_built};
use super::names::expand;
use super::{mount_of, read_burst, read_latency, read_mount, rules, too_many};
use crate::design::{
    Burst, CacheStart, Credits, DiskSpec, HostCaching, LatencyChoice, LatencyOrigin, Role, Volume,
};

const KNOWN: [&str; 12] = [
    "name",
    "mount",
    "drive",
    "disks",
    "columns",
    "stripe_unit",
    "caching",
    "cache",
    "role",
    "burst",
    "credits",
    "latency",
];

/// Most disks of one volume; the largest machines take 64.
const MOST_DISKS: u64 = 256;

/// Reads one volume (several, where its name has a range) into `volumes`.
pub(super) fn read(
    entry: Entry<'_>,
    size: Option<&'static VmSize>,
    catalog: &Catalog,
    volumes: &mut Vec<Volume>,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, &["raid"], complaints);
    read_burst(&entry, complaints);
    let name = entry.required_text("name", "name = \"data\"", complaints);
    let mount = read_mount(&entry, complaints);
    let disks = read_disks(&entry, size, catalog, complaints);
    let caching = read_caching(&entry, complaints);
    let starts = [("cold", CacheStart::Cold), ("warm", CacheStart::Warm)];
    let cache = entry.word("cache", &starts, &[], complaints);
    let roles = [("os", Role::Os), ("data", Role::Data), ("log", Role::Log)];
    let role = entry.word("role", &roles, &[], complaints);
    let latency = read_latency(&entry, complaints);
    let stripe_unit = read_stripe_unit(&entry, complaints);
    check_cache_start(cache.as_ref(), caching.as_ref(), complaints);
    let Some((disk, count)) = disks else { return };
    let columns = read_columns(&entry, count.value, complaints);
    if let (Some(size), Some(caching)) = (size, &caching) {
        rules::check_caching(size, disk, caching, catalog, complaints);
    }
    let (Some(name), Some(mount), Some(caching)) = (name, mount, caching) else {
        return;
    };
    for [name, mount] in expand([&name, &mount], complaints) {
        if too_many(volumes.len() + 1, &entry, complaints) {
            return;
        }
        let Some(mount) = mount_of(&mount, &entry, complaints) else {
            continue;
        };
        if volumes
            .iter()
            .any(|other| other.name == name || other.mount == mount)
        {
            let message = format!("the name `{name}` or the mount `{mount}` is taken");
            complaints.error(&entry.span(), message, "both are unique within a machine");
        }
        volumes.push(Volume {
            name,
            mount,
            disk: spec(disk, catalog),
            disk_count: count.value as u32,
            columns: columns as u32,
            stripe_unit,
            caching: caching.value,
            cache_start: cache.as_ref().map_or(CacheStart::Cold, |cache| cache.value),
            burst: match &disk.burst {
                Some(burst) if burst.mode == BurstMode::Credits => Burst::Credits,
                _ => Burst::Off,
            },
            credits: Credits::FULL,
            role: role.as_ref().map_or(Role::Data, |role| role.value),
            latency: latency
                .clone()
                .unwrap_or_else(|| catalog_latency(disk, catalog)),
        });
    }
}

/// Columns of `disks` disks: all of them, where the file says nothing.
fn read_columns(entry: &Entry<'_>, disks: u64, complaints: &mut Complaints<'_>) -> u64 {
    let Some(columns) = entry.number("columns", 1..=disks, complaints) else {
        return disks;
    };
    if !disks.is_multiple_of(columns.value) {
        let message = format!("{disks} disks do not divide into {} columns", columns.value);
        complaints.error(
            &columns.span,
            message,
            "choose a number that divides the disks",
        );
    }
    columns.value
}

fn read_disks(
    entry: &Entry<'_>,
    size: Option<&'static VmSize>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<(&'static Disk, At<u64>)> {
    if !entry.has("disks") {
        entry.missing("disks", "disks = { type = \"P30\", count = 2 }", complaints);
    }
    let disks = entry.table("disks", "`disks`", complaints)?;
    disks.check_keys(
        &["type", "count"],
        &["size", "iops", "bandwidth"],
        complaints,
    );
    let kind = disks.required_text("type", "type = \"P30\"", complaints);
    let count = if disks.has("count") {
        disks.number("count", 1..=MOST_DISKS, complaints)
    } else {
        Some(At {
            value: 1,
            span: disks.span(),
        })
    };
    let (kind, size) = (kind?, size?);
    match catalog.disk(size.era, kind.value) {
        Ok(disk) => {
            rules::check_premium(size, disk, &kind, complaints);
            Some((disk, count?))
        }
        Err(error) => {
            let adjustable = catalog.adjustable_disks().iter().map(|row| row.kind.name());
            if nearest(kind.value, adjustable.clone()).is_some() {
                not_built(kind.value, &kind.span, complaints);
            } else {
                let hint = error.hint().unwrap_or_default();
                complaints.error(&kind.span, error.to_string(), &hint);
            }
            None
        }
    }
}

/// What a cache holds at the start has a meaning only where there is one.
fn check_cache_start(
    cache: Option<&At<CacheStart>>,
    caching: Option<&At<HostCaching>>,
    complaints: &mut Complaints<'_>,
) {
    if let (Some(cache), Some(caching)) = (cache, caching)
        && caching.value == HostCaching::None
    {
        let message = "`cache` says what a host cache holds, but `caching` is `none`";
        complaints.error(
            &cache.span,
            message,
            "leave `cache` out, or cache the volume",
        );
    }
}

fn read_caching(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<At<HostCaching>> {
    if !entry.has("caching") {
        let message =
            "a volume needs `caching`: the provider's own documents disagree on the default";
        complaints.error(
            &entry.span(),
            message,
            "add `caching = \"none\"` or `\"read-only\"`",
        );
        return None;
    }
    let modes = [
        ("none", HostCaching::None),
        ("read-only", HostCaching::ReadOnly),
    ];
    entry.word("caching", &modes, &["read-write"], complaints)
}

fn read_stripe_unit(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Bytes {
    let default = Bytes::kib(64);
    let Some(unit) = entry.quantity::<Bytes>("stripe_unit", complaints) else {
        return default;
    };
    if unit.value < Bytes::kib(4)
        || unit.value > Bytes::mib(64)
        || !unit.value.get().is_power_of_two()
    {
        let message = "`stripe_unit` must be a power of two from 4 KiB to 64 MiB";
        complaints.error(&unit.span, message, "64KiB suits databases");
        return default;
    }
    unit.value
}

fn catalog_latency(disk: &Disk, catalog: &Catalog) -> LatencyChoice {
    catalog
        .media_latency(disk.kind.name())
        .map_or(LatencyChoice::None, |row| {
            let origin = if row.assumed {
                LatencyOrigin::Assumed
            } else {
                LatencyOrigin::Published
            };
            LatencyChoice::LogNormal {
                median: row.median,
                p99: row.p99,
                origin,
            }
        })
}

fn spec(disk: &'static Disk, catalog: &Catalog) -> DiskSpec {
    let burst = disk.burst.as_ref();
    DiskSpec {
        name: disk.name.to_owned(),
        kind: disk.kind,
        era: disk.era,
        size: disk.size,
        limits: disk.limits,
        write_bandwidth: None,
        burst_limits: burst.map_or_else(Limits::default, |burst| burst.limits),
        bucket_seconds: burst.and_then(|burst| burst.seconds),
        io_unit: catalog.io_unit(disk.kind),
        performance_plus: false,
        source: &disk.source,
    }
}
