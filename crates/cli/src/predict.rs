//! `fathom predict`: a workload on modelled storage.

use std::path::Path;

use fathom_catalog::Catalog;
use fathom_engine::StopFlag;
use fathom_model::Design;
use fathom_peers::Shown;
use fathom_record::RunKind;
use fathom_session::{Code, Failure, Outcome, Screen, Start, load, tell_warnings, watch};
use fathom_sim::{PredictError, predict as simulate};

use crate::args::PredictArgs;
use crate::finish::{finish, view};
use crate::terminal::TERMINAL;

/// Name and text of a design file.
pub fn read_design(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Failure::new(
            Code::Input,
            format!("the design `{name}` cannot be read: {error}"),
        )),
    }
}

/// Predicts, shows and stores.
pub fn predict(args: &PredictArgs) -> Result<Code, Failure> {
    let (path, text) = read_design(&args.on)?;
    let (design, warnings) = Design::read(&text, &path, Catalog::builtin())?;
    tell_warnings(&warnings, &TERMINAL);
    let input = load(&args.workload.words(args.target.as_deref()), &TERMINAL)?;
    let input = if args.include_layout {
        input.with_layout()?
    } else {
        input
    };
    let input = input
        .without_logs(&TERMINAL)
        .on_machines(design.vms.iter().map(|vm| vm.name.as_str()))?
        .with_sweep(&args.sweep.sweeps)?;
    if args.output.dry_run {
        crate::print(&fathom_workload::native::write(&input.workload));
        return Ok(Code::Success);
    }
    let design_name = args
        .on
        .file_name()
        .map_or(path, |name| name.to_string_lossy().into_owned());
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let mut start = Start::now(&input, Some((&design_name, text)));
    let screen = Screen::new(args.output.show_virtual(), &TERMINAL);
    let view = view(&args.output, &input, RunKind::Predict, &stop)?;
    let mut shown = Shown::new(screen, view);
    let prediction = watch(
        &mut start,
        &input,
        args.output.keep(),
        &mut shown,
        &TERMINAL,
        |sink| simulate(&input.workload, &design, sink, &|| stop.is_requested()),
    );
    let view = shown.close();
    let (prediction, writer) = prediction.map_err(|error| match error {
        PredictError::Input(complaints) => input.located(complaints).into(),
        PredictError::Model(error) => Failure::new(Code::Input, error),
    })?;
    let outcome = Outcome {
        results: prediction.results,
        targets: Vec::new(),
        notes: prediction.notes,
        interrupted: stop.is_requested(),
        design: design.to_json(),
    };
    let record = start.record(&input, outcome);
    finish(&record, writer, &args.output, view)
}
