//! Moving latencies until the prediction has the measured quantiles.
//!
//! Each group of volumes has two unknowns, the logarithms of median and p99, and two equations: predicted p50 and p99 are the
//! measured ones. They are solved by Broyden's method (C. G. Broyden, "A class of methods for solving nonlinear simultaneous
//! equations", Mathematics of Computation 19, 1965), which starts from the identity: without queues a quantile of the whole
//! latency moves as that of the media. All groups are moved in the same predictions.

use fathom_model::Design;
use fathom_record::StageResult;
use fathom_units::{Nanos, group_digits};

use crate::cells::{CellId, Measured, Mixture, measured_cells, predicted_cell};
use crate::document::{Document, Latency};
use crate::groups::{Group, groups};
use crate::trial::{shortened, trial};
use crate::{CalibrateError, Fit, FitError, Task};

/// Most predictions of a fit; three to six are usual.
const MOST_TRIALS: usize = 16;
/// Where both quantiles are this near, in logarithms: half the width of a histogram's bucket.
const NEAR: f64 = 0.004;
/// Longest step, in logarithms: a factor of 4.
const LONGEST_STEP: f64 = 1.4;
/// A probe with this share of the measured latency...
const PROBE: f64 = 0.5;
/// ...that predicts this share of what was measured or more says that limits explain it by themselves.
const EXPLAINED: f64 = 0.93;
/// Fewer I/Os tell no 99th percentile.
const LEAST_IOS: u64 = 1000;
/// Percentiles at which prediction and measurement are compared, and I/Os that each takes to be known.
const COMPARED: [(f64, u64); 9] = [
    (1.0, 1000),
    (5.0, 200),
    (10.0, 100),
    (25.0, 40),
    (50.0, 20),
    (75.0, 40),
    (90.0, 100),
    (99.0, 1000),
    (99.9, 10_000),
];

type Fitted = Vec<(Vec<usize>, Fit)>;

/// Fits every group that can be: entries of the design with their fit, and sentences of what could not be.
pub(crate) fn fit_all(
    task: &Task<'_>,
    document: &Document<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(Fitted, Vec<String>), CalibrateError> {
    let design = document.design(&[])?;
    let cells = measured_cells(task.record, task.workload);
    let (mut groups, closed) = groups(task.workload, &cells, &design, document)?;
    let mut left_out: Vec<String> = closed
        .into_iter()
        .map(|volume| {
            let name = design.volume_name(volume);
            format!("`{name}`: its table has no latency that can be changed in place")
        })
        .collect();
    if cells.is_empty() {
        left_out.push("the record holds no finished stage with I/O".to_owned());
    }
    let names = |group: &Group| -> Vec<String> {
        let volumes = group.volumes.iter();
        volumes.map(|volume| design.volume_name(*volume)).collect()
    };
    let reasons = keep_informative(task, document, &cells, &mut groups, &design, stop)?;
    left_out.extend(reasons);
    if groups.is_empty() {
        return Ok((Vec::new(), left_out));
    }
    let used: Vec<CellId> = ids_of(&groups, &cells);
    let workload = shortened(task.workload, task.record, &design, &used);
    let mut searches: Vec<Search> = groups
        .iter()
        .map(|group| Search::new(group, &cells))
        .collect();
    for _ in 0..MOST_TRIALS {
        let latencies = latencies_of(&groups, &searches);
        let results = trial(document, &workload, &latencies, stop)?;
        for (search, group) in searches.iter_mut().zip(&groups) {
            search.learn(group, &cells, &results);
        }
        if searches.iter().all(Search::is_near) {
            break;
        }
    }
    let fits = groups.iter().zip(&searches).map(|(group, search)| {
        let entries: Vec<usize> = group.entries.iter().copied().collect();
        (entries, search.fit(names(group)))
    });
    Ok((fits.collect(), left_out))
}

/// Takes out of the groups every cell of which the media latency cannot be told, and groups that are left without one; gives
/// a sentence for each such group.
fn keep_informative(
    task: &Task<'_>,
    document: &Document<'_>,
    cells: &[Measured],
    groups: &mut Vec<Group>,
    design: &Design,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<String>, CalibrateError> {
    let ids = ids_of(groups, cells);
    let workload = shortened(task.workload, task.record, design, &ids);
    let mut searches: Vec<Search> = groups
        .iter()
        .map(|group| Search::new(group, cells))
        .collect();
    for search in &mut searches {
        search.at = search.at.map(|log| log + libm::log(PROBE));
    }
    let results = if groups.is_empty() {
        Vec::new()
    } else {
        trial(document, &workload, &latencies_of(groups, &searches), stop)?
    };
    let mut left_out = Vec::new();
    groups.retain_mut(|group| {
        let mut limits: Vec<String> = Vec::new();
        group.cells.retain(|index| {
            let cell = &cells[*index];
            let predicted = predicted_cell(&results, cell.id);
            let explained = predicted.percentile(50.0) as f64
                >= cell.latency.percentile(50.0) as f64 * EXPLAINED;
            if explained {
                limits.extend(longest_wait(&results, cell.id));
            }
            !explained && predicted.count() > 0
        });
        let ios = group
            .cells
            .iter()
            .map(|index| cells[*index].latency.count());
        let ios: u64 = ios.sum();
        let reason = if group.cells.is_empty() {
            Some(identity(&limits))
        } else if ios < LEAST_IOS {
            let ios = group_digits(ios);
            Some(format!("{ios} I/Os tell no 99th percentile; 1,000 do"))
        } else {
            None
        };
        if let Some(reason) = &reason {
            let volumes = group.volumes.iter();
            let volumes = volumes.map(|volume| format!("`{}`", design.volume_name(*volume)));
            let volumes = volumes.collect::<Vec<_>>().join(", ");
            left_out.push(format!("{volumes}: {reason}"));
        }
        reason.is_none()
    });
    Ok(left_out)
}

/// Why a saturated record says nothing.
fn identity(limits: &[String]) -> String {
    match limits.first() {
        Some(limit) => format!(
            "saturated at `{limit}`: latency there is the I/Os outstanding over the limit's rate, an identity, whatever the media do"
        ),
        None => "the design explains the measured latency without its media (by its cache, or its round trip)"
            .to_owned(),
    }
}

fn ids_of(groups: &[Group], cells: &[Measured]) -> Vec<CellId> {
    let indices = groups.iter().flat_map(|group| &group.cells);
    indices.map(|index| cells[*index].id).collect()
}

fn latencies_of(groups: &[Group], searches: &[Search]) -> Vec<(usize, Latency)> {
    let pairs = groups.iter().zip(searches);
    pairs
        .flat_map(|(group, search)| {
            let latency = search.latency();
            group.entries.iter().map(move |entry| (*entry, latency))
        })
        .collect()
}

/// The limit that a cell's I/Os waited for longest.
fn longest_wait(results: &[StageResult], id: CellId) -> Option<String> {
    let workers = results
        .iter()
        .filter(|result| result.stage == id.stage)
        .flat_map(|result| &result.workers)
        .filter(|worker| worker.job == id.job);
    let waits = workers.flat_map(|worker| &worker.waited_ns[id.direction as usize]);
    let longest = waits.max_by_key(|(_, ns)| **ns)?;
    Some(longest.0.clone())
}

/// The search of one group: where it is, what it has learnt, and the best so far.
struct Search {
    /// Measured quantiles of the group, in ns.
    target: [f64; 2],
    quantiles: Vec<(f64, f64)>,
    ios: u64,
    /// Logarithms of median and p99 to try.
    at: [f64; 2],
    /// Deviation at the attempt before, and that attempt.
    last: Option<([f64; 2], [f64; 2])>,
    /// Inverse of the estimated derivative.
    inverse: [[f64; 2]; 2],
    best: Option<Attempt>,
}

#[derive(Clone, Copy)]
struct Attempt {
    at: [f64; 2],
    deviation: [f64; 2],
    error: FitError,
}

impl Search {
    fn new(group: &Group, cells: &[Measured]) -> Self {
        let measured = mixture(group, cells, |cell| cell.latency.clone());
        let target = [50.0, 99.0].map(|percent| measured.quantile(percent).max(1.0));
        let ios = group
            .cells
            .iter()
            .map(|index| cells[*index].latency.count());
        let ios = ios.sum();
        let known = COMPARED.iter().filter(|(_, needed)| ios >= *needed);
        Self {
            target,
            quantiles: known
                .map(|(percent, _)| (*percent, measured.quantile(*percent)))
                .collect(),
            ios,
            at: target.map(libm::log),
            last: None,
            inverse: [[1.0, 0.0], [0.0, 1.0]],
            best: None,
        }
    }

    /// The latency of an attempt: at least a nanosecond, and p99 not below the median.
    fn latency(&self) -> Latency {
        to_latency(self.at)
    }

    fn is_near(&self) -> bool {
        self.best
            .is_some_and(|best| best.deviation.iter().all(|off| off.abs() <= NEAR))
    }

    /// Takes in what the attempt predicted, and chooses the next.
    fn learn(&mut self, group: &Group, cells: &[Measured], results: &[StageResult]) {
        let predicted = mixture(group, cells, |cell| predicted_cell(results, cell.id));
        let off =
            |percent: f64, target: f64| libm::log(predicted.quantile(percent).max(1.0) / target);
        let deviation = [off(50.0, self.target[0]), off(99.0, self.target[1])];
        let worse = |attempt: &Attempt| size(attempt.deviation) > size(deviation);
        if self.best.as_ref().is_none_or(worse) {
            self.best = Some(Attempt {
                at: self.at,
                deviation,
                error: self.error(&predicted),
            });
        }
        if self.is_near() {
            self.at = self.best.map_or(self.at, |best| best.at);
            return;
        }
        if let Some((before, at)) = self.last {
            let step = [self.at[0] - at[0], self.at[1] - at[1]];
            let change = [deviation[0] - before[0], deviation[1] - before[1]];
            self.inverse = updated(self.inverse, step, change);
        }
        self.last = Some((deviation, self.at));
        let step = product(self.inverse, deviation);
        for (log, step) in self.at.iter_mut().zip(step) {
            *log = (*log - step.clamp(-LONGEST_STEP, LONGEST_STEP)).clamp(0.0, LONGEST);
        }
        self.at[1] = self.at[1].max(self.at[0]);
    }

    fn error(&self, predicted: &Mixture) -> FitError {
        let off =
            |percent: f64, measured: f64| predicted.quantile(percent) / measured.max(1.0) - 1.0;
        let mut error = FitError {
            p50: off(50.0, self.target[0]),
            p99: off(99.0, self.target[1]),
            most: 0.0,
            most_at: 50.0,
        };
        for (percent, measured) in &self.quantiles {
            let found = off(*percent, *measured);
            if found.abs() > error.most.abs() {
                (error.most, error.most_at) = (found, *percent);
            }
        }
        error
    }

    fn fit(&self, volumes: Vec<String>) -> Fit {
        let at = self.best.map_or(self.at, |best| best.at);
        let (median, p99) = to_latency(at);
        let none = FitError {
            p50: 0.0,
            p99: 0.0,
            most: 0.0,
            most_at: 50.0,
        };
        Fit {
            volumes,
            ios: self.ios,
            median,
            p99,
            measured: self.target.map(|ns| Nanos::new(ns.round() as u64)),
            error: self.best.map_or(none, |best| best.error),
        }
    }
}

/// Logarithm of the longest media latency of a design, an hour in ns.
const LONGEST: f64 = 28.9;

fn to_latency(at: [f64; 2]) -> Latency {
    let median = libm::exp(at[0]).round().max(1.0);
    let p99 = libm::exp(at[1]).round().max(median);
    (Nanos::new(median as u64), Nanos::new(p99 as u64))
}

fn mixture(
    group: &Group,
    cells: &[Measured],
    distribution: impl Fn(&Measured) -> fathom_stats::Histogram,
) -> Mixture {
    let parts = group.cells.iter().map(|index| {
        let cell = &cells[*index];
        (distribution(cell), cell.latency.count() as f64)
    });
    let parts: Vec<_> = parts.collect();
    Mixture::new(parts.iter().map(|(histogram, weight)| (histogram, *weight)))
}

fn size(vector: [f64; 2]) -> f64 {
    vector[0].abs().max(vector[1].abs())
}

fn product(matrix: [[f64; 2]; 2], vector: [f64; 2]) -> [f64; 2] {
    matrix.map(|row| row[0] * vector[0] + row[1] * vector[1])
}

/// Broyden's first update of the inverse (by Sherman and Morrison); the old one where the step taught nothing.
fn updated(inverse: [[f64; 2]; 2], step: [f64; 2], change: [f64; 2]) -> [[f64; 2]; 2] {
    let moved = product(inverse, change);
    let transposed = [
        [inverse[0][0], inverse[1][0]],
        [inverse[0][1], inverse[1][1]],
    ];
    let row = product(transposed, step);
    let scale = step[0] * moved[0] + step[1] * moved[1];
    if scale.abs() < 1e-9 {
        return inverse;
    }
    let miss = [step[0] - moved[0], step[1] - moved[1]];
    let mut next = inverse;
    for (line, miss) in next.iter_mut().zip(miss) {
        for (value, row) in line.iter_mut().zip(row) {
            *value += miss * row / scale;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear system is solved by Broyden's method in at most twice its dimension (Gay, 1979).
    #[test]
    fn a_linear_system_is_solved() {
        let deviation = |at: [f64; 2]| {
            let off = [at[0] - 3.0, at[1] + 1.0];
            [0.7 * off[0] + 0.1 * off[1], 0.3 * off[0] + 1.2 * off[1]]
        };
        let (mut at, mut inverse) = ([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]);
        let mut last = deviation(at);
        for _ in 0..5 {
            let step = product(inverse, last).map(|part| -part);
            at = [at[0] + step[0], at[1] + step[1]];
            let now = deviation(at);
            inverse = updated(inverse, step, [now[0] - last[0], now[1] - last[1]]);
            last = now;
        }
        assert!(size(last) < 1e-6, "{last:?}");
    }

    /// The deviation that is told as the largest is, whichever way it points.
    #[test]
    fn the_largest_deviation_is_told() {
        let mut predicted = fathom_stats::Histogram::new();
        for _ in 0..1000 {
            predicted.record(1_000_000);
        }
        let search = |quantiles: &[(f64, f64)]| Search {
            target: [1e6, 1e6],
            quantiles: quantiles.to_vec(),
            ios: 1000,
            at: [0.0; 2],
            last: None,
            inverse: [[1.0, 0.0], [0.0, 1.0]],
            best: None,
        };
        let mixture = Mixture::new([(&predicted, 1.0)].into_iter());
        let error = search(&[(10.0, 0.9e6), (90.0, 2.5e6), (99.0, 1.2e6)]).error(&mixture);
        assert!((error.most + 0.6).abs() < 0.01, "{error:?}");
        assert!((error.most_at - 90.0).abs() < 0.1, "{error:?}");
        assert!(error.p50.abs() < 0.01 && error.is_poor(), "{error:?}");
    }
}
