//! Where the time of a prediction went: one sentence a stage.
//!
//! It names the limits that I/Os waited for, with their shares of the waiting and the waiting's share of all latency; then
//! what the host cache served, how long credits lasted, and what was not yet on a disk.

use std::collections::BTreeMap;

use fathom_record::{DirectionRecord, LEAST_WAITING, RunKind, StageRecord, StorageRecord};
use fathom_units::{Nanos, group_digits};

use super::merged;
use crate::format::share;

/// Credits below this share of full are used up: what comes in is spent at once. Of the longest bucket it is half a second.
const USED_UP: f64 = 1e-4;
/// Credits above this share of full have not been drawn on: of the longest bucket it is 4 ms at the highest rate.
const UNTOUCHED: f64 = 1.0 - 1e-6;

type OfStage = fn(&StageRecord) -> &Option<DirectionRecord>;

/// The sentence of a stage over its repeats; `None` for real runs.
pub(super) fn sentence(kind: RunKind, repeats: &[&StageRecord]) -> Option<String> {
    if kind == RunKind::Run {
        return None;
    }
    let figures: [(&str, OfStage); 3] = [
        ("reads", |stage| &stage.total.read),
        ("writes", |stage| &stage.total.write),
        ("trims", |stage| &stage.total.trim),
    ];
    // Of a prediction that was cut off no part of the storage is known, and so no limit that was waited for.
    if repeats.iter().all(|stage| stage.storage.is_empty()) && !tells_limits(repeats) {
        return None;
    }
    let mut clauses: Vec<String> = figures
        .into_iter()
        .filter_map(|(direction, figures)| {
            let figures = repeats.iter().filter_map(|stage| figures(stage).as_ref());
            waiting(direction, &figures.collect::<Vec<_>>())
        })
        .collect();
    clauses.extend(operations(repeats));
    clauses.extend(cache(repeats));
    clauses.extend(credits(repeats));
    clauses.extend(dirty(repeats));
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Whether any I/O waited for a limit that is named.
fn tells_limits(repeats: &[&StageRecord]) -> bool {
    let totals = repeats.iter().flat_map(|stage| {
        let total = &stage.total;
        let moved = [&total.read, &total.write, &total.trim]
            .into_iter()
            .flatten();
        let jobs = stage.jobs.iter().flat_map(|job| job.meta.values());
        moved.chain(jobs)
    });
    { totals }.any(|figures| !figures.bound_by.is_empty())
}

/// What operations on files waited for, each of them over the repeats.
fn operations(repeats: &[&StageRecord]) -> Vec<String> {
    let all = repeats.iter().flat_map(|stage| merged::operations(stage));
    let mut figures: BTreeMap<&str, Vec<DirectionRecord>> = BTreeMap::new();
    for (operation, _, one) in all {
        figures.entry(operation).or_default().push(one);
    }
    let told = figures.into_iter().filter_map(|(operation, figures)| {
        waiting(
            &format!("`{operation}`"),
            &figures.iter().collect::<Vec<_>>(),
        )
    });
    told.collect()
}

fn waiting(direction: &str, figures: &[&DirectionRecord]) -> Option<String> {
    let figures: Vec<&DirectionRecord> = figures
        .iter()
        .copied()
        .filter(|figures| figures.ios > 0)
        .collect();
    let count = figures.len() as f64;
    let mut bound_by: BTreeMap<&str, f64> = BTreeMap::new();
    for (limit, part) in figures.iter().flat_map(|figures| &figures.bound_by) {
        *bound_by.entry(limit).or_default() += part / count;
    }
    figures.first()?;
    let waited = figures.iter().filter_map(|figures| figures.waited_share);
    let waited = waited.sum::<f64>() / count;
    if bound_by.is_empty() {
        return Some(format!("{direction} waited for no limit"));
    }
    if waited < LEAST_WAITING {
        return Some(format!(
            "{direction} hardly waited for limits (under 1 % of their latency)"
        ));
    }
    let (limits, waited) = (in_words(&bound_by), share(waited));
    Some(format!(
        "{direction} waited for {limits}, {waited} of their latency"
    ))
}

fn in_words(bound_by: &BTreeMap<&str, f64>) -> String {
    let mut limits: Vec<_> = bound_by
        .iter()
        .filter(|(_, part)| **part >= 0.005)
        .collect();
    limits.sort_by(|a, b| b.1.total_cmp(a.1));
    let words = limits.into_iter().map(|(limit, part)| {
        let (name, part) = (limit_name(limit), share(*part));
        format!("{name} (`{limit}`, {part})")
    });
    words.collect::<Vec<_>>().join(" and ")
}

fn parts<'a>(repeats: &[&'a StageRecord]) -> impl Iterator<Item = &'a StorageRecord> {
    let repeats: Vec<&StageRecord> = repeats.to_vec();
    repeats.into_iter().flat_map(|stage| stage.storage.values())
}

/// Whether any I/O went to a volume, a device or a share that no host cache stands before.
fn uncached(repeats: &[&StageRecord]) -> bool {
    { parts(repeats) }.any(|part| {
        let is_whole = matches!(part.kind.as_str(), "volume" | "device" | "share");
        is_whole && part.ios > 0 && part.cached_reads.is_none() && part.hit_share.is_none()
    })
}

/// What the host caches served of the reads of all cached volumes, and how many these were; `None` where none came, or where
/// an older record does not tell how many each of several volumes had.
fn served(repeats: &[&StageRecord]) -> Option<(f64, u64)> {
    let rows = repeats.iter().flat_map(|stage| &stage.storage);
    let cached: Vec<_> = rows
        .filter_map(|(name, part)| Some((name, part, part.hit_share?)))
        .collect();
    let (first, ..) = cached.first()?;
    let is_one = cached.iter().all(|(name, ..)| name == first);
    let reads = |part: &StorageRecord| part.cached_reads.or(is_one.then_some(part.ios));
    let (mut hits, mut all, mut whole) = (0.0, 0, 0);
    for (_, part, hit_share) in cached {
        let reads = reads(part)?;
        hits += hit_share * reads as f64;
        all += reads;
        // Parts of striped reads are more than the reads.
        whole += reads.min(part.ios);
    }
    (all > 0).then(|| (hits / all as f64, whole))
}

/// What the host caches served, and how that changed at the volume of most reads.
fn cache(repeats: &[&StageRecord]) -> Option<String> {
    const CHANGED: f64 = 0.1;
    // Some are on their way when measuring begins.
    const ALMOST_ALL: f64 = 0.99;
    let (hits, cached_reads) = served(repeats)?;
    let busiest = parts(repeats).filter(|part| part.hit_share.is_some());
    let busiest = busiest.max_by_key(|part| part.cached_reads.unwrap_or(part.ios));
    let course = busiest.and_then(|part| part.over_time.as_ref());
    let known = course.map_or(&[][..], |course| &course.hit_share);
    let mut known = known.iter().flatten();
    let first = known.next();
    let ends = first.zip(known.next_back());
    let changed = ends.filter(|(first, last)| (**first - **last).abs() > CHANGED);
    let course = changed.map_or_else(String::new, |(first, last)| {
        format!(" ({} at first, {} at last)", share(*first), share(*last))
    });
    // An uncached volume that is only written to takes no reads away.
    let reads = repeats.iter().filter_map(|stage| stage.total.read.as_ref());
    let all_reads: u64 = reads.map(|reads| reads.ios).sum();
    let of = if uncached(repeats) && (cached_reads as f64) < all_reads as f64 * ALMOST_ALL {
        "the reads of cached volumes"
    } else {
        "the reads"
    };
    Some(format!("the cache served {} of {of}{course}", share(hits)))
}

/// The credits of one limit of one part over a stage.
struct Credits<'a> {
    part: &'a str,
    at_ns: &'a [u64],
    left: &'a [f64],
}

impl Credits<'_> {
    fn least(&self) -> f64 {
        self.left.iter().copied().fold(1.0, f64::min)
    }

    /// When they were first seen used up, and at which of the values.
    fn used_up(&self) -> Option<(u64, usize)> {
        let index = self.left.iter().position(|left| *left <= USED_UP)?;
        Some((*self.at_ns.get(index)?, index))
    }

    /// How they went on while they lasted. The first value is of the first second's end, so that a single one may have come
    /// from anywhere.
    fn course(&self) -> String {
        let (part, least) = (self.part, self.least());
        let ends = self.left.first().zip(self.left.last());
        match ends {
            _ if least > 0.995 => format!("credits of `{part}` fell by less than 1 %"),
            Some((first, last)) if first <= last && *first <= least => {
                let (first, last) = (share(*first), share(*last));
                if first == last {
                    format!("credits of `{part}` stood at {first}")
                } else {
                    format!("credits of `{part}` rose from {first} to {last}")
                }
            }
            _ => format!("credits of `{part}` fell to {}", share(least)),
        }
    }
}

/// When the first credits were used up, or how the scarcest went on.
fn credits(repeats: &[&StageRecord]) -> Option<String> {
    let rows = repeats.iter().flat_map(|stage| &stage.storage);
    let told = rows.filter_map(|(part, row)| Some((part, row.over_time.as_ref()?)));
    let lists = told.flat_map(|(part, course)| {
        let lists = [&course.iops_credit_share, &course.bytes_credit_share];
        lists.map(|left| Credits {
            part,
            at_ns: &course.at_ns,
            left,
        })
    });
    let lists: Vec<Credits> = lists.filter(|list| !list.left.is_empty()).collect();
    let scarcest = lists
        .iter()
        .min_by(|a, b| a.least().total_cmp(&b.least()))?;
    if scarcest.least() > UNTOUCHED {
        return Some("credits were not used".to_owned());
    }
    let used_up = lists
        .iter()
        .filter_map(|list| Some((list.used_up()?, list.part)));
    let Some(((at, index), part)) = used_up.min() else {
        return Some(scarcest.course());
    };
    let seconds = group_digits(Nanos::new(at).as_secs_f64().round() as u64);
    Some(match index {
        // They may have been gone when the stage began.
        0 => format!("`{part}` had no credits left after {seconds} s"),
        _ => format!("credits of `{part}` lasted {seconds} s"),
    })
}

/// How much of what was written was in host caches alone when the stage ended: such writes were faster than their disks.
fn dirty(repeats: &[&StageRecord]) -> Option<String> {
    let last = repeats.last()?;
    let told = last
        .storage
        .values()
        .filter_map(|part| part.over_time.as_ref());
    let left: u64 = told.filter_map(|course| course.dirty_bytes.last()).sum();
    (left > 0).then(|| {
        let left = written(left);
        format!("{left} written were in the host cache alone at the end, where a crash loses them")
    })
}

/// Bytes in whole units, rounded up.
fn written(bytes: u64) -> String {
    let (unit, called) = match bytes {
        0..1024 => (1, "bytes"),
        1024..0x10_0000 => (1024, "KiB"),
        _ => (1 << 20, "MiB"),
    };
    format!("{} {called}", group_digits(bytes.div_ceil(unit)))
}

/// The limit in plain words.
pub(super) fn limit_name(limit: &str) -> &str {
    match limit {
        "disk-iops" => "the disks' IOPS",
        "disk-bytes" => "the disks' throughput",
        "vm-cached-iops" => "the VM's cached IOPS",
        "vm-cached-bytes" => "the VM's cached throughput",
        "vm-uncached-iops" => "the VM's uncached IOPS",
        "vm-uncached-bytes" => "the VM's uncached throughput",
        "device-iops" => "the device's IOPS",
        "device-bytes" => "the device's throughput",
        "vm-network-iops" => "the VM's network operations",
        "vm-network-bytes" => "the VM's network bandwidth",
        "volume-iops" => "the volume's IOPS",
        "volume-bytes" => "the volume's throughput",
        "share-iops" => "the share's IOPS",
        "share-bytes" => "the share's throughput",
        "file-iops" => "the file's IOPS",
        "file-bytes" => "the file's throughput",
        "channel-iops" => "the channel's IOPS",
        "channel-bytes" => "the channel's throughput",
        "metadata-iops" => "the share's metadata operations",
        "metadata-bytes" => "the share's metadata throughput",
        "connection-slots" => "free slots of its connections",
        "connection-bytes" => "bytes in flight on its connections",
        "stall" => "stalled storage",
        other => other,
    }
}
