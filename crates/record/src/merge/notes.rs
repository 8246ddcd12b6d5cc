//! Notes of several hosts.

use fathom_units::Nanos;
use serde_json::Value;

use super::HostPart;
use super::window::HostStage;
use super::workload;
use crate::StageRecord;

/// Notes of all records, and what is to be known of the hosts' clocks.
pub(super) fn merged(parts: &[HostPart], stages: &[StageRecord]) -> Vec<String> {
    let notes = parts
        .iter()
        .map(|part| (part.host.as_str(), part.record.notes.as_slice()));
    let mut notes = of_hosts(&notes.collect::<Vec<_>>());
    notes.extend(of_clocks(stages));
    notes.extend(
        [of_versions(parts), of_seeds(parts), of_targets(parts)]
            .into_iter()
            .flatten(),
    );
    notes
}

/// What each host has, where they have not all the same: `a, b: 1; c: 2`. Hosts of which it is not known are left out.
fn differing(parts: &[HostPart], of: impl Fn(&HostPart) -> Option<String>) -> Option<String> {
    /// How many hosts are named for a value, and how many values.
    const MOST: usize = 4;
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for part in parts {
        let Some(value) = of(part) else {
            continue;
        };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, hosts)) => hosts.push(&part.host),
            None => values.push((value, vec![&part.host])),
        }
    }
    let more = |count: usize| match count.saturating_sub(MOST) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let told = values.iter().take(MOST).map(|(value, hosts)| {
        let named = hosts[..hosts.len().min(MOST)].join(", ");
        format!("{named}{}: {value}", more(hosts.len()))
    });
    let told: Vec<String> = told.collect();
    (values.len() > 1).then(|| told.join("; ") + &more(values.len()))
}

/// What figures mean may change from one version to another.
fn of_versions(parts: &[HostPart]) -> Option<String> {
    let version = |part: &HostPart| {
        let tool = &part.record.tool;
        let built_from = Some(&tool.git).filter(|git| !git.is_empty());
        let built_from = built_from.map_or_else(String::new, |git| format!(" ({git})"));
        Some(format!("{} {}{built_from}", tool.name, tool.version))
    };
    let told = differing(parts, version)?;
    Some(format!(
        "the hosts' records were made by different versions: {told}"
    ))
}

/// Other seeds are other offsets, sizes and contents, as many of each kind.
fn of_seeds(parts: &[HostPart]) -> Option<String> {
    let seed = |part: &HostPart| {
        let seed = &part.record.workload["seed"];
        (!seed.is_null()).then(|| seed.to_string())
    };
    let told = differing(parts, seed)?;
    Some(format!(
        "the hosts drew their I/O from different seeds: {told}"
    ))
}

/// The targets of the first job that has not the same everywhere: the workload of the record names those of one host. Jobs that
/// each host has by itself stand there all.
fn of_targets(parts: &[HostPart]) -> Option<String> {
    let (first, others) = parts.split_first()?;
    let mut stages = workload::stages(first).enumerate();
    stages.find_map(|(index, (stage, jobs))| {
        let own = |part: &HostPart| {
            let theirs = workload::stages(part).nth(index);
            theirs.is_some_and(|(_, theirs)| workload::are_their_own(jobs, theirs))
        };
        if others.iter().any(own) {
            return None;
        }
        (0..jobs.len()).find_map(|number| {
            let targets = |part: &HostPart| {
                let (_, jobs) = workload::stages(part).nth(index)?;
                jobs.get(number).map(targets_of)
            };
            let told = differing(parts, targets)?;
            let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (job, stage) = (name(&jobs[number]["name"]), name(stage));
            Some(format!(
                "the hosts have targets of their own for `{job}` in `{stage}`: {told}"
            ))
        })
    })
}

/// Where a job goes, in words: its first target and how many there are.
fn targets_of(job: &Value) -> String {
    let several = job["targets"].as_array().map(Vec::as_slice);
    let all = several.unwrap_or(std::slice::from_ref(&job["target"]));
    let first = all.first().map_or_else(String::new, |target| {
        let path = target["path"]
            .as_str()
            .or(target["directory"].as_str())
            .map(str::to_owned);
        let size = target["size"].as_str().map(|size| format!(" ({size})"));
        path.unwrap_or_else(|| target.to_string()) + &size.unwrap_or_default()
    });
    match all.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// Notes of a stage.
pub(super) fn of_stage(hosts: &[HostStage<'_>]) -> Vec<String> {
    let notes = hosts
        .iter()
        .map(|host| (host.host, host.stage.notes.as_slice()));
    of_hosts(&notes.collect::<Vec<_>>())
}

/// A note that all hosts have once, others with their host.
fn of_hosts(hosts: &[(&str, &[String])]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for (host, notes) in hosts {
        for note in *notes {
            let by_all = hosts.iter().all(|(_, others)| others.contains(note));
            let words = if by_all {
                note.clone()
            } else {
                format!("{host}: {note}")
            };
            if !told.contains(&words) {
                told.push(words);
            }
        }
    }
    told
}

/// How well starts on several hosts can be compared.
fn of_clocks(stages: &[StageRecord]) -> Vec<String> {
    let hosts = || stages.iter().filter_map(|stage| stage.hosts.as_ref());
    let bound = hosts().filter_map(|hosts| hosts.clock_bound_ns).max();
    let mut notes = Vec::new();
    if let Some(bound) = bound {
        let bound = Nanos::new(bound);
        notes.push(format!(
            "the hosts' starts are compared to within ± {bound}"
        ));
    } else if hosts().any(|hosts| hosts.start_skew_ns.is_some()) {
        notes.push(
            "the hosts' starts are compared by their wall clocks, which are as good as what keeps them together (NTP: mostly \
             within a few milliseconds)"
                .to_owned(),
        );
    }
    let unknown = stages.iter().filter_map(|stage| {
        let each = &stage.hosts.as_ref()?.each;
        let host = each.iter().find(|host| host.after_ns.is_none())?;
        Some(format!(
            "when `{}` began `{}` is not known; it is taken to have begun with the first host",
            host.host, stage.name
        ))
    });
    notes.extend(unknown);
    notes
}
