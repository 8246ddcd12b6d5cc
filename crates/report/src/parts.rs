//! Parts of the storage as every view shows them: in the order in which people count, and only those that took part.

use fathom_record::{StageRecord, StorageRecord};

use crate::format::natural;

/// The parts of a stage that are shown, by name: `disk2` before `disk10`.
pub(crate) fn parts_of(stage: &StageRecord) -> Vec<(&String, &StorageRecord)> {
    // Each machine has three budgets, of which many runs use one.
    let used = |part: &StorageRecord| part.ios > 0 || part.kind != "vm";
    let mut parts: Vec<_> = stage
        .storage
        .iter()
        .filter(|(_, part)| used(part))
        .collect();
    parts.sort_by(|(a, _), (b, _)| natural(a).cmp(&natural(b)));
    parts
}
