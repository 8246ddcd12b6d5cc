//! Lines of a job file, taken apart.
//!
//! Knows sections, comments, `include` and `${ENV}`; what an option means is decided elsewhere.
//!
//! Source of the rules: behaviour of fio 3.33, and the source of 3.42.

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nothing_in, why_unread};

use super::context::ReadContext;
use super::input::Origin;
use super::{table, text};

/// Longest line, as in fio.
pub const MAX_LINE_BYTES: usize = 8 * 1024;
/// Deepest nesting of `include`.
const MAX_INCLUDE_DEPTH: usize = 16;
/// Most options in all files together.
const MAX_OPTIONS: usize = 50_000;

/// One `name=value` as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawOption {
    /// The name, without blanks around it.
    pub name: String,
    /// What follows `=`, leading blanks kept; `None` without `=`.
    pub value: Option<String>,
    /// The whole of it, and where it stands.
    pub location: Location,
    /// Where it came from.
    pub origin: Origin,
}

impl RawOption {
    /// The place of the value alone; of the whole option where there is none.
    pub fn value_location(&self) -> Location {
        let mut location = self.location.clone();
        let text = &location.text[location.span.clone()];
        if let Some(equals) = text.find('=')
            && equals + 1 < text.len()
        {
            location.span.start += equals + 1;
        }
        location
    }
}

/// A section, or a job of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Whether its options are defaults of what follows.
    pub global: bool,
    /// Whether it must wait for the jobs of the file before.
    pub after_file: bool,
    /// Its options in the order they were written.
    pub options: Vec<RawOption>,
}

/// What a lexer carries along.
pub struct Lexer<'a> {
    context: &'a ReadContext<'a>,
    only: &'a [String],
    sections: Vec<Section>,
    skipping: bool,
    option_count: usize,
    must_hold_something: bool,
}

impl<'a> Lexer<'a> {
    /// `only` are the names of `--section`; empty: all.
    pub fn new(context: &'a ReadContext<'a>, only: &'a [String]) -> Self {
        Self {
            context,
            only,
            sections: Vec::new(),
            skipping: false,
            option_count: 0,
            must_hold_something: false,
        }
    }

    /// Where `must` is set, a file in which nothing stands is an error: there are no other jobs.
    pub fn must_hold_something(mut self, must: bool) -> Self {
        self.must_hold_something = must;
        self
    }

    /// Takes apart the job file at `path` (`-`: standard input).
    pub fn read(mut self, path: &str, diagnostics: &mut Diagnostics) -> Vec<Section> {
        match self.context.files.read_text(path) {
            Ok(text) => {
                self.lines(path, &text, 0, diagnostics);
                let holds_nothing = self.sections.is_empty() && self.only.is_empty();
                if self.must_hold_something && holds_nothing && !diagnostics.has_errors() {
                    let message = format!("`{path}` {}", nothing_in(&text));
                    let hint = "write a job: `[NAME]`, and its options in the lines below";
                    diagnostics.push(Diagnostic::error(message).hint(hint));
                }
            }
            Err(error) => diagnostics.push(
                Diagnostic::error(format!(
                    "unable to open job file `{path}`: {}",
                    why_unread(&error)
                ))
                .hint(text::unread_hint(&error)),
            ),
        }
        self.sections
    }

    fn lines(&mut self, path: &str, text: &str, depth: usize, diagnostics: &mut Diagnostics) {
        if let Some(error) = text::is_none(path, text) {
            diagnostics.push(error);
            return;
        }
        for (index, line) in text.split('\n').enumerate() {
            if self.option_count > MAX_OPTIONS {
                return;
            }
            let line = Line {
                path,
                number: index + 1,
                text: line,
                depth,
            };
            if line.text.len() >= MAX_LINE_BYTES {
                let mut shown = line.location(0..0);
                shown.text = shown.text.chars().take(60).collect();
                let message = "the line is longer than 8 KiB";
                diagnostics.push(Diagnostic::error(message).at(shown).hint("split it"));
                continue;
            }
            self.line(&line, diagnostics);
        }
    }

    fn line(&mut self, line: &Line<'_>, diagnostics: &mut Diagnostics) {
        let content = line.content();
        if content.is_empty() {
            return;
        }
        let span = line.span_of(content);
        // fio takes no mark either; what it stands before is read on, so that nothing else seems wrong.
        let marked = content.strip_prefix('\u{feff}');
        if marked.is_some() {
            let message = "the file begins with a byte order mark, which is part of its first line";
            let error = Diagnostic::error(message).at(line.location(span.clone()));
            diagnostics.push(error.hint("save it as UTF-8 without a byte order mark"));
        }
        let content = marked.unwrap_or(content);
        if let Some(name) = content.strip_prefix('[') {
            if line.depth > 0 {
                let message = "an included file cannot open a section";
                diagnostics.push(Diagnostic::error(message).at(line.location(span)));
                return;
            }
            self.open(name);
            return;
        }
        if self.skipping {
            return;
        }
        if self.sections.is_empty() {
            let message = format!("option `{content}` stands outside of a [section]");
            diagnostics.push(
                Diagnostic::error(message)
                    .at(line.location(span))
                    .hint("put it below `[global]` or the name of a job"),
            );
            return;
        }
        if let Some(rest) = content.strip_prefix("include") {
            self.include(line, rest.get(1..).unwrap_or_default().trim(), diagnostics);
            return;
        }
        self.option(line, content, diagnostics);
    }

    /// The name is everything up to the line's last character, whatever that is.
    fn open(&mut self, name: &str) {
        let mut name: String = name.chars().take(255).collect();
        name.pop();
        // A section is global by its first six letters: `[globalx]` is global too.
        let global = name.starts_with("global");
        self.skipping = !global && !self.only.is_empty() && !self.only.contains(&name);
        if !self.skipping {
            self.sections.push(Section {
                name,
                global,
                after_file: false,
                options: Vec::new(),
            });
        }
    }

    fn include(&mut self, line: &Line<'_>, path: &str, diagnostics: &mut Diagnostics) {
        let location = line.location(line.span_of(line.content()));
        if line.depth >= MAX_INCLUDE_DEPTH {
            let message = format!("`include` is nested more than {MAX_INCLUDE_DEPTH} deep");
            diagnostics.push(
                Diagnostic::error(message)
                    .at(location)
                    .hint("a file may include itself by mistake"),
            );
            return;
        }
        let beside = line
            .path
            .rsplit_once('/')
            .map(|(folder, _)| format!("{folder}/{path}"));
        let mut failure = None;
        for candidate in std::iter::once(path.to_owned()).chain(beside) {
            match self.context.files.read_text(&candidate) {
                Ok(text) => return self.lines(&candidate, &text, line.depth + 1, diagnostics),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let reason = failure.map(|error| error.to_string()).unwrap_or_default();
        diagnostics.push(
            Diagnostic::error(format!("unable to open included file `{path}`: {reason}"))
                .at(location)
                .hint("it is looked for here, and then beside the file that includes it"),
        );
    }

    fn option(&mut self, line: &Line<'_>, content: &str, diagnostics: &mut Diagnostics) {
        self.option_count += 1;
        let location = line.location(line.span_of(content));
        if self.option_count > MAX_OPTIONS {
            let message = format!("more than {MAX_OPTIONS} options in all files");
            diagnostics.push(Diagnostic::error(message).at(location));
            return;
        }
        let expanded = expand(content, self.context);
        if let Some(sum) = &expanded.no_sum {
            let message = format!("`{sum}` cannot be worked out");
            let hint = "fio hands sums with its keywords to `bc`: whole numbers and + - * / alone, such as 4096 in place of 4k";
            let error = Diagnostic::error(message).at(location);
            diagnostics.push(error.hint(hint));
            return;
        }
        let (name, value) = match expanded.text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (expanded.text.as_str(), None),
        };
        let (path, line) = (line.path.to_owned(), line.number);
        let origin = match expanded.from_environment {
            FromEnvironment::No => Origin::File { path, line },
            FromEnvironment::Yes => Origin::Environment { path, line },
        };
        let option = RawOption {
            name: name.trim_end().to_owned(),
            value,
            location,
            origin,
        };
        if let Some(section) = self.sections.last_mut() {
            section.options.push(option);
        }
    }
}

/// One line and where it stands.
struct Line<'a> {
    path: &'a str,
    number: usize,
    text: &'a str,
    depth: usize,
}

impl<'a> Line<'a> {
    /// Without blanks, control characters at its end, and comments: `;` and `#` end a line wherever they stand.
    fn content(&self) -> &'a str {
        let start = self.text.trim_start();
        let end = start.find([';', '#']).unwrap_or(start.len());
        start[..end].trim_end_matches(|c: char| c.is_whitespace() || c.is_control())
    }

    fn span_of(&self, content: &str) -> std::ops::Range<usize> {
        let start = self.text.len() - self.text.trim_start().len();
        start..start + content.len()
    }

    fn location(&self, span: std::ops::Range<usize>) -> Location {
        let text = self.text.trim_end_matches('\r');
        let span = span.start.min(text.len())..span.end.min(text.len());
        Location::in_line(self.path, self.number, text, span)
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum FromEnvironment {
    No,
    Yes,
}

struct Expanded {
    text: String,
    from_environment: FromEnvironment,
    /// A sum with keywords that `bc` would not take either.
    no_sum: Option<String>,
}

/// Puts in `${NAME}` from the environment (nothing where it is not set) and fio's own keywords.
fn expand(text: &str, context: &ReadContext<'_>) -> Expanded {
    let mut out = String::with_capacity(text.len());
    let mut from_environment = FromEnvironment::No;
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}') else {
            break;
        };
        out.push_str(&rest[..start]);
        let name = &rest[start + 2..start + end];
        // A name with a NUL or `=` can be in no environment, and asking for it may panic.
        if !name.is_empty() && !name.contains(['\0', '=']) {
            out.push_str(&(context.environment)(name).unwrap_or_default());
        }
        from_environment = FromEnvironment::Yes;
        rest = &rest[start + end + 1..];
    }
    out.push_str(rest);
    let mut no_sum = None;
    match fill_keywords(&out, context) {
        Filled::Untouched => {}
        Filled::With(filled) => out = filled,
        Filled::NoSum(sum) => no_sum = Some(sum),
    }
    Expanded {
        text: out,
        from_environment,
        no_sum,
    }
}

/// What became of a line in which fio's own keywords may stand.
enum Filled {
    /// It has none.
    Untouched,
    /// They are put in, and what was a sum is worked out.
    With(String),
    /// It begins as a sum and is none.
    NoSum(String),
}

/// Puts in fio's own keywords, and then works out the value. What begins with a number and goes on as a sum must be one; names
/// such as `a-$ncpus` stay as they are.
fn fill_keywords(text: &str, context: &ReadContext<'_>) -> Filled {
    let mut filled = text.to_owned();
    for (word, value) in [
        ("$pagesize", context.page_size.get()),
        ("$mb_memory", context.memory_mib),
        ("$ncpus", u64::from(context.processors)),
    ] {
        if filled.contains(word) {
            filled = filled.replace(word, &value.to_string());
        }
    }
    if filled == text {
        return Filled::Untouched;
    }
    let Some((name, value)) = filled.split_once('=') else {
        return Filled::With(filled);
    };
    match evaluate(value) {
        Some(result) => Filled::With(format!("{name}={result}")),
        None if is_like_a_sum(value) => Filled::NoSum(value.to_owned()),
        None => Filled::With(filled),
    }
}

/// Whether `text` is a number and then `*`, `/`, `+` or `-`, and short enough for fio to work it out.
fn is_like_a_sum(text: &str) -> bool {
    let text = text.trim();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start();
    text.len() <= MAX_SUM_BYTES
        && text.starts_with(|c: char| c.is_ascii_digit())
        && rest.starts_with(['*', '/', '+', '-'])
        && !rest.contains('\'')
}

/// Longest sum that is worked out, as in fio; it bounds the recursion too.
const MAX_SUM_BYTES: usize = 100;

/// A sum of products of whole numbers, as `bc` works it out; `None` for everything else.
fn evaluate(text: &str) -> Option<i128> {
    let text = text.trim();
    if text.len() > MAX_SUM_BYTES {
        return None;
    }
    if let Some(cut) = text.rfind(['+', '-']) {
        let (left, right) = (evaluate(&text[..cut])?, evaluate(&text[cut + 1..])?);
        return match &text[cut..=cut] {
            "+" => left.checked_add(right),
            _ => left.checked_sub(right),
        };
    }
    if let Some(cut) = text.rfind(['*', '/', '%']) {
        let (left, right) = (evaluate(&text[..cut])?, evaluate(&text[cut + 1..])?);
        return match &text[cut..=cut] {
            "*" => left.checked_mul(right),
            "/" => left.checked_div(right),
            _ => left.checked_rem(right),
        };
    }
    text.parse().ok()
}

/// Whether `text` is a fio job file: it opens a section first, and most of its options are known to fio.
///
/// Values in quotation marks are no fio, so that native TOML files are told apart.
pub fn looks_like_job_file(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(|line| {
            let line = line.trim_start();
            line[..line.find([';', '#']).unwrap_or(line.len())].trim_end()
        })
        .filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return false;
    };
    if !first.starts_with('[') || first.starts_with("[[") || !first.ends_with(']') {
        return false;
    }
    let (mut known, mut unknown) = (0, 0);
    for line in lines.filter(|line| !line.starts_with('[')) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        if value.trim_start().starts_with(['"', '\'', '{']) {
            return false;
        }
        if table::find(name.trim_end()).is_some() || line.starts_with("include ") {
            known += 1;
        } else {
            unknown += 1;
        }
    }
    known > 0 && known >= unknown
}
