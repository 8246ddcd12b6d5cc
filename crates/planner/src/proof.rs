//! The proof of an offer: its own workload, predicted on it.

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_profile::{Level, PeriodKind};
use fathom_record::{DirectionRecord, Event, EventSink, LatencyRecord, stage_record};
use fathom_units::{Nanos, group_digits};
use fathom_workload::native;

use crate::PlanError;
use crate::need::Need;

/// Share of the wanted I/Os a second that must come: a limit that is just enough lets its last I/Os wait a little.
const ENOUGH: f64 = 0.99;

/// What a design did with the workload it has to carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// Each volume in each period.
    pub volumes: Vec<ProvenVolume>,
}

/// One volume in one period.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenVolume {
    /// Name of the volume.
    pub volume: String,
    /// The period.
    pub period: PeriodKind,
    /// I/Os a second that are needed.
    pub iops_needed: u64,
    /// I/Os a second that were predicted.
    pub iops: f64,
    /// Predicted response times, from the intended start: reads, then writes.
    pub response: Vec<(&'static str, LatencyRecord)>,
    /// Latency goals.
    pub goal: Vec<(Level, Nanos)>,
}

struct Silent;

impl EventSink for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Predicts `workload` on `design`, both as texts.
///
/// # Errors
/// [`PlanError::Broken`] where one of them cannot be read, which is a fault of the planner.
pub fn prove(
    need: &Need,
    design: &str,
    workload: &str,
    catalog: &'static Catalog,
) -> Result<Proof, PlanError> {
    let broken = |error: String| PlanError::Broken(error);
    let (design, _) = Design::read(design, "the planned design", catalog)
        .map_err(|found| broken(found.to_string()))?;
    let (workload, _) = native::read(workload, "the planned workload")
        .map_err(|found| broken(found.to_string()))?;
    let prediction = fathom_sim::predict(&workload, &design, &mut Silent, &|| false)
        .map_err(|error| broken(error.to_string()))?;
    let mut volumes = Vec::new();
    for (stage, (period, result)) in workload
        .stages
        .iter()
        .zip(need.periods().zip(&prediction.results))
    {
        let record = stage_record(stage, result);
        for job in &record.jobs {
            let Some(volume) = need.volumes.iter().find(|volume| volume.name == job.name) else {
                continue;
            };
            let ways = [("reads", &job.read), ("writes", &job.write)];
            let ways = ways.map(|(name, way)| Some((name, way.as_ref()?)));
            let ways = || ways.iter().flatten();
            let response = ways().filter_map(|(name, way)| Some((*name, response(way)?)));
            volumes.push(ProvenVolume {
                volume: job.name.clone(),
                period,
                iops_needed: volume.load(period).map_or(0, |load| load.iops.get()),
                iops: ways().map(|(_, way)| way.iops).sum(),
                response: response.collect(),
                goal: volume.goal.clone(),
            });
        }
    }
    Ok(Proof { volumes })
}

fn response(way: &DirectionRecord) -> Option<LatencyRecord> {
    (way.ios > 0).then(|| way.response_ns.as_ref().unwrap_or(&way.latency_ns).clone())
}

/// The figure of a latency at a percentile.
pub(crate) fn at(latency: &LatencyRecord, level: Level) -> Nanos {
    Nanos::new(match level {
        Level::P50 => latency.p50,
        Level::P90 => latency.p90,
        Level::P99 => latency.p99,
    })
}

impl Proof {
    /// How the design fails; `None` where it carries everything.
    pub fn failure(&self) -> Option<String> {
        self.volumes.iter().find_map(ProvenVolume::failure)
    }
}

impl ProvenVolume {
    fn failure(&self) -> Option<String> {
        let place = format!("`{}`, {}", self.volume, self.period.name());
        if self.iops < self.iops_needed as f64 * ENOUGH {
            return Some(format!(
                "{place}: {} of {} I/Os a second are predicted",
                group_digits(self.iops.round() as u64),
                group_digits(self.iops_needed)
            ));
        }
        self.goal.iter().find_map(|(level, goal)| {
            let mut ways = self.response.iter();
            let (name, latency) = ways.find(|(_, latency)| at(latency, *level) > *goal)?;
            Some(format!(
                "{place}: the {level} of {name} is predicted as {}, above the goal of {goal}",
                at(latency, *level)
            ))
        })
    }
}
