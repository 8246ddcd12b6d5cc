//! Where the time went in the storage.

use std::collections::BTreeMap;

use fathom_record::{OverTimeRecord, RunKind, StageRecord, StorageRecord};
use fathom_report::{Summary, Width, html_page, summary};

use crate::records::{direction, job, record, stage};

/// Shares of reads weigh by reads; those of uncached volumes are told apart, and an older record of several volumes tells none.
fn told_of_caches(stage: &StageRecord, text: &impl Fn(&StageRecord) -> String) {
    let volume = |ios, cached_reads, hit_share| StorageRecord {
        kind: "volume".to_owned(),
        ios,
        cached_reads,
        hit_share,
        ..StorageRecord::default()
    };
    let reads = stage.total.read.as_ref().map_or(0, |reads| reads.ios);
    let (few, many) = (reads / 10, reads - reads / 10);
    let hot = volume(1 << 40, Some(few), Some(1.0));
    let cases = [
        (
            volume(many, Some(many), Some(0.0)),
            Some("10 % of the reads"),
        ),
        (
            volume(many, None, None),
            Some("100 % of the reads of cached volumes"),
        ),
        (volume(many, None, Some(0.0)), None),
    ];
    for (other, words) in cases {
        let mut stage = stage.clone();
        let both = [("x".to_owned(), hot.clone()), ("y".to_owned(), other)];
        stage.storage = BTreeMap::from(both);
        let told = text(&stage).replace("\n    ", " ");
        let sentence = words.map(|words| format!("latency; the cache served {words}\n"));
        let found = sentence
            .as_ref()
            .map_or(!told.contains("the cache served"), |words| {
                told.contains(words)
            });
        assert!(found, "{words:?}: {told}");
    }
}

#[test]
fn where_the_time_went_is_one_sentence() {
    let reads = direction(64_000.0, 8.0, &[("vm-cached-bytes", 0.98)]);
    let mut stage = stage("mix", vec![], &reads);
    (stage.total.read, stage.total.write) = (stage.total.write.take(), None);
    let over_time = OverTimeRecord {
        at_ns: (1..=4).map(|second| second * 600_000_000_000).collect(),
        iops_credit_share: vec![0.6, 0.3, 0.0, 0.0],
        ..OverTimeRecord::default()
    };
    let disk = StorageRecord {
        kind: "disk".to_owned(),
        over_time: Some(over_time),
        ..StorageRecord::default()
    };
    let volume = StorageRecord {
        kind: "volume".to_owned(),
        ios: 100,
        hit_share: Some(0.75),
        over_time: Some(OverTimeRecord {
            hit_share: vec![None, Some(0.02), Some(0.8), Some(0.99), None],
            ..OverTimeRecord::default()
        }),
        ..StorageRecord::default()
    };
    stage.storage = BTreeMap::from([("a/disk1".to_owned(), disk), ("a".to_owned(), volume)]);
    let text = |stage: &StageRecord| {
        summary(
            &record(RunKind::Predict, vec![stage.clone()], vec![]),
            Summary::Short,
            Width::PLAIN,
        )
    };
    let told = text(&stage).replace("\n    ", " ");
    let sentence = "  reads waited for the VM's cached throughput (`vm-cached-bytes`, 98 %), 90 % of their latency; \
                    the cache served 75 % of the reads (2 % at first, 99 % at last); credits of `a/disk1` lasted 1,800 s\n";
    assert!(told.contains(sentence), "{told}");
    told_of_caches(&stage, &text);
    for (left, words) in [
        ([1.0, 0.8, 0.6, 0.4], "credits of `a/disk1` fell to 40 %"),
        (
            [0.4, 0.45, 0.5, 0.5],
            "credits of `a/disk1` rose from 40 % to 50 %",
        ),
        ([0.4, 0.4, 0.4, 0.4], "credits of `a/disk1` stood at 40 %"),
        (
            [0.9995, 0.999, 0.9985, 0.998],
            "credits of `a/disk1` fell by less than 1 %",
        ),
        (
            [0.0, 0.0, 0.0, 0.0],
            "`a/disk1` had no credits left after 600 s",
        ),
        ([1.0, 1.0, 1.0, 1.0], "credits were not used"),
    ] {
        let disk = stage.storage.get_mut("a/disk1");
        if let Some(over_time) = disk.and_then(|disk| disk.over_time.as_mut()) {
            over_time.iops_credit_share = left.to_vec();
        }
        let told = text(&stage).replace("\n    ", " ");
        assert!(told.contains(words), "{words}: {told}");
        assert!(!told.contains("crash"), "{told}");
    }
    told_of_dirty(&mut stage, &text);
}

/// What is left in a cache has the unit that fits it.
fn told_of_dirty(stage: &mut StageRecord, text: &impl Fn(&StageRecord) -> String) {
    for (left, words) in [
        (3 << 30, "3,072 MiB"),
        ((1 << 20) - 4096, "1,020 KiB"),
        (4097, "5 KiB"),
        (512, "512 bytes"),
    ] {
        let volume = stage.storage.get_mut("a");
        if let Some(over_time) = volume.and_then(|volume| volume.over_time.as_mut()) {
            over_time.dirty_bytes = vec![0, 1 << 20, left];
        }
        let told = text(stage).replace("\n    ", " ");
        let words = format!(
            "; {words} written were in the host cache alone at the end, where a crash loses them"
        );
        assert!(told.contains(&words), "{told}");
    }
}

/// A prediction that was cut off is known by its seconds, which say nothing of limits.
#[test]
fn what_is_known_of_no_limit_waited_for_none() {
    let reads = direction(12_800.0, 20.0, &[]);
    let mut stage = stage("mix", vec![], &reads);
    let text = |stage: &StageRecord| {
        summary(
            &record(RunKind::Predict, vec![stage.clone()], vec![]),
            Summary::Short,
            Width::PLAIN,
        )
    };
    assert!(!text(&stage).contains("waited"), "{}", text(&stage));
    let disk = StorageRecord {
        kind: "disk".to_owned(),
        ..StorageRecord::default()
    };
    stage.storage = BTreeMap::from([("a/disk1".to_owned(), disk)]);
    let told = text(&stage);
    assert!(told.contains("writes waited for no limit"), "{told}");
}

/// The page has the parts of the storage in the order in which the text has them, and those alone.
#[test]
fn the_page_has_parts_in_the_order_of_the_text() {
    let writes = direction(500.0, 0.37, &[]);
    let mut stage = stage("s", vec![job("j", &writes, None)], &writes);
    let part = |kind: &str, ios| StorageRecord {
        kind: kind.to_owned(),
        ios,
        ..StorageRecord::default()
    };
    for (name, part) in [
        ("d10", part("disk", 1)),
        ("d9", part("disk", 1)),
        ("vm", part("vm", 0)),
    ] {
        stage.storage.insert(name.to_owned(), part);
    }
    let record = record(RunKind::Predict, vec![stage], vec![]);
    let text = summary(&record, Summary::Full, Width::PLAIN);
    for shown in [text, html_page(&record, None)] {
        let place = |name: &str| shown.find(name);
        assert!(place("disk d9") < place("disk d10"), "{shown}");
        assert!(place("disk d9").is_some(), "{shown}");
        assert_eq!(place("vm vm"), None, "{shown}");
    }
}

/// A job or a volume that is called as a drive is has the colon already.
#[test]
fn a_name_with_a_colon_has_one() {
    let reads = direction(64_000.0, 8.0, &[]);
    let mut stage = stage("mix", vec![job("D:", &reads, None)], &reads);
    let device = StorageRecord {
        kind: "device".to_owned(),
        ios: 3,
        ..StorageRecord::default()
    };
    stage.storage = BTreeMap::from([("E:".to_owned(), device)]);
    let told = record(RunKind::Predict, vec![stage], vec![]);
    let told = summary(&told, Summary::Full, Width::PLAIN);
    for part in ["D: 1 worker", "device E: 3 I/Os"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!told.contains("::"), "{told}");
}
