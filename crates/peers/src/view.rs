//! `--format peer`: a run or a prediction in the layout of the peer whose words or file it came from.
//!
//! A view consumes the run's events and shows or writes its text when the record is there. Nothing is written that the
//! peer's own words do not name: Vdbench's output directory is made where `-o` stands among them.

use fathom_dialects::diskspd::{self, DiskspdInput, DiskspdRun, SpanRun};
use fathom_dialects::fio::{FioInput, FioRun};
use fathom_dialects::vdbench::VdbenchInput;
use fathom_engine::StopFlag;
use fathom_rawio::Clock;
use fathom_record::{Event, EventSink, Record, RunKind, StageResult};
use fathom_session::{Code, Console, Failure, Input, Screen, Spoken};
use fathom_units::Nanos;
use fathom_workload::Workload;

use crate::diskspd::Span;
use crate::vdbench::{self, Time, Watcher};

/// A consumer of events that tells them as a peer would.
pub trait View: EventSink {
    /// Shows what is left when all is over.
    ///
    /// # Errors
    /// What cannot be written.
    fn finish(self: Box<Self>, record: &Record) -> Result<(), Failure>;
}

/// What is shown of a run: progress, and a peer's view where one is asked for.
pub struct Shown<'a> {
    screen: Screen<'a>,
    view: Option<Box<dyn View + 'a>>,
}

impl<'a> Shown<'a> {
    /// Both together.
    pub fn new(screen: Screen<'a>, view: Option<Box<dyn View + 'a>>) -> Self {
        Self { screen, view }
    }

    /// Ends the progress; gives the view, which ends when the record is there.
    pub fn close(mut self) -> Option<Box<dyn View + 'a>> {
        self.screen.close();
        self.view
    }
}

impl EventSink for Shown<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.screen.event(event);
        if let Some(view) = &mut self.view {
            view.event(event);
        }
    }

    fn wants_jobs(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.wants_jobs())
    }
}

/// The view of `input` in its peer's layout; `stop` ends runs where the peer would.
///
/// # Errors
/// An input that came from no peer, or a directory that cannot be used.
pub fn view<'a>(
    input: &'a Input,
    kind: RunKind,
    stop: &StopFlag,
    console: &'a dyn Console,
) -> Result<Box<dyn View + 'a>, Failure> {
    if !input.sweep.is_empty() {
        let message = "`--format peer` and `--sweep` do not go together: no peer sweeps as we do";
        return Err(Failure::new(Code::Usage, message).hint("leave one of them out"));
    }
    match &input.spoken {
        Spoken::Fio(fio) => Ok(Box::new(Results::new(input, Peer::Fio(fio), console))),
        Spoken::Diskspd(diskspd) => {
            // Logs tell which of a thread's targets each I/O went to; other totals hold for one target.
            let told = input.tells_targets();
            let spans = if told { Span::all(diskspd) } else { Vec::new() };
            let peer = Peer::Diskspd(diskspd, spans);
            Ok(Box::new(Results::new(input, peer, console)))
        }
        Spoken::Vdbench(spoken) => {
            let time = match kind {
                RunKind::Predict => Time::Virtual(fathom_rawio::wall_clock()),
                _ => Time::Real,
            };
            let view = VdbenchView::new((spoken, &input.workload), time, stop, console)?;
            Ok(Box::new(view))
        }
        _ => {
            let message = "`--format peer` needs a peer's words or file";
            let hint = "leave it out, or name a job file of fio, `diskspd …` or `vdbench …`";
            Err(Failure::new(Code::Usage, message).hint(hint))
        }
    }
}

/// Refuses words about a peer's own output where that is not asked for: nobody would get what they ask for.
///
/// # Errors
/// DISKSPD's `-R`, or Vdbench's `-o`.
pub fn without_view(input: &Input) -> Result<(), Failure> {
    let (what, verb) = match &input.spoken {
        Spoken::Diskspd(diskspd) if diskspd.names_format() => {
            ("the format of DISKSPD's results (`-R`)", "diskspd")
        }
        Spoken::Vdbench(vdbench) if vdbench.options.output.is_some() => {
            ("Vdbench's output directory (`-o`)", "vdbench")
        }
        _ => return Ok(()),
    };
    let message = format!("{what} has no place here: this verb prints its own summary");
    let hint = format!(
        "put `--format peer` before the workload, or use `fathom {verb} …`; `--json` prints the record"
    );
    Err(Failure::new(Code::Usage, message).hint(hint))
}

enum Peer<'a> {
    Fio(&'a FioInput),
    Diskspd(&'a DiskspdInput, Vec<Span>),
}

/// A peer that prints its results at the end.
struct Results<'a> {
    peer: Peer<'a>,
    workload: &'a Workload,
    stages: Vec<StageResult>,
    began: Nanos,
    console: &'a dyn Console,
}

impl<'a> Results<'a> {
    fn new(input: &'a Input, peer: Peer<'a>, console: &'a dyn Console) -> Self {
        Self {
            peer,
            workload: &input.workload,
            stages: Vec::new(),
            began: Clock::now(),
            console,
        }
    }

    fn elapsed(&self, kind: RunKind) -> Nanos {
        if kind == RunKind::Predict {
            let measured = self.stages.iter().map(|result| result.measured);
            return measured.fold(Nanos::ZERO, |sum, measured| sum + measured);
        }
        Clock::now().saturating_sub(self.began)
    }
}

impl EventSink for Results<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let (
            Event::IoLog {
                index,
                job,
                worker,
                chunk,
                ..
            },
            Peer::Diskspd(_, spans),
        ) = (event, &mut self.peer)
            && let Some(span) = spans.get_mut(*index)
        {
            span.tell((*job, *worker), chunk);
        }
        if let Event::Snapshot {
            over: true, result, ..
        } = event
        {
            let stage = self.workload.stages.get(result.stage);
            if stage.is_some_and(|stage| !stage.discard) {
                self.stages.push((*result).clone());
            }
        }
    }
}

impl View for Results<'_> {
    fn finish(self: Box<Self>, record: &Record) -> Result<(), Failure> {
        let elapsed = self.elapsed(record.kind);
        let text = match &self.peer {
            Peer::Fio(input) => {
                let run = FioRun {
                    results: &self.stages,
                    finished_unix_ms: fathom_rawio::wall_clock() / 1_000_000,
                    elapsed,
                    priorities: None,
                    idle: &[],
                    pid: std::process::id(),
                };
                crate::fio::results(input, &run, None)
            }
            Peer::Diskspd(input, told) => {
                let tallies = |stage: usize| told.get(stage).map_or(&[][..], |span| &span.tallies);
                let spans = self.stages.iter().map(|result| SpanRun {
                    span: input.span_of(result.stage),
                    measured: result.measured,
                    rows: diskspd::rows(input, result, tallies(result.stage)),
                    // Whose processors and whose latencies over time these are is known to the peer's own verb alone.
                    cpus: Vec::new(),
                    sizes: crate::diskspd::sizes(input, self.workload, result.stage),
                });
                let spans: Vec<SpanRun> = spans.collect();
                let run = DiskspdRun {
                    spans: &spans,
                    system: &crate::diskspd::system(),
                    started_unix_ns: record.started_unix_ns,
                    program: "diskspd",
                };
                diskspd::write_results(input, &run)
            }
        };
        self.console.print(&text);
        Ok(())
    }
}

/// Vdbench's rows as they come, and its directory where one is named.
struct VdbenchView<'a> {
    watcher: Watcher<'a>,
}

impl<'a> VdbenchView<'a> {
    fn new(
        (input, workload): (&'a VdbenchInput, &'a Workload),
        time: Time,
        stop: &StopFlag,
        console: &'a dyn Console,
    ) -> Result<Self, Failure> {
        let parts = vdbench::open(
            (input, workload),
            input.options.output.as_deref(),
            &[],
            console,
        )?;
        Ok(Self {
            watcher: Watcher::new((input, workload), parts, time, stop.clone()),
        })
    }
}

impl EventSink for VdbenchView<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.watcher.event(event);
    }

    fn wants_jobs(&self) -> bool {
        self.watcher.wants_jobs()
    }
}

impl View for VdbenchView<'_> {
    fn finish(self: Box<Self>, record: &Record) -> Result<(), Failure> {
        let now = self.watcher.now();
        let (report, mut files) = self.watcher.finish();
        let of = (&report, now);
        let ended = vdbench::end(of, &mut files, record, None, record.interrupted);
        ended.map_err(|failure| Failure {
            code: Code::Target,
            ..failure
        })
    }
}
