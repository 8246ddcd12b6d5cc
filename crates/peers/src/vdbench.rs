//! `fathom vdbench`: Vdbench's command line, output directory and exit codes.
//!
//! Exit codes are Vdbench's own (0; 157 on any failure, which is how a shell shows its −99), but 4 where the write guard
//! refused. What is shown is what `logfile.html` gets, without the marks of HTML.

mod anchors;
mod directory;
mod enough;
mod errors;
mod processors;
mod watcher;

use std::num::NonZeroU64;
use std::path::Path;

use fathom_dialects::fio::SystemFiles;
use fathom_dialects::vdbench::output::{Layout, Pages as _, Report, layout};
use fathom_dialects::vdbench::{self, Run, RunKind, VdbenchInput};
use fathom_engine::{EngineError, ErrorPolicy, RunOptions, StopFlag};
use fathom_record::Record;
use fathom_session::{
    Code, Console, Failure, Input, PatientFiles, Start, engine_failure, in_words_of, located,
    map_to_this_machine, measured, refuse_windows, tell_warnings, watch,
};
use fathom_workload::Workload;
use jiff::Zoned;
use jiff::tz::TimeZone;

pub(crate) use self::directory::Files;
pub use self::enough::Enough;
pub(crate) use self::watcher::{Time, Watcher};
use crate::measure::{Ours, asks_for_help};

/// The directory where none is named.
const DEFAULT_OUTPUT: &str = "output";

/// Failed I/Os of all runs together at which Vdbench ends, where `data_errors=` says nothing.
const DATA_ERRORS: NonZeroU64 = NonZeroU64::new(50).expect("it is more than none");

/// Failed I/Os that are told one by one, however many `data_errors=` allows: a device that is gone fails millions.
const MOST_TOLD: u64 = 1000;

const USAGE: &str = "\
Usage: fathom vdbench -f FILE ... [-o DIR] [-s] [-v[r][w]] [-e SECONDS] [-i SECONDS] [-w SECONDS] [-m N] [-t] [key=value ...]
  beside them: --map FROM=TO, --destroy-data=NAME, --here=LABEL,...|all, --record
";

/// Does what Vdbench would do with `arguments`.
pub fn vdbench(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = Ours::take(arguments);
    if theirs.is_empty() {
        console.print_help(USAGE);
        return Code::VdbenchFailed;
    }
    if asks_for_help(&theirs, &["-h", "-?", "--help", "/?"]) {
        console.print_help(USAGE);
        return Code::Success;
    }
    let done = vdbench::read(&theirs, &PatientFiles(console))
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, &theirs, console));
    done.unwrap_or_else(|failure| {
        let Failure { code, message } = failed(failure);
        console.tell(&message);
        code
    })
}

/// Any failure is Vdbench's, but a refusal.
fn failed(failure: Failure) -> Failure {
    Failure {
        code: match failure.code {
            Code::Refused => Code::Refused,
            _ => Code::VdbenchFailed,
        },
        ..failure
    }
}

/// What the output of `input` needs to know.
pub(crate) fn output_layout(
    (input, workload): (&VdbenchInput, &Workload),
    directory: &Path,
) -> Layout {
    let program = format!("Fathom {}", env!("CARGO_PKG_VERSION"));
    let us = (program, std::process::id());
    // No path at all is no path.
    let directory = std::path::absolute(directory).unwrap_or_default();
    layout(
        (input, workload),
        directory.display().to_string(),
        TimeZone::system(),
        us,
    )
}

/// Begins every file: titles and links, the parameters, and what was said on the command line.
pub(crate) fn begin(
    input: &VdbenchInput,
    layout: Layout,
    files: &mut Files<'_>,
    words: &[String],
) -> Report {
    let now = fathom_rawio::wall_clock();
    let report = Report::new(layout, files, now);
    for source in input.sources.files() {
        let text = format!(
            "\n* Contents of parameter file: {}\n\n{}\n",
            source.name,
            source.text.trim_end_matches('\n')
        );
        files.append("parmfile.html", &text);
    }
    for line in &input.scan {
        report.scanned(files, now, line);
    }
    for word in words {
        let line = format!("input argument scanned: '{word}'");
        report.note(files, now, &line);
    }
    report
}

/// Makes the directory that is named and begins its files; without one, text is shown alone.
pub(crate) fn open<'a>(
    (input, workload): (&VdbenchInput, &Workload),
    output: Option<&str>,
    words: &[String],
    console: &'a dyn Console,
) -> Result<(Report, Files<'a>), Failure> {
    let directory = output.map(|output| directory::named(output, &Zoned::now()));
    let directory = directory.transpose()?;
    if let Some(directory) = &directory {
        directory::prepare(directory)?;
    }
    let mut files = Files::new(directory.clone(), console);
    let layout = output_layout((input, workload), &directory.unwrap_or_default());
    let report = begin(input, layout, &mut files, words);
    files.flush();
    written(&files)?;
    Ok((report, files))
}

/// A line for each file or device that is used: where it is, and how large.
fn note_sizes(input: &VdbenchInput, report: &Report, files: &mut Files<'_>) {
    let now = fathom_rawio::wall_clock();
    let mut sizes = std::collections::BTreeMap::new();
    for run in input.runs.iter().filter(|run| run.kind == RunKind::Storage) {
        let stage = input.workload.stages.get(run.stage);
        let jobs = stage.into_iter().flat_map(|stage| &stage.jobs);
        for (place, job) in run.jobs.iter().zip(jobs) {
            if let (Some(sd), Some(target)) = (input.sds.get(place.sd), job.targets.first()) {
                let path = target.place.path();
                sizes.entry((place.sd, path)).or_insert_with(|| {
                    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
                    (&sd.name, size)
                });
            }
        }
    }
    for ((_, path), (name, size)) in &sizes {
        let what = format!("sd={name},lun={path} lun size:");
        report.note_size(files, now, &what, *size);
    }
    if sizes.len() > 1 {
        let total = sizes.values().map(|(_, size)| size).sum();
        report.note_size(files, now, "Total SD size:", total);
    }
}

/// `-s`: says what would be done, and does nothing.
fn simulate(
    input: &VdbenchInput,
    words: &[String],
    console: &dyn Console,
) -> Result<Code, Failure> {
    let output = input.options.output.as_deref().unwrap_or(DEFAULT_OUTPUT);
    let directory = directory::named(output, &Zoned::now())?;
    directory::prepare(&directory)?;
    let mut files = Files::new(Some(directory.clone()), console);
    // Nothing runs: there are no files for parts of it.
    let mut layout = output_layout((input, &input.workload), &directory);
    layout.hosts.clear();
    layout.sds.clear();
    layout.wds.clear();
    layout.runs.iter_mut().for_each(|run| run.jobs.clear());
    let report = begin(input, layout, &mut files, words);
    anchors::note(input, &report, &mut files);
    let now = fathom_rawio::wall_clock();
    for index in 0..input.runs.len() {
        report.simulate(&mut files, index, now);
    }
    let seconds = |of: fn(&Run) -> u64| input.runs.iter().map(of).sum::<u64>();
    let total = seconds(|run| run.elapsed.unwrap_or(0) + run.warmup);
    let line = format!(
        "Total amount of Run Definitions: {}; total elapsed time {total} seconds, or {:.4} hours, plus a format if requested.",
        input.runs.len(),
        total as f64 / 3600.0
    );
    report.note(&mut files, now, &line);
    let pauses = seconds(|run| run.pause);
    if pauses > 0 {
        let line = format!("Pauses behind them take {pauses} seconds more.");
        report.note(&mut files, now, &line);
    }
    report.complete(&mut files, "simulation", now);
    files.flush();
    written(&files)?;
    Ok(Code::Success)
}

fn written(files: &Files<'_>) -> Result<(), Failure> {
    match files.problem() {
        Some(problem) => Err(Failure::new(Code::VdbenchFailed, problem)),
        None => Ok(()),
    }
}

fn act(
    mut input: VdbenchInput,
    ours: &Ours,
    words: &[String],
    console: &dyn Console,
) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    if input.options.simulate {
        return simulate(&input, words, console);
    }
    map_to_this_machine(&ours.maps, &mut input.workload, console)?;
    let notes = input.settle(&SystemFiles, fathom_rawio::wall_clock());
    let notes = notes.map_err(|others| {
        let hint = others.hint();
        Failure::new(Code::VdbenchFailed, others).hint(hint)
    })?;
    refuse_windows(&input, &input.workload)?;
    for note in notes {
        console.tell(&format!("note: {note}"));
    }
    run(&input, ours, words, console)
}

/// The engine's error, with lines of the parameter files.
fn refused(input: &VdbenchInput, error: &EngineError) -> Failure {
    match error {
        EngineError::Invalid(complaints) => {
            let located = located(complaints.clone(), |subject| input.place_of(subject));
            in_words_of("vdbench", located).into()
        }
        _ => engine_failure(error),
    }
}

fn run(
    input: &VdbenchInput,
    ours: &Ours,
    words: &[String],
    console: &dyn Console,
) -> Result<Code, Failure> {
    let limit = input.general.data_errors.unwrap_or(DATA_ERRORS);
    let options = RunOptions {
        on_error: ErrorPolicy::StopAt(limit),
        tell_failures: limit.get().min(MOST_TOLD),
        ..ours.options()
    };
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::VdbenchFailed, error))?;
    // What is refused makes no directory.
    let plan = fathom_engine::preflight(&input.workload, &options);
    let plan = plan.map_err(|error| refused(input, &error))?;
    let output = input.options.output.as_deref().unwrap_or(DEFAULT_OUTPUT);
    let (report, mut files) = open((input, &input.workload), Some(output), words, console)?;
    note_sizes(input, &report, &mut files);
    anchors::note(input, &report, &mut files);
    files.flush();
    let whole = Input::new("vdbench", input.workload.clone());
    let mut start = Start::now(&whole, None);
    let mut watcher = Watcher::new(
        (input, &input.workload),
        (report, files),
        Time::Real,
        stop.clone(),
    );
    let ran = watch(
        &mut start,
        &whole,
        ours.keep(),
        &mut watcher,
        console,
        |sink| fathom_engine::run_planned(&input.workload, (&options, &plan), None, &stop, sink),
    );
    let (report, mut files) = watcher.finish();
    let now = fathom_rawio::wall_clock();
    let (ran, writer) = match ran {
        Ok(ran) => ran,
        Err(error) => {
            report.error(&mut files, now, &error.to_string());
            files.flush();
            return Err(engine_failure(&error));
        }
    };
    let errors = errors::count(&ran.results);
    if let Some(text) = errors::reached(errors, limit) {
        report.error(&mut files, now, &text);
    }
    let failure = ran
        .failure
        .as_ref()
        .map(engine_failure)
        .or_else(|| (errors > 0).then(|| errors::failure(errors, limit)));
    // A word in the file of `monitor=` ends all as it should.
    let interrupted = ran.interrupted && stop.signal().is_some();
    let record = start.record(&whole, measured(ran));
    let of = (&report, fathom_rawio::wall_clock());
    end(of, &mut files, &record, failure.as_ref(), interrupted)?;
    if let Some(problem) = writer.and_then(|writer| writer.finish(&record)) {
        console.tell(&format!("note: {problem}"));
    }
    match failure {
        Some(failure) => Err(failure),
        None if interrupted => Ok(Code::VdbenchFailed),
        None => Ok(Code::Success),
    }
}

/// The last lines, and the record.
pub(crate) fn end(
    (report, now): (&Report, u64),
    files: &mut Files<'_>,
    record: &Record,
    failure: Option<&Failure>,
    interrupted: bool,
) -> Result<(), Failure> {
    match failure {
        Some(failure) => report.error(files, now, &failure.message),
        None if interrupted => report.note(files, now, "Vdbench was interrupted"),
        None => report.complete(files, "execution", now),
    }
    let json =
        serde_json::to_string(record).map_err(|error| Failure::new(Code::VdbenchFailed, error))?;
    files.whole("fathom.json", json + "\n");
    files.flush();
    written(files)
}
