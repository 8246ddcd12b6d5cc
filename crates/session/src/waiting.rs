//! The word on a terminal that something goes on which tells nothing by itself.
//!
//! Invariants: it is a part of a line on standard error, drawn over once a second and taken away in the end, so that nothing
//! of it stands when results are shown; where no one looks (a pipe, behind a shell's prompt) nothing is written.

use std::cell::Cell;

use fathom_rawio::Clock;
use fathom_units::Nanos;

use crate::Console;

/// What takes less than this is over before a word of it is read.
const FIRST: Nanos = Nanos::from_secs(1);

/// A word that is drawn while something goes on, and taken away when this is dropped.
pub struct Waiting<'a> {
    what: &'static str,
    console: &'a dyn Console,
    begun: Nanos,
    /// When it is drawn next.
    next: Cell<Nanos>,
    /// Columns that stand.
    stands: Cell<usize>,
}

impl<'a> Waiting<'a> {
    /// That `what`, such as `planning`, goes on from now.
    pub fn new(what: &'static str, console: &'a dyn Console) -> Self {
        Self::from(what, console, Clock::now())
    }

    fn from(what: &'static str, console: &'a dyn Console, begun: Nanos) -> Self {
        Self {
            what,
            console,
            begun,
            next: Cell::new(begun + FIRST),
            stands: Cell::new(0),
        }
    }

    /// Draws how long it goes on already, where it is time to; to be called as often as is convenient.
    pub fn look(&self) {
        self.look_at(Clock::now());
    }

    fn look_at(&self, now: Nanos) {
        if now < self.next.get() {
            return;
        }
        self.next.set(now + Nanos::from_secs(1));
        if !self.console.is_terminal() || !self.console.is_in_foreground() {
            return;
        }
        let seconds = now.saturating_sub(self.begun).get() / 1_000_000_000;
        let line = format!("{}: {seconds} s (Ctrl-C ends it)", self.what);
        // Broken by the terminal, it could not be drawn over.
        let columns = self.console.columns().unwrap_or(usize::MAX);
        let line: String = line.chars().take(columns).collect();
        self.console.draw(&format!("\r{line}"));
        self.stands.set(self.stands.get().max(line.chars().count()));
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.stands.get() > 0 {
            let blank = " ".repeat(self.stands.get());
            self.console.draw(&format!("\r{blank}\r"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Fake {
        is_terminal: bool,
        columns: usize,
        drawn: Mutex<String>,
    }

    impl Console for Fake {
        fn print(&self, _: &str) {}
        fn tell(&self, _: &str) {}
        fn draw(&self, text: &str) {
            self.drawn.lock().unwrap().push_str(text);
        }
        fn is_terminal(&self) -> bool {
            self.is_terminal
        }
        fn columns(&self) -> Option<usize> {
            Some(self.columns)
        }
    }

    /// What is drawn when it is looked at so many ms after the begin.
    #[track_caller]
    fn check((is_terminal, columns): (bool, usize), looks: &[u64], expected: &str) {
        let drawn = Mutex::new(String::new());
        let console = Fake {
            is_terminal,
            columns,
            drawn,
        };
        let begun = Nanos::from_secs(7);
        let waiting = Waiting::from("planning", &console, begun);
        for ms in looks {
            waiting.look_at(begun + Nanos::from_millis(*ms));
        }
        drop(waiting);
        assert_eq!(*console.drawn.lock().unwrap(), expected);
    }

    #[test]
    fn it_is_drawn_once_a_second_and_taken_away() {
        let wide = (true, 79);
        check(wide, &[0, 500, 999], "");
        let one = "\rplanning: 1 s (Ctrl-C ends it)";
        let gone = format!("\r{}\r", " ".repeat(one.len() - 1));
        check(wide, &[500, 1000, 1900], &format!("{one}{gone}"));
        let two = "\rplanning: 2 s (Ctrl-C ends it)";
        check(wide, &[1000, 2000, 2100], &format!("{one}{two}{gone}"));
        check((false, 79), &[1000, 2000], "");
        check((true, 10), &[1000], "\rplanning: \r          \r");
    }
}
