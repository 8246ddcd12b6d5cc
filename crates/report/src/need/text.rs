//! A need beside a record, for the terminal.

use std::fmt::Write as _;

use super::{NOTHING, NeedBeside};
use crate::format::shortened;
use crate::summary::write_wrapped;

/// Columns of a figure's name, of the need, of what was found.
const COLUMNS: [usize; 3] = [20, 13, 13];

impl NeedBeside {
    /// A table for each volume and period, and the verdict.
    pub fn to_text(&self) -> String {
        let [names, needs, found] = COLUMNS;
        let mut text = format!("{}\n", self.heading());
        for part in &self.parts {
            let heading = shortened(&part.heading(), names + 2);
            let width = names + 2;
            let _ = writeln!(
                text,
                "{heading:width$} {:>needs$} {:>found$}",
                "need", self.found
            );
            if part.lines.is_empty() {
                let _ = writeln!(text, "  {NOTHING}");
            }
            for line in &part.lines {
                let name = shortened(&line.figure, names);
                let head = format!(
                    "  {name:names$} {:>needs$} {:>found$}  ",
                    line.need, line.found
                );
                let indent = head.chars().count();
                write_wrapped(&mut text, &head, &line.outcome.to_string(), indent);
            }
        }
        for note in &self.notes {
            write_wrapped(&mut text, "note     ", note, 9);
        }
        write_wrapped(&mut text, "need     ", &self.verdict(), 9);
        // A name from a profile must not steer the terminal.
        text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
    }
}
