//! One record of what all hosts measured.

use std::collections::BTreeMap;

use fathom_record::{HostClock, HostPart, MissingHost, Record, StageRecord, merge};
use fathom_session::{Code, Failure};

use crate::lead::Known;
use crate::offset::Offset;
use crate::order::Together;

/// The record of all hosts that measured something; `None` where none did.
///
/// # Errors
/// Records that cannot be merged.
pub fn merged(
    hosts: &[Known],
    names: &[String],
    order: &[Together],
) -> Option<Result<Record, Failure>> {
    let record = |host: &Known| host.ended.as_ref()?.record.clone();
    let found = hosts.iter().enumerate();
    let mut found: Vec<(usize, Record)> = found
        .filter_map(|(rank, host)| Some((rank, record(host)?)))
        .collect();
    if hosts.len() == 1 {
        return found.pop().map(|(_, record)| Ok(record));
    }
    if found.is_empty() {
        return None;
    }
    let missing = hosts.iter().zip(names).filter_map(|(host, name)| {
        let why = match &host.ended {
            Some(ended) if ended.record.is_some() => return None,
            Some(_) => "it failed before it measured anything",
            None => "nothing was heard of it to the end",
        };
        Some(MissingHost {
            host: name.clone(),
            why: why.to_owned(),
        })
    });
    let missing: Vec<MissingHost> = missing.collect();
    pad(&mut found, order);
    let parts = found.into_iter().map(|(rank, record)| HostPart {
        host: names[rank].clone(),
        clock: Some(HostClock {
            ahead_ns: 0,
            bound_ns: bound(&hosts[rank].clocks),
        }),
        record: on_one_clock(record, &hosts[rank].clocks),
    });
    let merged = merge(parts.collect(), &missing);
    Some(merged.map_err(|error| {
        let hint = "each host's own run is stored there; `fathom merge` takes them";
        Failure::new(
            Code::Unexpected,
            format!("no one record comes of it: {error}"),
        )
        .hint(hint)
    }))
}

fn bound(clocks: &[(String, Offset)]) -> u64 {
    let bounds = clocks.iter().map(|(_, clock)| clock.bound.get());
    bounds.max().unwrap_or(0)
}

/// The record with its stages' starts by the first host's clock: clocks drift, and were looked at before each stage.
fn on_one_clock(mut record: Record, clocks: &[(String, Offset)]) -> Record {
    let mut clocks = clocks.iter();
    for stage in &mut record.stages {
        let clock = clocks.find(|(name, _)| *name == stage.name);
        stage.started_ns = (stage.started_ns.zip(clock))
            .map(|(at, (_, clock))| at.saturating_add_signed(clock.ahead_ns.saturating_neg()));
    }
    record
}

/// Gives each host an empty stage where it has no part in one that others measured before its last, so that what bears one
/// number is the same stage on all.
fn pad(found: &mut [(usize, Record)], order: &[Together]) {
    // Of each host: the stage of all that each of its own is.
    let places = |(rank, record): &(usize, Record)| -> Vec<usize> {
        let own = order.iter().enumerate();
        let mut own = own.filter(|(_, stage)| stage.own[*rank].is_some());
        let stages = record.stages.iter();
        let place = |stage: &StageRecord| own.find(|(_, it)| it.name == stage.name);
        stages.map_while(place).map(|(at, _)| at).collect()
    };
    let places: Vec<Vec<usize>> = found.iter().map(places).collect();
    let mut measured: BTreeMap<usize, StageRecord> = BTreeMap::new();
    for ((_, record), places) in found.iter().zip(&places) {
        for (stage, place) in record.stages.iter().zip(places) {
            measured
                .entry(*place)
                .or_insert_with(|| StageRecord::empty(&stage.name));
        }
    }
    for ((rank, record), places) in found.iter_mut().zip(&places) {
        let mut own = std::mem::take(&mut record.stages).into_iter();
        for (place, empty) in &measured {
            if places.contains(place) {
                record.stages.extend(own.next());
            } else if order[*place].own[*rank].is_none() {
                record.stages.push(empty.clone());
            }
        }
        record.stages.extend(own);
    }
}
