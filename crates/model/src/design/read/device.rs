//! `[[device]]`: storage known by its figures alone.

use fathom_catalog::{Catalog, GenericDevice, Limits};
use fathom_units::Bytes;

use super::names::expand;
use super::values::{mount_of, read_latency, read_limits, read_mount, row_of};
use super::{is_taken, too_many, values};
use crate::design::{Design, Device, LatencyChoice, Raid5};
use fathom_tables::{Complaints, Entry};

const KNOWN: [&str; 11] = [
    "name",
    "mount",
    "drive",
    "size",
    "iops",
    "bandwidth",
    "latency",
    "type",
    "disks",
    "raid",
    "stripe_unit",
];

/// Most disks of one device.
const MOST_DISKS: u64 = 256;

/// The disks that a device is made of.
struct Members {
    kind: Option<&'static GenericDevice>,
    count: u32,
    raid: Option<Raid5>,
    stripe_unit: Bytes,
}

/// Reads one device (several, where its name has a range) into `design`.
pub(super) fn read(
    entry: &Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = entry.required_name("name = \"san\"", complaints);
    let mount = read_mount(entry, complaints);
    if !entry.has("size") {
        entry.missing("size", "size = \"2TiB\"", complaints);
    }
    let size = read_device_size(entry, complaints);
    let limits = read_limits(entry, complaints);
    let latency = read_latency(entry, complaints).unwrap_or(LatencyChoice::None);
    let members = read_members(entry, catalog, complaints);
    let (Some(name), Some(mount), Some(size), Some(members)) = (name, mount, size, members) else {
        return;
    };
    let disk_limits = Limits {
        iops: members.kind.map(|kind| kind.iops_high),
        bandwidth: None,
    };
    let place = complaints.location(&entry.span());
    for [name, mount] in expand([&name, &mount], complaints) {
        if too_many(design.volume_count() + 1, entry, complaints) {
            return;
        }
        let Some(mount) = mount_of(&mount, entry, complaints) else {
            continue;
        };
        let doubled = design.devices.iter().any(|device| device.mount == mount);
        if is_taken(design, &name) || doubled {
            let message = format!("the name `{name}` or its mount `{mount}` is taken");
            complaints.error(&entry.span(), message, "names and mounts are unique");
        }
        design.devices.push(Device {
            name,
            mount,
            size,
            limits,
            kind: members.kind,
            disk_count: members.count,
            disk_limits,
            stripe_unit: members.stripe_unit,
            raid: members.raid,
            latency: latency.clone(),
            place: place.clone(),
        });
    }
}

/// `size`, at least a byte. Offsets within it are below 2^63, as on any operating system.
fn read_device_size(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<Bytes> {
    let size = entry.quantity::<Bytes>("size", complaints)?;
    if size.value == Bytes::ZERO || size.value.get() > i64::MAX as u64 {
        complaints.error(
            &size.span,
            "`size` must be more than 0 and less than 8 EiB",
            "write what the device holds, such as `10TiB`",
        );
        return None;
    }
    Some(size.value)
}

/// `type`, `disks`, `raid` and `stripe_unit`.
fn read_members(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<Members> {
    let kind = read_kind(entry, catalog, complaints);
    let count = entry.number("disks", 1..=MOST_DISKS, complaints);
    let raids = [("0", false), ("5", true)];
    let raid = entry.word("raid", &raids, complaints);
    let stripe_unit = values::read_stripe_unit(entry, complaints);
    if !entry.has("type") {
        let why = "says how the device is made of disks, but `type` does not say of which";
        let hint = "add `type = \"10k\"`, or leave it out";
        entry.refuse_keys(&["disks", "raid", "stripe_unit"], why, hint, complaints);
    }
    let disks = count.as_ref().map_or(1, |count| count.value);
    let rules = catalog.raid5();
    let parity = raid.as_ref().is_some_and(|raid| raid.value);
    // Without their type there are no disks to count.
    let too_few = parity && entry.has("type") && disks < u64::from(rules.min_disks);
    if let Some(raid) = raid.filter(|_| too_few) {
        let message = format!("RAID-5 takes at least {} disks", rules.min_disks);
        complaints.error(&raid.span, message, "give the device more `disks`");
    }
    let wrong = (entry.has("type") && kind.is_none()) || (entry.has("disks") && count.is_none());
    (!wrong).then_some(Members {
        kind,
        count: disks as u32,
        raid: parity.then_some(Raid5 {
            small_write_ios: rules.small_write_ios,
        }),
        stripe_unit,
    })
}

fn read_kind(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<&'static GenericDevice> {
    let kind = entry.text("type", complaints)?;
    let names = catalog.generic_devices().iter().map(|row| row.name);
    row_of(&kind, catalog.generic_device(kind.value), names, complaints)
}
