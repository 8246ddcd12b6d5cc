//! The checks of a worker, made from its job.
//!
//! The state of an earlier job is read when the stage begins, since an earlier stage of the same run may have written it.

use std::collections::BTreeSet;
use std::fs::File;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_verify::{Blocks, Program, SavedState, TraceWalks, directions_follow_time};
use fathom_workload::generator::{StreamKey, TargetRange};
use fathom_workload::{Job, Replay, Workload};

use crate::EngineError;
use crate::preflight::{layout_error, stream_error};
use crate::worker::{Lanes, Passes, Replayer, Verification, trace_ios};

/// The checks of a worker of `job`, the job of number `index` of the workload, where it asks for any. `keys` are those of
/// what it draws alike in all repeats, and anew in each.
///
/// # Errors
/// A state that cannot be read, or a job without a stream.
pub(crate) fn verification<'a>(
    (index, job): (usize, &'a Job),
    worker: u32,
    keys: (StreamKey, StreamKey),
    ranges: &[TargetRange],
) -> Result<Option<Verification<'a>>, EngineError> {
    let Some(verify) = job.features.verify.as_deref() else {
        return Ok(None);
    };
    let loaded = verify.load_state.as_deref().map(load_state).transpose()?;
    let program = Program::new(job, verify, keys, ranges, loaded);
    let mut program = program.map_err(|error| stream_error(&error))?;
    let passes = match (&job.features.replay, &job.features.rates) {
        (Some(replay), _) => {
            program = program.of_trace(walks(replay)?);
            Passes::Trace(Box::new(Replayer::new(replay, job)?))
        }
        (None, Some(rates)) if directions_follow_time(job) => {
            Passes::Rated(Box::new(Lanes::new(job, rates, keys.1)))
        }
        (None, _) => Passes::Stream,
    };
    let number = (index as u16).wrapping_add(worker as u16);
    let blocks = Blocks::new(verify, job, number).map_err(|error| layout_error(job, error))?;
    let order = (program, passes);
    Ok(Some(Verification::new(job, verify, order, blocks)))
}

/// Whether the states that jobs begin with can be read, but for those that an earlier stage saves: nothing is laid out for a job
/// that cannot begin.
///
/// # Errors
/// The first that cannot.
pub(crate) fn check_states(workload: &Workload) -> Result<(), EngineError> {
    let mut saved = BTreeSet::new();
    for stage in &workload.stages {
        let verify = || (stage.jobs.iter()).filter_map(|job| job.features.verify.as_deref());
        let loaded = verify().filter_map(|verify| verify.load_state.as_deref());
        for path in loaded.filter(|path| !saved.contains(path)) {
            load_state(path)?;
        }
        saved.extend(verify().filter_map(|verify| verify.save_state.as_deref()));
    }
    Ok(())
}

/// A replayed trace is read again from the file that was there when its job began, whatever becomes of the name.
fn walks(replay: &Replay) -> Result<TraceWalks, EngineError> {
    let failed = |source| EngineError::target(&replay.path, "reading the trace", source);
    let file = File::open(&replay.path).map_err(failed)?;
    let replay = replay.clone();
    Ok(TraceWalks::new(move || {
        let ios = trace_ios(&file, &replay)?;
        Ok(Box::new(ios))
    }))
}

fn load_state(path: &str) -> Result<SavedState, EngineError> {
    let bytes = std::fs::read(path).map_err(|error| {
        EngineError::target(path, "reading the state of an earlier check", error)
    })?;
    // fio's own are no text.
    SavedState::from_text(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        let text = format!("`{path}` holds no state of an earlier job: {error}");
        let hint = "let that job run again with its state saved, or check without it";
        EngineError::Invalid(Diagnostics(vec![Diagnostic::error(text).hint(hint)]))
    })
}
