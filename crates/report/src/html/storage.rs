//! Parts of the storage: what passed them, how busy they were, how caches and credits went on.

use fathom_record::{OverTimeRecord, Record, StageRecord, StorageRecord, before_colon};
use fathom_units::{Bytes, group_digits};

use super::axis::Scale;
use super::chart::{Chart, LINES, Line, Side};
use super::course::time;
use super::text::{escaped, row, table};
use crate::format::share;
use crate::parts::parts_of;
use crate::summary::stage_or_repeat;

type Share = fn(&OverTimeRecord) -> Vec<Option<f64>>;

/// A table for each of the first `most` stages, and the course of what changes.
pub(super) fn section(record: &Record, most: usize) -> String {
    let stages = record.stages.iter().take(most);
    let stages: String = stages
        .map(|stage| of_stage(&stage_or_repeat(record, stage), stage))
        .collect();
    if stages.is_empty() {
        return String::new();
    }
    format!("<h2>Storage</h2>\n{stages}")
}

fn of_stage(name: &str, stage: &StageRecord) -> String {
    let parts = parts_of(stage).into_iter();
    let rows: String = parts.map(|(name, part)| part_row(name, part)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["", "I/Os", "bytes", "depth", "busy", "cache hits", "limits"];
    format!(
        "<h3>{}</h3>\n{}{}",
        escaped(name),
        table(&headings, &rows),
        over_time(name, stage)
    )
}

fn part_row(name: &str, part: &StorageRecord) -> String {
    let or_dash = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
    let cells = [
        group_digits(part.ios),
        Bytes::new(part.bytes).to_string(),
        or_dash(part.depth.map(|depth| format!("{depth:.1}"))),
        or_dash(part.busy_share.map(share)),
        or_dash(part.hit_share.map(share)),
        part.limits.join(", "),
    ];
    row(&format!("{} {name}", part.kind), &cells)
}

/// Cache hits and credits left, where the design has them and they changed.
fn over_time(name: &str, stage: &StageRecord) -> String {
    let shares: [(&str, Share); 3] = [
        ("reads that the host cache served", |times| {
            times.hit_share.clone()
        }),
        ("credits of I/Os left", |times| {
            some(&times.iops_credit_share)
        }),
        ("credits of bytes left", |times| {
            some(&times.bytes_credit_share)
        }),
    ];
    let mut html = String::new();
    for (what, shares) in shares {
        let mut lines: Vec<Line> = Vec::new();
        let parts = parts_of(stage).into_iter();
        let courses = parts.filter_map(|(name, part)| Some((name, part.over_time.as_ref()?)));
        for (part, times) in courses {
            let shares = shares(times);
            if shares.iter().flatten().all(|share| *share >= 1.0) || lines.len() == LINES {
                continue;
            }
            let points = times.at_ns.iter().zip(shares);
            lines.push(Line {
                name: part.clone(),
                points: points
                    .map(|(at, share)| (*at as f64, share.unwrap_or(f64::NAN)))
                    .collect(),
                marks: None,
            });
        }
        let chart = Chart {
            title: format!("{}: {what}", before_colon(name)),
            across: time(),
            up: Side {
                label: "share",
                scale: Scale::FromZero,
                figure: share,
                ticks: None,
            },
            lines,
            others: Vec::new(),
        };
        html.push_str(&chart.to_html());
    }
    html
}

fn some(shares: &[f64]) -> Vec<Option<f64>> {
    shares.iter().copied().map(Some).collect()
}
