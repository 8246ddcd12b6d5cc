//! A stage that is still going on, as a part of a page.

use std::collections::BTreeSet;

use fathom_record::{IntervalDirection, IntervalRecord};

use super::course;
use super::text::{row, table};
use crate::format::{mebibytes, rate, short_time};

/// The last second of a stage in figures, and its course so far: `seconds` are those that are to be seen, each with its end
/// since the start of measurement, `before_ns` the end of the second before the first of them. Empty where there are none.
pub fn live_section(name: &str, before_ns: u64, seconds: &[IntervalRecord]) -> String {
    let Some(last) = seconds.last() else {
        return String::new();
    };
    let begin = match seconds {
        [.., before, _] => before.at_ns,
        _ => before_ns,
    };
    let length = last.at_ns.saturating_sub(begin) as f64 / 1e9;
    // What is not told of in this second was in another.
    let seen: BTreeSet<&str> = seconds
        .iter()
        .flat_map(|it| it.meta.keys())
        .map(String::as_str)
        .collect();
    let ways = course::DIRECTIONS.into_iter();
    let ways = ways.filter(|(_, of)| seconds.iter().any(|second| of(second).is_some()));
    let ways = ways.map(|(name, of)| (name, of(last), true));
    let others = seen
        .into_iter()
        .map(|name| (name, last.meta.get(name), false));
    let rows = ways.chain(others).map(|(name, figures, moves)| {
        let cells = figures.map_or_else(untold, |figures| cells(figures, length, moves));
        row(name, &cells)
    });
    let headings = ["last second", "IOPS", "MiB/s", "p50", "p99", "max"];
    let charts = course::so_far(name, seconds);
    table(&headings, &rows.collect::<String>()) + &charts
}

/// What came to its end may not have been told in time.
fn untold() -> Vec<String> {
    vec!["-".to_owned(); 5]
}

fn cells(figures: &IntervalDirection, seconds: f64, moves: bool) -> Vec<String> {
    let each = |count: u64| {
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    };
    let throughput = if moves {
        mebibytes(each(figures.bytes))
    } else {
        "-".to_owned()
    };
    let mut cells = vec![rate(each(figures.ios)), throughput];
    let latencies = [figures.p50_ns, figures.p99_ns, Some(figures.max_ns)];
    cells.extend(latencies.map(|ns| match ns.filter(|_| figures.ios > 0) {
        Some(ns) => short_time(ns),
        None => "-".to_owned(),
    }));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_second_is_over_its_true_length() {
        let second = |at_ms: u64, ios| IntervalRecord {
            at_ns: at_ms * 1_000_000,
            read: Some(IntervalDirection {
                ios,
                bytes: ios * 4096,
                p50_ns: Some(20_000),
                p99_ns: Some(90_000),
                max_ns: 100_000,
            }),
            write: None,
            trim: None,
            meta: std::collections::BTreeMap::new(),
        };
        let html = live_section("s", 0, &[second(1_000, 700), second(1_500, 700)]);
        assert!(
            html.contains("<td>1,400</td><td>5.5</td><td>20µs</td>"),
            "{html}"
        );
        assert_eq!(html.matches("<figure>").count(), 3, "{html}");
        assert!(live_section("s", 2_000_000_000, &[second(3_000, 700)]).contains("<td>700</td>"));
        assert_eq!(live_section("s", 0, &[]), "");
        let mut still = second(3_000, 700);
        still.read = None;
        let html = live_section("s", 0, &[second(2_000, 700), still]);
        assert!(
            html.contains("reads</th><td>-</td><td>-</td><td>-</td>"),
            "{html}"
        );
    }
}
