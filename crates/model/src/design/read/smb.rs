//! `[[smb]]`: a share of Azure Files over SMB.

use fathom_catalog::{BurstScope, Catalog, ShareMedia, ShareModel};
use fathom_units::Iops;

use super::clients;
use super::names::expand;
use super::share_limits::{self, Provisioned};
use super::values::{Offer, catalog_latency, read_burst, read_latency, read_mount, row_of};
use crate::design::{Burst, Design, SmbShare};
use fathom_tables::{Complaints, Entry};

const KNOWN: [&str; 15] = [
    "name",
    "mount",
    "drive",
    "model",
    "size",
    "iops",
    "bandwidth",
    "channels",
    "metadata_cache",
    "handles",
    "on",
    "rtt",
    "burst",
    "credits",
    "latency",
];

/// What the protocol and the features of a share make of it.
struct Protocol {
    channels: u32,
    metadata_cache: bool,
    metadata_iops: Iops,
    handles_per_file: u32,
}

/// Reads one share (several, where its name has a range) into `design`.
pub(super) fn read(
    entry: &Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = entry.required_name("name = \"share\"", complaints);
    let mount = read_mount(entry, complaints);
    let model = read_model(entry, catalog, complaints);
    let provisioned = share_limits::read(entry, model, complaints);
    let offer = provisioned.as_ref().map(offer);
    let (burst, credits) = read_burst(entry, offer.as_ref(), complaints);
    let protocol = read_protocol(entry, model, catalog, complaints);
    let latency = read_latency(entry, complaints);
    let clients = clients::read(entry, design, catalog, complaints);
    let (Some(name), Some(mount), Some(model), Some(provisioned)) =
        (name, mount, model, provisioned)
    else {
        return;
    };
    let Some(file) = catalog.share_file(model.media) else {
        return;
    };
    let place = complaints.location(&entry.span());
    let tier = match model.media {
        ShareMedia::Ssd => "files_ssd",
        ShareMedia::Hdd => "files_hdd",
    };
    let latency = latency.unwrap_or_else(|| catalog_latency(tier, catalog));
    for [name, mount] in expand([&name, &mount], complaints) {
        let named = (name.as_str(), mount.as_str());
        let placed = clients::place(entry, named, &clients, design, complaints);
        if complaints.full {
            return;
        }
        let Some(mount) = placed else {
            continue;
        };
        design.smb.push(SmbShare {
            name,
            mount,
            model,
            size: provisioned.size,
            limits: provisioned.limits,
            write_bandwidth: model.write_bandwidth,
            burst_iops: provisioned.burst_iops,
            bucket_seconds: catalog.bucket_seconds(BurstScope::Share),
            burst,
            credits,
            file_limits: file.limits,
            largest_file: file.max_size,
            channels: protocol.channels,
            channel: catalog.share_channel(),
            metadata_cache: protocol.metadata_cache,
            metadata_iops: protocol.metadata_iops,
            handles_per_file: protocol.handles_per_file,
            handles_root: catalog.share_handles().root,
            clients: clients.clone(),
            latency: latency.clone(),
            place: place.clone(),
        });
    }
}

fn offer(provisioned: &Provisioned) -> Offer {
    let mode = match provisioned.burst_iops {
        Some(_) => Burst::Credits,
        None => Burst::Off,
    };
    Offer {
        what: "a share with these limits".to_owned(),
        mode,
    }
}

fn read_model(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<&'static ShareModel> {
    let model = entry.required_text("model", "model = \"ssd-v2\"", complaints)?;
    let names = catalog.share_models().iter().map(|row| row.name);
    row_of(&model, catalog.share_model(model.value), names, complaints)
}

/// `channels`, `metadata_cache` and `handles`.
fn read_protocol(
    entry: &Entry<'_>,
    model: Option<&ShareModel>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Protocol {
    let most = u64::from(catalog.share_channel().max_channels);
    let channels = entry.number("channels", 1..=most, complaints);
    let cache = entry.truth("metadata_cache", complaints);
    let hdd = model.filter(|model| model.media == ShareMedia::Hdd);
    if let (Some(model), Some(channels)) = (hdd, channels.as_ref().filter(|one| one.value > 1)) {
        let message = format!(
            "a share `{}` has one channel: SMB multichannel is for SSD shares",
            model.name
        );
        complaints.error(
            &channels.span,
            message,
            "leave `channels` out, or choose an SSD model",
        );
    }
    if let (Some(model), Some(cache)) = (hdd, cache.as_ref().filter(|cache| cache.value)) {
        let message = format!(
            "a share `{}` has no metadata caching: it is for SSD shares",
            model.name
        );
        let hint = "leave `metadata_cache` out, or choose an SSD model";
        complaints.error(&cache.span, message, hint);
    }
    let metadata_cache = cache.is_some_and(|cache| cache.value);
    let rules = catalog.share_metadata();
    Protocol {
        channels: channels.map_or(1, |channels| channels.value as u32),
        metadata_cache,
        metadata_iops: if metadata_cache {
            rules.cached_iops
        } else {
            rules.iops
        },
        handles_per_file: read_handles(entry, catalog, complaints),
    }
}

/// `handles = 2000` or `10000`: handles of one file.
fn read_handles(entry: &Entry<'_>, catalog: &Catalog, complaints: &mut Complaints<'_>) -> u32 {
    let rules = catalog.share_handles();
    let Some(handles) = entry.number("handles", 1..=u64::from(u32::MAX), complaints) else {
        return rules.file;
    };
    let known = [rules.file, rules.file_preview];
    let found = known
        .into_iter()
        .find(|one| u64::from(*one) == handles.value);
    found.unwrap_or_else(|| {
        let message = format!(
            "one file has {} handles, or {} where the larger limit is on",
            rules.file, rules.file_preview
        );
        complaints.error(&handles.span, message, "write one of the two");
        rules.file
    })
}
