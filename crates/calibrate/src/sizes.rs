//! Sizes of devices that were measured as a whole.
//!
//! A run that names no size takes all of a device, and its record does not say how much that was. On the design it takes all of
//! the volume that it is mapped to, as a job on a device file of the design does.

use std::collections::BTreeSet;

use fathom_model::Design;
use fathom_workload::{Place, Target, Workload, native};

use crate::Task;

/// The workload of `task` with a size for every such device, and a sentence on each that got one.
pub(crate) fn with_whole_devices(task: &Task<'_>, design: &Design) -> (Workload, Vec<String>) {
    let mut workload = task.workload.clone();
    // The record's own names tell what was a device.
    let Ok(recorded) = native::from_json(&task.record.workload, "the record's workload") else {
        return (workload, Vec::new());
    };
    let mut told = BTreeSet::new();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    let own = recorded.stages.iter().flat_map(|stage| &stage.jobs);
    for (job, own) in jobs.zip(own) {
        let host = job.host.as_deref();
        for (target, own) in job.targets.iter_mut().zip(&own.targets) {
            if !is_whole_device(own) || target.length.is_some() {
                continue;
            }
            let path = target.place.path().to_owned();
            let Ok(volume) = design.locate(host, &path) else {
                continue;
            };
            if design.device_size(volume, &path).is_some() {
                continue;
            }
            let capacity = design.capacity(volume);
            target.length = Some(capacity.saturating_sub(target.offset));
            told.insert(format!(
                "`{}` was measured as a whole: `{path}` takes all of `{}` ({capacity})",
                own.place.path(),
                design.volume_name(volume)
            ));
        }
    }
    (workload, told.into_iter().collect())
}

fn is_whole_device(target: &Target) -> bool {
    matches!(&target.place, Place::Path(path) if path.starts_with("/dev/"))
        && target.length.is_none()
}
