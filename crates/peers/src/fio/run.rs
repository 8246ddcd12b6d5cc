//! A run of fio's jobs on real storage, from the checks before it to the exit code.

use fathom_dialects::fio::{self, FioInput, Refused, Unready};
use fathom_engine::{
    EngineError, ErrorPolicy, Overwrite, Plan, RunOptions, StopFlag, refuse_results,
};
use fathom_rawio::Clock;
use fathom_session::{
    Code, Console, Failure, Input, Keep, Start, engine_failure, failure_of, measured, watch,
};
use fathom_units::Nanos;

use super::bandwidth;
use super::logs::Place;
use super::output::{Output, errors, run_of};
use super::refusal::refusal;
use super::watcher::Watcher;
use super::{Ours, trigger};

/// Linux's number of what is cancelled.
const ECANCELED: i32 = 125;

/// Runs the jobs, shows them as fio does on `output`, and says how the program ends.
pub fn run(
    input: &FioInput,
    ours: &Ours,
    mut output: Output<'_>,
    console: &dyn Console,
) -> Result<Code, Failure> {
    let options = RunOptions {
        destroy_data: ours.destroy_data.clone(),
        overwrite: Overwrite::Allowed,
        on_error: ErrorPolicy::EndWorker,
        snapshot_every: input.output.status_interval,
        ..RunOptions::default()
    };
    let trigger = trigger::usable(&input.output.trigger)?;
    let began = Clock::now();
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let whole = Input::new("fio", input.workload.clone());
    let mut start = Start::now(&whole, None);
    let plan = match check(input, &options) {
        Ok(plan) => plan,
        Err(error) => {
            let text = refusal(input, &error, began);
            output.write(&text);
            return refuse(output, &text, failure_of("fio", &error), console);
        }
    };
    whole.tell_unused_names(&options.destroy_data, console);
    let mut watcher = Watcher::new(input, output, Place::Files, began, console);
    watcher.start();
    let keep = if ours.record {
        Keep::Run
    } else {
        Keep::Nothing
    };
    let (ran, pulled) = trigger::watched(trigger, began, &stop, console, || {
        watch(&mut start, &whole, keep, &mut watcher, console, |sink| {
            fathom_engine::run_planned(&input.workload, (&options, &plan), None, &stop, sink)
        })
    });
    if pulled {
        trigger::run_command(trigger, console);
    }
    let (ran, writer) = match ran {
        Ok(ran) => ran,
        Err(error) => {
            let text = refusal(input, &error, began);
            let output = watcher.give_up(&text, console);
            return refuse(output, &text, engine_failure(&error), console);
        }
    };
    let (output, whole_logs) = watcher.finish(&ran.results, stop.signal(), console);
    output.close()?;
    // What a trigger ends is done, as in fio.
    let stopped = ran.interrupted && (!pulled || stop.signal().is_some());
    let failed = fio::failed_jobs(input, &run_of(&ran.results, began));
    let mut code = match (stopped, failed) {
        (true, _) => Code::PeerStopped,
        (false, 0) if !whole_logs => Code::Unexpected,
        (false, failed) => Code::failed_jobs(failed),
    };
    if let Some(error) = &ran.failure {
        console.tell(&engine_failure(error).message);
        code = Code::failed_jobs(failed.max(1));
    }
    if let Some(writer) = writer {
        let record = start.record(&whole, measured(ran));
        if let Some(problem) = writer.finish(&record) {
            console.tell(&format!("note: {problem}"));
        }
    }
    Ok(code)
}

/// Looks at all that the jobs name, and at what is written beside them.
fn check(input: &FioInput, options: &RunOptions) -> Result<Plan, EngineError> {
    let plan = fathom_engine::preflight(&input.workload, options)?;
    refuse_results(written_beside(input))?;
    Ok(plan)
}

/// Paths of what is written beside what the workload says: logs, for a run on this machine.
fn written_beside(input: &FioInput) -> Vec<String> {
    let logs = input.jobs.iter().flat_map(|job| &job.logs.files);
    let mut paths: Vec<String> = logs.map(|file| file.path.clone()).collect();
    let prefix = input.output.bandwidth_log.as_deref();
    paths.extend(prefix.into_iter().flat_map(bandwidth::paths));
    paths
}

/// Ends without a run of jobs that were refused as they were read. fio finds what is wrong with them as it runs, and so prints
/// its results.
pub fn refuse_read(
    unready: Unready,
    began: Nanos,
    mut output: Output<'_>,
    console: &dyn Console,
) -> Result<Code, Failure> {
    let of_jobs = |Refused { input, errnos }: Refused| {
        errors(
            &input,
            &|place, _| errnos.get(place).copied().unwrap_or(0),
            began,
        )
    };
    // Jobs that nothing is wrong with were cancelled.
    let own = |refused: &Refused| refused.errnos.iter().filter(|it| **it != ECANCELED).count();
    let failed = unready.refused.as_ref().map_or(1, own).max(1);
    let text = unready.refused.map_or_else(String::new, of_jobs);
    output.write(&text);
    let mut failure = Failure::from(unready.complaints);
    if failed > 1 {
        failure.code = Code::failed_jobs(failed);
    }
    refuse(output, &text, failure, console)
}

/// Ends without a run. What holds a document that programs read has nothing beside it: the message is told apart then.
fn refuse(
    output: Output<'_>,
    document: &str,
    failure: Failure,
    console: &dyn Console,
) -> Result<Code, Failure> {
    if document.is_empty() {
        return Err(failure);
    }
    output.close()?;
    console.tell(&failure.message);
    Ok(match failure.code {
        code @ (Code::Refused | Code::JobsFailed(_)) => code,
        _ => Code::Unexpected,
    })
}
