//! Which volumes share one latency, and which cells tell of it.
//!
//! A job's latency is recorded over all its targets, so that volumes of one job cannot be told apart; nor can volumes that
//! one table of the design describes.

use std::collections::{BTreeMap, BTreeSet};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_model::{Design, LocateError, VolumeId};
use fathom_workload::{Job, Workload};

use crate::cells::{CellId, Measured};
use crate::document::Document;

/// Volumes that get one latency.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Tables of the design.
    pub entries: BTreeSet<usize>,
    /// Volumes that the record's jobs used.
    pub volumes: BTreeSet<VolumeId>,
    /// What was measured on them: indices of the cells.
    pub cells: Vec<usize>,
}

/// Sorts cells by the volumes they tell of. The second list is of volumes whose table cannot be changed.
///
/// # Errors
///
/// Where a job's path is served by no volume.
pub(crate) fn groups(
    workload: &Workload,
    cells: &[Measured],
    design: &Design,
    document: &Document<'_>,
) -> Result<(Vec<Group>, Vec<VolumeId>), Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut closed: BTreeSet<VolumeId> = BTreeSet::new();
    let mut found: BTreeMap<(usize, usize), BTreeSet<VolumeId>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        let CellId { stage, job, .. } = cell.id;
        let job_of = workload
            .stages
            .get(stage)
            .and_then(|stage| stage.jobs.get(job));
        let Some(job_of) = job_of else { continue };
        let volumes = found
            .entry((stage, job))
            .or_insert_with(|| volumes_of(job_of, design, &mut complaints));
        let entries: Option<BTreeSet<usize>> = volumes
            .iter()
            .map(|volume| document.entry_of(*volume))
            .collect();
        match entries {
            Some(entries) if !entries.is_empty() => {
                join(&mut groups, entries, volumes, index);
            }
            _ => closed.extend(volumes.iter()),
        }
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    Ok((groups, closed.into_iter().collect()))
}

fn volumes_of(job: &Job, design: &Design, complaints: &mut Diagnostics) -> BTreeSet<VolumeId> {
    let mut volumes = BTreeSet::new();
    for target in &job.targets {
        let path = target.place.path();
        match design.locate(job.host.as_deref(), path) {
            Ok(volume) => _ = volumes.insert(volume),
            Err(error) => complain(job, &error, complaints),
        }
    }
    volumes
}

fn complain(job: &Job, error: &LocateError, complaints: &mut Diagnostics) {
    let complaint = Diagnostic::error(format!("job `{}`: {error}", job.name)).hint(error.hint());
    if !complaints
        .0
        .iter()
        .any(|other| other.hint == complaint.hint)
    {
        complaints.push(complaint);
    }
}

/// Adds a cell to the group of its entries; groups that it connects become one.
fn join(
    groups: &mut Vec<Group>,
    entries: BTreeSet<usize>,
    volumes: &BTreeSet<VolumeId>,
    cell: usize,
) {
    let mut joined = Group {
        entries,
        volumes: volumes.clone(),
        cells: vec![cell],
    };
    let mut apart = Vec::new();
    for group in groups.drain(..) {
        if group.entries.is_disjoint(&joined.entries) {
            apart.push(group);
        } else {
            joined.entries.extend(group.entries);
            joined.volumes.extend(group.volumes);
            joined.cells.extend(group.cells);
        }
    }
    joined.cells.sort_unstable();
    apart.push(joined);
    *groups = apart;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_an_entry_is_one_group() {
        let mut groups = Vec::new();
        let none = BTreeSet::new();
        for (cell, entries) in [[0, 1], [2, 3], [4, 4], [3, 1]].into_iter().enumerate() {
            join(&mut groups, entries.into_iter().collect(), &none, cell);
        }
        let found: Vec<_> = groups.iter().map(|group| group.cells.clone()).collect();
        assert_eq!(found, [vec![2], vec![0, 1, 3]]);
    }
}
