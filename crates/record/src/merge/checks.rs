//! Checks of several hosts: those of each, and whether all were there, at one time.

use std::collections::{BTreeMap, BTreeSet};

use fathom_units::Nanos;

use super::fit::is_partial;
use super::{HostPart, MissingHost, workload};
use crate::checks::{LEAST_SAMPLES, MEASURE_LONGER, SAMPLES, check, samples_of};
use crate::{Check, DirectionRecord, HostsRecord, StageRecord, TotalRecord};

/// Starts further apart than this share of the time measured leave the first and last part of it to some hosts alone.
const SKEW_MOST: f64 = 0.01;
/// Rates over a time in which fewer hosts were measuring are those of less load than was asked for.
const TOGETHER_LEAST: f64 = 0.9;

/// The checks of `parts` and of `stages`, which they were merged into.
pub(super) fn merged(
    parts: &[HostPart],
    missing: &[MissingHost],
    stages: &[StageRecord],
) -> Vec<Check> {
    let mut ids: Vec<&str> = Vec::new();
    for check in parts.iter().flat_map(|part| &part.record.checks) {
        if !ids.contains(&check.id.as_str()) {
            ids.push(&check.id);
        }
    }
    let of_id = |id: &str| match id {
        SAMPLES => samples(parts, stages),
        id => of_hosts(parts, id),
    };
    let mut checks: Vec<Check> = ids.into_iter().map(of_id).collect();
    checks.extend([all_hosts(parts, missing, stages), start_skew(stages)]);
    checks
}

/// A check that passes where it passed on every host that has it.
fn of_hosts(parts: &[HostPart], id: &str) -> Check {
    let found = parts.iter().filter_map(|part| {
        let mut checks = part.record.checks.iter();
        let check = checks.find(|check| check.id == id)?;
        Some((part.host.as_str(), check))
    });
    let found: Vec<(&str, &Check)> = found.collect();
    let failed: Vec<_> = found.iter().filter(|(_, check)| !check.passed).collect();
    let shown = if failed.is_empty() {
        found.iter().collect()
    } else {
        failed.clone()
    };
    let first = shown.first().map(|(_, check)| *check);
    let is_one =
        |(_, check): &&&(&str, &Check)| Some(&check.evidence) == first.map(|it| &it.evidence);
    let evidence = if failed.is_empty() && shown.iter().filter(is_one).count() == shown.len() {
        first
            .map(|check| check.evidence.clone())
            .unwrap_or_default()
    } else {
        let each = shown
            .iter()
            .map(|(host, check)| format!("{host}: {}", check.evidence));
        each.collect::<Vec<_>>().join("; ")
    };
    Check {
        id: id.to_owned(),
        passed: failed.is_empty(),
        evidence,
        remedy: first.map(|check| check.remedy.clone()).unwrap_or_default(),
    }
}

/// Percentiles are read from the histograms of all hosts, so what all did together must be enough.
fn samples(parts: &[HostPart], stages: &[StageRecord]) -> Check {
    let count = |ways: [&Option<DirectionRecord>; 3]| {
        ways.map(|way| way.as_ref().map_or(0, |figures| figures.ios))
    };
    let of_total = |total: &TotalRecord| count([&total.read, &total.write, &total.trim]);
    let of_stages = stages
        .iter()
        .map(|stage| (stage.name.clone(), of_total(&stage.total)));
    let together = reported_together(parts);
    let of_jobs = stages.iter().flat_map(|stage| {
        let mut jobs: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
        for job in (stage.jobs.iter()).filter(|job| !together.contains(&job.name.as_str())) {
            let sums = jobs.entry(&job.name).or_default();
            let own = count([&job.read, &job.write, &job.trim]);
            sums.iter_mut().zip(own).for_each(|(sum, ios)| *sum += ios);
        }
        let named = |(job, sums)| (format!("{job} in {}", stage.name), sums);
        jobs.into_iter().map(named).collect::<Vec<_>>()
    });
    let hosts = stages.iter().filter_map(|stage| stage.hosts.as_ref());
    let few = hosts.flat_map(|hosts| &hosts.each).filter(|host| {
        let mut counts = of_total(&host.total).into_iter();
        counts.any(|ios| (1..LEAST_SAMPLES).contains(&ios))
    });
    let few: BTreeSet<&str> = few.map(|host| host.host.as_str()).collect();
    let alone = match few.first() {
        None => String::new(),
        Some(host) if few.len() == 1 => format!("; fewer behind that of {host} alone"),
        Some(_) => format!("; fewer behind those of {} hosts alone", few.len()),
    };
    let silent = format!("at least 1,000 I/Os of all hosts stand behind each p99{alone}");
    samples_of(of_stages.chain(of_jobs), &silent, MEASURE_LONGER)
}

/// Jobs whose figures are shown with those of others alone.
fn reported_together(parts: &[HostPart]) -> BTreeSet<&str> {
    let jobs = parts
        .iter()
        .flat_map(workload::stages)
        .flat_map(|(_, jobs)| jobs);
    jobs.filter(|job| job["group"]["together"] == true)
        .filter_map(|job| job["name"].as_str())
        .collect()
}

/// Hosts that are missing, or were ended before others were, and what is missing of them.
fn all_hosts(parts: &[HostPart], missing: &[MissingHost], stages: &[StageRecord]) -> Check {
    let mut gaps: Vec<String> = missing
        .iter()
        .map(|missing| format!("{}: {}", missing.host, missing.why))
        .collect();
    // Hosts that were all stopped measured the same.
    let all_stopped = parts.iter().all(is_partial);
    gaps.extend(
        parts
            .iter()
            .filter_map(|part| gap_of(part, stages, all_stopped)),
    );
    let expected = parts.len() + missing.len();
    let finding = (!gaps.is_empty()).then(|| {
        let whole = expected - gaps.len();
        format!(
            "{whole} of {expected} hosts measured all of it: {}",
            gaps.join("; ")
        )
    });
    check(
        "all-hosts",
        finding,
        &format!("all {expected} hosts measured every stage"),
        "look why the host was lost, and run it again on all; the rates are those of the hosts that were there",
    )
}

/// What a host did not measure.
fn gap_of(part: &HostPart, stages: &[StageRecord], all_stopped: bool) -> Option<String> {
    let (host, own) = (&part.host, &part.record.stages);
    let lacks = stages.get(own.len()).map(|stage| &stage.name);
    let cut_off = own.iter().find(|stage| super::fit::is_cut_off(stage));
    match (cut_off, lacks) {
        (Some(stage), _) => {
            let measured = Nanos::new(stage.measured_ns);
            let name = &stage.name;
            Some(format!(
                "{host} was cut off in `{name}`, {measured} into its measurement"
            ))
        }
        (None, Some(name)) => Some(format!("{host} has no stage `{name}`")),
        (None, None) if part.record.interrupted && !all_stopped => {
            Some(format!("{host} was stopped before its end"))
        }
        (None, None) => None,
    }
}

/// Hosts that do not measure at one time do not carry the load that is asked for at any.
fn start_skew(stages: &[StageRecord]) -> Check {
    let known = stages
        .iter()
        .filter_map(|stage| Some((stage, stage.hosts.as_ref()?)));
    let finding = known.clone().find_map(|(stage, hosts)| apart(stage, hosts));
    let is_known = known
        .clone()
        .any(|(_, hosts)| hosts.start_skew_ns.is_some());
    let most = known.filter_map(|(_, hosts)| hosts.start_skew_ns).max();
    let silent = if is_known {
        let most = Nanos::new(most.unwrap_or(0));
        format!("hosts began within {most} of each other, and measured together")
    } else {
        "not judged: when the hosts began is not known".to_owned()
    };
    check(
        "start-skew",
        finding,
        &silent,
        "start all hosts at one moment (`--start-at`, with clocks that NTP or PTP keeps together), let them measure for a time \
         and not for a size, and longer",
    )
}

/// How far apart hosts measured a stage, where that is too far.
fn apart(stage: &StageRecord, hosts: &HostsRecord) -> Option<String> {
    let (name, span) = (&stage.name, Nanos::new(stage.measured_ns));
    let skew = Nanos::new(hosts.start_skew_ns?);
    let share = |part: Nanos| part.as_secs_f64() / span.as_secs_f64().max(f64::MIN_POSITIVE);
    if share(skew) > SKEW_MOST {
        let percent = share(skew) * 100.0;
        return Some(format!(
            "{name}: hosts began up to {skew} apart, {percent:.1} % of the {span} measured"
        ));
    }
    let together = Nanos::new(hosts.together_ns);
    (share(together) < TOGETHER_LEAST).then(|| {
        format!("{name}: all hosts were measuring for {together} of the {span} in which any was")
    })
}
