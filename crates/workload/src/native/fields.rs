//! A parsed file being read: typed access to its values, with a complaint and its place for each that is wrong.
//!
//! Reading never stops at an error: what is wrong gives `None`, the caller goes on with the default, and all complaints
//! come out together.

use std::ops::Range;
use std::str::FromStr;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nearest};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, ParseUnitError, Percent};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::foreign::{example_of, said_here};
use super::words::Words;

/// A value of the file with its place.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// A quantity that is written as a string with its unit.
pub(super) trait Quantity: FromStr<Err = ParseUnitError> {
    /// How one is written.
    const EXAMPLE: &'static str;
}

impl Quantity for Bytes {
    const EXAMPLE: &'static str = "4KiB";
}

impl Quantity for Nanos {
    const EXAMPLE: &'static str = "30s";
}

impl Quantity for Percent {
    const EXAMPLE: &'static str = "70%";
}

impl Quantity for Iops {
    const EXAMPLE: &'static str = "20000/s";
}

impl Quantity for BytesPerSec {
    const EXAMPLE: &'static str = "500MB/s";
}

/// The file and what was found wrong with it so far.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    pub(super) diagnostics: Diagnostics,
    /// Whether Fathom itself wrote the file, from a workload that may have names that nobody would give.
    pub(super) is_written: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            diagnostics: Diagnostics::default(),
            is_written: false,
        }
    }

    /// The text of the whole file.
    pub(super) fn whole(&self) -> &'a str {
        self.text
    }

    pub(super) fn location(&self, span: Range<usize>) -> Location {
        Location::in_text(self.file, self.text, span)
    }

    /// What was found, in the order of the file.
    pub(super) fn in_order(self) -> Diagnostics {
        let mut diagnostics = self.diagnostics;
        let line = |found: &Diagnostic| found.location.as_ref().map(|location| location.line);
        diagnostics.0.sort_by_key(line);
        diagnostics
    }

    pub(super) fn error(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.diagnostics.is_full() {
            return self.diagnostics.push(Diagnostic::error(message));
        }
        let diagnostic = Diagnostic::error(message).at(self.location(span));
        self.diagnostics.push(diagnostic.hint(hint));
    }

    pub(super) fn warning(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.diagnostics.is_full() {
            return self.diagnostics.push(Diagnostic::warning(message));
        }
        let diagnostic = Diagnostic::warning(message).at(self.location(span));
        self.diagnostics.push(diagnostic.hint(hint));
    }

    /// Complains that `value` is not `wanted`.
    pub(super) fn mismatch(&mut self, value: &Value<'_>, wanted: &str, hint: impl Into<String>) {
        let message = format!("this is {}, not {wanted}", kind(value.get_ref()));
        self.error(value.span(), message, hint);
    }

    /// A string with a unit.
    pub(super) fn quantity<T: Quantity>(&mut self, value: &Value<'_>) -> Option<T> {
        let Some(text) = value.get_ref().as_str() else {
            let hint = format!("write the value with its unit, such as \"{}\"", T::EXAMPLE);
            self.mismatch(value, "a string with a unit", hint);
            return None;
        };
        match text.parse() {
            Ok(quantity) => Some(quantity),
            Err(error) => {
                let hint = format!("write it like \"{}\"", T::EXAMPLE);
                self.error(value.span(), error.to_string(), hint);
                None
            }
        }
    }

    /// A whole number without a unit. Numbers past 2^63, which TOML has not, may be written as strings.
    pub(super) fn count<T: TryFrom<u64>>(&mut self, value: &Value<'_>) -> Option<T> {
        let most = u64::MAX >> (u64::BITS as usize - size_of::<T>() * 8);
        let (number, told) = match value.get_ref() {
            DeValue::Integer(integer) => {
                let digits = integer.as_str();
                (
                    u64::from_str_radix(digits, integer.radix()).ok(),
                    misfit(digits, integer.radix(), most),
                )
            }
            DeValue::String(text) => (text.parse().ok(), misfit(text, 10, most)),
            DeValue::Float(float) => (None, format!("`{}` is no whole number", float.as_str())),
            _ => {
                self.mismatch(value, "a whole number", "write digits alone, such as 4");
                return None;
            }
        };
        let count = number.and_then(|number| T::try_from(number).ok());
        if count.is_none() {
            let hint = format!("write a whole number from 0 to {most}, without quotes, such as 4");
            self.error(value.span(), told, hint);
        }
        count
    }

    /// A name, which others may be told by.
    pub(super) fn name(&mut self, value: &Value<'_>) -> Option<String> {
        let name = self.text(value)?;
        if name.trim().is_empty() && !self.is_written {
            let hint = "write one that tells it from others, or leave `name` out";
            self.error(value.span(), "the name is empty", hint);
        }
        Some(name)
    }

    /// `true` or `false`.
    pub(super) fn truth(&mut self, value: &Value<'_>) -> Option<bool> {
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            self.mismatch(value, "true or false", "write `true` or `false`");
        }
        truth
    }

    /// Any string.
    pub(super) fn text(&mut self, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.mismatch(value, "a string", "write it between quotes");
        }
        text.map(str::to_owned)
    }

    /// One of `words`.
    pub(super) fn word<T: Copy>(&mut self, value: &Value<'_>, words: Words<T>) -> Option<T> {
        self.word_but(value, words, |_| None)
    }

    /// One of `words`; `meant` says what to write in place of what is none, where it knows.
    pub(super) fn word_but<T: Copy>(
        &mut self,
        value: &Value<'_>,
        words: Words<T>,
        meant: impl Fn(&str) -> Option<String>,
    ) -> Option<T> {
        let list = || {
            let names: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            format!("write {}", names.join(" or "))
        };
        let Some(text) = value.get_ref().as_str() else {
            self.mismatch(value, "a word", list());
            return None;
        };
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let hint = meant(text).unwrap_or_else(|| {
                let near = nearest(text, words.iter().map(|(word, _)| *word));
                near.map_or_else(list, |near| format!("did you mean `{near}`?"))
            });
            self.error(
                value.span(),
                format!("`{text}` is no value of this key"),
                hint,
            );
        }
        found.map(|(_, meant)| *meant)
    }

    /// The elements of a list.
    pub(super) fn list<'v, 'i>(&mut self, value: &'v Value<'i>) -> Option<&'v [Value<'i>]> {
        let list = value.get_ref().as_array();
        if list.is_none() {
            self.mismatch(value, "a list", "write it between `[` and `]`");
        }
        list.map(|list| &list[..])
    }

    /// The keys of a table; `what` names it in complaints, with its article.
    pub(super) fn fields<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        what: &'static str,
    ) -> Option<Fields<'v, 'i>> {
        let Some(table) = value.get_ref().as_table() else {
            let hint = example_of(what).map_or_else(
                || "write it as a table, `{ key = value }`".to_owned(),
                |example| format!("write it like {example}"),
            );
            self.mismatch(value, what, hint);
            return None;
        };
        Some(Fields::new(table, value.span(), what))
    }
}

/// Why `text`, in digits of `radix`, is no number from 0 to `most`.
fn misfit(text: &str, radix: u32, most: u64) -> String {
    let is_number = |digits: &str| {
        let mut letters = digits.chars().filter(|letter| *letter != '_').peekable();
        letters.peek().is_some() && letters.all(|letter| letter.is_digit(radix))
    };
    match text.strip_prefix('-') {
        Some(digits) if is_number(digits) => format!("`{text}` is below 0"),
        _ if is_number(text) => {
            format!("`{text}` is more than {most}, the most that can be counted here")
        }
        _ => format!("`{text}` is no whole number"),
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a bare number",
        DeValue::Float(_) => "a bare fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A table whose keys are asked for one by one; those never asked for are unknown.
#[derive(Debug)]
pub(super) struct Fields<'v, 'i> {
    table: &'v DeTable<'i>,
    span: Range<usize>,
    what: &'static str,
    known: Vec<&'static str>,
}

impl<'v, 'i> Fields<'v, 'i> {
    pub(super) fn new(table: &'v DeTable<'i>, span: Range<usize>, what: &'static str) -> Self {
        Self {
            table,
            span,
            what,
            known: Vec::new(),
        }
    }

    /// Place of the table.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether it has no key.
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The value of `key`, which is a known one from now on.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'v Value<'i>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let mut entries = self.table.iter();
        entries
            .find(|(name, _)| name.get_ref() == key)
            .map(|(_, value)| value)
    }

    /// The value of a key that cannot be left out.
    pub(super) fn require(
        &mut self,
        key: &'static str,
        reader: &mut Reader<'_>,
    ) -> Option<&'v Value<'i>> {
        let value = self.get(key);
        if value.is_none() {
            let message = format!("{} needs `{key}`", self.what);
            reader.error(self.span(), message, format!("add `{key} = …`"));
        }
        value
    }

    /// Places of all values by key.
    pub(super) fn places(&self) -> Vec<(String, Range<usize>)> {
        let entries = self.table.iter();
        entries
            .map(|(key, value)| (key.get_ref().to_string(), value.span()))
            .collect()
    }

    /// Complains of keys that were never asked for.
    pub(super) fn finish(self, reader: &mut Reader<'_>) {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let near = || nearest(name, self.known.iter().copied());
            let hint = match said_here(self.what, name) {
                Some(hint) => hint.to_owned(),
                None => match near() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", self.known.join(", ")),
                },
            };
            let message = format!("`{name}` is no key of {}", self.what);
            reader.error(key.span(), message, hint);
        }
    }
}
