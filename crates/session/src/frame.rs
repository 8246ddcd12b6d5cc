//! Lines that stand on a terminal and are drawn over in place.
//!
//! No other screen is switched to, so that what was there before stays, and what comes after stands in place of them.
//!
//! Invariants: the cursor rests in the first column below the lines, so that whatever else is written there (the echo of a
//! Ctrl-C, a shell's word of a stopped job, why a program panicked) stands below lines that are whole. It is never hidden, and
//! no mode of the terminal is changed: there is nothing to put right after a program that was killed.

use std::fmt::Write as _;

use fathom_report::columns_of;

/// What stands.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// Columns of each line.
    widths: Vec<usize>,
}

/// Erases the rest of the line.
const REST_OF_LINE: &str = "\u{1b}[K";
/// Erases the rest of the screen.
const REST_OF_SCREEN: &str = "\u{1b}[J";

impl Frame {
    /// Whether any line stands.
    pub(crate) fn stands(&self) -> bool {
        !self.widths.is_empty()
    }

    /// The text that puts `lines` in place of those that stand, on a terminal that has so many columns now.
    pub(crate) fn draw(&mut self, lines: &[String], columns: usize) -> String {
        let mut text = self.to_top(columns);
        for line in lines {
            let _ = write!(text, "{line}{REST_OF_LINE}\r\n");
        }
        text.push_str(REST_OF_SCREEN);
        self.widths = lines.iter().map(|line| columns_of(line)).collect();
        text
    }

    /// The text that takes away what stands; none where nothing does.
    pub(crate) fn erase(&mut self, columns: usize) -> String {
        if !self.stands() {
            return String::new();
        }
        let text = self.to_top(columns) + REST_OF_SCREEN;
        self.forget();
        text
    }

    /// What stands is left where it is: others have written since.
    pub(crate) fn forget(&mut self) {
        self.widths.clear();
    }

    /// To the first column of the first line. A terminal that was made narrower since has broken what is too long for it, so
    /// that such a line has several rows now.
    fn to_top(&self, columns: usize) -> String {
        let rows = |width: &usize| width.div_ceil(columns.max(1)).max(1);
        match self.widths.iter().map(rows).sum() {
            0 => "\r".to_owned(),
            rows => format!("\r\u{1b}[{rows}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &mut Frame, lines: &[&str], columns: usize, expected: &str) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let drawn = frame.draw(&lines, columns);
        assert_eq!(drawn.replace('\u{1b}', "^"), expected);
    }

    #[test]
    fn lines_are_drawn_over_those_that_stand() {
        let mut frame = Frame::default();
        assert_eq!(frame.erase(80), "");
        check(
            &mut frame,
            &["one", "", "two"],
            80,
            "\rone^[K\r\n^[K\r\ntwo^[K\r\n^[J",
        );
        check(&mut frame, &["1234567"], 80, "\r^[3A1234567^[K\r\n^[J");
        // Seven columns are three rows of three.
        check(&mut frame, &["123"], 3, "\r^[3A123^[K\r\n^[J");
        check(&mut frame, &["x"], 3, "\r^[1Ax^[K\r\n^[J");
        assert_eq!(frame.erase(80), "\r\u{1b}[1A\u{1b}[J");
        assert!(!frame.stands());
        check(&mut frame, &["x"], 3, "\rx^[K\r\n^[J");
        frame.forget();
        assert_eq!(frame.erase(80), "");
    }
}
