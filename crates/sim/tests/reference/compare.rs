//! What two answers have in common.

use std::collections::BTreeMap;

use fathom_record::{StageResult, WorkerStats};
use fathom_stats::Histogram;
use fathom_workload::Direction;

use super::run::StageOutcome;
use super::worker::{Measured, Worker};

/// Every figure in which a prediction differs from what was expected, one line each.
pub fn differences(predicted: &[StageResult], expected: &[StageOutcome]) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |what: String, predicted: String, expected: String| {
        if predicted != expected {
            found.push(format!(
                "{what}: predicted {predicted}, expected {expected}"
            ));
        }
    };
    note(
        "stages".to_owned(),
        predicted.len().to_string(),
        expected.len().to_string(),
    );
    for (predicted, expected) in predicted.iter().zip(expected) {
        let name = &predicted.name;
        note(
            format!("{name} measured ns"),
            predicted.measured.get().to_string(),
            expected.measured.to_string(),
        );
        for (left, right) in predicted.workers.iter().zip(&expected.workers) {
            worker(name, left, right, &mut note);
        }
        rows(predicted, expected, &mut note);
    }
    found
}

type Note<'a> = &'a mut dyn FnMut(String, String, String);

fn worker(stage: &str, predicted: &WorkerStats, expected: &Worker, note: Note<'_>) {
    for way in Direction::ALL {
        let name = format!(
            "{stage} job {} worker {} {way:?}",
            expected.job, expected.number
        );
        let measured = &expected.measured[way as usize];
        let waited: BTreeMap<&str, u128> = predicted.waited_ns[way as usize]
            .iter()
            .map(|(limit, time)| (limit.as_str(), *time))
            .collect();
        note(
            format!("{name} waited ns"),
            format!("{waited:?}"),
            format!("{:?}", measured.waited),
        );
        let Some(stats) = &predicted.directions[way as usize] else {
            note(name, "nothing".to_owned(), measured_nothing(measured));
            continue;
        };
        note(
            format!("{name} bytes"),
            stats.bytes.to_string(),
            measured.bytes.to_string(),
        );
        note(
            format!("{name} latencies"),
            figures(&stats.latency),
            figures(&histogram(&measured.latencies)),
        );
        if let Some(response) = &stats.response {
            note(
                format!("{name} responses"),
                figures(response),
                figures(&histogram(&measured.responses)),
            );
        }
    }
}

fn measured_nothing(measured: &Measured) -> String {
    if measured.latencies.is_empty() {
        "nothing".to_owned()
    } else {
        format!("{} I/Os", measured.latencies.len())
    }
}

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

/// Count, sum, extremes, and every bucket.
fn figures(histogram: &Histogram) -> String {
    let buckets: Vec<_> = histogram.nonzero().collect();
    format!(
        "{} I/Os, {} ns in all, {:?} to {:?}, {buckets:?}",
        histogram.count(),
        histogram.sum(),
        histogram.min(),
        histogram.max()
    )
}

fn rows(predicted: &StageResult, expected: &StageOutcome, note: Note<'_>) {
    let names = |keys: Vec<&String>| format!("{keys:?}");
    note(
        format!("{} parts", predicted.name),
        names(predicted.storage.keys().collect()),
        names(expected.rows.keys().collect()),
    );
    for (name, row) in &predicted.storage {
        let Some(expected) = expected.rows.get(name) else {
            continue;
        };
        note(
            format!("{name} I/Os, bytes, hits, from memory"),
            format!(
                "{} {} {:?} {}",
                row.ios,
                row.bytes,
                row.hit_share,
                row.memory_share.unwrap_or_default()
            ),
            format!(
                "{} {} {:?} {}",
                expected.ios, expected.bytes, expected.hit_share, expected.memory_share
            ),
        );
        // Areas are exact in both; only the last division is not.
        let depth = row.depth.unwrap_or(f64::NAN);
        if (depth - expected.depth).abs() > 1e-9 * expected.depth.max(1.0) {
            note(
                format!("{name} depth"),
                depth.to_string(),
                expected.depth.to_string(),
            );
        }
    }
}
