//! The distribution of latency by nines: where the tail begins, and how far it goes.

use fathom_record::{LatencyRecord, Record, StageRecord};
use fathom_stats::{Histogram, from_hdr_base64};

use super::axis::Scale;
use super::chart::{Chart, Line, Side};
use crate::format::short_mean;
use crate::summary::stage_in_words;

/// Points of a line to each nine.
const STEPS: u32 = 20;

/// A chart for each of the first `most` stages.
pub(super) fn section(record: &Record, most: usize) -> String {
    let charts: String = record.stages.iter().take(most).map(chart).collect();
    if charts.is_empty() {
        return String::new();
    }
    format!("<h2>Distribution of latency</h2>\n{charts}")
}

fn chart(stage: &StageRecord) -> String {
    let total = &stage.total;
    let directions = [
        ("reads", &total.read),
        ("writes", &total.write),
        ("trims", &total.trim),
    ];
    let mut lines = Vec::new();
    for (name, figures) in directions {
        let Some(figures) = figures else { continue };
        lines.extend(line(name.to_owned(), &figures.latency_ns));
        let response = figures.response_ns.as_ref();
        lines
            .extend(response.and_then(|times| line(format!("{name}, from intended start"), times)));
    }
    let deepest = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.0);
    let deepest = deepest.fold(1.0, f64::max);
    let ticks = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
    let ticks = ticks.map(nines).into_iter().filter(|tick| *tick <= deepest);
    let chart = Chart {
        title: format!("{}: latency by share of I/Os", stage_in_words(stage)),
        across: Side {
            label: "share of I/Os that were no slower",
            scale: Scale::FromZero,
            figure: |nines| percent(1.0 - libm::pow(10.0, -nines)),
            ticks: Some(ticks.collect()),
        },
        up: Side {
            label: "latency",
            scale: Scale::Log,
            figure: short_mean,
            ticks: None,
        },
        lines,
    };
    chart.to_html()
}

/// How many nines a share has: 0.99 has two.
fn nines(share: f64) -> f64 {
    -libm::log10(1.0 - share)
}

/// A share as a percentile is called: `99.9 %`.
fn percent(share: f64) -> String {
    let text = format!("{:.5}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The line of one distribution, up to the share that its slowest I/O leaves; `None` where it cannot be read or is empty.
fn line(name: String, latency: &LatencyRecord) -> Option<Line> {
    let histogram: Histogram = from_hdr_base64(&latency.histogram).ok()?;
    if histogram.count() == 0 {
        return None;
    }
    let end = libm::log10(histogram.count() as f64);
    let steps = (end * f64::from(STEPS)).ceil() as u32;
    let shares = (0..steps).map(|step| f64::from(step) / f64::from(STEPS));
    let points = shares.map(|nines| {
        let percentile = histogram.percentile(100.0 * (1.0 - libm::pow(10.0, -nines)));
        (nines, percentile as f64)
    });
    let slowest = (end, latency.max as f64);
    Some(Line {
        name,
        points: points.chain([slowest]).collect(),
        marks: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_called_by_their_names() {
        for (share, expected) in [
            (0.0, "0 %"),
            (0.5, "50 %"),
            (0.9, "90 %"),
            (0.999, "99.9 %"),
            (0.999_99, "99.999 %"),
        ] {
            assert_eq!(percent(1.0 - libm::pow(10.0, -nines(share))), expected);
        }
    }
}
