//! Repeats of a stage, together and apart.

use std::collections::BTreeMap;

use fathom_record::{IntervalDirection, IntervalRecord, RunKind, StorageRecord};
use fathom_report::{Summary, Width, html_page, summary};

use crate::records::{check, direction, job, noted, record, stage};

#[test]
fn repeats_are_one_line_with_their_spread() {
    let stages = [85_000.0, 86_000.0, 87_000.0]
        .iter()
        .enumerate()
        .map(|(index, iops)| {
            let writes = direction(*iops, 0.37, &[]);
            let name = if index == 0 {
                "randwrite".to_owned()
            } else {
                format!("randwrite #{}", index + 1)
            };
            stage(&name, vec![job("randwrite", &writes, None)], &writes)
        });
    let mut record = record(RunKind::Run, stages.collect(), vec![]);
    record.workload = serde_json::json!({"stage": [{"name": "randwrite", "repeats": 3}]});
    record.notes.clear();
    check(&record, Summary::Short, include_str!("repeats.txt"));
}

#[test]
fn stages_called_like_repeats_are_stages() {
    let stages = [("x #1", 500.0), ("x #2", 2_000.0)].map(|(name, iops)| {
        let writes = direction(iops, 0.37, &[]);
        stage(name, vec![job("n", &writes, None)], &writes)
    });
    let mut record = record(RunKind::Run, stages.into(), vec![]);
    for repeats in [1, 3] {
        let stages =
            ["x #1", "x #2"].map(|name| serde_json::json!({"name": name, "repeats": repeats}));
        record.workload = serde_json::json!({ "stage": stages });
        let text = summary(&record, Summary::Short, Width::PLAIN);
        for part in ["x #1: n write", "x #2: n write", " 500 ", " 2,000 "] {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
        assert!(!text.contains('±') && !text.contains("1,250"), "{text}");
    }
}

#[test]
fn a_page_tells_repeats_apart() {
    let mut record = noted(
        &[("mix", 2), ("log", 1)],
        &[("mix", &[]), ("mix #2", &[]), ("log", &[])],
    );
    for stage in &mut record.stages {
        let second = |at_ns| IntervalRecord {
            at_ns,
            read: None,
            write: Some(IntervalDirection {
                ios: 500,
                bytes: 500 * 4096,
                p50_ns: Some(1_000),
                p99_ns: Some(2_000),
                max_ns: 3_000,
            }),
            trim: None,
            meta: BTreeMap::new(),
        };
        stage.intervals = vec![second(1_000_000_000), second(2_000_000_000)];
        stage
            .storage
            .insert("vda".to_owned(), StorageRecord::default());
    }
    let page = html_page(&record, None);
    for name in ["mix, repeat 1 of 2", "mix, repeat 2 of 2", "log"] {
        for title in [
            format!(">{name}: I/Os a second<"),
            format!("<h3>{name}</h3>"),
        ] {
            assert!(page.contains(&title), "`{title}` is not in\n{page}");
        }
    }
    // Repeats are drawn on one scale, which none of another stage has a part in.
    record.stages[1].intervals[0].write.as_mut().unwrap().ios = 900;
    record.stages[2].intervals[0].write.as_mut().unwrap().ios = 5_000;
    let page = html_page(&record, None);
    let scale = |name: &str| {
        let (_, chart) = page
            .split_once(&format!("<figcaption>{name}: I/Os a second<"))
            .unwrap();
        let (chart, _) = chart.split_once("</figure>").unwrap();
        let grid = chart.lines().filter(|line| line.contains("\"grid\""));
        grid.map(str::to_owned).collect::<Vec<_>>()
    };
    let repeats = ["mix, repeat 1 of 2", "mix, repeat 2 of 2"].map(scale);
    assert_eq!(repeats[0], repeats[1]);
    assert_ne!(repeats[0], scale("log"));
    // What is of all repeats bears the stage's name.
    assert!(page.contains(">mix: latency by share of I/Os<"), "{page}");
}
