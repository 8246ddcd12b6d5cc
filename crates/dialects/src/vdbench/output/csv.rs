//! `percentiles.csv`: what Vdbench's rows have no column for.
//!
//! Percentiles come from histograms that were merged, never from percentiles. Times are in ms.

use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::RunLayout;
use super::tally::Tally;

const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The line of names. `intended_…` counts from the moment an I/O of an open loop was to start; without a rate those
/// fields are empty.
pub fn header() -> String {
    let mut names: Vec<String> = ["run", "loops", "interval", "length_s", "operations", "ios"]
        .map(str::to_owned)
        .into();
    for prefix in ["", "intended_"] {
        names.push(format!("{prefix}mean_ms"));
        names.extend(PERCENTS.map(|percent| format!("{prefix}p{percent}_ms")));
        names.push(format!("{prefix}max_ms"));
    }
    names.join(",") + "\n"
}

/// One line for reads and writes together and, where there are both, one for each.
pub fn lines(run: &RunLayout, label: &str, tally: &Tally) -> String {
    let mut text = String::new();
    let (latency, response) = tally.response_times();
    line(
        &mut text,
        run,
        label,
        tally.length,
        ("all", &latency, response.as_ref()),
    );
    if let (Some(reads), Some(writes)) = (&tally.reads, &tally.writes) {
        for (name, stats) in [("read", reads), ("write", writes)] {
            let times = (name, &stats.latency, stats.response.as_ref());
            line(&mut text, run, label, tally.length, times);
        }
    }
    let of_set = tally.set.0.iter().filter(|(_, stats)| stats.ios() > 0);
    for (operation, stats) in of_set {
        let times = (operation.name(), &stats.latency, stats.response.as_ref());
        line(&mut text, run, label, tally.length, times);
    }
    text
}

fn line(
    text: &mut String,
    run: &RunLayout,
    label: &str,
    length: Nanos,
    (name, latency, response): (&str, &Histogram, Option<&Histogram>),
) {
    let mut fields = vec![
        quoted(&run.name),
        quoted(run.loops.as_deref().unwrap_or("None")),
        label.to_owned(),
        format!("{:.6}", length.get() as f64 / 1e9),
        name.to_owned(),
        latency.count().to_string(),
    ];
    for histogram in [Some(latency), response] {
        let filled = histogram.filter(|histogram| histogram.count() > 0);
        let millis = |ns: f64| format!("{:.4}", ns / 1e6);
        fields.push(filled.map_or(String::new(), |it| millis(it.mean())));
        for percent in PERCENTS {
            let value = filled.map(|it| millis(it.percentile(percent) as f64));
            fields.push(value.unwrap_or_default());
        }
        fields.push(filled.map_or(String::new(), |it| millis(it.max() as f64)));
    }
    text.push_str(&fields.join(","));
    text.push('\n');
}

/// A field that may hold a comma or a quote (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
