//! From files to a flat stream of parameters.
//!
//! A line is trimmed; everything after its first blank outside quotes is a comment; a line whose rest ends in `,` goes on
//! in the next. What that does to a file whose writer did not expect it is warned of.

use std::io;

use fathom_diagnostics::{Diagnostic, why_unread};

use super::options::Options;
use super::source::{At, BLANK, Complaints, Sources};
use crate::fio::Files;
use crate::wide;

/// Most parameters of all files together, repetitions for hosts included.
const PARAMETERS_MAX: usize = 500_000;
/// Most lines that are repeated for hosts, repetitions counted.
const REPEATED_MAX: usize = 50_000;
/// Most bytes of all files together after substitutions.
const TEXT_MAX: usize = 64 << 20;
/// Longest line after joining.
const LINE_MAX: usize = 1 << 20;
/// Most files, included ones too.
const FILES_MAX: usize = 1000;

/// One `keyword=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The keyword in lower case, as written.
    pub key: String,
    /// Where the keyword stands.
    pub at: At,
    /// Its values: one, or those of a list.
    pub values: Vec<Word>,
    /// Whether they stand in parentheses.
    pub is_list: bool,
    /// Whether an earlier keyword stands on the same line, joined lines counting as one.
    pub continues: bool,
}

/// One value as written, without quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text.
    pub text: String,
    /// Whether any of it stood in double quotes.
    pub quoted: bool,
    /// Where it stands.
    pub at: At,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Lexed {
    /// In the order of the files.
    pub parameters: Vec<Parameter>,
    /// Those behind `+` on the command line, which belong to each RD.
    pub added: Vec<Parameter>,
    /// The files.
    pub sources: Sources,
}

/// Reads all files that `options` name, and `demo` where that is asked for.
pub fn lex(
    options: &Options,
    demo: Option<&str>,
    files: &dyn Files,
    complaints: &mut Complaints,
) -> Lexed {
    let mut lexer = Lexer {
        options,
        files,
        complaints,
        lexed: Lexed::default(),
        bytes: 0,
        used: vec![false; options.substitutions.len()],
        hosts: Vec::new(),
        in_host: false,
        repeated: 0,
        told_repeated: false,
        joined: Joined::default(),
    };
    if let Some(text) = demo {
        lexer.text("demonstration", text, false);
    }
    for name in &options.files {
        lexer.file(name, None);
    }
    lexer.added();
    let keys = options.substitutions.keys().zip(&lexer.used);
    for (key, _) in keys.filter(|(_, used)| !**used) {
        let message =
            format!("`{key}=` replaces `${key}` and `!{key}`, which stand nowhere in the files");
        let complaint = Diagnostic::error(message);
        lexer
            .complaints
            .plain(complaint.hint("leave it out, or correct its name"));
    }
    lexer.lexed
}

/// Lines that are joined, with where each part of them stands.
#[derive(Debug, Default)]
struct Joined {
    text: String,
    /// Start within `text`, and the place of that.
    parts: Vec<(usize, At)>,
}

impl Joined {
    fn at(&self, start: usize, end: usize) -> At {
        let part = self.parts.partition_point(|(from, _)| *from <= start);
        let Some((from, at)) = part.checked_sub(1).and_then(|part| self.parts.get(part)) else {
            return At::default();
        };
        At {
            file: at.file,
            start: at.start + (start - from) as u32,
            length: (end - start) as u32,
        }
    }
}

struct Lexer<'a> {
    options: &'a Options,
    files: &'a dyn Files,
    complaints: &'a mut Complaints,
    lexed: Lexed,
    bytes: usize,
    /// Which substitutions were made, in their order.
    used: Vec<bool>,
    /// Labels of the hosts so far, for `$host`.
    hosts: Vec<String>,
    /// Whether the last host may still get its `clients=`.
    in_host: bool,
    /// Lines that were repeated for hosts.
    repeated: usize,
    told_repeated: bool,
    joined: Joined,
}

/// What is wrong where the file at `path` is no text: a program or an archive would be complained of in its own bytes.
fn is_none(path: &str, text: &str) -> Option<Diagnostic> {
    if !text.contains('\0') {
        return None;
    }
    let any = || {
        let message = format!("`{path}` is no text: it holds zero bytes");
        Diagnostic::error(message).hint("name a parameter file, saved as UTF-8")
    };
    Some(wide::refused(path, text, "Vdbench").unwrap_or_else(any))
}

impl Lexer<'_> {
    /// `included`: where another file names this one, and that file.
    fn file(&mut self, name: &str, included: Option<(At, &str)>) {
        let Some((path, text)) = self.open(name, included) else {
            return;
        };
        if let Some((at, by)) = included.filter(|(_, by)| *by == path) {
            let message = format!("`{by}` includes itself");
            let hint = "remove the line, or name another file";
            return self
                .complaints
                .error(&self.lexed.sources, at, message, hint);
        }
        if let Some(complaint) = is_none(&path, &text) {
            return match included {
                Some((at, _)) => {
                    let hint = complaint.hint.unwrap_or_default();
                    self.complaints
                        .error(&self.lexed.sources, at, complaint.message, hint);
                }
                None => self.complaints.plain(complaint),
            };
        }
        self.text(&path, &text, included.is_some());
    }

    /// What stands behind `+` on the command line.
    fn added(&mut self) {
        if self.options.added.is_empty() {
            return;
        }
        let before = self.lexed.parameters.len();
        let text = self.options.added.join(",");
        self.text("command line", &text, true);
        self.lexed.added = self.lexed.parameters.split_off(before);
    }

    fn text(&mut self, path: &str, text: &str, nested: bool) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = self.substituted(text);
        self.bytes += text.len();
        if self.bytes > TEXT_MAX || self.lexed.sources.files().len() >= FILES_MAX {
            let message =
                format!("the files have over {TEXT_MAX} bytes, or are more than {FILES_MAX}");
            self.complaints
                .plain(Diagnostic::error(message).hint("use fewer or smaller files"));
            return;
        }
        let file = self.lexed.sources.add(path.to_owned(), text.clone());
        let mut start = 0;
        for line in text.split('\n') {
            let at = start;
            start += line.len() + 1;
            let trimmed = line.trim_start();
            let at = at + (line.len() - trimmed.len());
            let trimmed = trimmed.trim_end();
            if trimmed.is_empty() || trimmed.starts_with(['/', '#', '*']) {
                continue;
            }
            if trimmed.starts_with("eof") {
                break;
            }
            let place = At {
                file,
                start: at as u32,
                length: trimmed.len() as u32,
            };
            let include = trimmed
                .get(..8)
                .filter(|word| word.eq_ignore_ascii_case("include="));
            if include.is_some() && self.joined.text.is_empty() {
                self.include(&trimmed[8..], place, nested, path);
                continue;
            }
            self.line(trimmed, place);
        }
        self.flush();
    }

    /// A file without a folder is looked for beside the one that includes it, then here.
    fn open(&mut self, name: &str, included: Option<(At, &str)>) -> Option<(String, String)> {
        let folder = included
            .and_then(|(_, by)| by.rsplit_once('/'))
            .map(|(folder, _)| folder);
        let beside = folder
            .filter(|_| !name.contains('/'))
            .map(|folder| format!("{folder}/{name}"));
        let found = beside.and_then(|path| {
            let text = self.files.read_text(&path).ok()?;
            Some((path, text))
        });
        if found.is_some() {
            return found;
        }
        match self.files.read_text(name) {
            Ok(text) => Some((name.to_owned(), text)),
            Err(error) => {
                let message = format!("`{name}` cannot be read: {}", why_unread(&error));
                let hint = match error.kind() {
                    io::ErrorKind::NotFound => "name a parameter file that is there",
                    io::ErrorKind::IsADirectory => "name a file in that folder",
                    _ => "name a parameter file that can be read",
                };
                match included {
                    Some((at, _)) => self
                        .complaints
                        .error(&self.lexed.sources, at, message, hint),
                    None => self.complaints.plain(Diagnostic::error(message).hint(hint)),
                }
                None
            }
        }
    }

    fn include(&mut self, rest: &str, at: At, nested: bool, path: &str) {
        let name = rest.split([' ', '\t', ',']).next().unwrap_or_default();
        let name = name.trim_matches('"');
        if nested {
            let message = format!(
                "`{name}` is included by a file that is included itself; one level is possible"
            );
            self.complaints.error(
                &self.lexed.sources,
                at,
                message,
                "include it from the outermost file",
            );
            return;
        }
        if name.is_empty() {
            self.complaints.error(
                &self.lexed.sources,
                at,
                "`include=` names no file",
                "write `include=FILE`",
            );
            return;
        }
        self.file(name, Some((at, path)));
    }

    /// Replaces `$key` and `!key`; of keys that begin alike, the longest.
    fn substituted(&mut self, text: &str) -> String {
        if self.options.substitutions.is_empty() {
            return text.to_owned();
        }
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '!']) {
            result.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            let entries = self.options.substitutions.iter().enumerate();
            let found = entries
                .filter(|(_, (key, _))| rest.starts_with(key.as_str()))
                .max_by_key(|(_, (key, _))| key.len());
            if let Some((index, (key, value))) = found {
                result.pop();
                result.push_str(value);
                self.used[index] = true;
                rest = &rest[key.len()..];
            }
            if result.len() > TEXT_MAX {
                // The caller complains of the length.
                return result;
            }
        }
        result.push_str(rest);
        result
    }

    /// One line that is no comment.
    fn line(&mut self, line: &str, at: At) {
        let end = first_blank(line);
        let (kept, dropped) = line.split_at(end);
        self.warn_of_blank(kept, dropped.trim_start(), at);
        self.refuse_open_quote(kept, at);
        if self.joined.text.len() + kept.len() > LINE_MAX {
            let message =
                format!("the line is longer than {LINE_MAX} bytes with those it goes on in");
            self.complaints
                .error(&self.lexed.sources, at, message, "end lines without a `,`");
            self.joined = Joined::default();
            return;
        }
        self.joined.parts.push((self.joined.text.len(), at));
        self.joined.text.push_str(kept);
        if !kept.ends_with(',') {
            self.flush();
        }
    }

    fn warn_of_blank(&mut self, kept: &str, dropped: &str, at: At) {
        let is_comment = dropped.is_empty() || dropped.starts_with(['#', '*', '/']);
        let open = kept.matches('(').count() > kept.matches(')').count();
        if is_comment || !(kept.ends_with(',') || open || looks_like_parameter(dropped)) {
            return;
        }
        let place = At {
            start: at.start + kept.len() as u32,
            length: 1,
            ..at
        };
        let shown: String = dropped.chars().take(40).collect();
        let message = format!("{BLANK}: `{shown}` is a comment and is not read");
        let hint = "remove the blank, or put the value in double quotes";
        self.complaints
            .warning(&self.lexed.sources, place, message, hint);
    }

    /// A quote that is never closed makes one value of the rest of its line.
    fn refuse_open_quote(&mut self, kept: &str, at: At) {
        let Some(last) = kept
            .rfind('"')
            .filter(|_| kept.matches('"').count() % 2 == 1)
        else {
            return;
        };
        let place = At {
            start: at.start + last as u32,
            length: 1,
            ..at
        };
        let message = "the double quote is not closed";
        let hint = "close it on the same line";
        self.complaints
            .error(&self.lexed.sources, place, message, hint);
    }

    /// Takes what was joined.
    fn flush(&mut self) {
        let joined = std::mem::take(&mut self.joined);
        if joined.text.is_empty() {
            return;
        }
        let repeats = ["$host", "!host", "#host"]
            .iter()
            .any(|word| joined.text.contains(word));
        if !repeats {
            self.check_substituted(&joined);
            self.parameters(&joined);
            return;
        }
        let count = self.hosts.len().to_string();
        if self.hosts.is_empty() {
            let at = joined.at(0, joined.text.len());
            let message = "`$host` repeats a line for each host, and no `hd=` stands before it";
            self.complaints
                .error(&self.lexed.sources, at, message, "define hosts first");
        }
        self.repeated = self.repeated.saturating_add(self.hosts.len());
        if self.repeated > REPEATED_MAX {
            if !std::mem::replace(&mut self.told_repeated, true) {
                let at = joined.at(0, joined.text.len());
                let message = format!("lines with `$host` become over {REPEATED_MAX} lines");
                self.complaints
                    .error(&self.lexed.sources, at, message, "use fewer hosts or lines");
            }
            return;
        }
        for (index, label) in self.hosts.clone().iter().enumerate() {
            let text = joined.text.replace("#hosts", &count);
            let text = text.replace("#host", &index.to_string());
            let text = text.replace("$host", label).replace("!host", label);
            let at = joined.at(0, joined.text.len());
            // Within a repeated line every place is the whole line.
            let repeated = Joined {
                text,
                parts: vec![(0, At { length: 0, ..at })],
            };
            self.check_substituted(&repeated);
            self.parameters(&repeated);
        }
    }

    fn check_substituted(&mut self, joined: &Joined) {
        let text = &joined.text;
        let Some(start) = text.find("=$").or_else(|| text.find("=!")) else {
            return;
        };
        let name = text[start + 2..]
            .split([',', ')', '/'])
            .next()
            .unwrap_or_default();
        let at = joined.at(start + 1, start + 2 + name.len());
        let message = format!(
            "Unknown variable substitution request in parameter file: `{}`",
            &text[start + 1..start + 2 + name.len()]
        );
        let hint = format!("give its value behind the files: `{name}=…`");
        self.complaints
            .error(&self.lexed.sources, at, message, hint);
    }

    /// Splits a whole line.
    fn parameters(&mut self, joined: &Joined) {
        let text = &joined.text;
        let mut cursor = 0;
        let mut continues = false;
        while cursor < text.len() {
            if text[cursor..].starts_with(',') {
                cursor += 1;
                continue;
            }
            let rest = &text[cursor..];
            let end = rest.find(['=', ',']).unwrap_or(rest.len());
            let key = &rest[..end];
            let at = joined.at(cursor, cursor + end);
            if !rest[end..].starts_with('=') {
                let message = format!("`{key}` has no value");
                let hint = format!("write `{key}=…`, or join it to a list in parentheses");
                self.complaints
                    .error(&self.lexed.sources, at, message, hint);
                cursor += end;
                continue;
            }
            cursor += end + 1;
            let (values, is_list, next) = self.values(joined, cursor);
            cursor = next;
            if self.lexed.parameters.len() >= PARAMETERS_MAX {
                if self.lexed.parameters.len() == PARAMETERS_MAX {
                    let message = format!("the files have more than {PARAMETERS_MAX} parameters");
                    self.complaints
                        .error(&self.lexed.sources, at, message, "use fewer");
                    self.lexed.parameters.push(Parameter {
                        key: String::new(),
                        at,
                        values: Vec::new(),
                        is_list: false,
                        continues,
                    });
                }
                return;
            }
            let key = key.to_ascii_lowercase();
            self.note_host(&key, &values);
            self.lexed.parameters.push(Parameter {
                key,
                at,
                values,
                is_list,
                continues,
            });
            continues = true;
        }
    }

    /// The value that begins at `start`, or the list; and where the text goes on.
    fn values(&mut self, joined: &Joined, start: usize) -> (Vec<Word>, bool, usize) {
        let text = &joined.text;
        let is_list = text[start..].starts_with('(');
        let mut words = Vec::new();
        let mut cursor = start + usize::from(is_list);
        loop {
            let (word, end) = word(joined, cursor, is_list);
            if !is_list {
                words.push(word);
                return (words, false, end);
            }
            if word.quoted || !word.text.is_empty() {
                words.push(word);
            }
            match text[end..].bytes().next() {
                Some(b',') => cursor = end + 1,
                Some(_) => {
                    let after = end + 1;
                    let next = text[after..]
                        .find(',')
                        .map_or(text.len(), |comma| after + comma);
                    if next > after {
                        let at = joined.at(after, next);
                        let message = format!(
                            "`{}` stands behind the closing parenthesis",
                            &text[after..next]
                        );
                        self.complaints.error(
                            &self.lexed.sources,
                            at,
                            message,
                            "put a `,` between",
                        );
                    }
                    return (words, true, next);
                }
                None => {
                    let at = joined.at(start, text.len());
                    let hint =
                        "close it on the same line, without blanks, or end the line with a `,`";
                    self.complaints.error(
                        &self.lexed.sources,
                        at,
                        "the list has no closing parenthesis",
                        hint,
                    );
                    return (words, true, text.len());
                }
            }
        }
    }

    /// Keeps the labels that `$host` stands for.
    fn note_host(&mut self, key: &str, values: &[Word]) {
        let Some(word) = values.first() else {
            return;
        };
        match key {
            "hd" | "host" => {
                self.in_host = word.text != "default";
                if self.in_host {
                    self.hosts.push(word.text.clone());
                }
            }
            "sd" | "fsd" | "wd" | "fwd" | "rd" => self.in_host = false,
            "clients" if self.in_host => {
                let count = word.text.parse::<usize>().unwrap_or(0).min(1000);
                let label = self.hosts.pop().unwrap_or_default();
                self.hosts
                    .extend((0..count).map(|client| format!("{label}_cl{client}")));
            }
            _ => {}
        }
    }
}

/// The value from `start` to a comma, or in a list to the closing parenthesis; and where it ends.
fn word(joined: &Joined, start: usize, in_list: bool) -> (Word, usize) {
    let text = &joined.text;
    let mut is_open = false;
    let mut quoted = false;
    let mut value = String::new();
    let mut end = text.len();
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '"' => {
                is_open = !is_open;
                quoted = true;
            }
            ',' if !is_open => {
                end = start + at;
                break;
            }
            ')' if in_list && !is_open => {
                end = start + at;
                break;
            }
            other => value.push(other),
        }
    }
    let word = Word {
        text: value,
        quoted,
        at: joined.at(start, end),
    };
    (word, end)
}

/// The first blank outside quotes, or the end.
fn first_blank(line: &str) -> usize {
    let mut is_open = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => is_open = !is_open,
            ' ' | '\t' if !is_open => return at,
            _ => {}
        }
    }
    line.len()
}

/// Whether a comment begins like `keyword=`.
fn looks_like_parameter(text: &str) -> bool {
    let text = text.trim_start_matches(',').trim_start();
    let key = text.split('=').next().unwrap_or_default();
    text.len() > key.len()
        && !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
