//! From a workload and a design to measurements.

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_model::{Design, Storage};
use fathom_record::{
    Event, EventSink, StageResult, repeat_in_words, repeat_name, resolved_stage, stage_record,
};
use fathom_units::Nanos;
use fathom_workload::generator::StreamError;
use fathom_workload::{Stage, Workload};

use crate::file_sets::{SetRun, SetStates, is_of_sets};
use crate::plan::{Plan, PlannedJob, PredictError};
use crate::stage::{Interrupted, Run, Setup, announce};

/// What a workload would measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// One for each measured stage and repeat, in order.
    pub results: Vec<StageResult>,
    /// What a reader should know about all of them, one sentence each.
    pub notes: Vec<String>,
}

/// Runs `workload` on the storage that `design` describes, in virtual time.
///
/// Files are taken as existing in full. `sink` hears of each stage and each (virtual) second; `stop` is asked now and then,
/// and ends the run early with what was measured ([`fathom_record::EndReason::Interrupted`]).
///
/// # Errors
///
/// [`PredictError`], before anything runs, with everything that does not fit.
pub fn predict(
    workload: &Workload,
    design: &Design,
    sink: &mut dyn EventSink,
    stop: &dyn Fn() -> bool,
) -> Result<Prediction, PredictError> {
    let plan = Plan::new(workload, design)?;
    let storage = Storage::new(design, &plan.layout, workload.seed)?;
    let mut storage = storage.unchanging();
    check_streams(&plan, workload.seed, &mut storage)?;
    warm(&plan, design, &mut storage);
    for text in &plan.notes {
        sink.event(&Event::Note { text });
    }
    let repeats = |index: usize| workload.stages[index].repeats.max(1);
    let count: u32 = (0..workload.stages.len()).map(repeats).sum();
    let mut results = Vec::new();
    let mut states = SetStates::default();
    let mut start = Nanos::ZERO;
    let mut failed_before = 0;
    let mut index = 0;
    for (number, stage) in workload.stages.iter().enumerate() {
        let stage = resolved_stage(stage, &results);
        let stage = stage.as_ref();
        let jobs = resolved_jobs(&plan.stages[number], stage);
        for repeat in 0..repeats(number) {
            let name = repeat_name(&stage.name, repeat + 1);
            let jobs = &jobs;
            let words = repeat_in_words(stage, repeat + 1);
            announce(sink, (index, count as usize), (&name, &words), jobs);
            let setup = Setup {
                jobs,
                seed: workload.seed,
                index,
                repeat,
                start,
                failed_before,
            };
            let finished = if is_of_sets(jobs) {
                let run = SetRun::new(&setup, &mut storage, &mut states, sink);
                run.run(&name, number, stop)
            } else {
                let run = Run::new(&setup, &mut storage, sink);
                run.map_err(|error| rejected(&[error]))?
                    .run(&name, number, stop)
            };
            start = finished.end.saturating_add(stage.cooldown);
            tell_over((stage, index), &finished.result, failed_before, sink);
            if !stage.discard {
                failed_before += failed_in(&finished.result);
                results.push(finished.result);
            }
            index += 1;
            if finished.interrupted == Interrupted::Yes {
                return Ok(Prediction {
                    results,
                    notes: plan.notes,
                });
            }
        }
    }
    Ok(Prediction {
        results,
        notes: plan.notes,
    })
}

/// Tells what a stage came to, before which so many I/Os had failed.
fn tell_over(
    (stage, index): (&Stage, usize),
    result: &StageResult,
    failed_before: u64,
    sink: &mut dyn EventSink,
) {
    let over = true;
    sink.event(&Event::Snapshot {
        index,
        over,
        result,
    });
    if !stage.discard {
        let record = &stage_record(stage, result);
        sink.event(&Event::StageFinished { index, record });
    } else if failed_in(result) > 0 {
        // What is not recorded does not count any more.
        let count = failed_before;
        sink.event(&Event::MoreFailed { count });
    }
}

/// I/Os of a stage that have failed.
fn failed_in(result: &StageResult) -> u64 {
    let errors = result.workers.iter().flat_map(|worker| &worker.errors);
    errors.map(|error| error.count).sum()
}

/// The jobs of a stage as they are once its rates are known.
fn resolved_jobs<'j>(planned: &[PlannedJob<'j>], stage: &'j Stage) -> Vec<PlannedJob<'j>> {
    let jobs = planned.iter().zip(&stage.jobs);
    let resolved = jobs.map(|(planned, job)| PlannedJob {
        job,
        number: planned.number,
        targets: planned.targets.clone(),
    });
    resolved.collect()
}

/// Builds every stage's workers once, so that a stream that cannot be is found before anything runs.
fn check_streams(plan: &Plan<'_>, seed: u64, storage: &mut Storage) -> Result<(), PredictError> {
    let mut errors = Vec::new();
    for jobs in &plan.stages {
        for job in jobs.iter().filter(|it| it.job.features.file_work.is_none()) {
            let one = std::slice::from_ref(job);
            let setup = Setup {
                jobs: one,
                seed,
                index: 0,
                repeat: 0,
                start: Nanos::ZERO,
                failed_before: 0,
            };
            let mut ignore = fathom_record::Ignore;
            if let Err(error) = Run::new(&setup, storage, &mut ignore) {
                errors.push(error);
            }
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(rejected(&errors))
    }
}

fn rejected(errors: &[StreamError]) -> PredictError {
    let complaints = errors.iter().map(Diagnostic::from);
    PredictError::Input(Diagnostics(complaints.collect()))
}

/// Puts the workload's blocks into the caches that start warm, in order of first mention.
fn warm(plan: &Plan<'_>, design: &Design, storage: &mut Storage) {
    for target in plan.stages.iter().flatten().flat_map(|job| &job.targets) {
        if design.starts_warm(target.volume) {
            let offset = target.start + target.range.offset;
            storage.warm(target.volume, offset, target.range.length);
        }
    }
}
