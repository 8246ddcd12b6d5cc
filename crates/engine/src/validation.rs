//! What is known of the blocks of each file and device whose jobs have them checked, over all stages of a run.
//!
//! A key block is the largest size that divides every transfer, and every place where one may begin, of all jobs on the storage:
//! where sizes are multiples of the smallest, that is the smallest.
//!
//! Invariant: whoever writes to storage that is checked has his writes stamped; what else would write there is refused before
//! anything is written.

use std::sync::Arc;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Bytes;
use fathom_verify::{KeyMap, SECTOR, Stamp};
use fathom_workload::{Access, Direction, Job, Workload};

use crate::targets::{Kind, Targets};

/// Bytes that the maps of a run take at most.
const MEMORY_MAX: u64 = 1 << 30;

/// The maps of a run.
#[derive(Debug, Default)]
pub(crate) struct KeyMaps {
    /// By object; none where nothing is checked.
    maps: Vec<Option<Arc<KeyMap>>>,
}

/// What the checks of a worker need of each of its targets.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) map: Arc<KeyMap>,
    pub(crate) stamp: Stamp,
}

/// What all jobs on an object come to.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    key_block: u64,
    end: u64,
}

impl KeyMaps {
    /// For all jobs of `workload` that have their blocks checked.
    pub(crate) fn new(workload: &Workload, targets: &Targets) -> Self {
        let shapes = shapes(workload, targets);
        let map = |shape: &Option<Shape>| {
            let shape = shape.as_ref()?;
            let key_block = u32::try_from(shape.key_block).ok()?;
            Some(Arc::new(KeyMap::new(shape.end, key_block)))
        };
        Self {
            maps: shapes.iter().map(map).collect(),
        }
    }

    /// Those of a job's targets, in their order; none where the job has no checks.
    pub(crate) fn of(&self, job: &Job, objects: &[usize]) -> Vec<Checked> {
        let Some(validate) = job.features.validate.as_deref() else {
            return Vec::new();
        };
        let maps = objects.iter().filter_map(|object| {
            let map = Arc::clone(self.maps.get(*object)?.as_ref()?);
            let stamp = Stamp::new(&validate.name, map.key_block());
            Some(Checked { map, stamp })
        });
        maps.collect()
    }

    /// Blocks that were compared since this was last asked, and those found wrong so far; none where nothing is checked.
    pub(crate) fn take_counts(&self) -> Option<(u64, u64)> {
        let counts = self.maps.iter().flatten();
        let counts = counts.map(|map| (map.take_checked(), map.bad()));
        counts.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// Adds to `problems` why blocks cannot be checked as asked.
pub(crate) fn check(workload: &Workload, targets: &Targets, problems: &mut Diagnostics) {
    let shapes = shapes(workload, targets);
    let who = who(workload, targets);
    let mut memory = 0;
    for (index, shape) in shapes.iter().enumerate() {
        let (Some(shape), Some(object)) = (shape, targets.objects.get(index)) else {
            continue;
        };
        let path = &object.path;
        let mut add = |message: String, hint: &str| {
            problems.push(Diagnostic::error(message).hint(hint));
        };
        if !matches!(
            object.kind,
            Kind::File { .. } | Kind::Device { .. } | Kind::Export(_)
        ) {
            let message = format!(
                "`{path}` is neither a file nor a block device: no later stage finds its blocks again"
            );
            add(message, "name a file or a device, or leave the checks out");
        }
        let block = shape.key_block;
        if block == 0 || !block.is_multiple_of(u64::from(SECTOR)) || block > u64::from(u32::MAX) {
            let message = format!(
                "the transfers to `{path}` have no common block of whole sectors: {block} bytes is the largest that divides their \
                 sizes and places, and a check needs a multiple of {SECTOR}"
            );
            add(
                message,
                "use transfer sizes, offsets and alignments that are multiples of 512 bytes",
            );
        } else {
            memory += KeyMap::memory(shape.end, block as u32);
        }
        if let [Some(checked), Some(writer)] = who[index] {
            let message = format!(
                "job `{writer}` writes to `{path}` without checks, and job `{checked}` checks what is there"
            );
            add(message, "give both checks, or neither");
        }
    }
    if memory > MEMORY_MAX {
        let (needed, most) = (Bytes::new(memory), Bytes::new(MEMORY_MAX));
        let message = format!(
            "the checks of all blocks keep one byte for each, {needed} in all, where {most} is the most"
        );
        let hint =
            "check a part of the storage (`size=` or `range=` in Vdbench), or use larger transfers";
        problems.push(Diagnostic::error(message).hint(hint));
    }
}

/// By object: what the transfers of all its jobs come to, where any has checks.
fn shapes(workload: &Workload, targets: &Targets) -> Vec<Option<Shape>> {
    let mut shapes = vec![None; targets.objects.len()];
    for ((_, job), places) in workload.jobs().zip(&targets.jobs) {
        if job.features.validate.is_none() {
            continue;
        }
        let of_job = sizes(job);
        for (object, range) in places.objects.iter().zip(&places.ranges) {
            let Some(shape) = shapes.get_mut(*object) else {
                continue;
            };
            let shape: &mut Shape = shape.get_or_insert_default();
            shape.key_block = common(common(shape.key_block, of_job), range.offset);
            shape.end = shape.end.max(range.offset.saturating_add(range.length));
        }
    }
    shapes
}

/// The largest size that divides all transfers of a job and the distances between them.
fn sizes(job: &Job) -> u64 {
    let used = Direction::ALL.into_iter();
    let used = used.filter(|way| job.mix.share(*way).basis_points() > 0);
    let sizes = used.flat_map(|way| job.block.of(way));
    let sizes = sizes
        .filter(|entry| entry.weight > 0)
        .map(|entry| entry.size.get());
    let gap = match job.access {
        Access::Sequential { gap, .. } => gap.get(),
        _ => 0,
    };
    let alignment = job.block.alignment.map_or(0, Bytes::get);
    sizes.chain([gap, alignment]).fold(0, common)
}

/// The largest number that divides both; 0 is divided by all.
fn common(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// By object: the first job that checks its blocks, and the first that writes without checks.
fn who<'w>(workload: &'w Workload, targets: &Targets) -> Vec<[Option<&'w str>; 2]> {
    let mut found = vec![[None; 2]; targets.objects.len()];
    for ((_, job), places) in workload.jobs().zip(&targets.jobs) {
        let checks = job.features.validate.is_some();
        let writes = job.mix.changes_data() || job.features.file_work.is_some();
        if !checks && !writes {
            continue;
        }
        for object in &places.objects {
            if let Some(jobs) = found.get_mut(*object) {
                jobs[usize::from(!checks)].get_or_insert(job.name.as_str());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_common_block_is_found() {
        for (sizes, expected) in [
            (&[4096, 8192, 65536][..], 4096),
            (&[4096, 6144], 2048),
            (&[131_072, 0, 512], 512),
            (&[0], 0),
        ] {
            assert_eq!(sizes.iter().copied().fold(0, common), expected, "{sizes:?}");
        }
    }
}
