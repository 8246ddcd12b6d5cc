//! What was done in one interval, by direction, and how several of them are added up.

use fathom_record::{OpStats, SetStats};

/// By [`fathom_workload::Direction`].
pub(super) type Directions = [Option<OpStats>; 3];

/// By direction, what was made durable, and what was done to file sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Latencies {
    pub(super) directions: Directions,
    pub(super) sync: Option<OpStats>,
    pub(super) set: SetStats,
}

impl Latencies {
    /// What is kept of an interval: what is in its record, and no response times.
    pub(super) fn kept(mut self) -> Self {
        self.sync = None;
        let of_set = self.set.0.iter_mut().map(|(_, stats)| stats);
        for stats in self.directions.iter_mut().flatten().chain(of_set) {
            stats.response = None;
        }
        self
    }
}

/// Without the two parts of latency.
pub(super) fn undivided(stats: &OpStats) -> OpStats {
    OpStats {
        bytes: stats.bytes,
        latency: stats.latency.clone(),
        response: stats.response.clone(),
        submit: None,
        complete: None,
    }
}

pub(super) fn add_latencies(mine: &mut Latencies, theirs: Latencies) {
    add_directions(&mut mine.directions, theirs.directions);
    merge_one(&mut mine.sync, theirs.sync.as_ref());
    mine.set.merge(&theirs.set);
}

pub(super) fn add_directions(mine: &mut [Option<OpStats>; 3], theirs: [Option<OpStats>; 3]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        match (mine, theirs) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (_, None) => {}
        }
    }
}

pub(super) fn merge(mine: &mut [Option<OpStats>; 3], theirs: &[Option<OpStats>; 3]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        merge_one(mine, theirs.as_ref());
    }
}

pub(super) fn merge_one(mine: &mut Option<OpStats>, theirs: Option<&OpStats>) {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}
