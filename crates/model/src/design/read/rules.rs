//! What the provider allows of machines and their disks.

use std::ops::Range;

use fathom_catalog::{Catalog, DiskKind, VmSize};
use fathom_units::{Bytes, Iops};

use crate::design::{DiskSpec, Role, Volume};
use fathom_tables::{Complaints, Entry};

/// A machine starts from one disk.
pub(super) fn check_one_system(
    entry: &Entry<'_>,
    volumes: &[Volume],
    complaints: &mut Complaints<'_>,
) {
    let system = volumes.iter().filter(|volume| volume.role == Role::Os);
    if system.count() > 1 {
        let message = "a machine has one volume with `role = \"os\"`";
        complaints.error(&entry.span(), message, "make the others data disks");
    }
}

/// Premium disks need a machine that supports them.
pub(super) fn check_premium(
    size: &VmSize,
    disk: &DiskSpec,
    span: &Range<usize>,
    complaints: &mut Complaints<'_>,
) {
    if disk.kind.is_premium() && !size.premium {
        let message = format!(
            "`{}` is {}, which `{}` does not support",
            disk.name,
            one(disk.kind),
            size.name
        );
        complaints.error(span, message, "choose a size whose name has an `s`");
    }
}

/// A disk of this kind, with its article.
fn one(kind: DiskKind) -> String {
    let article = if kind == DiskKind::Ultra { "an" } else { "a" };
    format!("{article} {}", kind.title())
}

/// Sizes that print I/Os for each data disk instead of limits of the machine hold every disk to that.
pub(super) fn cap_data_disk(
    size: &VmSize,
    disk: &mut DiskSpec,
    span: &Range<usize>,
    complaints: &mut Complaints<'_>,
) {
    let Some(each) = size.data_disk_iops_each else {
        return;
    };
    if !disk.kind.is_premium() && disk.limits.iops.is_none_or(|own: Iops| own > each) {
        disk.limits.iops = Some(each);
        let message = format!("`{}` holds each data disk to {each}", size.name);
        complaints.note(span, message);
    }
}

/// The operating system lies on one disk, of a product that can hold it.
pub(super) fn check_system_disk(
    disk: &DiskSpec,
    count: u64,
    span: &Range<usize>,
    complaints: &mut Complaints<'_>,
) {
    if count != 1 {
        let message = format!("the operating system lies on one disk, not on {count}");
        complaints.error(span, message, "write `count = 1`, or another `role`");
    }
    if matches!(disk.kind, DiskKind::PremiumSsdV2 | DiskKind::Ultra) {
        let message = format!("{} cannot hold the operating system", one(disk.kind));
        complaints.error(span, message, "choose a premium SSD, standard SSD or HDD");
    }
}

/// A disk whose host caching is in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedDisk<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its product.
    pub kind: DiskKind,
    /// Its size.
    pub size: Bytes,
}

/// Why disks cannot use the host cache of a machine, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The rule.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// What keeps a disk from the host cache of a machine: its product, its size, or the machine.
pub fn caching_obstacle(
    size: &VmSize,
    disk: &CachedDisk<'_>,
    catalog: &Catalog,
) -> Option<Obstacle> {
    let rules = catalog.host_cache();
    let plain = |message: String| {
        let hint = "write `caching = \"none\"`".to_owned();
        Some(Obstacle { message, hint })
    };
    if !rules.kinds.contains(&disk.kind) {
        return plain(format!("{} cannot use the host cache", one(disk.kind)));
    }
    if disk.size > rules.max_disk {
        return plain(format!(
            "`{}` holds {}; disks of 4 TiB and more cannot use the host cache",
            disk.name, disk.size
        ));
    }
    if !size.premium_caching && disk.kind.is_premium() {
        return plain(format!(
            "`{}` does not support caching of premium disks",
            size.name
        ));
    }
    if !size.cached.is_empty() && size.cache.is_some() {
        return None;
    }
    let message = format!(
        "the pages of era `{}` print no cache limits for `{}`",
        size.era, size.name
    );
    let Some(eras) = eras_with_cache(size, catalog) else {
        return plain(message);
    };
    let hint = format!("they are known with {eras}");
    Some(Obstacle { message, hint })
}

/// The eras whose pages print a machine size's cache and its limits, as keys of a design.
pub(super) fn eras_with_cache(size: &VmSize, catalog: &Catalog) -> Option<String> {
    let rows = catalog.vms().iter();
    let printed =
        rows.filter(|row| row.name == size.name && !row.cached.is_empty() && row.cache.is_some());
    let eras: Vec<_> = printed
        .map(|row| format!("`era = \"{}\"`", row.era))
        .collect();
    (!eras.is_empty()).then(|| eras.join(" or "))
}
