//! `[[vm]]`: a machine and its volumes.

use fathom_catalog::{Catalog, Era, VmSize};

use super::names::expand;
use super::seen::Seen;
use super::values::{Offer, read_burst};
use super::{check_name, host_cache, rules, too_many, volume};
use crate::design::{Burst, Design, Vm, Volume};
use fathom_tables::{Complaints, Entry};

const KNOWN: [&str; 8] = [
    "name",
    "size",
    "era",
    "burst",
    "credits",
    "host_cache",
    "volume",
    "temp",
];

/// Reads one machine (several, where its name has a range) into `design`.
pub(super) fn read(
    entry: &Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = entry.required_name("name = \"vm1\"", complaints);
    let host = read_size(entry, catalog, complaints);
    let offer = host.size.map(offer);
    let (burst, credits) = read_burst(entry, offer.as_ref(), complaints);
    let cache = host_cache::read(entry, host.size, catalog, complaints);
    let volumes = read_volumes(entry, host, catalog, complaints);
    let (Some(name), Some(size)) = (name, host.size) else {
        return;
    };
    for [name] in expand([&name], complaints) {
        let parts = design.volume_count() + volumes.len();
        if too_many(parts.max(design.vms.len() + 1), entry, complaints) {
            return;
        }
        check_name(entry, &name, design, complaints);
        design.vms.push(Vm {
            name,
            size,
            burst,
            credits,
            cache: cache.clone(),
            volumes: volumes.clone(),
        });
    }
}

/// The machine that volumes are read for, as far as it is known.
#[derive(Clone, Copy)]
pub(super) struct Host {
    /// Its size; `None` where that is wrong.
    pub size: Option<&'static VmSize>,
    /// The era its disks are looked up in: of the size's own row, or as the file says it.
    pub era: Era,
}

/// `size` and `era`.
fn read_size(entry: &Entry<'_>, catalog: &Catalog, complaints: &mut Complaints<'_>) -> Host {
    let size = entry.required_text("size", "size = \"Standard_DS14\"", complaints);
    let era = match entry.text("era", complaints) {
        None if entry.has("era") => None,
        None => Some(Era::CURRENT),
        Some(era) => {
            let known = catalog.era(era.value);
            if known.is_none() {
                let message = format!("the catalogue has no era `{}`", era.value);
                complaints.error(&era.span, message, &catalog.era_hint());
            }
            known
        }
    };
    let unknown = Host {
        size: None,
        era: era.unwrap_or(Era::CURRENT),
    };
    let (Some(size), Some(era)) = (size, era) else {
        return unknown;
    };
    match catalog.vm(era, size.value) {
        Ok(found) => Host {
            size: Some(found),
            era: found.era,
        },
        Err(error) => {
            let hint = error
                .hint()
                .unwrap_or_else(|| "`fathom catalog list` prints every size".to_owned());
            complaints.error(&size.span, error.to_string(), &hint);
            unknown
        }
    }
}

fn offer(size: &'static VmSize) -> Offer {
    let bursts = !size.burst_cached.is_empty() || !size.burst_uncached.is_empty();
    Offer {
        what: format!("`{}`", size.name),
        mode: if bursts { Burst::Credits } else { Burst::Off },
    }
}

fn read_volumes(
    entry: &Entry<'_>,
    host: Host,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Vec<Volume> {
    let mut volumes = Vec::new();
    let mut seen = Seen::default();
    for entry in entry.tables("volume", "a volume", complaints) {
        volume::read(&entry, host, catalog, (&mut seen, &mut volumes), complaints);
    }
    let temporary = entry.tables("temp", "a temporary disk", complaints);
    if let Some(second) = temporary.get(1) {
        let message = "a machine has one temporary disk";
        complaints.error(&second.span(), message, "leave this one out");
    }
    for entry in temporary.iter().take(1) {
        let size = host.size;
        volume::read_temporary(entry, size, catalog, (&mut seen, &mut volumes), complaints);
    }
    rules::check_one_system(entry, &volumes, complaints);
    volumes
}
