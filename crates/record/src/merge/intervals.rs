//! Seconds of all hosts as one course.
//!
//! A host's seconds count from its own start. Each goes to the second of the whole in which the middle of it lies, so that none
//! is more than half a second from its place.

use std::collections::BTreeMap;

use fathom_units::Nanos;

use super::window::HostStage;
use crate::{IntervalDirection, IntervalRecord};

const SECOND: u64 = 1_000_000_000;

/// The seconds of a stage that took `span`; longer ones where a host's are.
pub(super) fn merged(hosts: &[HostStage<'_>], span: Nanos) -> Vec<IntervalRecord> {
    let steps = hosts.iter().map(|host| step_of(&host.stage.intervals));
    let step = steps.max().unwrap_or(SECOND);
    let mut sums: BTreeMap<u64, IntervalRecord> = BTreeMap::new();
    for host in hosts {
        let start = host.start().get();
        let mut from = 0_u64;
        for interval in &host.stage.intervals {
            let middle = start + from.midpoint(interval.at_ns);
            let place = middle / step;
            add(
                sums.entry(place).or_insert_with(|| empty(place, step)),
                interval,
            );
            from = interval.at_ns;
        }
    }
    let mut intervals: Vec<IntervalRecord> = sums.into_values().collect();
    if let Some(last) = intervals.last_mut() {
        last.at_ns = span.get();
    }
    intervals
}

/// Length of a host's intervals in whole seconds.
fn step_of(intervals: &[IntervalRecord]) -> u64 {
    match intervals {
        [first, _, ..] => first.at_ns.div_ceil(SECOND).max(1) * SECOND,
        _ => SECOND,
    }
}

fn empty(place: u64, step: u64) -> IntervalRecord {
    IntervalRecord {
        at_ns: (place + 1) * step,
        read: None,
        write: None,
        trim: None,
        meta: BTreeMap::new(),
    }
}

fn add(sum: &mut IntervalRecord, interval: &IntervalRecord) {
    let ways = [
        (&mut sum.read, &interval.read),
        (&mut sum.write, &interval.write),
        (&mut sum.trim, &interval.trim),
    ];
    for (sum, part) in ways {
        if let Some(part) = part {
            *sum = Some(together(*sum, part));
        }
    }
    for (name, part) in &interval.meta {
        let whole = together(sum.meta.get(name).copied(), part);
        sum.meta.insert(name.clone(), whole);
    }
}

/// Of percentiles of seconds there are no histograms in a record: they cannot be merged.
fn together(sum: Option<IntervalDirection>, part: &IntervalDirection) -> IntervalDirection {
    let Some(sum) = sum else {
        return *part;
    };
    let known = |one: u64, ours: Option<u64>, other: u64, theirs: Option<u64>| match (one, other) {
        (0, _) => theirs,
        (_, 0) => ours,
        _ => None,
    };
    IntervalDirection {
        ios: sum.ios + part.ios,
        bytes: sum.bytes + part.bytes,
        p50_ns: known(sum.ios, sum.p50_ns, part.ios, part.p50_ns),
        p99_ns: known(sum.ios, sum.p99_ns, part.ios, part.p99_ns),
        max_ns: sum.max_ns.max(part.max_ns),
    }
}
