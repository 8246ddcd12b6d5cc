//! `fathom run`: a workload on real storage.

use fathom_engine::{
    EngineError, ErrorPolicy, ExitClass, Overwrite, RunOptions, RunOutcome, StopFlag,
};

use crate::args::{RunArgs, SafetyArgs};
use crate::exit::{Code, Failure};
use crate::finish::{Outcome, Start, finish, watch};
use crate::input;

/// Runs, shows and stores.
pub fn run(args: &RunArgs) -> Result<Code, Failure> {
    let input = input::load(&args.workload, args.target.as_deref())?;
    let options = options(&args.safety);
    if args.output.dry_run {
        fathom_engine::preflight(&input.workload, &options).map_err(|error| failure(&error))?;
        crate::print(&fathom_workload::native::write(&input.workload));
        return Ok(Code::Success);
    }
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    // A run that is refused leaves no folder.
    fathom_engine::preflight(&input.workload, &options).map_err(|error| failure(&error))?;
    let mut start = Start::now(&input, None);
    let ran = watch(
        &mut start,
        &input,
        args.output.keep(),
        args.output.show(),
        |sink| fathom_engine::run(&input.workload, &options, &stop, sink),
    );
    let (ran, writer) = ran.map_err(|error| failure(&error))?;
    let failed = ran.failure.as_ref().map(failure);
    let record = start.record(&input, measured(ran));
    let code = finish(&record, writer, &args.output)?;
    failed.map_or(Ok(code), Err)
}

/// The engine's outcome as every verb finishes it.
pub fn measured(ran: RunOutcome) -> Outcome {
    Outcome {
        results: ran.results,
        targets: ran.facts.targets,
        notes: ran.notes,
        interrupted: ran.interrupted,
        design: serde_json::Value::Null,
    }
}

fn options(safety: &SafetyArgs) -> RunOptions {
    RunOptions {
        destroy_data: safety.destroy_data.clone(),
        overwrite: if safety.overwrite {
            Overwrite::Allowed
        } else {
            Overwrite::Refuse
        },
        on_error: if safety.keep_going {
            ErrorPolicy::Continue
        } else {
            ErrorPolicy::Stop
        },
    }
}

/// The engine's error with its exit code.
pub fn failure(error: &EngineError) -> Failure {
    let code = match error.exit_class() {
        ExitClass::Input => Code::Input,
        ExitClass::Refused => Code::Refused,
        ExitClass::Target => Code::Target,
        ExitClass::Unsupported => Code::Unsupported,
    };
    match error {
        EngineError::Invalid(diagnostics) => diagnostics.clone().into(),
        other => Failure::new(code, other),
    }
}
