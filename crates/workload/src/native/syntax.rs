//! From the text of a native file to its tables, and what is wrong where it is no TOML.
//!
//! Whoever writes such a file need not know TOML's grammar: what goes wrong most is answered with what to write.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, Error};

use super::fields::Reader;

/// Longest text of which every syntax error is told, in bytes.
const RECOVERED_MAX: usize = 1 << 16;

impl<'a> Reader<'a> {
    /// The tables of the text; `None` where it is no TOML, which is told.
    pub(super) fn document(&mut self) -> Option<Spanned<DeTable<'a>>> {
        let text = self.whole();
        if let Some(at) = text.find('\0') {
            let hint = "name a text file, or save it as UTF-8";
            self.error(at..at, "this is no text: it holds zero bytes", hint);
            return None;
        }
        let (document, errors) = match DeTable::parse(text) {
            Ok(document) => (document, Vec::new()),
            // There may be an error for every other byte: of a long text, only the first is told.
            Err(error) if text.len() > RECOVERED_MAX => {
                (Spanned::new(0..0, DeTable::new()), vec![error])
            }
            Err(_) => DeTable::parse_recoverable(text),
        };
        // Behind what is nested too deeply nothing is understood.
        let is_too_deep = |error: &&Error| error.message().contains("recur");
        match errors.iter().find(is_too_deep) {
            Some(error) => self.no_toml(error),
            None => errors.iter().for_each(|error| self.no_toml(error)),
        }
        errors.is_empty().then_some(document)
    }

    fn no_toml(&mut self, error: &Error) {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().trim_end_matches('\n').replace('\n', "; ");
        if message == "duplicate key" {
            return self.given_twice(span);
        }
        let hint: Cow<'_, str> = match message.as_str() {
            text if text.starts_with("string values must be quoted") => {
                "write words, and values with a unit, between quotes, such as \"4KiB\"".into()
            }
            text if text.contains("recur") => {
                "nest fewer lists and tables: a workload needs no more than five in one another"
                    .into()
            }
            _ => "see toml.io for the format".into(),
        };
        self.error(span, format!("this is no TOML: {message}"), hint);
    }

    /// Complains of a key or a table that stands there a second time; one place is told once.
    fn given_twice(&mut self, span: Range<usize>) {
        let name = self.whole().get(span.clone()).unwrap_or_default().trim();
        let location = self.location(span.clone());
        let told = self.diagnostics.0.iter();
        let mut told = told.filter_map(|found| found.location.as_deref());
        if told.any(|at| *at == location) {
            return;
        }
        let message = format!("`{name}` stands here for the second time");
        let hint = "leave one of the two out; of a list of tables each is written `[[name]]`";
        self.error(span, message, hint);
    }
}
