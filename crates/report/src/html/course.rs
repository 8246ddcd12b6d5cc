//! How each stage went, second by second.

use fathom_record::{IntervalDirection, IntervalRecord, Record, StageRecord};

use super::axis::Scale;
use super::chart::{Chart, Line, Side};
use crate::format::{rate, short_mean};

type Figure = fn(&IntervalDirection) -> u64;
type OfSecond = fn(&IntervalRecord) -> Option<&IntervalDirection>;

const DIRECTIONS: [(&str, OfSecond); 3] = [
    ("reads", |second| second.read.as_ref()),
    ("writes", |second| second.write.as_ref()),
    ("trims", |second| second.trim.as_ref()),
];

/// Rate, throughput and latency of the first `most` stages.
pub(super) fn section(record: &Record, most: usize) -> String {
    let seen = |stage: &&StageRecord| stage.intervals.len() > 1;
    let stages: Vec<&StageRecord> = record.stages.iter().filter(seen).collect();
    let charts: String = stages
        .iter()
        .take(most)
        .map(|stage| charts(stage))
        .collect();
    if charts.is_empty() {
        return String::new();
    }
    let left_out = if stages.len() > most {
        format!(
            "<p class=\"soft\">The first {most} of {} stages.</p>\n",
            stages.len()
        )
    } else {
        String::new()
    };
    format!("<h2>Over time</h2>\n{left_out}{charts}")
}

fn charts(stage: &StageRecord) -> String {
    let rates = lines(stage, |seconds, figures| figures.ios as f64 / seconds);
    let mebibytes = lines(stage, |seconds, figures| {
        figures.bytes as f64 / f64::from(1u32 << 20) / seconds
    });
    let mut latency = Vec::new();
    let percentiles: [(&str, Figure); 2] = [
        ("p50", |figures| figures.p50_ns),
        ("p99", |figures| figures.p99_ns),
    ];
    for (percentile, figure) in percentiles {
        let of_percentile = lines(stage, |_, figures| {
            if figures.ios == 0 {
                f64::NAN
            } else {
                figure(figures) as f64
            }
        });
        latency.extend(of_percentile.into_iter().map(|line| Line {
            name: format!("{} {percentile}", line.name),
            ..line
        }));
    }
    let chart = |what: &str, up: Side, lines: Vec<Line>| {
        let chart = Chart {
            title: format!("{}: {what}", stage.name),
            across: time(),
            up,
            lines,
        };
        chart.to_html()
    };
    [
        chart("I/Os a second", of(Scale::FromZero, "IOPS", rate), rates),
        chart("throughput", of(Scale::FromZero, "MiB/s", rate), mebibytes),
        chart(
            "latency of each second",
            of(Scale::Log, "latency", short_mean),
            latency,
        ),
    ]
    .concat()
}

fn of(scale: Scale, label: &'static str, figure: fn(f64) -> String) -> Side {
    Side {
        label,
        scale,
        figure,
        ticks: None,
    }
}

/// Time since the start of measurement.
pub(super) fn time() -> Side {
    of(Scale::FromZero, "time", short_mean)
}

/// Seconds shorter than this share of the longest are the end of a stage, in which its last I/Os came in: no rate.
const LEAST_LENGTH: f64 = 0.1;

/// A line for each direction with I/O: a figure of each second, at its end.
fn lines(stage: &StageRecord, figure: impl Fn(f64, &IntervalDirection) -> f64) -> Vec<Line> {
    let lengths = stage.intervals.iter().scan(0, |before, second| {
        let length = second.at_ns.saturating_sub(*before);
        *before = second.at_ns;
        Some(length as f64 / 1e9)
    });
    let least = lengths.clone().fold(0.0, f64::max) * LEAST_LENGTH;
    let mut lines = Vec::new();
    for (name, of_second) in DIRECTIONS {
        let mut points = Vec::with_capacity(stage.intervals.len());
        let mut ios = 0;
        for (second, seconds) in stage.intervals.iter().zip(lengths.clone()) {
            let Some(figures) = of_second(second) else {
                continue;
            };
            ios += figures.ios;
            if seconds <= least {
                continue;
            }
            points.push((second.at_ns as f64, figure(seconds, figures)));
        }
        if ios > 0 {
            lines.push(Line {
                name: name.to_owned(),
                points,
                marks: None,
            });
        }
    }
    lines
}
