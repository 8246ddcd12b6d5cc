//! What is known of the blocks of each file and device whose jobs have them checked, over all stages of a run, and beyond it where
//! a journal is kept.
//!
//! A key block is the largest size that divides every transfer, and every place where one may begin, of all jobs on the storage:
//! where sizes are multiples of the smallest, that is the smallest.
//!
//! Invariant: whoever writes to storage that is checked has his writes stamped; what else would write there is refused before
//! anything is written.

use std::sync::Arc;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, common_divisor};
use fathom_verify::{JournalHead, KeyMap, SECTOR, Stamp};
use fathom_workload::{Job, Journal as JournalAsked, Validate, Workload};

use crate::EngineError;
use crate::journal::{self, Journal};
use crate::preflight::short_size;
use crate::targets::{Kind, Targets};

/// Bytes that the maps of a run take at most.
const MEMORY_MAX: u64 = 1 << 30;

/// The maps of a run.
#[derive(Debug, Default)]
pub(crate) struct KeyMaps {
    /// By object; none where nothing is checked.
    objects: Vec<Option<Checked>>,
}

/// What the checks of a worker need of each of its targets.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) map: Arc<KeyMap>,
    pub(crate) stamp: Stamp,
    /// Where changes are written to one.
    pub(crate) journal: Option<Arc<Journal>>,
}

/// What all jobs on an object come to.
#[derive(Debug, Clone, Copy, Default)]
struct Shape<'w> {
    key_block: u64,
    end: u64,
    /// Of the first of them.
    validate: Option<&'w Validate>,
    /// Whether any writes.
    is_written: bool,
}

impl Shape<'_> {
    /// A map of which nothing is known yet, and the stamp of its sectors; none where the blocks are none that can be checked.
    fn map(&self) -> Option<(KeyMap, Stamp)> {
        let key_block = u32::try_from(self.key_block).ok()?;
        Some((KeyMap::new(self.end, key_block), self.stamp(key_block)))
    }

    /// Takes the key blocks of the journal that is gone on with, where all transfers are whole ones of them: another run may have
    /// had smaller ones, and gone further.
    fn adopt(&mut self) {
        let asked = self.journal().filter(|asked| asked.recovers);
        let Some(head) = asked.and_then(journal::head) else {
            return;
        };
        let size = u64::from(head.key_block);
        let end = head.blocks.saturating_mul(size);
        if size > 0 && self.key_block.is_multiple_of(size) && head.blocks <= MEMORY_MAX {
            (self.key_block, self.end) = (size, self.end.max(end));
        }
    }

    /// What a journal of the storage begins with; none where its blocks are none that can be checked.
    fn head(&self) -> Option<JournalHead> {
        let key_block = u32::try_from(self.key_block).ok()?;
        let stamp = self.stamp(key_block);
        Some(JournalHead::new(self.end, key_block, &stamp))
    }

    fn stamp(&self, key_block: u32) -> Stamp {
        let name = self.validate.map_or("", |validate| validate.name.as_str());
        Stamp::new(name, key_block)
    }

    fn journal(&self) -> Option<&JournalAsked> {
        self.validate?.journal.as_ref()
    }
}

impl KeyMaps {
    /// For all jobs of `workload` that have their blocks checked, with what their journals tell; a line about each of those.
    pub(crate) fn open(
        workload: &Workload,
        targets: &Targets,
    ) -> Result<(Self, Vec<String>), EngineError> {
        let mut lines = Vec::new();
        let mut objects = Vec::new();
        for shape in &shapes(workload, targets) {
            let found = shape.as_ref().and_then(|shape| Some((shape, shape.map()?)));
            let Some((shape, (map, stamp))) = found else {
                objects.push(None);
                continue;
            };
            let head = JournalHead::new(shape.end, map.key_block(), &stamp);
            let mut journal = None;
            if let Some(asked) = shape.journal() {
                if asked.recovers {
                    lines.push(journal::go_on(asked, head, &map)?);
                }
                if shape.is_written {
                    journal = Some(Arc::new(Journal::begin(asked, head, &map)?));
                }
            }
            objects.push(Some(Checked {
                map: Arc::new(map),
                stamp,
                journal,
            }));
        }
        Ok((Self { objects }, lines))
    }

    /// Those of a job's targets, in their order; none where the job has no checks.
    pub(crate) fn of(&self, job: &Job, objects: &[usize]) -> Vec<Checked> {
        let Some(validate) = job.features.validate.as_deref() else {
            return Vec::new();
        };
        let checked = objects.iter().filter_map(|object| {
            let checked = self.objects.get(*object)?.clone()?;
            let stamp = Stamp::new(&validate.name, checked.map.key_block());
            Some(Checked { stamp, ..checked })
        });
        checked.collect()
    }

    /// Leaves journals from which the next run can go on.
    pub(crate) fn close(&self) -> Result<(), EngineError> {
        let mut closed = Ok(());
        for Checked { map, journal, .. } in self.objects.iter().flatten() {
            if let Some(journal) = journal {
                closed = closed.and(journal.close(map));
            }
        }
        closed
    }

    /// Blocks that were compared since this was last asked, and those found wrong so far; none where nothing is checked.
    pub(crate) fn take_counts(&self) -> Option<(u64, u64)> {
        let maps = self.objects.iter().flatten().map(|checked| &checked.map);
        let counts = maps.map(|map| (map.take_checked(), map.bad()));
        counts.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// Adds to `problems` why blocks cannot be checked as asked.
pub(crate) fn check(workload: &Workload, targets: &Targets, problems: &mut Diagnostics) {
    let shapes = shapes(workload, targets);
    check_journals(workload, (&shapes, targets), problems);
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

/// Adds to `problems` why a journal cannot be kept, or gone on with.
fn check_journals(
    workload: &Workload,
    (shapes, targets): (&[Option<Shape<'_>>], &Targets),
    problems: &mut Diagnostics,
) {
    let mut seen = Vec::new();
    for (shape, object) in shapes.iter().zip(&targets.objects) {
        let Some(shape) = shape else {
            continue;
        };
        let Some(asked) = shape.journal() else {
            continue;
        };
        let path = asked.path.as_str();
        if seen.contains(&path) || targets.objects.iter().any(|other| other.path == path) {
            let message = format!(
                "`{path}` is the journal of `{}`, and something else, too",
                object.path
            );
            problems.push(
                Diagnostic::error(message).hint("give each file and device a journal of its own"),
            );
        }
        seen.push(path);
        let problem = shape.head().and_then(|head| journal::problem(asked, head));
        problems.0.extend(problem);
        if asked.recovers && short_size(object).is_some() {
            let message = format!(
                "`{}` is missing or too short, and `{path}` tells what it holds",
                object.path
            );
            let hint = "give the storage that the journal is of, at its whole size";
            problems.push(Diagnostic::error(message).hint(hint));
        }
    }
    for ((_, job), places) in workload.jobs().zip(&targets.jobs) {
        let Some(validate) = job.features.validate.as_deref() else {
            continue;
        };
        let mut shapes = places
            .objects
            .iter()
            .filter_map(|object| shapes.get(*object)?.as_ref());
        if shapes.any(|shape| shape.journal() != validate.journal.as_ref()) {
            let message = format!(
                "job `{}` has another journal than one before it on the same storage",
                job.name
            );
            problems.push(Diagnostic::error(message).hint("give all jobs on it the same"));
        }
    }
}

/// By object: what the transfers of all its jobs come to, where any has checks.
fn shapes<'w>(workload: &'w Workload, targets: &Targets) -> Vec<Option<Shape<'w>>> {
    let mut shapes = vec![None; targets.objects.len()];
    for ((_, job), places) in workload.jobs().zip(&targets.jobs) {
        let Some(validate) = job.features.validate.as_deref() else {
            continue;
        };
        let of_job = job.unit().get();
        for (object, range) in places.objects.iter().zip(&places.ranges) {
            let Some(shape) = shapes.get_mut(*object) else {
                continue;
            };
            let shape: &mut Shape<'_> = shape.get_or_insert_default();
            shape.validate.get_or_insert(validate);
            shape.is_written |= job.mix.changes_data();
            shape.key_block = common_divisor(common_divisor(shape.key_block, of_job), range.offset);
            shape.end = shape.end.max(range.offset.saturating_add(range.length));
        }
    }
    shapes.iter_mut().flatten().for_each(Shape::adopt);
    shapes
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
