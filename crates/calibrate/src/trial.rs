//! One prediction of the record's workload with the latencies of one attempt.

use std::collections::BTreeMap;

use fathom_model::{AnyVolume, Design, HostCaching};
use fathom_record::{Ignore, Record, StageRecord, StageResult};
use fathom_sim::predict;
use fathom_units::{Nanos, per_second};
use fathom_workload::Workload;

use crate::CalibrateError;
use crate::cells::{CellId, stages_of};
use crate::document::{Document, Latency};

/// I/Os of a stage that a trial predicts at the measured rate: the standard error of a log-normal p99 of sigma 0.6 is then
/// half a percent.
const IOS_PER_STAGE: f64 = 200_000.0;

/// Predicts `workload` on the design with these latencies of entries.
pub(crate) fn trial(
    document: &Document<'_>,
    workload: &Workload,
    latencies: &[(usize, Latency)],
    stop: &dyn Fn() -> bool,
) -> Result<Vec<StageResult>, CalibrateError> {
    let design = document.design(latencies)?;
    let prediction = predict(workload, &design, &mut Ignore, stop)?;
    if stop() {
        return Err(CalibrateError::Stopped);
    }
    Ok(prediction.results)
}

/// The workload as trials run it: each stage once, those without a cell in `cells` not at all, and no longer than it takes.
///
/// A host cache remembers what came before, so that with one everything is run in full length.
pub(crate) fn shortened(
    workload: &Workload,
    record: &Record,
    design: &Design,
    cells: &[CellId],
) -> Workload {
    let mut short = workload.clone();
    let cached = |volume: AnyVolume<'_>| match volume {
        AnyVolume::Disks(_, volume) => volume.caching != HostCaching::None,
        _ => false,
    };
    let remembers = design.volumes().any(cached);
    let mut firsts: BTreeMap<usize, &StageRecord> = BTreeMap::new();
    for (index, stage) in stages_of(record, workload) {
        firsts.entry(index).or_insert(stage);
    }
    for (index, stage) in short.stages.iter_mut().enumerate() {
        stage.repeats = 1;
        stage.cooldown = Nanos::ZERO;
        if remembers {
            continue;
        }
        let measured = firsts.get(&index);
        let rate = measured.map_or(0.0, |one| {
            let ios = one.total.all.as_ref().map_or(0, |all| all.ios);
            per_second(ios, Nanos::new(one.measured_ns))
        });
        let needed = cells.iter().any(|cell| cell.stage == index);
        let length = if needed && rate > 0.0 {
            Nanos::new((IOS_PER_STAGE / rate * 1e9) as u64)
        } else {
            // Stages keep their places, since cells are named by them.
            Nanos::new(1)
        };
        for job in &mut stage.jobs {
            let limits = &mut job.limits;
            limits.runtime = Some(limits.runtime.map_or(length, |runtime| runtime.min(length)));
            limits.warmup = limits.warmup.min(Nanos::new(length.get() / 10));
        }
    }
    short
}
