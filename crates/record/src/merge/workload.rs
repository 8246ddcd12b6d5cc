//! The workload of several hosts.

use serde_json::Value;

use super::HostPart;

/// The workload of `first`, with the jobs of all hosts in stages where each host has jobs of its own.
pub(super) fn merged(first: &Value, parts: &[HostPart]) -> Value {
    let mut workload = first.clone();
    let stages = workload["stage"].as_array_mut().into_iter().flatten();
    for stage in stages {
        let name = stage["name"].clone();
        let same = parts.iter().filter_map(|part| {
            let stages = part.record.workload["stage"].as_array()?;
            let stage = stages.iter().find(|stage| stage["name"] == name)?;
            stage["job"].as_array()
        });
        let all: Vec<&Value> = same.flatten().collect();
        if !all.iter().any(|job| job["host"].is_string()) {
            continue;
        }
        let mut jobs: Vec<Value> = Vec::new();
        for job in all {
            if !jobs.contains(job) {
                jobs.push(job.clone());
            }
        }
        stage["job"] = Value::Array(jobs);
    }
    workload
}
