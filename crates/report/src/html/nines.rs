//! The distribution of latency by nines: where the tail begins, and how far it goes.

use fathom_record::{DirectionRecord, LatencyRecord, Record, StageRecord};
use fathom_stats::{Histogram, from_hdr_base64};

use super::axis::Scale;
use super::chart::{Chart, Line, Side};
use crate::format::short_mean;
use crate::repeats::stages_with_repeats;
use crate::summary::stage_in_words;

type OfStage = fn(&StageRecord) -> Option<&DirectionRecord>;

/// Points of a line to each nine.
const STEPS: u32 = 20;

/// A chart for each of the first `most` stages, of all of its repeats.
pub(super) fn section(record: &Record, most: usize) -> String {
    let stages = stages_with_repeats(record);
    let stages = stages.iter().take(most);
    let charts: String = stages.map(|(name, repeats)| chart(name, repeats)).collect();
    if charts.is_empty() {
        return String::new();
    }
    format!("<h2>Distribution of latency</h2>\n{charts}")
}

fn chart(name: &str, repeats: &[&StageRecord]) -> String {
    let name = match repeats {
        [stage] => stage_in_words(stage),
        _ => name.to_owned(),
    };
    let directions: [(&str, OfStage); 3] = [
        ("reads", |stage| stage.total.read.as_ref()),
        ("writes", |stage| stage.total.write.as_ref()),
        ("trims", |stage| stage.total.trim.as_ref()),
    ];
    let mut lines = Vec::new();
    for (name, figures) in directions {
        let figures = || repeats.iter().filter_map(|stage| figures(stage));
        lines.extend(line(name.to_owned(), figures().map(|it| &it.latency_ns)));
        let response = figures().filter_map(|it| it.response_ns.as_ref());
        lines.extend(line(format!("{name}, from intended start"), response));
    }
    let deepest = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.0);
    let deepest = deepest.fold(1.0, f64::max);
    let ticks = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
    let ticks = ticks.map(nines).into_iter().filter(|tick| *tick <= deepest);
    let chart = Chart {
        title: format!("{name}: latency by share of I/Os"),
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
        others: Vec::new(),
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

/// The line of a distribution, all repeats together, up to the share that its slowest I/O leaves; `None` where one cannot be
/// read, or all are empty.
fn line<'a>(name: String, repeats: impl Iterator<Item = &'a LatencyRecord>) -> Option<Line> {
    let mut histogram = Histogram::new();
    let mut slowest = 0;
    for latency in repeats {
        histogram.merge(&from_hdr_base64(&latency.histogram).ok()?);
        slowest = slowest.max(latency.max);
    }
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
    let slowest = (end, slowest as f64);
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
    #[test]
    fn repeats_are_one_distribution() {
        let latency = |value: u64, count: u64| {
            let mut histogram = Histogram::new();
            (0..count).for_each(|_| histogram.record(value));
            fathom_record::latency_record(&histogram)
        };
        let repeats = [latency(1_000, 900), latency(8_000, 100)];
        let line = line("reads".to_owned(), repeats.iter()).unwrap();
        let at = |nines: f64| {
            let mut points = line.points.iter();
            points.find(|point| point.0 >= nines).unwrap().1
        };
        let near = |seen: f64, said: f64| (seen - said).abs() <= said / 100.0;
        assert!(
            near(at(0.5), 1_000.0) && near(at(1.5), 8_000.0),
            "{:?}",
            line.points
        );
        assert_eq!(line.points.last(), Some(&(3.0, 8_000.0)));
        assert!(super::line("none".to_owned(), [].iter()).is_none());
    }
}
