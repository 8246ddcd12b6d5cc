//! Standard output and standard error of one host among several.
//!
//! The first host speaks for all: what the others would tell goes to it. What is left for their own standard error, which the
//! launcher puts among everything else, bears the host's name.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fathom_report::{Width, notices};
use fathom_session::{Characters, Console};

/// This host's own streams.
#[derive(Debug)]
pub struct HostConsole {
    /// What lines begin with that do not come from the first host.
    prefix: Option<String>,
    /// Lines that the first host is to tell together with those of others, until all are known.
    kept: Mutex<Option<Vec<String>>>,
    lost: AtomicBool,
}

impl HostConsole {
    /// That of the first host, or of another one of that name.
    pub fn new(host: &str, is_first: bool) -> Self {
        Self {
            prefix: (!is_first).then(|| format!("{host}: ")),
            kept: Mutex::new(Some(Vec::new())),
            lost: AtomicBool::new(false),
        }
    }

    /// What the first host is to tell for this one.
    pub fn take_kept(&self) -> Vec<String> {
        self.kept().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Lines are told here from now on, at once.
    pub fn tell_from_now_on(&self) {
        *self.kept() = None;
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<Vec<String>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something meant for stdout was lost.
    pub fn is_output_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Console for HostConsole {
    fn print(&self, text: &str) {
        if self.prefix.is_some() {
            return;
        }
        let mut stdout = std::io::stdout();
        let written = stdout.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| stdout.flush())
            && error.kind() != std::io::ErrorKind::BrokenPipe
            && !self.lost.swap(true, Ordering::Relaxed)
        {
            self.tell(&format!("error: stdout cannot be written: {error}"));
        }
    }

    fn tell(&self, line: &str) {
        if let Some(kept) = self.kept().as_mut() {
            kept.push(line.to_owned());
            return;
        }
        let prefix = self.prefix.as_deref().unwrap_or_default();
        // Names and messages from elsewhere must not steer the terminal.
        let text = notices(&format!("{prefix}{line}"), self.columns());
        let _ = writeln!(stderr(), "{}", Characters::of_process().text(&text));
    }

    fn draw(&self, text: &str) {
        if self.prefix.is_some() {
            return;
        }
        let mut stderr = stderr();
        let _ = stderr.write_all(Characters::of_process().line(text).as_bytes());
        let _ = stderr.flush();
    }

    fn is_terminal(&self) -> bool {
        self.prefix.is_none() && stderr().is_terminal()
    }

    // Launchers pass on what is written through pipes, which have no width.
    fn columns(&self) -> Option<usize> {
        None
    }

    fn width(&self) -> Width {
        Width::PLAIN
    }
}
