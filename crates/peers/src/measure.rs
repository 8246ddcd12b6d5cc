//! What the drivers of simple peers have in common: our own words among the peer's, and a run from start to record.

use fathom_engine::{ErrorPolicy, Overwrite, RunOptions, RunOutcome, StopFlag};
use fathom_record::EventSink;
use fathom_session::{
    Code, Console, Failure, Input, Keep, Screen, Show, Start, failure_of, measured, watch,
};
use fathom_workload::Workload;

/// What stands among a peer's arguments but is ours.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ours {
    /// `--destroy-data`.
    pub destroy_data: Vec<String>,
    /// `--map`.
    pub maps: Vec<String>,
    /// `--record`.
    pub record: bool,
}

impl Ours {
    /// Splits `--map`, `--destroy-data` and `--record` from the peer's own words.
    pub fn take(arguments: &[String]) -> (Self, Vec<String>) {
        let environment = std::env::var("FATHOM_DESTROY_DATA").ok();
        let mut ours = Self {
            destroy_data: environment
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect(),
            ..Self::default()
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

    /// A run that writes what its peer would write.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            destroy_data: self.destroy_data.clone(),
            overwrite: Overwrite::Allowed,
            on_error: ErrorPolicy::Stop,
            ..RunOptions::default()
        }
    }

    /// A peer's verb records only where it is told to.
    pub fn keep(&self) -> Keep {
        if self.record {
            Keep::Run
        } else {
            Keep::Nothing
        }
    }
}

/// A consumer of a run's events that shows them.
pub trait View: EventSink {
    /// Ends the showing.
    fn close(&mut self);
}

impl View for Screen<'_> {
    fn close(&mut self) {
        Screen::close(self);
    }
}

/// Progress on a terminal, and notes alone elsewhere.
pub fn progress(console: &dyn Console) -> Screen<'_> {
    let show = if console.is_terminal() {
        Show::Progress
    } else {
        Show::Notes
    };
    Screen::new(show, console)
}

/// Runs `workload`, which `name` is the peer of, and lets `print` tell its results before they are stored; says whether it
/// went to its end or was interrupted.
///
/// # Errors
/// What the run fails with; [`Code::Unexpected`] but where the write guard refuses.
pub fn run<V: View>(
    name: &str,
    workload: &Workload,
    ours: &Ours,
    view: &mut V,
    console: &dyn Console,
    print: impl FnOnce(&RunOutcome, &mut V),
) -> Result<Code, Failure> {
    let options = ours.options();
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let whole = Input::new(name, workload.clone());
    let mut start = Start::now(&whole, None);
    // The line is right; the machine is not as it says.
    let unexpected = |error: &fathom_engine::EngineError| Failure {
        code: Code::Unexpected,
        ..failure_of(name, error)
    };
    let plan = fathom_engine::preflight(workload, &options);
    let plan = plan.map_err(|error| match error.exit_class() {
        fathom_engine::ExitClass::Refused => failure_of(name, &error),
        _ => unexpected(&error),
    })?;
    whole.tell_unused_names(&options.destroy_data, console);
    let ran = watch(&mut start, &whole, ours.keep(), view, console, |sink| {
        fathom_engine::run_planned(workload, (&options, &plan), None, &stop, sink)
    });
    view.close();
    let (ran, writer) = ran.map_err(|error| unexpected(&error))?;
    if let Some(error) = &ran.failure {
        return Err(unexpected(error));
    }
    print(&ran, view);
    let code = if ran.interrupted {
        console.tell("note: the run was stopped: its figures are of what was measured until then");
        Code::Interrupted
    } else {
        Code::Success
    };
    if let Some(writer) = writer {
        let record = start.record(&whole, measured(ran));
        if let Some(problem) = writer.finish(&record) {
            console.tell(&format!("note: {problem}"));
        }
    }
    Ok(code)
}

/// Whether a lone word asks for help: where the peer has no other use for it.
pub fn asks_for_help(words: &[String], known: &[&str]) -> bool {
    matches!(words, [word] if known.contains(&word.as_str()))
}

/// Tells why a peer's verb failed; the code that says so is the peer's own but for the write guard's.
pub fn tell_failure(failure: &Failure, input: Code, console: &dyn Console) -> Code {
    console.tell(&failure.message);
    match failure.code {
        Code::Refused => Code::Refused,
        Code::Input | Code::Usage => input,
        _ => Code::Unexpected,
    }
}
