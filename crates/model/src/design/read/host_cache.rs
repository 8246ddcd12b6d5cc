//! `[vm.host_cache]`: what a machine's host cache is made of.

use fathom_catalog::{Catalog, VmSize};
use fathom_units::Bytes;

use super::rules;
use super::values::{catalog_latency, latency_at};
use crate::design::{HostCacheTiers, MemoryTier};
use fathom_tables::{At, Complaints, Entry};

/// Reads the tiers of a machine's host cache; what the file leaves out is one tier of the catalogue's latency.
pub(super) fn read(
    vm: &Entry<'_>,
    size: Option<&'static VmSize>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> HostCacheTiers {
    let mut tiers = HostCacheTiers {
        latency: catalog_latency("host_cache", catalog),
        memory: None,
    };
    let Some(entry) = vm.table("host_cache", "a host cache", complaints) else {
        return tiers;
    };
    entry.check_keys(&["memory", "memory_latency", "latency"], complaints);
    if let Some(latency) = latency_at(&entry, "latency", complaints) {
        tiers.latency = latency;
    }
    let memory = entry.quantity::<Bytes>("memory", complaints);
    let latency = latency_at(&entry, "memory_latency", complaints);
    if entry.has("memory") && !entry.has("memory_latency") {
        let example = "memory_latency = { median = \"20us\", p99 = \"60us\" }";
        entry.missing("memory_latency", example, complaints);
    }
    if entry.has("memory_latency") && !entry.has("memory") {
        entry.missing("memory", "memory = \"16GiB\"", complaints);
    }
    if let (Some(memory), Some(size)) = (&memory, size) {
        check(memory, size, catalog, complaints);
    }
    if let (Some(memory), Some(latency)) = (memory, latency) {
        tiers.memory = Some(MemoryTier {
            size: memory.value,
            latency,
        });
    }
    tiers
}

fn check(memory: &At<Bytes>, size: &VmSize, catalog: &Catalog, complaints: &mut Complaints<'_>) {
    let Some(cache) = size.cache else {
        let message = format!(
            "no host cache is printed for `{}` of era `{}`",
            size.name, size.era
        );
        let hint = rules::eras_with_cache(size, catalog).map_or_else(
            || "leave `host_cache` out".to_owned(),
            |eras| format!("it is known with {eras}; or leave `host_cache` out"),
        );
        complaints.error(&memory.span, message, &hint);
        return;
    };
    if memory.value.get() == 0 || memory.value > cache {
        let message = format!("`memory` of {} in a cache of {cache}", memory.value);
        let hint = "it is the part of the cache that the host holds in memory: more than 0, at most all of it";
        complaints.error(&memory.span, message, hint);
    }
}
