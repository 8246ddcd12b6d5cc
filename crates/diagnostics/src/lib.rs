//! Input errors that show what, where, why and what to do.
//!
//! Every reader of an input (job files, command lines, designs, native workloads) gathers all its complaints as
//! [`Diagnostic`]s and returns them at once; the binary prints them. One shape, so that all inputs complain alike.
//!
//! ```
//! use fathom_diagnostics::{Diagnostic, Location, Severity};
//! let location = Location::in_text("job.fio", "[a]\nrw=randreed\n", 7..15);
//! let error = Diagnostic::error("`randreed` is no value of `rw`").at(location).hint("did you mean `randread`?");
//! assert_eq!(error.severity, Severity::Error);
//! assert_eq!(error.to_string(), "\
//! error: `randreed` is no value of `rw`
//!   --> job.fio:2:4
//!    |
//!  2 | rw=randreed
//!    |    ^^^^^^^^
//!   hint: did you mean `randread`?");
//! ```

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

/// How grave a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is taken, but perhaps not as its writer meant it.
    Warning,
    /// The input is refused.
    Error,
}

/// Where in an input a diagnostic points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it, or a name such as `command line`.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Bytes of `text` that are meant.
    pub span: Range<usize>,
    /// The whole line, without its end.
    pub text: String,
}

impl Location {
    /// The line of `source` that holds the byte range `span`; a span over several lines ends with its first.
    pub fn in_text(file: &str, source: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(source, span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |newline| start + newline);
        let text = source[line_start..line_end]
            .trim_end_matches('\r')
            .to_owned();
        let end = floor_char_boundary(&text, span.end.saturating_sub(line_start));
        let begin = (start - line_start).min(text.len());
        Self {
            file: file.to_owned(),
            line: source[..start].matches('\n').count() + 1,
            span: begin..end.max(begin),
            text,
        }
    }
}

/// One complaint about an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong and why; lower case, one sentence.
    pub message: String,
    /// Where; `None` where no single place is at fault.
    pub location: Option<Box<Location>>,
    /// What to do.
    pub hint: Option<String>,
    /// What it is about, where whoever complains does not know the input's text; the reader of it may find the place.
    pub subject: Option<Box<Subject>>,
}

/// A part of an input by its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The job (or another table) that holds it.
    pub owner: String,
    /// The value that is complained about, such as a path.
    pub value: String,
}

impl Diagnostic {
    /// An error without a place or a hint yet.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            location: None,
            hint: None,
            subject: None,
        }
    }

    /// A warning without a place or a hint yet.
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(message)
        }
    }

    /// The same, pointing at `location`.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(Box::new(location));
        self
    }

    /// The same, about `value` in `owner`, whose place its reader may find.
    #[must_use]
    pub fn about(mut self, owner: impl Into<String>, value: impl Into<String>) -> Self {
        self.subject = Some(Box::new(Subject {
            owner: owner.into(),
            value: value.into(),
        }));
        self
    }

    /// The same, saying what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)?;
        if let Some(location) = &self.location {
            let number = location.line.to_string();
            let margin = " ".repeat(number.len());
            let before = location.text[..location.span.start].chars();
            let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let width = location.text[location.span.clone()].chars().count().max(1);
            write!(
                f,
                "\n {margin}--> {}:{number}:{}",
                location.file,
                indent.chars().count() + 1
            )?;
            write!(f, "\n {margin} |\n {number} | {}", location.text)?;
            write!(f, "\n {margin} | {indent}{}", "^".repeat(width))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// All complaints about one input. Holds at least one error when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether any of them refuses the input.
    pub fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Adds one more.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The candidate nearest to a misspelt `name`, if any is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()).div_ceil(3))
        .min_by_key(|(distance, candidate)| (*distance, Reverse(shared_start(name, candidate))))
        .map(|(_, candidate)| candidate)
}

/// Of names equally near, the one that begins alike is meant: `P30` for `P31`, not `P1`.
fn shared_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(left, right)| left == right).count()
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(
            nearest("randreed", ["read", "randread", "write"]),
            Some("randread")
        );
        assert_eq!(nearest("frobnicate", ["read", "iodepth"]), None);
        assert_eq!(nearest("P31", ["P1", "P3", "P30"]), Some("P3"));
        assert_eq!(nearest("P31", ["P1", "P30"]), Some("P30"));
    }

    #[test]
    fn a_span_at_the_end_of_the_text_is_safe() {
        let location = Location::in_text("f", "a\nbé", 4..9);
        assert_eq!((location.line, location.text.as_str()), (2, "bé"));
        let _ = Diagnostic::error("x").at(location).to_string();
    }
}
