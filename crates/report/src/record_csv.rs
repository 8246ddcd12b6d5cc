//! A record as CSV (RFC 4180, with line feeds): one row for each job and direction of each stage.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_record::{DirectionRecord, LatencyRecord, Record, StageRecord, TotalRecord};

use crate::csv::field;

const KEYS: [&str; 10] = [
    "min", "mean", "stddev", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99",
];

/// The rows of `record` below a header whose names end in their unit. Repeats and clones stand one by one; a stage whose jobs
/// are not known, since it was cut off, has its totals with an empty `job`. Where jobs are of several hosts, `host` is the first
/// column, and a host that was cut off has its own totals.
pub fn record_csv(record: &Record) -> String {
    let has_hosts = record.stages.iter().any(|stage| {
        let mut jobs = stage.jobs.iter();
        stage.hosts.is_some() || jobs.any(|job| job.host.is_some())
    });
    let mut text = if has_hosts { "host," } else { "" }.to_owned();
    text.push_str("stage,job,direction,ios,bytes,errors,iops,bandwidth_bytes_per_sec");
    for what in ["latency", "response"] {
        for key in KEYS {
            let _ = write!(text, ",{what}_{key}_ns");
        }
    }
    text.push('\n');
    for stage in &record.stages {
        write_stage(&mut text, stage, has_hosts);
    }
    text
}

fn write_stage(text: &mut String, stage: &StageRecord, has_hosts: bool) {
    let own = |host: Option<&str>| has_hosts.then(|| host.unwrap_or_default().to_owned());
    let totals = |text: &mut String, host: Option<&str>, total: &TotalRecord| {
        let ways = [&total.read, &total.write, &total.trim, &total.sync];
        let names = (own(host), [stage.name.as_str(), ""]);
        write_rows(text, names, ways, &total.meta);
    };
    let cut_off = stage.hosts.iter().flat_map(|hosts| &hosts.each);
    for host in cut_off.filter(|host| host.cut_off) {
        totals(text, Some(&host.host), &host.total);
    }
    if stage.jobs.is_empty() && stage.hosts.is_none() {
        totals(text, None, &stage.total);
    }
    for job in &stage.jobs {
        let ways = [&job.read, &job.write, &job.trim, &job.sync];
        let names = [stage.name.as_str(), &job.name];
        write_rows(text, (own(job.host.as_deref()), names), ways, &job.meta);
    }
}

fn write_rows(
    text: &mut String,
    (host, [stage, job]): (Option<String>, [&str; 2]),
    ways: [&Option<DirectionRecord>; 4],
    operations: &BTreeMap<String, DirectionRecord>,
) {
    let named = ["read", "write", "trim", "sync"].into_iter().zip(ways);
    let known = named.filter_map(|(name, way)| Some((name, way.as_ref()?)));
    let operations = operations.iter();
    let operations = operations.map(|(name, figures)| (name.as_str(), figures));
    for (direction, figures) in known.chain(operations) {
        if let Some(host) = &host {
            let _ = write!(text, "{},", field(host));
        }
        let names = [stage, job, direction].map(field).join(",");
        let (ios, bytes, errors) = (figures.ios, figures.bytes, figures.errors);
        let (iops, bandwidth) = (figures.iops, figures.bandwidth_bytes_per_sec);
        let _ = write!(text, "{names},{ios},{bytes},{errors},{iops},{bandwidth}");
        let latency = Some(&figures.latency_ns).filter(|_| ios > 0);
        write_latency(text, latency);
        write_latency(text, figures.response_ns.as_ref().filter(|_| ios > 0));
        text.push('\n');
    }
}

fn write_latency(text: &mut String, latency: Option<&LatencyRecord>) {
    let Some(known) = latency else {
        text.push_str(&",".repeat(KEYS.len()));
        return;
    };
    let _ = write!(
        text,
        ",{},{},{},{}",
        known.min, known.mean, known.stddev, known.max
    );
    let percentiles = [
        known.p50,
        known.p90,
        known.p95,
        known.p99,
        known.p99_9,
        known.p99_99,
    ];
    for value in percentiles {
        let _ = write!(text, ",{value}");
    }
}
