//! The text of parameter files, and places in it.

use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location};

/// How a complaint about a blank within a line begins.
pub const BLANK: &str = "the blank ends the line";
/// Most values of all lists together, with ranges written out and defaults repeated in each entry.
const VALUES_MAX: usize = 1_000_000;
/// Most complaints that are told; the rest are counted.
const TOLD_MAX: usize = 50;

/// A place in one of the files: cheap to keep with everything that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// Index of the file in [`Sources`].
    pub file: u32,
    /// First byte, in the text after substitutions.
    pub start: u32,
    /// Bytes.
    pub length: u32,
}

/// One file, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As it was named; `command line` for words given there.
    pub name: String,
    /// Its text, with `$key` and `!key` replaced.
    pub text: String,
    /// Starts of its lines, in bytes.
    lines: Vec<u32>,
}

/// All files in the order in which they were opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a file and gives its index.
    pub fn add(&mut self, name: String, text: String) -> u32 {
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        self.0.push(Source { name, text, lines });
        (self.0.len() - 1) as u32
    }

    /// The files, each with its text after substitutions: what parmfile.html shows.
    pub fn files(&self) -> &[Source] {
        &self.0
    }

    /// `file:line`, for people.
    pub fn show(&self, at: At) -> String {
        let Some(source) = self.0.get(at.file as usize) else {
            return String::new();
        };
        format!("{}:{}", source.name, source.line_of(at.start))
    }

    /// The place with its line's text.
    pub fn location(&self, at: At) -> Option<Location> {
        let source = self.0.get(at.file as usize)?;
        let line = source.line_of(at.start);
        let from = *source.lines.get(line - 1)? as usize;
        let rest = source.text.get(from..)?;
        let text = rest.split('\n').next().unwrap_or_default();
        let begin = (at.start as usize - from).min(text.len());
        let span: Range<usize> = begin..(begin + at.length as usize).min(text.len());
        let mut found = Location::in_text(&source.name, text, span);
        found.line = line;
        Some(found)
    }
}

impl Source {
    /// Number from 1 of the line that holds a byte.
    fn line_of(&self, start: u32) -> usize {
        self.lines.partition_point(|line| *line <= start).max(1)
    }
}

/// Complaints about files, gathered until all is read.
#[derive(Debug, Default)]
pub struct Complaints {
    told: Diagnostics,
    more: usize,
    kept: usize,
}

impl Complaints {
    /// An error at a place.
    pub fn error(
        &mut self,
        sources: &Sources,
        at: At,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let complaint = Diagnostic::error(message);
        self.push(sources, at, complaint.hint(hint));
    }

    /// A warning at a place.
    pub fn warning(
        &mut self,
        sources: &Sources,
        at: At,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let complaint = Diagnostic::warning(message);
        self.push(sources, at, complaint.hint(hint));
    }

    /// An error about something that is not given. Where a blank ends that line, what is missing may stand behind it: then it is
    /// this error that tells of the blank.
    pub fn lacking(&mut self, sources: &Sources, at: At, message: String, hint: &str) {
        let Some(place) = sources.location(at) else {
            return self.error(sources, at, message, hint);
        };
        let blank = self.told.0.iter().position(|told| {
            let is_there =
                |other: &Location| (&other.file, other.line) == (&place.file, place.line);
            told.message.starts_with(BLANK) && told.location.as_deref().is_some_and(is_there)
        });
        let Some(blank) = blank.map(|index| self.told.0.remove(index)) else {
            return self.error(sources, at, message, hint);
        };
        let hint = blank.hint.unwrap_or_else(|| hint.to_owned());
        self.error(sources, at, format!("{message}: {}", blank.message), hint);
    }

    /// A complaint without a place.
    pub fn plain(&mut self, complaint: Diagnostic) {
        self.told.push(complaint);
    }

    fn push(&mut self, sources: &Sources, at: At, complaint: Diagnostic) {
        if self.told.0.len() >= TOLD_MAX {
            let refuses = complaint.severity == fathom_diagnostics::Severity::Error;
            self.more += 1;
            // What refuses the file must not be lost among warnings.
            if self.told.has_errors() || !refuses {
                return;
            }
        }
        let complaint = match sources.location(at) {
            Some(location) => complaint.at(location),
            None => complaint,
        };
        self.told.push(complaint);
    }

    /// Counts values that are kept; whether there is room for them. That there is none is told once.
    pub fn has_room_for(&mut self, values: usize) -> bool {
        let before = self.kept;
        self.kept = self.kept.saturating_add(values);
        if before <= VALUES_MAX && self.kept > VALUES_MAX {
            let message =
                format!("the lists of all entries together have over {VALUES_MAX} values");
            let complaint = Diagnostic::error(message);
            self.told
                .push(complaint.hint("use shorter lists, ranges and `=default` lists"));
        }
        self.kept <= VALUES_MAX
    }

    /// Whether a complaint holds `text`.
    pub fn has_told(&self, text: &str) -> bool {
        self.told.0.iter().any(|told| told.message.contains(text))
    }

    /// Whether no more is told: what else is found needs no hint.
    pub fn is_full(&self) -> bool {
        self.told.0.len() >= TOLD_MAX && self.told.has_errors()
    }

    /// Whether anything refuses the input.
    pub fn has_errors(&self) -> bool {
        self.told.has_errors()
    }

    /// All of them.
    pub fn into_diagnostics(mut self) -> Diagnostics {
        if self.more > 0 {
            let message = format!("{} more complaints are not shown", self.more);
            self.told.push(Diagnostic::warning(message));
        }
        self.told
    }
}
