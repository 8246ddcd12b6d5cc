//! `fathom diskspd`: DISKSPD's command line, output and exit codes.
//!
//! Exit codes are DISKSPD's own (0; 1 where the run failed; 3 where the line is wrong), but 4 where the write guard refused
//! and 130 where the run was stopped.

mod processors;
mod watcher;

use fathom_dialects::diskspd::{self, Action, DiskspdInput, DiskspdRun, SpanRun};
use fathom_engine::RunOutcome;
use fathom_record::StageResult;
use fathom_session::{
    Code, Console, Failure, PatientFiles, map_to_this_machine, settle_paths, tell_warnings,
};
use fathom_workload::Workload;

use crate::measure::{self, Ours, asks_for_help, tell_failure};

pub(crate) use self::processors::system;
pub(crate) use self::watcher::Span;
use self::watcher::Watcher;

/// The name that output shows.
const PROGRAM: &str = "diskspd";

/// Does what DISKSPD would do with `arguments`.
pub fn diskspd(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = Ours::take(arguments);
    if theirs.is_empty() {
        console.print_help(diskspd::usage());
        return Code::Input;
    }
    // `-h` is an option of DISKSPD's.
    if asks_for_help(&theirs, &["--help", "/?"]) {
        console.print_help(diskspd::usage());
        return Code::Success;
    }
    let done = diskspd::read(&theirs, fathom_rawio::wall_clock(), &PatientFiles(console))
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, console));
    match done {
        Ok(code) => code,
        Err(failure) => tell_failure(&failure, Code::Input, console),
    }
}

fn act(mut input: DiskspdInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    match input.action {
        Action::Run => {}
        Action::Help => {
            console.print_help(diskspd::usage());
            return Ok(Code::Success);
        }
        Action::Profile => {
            console.print(&diskspd::write_profile(&input, PROGRAM));
            return Ok(Code::Success);
        }
        Action::System => {
            let started = fathom_rawio::wall_clock();
            let system = system();
            console.print(&diskspd::write_system(&input, &system, started));
            return Ok(Code::Success);
        }
    }
    map_to_this_machine(&ours.maps, &mut input.workload, console)?;
    tell_warnings(&settle_paths(&mut input.workload)?, console);
    run(&input, ours, console)
}

fn run(input: &DiskspdInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    let started_unix_ns = fathom_rawio::wall_clock();
    let mut watcher = Watcher::new(input, console);
    let print = |ran: &RunOutcome, watcher: &mut Watcher<'_>| {
        let of = |result: &StageResult| watcher.span(result.stage);
        let results = ran.results.iter();
        let results = results.filter_map(|result| Some((result, of(result)?)));
        let spans = results.map(|(result, seen)| SpanRun {
            span: input.span_of(result.stage),
            measured: result.measured,
            rows: diskspd::rows(input, result, &seen.tallies),
            cpus: seen.cpus(),
            sizes: sizes(input, &input.workload, result.stage),
        });
        let spans: Vec<SpanRun> = spans.collect();
        let run = DiskspdRun {
            spans: &spans,
            system: &system(),
            started_unix_ns,
            program: PROGRAM,
        };
        console.print(&diskspd::write_results(input, &run));
    };
    let workload = &input.workload;
    measure::run(PROGRAM, workload, ours, &mut watcher, console, print)
}

/// Size of each target of a stage, in order: that of the file, or of the part that is used where that cannot be told.
///
/// `workload` is the input's, with its paths as they are on this machine.
pub(crate) fn sizes(input: &DiskspdInput, workload: &Workload, stage: usize) -> Vec<u64> {
    let mut sizes = vec![0; input.targets(input.span_of(stage)).len()];
    let jobs = workload.stages.get(stage).map(|stage| &stage.jobs);
    let jobs = jobs.into_iter().flatten();
    let workers = jobs.flat_map(|job| std::iter::repeat_n(job, job.workers as usize));
    let places = input.places.get(stage).into_iter().flatten();
    for (job, place) in workers.zip(places) {
        for (used, target) in job.targets.iter().zip(&place.targets) {
            let size = &mut sizes[*target];
            if *size == 0 {
                let file = std::fs::metadata(used.place.path()).ok();
                let file = file.filter(std::fs::Metadata::is_file).map(|it| it.len());
                let part = used.length.map(|length| (used.offset + length).get());
                *size = file.or(part).unwrap_or(0);
            }
        }
    }
    sizes
}
