//! `[[vm]]`: a machine and its volumes.

use fathom_catalog::{Catalog, Era, VmSize};

use super::entry::{Complaints, Entry};
use super::names::expand;
use super::values::{Offer, read_burst};
use super::{check_name, rules, too_many, volume};
use crate::design::{Burst, Design, Vm, Volume};

const KNOWN: [&str; 7] = ["name", "size", "era", "burst", "credits", "volume", "temp"];

/// Reads one machine (several, where its name has a range) into `design`.
pub(super) fn read(
    entry: &Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = entry.required_name("name = \"vm1\"", complaints);
    let size = read_size(entry, catalog, complaints);
    let offer = size.map(offer);
    let (burst, credits) = read_burst(entry, offer.as_ref(), complaints);
    let volumes = read_volumes(entry, size, catalog, complaints);
    let (Some(name), Some(size)) = (name, size) else {
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
            volumes: volumes.clone(),
        });
    }
}

/// `size` and `era`.
fn read_size(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<&'static VmSize> {
    let size = entry.required_text("size", "size = \"Standard_DS14\"", complaints);
    let era = match entry.text("era", complaints) {
        None if entry.has("era") => None,
        None => Some(Era::CURRENT),
        Some(era) => {
            let known = catalog.era(era.value);
            if known.is_none() {
                let message = format!("the catalogue has no era `{}`", era.value);
                complaints.error(
                    &era.span,
                    message,
                    "eras are `current`, `2020`, `2016` and others",
                );
            }
            known
        }
    };
    let (size, era) = (size?, era?);
    match catalog.vm(era, size.value) {
        Ok(found) => Some(found),
        Err(error) => {
            let hint = error
                .hint()
                .unwrap_or_else(|| "`fathom catalog list` prints every size".to_owned());
            complaints.error(&size.span, error.to_string(), &hint);
            None
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
    size: Option<&'static VmSize>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Vec<Volume> {
    let mut volumes = Vec::new();
    for entry in entry.tables("volume", "a volume", complaints) {
        let before = volumes.len();
        volume::read(&entry, size, catalog, &mut volumes, complaints);
        if let Some(size) = size {
            rules::check_disk_count(&entry, size, (&volumes, before), complaints);
        }
    }
    let temporary = entry.tables("temp", "a temporary disk", complaints);
    if let Some(second) = temporary.get(1) {
        let message = "a machine has one temporary disk";
        complaints.error(&second.span(), message, "leave this one out");
    }
    for entry in temporary.iter().take(1) {
        volume::read_temporary(entry, size, catalog, &mut volumes, complaints);
    }
    rules::check_one_system(entry, &volumes, complaints);
    volumes
}
