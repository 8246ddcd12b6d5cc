//! The workload of several hosts: what they share, and jobs that each has by itself.

use serde_json::Value;

use super::HostPart;

/// The jobs of one stage on one host.
pub(super) type Jobs<'a> = &'a [Value];

/// The stages of a host's workload, by their names, with their jobs.
pub(super) fn stages(part: &HostPart) -> impl Iterator<Item = (&Value, Jobs<'_>)> {
    let stages = part.record.workload["stage"].as_array();
    stages.into_iter().flatten().map(|stage| {
        let jobs = stage["job"].as_array().map_or(&[][..], Vec::as_slice);
        (&stage["name"], jobs)
    })
}

/// Whether each host has jobs of its own in a stage: those of a file that names hosts, and parts of a peer's file (Vdbench's)
/// that were given to different machines.
pub(super) fn are_their_own(one: Jobs<'_>, other: Jobs<'_>) -> bool {
    let names = |jobs: Jobs<'_>| -> Vec<Value> {
        let names = jobs.iter().map(|job| job["name"].clone());
        names.collect()
    };
    let mut all = one.iter().chain(other);
    let is_peers = |job: &Value| job["existing"] == "as-peer";
    all.clone().any(|job| job["host"].is_string())
        || (names(one) != names(other) && all.all(is_peers))
}

/// The workload of `first`, with the jobs of all hosts in stages where each host has jobs of its own.
pub(super) fn merged(first: &Value, parts: &[HostPart]) -> Value {
    let mut workload = first.clone();
    let whole = workload["stage"].as_array_mut().into_iter().flatten();
    for stage in whole {
        let name = stage["name"].clone();
        let found = parts.iter().flat_map(stages);
        let each: Vec<Jobs<'_>> = (found.filter(|(other, _)| **other == name))
            .map(|(_, jobs)| jobs)
            .collect();
        if !each.iter().any(|jobs| are_their_own(each[0], jobs)) {
            continue;
        }
        let mut jobs: Vec<Value> = Vec::new();
        for job in each.into_iter().flatten() {
            if !jobs.contains(job) {
                jobs.push(job.clone());
            }
        }
        stage["job"] = Value::Array(jobs);
    }
    workload
}
