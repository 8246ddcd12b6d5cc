//! Which stages of a record are repeats of one stage.
//!
//! The record's workload says it: how often each of its stages is measured, in which order. Names alone do not: a stage may be
//! called `mix #2` by whoever wrote the workload.

use fathom_record::{PlannedStage, Record, StageRecord, planned_stages};

/// Repeats of one stage.
struct Group<'a> {
    /// Its index among the planned stages; `None` where the workload does not know it.
    planned: Option<usize>,
    name: &'a str,
    repeats: Vec<&'a StageRecord>,
}

/// The stages of a record by their names in the workload, repeats together, in order. What the workload does not know (there
/// is none where storage was served) stands by itself.
pub(crate) fn stages_with_repeats(record: &Record) -> Vec<(&str, Vec<&StageRecord>)> {
    let planned = PlannedStage::of_document(&record.workload);
    let mut groups: Vec<Group<'_>> = Vec::new();
    let names = record.stages.iter().map(|stage| stage.name.as_str());
    let found = planned_stages(&planned, names);
    for (stage, found) in record.stages.iter().zip(found) {
        let own = groups.iter_mut().rev().find(|group| group.planned == found);
        match own.filter(|_| found.is_some()) {
            Some(group) => group.repeats.push(stage),
            None => groups.push(Group {
                planned: found,
                name: found.map_or(&stage.name, |index| planned[index].name),
                repeats: vec![stage],
            }),
        }
    }
    let groups = groups.into_iter();
    groups.map(|group| (group.name, group.repeats)).collect()
}
