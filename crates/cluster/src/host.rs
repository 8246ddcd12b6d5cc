//! The run on this host: as `fathom run` does it, on a thread of its own that knows nothing of MPI.
//!
//! It tells the thread that does, by a channel, what it is about to do, and is told by another when to begin. Its run folder is
//! written here, so that what a host measured is on that host whatever becomes of the others.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use fathom_engine::{Gate, Plan, RunOptions, StopFlag, Upcoming, preflight, run_planned};
use fathom_peers::Enough;
use fathom_rawio::{allowed_processors, online_processors};
use fathom_runs::RunWriter;
use fathom_session::{
    Failure, Fan, Input, Layout, Screen, Show, Start, Words, engine_failure, load, map_paths,
    measured, watch,
};
use fathom_units::Nanos;
use fathom_workload::native;

use crate::args::RunArgs;
use crate::console::HostConsole;
use crate::message::{Ended, Message, Ready, Refused};

/// How soon a request to stop is seen.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// This host's part in the run.
pub struct Host<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number among all hosts, from 0.
    pub number: u32,
    /// Whether it shows progress.
    pub is_first: bool,
    /// What is asked for.
    pub args: &'a RunArgs,
    /// Where it may tell something.
    pub console: &'a HostConsole,
    /// Ends the run.
    pub stop: &'a StopFlag,
    /// To the thread that knows the other hosts.
    pub tell: Sender<Message>,
    /// From it.
    pub told: Receiver<Message>,
}

impl Host<'_> {
    /// Does all of it. Nothing is written before all hosts are ready.
    pub fn run(&self) {
        let (input, plan) = match self.prepare() {
            Ok((input, plan, ready)) => {
                self.say(Message::Ready(Box::new(ready)));
                (input, plan)
            }
            Err(failure) => return self.say(Message::Refused(self.refused(failure))),
        };
        if let Ok(Message::Go) = self.told.recv() {
            self.console.tell_from_now_on();
            self.say(Message::Ended(Box::new(self.measure(&input, &plan))));
        }
    }

    fn say(&self, message: Message) {
        // Nobody listens any more where all is over.
        let _ = self.tell.send(message);
    }

    /// How the run is guarded and who it is among others.
    fn options(&self) -> RunOptions {
        RunOptions {
            host: self.number,
            ..self.args.safety.options()
        }
    }

    /// The workload as it is run here, what was found of its files, and what the others are told of it.
    fn prepare(&self) -> Result<(Input, Plan, Ready), Failure> {
        let Self { args, console, .. } = *self;
        // Paths may be others on each host, and nothing else.
        let words = Words {
            maps: &[],
            ..args.workload.words(args.target.as_deref())
        };
        let mut input = load(&words, console)?.without_logs(Layout::Own, console);
        let compared = compared(&input);
        let share = input.among_others();
        input.replaced = map_paths(&args.workload.maps, &mut input.workload)?;
        let input = input
            .on_this_machine(console)?
            .with_sweep(&args.sweep.sweeps)?;
        // An empty folder is all that is made before the others are heard.
        input.make_folders()?;
        let plan = preflight(&input.workload, &self.options())
            .map_err(|error| input.engine_failure(&error))?;
        input.tell_unused_names(&args.safety.destroy_data, console);
        let mut told = console.take_kept();
        told.extend(pinned().map(|note| format!("note: {note}")));
        let ready = Ready {
            host: self.name.to_owned(),
            workload: compared,
            stages: plan.stages.iter().map(|stage| stage.name.clone()).collect(),
            told,
            labels: share
                .as_ref()
                .map_or_else(Vec::new, |share| share.own.clone()),
            labels_all: share.map_or_else(Vec::new, |share| share.all),
        };
        Ok((input, plan, ready))
    }

    fn refused(&self, failure: Failure) -> Refused {
        Refused {
            host: self.name.to_owned(),
            code: failure.code.number(),
            message: failure.message,
        }
    }

    /// Lays out, measures and stores.
    fn measure(&self, input: &Input, plan: &Plan) -> Ended {
        let nothing = |failure| Ended {
            record: None,
            stored: None,
            failed: Some(self.refused(failure)),
        };
        let Self { args, console, .. } = *self;
        let mut start = Start::now(input, None);
        let show = if self.is_first {
            args.output.show()
        } else {
            Show::Nothing
        };
        let mut screen = Screen::new(show, console);
        let mut enough = Enough::new(input, self.stop.clone());
        let keep = args.output.keep();
        let ran = watch(&mut start, input, keep, &mut screen, console, |sink| {
            let mut sinks = Fan(vec![sink, &mut enough]);
            let planned = (&self.options(), plan);
            let gate: &dyn Gate = &Meeting(self);
            run_planned(&input.workload, planned, Some(gate), self.stop, &mut sinks)
        });
        screen.close();
        let (ran, writer) = match ran {
            Ok(ran) => ran,
            Err(error) => return nothing(engine_failure(&error)),
        };
        let failed = ran.failure.as_ref().map(engine_failure);
        let mut record = start.record(input, measured(ran));
        let stored = writer.as_ref().and_then(id);
        if let Some(told) = writer.and_then(|writer| writer.finish_shown(&mut record)) {
            record.notes.push(told);
        }
        Ended {
            record: Some(record),
            stored,
            failed: failed.map(|failure| self.refused(failure)),
        }
    }
}

/// What the run can be asked for as on its own host, also when others have come after it.
fn id(writer: &RunWriter) -> Option<String> {
    let name = writer.folder().file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// Where all hosts wait for each other before a stage.
struct Meeting<'a>(&'a Host<'a>);

impl std::fmt::Debug for Meeting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Meeting").field(&self.0.name).finish()
    }
}

impl Gate for Meeting<'_> {
    fn begin(&self, stage: &Upcoming<'_>, stop: &StopFlag) -> Option<Nanos> {
        self.0.say(Message::Armed(stage.index));
        while !stop.is_requested() {
            match self.0.told.recv_timeout(LOOK_EVERY) {
                Ok(Message::Begin(at)) => return Some(Nanos::new(at)),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }
}

/// The workload in the words of a native file, without what chance gave each host of its own.
fn compared(input: &Input) -> String {
    let mut workload = input.workload.clone();
    workload.seed = 0;
    for job in workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        job.salt = 0;
    }
    native::write(&workload)
}

/// What is to be said where the launcher keeps this host to some of its processors.
fn pinned() -> Option<String> {
    let (allowed, online) = (
        allowed_processors().ok()?.len(),
        online_processors().ok()?.len(),
    );
    (allowed < online).then(|| {
        format!(
            "the launcher keeps it to {allowed} of {online} processors, and all its workers share {}; start with \
             `--bind-to none` (`srun`: `--cpu-bind=none` and as many `--cpus-per-task`)",
            if allowed == 1 { "that one" } else { "those" }
        )
    })
}
