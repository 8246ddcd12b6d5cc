//! `fathom fio`: fio's command line, output and exit codes.
//!
//! Nothing goes to stderr that fio would not print there, unless stderr is a terminal or an input trap was met. Exit codes
//! are fio's own (0, 1), but 4 where the write guard refused.

use fathom_dialects::fio::{self, Action, EtaMode, FioInput, FioRun, OutputFormat};
use fathom_engine::{ErrorPolicy, Overwrite, RunOptions, StopFlag};
use fathom_rawio::Clock;

use fathom_session::{
    Code, Console, Failure, Input, Keep, Screen, Show, Start, engine_failure, measured,
    read_context, tell_warnings, watch,
};

/// What stands among fio's arguments but is ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ours {
    destroy_data: Vec<String>,
    record: bool,
}

/// Does what fio would do with `arguments`.
pub fn fio(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = take_ours(arguments);
    let input = match fio::read(&theirs, &read_context()) {
        Ok(input) => input,
        Err(diagnostics) => {
            console.tell(&diagnostics.to_string());
            return Code::Unexpected;
        }
    };
    tell_warnings(&input.warnings, console);
    match act(input, &ours, console) {
        Ok(code) => code,
        Err(Failure { code, message }) => {
            console.tell(&message);
            if code == Code::Refused {
                code
            } else {
                Code::Unexpected
            }
        }
    }
}

/// Splits `--destroy-data=NAME`, `--destroy-data NAME` and `--record` from fio's own words.
fn take_ours(arguments: &[String]) -> (Ours, Vec<String>) {
    let environment = std::env::var("FATHOM_DESTROY_DATA")
        .ok()
        .filter(|name| !name.is_empty());
    let mut ours = Ours {
        destroy_data: environment.into_iter().collect(),
        record: false,
    };
    let mut theirs = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--record" {
            ours.record = true;
        } else if word == "--destroy-data" {
            ours.destroy_data.extend(words.next().cloned());
        } else if let Some(name) = word.strip_prefix("--destroy-data=") {
            ours.destroy_data.push(name.to_owned());
        } else {
            theirs.push(word.clone());
        }
    }
    (ours, theirs)
}

fn act(input: FioInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    match &input.action {
        Action::Run => return run(input, ours, console),
        Action::ParseOnly => {}
        Action::Version => console.print(&format!("{}\n", fio::VERSION)),
        Action::Help => console.print(&fio::general_help()),
        Action::CommandHelp(option) => {
            return Ok(help(fio::command_help(option.as_deref()), console));
        }
        Action::EngineHelp(engine) => {
            return Ok(help(fio::engine_help(engine.as_deref()), console));
        }
        Action::ShowCommand(line) => console.print(&format!("{line}\n")),
    }
    Ok(Code::Success)
}

fn help(text: Result<String, String>, console: &dyn Console) -> Code {
    let code = if text.is_ok() {
        Code::Success
    } else {
        Code::Unexpected
    };
    let (Ok(text) | Err(text)) = text;
    console.print(&text);
    code
}

fn run(fio_input: FioInput, ours: &Ours, console: &dyn Console) -> Result<Code, Failure> {
    let options = RunOptions {
        destroy_data: ours.destroy_data.clone(),
        overwrite: Overwrite::Allowed,
        on_error: ErrorPolicy::Stop,
    };
    let began = Clock::now();
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let input = Input {
        name: "fio".to_owned(),
        workload: fio_input.workload.clone(),
        fio: Some(fio_input),
    };
    let Some(fio_input) = &input.fio else {
        unreachable!("it was put there a line above")
    };
    let show = match fio_input.output.eta {
        EtaMode::Auto if !console.is_terminal() => Show::Nothing,
        EtaMode::Auto | EtaMode::Always => Show::Progress,
        EtaMode::Never => Show::Nothing,
    };
    let mut start = Start::now(&input, None);
    fathom_engine::preflight(&input.workload, &options).map_err(|error| engine_failure(&error))?;
    if fio_input.output.formats.contains(&OutputFormat::Normal) && fio_input.output.file.is_none() {
        console.print(&fio::write_start(fio_input));
    }
    let keep = if ours.record {
        Keep::Run
    } else {
        Keep::Nothing
    };
    let mut screen = Screen::new(show, console);
    let ran = watch(&mut start, &input, keep, &mut screen, console, |sink| {
        fathom_engine::run(&input.workload, &options, &stop, sink)
    });
    screen.close();
    let (ran, writer) = ran.map_err(|error| engine_failure(&error))?;
    let run = FioRun {
        results: &ran.results,
        finished_unix_ms: fathom_rawio::wall_clock() / 1_000_000,
        elapsed: Clock::now().saturating_sub(began),
        pid: std::process::id(),
    };
    put_results(fio_input, &run, stop.signal(), console)?;
    let mut code = match (ran.interrupted, fio::has_errors(&run)) {
        (true, _) => Code::PeerStopped,
        (false, true) => Code::Unexpected,
        (false, false) => Code::Success,
    };
    if let Some(error) = &ran.failure {
        console.tell(&engine_failure(error).message);
        code = Code::Unexpected;
    }
    if let Some(writer) = writer {
        let record = start.record(&input, measured(ran));
        if let Some(problem) = writer.finish(&record) {
            console.tell(&format!("note: {problem}"));
        }
    }
    Ok(code)
}

fn put_results(
    input: &FioInput,
    run: &FioRun<'_>,
    signal: Option<i32>,
    console: &dyn Console,
) -> Result<(), Failure> {
    let mut text = String::new();
    for format in &input.output.formats {
        if *format == OutputFormat::Normal {
            if input.output.file.is_some() {
                text.push_str(&fio::write_start(input));
            }
            // fio says so among its JSON too, and breaks it; that much of a peer nobody needs.
            let told = signal.map(|number| format!("\nfio: terminating on signal {number}\n"));
            text.extend(told);
        }
        text.push_str(&match format {
            OutputFormat::Normal => fio::write_normal(input, run),
            OutputFormat::Json | OutputFormat::JsonPlus => fio::write_json(input, run),
        });
    }
    match &input.output.file {
        None => console.print(&text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::new(Code::Target, format!("`{path}` cannot be written: {error}"))
        })?,
    }
    Ok(())
}
