//! What is shown on stderr while a run goes.

use std::io::{IsTerminal, Write};

use fathom_record::{Event, EventSink};
use fathom_report::Progress;

/// How much is shown while a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// A line that is overwritten on a terminal; a line a second in a pipe.
    Progress,
    /// As `Progress` on a terminal, nothing in a pipe: what a peer's verb does.
    TerminalOnly,
    /// Nothing.
    Nothing,
}

/// The progress line.
#[derive(Debug)]
pub struct Screen {
    progress: Progress,
    show: Show,
    terminal: bool,
    open_line: usize,
}

impl Screen {
    /// A screen on stderr.
    pub fn new(show: Show) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let show = if show == Show::TerminalOnly && !terminal {
            Show::Nothing
        } else {
            show
        };
        Self {
            progress: Progress::new(),
            show,
            terminal,
            open_line: 0,
        }
    }

    /// Ends an open line, so that what follows starts a new one.
    pub fn close(&mut self) {
        if self.open_line > 0 {
            let mut stderr = std::io::stderr();
            let _ = write!(stderr, "\r{}\r", " ".repeat(self.open_line));
            self.open_line = 0;
        }
    }
}

impl EventSink for Screen {
    fn event(&mut self, event: &Event<'_>) {
        let is_told_always = matches!(event, Event::WrongData { .. });
        if self.show == Show::Nothing && !is_told_always {
            return;
        }
        // A window may be resized while the run goes. Its last column stays free: some terminals wrap there.
        let width = self.terminal.then(columns).flatten();
        let Some(line) = self.progress.line(event, width.unwrap_or(usize::MAX)) else {
            return;
        };
        let mut stderr = std::io::stderr();
        // A closed stderr stops the showing, never the run.
        if self.terminal && !matches!(event, Event::Note { .. } | Event::WrongData { .. }) {
            let width = line.chars().count();
            let padding = " ".repeat(self.open_line.saturating_sub(width));
            let _ = write!(stderr, "\r{line}{padding}");
            let _ = stderr.flush();
            self.open_line = width;
        } else {
            self.close();
            let _ = writeln!(stderr, "{line}");
        }
    }
}

/// Columns of stderr's terminal that a line may use.
fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stderr())?;
    Some(usize::from(columns).saturating_sub(1).max(20))
}

/// Several consumers of one stream of events.
pub struct Fan<'a>(pub Vec<&'a mut dyn EventSink>);

impl EventSink for Fan<'_> {
    fn event(&mut self, event: &Event<'_>) {
        for sink in &mut self.0 {
            sink.event(event);
        }
    }
}
