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

mod kind;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::ops::Range;

pub use kind::another_kind;

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
    /// The line, without its end; of a line too long to show, the part around what is meant.
    pub text: String,
    /// Characters of the line that are left out before `text`.
    pub skipped: usize,
}

/// Longest line that is shown whole, and longest part of a longer one, in bytes: a longer one hides the place that is meant,
/// and many complaints about one must not hold a copy of it each.
const LINE_MAX: usize = 240;
/// What is shown of such a line before what is meant.
const BEFORE_MAX: usize = 40;
const PART_MAX: usize = 200;
/// Longest word of an input that a message names whole, in characters, and what is left of a longer one at its two ends.
const WORD_MAX: usize = 320;
const WORD_ENDS: [usize; 2] = [60, 20];

impl Location {
    /// The line of `source` that holds the byte range `span`; a span over several lines ends with its first.
    pub fn in_text(file: &str, source: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(source, span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |newline| start + newline);
        let text = source[line_start..line_end].trim_end_matches('\r');
        let end = floor_char_boundary(text, span.end.saturating_sub(line_start));
        let begin = (start - line_start).min(text.len());
        let line = source[..start].matches('\n').count() + 1;
        Self::in_line(file, line, text, begin..end.max(begin))
    }

    /// The bytes `span` of `text`, which is line `line` of `file`. Both ends of the span lie between characters.
    pub fn in_line(file: &str, line: usize, text: &str, span: Range<usize>) -> Self {
        let whole = text.len() <= LINE_MAX;
        let start = floor_char_boundary(text, span.start.saturating_sub(BEFORE_MAX));
        let part = if whole {
            0..text.len()
        } else {
            start..floor_char_boundary(text, start + PART_MAX).max(start)
        };
        let within = |at: usize| at.clamp(part.start, part.end) - part.start;
        Self {
            file: file.to_owned(),
            line,
            span: within(span.start)..within(span.end),
            text: text[part.clone()].to_owned(),
            skipped: text[..part.start].chars().count(),
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
        write!(f, "{severity}: {}", with_short_words(&self.message))?;
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
                location.skipped + indent.chars().count() + 1
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

    /// Most complaints about one input that are kept: nobody reads more, and an input may bring about one a byte.
    pub const MOST: usize = 200;

    /// Adds one more. What comes when there are [`Self::MOST`] is left out, but for the first error, and a last one says so.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.0.len() == Self::MOST && self.has_errors() {
            let message = format!("there is more to complain of than these {}", Self::MOST);
            self.0
                .push(Diagnostic::error(message).hint("begin with the first ones"));
        } else if self.0.len() < Self::MOST
            || (diagnostic.severity == Severity::Error && !self.has_errors())
        {
            self.0.push(diagnostic);
        }
    }

    /// Whether nothing more is kept, so that a reader may save itself the work.
    pub fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST && self.has_errors()
    }
}

impl fmt::Display for Diagnostics {
    /// Of many that one line of the input has brought about, such as one for each clone of a job, the first is told and how many
    /// there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Of so many each is told.
        const ALIKE_MOST: usize = 3;
        let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
        for diagnostic in &self.0 {
            let alike = |group: &&mut Vec<&Diagnostic>| are_alike(group[0], diagnostic);
            match groups.iter_mut().find(alike) {
                Some(group) => group.push(diagnostic),
                None => groups.push(vec![diagnostic]),
            }
        }
        let mut is_first = true;
        for group in groups {
            let shown = if group.len() > ALIKE_MOST {
                1
            } else {
                group.len()
            };
            for diagnostic in &group[..shown] {
                f.write_str(if is_first { "" } else { "\n\n" })?;
                is_first = false;
                diagnostic.fmt(f)?;
            }
            if group.len() > shown {
                write!(f, "\n  and {} more like this one", group.len() - shown)?;
            }
        }
        Ok(())
    }
}

/// Whether two complaints have one place and one remedy. Without a place, both must begin alike, up to a colon.
fn are_alike(one: &Diagnostic, other: &Diagnostic) -> bool {
    let subject = |it: &Diagnostic| match &it.location {
        Some(_) => None,
        None => it
            .message
            .split_once(": ")
            .map(|(first, _)| first.to_owned()),
    };
    one.hint.is_some()
        && (one.severity, &one.hint, &one.location)
            == (other.severity, &other.hint, &other.location)
        && subject(one) == subject(other)
        && (one.location.is_some() || subject(one).is_some())
}

impl std::error::Error for Diagnostics {}

/// Why a file cannot be read, in words rather than the kernel's where these leave a question.
pub fn why_unread(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "it is a folder, no file".to_owned(),
        _ => error.to_string(),
    }
}

/// What is said of a TOML file that has no key, after its name: it may be that another was meant.
pub fn nothing_in(text: &str) -> &'static str {
    let blank = |letter: char| letter.is_whitespace() || letter == BYTE_ORDER_MARK;
    match text.trim_matches(blank) {
        "" => "is empty",
        _ => "holds nothing but comments",
    }
}

/// Some editors begin every file with it, also one in which nothing stands.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The candidate nearest to a misspelt `name`, if any is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // No name that anyone would mean is that long, and the work grows with the product of both lengths.
    if name.len() > NAME_MAX {
        return None;
    }
    let farthest = |candidate: &str| candidate.len().max(name.len()).div_ceil(3);
    candidates
        .into_iter()
        // Names are no nearer than their lengths are.
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= farthest(candidate))
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= farthest(candidate))
        // Names of one letter have nothing in common.
        .filter(|(distance, candidate)| *distance < candidate.len().max(name.len()))
        .min_by_key(|(distance, candidate)| {
            let lengths_apart = candidate.len().abs_diff(name.len());
            (
                *distance,
                Reverse(shared_start(name, candidate)),
                lengths_apart,
            )
        })
        .map(|(_, candidate)| candidate)
}

/// Longest name that is compared with others, in bytes.
const NAME_MAX: usize = 200;

/// Of names equally near, the one that begins alike is meant, and of these the one that is as long: `P30` for `P31`, neither
/// `P1` nor `P3`.
fn shared_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(left, right)| left == right).count()
}

/// `message` with what stands between two backticks cut in its middle where it is longer than anybody reads.
fn with_short_words(message: &str) -> Cow<'_, str> {
    if message.len() <= WORD_MAX {
        return Cow::Borrowed(message);
    }
    let parts = message.split('`').enumerate();
    let parts: Vec<Cow<'_, str>> = parts
        .map(|(index, part)| match index % 2 {
            0 => Cow::Borrowed(part),
            _ => without_middle(part),
        })
        .collect();
    Cow::Owned(parts.join("`"))
}

fn without_middle(word: &str) -> Cow<'_, str> {
    let count = word.chars().count();
    if count <= WORD_MAX {
        return Cow::Borrowed(word);
    }
    let [first, last] = WORD_ENDS;
    let start: String = word.chars().take(first).collect();
    let end: String = word.chars().skip(count - last).collect();
    Cow::Owned(format!("{start} … {end}"))
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
        assert_eq!(nearest(&"read".repeat(1 << 18), ["read"]), None);
        assert_eq!(nearest("P31", ["P1", "P3", "P30"]), Some("P30"));
        assert_eq!(nearest("P31", ["P1", "P30"]), Some("P30"));
        assert_eq!(nearest("6", ["0", "5"]), None);
    }

    #[test]
    fn of_a_long_line_a_part_is_shown_with_its_true_column() {
        let text = format!("a\n{}é!{}", "x".repeat(9_000), "y".repeat(9_000));
        let at = text.find('é').unwrap();
        let location = Location::in_text("f", &text, at..at + 2);
        assert!(location.text.len() <= PART_MAX);
        assert_eq!(&location.text[location.span.clone()], "é");
        let shown = Diagnostic::error("x").at(location).to_string();
        assert!(shown.contains("f:2:9001"), "{shown}");
        // A span that is longer than what is shown ends with it.
        let long = Location::in_text("f", &text, at..text.len());
        assert_eq!(long.span.end, long.text.len());
    }

    #[test]
    fn a_long_line_and_a_long_word_do_not_fill_the_screen() {
        let word = format!("{}end", "x".repeat(3_000));
        let line = format!("mix = \"{word}\"");
        let location = Location::in_text("f", &line, 6..line.len());
        let complaint = Diagnostic::error(format!("`{word}` is no value of `mix`")).at(location);
        let shown = complaint.to_string();
        assert!(shown.len() < 700, "{shown}");
        assert!(shown.contains("xend` is no value of `mix`"), "{shown}");
        assert!(shown.contains("f:1:7"), "{shown}");
        // What is long by its number of words is told whole.
        let many = ["`word`"; 100].join(", ");
        assert_eq!(
            Diagnostic::error(many.clone()).to_string(),
            format!("error: {many}")
        );
    }

    #[test]
    fn complaints_end_somewhere_and_an_error_is_never_left_out() {
        let mut many = Diagnostics::default();
        for _ in 0..2 * Diagnostics::MOST {
            many.push(Diagnostic::warning("w"));
        }
        many.push(Diagnostic::error("e"));
        assert!(many.has_errors());
        let before = many.0.len();
        many.push(Diagnostic::error("f"));
        assert_eq!(many.0.len(), before);
        let mut errors = Diagnostics::default();
        for _ in 0..2 * Diagnostics::MOST {
            errors.push(Diagnostic::error("e"));
        }
        assert_eq!(errors.0.len(), Diagnostics::MOST + 1);
        assert!(
            errors
                .to_string()
                .contains("more to complain of than these 200")
        );
    }

    #[test]
    fn many_of_one_place_and_remedy_are_told_once() {
        let text = "[j]\ndirectory=/nope\nnumjobs=5\n";
        let of_clone = |clone: usize| {
            let message =
                format!("job `j`: target `/nope/j.{clone}.0`: there is no directory `/nope`");
            Diagnostic::error(message).hint("make the directory first")
        };
        let at = |it: Diagnostic, span| it.at(Location::in_text("f", text, span));
        let all = |made: Vec<Diagnostic>| Diagnostics(made).to_string();
        let other = || at(Diagnostic::error("other"), 0..3);
        let placed = |count| (0..count).map(|clone| at(of_clone(clone), 4..19));
        let shown = all(placed(5).chain([other()]).collect());
        let expected = format!(
            "{}\n  and 4 more like this one\n\n{}",
            at(of_clone(0), 4..19),
            other()
        );
        assert_eq!(shown, expected);
        // Few are told one by one, and so is what has another place or remedy.
        assert_eq!(all(placed(3).collect()).matches("error: ").count(), 3);
        let elsewhere = (0..5).map(|clone| at(of_clone(clone), clone..clone + 1));
        assert_eq!(all(elsewhere.collect()).matches("error: ").count(), 5);
        let unsaid = (0..5).map(|_| other());
        assert_eq!(all(unsaid.collect()).matches("error: ").count(), 5);
        // Without a place, those of one job.
        let unplaced = (0..5).map(of_clone);
        assert!(all(unplaced.collect()).ends_with("first\n  and 4 more like this one"));
        let jobs = (0..5).map(|job| Diagnostic::error(format!("job `{job}`: x")).hint("y"));
        assert_eq!(all(jobs.collect()).matches("error: ").count(), 5);
    }

    #[test]
    fn a_span_at_the_end_of_the_text_is_safe() {
        let location = Location::in_text("f", "a\nbé", 4..9);
        assert_eq!((location.line, location.text.as_str()), (2, "bé"));
        let _ = Diagnostic::error("x").at(location).to_string();
    }
}
