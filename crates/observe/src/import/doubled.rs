//! Reports of iostat's text that stand there twice, as where pieces of a log were put together.
//!
//! Two reports of one time may be two intervals, since times are in whole seconds; with the same figures too they are one,
//! and counted twice its I/Os would be too many.

use std::hash::{DefaultHasher, Hash, Hasher};

use fathom_diagnostics::Diagnostics;

use super::input::Text;

/// Lines of the reports that are the one before them once more.
#[derive(Debug, Default)]
pub(super) struct Doubled {
    /// The first line and the one behind the last of each, in order.
    lines: Vec<(usize, usize)>,
}

impl Doubled {
    /// Looks `text` through.
    pub(super) fn of(text: &Text) -> Result<Self, Diagnostics> {
        let mut search = Search::default();
        let mut lines = text.lines()?;
        let mut last = 0;
        while let Some(line) = lines.next()? {
            last = line.number;
            search.line(line.number, line.text.trim());
        }
        search.end(last + 1);
        Ok(search.found)
    }

    /// Whether the line of that number is one of theirs.
    pub(super) fn has(&self, line: usize) -> bool {
        let behind = self.lines.partition_point(|(first, _)| *first <= line);
        let before = behind.checked_sub(1).map(|place| self.lines[place]);
        before.is_some_and(|(_, end)| line < end)
    }

    /// What is said of them.
    pub(super) fn doubt(&self) -> Option<String> {
        let (first, _) = self.lines.first()?;
        Some(match self.lines.len() {
            1 => format!(
                "the report that begins in line {first} is the one before it once more, and left out"
            ),
            count => format!(
                "{count} reports, the first of which begins in line {first}, are those before them once more, and left out"
            ),
        })
    }
}

/// The report that is looked through, and the one before.
#[derive(Debug, Default)]
struct Search {
    found: Doubled,
    /// Where it begins, and what stands in it so far.
    open: Option<(usize, DefaultHasher)>,
    before: Option<u64>,
    is_after_blank: bool,
}

impl Search {
    fn line(&mut self, number: usize, trimmed: &str) {
        let is_head = ["avg-cpu", "Device", "Linux "]
            .iter()
            .any(|head| trimmed.starts_with(head));
        if trimmed.starts_with("Linux ") {
            self.end(number);
            self.before = None;
        } else if self.is_after_blank && !is_head && !trimmed.is_empty() {
            // A report's time.
            self.end(number);
            self.open = Some((number, DefaultHasher::new()));
        }
        if let Some((_, hasher)) = self.open.as_mut().filter(|_| !trimmed.is_empty()) {
            trimmed.hash(hasher);
        }
        self.is_after_blank = trimmed.is_empty();
    }

    /// Ends the report before the line of that number.
    fn end(&mut self, number: usize) {
        let Some((first, hasher)) = self.open.take() else {
            return;
        };
        let hash = hasher.finish();
        if self.before == Some(hash) {
            self.found.lines.push((first, number));
        }
        self.before = Some(hash);
    }
}
