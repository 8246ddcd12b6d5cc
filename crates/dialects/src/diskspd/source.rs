//! The text that is complained about, and the complaints.

use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location};

/// Most complaints of one input. Each holds the line it is about, and a line may be the whole input.
const COMPLAINTS_MAX: usize = 16;

/// The lines of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    name: String,
    /// First byte of each line.
    lines: Vec<usize>,
}

impl Places {
    /// `NAME`, or `NAME:LINE` where there are several lines; past the end, the command line.
    pub fn name(&self, at: usize) -> String {
        match self.lines.len() {
            _ if at == usize::MAX => "command line".to_owned(),
            1 => self.name.clone(),
            _ => {
                let line = self.lines.partition_point(|start| *start <= at);
                format!("{}:{line}", self.name)
            }
        }
    }
}

/// An input: its name and what it holds.
#[derive(Debug)]
pub struct Source {
    text: String,
    places: Places,
    complaints: Diagnostics,
    errors: usize,
}

impl Source {
    /// The input `text`, shown as `name`.
    pub fn new(name: impl Into<String>, text: String) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        Self {
            places: Places {
                name: name.into(),
                lines: lines.collect(),
            },
            text,
            complaints: Diagnostics::default(),
            errors: 0,
        }
    }

    /// What it holds.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Refuses the bytes `span`.
    pub fn error(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl AsRef<str>) {
        self.errors += 1;
        self.push(Diagnostic::error(message), span, hint.as_ref());
    }

    /// Takes the bytes `span`, but says how.
    pub fn warn(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl AsRef<str>) {
        self.push(Diagnostic::warning(message), span, hint.as_ref());
    }

    fn push(&mut self, complaint: Diagnostic, span: Range<usize>, hint: &str) {
        // Of many complaints the first errors are shown, and some error always is.
        let room = self.complaints.0.len() < COMPLAINTS_MAX;
        let first_error =
            self.errors == 1 && complaint.severity == fathom_diagnostics::Severity::Error;
        if room || first_error {
            let place = Location::in_text(&self.places.name, &self.text, span);
            self.complaints.push(complaint.at(place).hint(hint));
        }
    }

    /// Whether something was refused.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether so much was refused that looking further helps nobody.
    pub fn is_full(&self) -> bool {
        self.errors >= COMPLAINTS_MAX
    }

    /// Forgets all complaints.
    pub fn forget(&mut self) {
        self.complaints.0.clear();
        self.errors = 0;
    }

    /// Adds a complaint about another input.
    pub fn add(&mut self, complaint: Diagnostic) {
        self.complaints.push(complaint);
    }

    /// The lines of the input.
    pub fn places(&self) -> Places {
        self.places.clone()
    }

    /// The byte at a line and a column, both from 1.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.places.lines.get(line.saturating_sub(1)).copied();
        let start = start.unwrap_or(self.text.len());
        let mut characters = self.text[start..].char_indices();
        let behind = characters.nth(column.saturating_sub(1));
        behind.map_or(self.text.len(), |(at, _)| start + at)
    }

    /// All complaints.
    pub fn into_complaints(self) -> Diagnostics {
        self.complaints
    }
}
