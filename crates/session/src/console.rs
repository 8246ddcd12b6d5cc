//! Where a person sees something: the one way out for text.
//!
//! Implemented by the program alone, so that libraries never print.

use fathom_report::{Width, folded};

use crate::Characters;

/// Standard output and standard error, as a program has them.
///
/// No method fails: a closed stream stops the showing, never a run. A lost result is the implementer's to report.
pub trait Console: Sync {
    /// Writes `text`, which other programs may read, to standard output as it is.
    fn print(&self, text: &str);

    /// Writes `text`, which a person reads, to standard output, in the characters of the locale.
    fn show(&self, text: &str) {
        self.print(&Characters::of_process().text(text));
    }

    /// Writes `text`, a help that was laid out for a plain terminal, to standard output, for a narrower one too.
    fn print_help(&self, text: &str) {
        self.show(&folded(text, self.width()));
    }

    /// Writes `line` and a line end to standard error, in the characters of the locale.
    fn tell(&self, line: &str);

    /// Writes `text` to standard error, in the characters of the locale and at once: part of a line that is written over.
    fn draw(&self, text: &str);

    /// Whether standard error is a terminal.
    fn is_terminal(&self) -> bool;

    /// Columns of standard error's terminal that a line may use.
    fn columns(&self) -> Option<usize>;

    /// Columns and rows of standard error's terminal, where what stands can be drawn over in place; `None` where its cursor
    /// cannot be moved up.
    fn size(&self) -> Option<(usize, usize)> {
        None
    }

    /// Whether standard error's terminal is this program's for now: of what a shell runs behind its prompt it is not.
    fn is_in_foreground(&self) -> bool {
        true
    }

    /// Columns that text on standard output may have: fewer than those of a plain terminal where it is a narrower one.
    fn width(&self) -> Width {
        Width::PLAIN
    }
}
