//! Figures of several jobs or repeats as one.
//!
//! Invariant: percentiles come from merged histograms.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{DirectionRecord, StageRecord, merged_latency};

/// Operations on files in a stage, by operation: the names of the jobs that do them, and their figures together.
pub(super) fn operations(stage: &StageRecord) -> Vec<(&str, Vec<&str>, DirectionRecord)> {
    let jobs = || stage.jobs.iter();
    let operations: BTreeSet<&String> = jobs().flat_map(|job| job.meta.keys()).collect();
    let told = operations.into_iter().filter_map(|operation| {
        let done = jobs().filter_map(|job| Some((job.name.as_str(), job.meta.get(operation)?)));
        let done = done.filter(|(_, figures)| figures.ios > 0 || figures.errors > 0);
        let (names, figures): (Vec<&str>, Vec<&DirectionRecord>) = done.unzip();
        Some((operation.as_str(), names, together(&figures)?))
    });
    told.collect()
}

/// What jobs do at once: rates add up; waiting counts by its time.
fn together(figures: &[&DirectionRecord]) -> Option<DirectionRecord> {
    let waited = |one: &DirectionRecord| one.waited_share.unwrap_or(0.0) * time_of(one);
    let all_waited: f64 = figures.iter().map(|one| waited(one)).sum();
    let all_time: f64 = figures.iter().map(|one| time_of(one)).sum();
    let mut bound_by: BTreeMap<String, f64> = BTreeMap::new();
    for one in figures {
        for (limit, part) in &one.bound_by {
            *bound_by.entry(limit.clone()).or_default() += part * waited(one) / all_waited;
        }
    }
    Some(DirectionRecord {
        ios: figures.iter().map(|one| one.ios).sum(),
        bytes: figures.iter().map(|one| one.bytes).sum(),
        errors: figures.iter().map(|one| one.errors).sum(),
        iops: figures.iter().map(|one| one.iops).sum(),
        bandwidth_bytes_per_sec: figures.iter().map(|one| one.bandwidth_bytes_per_sec).sum(),
        latency_ns: merged_latency(figures)?,
        response_ns: None,
        waited_share: (all_waited > 0.0).then(|| all_waited / all_time),
        bound_by,
    })
}

/// The time that all I/Os took together, in ns.
fn time_of(figures: &DirectionRecord) -> f64 {
    figures.latency_ns.mean * figures.ios as f64
}
