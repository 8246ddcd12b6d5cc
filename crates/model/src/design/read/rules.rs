//! What the provider allows of machines and their disks.

use fathom_catalog::{Catalog, Disk, VmSize};

use super::entry::{At, Complaints, Entry};
use crate::design::{HostCaching, Volume};

/// No more data disks than the machine takes.
pub(super) fn check_vm(
    entry: &Entry<'_>,
    size: &VmSize,
    volumes: &[Volume],
    complaints: &mut Complaints<'_>,
) {
    let disks: u64 = volumes
        .iter()
        .map(|volume| u64::from(volume.disk_count))
        .sum();
    if disks > u64::from(size.max_data_disks) {
        let message = format!(
            "{disks} data disks, but `{}` takes at most {}",
            size.name, size.max_data_disks
        );
        complaints.error(
            &entry.span(),
            message,
            "use fewer disks or a larger machine",
        );
    }
}

/// Premium disks need a machine that supports them.
pub(super) fn check_premium(
    size: &VmSize,
    disk: &Disk,
    kind: &At<&str>,
    complaints: &mut Complaints<'_>,
) {
    if disk.kind.is_premium() && !size.premium {
        let message = format!(
            "`{}` is a {}, which `{}` does not support",
            disk.name,
            disk.kind.title(),
            size.name
        );
        complaints.error(&kind.span, message, "choose a size whose name has an `s`");
    }
}

/// Cached disks must be cacheable, on a machine with a cache whose limits are known.
pub(super) fn check_caching(
    size: &VmSize,
    disk: &Disk,
    caching: &At<HostCaching>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) {
    if caching.value == HostCaching::None {
        return;
    }
    let rules = catalog.host_cache();
    if !rules.kinds.contains(&disk.kind) {
        let message = format!("a {} cannot use the host cache", disk.kind.title());
        complaints.error(&caching.span, message, "write `caching = \"none\"`");
    } else if disk.size > rules.max_disk {
        let message = format!(
            "`{}` holds {}; disks of 4 TiB and more cannot use the host cache",
            disk.name, disk.size
        );
        complaints.error(&caching.span, message, "write `caching = \"none\"`");
    }
    if !size.premium_caching && disk.kind.is_premium() {
        let message = format!("`{}` does not support caching of premium disks", size.name);
        complaints.error(&caching.span, message, "write `caching = \"none\"`");
    } else if size.cached.is_empty() || size.cache.is_none() {
        let others = catalog
            .vms()
            .iter()
            .filter(|row| row.name == size.name && !row.cached.is_empty() && row.cache.is_some());
        let eras: Vec<_> = others
            .map(|row| format!("`era = \"{}\"`", row.era))
            .collect();
        let message = format!(
            "the pages of era `{}` print no cache limits for `{}`",
            size.era, size.name
        );
        let hint = if eras.is_empty() {
            "write `caching = \"none\"`".to_owned()
        } else {
            format!("they are known with {}", eras.join(" or "))
        };
        complaints.error(&caching.span, message, &hint);
    }
}
