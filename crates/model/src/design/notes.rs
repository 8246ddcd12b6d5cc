//! What a reader of predictions should know about a design, one sentence each.

use super::{AnyVolume, Design, FigureOrigin, LatencyChoice, Media};

/// The notes that reading gave, and one sentence for each thing that the model leaves out or assumes.
pub(super) fn notes(design: &Design, of_reading: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for note in of_reading.iter().cloned() {
        add(&mut notes, note);
    }
    for_machines(design, &mut notes);
    for_volumes(design, &mut notes);
    notes
}

fn add(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

fn for_machines(design: &Design, notes: &mut Vec<String>) {
    for vm in &design.vms {
        let disks = vm
            .volumes
            .iter()
            .any(|volume| volume.media() == Media::Disks);
        if vm.size.uncached.is_empty() && disks {
            add(
                notes,
                format!(
                    "no limit past the cache is printed for `{}` of era `{}`; none is applied",
                    vm.size.name, vm.size.era
                ),
            );
        }
        let temporary = vm
            .volumes
            .iter()
            .find(|volume| volume.media() == Media::Temp);
        if temporary.is_some_and(|disk| disk.disk.limits.is_empty()) && vm.size.cached.is_empty() {
            add(
                notes,
                format!(
                    "no limit of the temporary disk is printed for `{}` of era `{}`; none is applied",
                    vm.size.name, vm.size.era
                ),
            );
        }
    }
}

fn for_volumes(design: &Design, notes: &mut Vec<String>) {
    for device in &design.devices {
        if let Some(kind) = device.kind.filter(|kind| kind.iops_low < kind.iops_high) {
            add(
                notes,
                format!(
                    "a {} is printed with {} to {}; the upper end is taken",
                    kind.title, kind.iops_low, kind.iops_high
                ),
            );
        }
    }
    let assumed = |volume: AnyVolume<'_>| {
        let origin = FigureOrigin::Assumed;
        matches!(volume.latency(), LatencyChoice::LogNormal { origin: found, .. } if *found == origin)
    };
    if design.volumes().any(assumed) {
        add(
            notes,
            "media latency: assumed; no distribution has been published".to_owned(),
        );
    }
    let far = |volume: AnyVolume<'_>| {
        let clients = volume.network_clients().iter();
        let mut origins = clients.map(|client| client.rtt_origin);
        origins.any(|origin| origin == FigureOrigin::Assumed)
    };
    if design.volumes().any(far) {
        add(
            notes,
            "round-trip times: assumed; none have been published".to_owned(),
        );
    }
}
