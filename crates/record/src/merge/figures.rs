//! Figures of several hosts, jobs or repeats as one.

use std::collections::{BTreeMap, BTreeSet};

use fathom_stats::{Histogram, from_hdr_base64, to_hdr_base64};
use fathom_units::Nanos;

use crate::{DirectionRecord, LatencyRecord, TotalRecord};

/// Latency over all of `figures`: percentiles of the merged histograms, the mean over all I/Os. `None` without figures.
pub fn merged_latency(figures: &[&DirectionRecord]) -> Option<LatencyRecord> {
    let parts = figures.iter().map(|one| (&one.latency_ns, one.ios));
    merged(&parts.collect::<Vec<_>>())
}

/// Response time from intended start over all of `figures` that have it, in the same way. `None` where none has.
pub fn merged_response(figures: &[&DirectionRecord]) -> Option<LatencyRecord> {
    let parts = figures.iter();
    let parts = parts.filter_map(|one| Some((one.response_ns.as_ref()?, one.ios)));
    merged(&parts.collect::<Vec<_>>())
}

/// Distributions of so many durations each as one.
fn merged(parts: &[(&LatencyRecord, u64)]) -> Option<LatencyRecord> {
    let first = parts.first()?.0.clone();
    let parts: Vec<_> = parts.iter().filter(|(_, count)| *count > 0).collect();
    if let [] | [_] = parts.as_slice() {
        return Some(parts.first().map_or(first, |(only, _)| (*only).clone()));
    }
    let mut merged = Histogram::new();
    for histogram in parts
        .iter()
        .filter_map(|(one, _)| from_hdr_base64(&one.histogram).ok())
    {
        merged.merge(&histogram);
    }
    let count: f64 = parts.iter().map(|(_, count)| *count as f64).sum();
    let sum: f64 = parts
        .iter()
        .map(|(one, count)| one.mean * *count as f64)
        .sum();
    let mean = sum / count;
    let min = parts.iter().map(|(one, _)| one.min).min().unwrap_or(0);
    let max = parts.iter().map(|(one, _)| one.max).max().unwrap_or(0);
    // The encoding knows the smallest and the largest by their buckets alone, the record knows them exactly.
    let buckets: Vec<(u64, u64)> = merged.nonzero().collect();
    let exact = Histogram::from_buckets(&buckets, sum.round() as u128, min, max);
    let exact = exact.as_ref().unwrap_or(&merged);
    let at = |percent| exact.percentile(percent).clamp(min, max);
    Some(LatencyRecord {
        min,
        mean,
        stddev: exact.stddev(),
        max,
        p50: at(50.0),
        p90: at(90.0),
        p95: at(95.0),
        p99: at(99.0),
        p99_9: at(99.9),
        p99_99: at(99.99),
        histogram: to_hdr_base64(&merged).unwrap_or_default(),
    })
}

/// What hosts did within `span`: of each its figures and the time in which it was measured.
pub(super) fn direction(
    parts: &[(&DirectionRecord, Nanos)],
    span: Nanos,
) -> Option<DirectionRecord> {
    let figures: Vec<&DirectionRecord> = parts.iter().map(|(figures, _)| *figures).collect();
    let responses = figures
        .iter()
        .map(|one| Some((one.response_ns.as_ref()?, one.ios)));
    let responses: Option<Vec<_>> = responses.collect();
    let waits = waits(&figures);
    let (ios, bytes) = (
        figures.iter().map(|one| one.ios).sum::<u64>(),
        figures.iter().map(|one| one.bytes).sum::<u64>(),
    );
    let time = time_of(parts, span);
    Some(DirectionRecord {
        ios,
        bytes,
        errors: figures.iter().map(|one| one.errors).sum(),
        iops: fathom_units::per_second(ios, time),
        bandwidth_bytes_per_sec: fathom_units::per_second(bytes, time),
        latency_ns: merged_latency(&figures)?,
        response_ns: responses.and_then(|responses| merged(&responses)),
        waited_share: waits.as_ref().map(|(_, share)| *share),
        bound_by: waits.map(|(bound_by, _)| bound_by).unwrap_or_default(),
    })
}

/// Which limits the I/Os of all waited for, and how much of their latency that was. Waiting counts by its time.
fn waits(figures: &[&DirectionRecord]) -> Option<(BTreeMap<String, f64>, f64)> {
    let time = |one: &DirectionRecord| one.latency_ns.mean * one.ios as f64;
    let waited = |one: &DirectionRecord| one.waited_share.unwrap_or(0.0) * time(one);
    let all_waited: f64 = figures.iter().map(|one| waited(one)).sum();
    if all_waited <= 0.0 {
        return None;
    }
    let mut bound_by = BTreeMap::new();
    for one in figures {
        for (limit, part) in &one.bound_by {
            *bound_by.entry(limit.clone()).or_default() += part * waited(one) / all_waited;
        }
    }
    let all: f64 = figures.iter().map(|one| time(one)).sum();
    Some((bound_by, all_waited / all))
}

/// The time that a rate is over: `span`, unless I/O of this kind took turns with others (checks of what was written) on each
/// host; then the longest of those times.
fn time_of(parts: &[(&DirectionRecord, Nanos)], span: Nanos) -> Nanos {
    /// What rounding may make of a time.
    const SAME: f64 = 0.999;
    let mut own = parts.iter().filter(|(figures, _)| figures.ios > 0);
    let longest = own.try_fold(0.0_f64, |longest, (figures, measured)| {
        let seconds = figures.ios as f64 / figures.iops;
        let in_turns = seconds.is_finite() && seconds < measured.as_secs_f64() * SAME;
        in_turns.then(|| longest.max(seconds))
    });
    match longest {
        Some(seconds) if seconds > 0.0 => span.min(Nanos::new((seconds * 1e9) as u64)),
        _ => span,
    }
}

/// Stages' totals of hosts as one.
pub(super) fn total(parts: &[(&TotalRecord, Nanos)], span: Nanos) -> TotalRecord {
    let of = |pick: fn(&TotalRecord) -> Option<&DirectionRecord>| {
        let figures = parts.iter();
        let figures = figures.filter_map(|(total, measured)| Some((pick(total)?, *measured)));
        direction(&figures.collect::<Vec<_>>(), span)
    };
    let operations: BTreeSet<&String> = parts
        .iter()
        .flat_map(|(total, _)| total.meta.keys())
        .collect();
    let meta = operations.into_iter().filter_map(|name| {
        let figures = parts.iter();
        let figures =
            figures.filter_map(|(total, measured)| Some((total.meta.get(name)?, *measured)));
        let figures = direction(&figures.collect::<Vec<_>>(), span)?;
        Some((name.clone(), figures))
    });
    TotalRecord {
        read: of(|total| total.read.as_ref()),
        write: of(|total| total.write.as_ref()),
        trim: of(|total| total.trim.as_ref()),
        sync: of(|total| total.sync.as_ref()),
        meta: meta.collect(),
        all: of(|total| total.all.as_ref()),
    }
}
