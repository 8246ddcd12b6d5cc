//! A need beside a record, for the terminal.

use std::fmt::Write as _;

use super::{NOTHING, NeedBeside, Part};
use crate::cells::padded;
use crate::format::shortened;
use crate::lines::{Lines, Width};

/// Columns of a figure's name, of the need, of what was found.
const COLUMNS: [usize; 3] = [20, 13, 13];

impl NeedBeside {
    /// A table for each volume and period, and the verdict, for a screen of a width.
    pub fn to_text(&self, width: Width) -> String {
        let mut text = Lines::new(width);
        text.line("", &self.heading(), 2);
        for part in &self.parts {
            if text.is_narrow() {
                self.write_below(&mut text, part);
            } else {
                self.write_table(&mut text, part);
            }
        }
        for note in &self.notes {
            text.wrap("note     ", note, 9);
        }
        text.wrap("need     ", &self.verdict(), 9);
        text.finish()
    }

    fn write_table(&self, text: &mut Lines, part: &Part) {
        let [names, needs, found] = COLUMNS;
        let heading = shortened(&part.heading(), names + 2);
        let heading = padded(&heading, names + 2);
        let _ = writeln!(text, "{heading} {:>needs$} {:>found$}", "need", self.found);
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
            text.wrap(&head, &line.outcome.to_string(), indent);
        }
    }

    /// The same on a narrow screen: what is needed and found below each figure's name.
    fn write_below(&self, text: &mut Lines, part: &Part) {
        text.wrap("", &part.heading(), 2);
        if part.lines.is_empty() {
            text.wrap("  ", NOTHING, 4);
        }
        for line in &part.lines {
            text.wrap("  ", &line.figure, 4);
            let (need, found) = (&line.need, &line.found);
            let told = format!("need {need}, {} {found}: {}", self.found, line.outcome);
            text.wrap("    ", &told, 6);
        }
    }
}
