//! A sweep: its points, its curves, and where each bends.

use std::fmt::Write as _;

use fathom_record::{CurveRecord, KneePlace, PointRecord, SweepRecord};

use crate::cells::{columns_of, padded};
use crate::format::{mebibytes, rate, short_mean, short_time, shortened};
use crate::lines::Lines;
use crate::plot::{Mark, plot};

/// Adds the table of all points, the plot, and a sentence for each curve's knee.
pub(super) fn write_sweep(text: &mut Lines, sweep: &SweepRecord) {
    write_points(text, sweep);
    write_plot(text, sweep);
    write_knees(text, sweep);
}

/// Columns of a rate, and of each figure behind it.
const FIGURES: [usize; 2] = [9, 7];
/// What stands above those.
const TITLES: [&str; 5] = ["IOPS", "MiB/s", "mean", "p50", "p99"];

fn write_points(text: &mut Lines, sweep: &SweepRecord) {
    const LONGEST_NAME: usize = 24;
    let all = || sweep.curves.iter().flat_map(|curve| &curve.points);
    let names = sweep
        .curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point_name(curve, point)));
    let longest = names.map(|name| columns_of(&name) + 2).max().unwrap_or(0);
    let limits = all().filter_map(PointRecord::binds);
    let limit = limits.map(|limit| limit.chars().count() + 2).max();
    let [first, cell] = FIGURES;
    let figures = 1 + first + (TITLES.len() - 1) * (cell + 1);
    if text.is_narrow() && longest.max(8) + figures + limit.unwrap_or(0) > text.columns() {
        return write_points_below(text, sweep);
    }
    let width = longest.clamp(8, LONGEST_NAME);
    let header = TITLES[1..].iter().map(|title| format!(" {title:>cell$}"));
    let header: String = header.collect();
    let mut header = format!("{:width$} {:>first$}{header}", "", TITLES[0]);
    if limit.is_some() {
        header.push_str("  bound by");
    }
    let _ = writeln!(text, "{header}");
    for curve in &sweep.curves {
        write_name(text, curve);
        for point in &curve.points {
            let name = marked_name(curve, point);
            let figures = figures_of(point);
            let beside = figures[1..]
                .iter()
                .map(|figure| format!(" {figure:>cell$}"));
            let beside: String = beside.collect();
            let name = padded(&shortened(&name, width), width);
            let line = format!("{name} {:>first$}{beside}", figures[0]);
            let left = text.columns().saturating_sub(columns_of(&line) + 2);
            let bound = point.binds();
            let bound = bound.map_or(String::new(), |by| format!("  {}", shortened(by, left)));
            let _ = writeln!(text, "{line}{bound}");
        }
    }
}

/// The points of a narrow screen: each name, and what bounds it, with its figures on the lines below.
fn write_points_below(text: &mut Lines, sweep: &SweepRecord) {
    let add = |text: &mut Lines, figures: &[String; 5]| {
        let (rates, latencies) = figures.split_at(2);
        text.figures(&[rates, latencies], FIGURES);
    };
    add(text, &TITLES.map(str::to_owned));
    for curve in &sweep.curves {
        write_name(text, curve);
        for point in &curve.points {
            let bound = point.binds();
            let bound = bound.map_or(String::new(), |by| format!(", bound by {by}"));
            text.wrap("", &format!("{}{bound}", marked_name(curve, point)), 4);
            add(text, &figures_of(point));
        }
    }
}

fn write_name(text: &mut Lines, curve: &CurveRecord) {
    if !curve.name.is_empty() {
        let _ = writeln!(text, "{}", shortened(&curve.name, text.columns()));
    }
}

fn marked_name(curve: &CurveRecord, point: &PointRecord) -> String {
    let mark = if is_knee(curve, point) { "*" } else { " " };
    format!("{mark} {}", point_name(curve, point))
}

/// In the order of [`TITLES`].
fn figures_of(point: &PointRecord) -> [String; 5] {
    [
        rate(point.iops),
        mebibytes(point.bandwidth_bytes_per_sec),
        short_mean(point.latency_mean_ns),
        short_time(point.latency_p50_ns),
        short_time(point.latency_p99_ns),
    ]
}

/// What tells a point from others of its curve.
fn point_name(curve: &CurveRecord, point: &PointRecord) -> String {
    let shared: Vec<&str> = curve.name.split(' ').collect();
    let own = point.stage.split(' ').filter(|word| !shared.contains(word));
    own.collect::<Vec<_>>().join(" ")
}

fn is_knee(curve: &CurveRecord, point: &PointRecord) -> bool {
    let knee = curve.knee.as_ref();
    knee.is_some_and(|knee| knee.lies == KneePlace::Inside && knee.stage == point.stage)
}

/// Curves have letters where there are several; their knees are capitals. The mark of one curve alone is `o`, its knee `*`.
fn write_plot(text: &mut Lines, sweep: &SweepRecord) {
    const MOST_CURVES: usize = 8;
    let curves = sweep.curves.iter().filter(|curve| curve.points.len() > 2);
    let curves: Vec<&CurveRecord> = curves.take(MOST_CURVES).collect();
    let mut marks = Vec::new();
    for (curve, letter) in curves.iter().zip('a'..) {
        for point in &curve.points {
            let knee = is_knee(curve, point);
            let character = match (curves.len(), knee) {
                (1, true) => '*',
                (1, false) => 'o',
                (_, true) => letter.to_ascii_uppercase(),
                (_, false) => letter,
            };
            marks.push(Mark {
                x: point.iops,
                y: point.latency_mean_ns,
                character,
                in_front: knee,
            });
        }
    }
    let Some(drawn) = plot(&marks, text.columns()) else {
        return;
    };
    let _ = writeln!(text, "\nmean latency over IOPS");
    text.push_str(&drawn);
    if curves.len() > 1 {
        let legend = curves.iter().zip('a'..);
        let legend = legend.map(|(curve, letter)| format!("{letter} {}", curve.name));
        let legend = legend.collect::<Vec<_>>().join(", ");
        text.wrap("         ", &format!("{legend}; capitals are knees"), 9);
    }
}

fn write_knees(text: &mut Lines, sweep: &SweepRecord) {
    let mut first = true;
    for curve in &sweep.curves {
        let Some(knee) = &curve.knee else { continue };
        let found = curve.points.iter().find(|point| point.stage == knee.stage);
        let Some(point) = found else { continue };
        let name = point_name(curve, point);
        let head = if curve.name.is_empty() {
            String::new()
        } else {
            format!("{}: ", curve.name)
        };
        let (iops, mean) = (rate(point.iops), short_mean(point.latency_mean_ns));
        let mut body = match knee.lies {
            KneePlace::Inside => format!("{head}{name}, {iops} IOPS at {mean}"),
            KneePlace::First => {
                format!("{head}at {name} or below: latency grows faster than IOPS from there on")
            }
            KneePlace::Last => {
                format!(
                    "{head}not up to {name}: IOPS still grow faster than latency; sweep further"
                )
            }
        };
        if first {
            body.push_str(" (the largest IOPS over mean latency, Kleinrock's \"power\")");
        }
        text.wrap("knee     ", &body, 9);
        first = false;
    }
}
