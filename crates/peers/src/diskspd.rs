//! `fathom diskspd`: DISKSPD's command line, output and exit codes.
//!
//! Exit codes are DISKSPD's own (0; 1 where the run failed; 3 where the line is wrong), but 4 where the write guard refused.

mod processors;
mod watcher;

use fathom_dialects::diskspd::{self, Action, DiskspdInput, DiskspdRun};
use fathom_engine::{ErrorPolicy, Overwrite, RunOptions, StopFlag};
use fathom_record::StageResult;
use fathom_session::{
    Code, Console, Failure, Input, Keep, Start, engine_failure, map_paths, measured,
    settle_diskspd, tell_warnings, watch,
};
use fathom_workload::Workload;

pub(crate) use self::processors::system;
use self::watcher::Watcher;

/// What stands among DISKSPD's arguments but is ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ours {
    destroy_data: Vec<String>,
    maps: Vec<String>,
    record: bool,
}

/// Does what DISKSPD would do with `arguments`.
pub fn diskspd(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = take_ours(arguments);
    if theirs.is_empty() {
        console.print(diskspd::usage());
        return Code::Input;
    }
    let done = diskspd::read(&theirs, fathom_rawio::wall_clock())
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, console));
    done.unwrap_or_else(|Failure { code, message }| {
        console.tell(&message);
        match code {
            Code::Refused | Code::Input => code,
            _ => Code::Unexpected,
        }
    })
}

/// Splits `--map`, `--destroy-data` and `--record` from DISKSPD's own words.
fn take_ours(arguments: &[String]) -> (Ours, Vec<String>) {
    let environment = std::env::var("FATHOM_DESTROY_DATA").ok();
    let mut ours = Ours {
        destroy_data: environment
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect(),
        ..Ours::default()
    };
    let mut theirs = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let mut required = || {
            value
                .clone()
                .or_else(|| words.next().cloned())
                .unwrap_or_default()
        };
        match name {
            "--record" => ours.record = true,
            "--destroy-data" => ours.destroy_data.push(required()),
            "--map" => ours.maps.push(required()),
            _ => theirs.push(word.clone()),
        }
    }
    (ours, theirs)
}

fn act(mut input: DiskspdInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    if input.action == Action::Help {
        console.print(diskspd::usage());
        return Ok(Code::Success);
    }
    map_paths(&ours.maps, &mut input.workload).map_err(|failure| Failure {
        code: Code::Input,
        ..failure
    })?;
    settle_diskspd(&mut input.workload)?;
    run(&input, ours, console)
}

fn run(input: &DiskspdInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    let options = RunOptions {
        destroy_data: ours.destroy_data.clone(),
        overwrite: Overwrite::Allowed,
        on_error: ErrorPolicy::Stop,
        snapshot_every: None,
    };
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let whole = Input::new("diskspd", input.workload.clone());
    let mut start = Start::now(&whole, None);
    let started_unix_ns = fathom_rawio::wall_clock();
    fathom_engine::preflight(&input.workload, &options).map_err(|error| {
        match error.exit_class() {
            fathom_engine::ExitClass::Refused => engine_failure(&error),
            // The line is right; the machine is not as it says.
            _ => Failure {
                code: Code::Unexpected,
                ..engine_failure(&error)
            },
        }
    })?;
    let keep = if ours.record {
        Keep::Run
    } else {
        Keep::Nothing
    };
    let mut watcher = Watcher::new(input, console);
    let ran = watch(&mut start, &whole, keep, &mut watcher, console, |sink| {
        fathom_engine::run(&input.workload, &options, &stop, sink)
    });
    let (ran, writer) = ran.map_err(|error| Failure {
        code: Code::Unexpected,
        ..engine_failure(&error)
    })?;
    let (cpus, buckets) = watcher.finish();
    if let Some(error) = &ran.failure {
        return Err(Failure {
            code: Code::Unexpected,
            ..engine_failure(error)
        });
    }
    let result = ran.results.first().filter(|result| has_measured(result));
    match result {
        None => console.print(
            "The test was interrupted before the measurements began. No results are displayed.\n",
        ),
        Some(result) => {
            let run = DiskspdRun {
                result,
                system: &system(),
                started_unix_ns,
                cpus: &cpus,
                buckets: &buckets,
                sizes: &sizes(input, &input.workload),
                program: "diskspd",
            };
            console.print(&diskspd::write_text(input, &run));
        }
    }
    if let Some(writer) = writer {
        let record = start.record(&whole, measured(ran));
        if let Some(problem) = writer.finish(&record) {
            console.tell(&format!("note: {problem}"));
        }
    }
    Ok(Code::Success)
}

fn has_measured(result: &StageResult) -> bool {
    result.measured.get() > 0
}

/// Size of each target, in order: that of the file, or of the part that is used where that cannot be told.
pub(crate) fn sizes(input: &DiskspdInput, workload: &Workload) -> Vec<u64> {
    let mut sizes = vec![0; input.targets.len()];
    let jobs = workload.jobs().map(|(_, job)| job);
    let workers = jobs.flat_map(|job| std::iter::repeat_n(job, job.workers as usize));
    for (job, row) in workers.zip(&input.rows) {
        let size = job.targets.first().map(|target| {
            let file = std::fs::metadata(target.place.path()).ok();
            let file = file.filter(std::fs::Metadata::is_file).map(|it| it.len());
            let used = target.length.map(|length| (target.offset + length).get());
            file.or(used).unwrap_or(0)
        });
        sizes[row.target] = size.unwrap_or(0);
    }
    sizes
}
