//! `fathom predict`: a workload on modelled storage.

use std::path::Path;

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_peers::Enough;
use fathom_record::{EventSink, RunKind};
use fathom_session::{
    Code, Failure, Fan, Input, Outcome, Start, file_name, load_to_predict, open_trace, read_text,
    renamer, tell_warnings, watch,
};
use fathom_sim::{PredictError, Prediction, Replay, predict as simulate};

use crate::args::PredictArgs;
use crate::finish::{finish, shown, stopped_by_signals, tell_decisions, view};
use crate::terminal::TERMINAL;

/// Name and text of a design file.
pub fn read_design(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    Ok((name, read_text("the design ", path)?))
}

/// Predicts, shows and stores.
pub fn predict(args: &PredictArgs) -> Result<Code, Failure> {
    let (path, text) = read_design(&args.on)?;
    let (design, warnings) = Design::read(&text, &path, Catalog::builtin())?;
    tell_warnings(&warnings, &TERMINAL);
    let design = design.scaled(args.scale.unwrap_or_default());
    if let Some(trace) = &args.replay {
        let open = || open_trace(trace);
        let name = trace.display().to_string();
        let renamed = renamer(&args.workload.maps)?;
        let mut replay = Replay::new(&name, open()?, &design, &renamed)?;
        let input = Input::new(file_name(trace), replay.workload().clone());
        return simulated(args, (&design, text), &input, |sink, stop| {
            let predicted = replay.predict(open()?, &design, sink, stop);
            let predicted = predicted.map_err(|error| failure(&input, error))?;
            // It knows now how much was outstanding.
            let replayed = Input::new(file_name(trace), replay.workload().clone());
            Ok((predicted, Some(replayed)))
        });
    }
    let input = load_to_predict(&args.workload.words(args.target.as_deref()), &TERMINAL)?;
    let input = if args.include_layout {
        input.with_layout()?
    } else {
        input
    };
    let input = input
        .without_logs(args.output.layout(), &TERMINAL)
        .on_machines(design.vms.iter().map(|vm| vm.name.as_str()))?
        .with_sweep(&args.sweep.sweeps)?;
    simulated(args, (&design, text), &input, |sink, stop| {
        let predicted = simulate(&input.workload, &design, sink, stop);
        Ok((predicted.map_err(|error| failure(&input, error))?, None))
    })
}

fn failure(input: &Input, error: PredictError) -> Failure {
    match error {
        PredictError::Input(complaints) => input.located(complaints).into(),
        PredictError::Model(error) => Failure::new(Code::Input, error),
    }
}

/// A prediction, and the input as it is known afterwards where that is another.
type Predicted = (Prediction, Option<Input>);

/// Shows and stores what `run` predicts of `input`; with the text of the design.
fn simulated(
    args: &PredictArgs,
    (design, text): (&Design, String),
    input: &Input,
    run: impl FnOnce(&mut dyn EventSink, &dyn Fn() -> bool) -> Result<Predicted, Failure>,
) -> Result<Code, Failure> {
    let need = args.output.need.read(&TERMINAL)?;
    tell_decisions(&args.output, input);
    if args.output.dry_run {
        return args.output.print_planned(&input.workload, &TERMINAL);
    }
    let stop = stopped_by_signals()?;
    let mut start = Start::now(input, Some((&file_name(&args.on), text)));
    let view = view(&args.output, input, RunKind::Predict, &stop)?;
    let mut shown = shown((args.output.show_virtual(), view), &start, input);
    let keep = args.output.keep();
    let mut enough = Enough::new(input, stop.clone());
    let predicted = watch(&mut start, input, keep, &mut shown, &TERMINAL, |sink| {
        run(&mut Fan(vec![sink, &mut enough]), &|| stop.is_requested())
    });
    let view = shown.close();
    let ((prediction, known), writer) = predicted?;
    let outcome = Outcome {
        results: prediction.results,
        targets: Vec::new(),
        notes: prediction.notes,
        interrupted: stop.is_requested(),
        design: design.to_json(),
    };
    let mut record = start.record(known.as_ref().unwrap_or(input), outcome);
    finish(&mut record, writer, &args.output, (need.as_ref(), view))
}
