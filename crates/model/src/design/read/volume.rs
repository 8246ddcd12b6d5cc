//! One volume of a machine: data disks, or the temporary disk.

use fathom_catalog::{Catalog, VmSize};

use super::disks::{self, Disks};
use super::rules;
use super::seen::Seen;
use super::values::{catalog_latency, read_burst, read_latency, read_mount, read_stripe_unit};
use super::vm::Host;
use crate::design::{Burst, CacheStart, Credits, HostCaching, Role, Volume};
use fathom_tables::{At, Complaints, Entry};

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

/// Names of a machine's budgets in records.
const BUDGETS: [&str; 3] = ["cached", "uncached", "network"];

/// Reads one volume (several, where its name has a range) into `volumes`.
pub(super) fn read(
    entry: &Entry<'_>,
    host: Host,
    catalog: &Catalog,
    (seen, volumes): (&mut Seen, &mut Vec<Volume>),
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = volume_name(entry, "name = \"data\"", complaints);
    let mount = read_mount(entry, complaints);
    let roles = [("os", Role::Os), ("data", Role::Data), ("log", Role::Log)];
    let role = entry.word("role", &roles, complaints);
    let role = role.map_or(Role::Data, |role| role.value);
    let (count, disks) = disks::read(entry, host, catalog, complaints);
    let offer = disks.as_ref().map(Disks::offer);
    let (burst, credits) = read_burst(entry, offer.as_ref(), complaints);
    let caching = read_caching(entry, role, complaints);
    let starts = [("cold", CacheStart::Cold), ("warm", CacheStart::Warm)];
    let cache = entry.word("cache", &starts, complaints);
    let latency = read_latency(entry, complaints);
    let stripe_unit = read_stripe_unit(entry, complaints);
    let places = match (&name, &mount) {
        (Some(name), Some(mount)) => seen.places(entry, [name, mount], complaints),
        _ => Vec::new(),
    };
    let Some(count) = count.map(|count| count.value) else {
        return;
    };
    if role != Role::Os {
        let disks = count * places.len().max(1) as u64;
        seen.add_data_disks(entry, disks, host.size, complaints);
    }
    let columns = read_columns(entry, count, complaints);
    let Some(disks) = disks else { return };
    if role == Role::Os {
        let span = entry.span_of("disks");
        rules::check_system_disk(&disks.spec, count, &span, complaints);
    }
    let (Some(size), Some(caching)) = (host.size, caching) else {
        return;
    };
    let asked = caching.said.as_ref().map(|said| said.value);
    let caching = caching.settled(entry, size, &disks, catalog, complaints);
    let refused =
        asked.is_some_and(|asked| asked != HostCaching::None) && caching == HostCaching::None;
    // A caching that was refused is no `none` of the file's.
    if !refused {
        check_cache_start(cache.as_ref(), caching, complaints);
    }
    let latency = latency.unwrap_or_else(|| catalog_latency(disks.spec.kind.name(), catalog));
    let place = complaints.location(&entry.span());
    let made = places.into_iter().map(|(name, mount)| Volume {
        name,
        mount,
        disk: disks.spec.clone(),
        disk_count: count as u32,
        columns: columns as u32,
        stripe_unit,
        caching,
        cache_start: cache.as_ref().map_or(CacheStart::Cold, |cache| cache.value),
        burst,
        credits,
        role,
        latency: latency.clone(),
        place: place.clone(),
    });
    volumes.extend(made);
}

/// Reads the temporary disk of a machine into `volumes`.
pub(super) fn read_temporary(
    entry: &Entry<'_>,
    size: Option<&'static VmSize>,
    catalog: &Catalog,
    (seen, volumes): (&mut Seen, &mut Vec<Volume>),
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&["name", "mount", "drive", "latency"], complaints);
    let span = entry.span();
    let name = if entry.has("name") {
        volume_name(entry, "name = \"temp\"", complaints)
    } else {
        Some(At {
            value: "temp",
            span: span.clone(),
        })
    };
    let mount = read_mount(entry, complaints);
    let latency = read_latency(entry, complaints);
    let places = match (&name, &mount) {
        (Some(name), Some(mount)) => seen.places(entry, [name, mount], complaints),
        _ => Vec::new(),
    };
    let Some(size) = size else { return };
    let Some(disk) = disks::temporary(size) else {
        let message = format!("`{}` has no temporary disk", size.name);
        complaints.error(
            &span,
            message,
            "choose a size whose name has a `d`, or use a data disk",
        );
        return;
    };
    let latency = latency.unwrap_or_else(|| catalog_latency(disk.kind.name(), catalog));
    let place = complaints.location(&span);
    let made = places.into_iter().map(|(name, mount)| Volume {
        name,
        mount,
        stripe_unit: disk.size,
        disk: disk.clone(),
        disk_count: 1,
        columns: 1,
        caching: HostCaching::None,
        cache_start: CacheStart::Cold,
        burst: Burst::Off,
        credits: Credits::FULL,
        role: Role::Data,
        latency: latency.clone(),
        place: place.clone(),
    });
    volumes.extend(made);
}

/// The name of a volume, which stands beside its machine's budgets in a record.
fn volume_name<'t>(
    entry: &Entry<'t>,
    example: &str,
    complaints: &mut Complaints<'_>,
) -> Option<At<&'t str>> {
    let name = entry.required_name(example, complaints)?;
    if BUDGETS.contains(&name.value) {
        let message = format!("`{}` is the name of a budget of every machine", name.value);
        complaints.error(&name.span, message, "give the volume another name");
        return None;
    }
    Some(name)
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

/// What a cache holds at the start has a meaning only where there is one.
fn check_cache_start(
    cache: Option<&At<CacheStart>>,
    caching: HostCaching,
    complaints: &mut Complaints<'_>,
) {
    if let Some(cache) = cache.filter(|_| caching == HostCaching::None) {
        let message = "`cache` says what a host cache holds, but `caching` is `none`";
        complaints.error(
            &cache.span,
            message,
            "leave `cache` out, or cache the volume",
        );
    }
}

/// Caching as the file says it, and whose.
struct Caching {
    said: Option<At<HostCaching>>,
    role: Role,
}

/// Caching of a volume; `None` where it must be said and is not, or is wrong.
fn read_caching(entry: &Entry<'_>, role: Role, complaints: &mut Complaints<'_>) -> Option<Caching> {
    if !entry.has("caching") && role != Role::Os {
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
        ("read-write", HostCaching::ReadWrite),
    ];
    let said = entry.word("caching", &modes, complaints);
    (said.is_some() || !entry.has("caching")).then_some(Caching { said, role })
}

impl Caching {
    /// The mode that it comes to.
    ///
    /// A disk of the operating system is cached read-write by default, and never without a cache: the provider takes
    /// `none` as read-only (premium-storage-performance.md, 2021-06-29).
    fn settled(
        self,
        entry: &Entry<'_>,
        size: &'static VmSize,
        disks: &Disks,
        catalog: &Catalog,
        complaints: &mut Complaints<'_>,
    ) -> HostCaching {
        let disk = rules::CachedDisk {
            name: &disks.spec.name,
            kind: disks.spec.kind,
            size: disks.spec.size,
        };
        let obstacle = rules::caching_obstacle(size, &disk, catalog);
        let system = self.role == Role::Os;
        match (self.said, obstacle) {
            (Some(said), None) if system && said.value == HostCaching::None => {
                let message = "the disk of the operating system is cached read-only: \
                               the provider takes `none` so"
                    .to_owned();
                complaints.note(&said.span, message);
                HostCaching::ReadOnly
            }
            (Some(said), None) => said.value,
            (None, None) => HostCaching::ReadWrite,
            (Some(said), Some(obstacle)) => {
                if said.value != HostCaching::None {
                    complaints.error(&said.span, obstacle.message, &obstacle.hint);
                }
                HostCaching::None
            }
            (None, Some(obstacle)) => {
                let message = format!(
                    "the disk of the operating system is predicted without a host cache: {}",
                    obstacle.message
                );
                complaints.note(&entry.span(), message);
                HostCaching::None
            }
        }
    }
}
