//! `fathom run` and `fathom replay`: a workload on real storage.

use fathom_engine::{Gate, RunOptions};
use fathom_peers::Enough;
use fathom_record::RunKind;
use fathom_session::{
    Code, Failure, Fan, Input, Needed, OutputArgs, ReplayArgs, Start, StartAt, engine_failure,
    load, measured, watch,
};

use crate::args::RunArgs;
use crate::finish::{finish, shown, stopped_by_signals, tell_decisions, view};
use crate::terminal::TERMINAL;

/// What is carried out, and how.
struct Asked<'a> {
    input: Input,
    need: Option<Needed>,
    options: RunOptions,
    output: &'a OutputArgs,
    start_at: Option<&'a StartAt>,
}

/// Runs, shows and stores.
pub fn run(args: &RunArgs) -> Result<Code, Failure> {
    let need = args.output.need.read(&TERMINAL)?;
    let input = load(&args.workload.words(args.target.as_deref()), &TERMINAL)?
        .without_logs(args.output.layout(), &TERMINAL)
        .on_this_machine(&TERMINAL)?
        .with_sweep(&args.sweep.sweeps)?;
    let options = RunOptions {
        outside_calls: args.outside_calls,
        ..args.safety.options()
    };
    carry_out(Asked {
        input,
        need,
        options,
        output: &args.output,
        start_at: args.start_at.as_ref(),
    })
}

/// Replays a trace, shows and stores.
pub fn replay(args: &ReplayArgs) -> Result<Code, Failure> {
    let need = args.output.need.read(&TERMINAL)?;
    carry_out(Asked {
        input: args.input()?,
        need,
        options: args.safety.options(),
        output: &args.output,
        start_at: args.start_at.as_ref(),
    })
}

fn carry_out(asked: Asked<'_>) -> Result<Code, Failure> {
    let Asked {
        input,
        need,
        options,
        output,
        start_at,
    } = asked;
    tell_decisions(output, &input);
    if let Some(start_at) = start_at {
        start_at.check(output.show(), &TERMINAL)?;
    }
    if output.dry_run {
        if let Some(folder) = input.missing_folder() {
            let folder = folder.display();
            crate::tell(&format!("note: `{folder}` would be made first"));
        } else {
            fathom_engine::preflight(&input.workload, &options)
                .map_err(|error| input.engine_failure(&error))?;
            input.tell_unused_names(&options.destroy_data, &TERMINAL);
        }
        return output.print_planned(&input.workload, &TERMINAL);
    }
    input.make_folders()?;
    let stop = stopped_by_signals()?;
    // A run that is refused leaves no folder.
    let plan = fathom_engine::preflight(&input.workload, &options)
        .map_err(|error| input.engine_failure(&error))?;
    input.tell_unused_names(&options.destroy_data, &TERMINAL);
    let mut start = Start::now(&input, None);
    let view = view(output, &input, RunKind::Run, &stop)?;
    let mut shown = shown((output.show(), view), &start, &input);
    let mut enough = Enough::new(&input, stop.clone());
    let ran = watch(
        &mut start,
        &input,
        output.keep(),
        &mut shown,
        &TERMINAL,
        |sink| {
            let mut sinks = Fan(vec![sink, &mut enough]);
            let gate = start_at.map(|start| start as &dyn Gate);
            let planned = (&options, &plan);
            fathom_engine::run_planned(&input.workload, planned, gate, &stop, &mut sinks)
        },
    );
    let view = shown.close();
    let (ran, writer) = ran.map_err(|error| engine_failure(&error))?;
    let failed = ran.failure.as_ref().map(engine_failure);
    let mut record = start.record(&input, measured(ran));
    let code = finish(&mut record, writer, output, (need.as_ref(), view))?;
    failed.map_or(Ok(code), Err)
}
