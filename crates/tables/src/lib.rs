//! One table of a TOML file, and the complaints about the whole file.
//!
//! Designs, profiles and price lists are read through this. Every accessor notes what is wrong and gives `None`, so that
//! reading goes on and all complaints come out at once, each with its place in the file.

use std::ops::Range;
use std::str::FromStr;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, another_kind, nearest, nothing_in};
use fathom_units::{Bytes, ParseUnitError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Complaints about one design file.
pub struct Complaints<'a> {
    file: &'a str,
    text: &'a str,
    /// Errors and warnings so far.
    pub found: Diagnostics,
    /// What was taken otherwise than it stands, for the reader's notes.
    pub notes: Vec<String>,
    /// Whether it was said that the file stands for too many parts.
    pub full: bool,
}

impl<'a> Complaints<'a> {
    /// None yet, about the file of that name and text.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            found: Diagnostics::default(),
            notes: Vec::new(),
            full: false,
        }
    }

    /// Complains of what stands at `span`; an empty hint is none.
    pub fn error(&mut self, span: &Range<usize>, message: impl Into<String>, hint: &str) {
        if self.found.is_full() {
            return self.found.push(Diagnostic::error(message));
        }
        let mut diagnostic = Diagnostic::error(message).at(self.location(span));
        if !hint.is_empty() {
            diagnostic = diagnostic.hint(hint);
        }
        self.found.push(diagnostic);
    }

    /// Warns of something that was taken otherwise than it stands, and keeps the sentence for the reader's notes.
    pub fn note(&mut self, span: &Range<usize>, message: String) {
        if self.found.is_full() {
            return self.found.push(Diagnostic::warning(message));
        }
        let diagnostic = Diagnostic::warning(message.clone()).at(self.location(span));
        self.found.push(diagnostic);
        self.notes.push(message);
    }

    /// All that was found, in the order of the file.
    pub fn in_order(self) -> Diagnostics {
        let mut found = self.found;
        let place = |it: &Diagnostic| it.location.as_ref().map(|at| (at.line, at.span.start));
        found.0.sort_by_key(place);
        found
    }

    /// Where these bytes of the file stand.
    pub fn location(&self, span: &Range<usize>) -> Location {
        Location::in_text(self.file, self.text, span.clone())
    }
}

/// The document of a file of some `kind`, such as "design", which has so many bytes at most.
///
/// # Errors
/// It is larger, no TOML, or nothing is in it.
pub fn document<'t>(
    text: &'t str,
    file: &str,
    (kind, most): (&str, Bytes),
) -> Result<Spanned<DeTable<'t>>, Diagnostics> {
    if text.len() as u64 > most.get() {
        let message = format!("`{file}` is larger than {most}, which no {kind} needs");
        let complaint = Diagnostic::error(message).hint("name another file");
        return Err(Diagnostics(vec![complaint]));
    }
    let parsed = DeTable::parse(text).map_err(|error| {
        let mut diagnostic = Diagnostic::error(error.message().to_owned());
        if let Some(span) = error.span() {
            diagnostic = diagnostic.at(Location::in_text(file, text, span));
        }
        Diagnostics(vec![
            diagnostic.hint(format!("a {kind} is written in TOML")),
        ])
    })?;
    if parsed.get_ref().is_empty() {
        let complaint = Diagnostic::error(format!("`{file}` {}", nothing_in(text)));
        let hint = format!("name a file with a {kind} in it");
        return Err(Diagnostics(vec![complaint.hint(hint)]));
    }
    let keys = parsed.get_ref().keys().map(|key| key.get_ref().as_ref());
    match another_kind(file, kind, keys) {
        Some(complaint) => Err(complaint),
        None => Ok(parsed),
    }
}

/// One table, called `what` in complaints.
#[derive(Clone, Copy)]
pub struct Entry<'t> {
    /// Its keys and values.
    pub table: &'t DeTable<'t>,
    what: &'static str,
    start: usize,
}

/// A value and the bytes of the file it stands at.
#[derive(Debug, Clone)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Bytes of the file.
    pub span: Range<usize>,
}

impl<'t> Entry<'t> {
    /// The table that stands at `span`.
    pub fn new(what: &'static str, table: &'t DeTable<'t>, span: &Range<usize>) -> Self {
        Self {
            table,
            what,
            start: span.start,
        }
    }

    /// A place for complaints about something missing: the table's first line.
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + 1
    }

    /// Complains of every key that is not `known`.
    pub fn check_keys(&self, known: &[&str], complaints: &mut Complaints<'_>) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if known.contains(&name) {
                continue;
            }
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys: {}", known.join(", ")),
            };
            complaints.error(
                &key.span(),
                format!("unknown key `{name}` in {}", self.what),
                &hint,
            );
        }
    }

    /// Whether the key is there, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A text in quotes.
    pub fn text(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<At<&'t str>> {
        self.quoted(key, "write it between quotes", complaints)
    }

    /// A text in quotes; `hint` says how it is written.
    fn quoted(
        &self,
        key: &str,
        hint: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<At<&'t str>> {
        let value = self.table.get(key)?;
        let Some(text) = value.get_ref().as_str() else {
            let found = value.get_ref().type_str();
            let message = format!("`{key}` must be a text in quotes, not {found}");
            complaints.error(&value.span(), message, hint);
            return None;
        };
        Some(At {
            value: text,
            span: value.span(),
        })
    }

    /// A text that must be there and not be empty.
    pub fn required_text(
        &self,
        key: &str,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<At<&'t str>> {
        if !self.has(key) {
            self.missing(key, example, complaints);
        }
        let text = self.text(key, complaints)?;
        if text.value.trim().is_empty() {
            complaints.error(&text.span, format!("`{key}` is empty"), example);
            return None;
        }
        Some(text)
    }

    /// The required `name`. Records join the names of machines, volumes and disks by `/`, so that none may have one.
    pub fn required_name(
        &self,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<At<&'t str>> {
        let name = self.required_text("name", example, complaints)?;
        if name
            .value
            .contains(|letter: char| letter == '/' || letter.is_control())
        {
            let message = format!("the name {:?} has a `/` or a control character", name.value);
            let hint = "a record joins the names of machines, volumes and disks by `/`";
            complaints.error(&name.span, message, hint);
            return None;
        }
        Some(name)
    }

    /// Complains that a key is missing; `example` shows how it is written.
    pub fn missing(&self, key: &str, example: &str, complaints: &mut Complaints<'_>) {
        let message = format!("{} needs `{key}`", self.what);
        complaints.error(&self.span(), message, &format!("add `{example}`"));
    }

    /// A whole number from `least` to `most`.
    pub fn number(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
        complaints: &mut Complaints<'_>,
    ) -> Option<At<u64>> {
        let value = self.table.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if let Some(number) = number.filter(|number| range.contains(number)) {
            return Some(At {
                value: number,
                span: value.span(),
            });
        }
        let (least, most) = (range.start(), range.end());
        let message = format!("`{key}` must be a whole number from {least} to {most}");
        let hint = match value.get_ref() {
            DeValue::String(text) if is_number(text) => "write it without quotes".to_owned(),
            DeValue::String(_) => {
                let example = if range.contains(&5_000) {
                    5_000
                } else {
                    *least
                };
                format!("write digits alone and no quotes, such as `{key} = {example}`")
            }
            _ => "write a number of that range".to_owned(),
        };
        complaints.error(&value.span(), message, &hint);
        None
    }

    /// A quantity with its unit.
    pub fn quantity<T>(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<At<T>>
    where
        T: FromStr<Err = ParseUnitError>,
    {
        // What it is like is known to its complaint about a text that is none of them.
        let error = "".parse::<T>().err();
        let like = error
            .as_ref()
            .and_then(|it| it.reason.strip_prefix("is not "));
        let like = like.unwrap_or("a number with its unit");
        let hint = format!("write it between quotes, {like}");
        let text = self.quoted(key, &hint, complaints)?;
        match text.value.parse() {
            Ok(value) => Some(At {
                value,
                span: text.span,
            }),
            Err(error) => {
                let hint = instead(&error, like);
                complaints.error(&text.span, format!("`{key}`: {error}"), &hint);
                None
            }
        }
    }

    /// One of a list of words.
    pub fn word<T: Copy>(
        &self,
        key: &str,
        known: &[(&str, T)],
        complaints: &mut Complaints<'_>,
    ) -> Option<At<T>> {
        let text = self.text(key, complaints)?;
        if let Some((_, value)) = known.iter().find(|(word, _)| *word == text.value) {
            return Some(At {
                value: *value,
                span: text.span,
            });
        }
        let words = || known.iter().map(|(word, _)| *word);
        let hint = match nearest(text.value, words()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", words().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("`{}` is no value of `{key}`", text.value);
        complaints.error(&text.span, message, &hint);
        None
    }

    /// `true` or `false`.
    pub fn truth(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<At<bool>> {
        let value = self.table.get(key)?;
        let Some(truth) = value.get_ref().as_bool() else {
            let found = value.get_ref().type_str();
            let message = format!("`{key}` must be true or false, not {found}");
            complaints.error(&value.span(), message, "write it without quotes");
            return None;
        };
        Some(At {
            value: truth,
            span: value.span(),
        })
    }

    /// A list of texts in quotes.
    pub fn texts(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Vec<At<&'t str>>> {
        let value = self.table.get(key)?;
        let list = value.get_ref().as_array();
        let texts = list.into_iter().flatten().map(|one| {
            let text = one.get_ref().as_str()?;
            Some(At {
                value: text,
                span: one.span(),
            })
        });
        let texts: Option<Vec<_>> = texts.collect();
        let texts = texts.filter(|texts| !texts.is_empty());
        if texts.is_none() {
            let message = format!("`{key}` must be a list of texts in quotes");
            complaints.error(&value.span(), message, "such as `[\"vm1\", \"db*\"]`");
        }
        texts
    }

    /// Where a key stands; the table's first line where it is absent.
    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span(), Spanned::span)
    }

    /// Complains of the keys of `keys` that are there, though they have no meaning here.
    pub fn refuse_keys(
        &self,
        keys: &[&str],
        why: &str,
        hint: &str,
        complaints: &mut Complaints<'_>,
    ) {
        for key in keys.iter().filter(|key| self.has(key)) {
            let message = format!("`{key}` {why}");
            complaints.error(&self.span_of(key), message, hint);
        }
    }

    /// The table `key = { … }`.
    pub fn table(
        &self,
        key: &str,
        what: &'static str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Entry<'t>> {
        let value = self.table.get(key)?;
        let Some(table) = value.get_ref().as_table() else {
            let message = format!(
                "`{key}` must be a table, not {}",
                value.get_ref().type_str()
            );
            let hint = format!("write `{key} = {{ key = value }}`");
            complaints.error(&value.span(), message, &hint);
            return None;
        };
        Some(Entry::new(what, table, &value.span()))
    }

    /// The tables of `[[key]]`; none where the key is absent.
    pub fn tables(
        &self,
        key: &str,
        what: &'static str,
        complaints: &mut Complaints<'_>,
    ) -> Vec<Entry<'t>> {
        let Some(value) = self.table.get(key) else {
            return Vec::new();
        };
        let entries: &[Spanned<DeValue<'t>>] = match value.get_ref() {
            DeValue::Array(list) => list,
            _ => &[],
        };
        let tables = entries.iter().filter_map(|entry| {
            let table = entry.get_ref().as_table()?;
            Some(Entry::new(what, table, &entry.span()))
        });
        let tables: Vec<_> = tables.collect();
        if tables.len() != entries.len() || entries.is_empty() {
            let message = format!("`{key}` must be tables, written as `[[{key}]]`");
            complaints.error(&value.span(), message, "give each two brackets");
        }
        tables
    }
}

/// What to write in place of a quantity that cannot be read, where its complaint does not say so: it should be `like` this.
fn instead(error: &ParseUnitError, like: &str) -> String {
    let text = error.text.trim();
    if text.starts_with(['-', '+']) {
        return "write it without a sign".to_owned();
    }
    if like.starts_with("a rate of bytes") && text.parse::<Bytes>().is_ok_and(|_| !is_number(text))
    {
        return format!("a rate is bytes a second: write `{text}/s`");
    }
    if error.reason.contains("such as") {
        return String::new();
    }
    format!("write {like}")
}

/// Whether a text is a whole number as TOML writes it.
fn is_number(text: &str) -> bool {
    let digits = text.trim().replace('_', "");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use fathom_units::{BytesPerSec, Nanos, Percent};

    use super::*;

    #[test]
    fn a_quantity_without_quotes_is_told_what_it_is_like() {
        #[track_caller]
        fn check<T: FromStr<Err = ParseUnitError>>(hint: &str) {
            let text = "a = 1";
            let document = DeTable::parse(text).unwrap();
            let mut complaints = Complaints::new("x.toml", text);
            let entry = Entry::new("a design", document.get_ref(), &(0..1));
            assert!(entry.quantity::<T>("a", &mut complaints).is_none());
            let told = complaints.found.0[0].hint.as_deref().unwrap_or_default();
            assert_eq!(told, format!("write it between quotes, {hint}"));
        }
        check::<Bytes>("a size such as `4KiB`, `1.5GiB` or `500MB`");
        check::<Nanos>("a time with its unit, such as `30s`, `1.5ms`, `10min` or `1h30m`");
        check::<Percent>("a percentage such as `70%`");
        check::<BytesPerSec>("a rate of bytes such as `500MB/s` or `64MiB/s`");
    }

    #[test]
    fn a_quantity_that_cannot_be_read_is_told_what_to_write() {
        #[track_caller]
        fn check<T: FromStr<Err = ParseUnitError>>(value: &str, hint: Option<&str>) {
            let text = format!("a = \"{value}\"");
            let document = DeTable::parse(&text).unwrap();
            let mut complaints = Complaints::new("x.toml", &text);
            let entry = Entry::new("a design", document.get_ref(), &(0..1));
            assert!(entry.quantity::<T>("a", &mut complaints).is_none());
            assert_eq!(complaints.found.0[0].hint.as_deref(), hint, "{value}");
        }
        check::<Bytes>("-1", Some("write it without a sign"));
        check::<Nanos>("-1s", Some("write it without a sign"));
        check::<Bytes>(
            "99999999TiB",
            Some("write a size such as `4KiB`, `1.5GiB` or `500MB`"),
        );
        check::<Percent>("101%", Some("write a percentage such as `70%`"));
        let rate = "a rate is bytes a second: write `500MB/s`";
        check::<BytesPerSec>("500MB", Some(rate));
        check::<BytesPerSec>("500", None);
        check::<BytesPerSec>("fast", None);
    }

    #[test]
    fn what_is_no_document_is_told_with_its_kind() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let found = document(text, "x.toml", ("price list", Bytes::new(16)));
            let told = found.map_or_else(|complaints| complaints.to_string(), |_| String::new());
            assert!(told.starts_with(expected), "{told}");
            assert_eq!(told.is_empty(), expected.is_empty(), "{told}");
        }
        check("a = 1\nb = [2, 3]", "");
        check(
            "a = 1\nb = [2, 34]",
            "error: `x.toml` is larger than 16 B, which no price list needs\n  hint: name another file",
        );
        check("a = 1\nb = ", "error: ");
        let hint = "\n  hint: name a file with a price list in it";
        for text in ["", " \n\t\r\n", "\u{feff}"] {
            check(text, &format!("error: `x.toml` is empty{hint}"));
        }
        let comments = format!("error: `x.toml` holds nothing but comments{hint}");
        check("# none\n\n # a=1", &comments);
        let broken = document("b = ", "x.toml", ("profile", Bytes::new(16)));
        let told = broken.map_or_else(|complaints| complaints.to_string(), |_| String::new());
        assert!(told.contains("x.toml:1"), "{told}");
        assert!(told.contains("a profile is written in TOML"), "{told}");
    }
}
