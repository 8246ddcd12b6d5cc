//! The lines of an .icf file, with what is complained of them.
//!
//! Lines are trimmed; a line that begins with `'` is a key (or a comment), and what follows it is its value. Keys are
//! known by their beginning, whatever the case of their letters. Reading goes on after a complaint, and all come out
//! together; past a number that nobody reads, they are counted alone.

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, Severity};

/// Most complaints that are kept.
const TOLD_MAX: usize = 100;
/// Most bytes of a line that a complaint shows.
const SHOWN_MAX: usize = 240;
/// Most bytes of a line; Iometer itself reads 199.
const LINE_MAX: usize = 512;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// From 1.
    number: usize,
    raw: &'t str,
}

impl<'t> Line<'t> {
    /// Without blanks around it.
    pub(super) fn text(self) -> &'t str {
        self.raw.trim()
    }

    fn is_comment(self) -> bool {
        self.raw.trim_start().starts_with('\'')
    }

    /// Whether it is a comment that begins like none of the keys: with a blank.
    pub(super) fn is_remark(self) -> bool {
        let text = self.text().strip_prefix('\'');
        text.is_some_and(|text| text.starts_with(char::is_whitespace))
    }

    /// Whether it is a key that begins so; `key` without its `'`.
    pub(super) fn is_key(self, key: &str) -> bool {
        let text = self.text().strip_prefix('\'').map(str::trim_start);
        text.and_then(|text| text.get(..key.len()))
            .is_some_and(|start| start.eq_ignore_ascii_case(key))
    }

    /// Parts between commas, trimmed.
    pub(super) fn fields(self) -> impl Iterator<Item = &'t str> {
        self.text().split(',').map(str::trim)
    }

    /// Parts between blanks or commas.
    pub(super) fn words(self) -> impl Iterator<Item = &'t str> {
        let parts = self.text().split(|c: char| c.is_whitespace() || c == ',');
        parts.filter(|part| !part.is_empty())
    }
}

/// A file being read.
#[derive(Debug)]
pub(super) struct Source<'t> {
    file: &'t str,
    lines: Vec<Line<'t>>,
    at: usize,
    diagnostics: Diagnostics,
    /// Complaints beyond those that are kept, warnings and errors.
    more: [usize; 2],
}

impl<'t> Source<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        let lines = (1..).zip(text.lines());
        let lines = lines.map(|(number, raw)| Line { number, raw });
        let mut source = Self {
            file,
            lines: lines.collect(),
            at: 0,
            diagnostics: Diagnostics::default(),
            more: [0; 2],
        };
        let long = |line: &Line<'_>| line.raw.len() > LINE_MAX;
        if let Some(line) = source.lines.iter().copied().find(long) {
            let message = format!("this line has over {LINE_MAX} bytes");
            source.error(
                line,
                line.raw,
                message,
                "Iometer reads lines of up to 199 bytes",
            );
            source.lines.clear();
        }
        source
    }

    /// Whether the text was refused before anything of it was read.
    pub(super) fn is_unread(&self) -> bool {
        self.lines.is_empty() && self.diagnostics.has_errors()
    }

    /// All lines.
    pub(super) fn lines(&self) -> &[Line<'t>] {
        &self.lines
    }

    /// Refuses the text for what stands in `line`, before anything of it is read.
    pub(super) fn refuse(&mut self, line: Line<'t>, message: &str, hint: &str) {
        self.error(line, line.text(), message, hint);
        self.lines.clear();
    }

    /// Whether no more complaints are kept.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.0.len() >= TOLD_MAX
    }

    /// The next line.
    pub(super) fn take(&mut self) -> Option<Line<'t>> {
        let line = self.lines.get(self.at).copied();
        self.at += usize::from(line.is_some());
        line
    }

    /// Goes one line back.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// The next line that is not blank.
    pub(super) fn take_filled(&mut self) -> Option<Line<'t>> {
        loop {
            let line = self.take()?;
            if !line.text().is_empty() {
                return Some(line);
            }
        }
    }

    /// The line after a key, where it is no key itself; comments with the names of columns are passed over.
    pub(super) fn value(&mut self) -> Option<Line<'t>> {
        loop {
            let line = self.take()?;
            if !line.is_comment() {
                return Some(line);
            }
            let text = line.text().trim_start_matches('\'');
            let names_columns = text.starts_with(char::is_whitespace)
                || ["hours", "start"].iter().any(|column| line.is_key(column));
            if !names_columns {
                self.back();
                return None;
            }
        }
    }

    /// The first line with something in it after a key, or a complaint that there is none.
    pub(super) fn filled_value(&mut self, key: Line<'t>) -> Option<Line<'t>> {
        loop {
            match self.value() {
                Some(line) if line.text().is_empty() => {}
                Some(line) => return Some(line),
                None => {
                    let message = format!("nothing follows `{}`", key.text());
                    self.error(key, key.text(), message, "write its value on the next line");
                    return None;
                }
            }
        }
    }

    pub(super) fn error(
        &mut self,
        line: Line<'t>,
        part: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Diagnostic::error(message).hint(hint), Some((line, part)));
    }

    pub(super) fn warn(
        &mut self,
        line: Line<'t>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let part = Some((line, line.text()));
        self.push(Diagnostic::warning(message).hint(hint), part);
    }

    /// A complaint, at a part of a line or at no place.
    pub(super) fn push(&mut self, diagnostic: Diagnostic, place: Option<(Line<'t>, &str)>) {
        if self.diagnostics.0.len() >= TOLD_MAX {
            self.more[usize::from(diagnostic.severity == Severity::Error)] += 1;
            return;
        }
        let located = match place {
            Some((line, part)) => diagnostic.at(self.location(line, part)),
            None => diagnostic,
        };
        self.diagnostics.push(located);
    }

    /// A part of a line.
    pub(super) fn location(&self, line: Line<'t>, part: &str) -> Location {
        let mut end = line.raw.len().min(SHOWN_MAX);
        while !line.raw.is_char_boundary(end) {
            end -= 1;
        }
        let text = line.raw[..end].trim_end();
        // A part is a piece of its line; where it is not, the whole line is meant.
        let from = (part.as_ptr() as usize).wrapping_sub(line.raw.as_ptr() as usize);
        let within = from <= text.len() && text.is_char_boundary(from);
        let start = if within { from } else { 0 };
        let to = (start + part.len()).min(text.len());
        Location {
            file: self.file.to_owned(),
            line: line.number,
            span: start..if text.is_char_boundary(to) {
                to
            } else {
                text.len()
            },
            text: text.to_owned(),
            skipped: 0,
        }
    }

    /// A whole number from `least` to `most`, or a complaint.
    pub(super) fn number(
        &mut self,
        line: Line<'t>,
        word: Option<&str>,
        (what, least, most): (&str, u64, u64),
    ) -> Option<u64> {
        let Some(word) = word.filter(|word| !word.is_empty()) else {
            let message = format!("the {what} is missing");
            self.error(
                line,
                line.text(),
                message,
                format!("give {least} to {most}"),
            );
            return None;
        };
        let found = word.parse().ok();
        let found = found.filter(|number| (least..=most).contains(number));
        if found.is_none() {
            let message = format!("`{}` is no {what}", shortened(word));
            self.error(
                line,
                word,
                message,
                format!("give a whole number from {least} to {most}"),
            );
        }
        found
    }

    /// One of the words, by its index, or by its number where files once had that.
    pub(super) fn choice(&mut self, line: Line<'t>, what: &str, words: &[&str]) -> Option<usize> {
        let text = line.text();
        let by_word = words
            .iter()
            .position(|word| word.eq_ignore_ascii_case(text));
        let by_number = || text.parse().ok().filter(|index| *index < words.len());
        let found = by_word.or_else(by_number);
        if found.is_none() {
            let message = format!("`{}` is no {what}", shortened(text));
            self.error(
                line,
                text,
                message,
                format!("known are {}", words.join(", ")),
            );
        }
        found
    }

    /// Everything that was complained of, in the order of the lines.
    pub(super) fn finish(mut self) -> Diagnostics {
        let [warnings, errors] = self.more;
        let line = |found: &Diagnostic| found.location.as_ref().map(|place| place.line);
        self.diagnostics.0.sort_by_key(line);
        if warnings + errors > 0 {
            let message =
                format!("{errors} more errors and {warnings} more warnings are not shown");
            let last = if errors > 0 {
                Diagnostic::error(message)
            } else {
                Diagnostic::warning(message)
            };
            self.diagnostics.push(last.hint("mend those above first"));
        }
        self.diagnostics
    }
}

/// The first characters of a text that may be of any length.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}…")
}
