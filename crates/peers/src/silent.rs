//! A console that nobody watches: that of a server, and of tests.

use fathom_session::Console;

/// Shows nothing.
#[derive(Debug)]
pub(crate) struct Silent;

impl Console for Silent {
    fn print(&self, _text: &str) {}

    fn tell(&self, _line: &str) {}

    fn draw(&self, _text: &str) {}

    fn is_terminal(&self) -> bool {
        false
    }

    fn columns(&self) -> Option<usize> {
        None
    }
}
