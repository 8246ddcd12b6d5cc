//! What the provider allows, and what a reader of predictions should know.

use fathom_catalog::{Catalog, Disk, VmSize};

use super::entry::{At, Complaints, Entry};
use super::{Design, HostCaching, LatencyChoice, LatencyOrigin, Volume};

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

/// One sentence for each thing that the model leaves out or assumes.
pub(super) fn notes(design: &Design) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |text: String| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    for vm in &design.vms {
        if !vm.size.burst_uncached.is_empty() || !vm.size.burst_cached.is_empty() {
            note(format!(
                "`{}` can burst; it is predicted without bursting",
                vm.size.name
            ));
        }
        if vm.size.uncached.is_empty() && !vm.volumes.is_empty() {
            note(format!(
                "no limit past the cache is printed for `{}` of era `{}`; none is applied",
                vm.size.name, vm.size.era
            ));
        }
        for volume in &vm.volumes {
            if volume.disk.burst.is_some() {
                note(format!(
                    "`{}` can burst; it is predicted without bursting",
                    volume.disk.name
                ));
            }
        }
    }
    let assumed = |volume: &Volume| {
        let origin = LatencyOrigin::Assumed;
        matches!(&volume.latency, LatencyChoice::LogNormal { origin: found, .. } if *found == origin)
    };
    if design.vms.iter().flat_map(|vm| &vm.volumes).any(assumed) {
        note("media latency: assumed; no distribution has been published".to_owned());
    }
    notes
}
