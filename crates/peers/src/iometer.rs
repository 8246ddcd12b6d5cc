//! `fathom iometer`: Iometer's configuration files, its results file, and the exit codes of Fathom.
//!
//! Iometer is a window and has no exit codes: 0 where all tests ran, and otherwise those of `fathom run`. Each test's results
//! are added to the file as the test ends, so that those of a run that is stopped are kept.

mod machine;
mod watcher;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use fathom_dialects::iometer::{self, Action, IometerInput, Record};
use fathom_engine::StopFlag;
use fathom_rawio::{Begin, open_results};
use fathom_session::{
    Code, Console, Failure, Input, PatientFiles, Spoken, Start, engine_failure,
    map_to_this_machine, measured, processors, refuse_device, settle_iometer, tell_warnings, watch,
};

use self::watcher::Watcher;
use crate::measure::Ours;

/// Does what Iometer would do with `arguments`.
pub fn iometer(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = Ours::take(arguments);
    if theirs.is_empty() {
        console.print_help(iometer::usage());
        return Code::Usage;
    }
    let done = iometer::read(&theirs, &PatientFiles(console), processors())
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, console));
    done.unwrap_or_else(|Failure { code, message }| {
        console.tell(&message);
        code
    })
}

fn act(mut input: IometerInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    if input.action == Action::Help {
        console.print_help(iometer::usage());
        return Ok(Code::Success);
    }
    map_to_this_machine(&ours.maps, &mut input.workload, console)?;
    let mut workload = input.workload.clone();
    settle_iometer(&mut workload, &input)?;
    input.workload = workload;
    run(&input, ours, console)
}

fn run(input: &IometerInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    let options = ours.options();
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let name = input.options.config.as_deref().unwrap_or("iometer");
    let whole = Input::new(name, input.workload.clone());
    let whole = whole.spoken(Spoken::Iometer(Box::new(input.clone())));
    let plan = fathom_engine::preflight(&input.workload, &options)
        .map_err(|error| whole.engine_failure(&error))?;
    for path in [&input.options.results, &input.options.percentiles] {
        refuse_device(Path::new(path.as_deref().unwrap_or_default()))?;
    }
    let recorded = input.record != Record::Nothing;
    let results = Output::open(input.options.results.as_deref(), recorded, console)?;
    let mut percentiles = match &input.options.percentiles {
        Some(path) => Some(Output::open(Some(path), true, console)?),
        None => None,
    };
    if let Some(file) = percentiles.as_mut().filter(|file| !file.existed) {
        file.add(iometer::percentiles_header(), console);
    }
    let mut start = Start::now(&whole, None);
    let mut watcher = Watcher::new(input, results, percentiles, console);
    watcher.begin(fathom_rawio::wall_clock());
    let ran = watch(
        &mut start,
        &whole,
        ours.keep(),
        &mut watcher,
        console,
        |sink| fathom_engine::run_planned(&input.workload, (&options, &plan), None, &stop, sink),
    );
    let interrupted = ran.as_ref().is_ok_and(|(ran, _)| ran.interrupted);
    let failed = ran.as_ref().map_or(true, |(ran, _)| ran.failure.is_some());
    let lost = watcher.finish(interrupted || failed);
    let (ran, writer) = ran.map_err(|error| engine_failure(&error))?;
    let failure = ran.failure.as_ref().map(engine_failure);
    if let Some(writer) = writer {
        let record = start.record(&whole, measured(ran));
        if let Some(problem) = writer.finish(&record) {
            console.tell(&format!("note: {problem}"));
        }
    }
    match (failure, lost, interrupted) {
        (Some(failure), _, _) => Err(failure),
        (None, true, _) => Ok(Code::Target),
        (None, false, true) => Ok(Code::Interrupted),
        (None, false, false) => Ok(Code::Success),
    }
}

/// Where results go: the end of a file, the standard output, or nowhere.
struct Output {
    place: Place,
    /// Whether the file held something already.
    existed: bool,
    lost: bool,
}

enum Place {
    File(String, File),
    Printed,
    Nowhere,
}

impl Output {
    /// The end of the file at `path`, as Iometer adds to it; without one, what is recorded is printed.
    fn open(path: Option<&str>, recorded: bool, console: &dyn Console) -> Result<Self, Failure> {
        let of = |place, existed| Self {
            place,
            existed,
            lost: false,
        };
        let Some(path) = path else {
            let place = if recorded {
                Place::Printed
            } else {
                Place::Nowhere
            };
            return Ok(of(place, false));
        };
        let unusable = |error: std::io::Error| {
            Failure::new(Code::Input, format!("`{path}` cannot be written: {error}"))
                .hint("name a file in a folder that is there")
        };
        let file = open_results(Path::new(path), Begin::AtEnd).map_err(unusable)?;
        let existed = file.metadata().is_ok_and(|file| file.len() > 0);
        if existed {
            console.tell(&format!(
                "note: `{path}` is there already; these results are added to it"
            ));
        }
        Ok(of(Place::File(path.to_owned(), file), existed))
    }

    fn add(&mut self, text: &str, console: &dyn Console) {
        match &mut self.place {
            Place::Nowhere => {}
            Place::Printed => console.print(text),
            Place::File(path, file) => {
                if self.lost {
                    return console.print(text);
                }
                if let Err(error) = file.write_all(text.as_bytes()) {
                    self.lost = true;
                    console.tell(&format!(
                        "error: `{path}` cannot be written: {error}\n  hint: free space, or name another file; \
                         what does not fit there follows on the standard output"
                    ));
                    console.print(text);
                }
            }
        }
    }
}
