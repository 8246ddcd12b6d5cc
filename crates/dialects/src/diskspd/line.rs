//! From words to a profile: one option a word, its value right behind its letter.

use std::ops::Range;

use fathom_diagnostics::Diagnostics;

use super::settings::{Format, Profile, Span, Target};
use super::source::Source;
use super::{options, sizes};

/// Most targets of one line.
const TARGETS_MAX: usize = 4096;
/// Longest line.
const LINE_MAX: usize = 4 << 20;
/// Longest word that a complaint about it repeats, bytes.
const NAMED_MAX: usize = 60;

/// A line as far as it was read.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that a word of the line said"
)]
pub struct Line {
    /// What holds for the whole invocation; without its timespan.
    pub profile: Profile,
    /// The timespan, without its targets.
    pub span: Span,
    /// What holds for each target.
    pub target: Target,
    /// Targets with the index of their word.
    pub targets: Vec<(usize, String)>,
    /// `-?`.
    pub help: bool,
    /// `-Rp`.
    pub profile_only: bool,
    /// `-Rs`.
    pub system_only: bool,
    /// Whether `-R` names the format.
    pub names_format: bool,
    /// `-X`: its word, and the file.
    pub file: Option<(usize, String)>,
    /// Words that do not go with a profile in a file.
    pub apart_from_file: Vec<usize>,
    /// Whether a way of caching, and a way of writing through, was said.
    pub seen_caching: (bool, bool),
    /// Seeds a bare `-z`.
    pub entropy: u64,
    /// The words as one text.
    pub source: Source,
    spans: Vec<Range<usize>>,
}

/// What an option's value did: nothing to tell, or what is wrong and what to do.
pub type Taken = Result<(), (String, String)>;

/// An error with its remedy.
pub fn wrong<T>(
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Result<T, (String, String)> {
    Err((message.into(), hint.into()))
}

/// Reads `arguments`.
pub fn read(arguments: &[String], entropy: u64) -> Line {
    let mut text = "diskspd".to_owned();
    let mut spans = Vec::new();
    for word in arguments {
        if text.len() + word.len() > LINE_MAX {
            break;
        }
        text.push(' ');
        spans.push(text.len()..text.len() + word.len());
        text.push_str(word);
    }
    let is_whole = spans.len() == arguments.len();
    let arguments = &arguments[..spans.len()];
    let mut line = Line {
        profile: Profile::default(),
        span: Span::default(),
        target: Target::default(),
        targets: Vec::new(),
        help: false,
        profile_only: false,
        system_only: false,
        names_format: false,
        file: None,
        apart_from_file: Vec::new(),
        seen_caching: (false, false),
        entropy,
        source: Source::new("command line", text),
        spans,
    };
    if !is_whole {
        let message = format!("the line is longer than {} MiB", LINE_MAX >> 20);
        line.error(0, message, "use fewer words");
    }
    // `b` counts blocks in every size, wherever `-b` stands.
    for (index, word) in arguments.iter().enumerate() {
        if let Some(value) = word.strip_prefix("-b").filter(|it| !it.starts_with('s')) {
            let taken = line.block(index, value);
            line.tell(index, taken);
        }
    }
    for (index, word) in arguments.iter().enumerate() {
        line.word(index, word);
    }
    line
}

/// `-R`: what is printed, and how.
pub fn format(line: &mut Line, value: &str) -> Taken {
    let rest = value.strip_prefix(['p', 's']).unwrap_or(value);
    line.profile_only |= value.starts_with('p');
    line.system_only |= value.starts_with('s');
    line.profile.format = match rest {
        "" if !value.is_empty() => return Ok(()),
        "text" => Format::Text,
        "xml" => Format::Xml,
        _ => {
            let message = format!("`-R{value}` is no format of results");
            return wrong(
                message,
                "write -Rtext or -Rxml; -Rp shows the profile alone",
            );
        }
    };
    line.names_format = true;
    Ok(())
}

impl Line {
    /// Bytes of the word `index`.
    pub fn place(&self, index: usize) -> Range<usize> {
        self.spans.get(index).cloned().unwrap_or(0..0)
    }

    /// Complains about the word `index`.
    pub fn error(&mut self, index: usize, message: impl Into<String>, hint: impl AsRef<str>) {
        let place = self.place(index);
        self.source.error(place, message, hint);
    }

    /// Says how the word `index` is read.
    pub fn warn(&mut self, index: usize, message: impl Into<String>, hint: &str) {
        let place = self.place(index);
        self.source.warn(place, message, hint);
    }

    /// Says why the word `index` does nothing.
    pub fn ignored(&mut self, index: usize, why: &str) {
        let message = format!("this option has no effect: {why}");
        self.warn(index, message, "leave it out");
    }

    fn tell(&mut self, index: usize, taken: Taken) {
        if let Err((message, hint)) = taken {
            let word = self.source.text().get(self.place(index));
            let word = word.unwrap_or_default();
            // A message may quote the value alone, or other options.
            let letter = word.chars().nth(1).unwrap_or_default();
            let is_named = message.contains(&format!("`-{letter}")) || word.len() > NAMED_MAX;
            let message = if is_named {
                message
            } else {
                format!("`{word}`: {message}")
            };
            self.error(index, message, hint);
        }
    }

    fn word(&mut self, index: usize, word: &str) {
        if word.starts_with(['–', '—', '−']) {
            let message = "this begins with a dash that no keyboard has, as web pages and word processors put it";
            self.error(index, message, "write `-` in its place");
            return;
        }
        let Some(option) = word.strip_prefix('-') else {
            if self.targets.len() == TARGETS_MAX {
                let message = format!("more than {TARGETS_MAX} targets");
                self.error(index, message, "name fewer");
            }
            if self.targets.len() <= TARGETS_MAX {
                self.targets.push((index, word.to_owned()));
            }
            return;
        };
        if !self.targets.is_empty() {
            let hint = format!("write `{word}` before the first target");
            self.error(index, "options come before the targets", hint);
        }
        let mut rest = option.chars();
        let Some(letter) = rest.next() else {
            self.error(index, "`-` alone is no option", "name one, such as `-b4K`");
            return;
        };
        if !":RvXzWdC".contains(letter) {
            self.apart_from_file.push(index);
        }
        let taken = options::read(self, index, letter, rest.as_str());
        self.tell(index, taken);
    }

    /// Remembers that the option `name` was given by the word `index`.
    pub fn given(&mut self, name: &'static str, index: usize) {
        let place = self.place(index);
        self.target.given.insert(name, place.clone());
        self.span.given.insert(name, place);
    }

    /// Bytes of a size.
    pub fn size(&self, text: &str) -> Result<u64, (String, String)> {
        if text.is_empty() {
            let message = "no size stands behind the option's letter";
            return wrong(message, "write it there without a blank, such as `-b64K`");
        }
        let hint = "write a whole number with K, M, G, T or b (blocks), such as `64K`";
        sizes::parse(text, self.target.block).map_err(|message| (message, hint.to_owned()))
    }

    /// The number that a value begins with. DISKSPD takes no notice of what follows; a person may have meant it.
    pub fn number(&mut self, index: usize, text: &str) -> Result<u64, (String, String)> {
        if text.is_empty() {
            let message = "no number stands behind the option's letter";
            return wrong(message, "write it there without a blank, such as `-t4`");
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let Some(value) = number.parse::<u32>().ok() else {
            let message = format!("`{text}` is no number below 2^32");
            let hint = match digits {
                0 => "write digits right behind the option's letter",
                _ => "give less",
            };
            return wrong(message, hint);
        };
        if !rest.is_empty() {
            let message = format!("`{text}` is read as {value}; `{rest}` means nothing here");
            self.warn(index, message, "write the number alone");
        }
        Ok(value.into())
    }

    fn block(&mut self, index: usize, value: &str) -> Taken {
        let block = self.size(value)?;
        if block == 0 || block >= u64::from(u32::MAX) {
            return wrong(
                format!("blocks of {block} bytes"),
                "give 1 byte to 4 GiB - 2",
            );
        }
        self.target.block = block;
        self.given("b", index);
        Ok(())
    }

    /// The profile of the line, without one in a file.
    pub fn into_profile(self) -> (Profile, Source) {
        let template = self.target;
        let targets = self.targets.iter().map(|(index, path)| Target {
            path: path.clone(),
            given: {
                let mut given = template.given.clone();
                let place = self.spans.get(*index).cloned().unwrap_or(0..0);
                given.insert("target", place);
                given
            },
            ..template.clone()
        });
        let targets = targets.collect();
        let mut profile = self.profile;
        profile.spans = vec![Span {
            targets,
            ..self.span
        }];
        (profile, self.source)
    }

    /// All that was complained about.
    pub fn into_complaints(self) -> Diagnostics {
        self.source.into_complaints()
    }
}
