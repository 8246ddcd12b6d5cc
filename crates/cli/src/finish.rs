//! What is told of a run before and after it, on the process's own streams.

use fathom_engine::StopFlag;
use fathom_peers::{Shown, View};
use fathom_record::{Record, RunKind};
use fathom_runs::RunWriter;
use fathom_session::{
    Code, Failure, Input, Needed, OutputArgs, Page, PeerView, Screen, Show, Start,
};

use crate::explain::explanation;
use crate::terminal::TERMINAL;

/// The peer's view, where `output` asks for it; what it wants written can be written.
pub fn view<'a>(
    output: &OutputArgs,
    input: &'a Input,
    kind: RunKind,
    stop: &StopFlag,
) -> Result<Option<Box<dyn View + 'a>>, Failure> {
    output.html.as_deref().map(Page::at).transpose()?;
    if output.format.is_none() {
        return fathom_peers::without_view(input).map(|()| None);
    }
    fathom_peers::view(input, kind, stop, &TERMINAL).map(Some)
}

/// What is shown while it goes: the panel, but not among what a peer's view prints.
pub fn shown<'a>(
    (show, view): (Show, Option<Box<dyn View + 'a>>),
    start: &Start,
    input: &Input,
) -> Shown<'a> {
    let screen = Screen::new(show, &TERMINAL);
    let screen = match view {
        Some(_) => screen,
        None => screen.with_panel(start.panel(input)),
    };
    Shown::new(screen, view)
}

/// A flag that signals raise.
pub fn stopped_by_signals() -> Result<StopFlag, Failure> {
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    Ok(stop)
}

/// Prints the record as `output` asks, or ends the peer's view; stores it, lays it beside the need, and says how the program
/// ends.
pub fn finish(
    record: &mut Record,
    writer: Option<RunWriter>,
    output: &OutputArgs,
    (need, view): (Option<&Needed>, Option<Box<dyn View + '_>>),
) -> Result<Code, Failure> {
    let view = view.map(|view| -> PeerView<'_> { Box::new(move |record| view.finish(record)) });
    fathom_session::finish(record, writer, output, (need, view), &TERMINAL)
}

/// Tells what was decided of `input` and why, where `output` asks for it.
pub fn tell_decisions(output: &OutputArgs, input: &Input) {
    if output.verbose {
        crate::tell(explanation(input).trim_end());
    }
}
