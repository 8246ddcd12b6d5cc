//! Media latencies of a design, fitted to a measured record.
//!
//! A record holds what applications saw: media latency, and on top of it what limits and queues added. The record's own
//! workload is predicted on the design again and again while median and 99th percentile of each volume's log-normal law
//! are moved, until the predicted p50 and p99 are the measured ones; what limits and queues add is thereby taken off. The
//! new design is the old text with the latencies changed.
//!
//! What carries no information is left out: where limits alone explain what was measured, latency is the I/Os outstanding
//! over the limit's rate (Little's law), whatever the media do. Reads and writes share one law in a design, so that they are
//! fitted together, each with as much weight as it has I/Os.
//!
//! - `document` finds and changes latencies in the text of a design;
//! - `cells` are the measured and predicted distributions, job by job and direction by direction;
//! - `sizes` are those of whole devices, which a record does not tell;
//! - `trial` is one prediction with the latencies of one attempt;
//! - `fit` moves them;
//! - `told` says what came of it, as text and as a document.
//!
//! Invariants: nothing but latencies of volumes that were fitted changes in the text; nothing here writes a file.

mod cells;
mod document;
mod fit;
mod groups;
mod sizes;
mod told;
mod trial;

use fathom_catalog::Catalog;
use fathom_diagnostics::Diagnostics;
use fathom_model::ModelError;
use fathom_record::{Record, RunKind};
use fathom_sim::PredictError;
use fathom_units::Nanos;
use fathom_workload::Workload;

use document::Document;
use fit::fit_all;

/// What is fitted to what.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The measured record.
    pub record: &'a Record,
    /// The workload it ran, with its paths as the design has them.
    pub workload: &'a Workload,
    /// The design's text.
    pub design: &'a str,
    /// The design's name in complaints.
    pub design_name: &'a str,
    /// What the record is called in the comment of the new design.
    pub record_name: &'a str,
}

/// A design with fitted latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The new design's text.
    pub design: String,
    /// What was fitted; at least one.
    pub fits: Vec<Fit>,
    /// What was not, and why, one sentence each.
    pub left_out: Vec<String>,
    /// Devices that were measured as a whole, and what of the design stands for each, one sentence each.
    pub whole: Vec<String>,
}

/// The fitted latency of volumes that share it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Names of the volumes.
    pub volumes: Vec<String>,
    /// Measured I/Os behind it.
    pub ios: u64,
    /// Median of the media latency.
    pub median: Nanos,
    /// 99th percentile of the media latency.
    pub p99: Nanos,
    /// What was measured: p50 and p99 of whole latencies.
    pub measured: [Nanos; 2],
    /// How far the prediction is from it.
    pub error: FitError,
}

/// Relative deviations of predicted quantiles from measured ones (0.01: a hundredth longer).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitError {
    /// At the median.
    pub p50: f64,
    /// At the 99th percentile.
    pub p99: f64,
    /// The largest over the quantiles compared.
    pub most: f64,
    /// The percentile of the largest.
    pub most_at: f64,
}

impl FitError {
    /// Whether p50 or p99 is off by more than a twentieth, or any quantile by more than a half: then the measured latency is
    /// no log-normal one, or the design has not the limits of what was measured.
    pub fn is_poor(self) -> bool {
        self.p50.abs() > 0.05 || self.p99.abs() > 0.05 || self.most.abs() > 0.5
    }
}

/// Why nothing could be fitted.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The design, or the workload on it, is wrong.
    #[error(transparent)]
    Input(#[from] Diagnostics),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No latency can be told from the record.
    #[error("no media latency can be told from this record:\n  {}", reasons.join("\n  "))]
    NothingToFit {
        /// Why, for each volume.
        reasons: Vec<String>,
    },
    /// A latency stands in the design in a way that is not changed here.
    #[error(
        "the latency of `{entry}` is written over several keys, which cannot be changed in place"
    )]
    Spread {
        /// The table's name.
        entry: String,
    },
    /// The user stopped it.
    #[error("stopped before the fit was found; nothing is written")]
    Stopped,
}

impl From<PredictError> for CalibrateError {
    fn from(error: PredictError) -> Self {
        match error {
            PredictError::Input(complaints) => Self::Input(complaints),
            PredictError::Model(error) => Self::Model(error),
        }
    }
}

impl CalibrateError {
    /// What to do, where the message does not say it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NothingToFit { .. } => Some(
                "measure for long enough, with few I/Os outstanding (`--sweep depth=1..8x2`), so that no limit is reached",
            ),
            Self::Spread { .. } => {
                Some("write it as `latency = { median = \"2ms\", p99 = \"8ms\" }`")
            }
            Self::Input(_) | Self::Model(_) | Self::Stopped => None,
        }
    }
}

/// Fits the latencies of every volume that the record's jobs used. `stop` is asked now and then and ends it.
///
/// # Errors
///
/// [`CalibrateError`], where nothing could be fitted.
pub fn calibrate(
    task: &Task<'_>,
    catalog: &Catalog,
    stop: &dyn Fn() -> bool,
) -> Result<Calibration, CalibrateError> {
    let document = Document::read(task.design, task.design_name, catalog)?;
    let (workload, whole) = sizes::with_whole_devices(task, &document.design(&[])?);
    let sized = Task {
        workload: &workload,
        ..*task
    };
    let (fits, left_out) = fit_all(&sized, &document, stop)?;
    if fits.is_empty() {
        return Err(CalibrateError::NothingToFit { reasons: left_out });
    }
    let source = match task.record.kind {
        RunKind::Run => "measured by",
        RunKind::Predict | RunKind::Serve => "predicted (not measured) by",
    };
    let source = format!(
        "{source} {} ({})",
        plain(task.record_name),
        plain(&task.record.title)
    );
    let changes: Vec<_> = fits
        .iter()
        .flat_map(|(entries, fit)| {
            let comment = format!("{source}: {}", in_words(fit));
            entries
                .iter()
                .map(move |entry| (*entry, (fit.median, fit.p99), comment.clone()))
        })
        .collect();
    Ok(Calibration {
        design: document.with_fits(&changes)?,
        fits: fits.into_iter().map(|(_, fit)| fit).collect(),
        left_out,
        whole,
    })
}

/// Names that come from elsewhere must not end a comment.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn in_words(fit: &Fit) -> String {
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    format!(
        "the prediction is off by {} at p50, {} at p99, at most {} (p{})",
        percent(fit.error.p50),
        percent(fit.error.p99),
        percent(fit.error.most),
        fit.error.most_at
    )
}
