//! What a reader of predictions should know about a design.

use super::{Burst, Design, LatencyChoice, LatencyOrigin, Volume};

/// One sentence for each thing that the model leaves out or assumes.
pub(super) fn notes(design: &Design) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |text: String| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    for vm in &design.vms {
        if vm.burst == Burst::Credits {
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
            if volume.burst == Burst::Credits {
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
