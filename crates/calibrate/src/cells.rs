//! Distributions of latency: of one job and direction, and of several together.

use fathom_record::{
    DirectionRecord, PlannedStage, Record, StageRecord, StageResult, planned_stages,
};
use fathom_stats::{Histogram, from_hdr_base64};
use fathom_workload::{Direction, Workload};

/// A job of a stage and a direction: what has a distribution of its own in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellId {
    /// Index of the stage in the workload.
    pub stage: usize,
    /// Index of the job in the stage.
    pub job: usize,
    pub direction: Direction,
}

/// What was measured of a cell.
pub(crate) struct Measured {
    pub id: CellId,
    pub latency: Histogram,
}

/// Every cell of the record, repeats of a stage together.
pub(crate) fn measured_cells(record: &Record, workload: &Workload) -> Vec<Measured> {
    let mut cells: Vec<Measured> = Vec::new();
    for (index, stage) in stages_of(record, workload) {
        for (job, figures) in stage.jobs.iter().enumerate() {
            let ways = [&figures.read, &figures.write, &figures.trim];
            for (direction, figures) in Direction::ALL.into_iter().zip(ways) {
                let id = CellId {
                    stage: index,
                    job,
                    direction,
                };
                let Some(latency) = figures.as_ref().and_then(histogram_of) else {
                    continue;
                };
                match cells.iter_mut().find(|cell| cell.id == id) {
                    Some(cell) => cell.latency.merge(&latency),
                    None => cells.push(Measured { id, latency }),
                }
            }
        }
    }
    cells
}

/// The stages of the record, each with the index of its own in the workload.
pub(crate) fn stages_of<'r>(
    record: &'r Record,
    workload: &Workload,
) -> impl Iterator<Item = (usize, &'r StageRecord)> {
    let names = record.stages.iter().map(|stage| stage.name.as_str());
    let found = planned_stages(&PlannedStage::all(workload), names);
    let stages = found.into_iter().zip(&record.stages);
    stages.filter_map(|(found, stage)| Some((found?, stage)))
}

fn histogram_of(figures: &DirectionRecord) -> Option<Histogram> {
    let histogram = from_hdr_base64(&figures.latency_ns.histogram).ok()?;
    (histogram.count() > 0).then_some(histogram)
}

/// The predicted distribution of a cell.
pub(crate) fn predicted_cell(results: &[StageResult], id: CellId) -> Histogram {
    let mut latency = Histogram::new();
    for result in results.iter().filter(|result| result.stage == id.stage) {
        for worker in result.workers.iter().filter(|worker| worker.job == id.job) {
            if let Some(stats) = &worker.directions[id.direction as usize] {
                latency.merge(&stats.latency);
            }
        }
    }
    latency
}

/// Several distributions together, each with a weight of its own: a prediction is shorter than what was measured, but its
/// cells must count as those do.
#[derive(Debug, Default)]
pub(crate) struct Mixture {
    /// Values with their weights, sorted.
    values: Vec<(u64, f64)>,
    total: f64,
}

impl Mixture {
    /// Of distributions with weights; empty ones do not count.
    pub fn new<'h>(parts: impl Iterator<Item = (&'h Histogram, f64)>) -> Self {
        let mut mixture = Self::default();
        for (histogram, weight) in parts.filter(|(histogram, _)| histogram.count() > 0) {
            let each = weight / histogram.count() as f64;
            let values = histogram.nonzero();
            mixture
                .values
                .extend(values.map(|(value, count)| (value, count as f64 * each)));
            mixture.total += weight;
        }
        mixture.values.sort_by_key(|(value, _)| *value);
        mixture
    }

    /// The value in ns at or below which `percent` of the weight lies, between the middles of buckets; 0 where empty.
    pub fn quantile(&self, percent: f64) -> f64 {
        let wanted = self.total * percent / 100.0;
        let mut below = 0.0;
        let mut last: Option<(f64, f64)> = None;
        for (value, weight) in &self.values {
            // Half of a bucket's weight lies below its middle.
            let here = (*value as f64, below + weight / 2.0);
            if here.1 >= wanted {
                let Some((low, at)) = last else {
                    return here.0;
                };
                let share = (wanted - at) / (here.1 - at).max(f64::MIN_POSITIVE);
                return low + (here.0 - low) * share.clamp(0.0, 1.0);
            }
            below += weight;
            last = Some(here);
        }
        last.map_or(0.0, |(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_buckets() {
        let mut histogram = Histogram::new();
        for value in 1..=100_000u64 {
            histogram.record(value * 10);
        }
        let mixture = Mixture::new(std::iter::once((&histogram, 7.0)));
        for percent in [1.0, 50.0, 99.0] {
            let expected = percent * 10_000.0;
            let found = mixture.quantile(percent);
            assert!(
                (found / expected - 1.0).abs() < 0.001,
                "p{percent}: {found}"
            );
        }
    }

    #[test]
    fn weights_count_and_not_numbers() {
        let of = |value: u64, count: u64| {
            let mut histogram = Histogram::new();
            histogram.record_many(value, count);
            histogram
        };
        let (short, long) = (of(100, 1_000_000), of(200, 3));
        let mixture = Mixture::new([(&short, 1.0), (&long, 9.0)].into_iter());
        assert!(mixture.quantile(50.0) > 150.0);
        assert!((mixture.quantile(2.0) - 100.0).abs() < 1e-9);
        assert!(Mixture::default().quantile(50.0) < 1.0);
    }
}
