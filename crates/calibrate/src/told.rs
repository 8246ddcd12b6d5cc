//! What a fit came to, in words and as one JSON document (schema `fathom.calibrate/1`), both from the same structures.
//!
//! Keys of the document end in their unit. Sentences are those of the text.

use std::fmt::Write as _;

use fathom_record::RunKind;
use serde_json::{Value, json};

use crate::{Calibration, Fit, Task};

/// Of the document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.calibrate/1";

/// What a poor fit means, and what to do, as it is broken for a screen.
const POOR_FIT: [&str; 3] = [
    "POOR FIT: the measured latency is no log-normal one (several loads mixed, or",
    "other work on the storage), or the design has not the limits of what was",
    "measured; measure again, at one small depth and longer",
];

impl Calibration {
    /// What was fitted and what was not, for a screen.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for fit in &self.fits {
            fit.write(&mut text);
        }
        for sentence in &self.whole {
            let _ = writeln!(text, "{sentence}");
        }
        for sentence in &self.left_out {
            let _ = writeln!(text, "not fitted: {sentence}");
        }
        text
    }

    /// The document, with the new design as it is written to `written_to`.
    pub fn to_json(&self, task: &Task<'_>, written_to: &str) -> Value {
        json!({
            "schema": SCHEMA,
            "record": {
                "name": task.record_name,
                "title": task.record.title,
                "is_measured": task.record.kind == RunKind::Run,
            },
            "design": task.design_name,
            "fits": self.fits.iter().map(Fit::to_json).collect::<Vec<_>>(),
            "whole_devices": self.whole,
            "not_fitted": self.left_out,
            "written_to": written_to,
            "design_toml": self.design,
        })
    }
}

impl Fit {
    fn write(&self, text: &mut String) {
        let [p50, p99] = self.measured;
        let error = self.error;
        let percent = |share: f64| format!("{:+.1} %", share * 100.0);
        let _ = writeln!(text, "{}", self.volumes.join(", "));
        let _ = writeln!(text, "  measured       p50 {p50}, p99 {p99}");
        let _ = writeln!(
            text,
            "  media latency  median {}, p99 {}",
            self.median, self.p99
        );
        let _ = writeln!(
            text,
            "  fit            p50 {}, p99 {}, at most {} (p{})",
            percent(error.p50),
            percent(error.p99),
            percent(error.most),
            error.most_at
        );
        if error.is_poor() {
            for line in POOR_FIT {
                let _ = writeln!(text, "  {line}");
            }
        }
    }

    fn to_json(&self) -> Value {
        let [p50, p99] = self.measured;
        let error = self.error;
        json!({
            "volumes": self.volumes,
            "ios": self.ios,
            "measured": { "p50_ns": p50.get(), "p99_ns": p99.get() },
            "media_latency": { "median_ns": self.median.get(), "p99_ns": self.p99.get() },
            "off": {
                "p50_percent": error.p50 * 100.0,
                "p99_percent": error.p99 * 100.0,
                "most_percent": error.most * 100.0,
                "most_at_percentile": error.most_at,
            },
            "poor_fit": error.is_poor().then(|| POOR_FIT.join(" ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use fathom_units::Nanos;

    use super::*;
    use crate::FitError;

    fn fit(most: f64) -> Fit {
        Fit {
            volumes: vec!["san/a".to_owned(), "san/b".to_owned()],
            ios: 1234,
            median: Nanos::from_micros(900),
            p99: Nanos::from_millis(3),
            measured: [Nanos::from_millis(1), Nanos::from_millis(4)],
            error: FitError {
                p50: 0.001,
                p99: -0.002,
                most,
                most_at: 99.9,
            },
        }
    }

    #[test]
    fn text_and_document_say_the_same() {
        let good = fit(0.25);
        let mut text = String::new();
        good.write(&mut text);
        assert_eq!(
            text,
            "san/a, san/b\n  measured       p50 1 ms, p99 4 ms\n  media latency  median 900 µs, p99 3 ms\n  \
             fit            p50 +0.1 %, p99 -0.2 %, at most +25.0 % (p99.9)\n"
        );
        let expected = json!({
            "volumes": ["san/a", "san/b"],
            "ios": 1234,
            "measured": { "p50_ns": 1_000_000, "p99_ns": 4_000_000 },
            "media_latency": { "median_ns": 900_000, "p99_ns": 3_000_000 },
            "off": { "p50_percent": 0.1, "p99_percent": -0.2, "most_percent": 25.0, "most_at_percentile": 99.9 },
            "poor_fit": null,
        });
        assert_eq!(good.to_json(), expected);
    }

    #[test]
    fn a_poor_fit_is_told_in_both() {
        let poor = fit(0.51);
        let mut text = String::new();
        poor.write(&mut text);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = poor.to_json()["poor_fit"].clone();
        let told = told.as_str().unwrap_or_default();
        assert!(told.starts_with("POOR FIT: "), "{told}");
        assert!(words.ends_with(told), "{text}");
    }
}
