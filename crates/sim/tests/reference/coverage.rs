//! What the random cases exercise, so that agreement on them means something.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::{Departure, Queue};
use super::random_cases::{Case, case};
use super::run::run;
use super::volume::Kind;

/// What happened in a case.
fn events(case: &Case) -> (usize, BTreeSet<&'static str>) {
    let mut seen = BTreeSet::new();
    let mut ios = 0;
    let (stages, storage) = run(&case.workload, &case.design);
    for stage in &stages {
        for measured in stage.workers.iter().flat_map(|worker| &worker.measured) {
            ios += measured.latencies.len();
            seen.extend(measured.waited.keys());
        }
        for row in stage.rows.values() {
            let share = row.hit_share.unwrap_or_default();
            let facts = [
                (share > 0.0 && share < 1.0, "both hits and misses"),
                (
                    row.memory_share > 0.0 && row.memory_share < share,
                    "hits in memory and behind it",
                ),
                (row.depth > 30.0, "more than 30 in a part"),
            ];
            seen.extend(facts.iter().filter(|(so, _)| *so).map(|(_, what)| *what));
        }
    }
    let several = |queue: &Queue| queue.left.iter().any(|left| left.units > 1);
    let held = |queue: &Queue| {
        let bucket = |left: &Departure| {
            let limit = left.held_by.and_then(|limit| queue.limits.get(limit));
            limit.is_some_and(|limit| limit.allowance.is_bucket())
        };
        queue.left.iter().any(bucket)
    };
    let kinds = |of: fn(&Kind) -> bool| {
        let used = storage
            .volumes
            .iter()
            .filter(|volume| volume.row.stays.len() > 10);
        used.into_iter().any(|volume| of(&volume.kind))
    };
    let facts = [
        (
            storage.queues.iter().any(several),
            "I/Os that count as several",
        ),
        (storage.queues.iter().any(held), "a bucket that is empty"),
        (
            storage.disks.iter().any(|disk| disk.flushed > 0),
            "background writes",
        ),
        (
            kinds(|kind| matches!(kind, Kind::Array(_))),
            "I/O on RAID-5",
        ),
        (kinds(|kind| matches!(kind, Kind::Nfs(_))), "I/O over NFS"),
        (
            kinds(|kind| matches!(kind, Kind::Share(_))),
            "I/O on a share",
        ),
    ];
    seen.extend(facts.iter().filter(|(so, _)| *so).map(|(_, what)| *what));
    (ios, seen)
}

#[test]
fn the_cases_meet_every_limit_often() {
    let mut tally: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ios = 0;
    let seeds = 0..250;
    for seed in seeds.clone() {
        let (done, seen) = events(&case(seed));
        ios += done as u64;
        for what in seen {
            *tally.entry(what).or_default() += 1;
        }
    }
    assert!(ios > 300 * seeds.end, "{ios} I/Os");
    let wanted = [
        "device-bytes",
        "device-iops",
        "disk-bytes",
        "disk-iops",
        "vm-cached-bytes",
        "vm-cached-iops",
        "vm-uncached-bytes",
        "vm-uncached-iops",
        "vm-network-bytes",
        "volume-iops",
        "volume-bytes",
        "connection-slots",
        "connection-bytes",
        "share-iops",
        "share-bytes",
        "file-iops",
        "file-bytes",
        "channel-iops",
        "channel-bytes",
        "I/O on a share",
        "a bucket that is empty",
        "background writes",
        "I/O on RAID-5",
        "I/O over NFS",
        "both hits and misses",
        "hits in memory and behind it",
        "more than 30 in a part",
        "I/Os that count as several",
    ];
    for what in wanted {
        let cases = tally.get(what).copied().unwrap_or_default();
        assert!(cases >= 6, "{what} in {cases} cases alone: {tally:#?}");
    }
}
