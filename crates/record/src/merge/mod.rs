//! One record of the same workload's runs on several hosts.
//!
//! Counts and bytes are added up, histograms merged bucket by bucket; a rate is over the time in which any host was measuring.
//! Nothing here talks to a host: whoever has the records, however they came, has the merged one.
//!
//! Invariants: percentiles come from merged histograms; the order of the parts changes nothing.

mod checks;
mod environment;
mod figures;
mod fit;
mod intervals;
mod notes;
mod stage;
mod window;
mod workload;

use crate::sweep::sweep_of_hosts;
use crate::{PlannedStage, Record, Verdict};

pub use self::figures::{merged_latency, merged_response};
pub use self::fit::MergeError;

/// A host's run.
#[derive(Debug, Clone, PartialEq)]
pub struct HostPart {
    /// What the host is called in the merged record.
    pub host: String,
    /// Its record.
    pub record: Record,
    /// What is known of its clock; `None`: that it tells the time of day.
    pub clock: Option<HostClock>,
}

/// A host's monotonic clock beside the one by which all hosts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostClock {
    /// How far it is ahead, in ns.
    pub ahead_ns: i64,
    /// Within how much that is known, in ns.
    pub bound_ns: u64,
}

/// A host of which there is no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingHost {
    /// What it is called.
    pub host: String,
    /// Why there is none, in a few words.
    pub why: String,
}

/// What the machine of a record calls itself.
pub fn host_of(record: &Record) -> Option<&str> {
    record.environment["hostname"]
        .as_str()
        .filter(|name| !name.is_empty())
}

/// The record of all `parts` together; `missing` are hosts that should be among them.
///
/// # Errors
/// Parts that are no runs of one workload, or cannot be told apart.
pub fn merge(mut parts: Vec<HostPart>, missing: &[MissingHost]) -> Result<Record, MergeError> {
    parts.sort_by(|a, b| a.host.cmp(&b.host));
    fit::check(&parts, missing.len())?;
    // Of a host that was cut short the last stages may be missing, and never the first.
    let longest = parts.iter().map(|part| part.record.stages.len()).max();
    let stages = (0..longest.unwrap_or(0)).map(|index| stage::merged(&parts, index));
    let stages: Vec<_> = stages.collect();
    let checks = checks::merged(&parts, missing, &stages);
    let did_something = |total: &crate::TotalRecord| {
        let all = total
            .all
            .iter()
            .chain(&total.sync)
            .chain(total.meta.values());
        all.map(|figures| figures.ios).sum::<u64>() > 0
    };
    let did_something = stages.iter().any(|stage| {
        let mut jobs = stage.jobs.iter();
        did_something(&stage.total) || jobs.any(|job| job.meta.values().any(|it| it.ios > 0))
    });
    let verdict = match did_something {
        false => Verdict::Empty,
        true if checks.iter().all(|check| check.passed) => Verdict::Trustworthy,
        true => Verdict::Questionable,
    };
    // Of a run that was killed the checks are not known, and maybe not the workload.
    let fullness = |part: &&HostPart| {
        let record = &part.record;
        (record.workload.is_object(), !record.checks.is_empty())
    };
    let fullest = parts.iter().rev().max_by_key(fullness);
    let Some(HostPart { record: first, .. }) = fullest else {
        return Err(MergeError::TooFew { given: 0 });
    };
    Ok(Record {
        title: format!("{}, {} hosts", first.title, parts.len() + missing.len()),
        stored: false,
        started_unix_ns: least(&parts, |record| record.started_unix_ns),
        workload: workload::merged(&first.workload, &parts),
        environment: environment::merged(&parts),
        sweep: first.sweep.as_ref().map(|sweep| {
            let planned = PlannedStage::of_document(&first.workload);
            sweep_of_hosts(sweep, &planned, &stages, parts.len())
        }),
        checks,
        verdict,
        notes: notes::merged(&parts, &stages),
        interrupted: !missing.is_empty() || parts.iter().any(|part| part.record.interrupted),
        stages,
        ..first.clone()
    })
}

fn least(parts: &[HostPart], of: impl Fn(&Record) -> u64) -> u64 {
    let values = parts.iter().map(|part| of(&part.record));
    values.min().unwrap_or(0)
}
