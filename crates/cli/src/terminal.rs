//! Standard output and standard error: the only way out.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_report::{Width, notices};
use fathom_session::{Characters, Console};

/// Whether something meant for stdout was lost.
static LOST: AtomicBool = AtomicBool::new(false);

pub static TERMINAL: Terminal = Terminal;

/// The process's own streams.
#[derive(Debug, Clone, Copy)]
pub struct Terminal;

impl Console for Terminal {
    /// A reader that has gone away ends the writing quietly; any other failure is told and ends in exit code 5, since a
    /// result that a file does not hold is lost.
    fn print(&self, text: &str) {
        if !text.is_empty() {
            settle(std::io::stdout().write_all(text.as_bytes()));
        }
    }

    fn tell(&self, line: &str) {
        // Names and messages from elsewhere must not steer the terminal.
        let own = Characters::of_process();
        let _ = writeln!(stderr(), "{}", own.text(&notices(line, self.columns())));
    }

    fn draw(&self, text: &str) {
        let mut stderr = stderr();
        let _ = stderr.write_all(Characters::of_process().line(text).as_bytes());
        let _ = stderr.flush();
    }

    fn is_terminal(&self) -> bool {
        stderr().is_terminal()
    }

    fn columns(&self) -> Option<usize> {
        let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(stderr())?;
        Some(usize::from(columns).saturating_sub(1).max(20))
    }

    fn size(&self) -> Option<(usize, usize)> {
        let moves = |name: &String| !name.is_empty() && name != "dumb";
        std::env::var("TERM").ok().filter(moves)?;
        let (columns, rows) = terminal_size::terminal_size_of(stderr())?;
        Some((columns.0.into(), rows.0.into()))
    }

    fn is_in_foreground(&self) -> bool {
        fathom_rawio::is_in_foreground(stderr())
    }

    fn width(&self) -> Width {
        let stdout = std::io::stdout();
        if !stdout.is_terminal() {
            return Width::PLAIN;
        }
        let size = terminal_size::terminal_size_of(stdout);
        let told = size.map(|(terminal_size::Width(columns), _)| usize::from(columns));
        // Serial lines tell no size of their own.
        let columns = told.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok());
        columns.map_or(Width::PLAIN, Width::of_terminal)
    }
}

/// What has come of something written to stdout, whose rest is written now.
pub fn settle(written: std::io::Result<()>) {
    let written = written.and_then(|()| fathom_rawio::stdout_is_open());
    let written = written.and_then(|()| std::io::stdout().flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        tell(&format!("error: stdout cannot be written: {error}"));
    }
}

/// Writes to stdout.
pub fn print(text: &str) {
    TERMINAL.print(text);
}

/// Writes a line to stderr.
pub fn tell(line: &str) {
    TERMINAL.tell(line);
}

/// Whether something meant for stdout was lost.
pub fn is_output_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
