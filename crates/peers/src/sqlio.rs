//! `fathom sqlio`: SQLIO's command line and output.
//!
//! Exit codes: 0; 1 where the run failed or the line is wrong; 4 where the write guard refused; 130 where it was stopped.

use fathom_dialects::sqlio::{self, Action, SqlioInput, SqlioRun};
use fathom_engine::RunOutcome;
use fathom_session::{
    Code, Console, Failure, PatientFiles, Screen, map_to_this_machine, settle_paths, tell_warnings,
};
use fathom_units::Nanos;
use fathom_workload::Workload;

use crate::measure::{self, Ours, asks_for_help, progress, tell_failure};

/// Does what SQLIO would do with `arguments`.
pub fn sqlio(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = Ours::take(arguments);
    if asks_for_help(&theirs, &["-h", "--help", "/?"]) {
        console.print_help(sqlio::usage());
        return Code::Success;
    }
    let done = sqlio::read(&theirs, &PatientFiles(console))
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, console));
    match done {
        Ok(code) => code,
        Err(failure) => tell_failure(&failure, Code::Unexpected, console),
    }
}

fn act(mut input: SqlioInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    if input.action == Action::Help {
        console.print_help(sqlio::usage());
        return Ok(Code::Success);
    }
    map_to_this_machine(&ours.maps, &mut input.workload, console)?;
    tell_warnings(&settle_paths(&mut input.workload)?, console);
    let mut screen = progress(console);
    let settings = &input.settings;
    let print = |ran: &RunOutcome, _: &mut Screen<'_>| {
        let sizes = sizes(&input.workload);
        let measured = ran.results.first().filter(|it| it.measured > Nanos::ZERO);
        match measured {
            Some(result) => {
                let sizes = sizes.as_slice();
                console.print(&sqlio::write_text(settings, &SqlioRun { result, sizes }));
            }
            None => console.tell("note: nothing was measured"),
        }
    };
    measure::run("sqlio", &input.workload, ours, &mut screen, console, print)
}

/// Size of each target, in order.
fn sizes(workload: &Workload) -> Vec<u64> {
    let targets = workload.jobs().flat_map(|(_, job)| &job.targets);
    let size = |path: &str| std::fs::metadata(path).map_or(0, |file| file.len());
    targets.map(|target| size(target.place.path())).collect()
}
