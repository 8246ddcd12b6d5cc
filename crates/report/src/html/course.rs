//! How each stage went, second by second.

use std::ptr;

use fathom_record::{IntervalDirection, IntervalRecord, Record, StageRecord};

use super::axis::Scale;
use super::chart::{Chart, Line, Side};
use crate::format::{rate, short_mean};
use crate::repeats::stages_with_repeats;
use crate::summary::stage_or_repeat;

/// What a second is in which a direction has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Untold {
    /// Nothing came to its end in it.
    Nothing,
    /// What did may not have been told in time, as that of a worker which had no processor: a record knows it, events do not.
    Unknown,
}

/// A second in which nothing came to its end.
const NOTHING: IntervalDirection = IntervalDirection {
    ios: 0,
    bytes: 0,
    p50_ns: Some(0),
    p99_ns: Some(0),
    max_ns: 0,
};

type Figure = fn(&IntervalDirection) -> Option<u64>;
type OfSecond = fn(&IntervalRecord) -> Option<&IntervalDirection>;

pub(super) const DIRECTIONS: [(&str, OfSecond); 3] = [
    ("reads", |second| second.read.as_ref()),
    ("writes", |second| second.write.as_ref()),
    ("trims", |second| second.trim.as_ref()),
];

/// Rate, throughput and latency of the first `most` stages.
pub(super) fn section(record: &Record, most: usize) -> String {
    let seen = |stage: &&StageRecord| stage.intervals.len() > 1;
    let stages: Vec<&StageRecord> = record.stages.iter().filter(seen).collect();
    let repeated = stages_with_repeats(record);
    let first = stages.iter().take(most);
    let charts: String = first
        .map(|stage| {
            let all = repeated.iter().map(|(_, repeats)| repeats);
            let mut with_it = all.filter(|repeats| repeats.iter().any(|it| ptr::eq(*it, *stage)));
            let repeats = with_it.next().map_or(&[][..], Vec::as_slice);
            charts(&stage_or_repeat(record, stage), drawn_of(stage), repeats)
        })
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

/// The same of one stage that is still going on, as its events tell it.
pub(super) fn so_far(name: &str, seconds: &[IntervalRecord]) -> String {
    charts(name, drawn(seconds, Untold::Unknown), &[])
}

/// The lines of a stage: without jobs it is known by events alone.
fn drawn_of(stage: &StageRecord) -> [Vec<Line>; 3] {
    let untold = if stage.jobs.is_empty() {
        Untold::Unknown
    } else {
        Untold::Nothing
    };
    drawn(&stage.intervals, untold)
}

/// What a chart shows, how its figures are laid, their unit, and one in words.
type Upright = (&'static str, Scale, &'static str, fn(f64) -> String);

/// The charts of a stage, on the scales that `repeats` of it need, so that theirs can be laid beside it.
fn charts(name: &str, drawn: [Vec<Line>; 3], repeats: &[&StageRecord]) -> String {
    const SIDES: [Upright; 3] = [
        ("I/Os a second", Scale::FromZero, "IOPS", rate),
        ("throughput", Scale::FromZero, "MiB/s", rate),
        ("latency of each second", Scale::Log, "latency", short_mean),
    ];
    let mut others: [Vec<(f64, f64)>; 3] = Default::default();
    for repeat in repeats {
        for (others, lines) in others.iter_mut().zip(drawn_of(repeat)) {
            others.extend(corners(&lines).into_iter().flatten());
        }
    }
    let charts = SIDES.into_iter().zip(drawn).zip(others);
    let charts = charts.map(|(((what, scale, label, figure), lines), others)| {
        let chart = Chart {
            title: format!("{name}: {what}"),
            across: time(),
            up: of(scale, label, figure),
            lines,
            others,
        };
        chart.to_html()
    });
    charts.collect()
}

/// The least and the most of what is drawn along each side.
fn corners(lines: &[Line]) -> Option<[(f64, f64); 2]> {
    let points = lines.iter().flat_map(|line| &line.points);
    let points = points.filter(|(_, figure)| *figure > 0.0);
    points.fold(None, |corners, point| {
        let [least, most] = corners.unwrap_or([*point; 2]);
        Some([
            (least.0.min(point.0), least.1.min(point.1)),
            (most.0.max(point.0), most.1.max(point.1)),
        ])
    })
}

/// The lines of a stage's rates, of its throughput and of its latency.
fn drawn(intervals: &[IntervalRecord], untold: Untold) -> [Vec<Line>; 3] {
    let rates = lines(intervals, untold, |seconds, figures| {
        figures.ios as f64 / seconds
    });
    let mebibytes = lines(intervals, untold, |seconds, figures| {
        figures.bytes as f64 / f64::from(1u32 << 20) / seconds
    });
    let mut latency = Vec::new();
    let percentiles: [(&str, Figure); 2] = [
        ("p50", |figures| figures.p50_ns),
        ("p99", |figures| figures.p99_ns),
    ];
    // Seconds of several hosts have no percentiles.
    let largest: [(&str, Figure); 1] = [("max", |figures| Some(figures.max_ns))];
    let seconds = || intervals.iter();
    let directions = || seconds().flat_map(|it| [&it.read, &it.write, &it.trim]);
    let merged = directions()
        .flatten()
        .any(|figures| figures.p99_ns.is_none());
    let shown = if merged { &largest[..] } else { &percentiles };
    for (percentile, figure) in shown {
        let of_percentile = lines(intervals, untold, |_, figures| {
            let known = figure(figures).filter(|_| figures.ios > 0);
            known.map_or(f64::NAN, |ns| ns as f64)
        });
        latency.extend(of_percentile.into_iter().map(|line| Line {
            name: format!("{} {percentile}", line.name),
            ..line
        }));
    }
    [rates, mebibytes, latency]
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
    of(Scale::FromZero, "time", |ns| match ns {
        0.0 => "0s".to_owned(),
        _ => short_mean(ns),
    })
}

/// Seconds shorter than this share of the longest are the end of a stage, in which its last I/Os came in and no others took
/// their place: no rate.
const LEAST_LENGTH: f64 = 0.5;

/// A line for each direction with I/O: a figure of each second, at its end.
fn lines(
    intervals: &[IntervalRecord],
    untold: Untold,
    figure: impl Fn(f64, &IntervalDirection) -> f64,
) -> Vec<Line> {
    let lengths = intervals.iter().scan(0, |before, second| {
        let length = second.at_ns.saturating_sub(*before);
        *before = second.at_ns;
        Some(length as f64 / 1e9)
    });
    let least = lengths.clone().fold(0.0, f64::max) * LEAST_LENGTH;
    let mut lines = Vec::new();
    for (name, of_second) in DIRECTIONS {
        let mut points = Vec::with_capacity(intervals.len());
        let mut ios = 0;
        for (second, seconds) in intervals.iter().zip(lengths.clone()) {
            let figures = of_second(second);
            ios += figures.map_or(0, |figures| figures.ios);
            if seconds <= least {
                continue;
            }
            // Storage that stands still is not hidden by a line over it.
            let point = match (figures, untold) {
                (None, Untold::Unknown) => f64::NAN,
                (figures, _) => figure(seconds, figures.unwrap_or(&NOTHING)),
            };
            points.push((second.at_ns as f64, point));
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fathom_record::{IntervalDirection, IntervalRecord};

    use super::{Untold, drawn, lines, time};

    fn until(at_ms: u64, ios: u64) -> IntervalRecord {
        IntervalRecord {
            at_ns: at_ms * 1_000_000,
            read: Some(IntervalDirection {
                ios,
                bytes: ios * 4096,
                p50_ns: Some(1),
                p99_ns: Some(1),
                max_ns: 1,
            }),
            write: None,
            trim: None,
            meta: BTreeMap::new(),
        }
    }

    #[track_caller]
    fn check(intervals: &[IntervalRecord], expected: &[f64]) {
        let lines = lines(intervals, Untold::Nothing, |seconds, figures| {
            figures.ios as f64 / seconds
        });
        let rates: Vec<f64> = lines[0].points.iter().map(|point| point.1).collect();
        assert_eq!(rates, expected);
    }

    #[test]
    fn a_rate_is_over_the_true_length() {
        check(&[until(1_000, 500), until(2_000, 400)], &[500.0, 400.0]);
        check(&[until(1_000, 500), until(1_750, 300)], &[500.0, 400.0]);
    }

    #[test]
    fn a_second_without_io_is_drawn() {
        let mut still = until(2_000, 0);
        still.read = None;
        let seconds = [until(1_000, 500), still, until(3_000, 400)];
        check(&seconds, &[500.0, 0.0, 400.0]);
        let [so_far, ..] = drawn(&seconds, Untold::Unknown);
        let untold: Vec<bool> = so_far[0].points.iter().map(|it| it.1.is_nan()).collect();
        assert_eq!(untold, [false, true, false]);
    }

    #[test]
    fn the_last_ios_of_a_stage_are_no_rate() {
        check(&[until(1_000, 500), until(1_135, 8)], &[500.0]);
    }

    #[test]
    fn time_begins_at_no_seconds() {
        let figures = [0.0, 1e7, 3e10].map(time().figure);
        assert_eq!(figures, ["0s", "10ms", "30s"]);
    }
}
