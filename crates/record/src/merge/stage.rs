//! One stage of all hosts.

use std::collections::BTreeMap;

use super::window::{HostStage, hosts_of};
use super::{HostPart, figures, fit, intervals, notes};
use crate::{HostRecord, HostsRecord, JobRecord, StageRecord, StorageRecord};

/// Stage `index` of all hosts that have it.
pub(super) fn merged(parts: &[HostPart], index: usize) -> StageRecord {
    let (hosts, window) = hosts_of(parts, index);
    let totals = hosts
        .iter()
        .map(|host| (&host.stage.total, host.measured()));
    let totals: Vec<_> = totals.collect();
    let bounds = parts.iter().map(|part| Some(part.clock?.bound_ns));
    let bounds: Option<Vec<u64>> = bounds.collect();
    StageRecord {
        name: (hosts.first()).map_or(String::new(), |host| host.stage.name.clone()),
        started_unix_ns: window.first_unix_ns,
        started_ns: window.first_ns,
        measured_ns: window.span.get(),
        jobs: hosts.iter().flat_map(jobs).collect(),
        total: figures::total(&totals, window.span),
        intervals: intervals::merged(&hosts, window.span),
        storage: hosts.iter().flat_map(storage).collect::<BTreeMap<_, _>>(),
        emulation: None,
        notes: notes::of_stage(&hosts),
        hosts: Some(HostsRecord {
            start_skew_ns: window.skew.map(fathom_units::Nanos::get),
            clock_bound_ns: bounds.and_then(|bounds| bounds.into_iter().max()),
            together_ns: window.together.get(),
            each: hosts.iter().map(host_record).collect(),
        }),
    }
}

/// A host's jobs; those that have a host of their own (as in Vdbench's files) keep it.
fn jobs(host: &HostStage<'_>) -> impl Iterator<Item = JobRecord> {
    host.stage.jobs.iter().map(|job| JobRecord {
        host: job.host.clone().or_else(|| Some(host.host.to_owned())),
        ..job.clone()
    })
}

fn storage(host: &HostStage<'_>) -> impl Iterator<Item = (String, StorageRecord)> {
    let parts = host.stage.storage.iter();
    parts.map(|(name, part)| (format!("{}/{name}", host.host), part.clone()))
}

fn host_record(host: &HostStage<'_>) -> HostRecord {
    HostRecord {
        host: host.host.to_owned(),
        after_ns: host.after.map(fathom_units::Nanos::get),
        measured_ns: host.stage.measured_ns,
        cut_off: fit::is_cut_off(host.stage),
        total: host.stage.total.clone(),
    }
}
