//! A sweep: latency over rate for each curve, and its knee.

use fathom_record::{CurveRecord, PointRecord, SweepRecord};
use fathom_units::{Bytes, group_digits};

use super::axis::Scale;
use super::chart::{Chart, LINES, Line, Mark, Side};
use super::text::{row, table};
use crate::format::{mebibytes, rate, short_mean, short_time};

/// The curves in one chart, their points in one table.
pub(super) fn section(sweep: &SweepRecord) -> String {
    let rows: String = sweep.curves.iter().flat_map(rows).collect();
    let headings = [
        "",
        "outstanding",
        "IOPS",
        "MiB/s",
        "mean",
        "p50",
        "p99",
        "bound by",
    ];
    let charts = sweep.curves.chunks(LINES).map(|curves| {
        let chart = Chart {
            title: "Latency over I/Os a second; the numbers are I/Os outstanding".to_owned(),
            across: Side {
                label: "IOPS",
                scale: Scale::FromZero,
                figure: rate,
                ticks: None,
            },
            up: Side {
                label: "p99",
                scale: Scale::Log,
                figure: short_mean,
                ticks: None,
            },
            lines: curves.iter().map(line).collect(),
            others: Vec::new(),
        };
        chart.to_html()
    });
    let charts: String = charts.collect();
    format!("<h2>Sweep</h2>\n{charts}{}", table(&headings, &rows))
}

fn is_knee(curve: &CurveRecord, point: &PointRecord) -> bool {
    let knee = curve.knee.as_ref();
    knee.is_some_and(|knee| knee.stage == point.stage)
}

fn line(curve: &CurveRecord) -> Line {
    let points = curve.points.iter();
    let mark = |point: &PointRecord| {
        let is_knee = is_knee(curve, point);
        let knee = if is_knee { " knee" } else { "" };
        Mark {
            words: format!("{}{knee}", group_digits(point.outstanding)),
            is_first: is_knee,
        }
    };
    Line {
        name: if curve.name.is_empty() {
            "all jobs".to_owned()
        } else {
            curve.name.clone()
        },
        marks: Some(points.clone().map(mark).collect()),
        points: points
            .map(|point| (point.iops, point.latency_p99_ns as f64))
            .collect(),
    }
}

fn rows(curve: &CurveRecord) -> Vec<String> {
    let rows = curve.points.iter().map(|point| {
        let knee = if is_knee(curve, point) { " (knee)" } else { "" };
        let block = point.block_bytes.map(|bytes| Bytes::new(bytes).to_string());
        let name = [
            Some(curve.name.clone()),
            block.filter(|_| curve.name.is_empty()),
        ];
        let name: Vec<String> = name
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        let cells = [
            format!("{}{knee}", group_digits(point.outstanding)),
            rate(point.iops),
            mebibytes(point.bandwidth_bytes_per_sec),
            short_mean(point.latency_mean_ns),
            short_time(point.latency_p50_ns),
            short_time(point.latency_p99_ns),
            point.binds().unwrap_or("-").to_owned(),
        ];
        row(&name.join(", "), &cells)
    });
    rows.collect()
}
