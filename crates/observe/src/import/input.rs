//! The bytes of an input, which are read as often as is needed and held only where they came through a pipe; a text of them
//! with its lines, and places in it for complaints.

use std::cell::OnceCell;
use std::fs;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, why_unread};
use fathom_session::unread_hint;

use super::encoding::{Reading, Utf8, code_page, console, decode_as, reading};
use super::perfmon;

/// Most bytes of inputs that can be read but once, and so are held.
pub const MOST_HELD: u64 = 128 << 20;
/// What of an input tells what it is.
const HEAD: u64 = 1 << 18;
/// Longest line: a row of PerfMon's with every counter of a machine has a hundredth of it.
const LONGEST_LINE: u64 = 32 << 20;

/// What stands for the standard input in a file's place.
pub(super) const STDIN: &str = "-";

/// An input.
#[derive(Debug)]
pub(super) struct File {
    /// What messages call it.
    pub name: String,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Held(Vec<u8>),
    /// So many at a path: what is written behind them meanwhile is not read.
    At(PathBuf, u64),
}

impl File {
    /// Bytes that are in memory.
    pub fn held(name: &str, bytes: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            bytes: Bytes::Held(bytes.to_vec()),
        }
    }

    /// The input at `path`; `held` is the bytes of all inputs that are held so far.
    pub fn open(path: &Path, held: &mut u64) -> Result<Self, Box<Diagnostic>> {
        let name = path.display().to_string();
        let tell = |error: io::Error| Box::new(unread(path, &error));
        if path == Path::new(STDIN) {
            return Self::hold(&name, io::stdin().lock(), held);
        }
        let file = fs::File::open(path).map_err(tell)?;
        let metadata = file.metadata().map_err(tell)?;
        if metadata.is_dir() {
            let message = format!("`{name}` is a folder");
            return Err(Box::new(
                Diagnostic::error(message).hint("name the files in it"),
            ));
        }
        // Files of the kernel say that they have no length.
        if metadata.is_file() && metadata.len() > 0 {
            let bytes = Bytes::At(path.to_owned(), metadata.len());
            return Ok(Self { name, bytes });
        }
        Self::hold(&name, file, held)
    }

    /// What can be read but once.
    fn hold(name: &str, from: impl Read, held: &mut u64) -> Result<Self, Box<Diagnostic>> {
        let mut bytes = Vec::new();
        let left = MOST_HELD - *held;
        from.take(left + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Box::new(unread(Path::new(name), &error)))?;
        if bytes.len() as u64 > left {
            let message = format!(
                "`{name}` is no file, and more than {} MiB come of it: they can be read but once",
                MOST_HELD >> 20
            );
            let hint = "write them into a file, and name that";
            return Err(Box::new(Diagnostic::error(message).hint(hint)));
        }
        *held += bytes.len() as u64;
        Ok(Self {
            name: name.to_owned(),
            bytes: Bytes::Held(bytes),
        })
    }

    /// The bytes from the first on.
    pub fn reader(&self) -> Result<Box<dyn Read + '_>, Diagnostics> {
        match &self.bytes {
            Bytes::Held(bytes) => Ok(Box::new(Cursor::new(bytes))),
            Bytes::At(path, length) => {
                let file = fs::File::open(path).map_err(|error| self.unread(&error))?;
                Ok(Box::new(file.take(*length)))
            }
        }
    }

    /// The first bytes, which tell what it is.
    pub fn head(&self) -> Result<Vec<u8>, Diagnostics> {
        let mut head = Vec::new();
        let read = self.reader()?.take(HEAD).read_to_end(&mut head);
        read.map_err(|error| self.unread(&error))?;
        Ok(head)
    }

    /// That it cannot be read on.
    pub fn unread(&self, error: &io::Error) -> Diagnostics {
        Diagnostics(vec![unread(Path::new(&self.name), error)])
    }
}

fn unread(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("`{}` cannot be read: {}", path.display(), why_unread(error));
    Diagnostic::error(message).hint(unread_hint(path, error.kind()))
}

/// A text that is read, once or more.
#[derive(Debug)]
pub(super) struct Text {
    /// What messages call it.
    pub name: String,
    file: File,
    reading: Reading,
    /// The code page of lines that are no UTF-8, where there were any.
    page: OnceCell<&'static str>,
}

impl Text {
    /// The text of a file, in the encoding of that name where one is given.
    pub fn new(file: File, encoding: Option<&str>) -> Result<Self, Diagnostics> {
        let reading = reading(&file.head()?, &file.name, encoding)
            .map_err(|error| Diagnostics(vec![*error]))?;
        Ok(Self {
            name: file.name.clone(),
            file,
            reading,
            page: OnceCell::new(),
        })
    }

    /// The text of `text`, for tests.
    #[cfg(test)]
    pub fn of(name: &str, text: &str) -> Self {
        Self::new(File::held(name, text.as_bytes()), None).unwrap()
    }

    /// What it begins with.
    pub fn head(&self) -> Result<String, Diagnostics> {
        let mut head = Vec::new();
        let read = self.reader()?.take(HEAD).read_to_end(&mut head);
        read.map_err(|error| self.unread(&error))?;
        if let (Reading::Lines, Err(error)) = (self.reading, std::str::from_utf8(&head)) {
            // Where the head ends within a character it is whole before it.
            if error.error_len().is_some() {
                return Ok(decode_as(&head, self.page()?).unwrap_or_default());
            }
            head.truncate(error.valid_up_to());
        }
        Ok(String::from_utf8_lossy(&head).into_owned())
    }

    /// Its bytes: in UTF-8 where its encoding is certain, and as they are otherwise.
    pub fn reader(&self) -> Result<Box<dyn Read + '_>, Diagnostics> {
        let mut bytes = self.file.reader()?;
        let Reading::Certain(encoding, mark) = self.reading else {
            return Ok(bytes);
        };
        let mut marked = vec![0; mark];
        let skipped = bytes.read_exact(&mut marked);
        skipped.map_err(|error| self.file.unread(&error))?;
        Ok(Box::new(Utf8::new(bytes, encoding)))
    }

    /// Its lines in order.
    pub fn lines(&self) -> Result<Lines<'_>, Diagnostics> {
        Ok(Lines {
            text: self,
            input: BufReader::with_capacity(1 << 18, self.reader()?),
            bytes: Vec::new(),
            decoded: String::new(),
            number: 0,
        })
    }

    /// That it cannot be read on.
    pub fn unread(&self, error: &io::Error) -> Diagnostics {
        self.file.unread(error)
    }

    /// The doubt about its encoding, once it was read.
    pub fn doubt(&self) -> Option<String> {
        let page = self.page.get()?;
        Some(format!(
            "its text is no Unicode: read as {page}, in which the names of its counters are known"
        ))
    }

    /// The code page of lines that are no UTF-8: what tells it stands in the first line.
    fn page(&self) -> Result<&'static str, Diagnostics> {
        if let Some(page) = self.page.get() {
            return Ok(page);
        }
        let page = code_page(&self.file.head()?, &self.name, perfmon::score);
        let page = page.map_err(|error| Diagnostics(vec![*error]))?;
        Ok(self.page.get_or_init(|| page))
    }
}

/// The lines of a text, one at a time.
pub(super) struct Lines<'a> {
    text: &'a Text,
    input: BufReader<Box<dyn Read + 'a>>,
    bytes: Vec<u8>,
    decoded: String,
    number: usize,
}

/// One line of it, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without its end.
    pub text: &'a str,
    /// Whether the file ends within it.
    pub cut: bool,
    name: &'a str,
}

impl Lines<'_> {
    /// The next line, which is there until the one after it is asked for.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, Diagnostics> {
        self.bytes.clear();
        let mut input = (&mut self.input).take(LONGEST_LINE);
        let read = input.read_until(b'\n', &mut self.bytes);
        let count = read.map_err(|error| self.text.unread(&error))?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if count as u64 == LONGEST_LINE {
            let message = format!(
                "`{}`: line {} is longer than {} MiB",
                self.text.name,
                self.number,
                LONGEST_LINE >> 20
            );
            let hint =
                "no log has such a line: its format is another, or its ends of lines were lost";
            return Err(Diagnostics(vec![Diagnostic::error(message).hint(hint)]));
        }
        let cut = !self.bytes.ends_with(b"\n");
        let whole = match (self.text.reading, std::str::from_utf8(&self.bytes)) {
            (Reading::Certain(..) | Reading::Lines, Ok(text)) => text,
            (Reading::Console, _) => {
                self.decoded = console(&self.bytes);
                &self.decoded
            }
            (_, Err(_)) => {
                let page = self.text.page()?;
                self.decoded = decode_as(&self.bytes, page).unwrap_or_default();
                &self.decoded
            }
        };
        Ok(Some(Line {
            number: self.number,
            text: whole.trim_end_matches(['\n', '\r']),
            cut,
            name: &self.text.name,
        }))
    }
}

impl Line<'_> {
    /// An error at `part`, which is a part of this line; at all of it otherwise.
    pub fn error(&self, part: &str, message: impl Into<String>) -> Diagnostic {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let span = match start.checked_add(part.len()) {
            Some(end) if end <= self.text.len() => start..end,
            _ => 0..self.text.len(),
        };
        Diagnostic::error(message).at(Location::in_line(self.name, self.number, self.text, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header that names a counter, so that a code page can be told.
    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let text = Text::new(File::held("f", bytes), None).unwrap();
        let mut lines = text.lines().unwrap();
        let found = lines.next().map(|line| line.map(|it| it.text.to_owned()));
        assert_eq!(found.unwrap().as_deref(), Some(expected));
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn marks_and_code_pages_are_told() {
        let german = "(PDH-CSV 4.0),\\\\W\\Physikalischer Datenträger(0 C:)\\Lesevorgänge/s";
        check(german.as_bytes(), german);
        check(&[b"\xef\xbb\xbf", german.as_bytes()].concat(), german);
        let wide: Vec<u8> = german.encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&[b"\xff\xfe".as_slice(), &wide].concat(), german);
        check(&wide, german);
        let wide: Vec<u8> = german.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&[b"\xfe\xff".as_slice(), &wide].concat(), german);
        for (page, letter) in [("windows-1252", 0xe4), ("cp850", 0x84)] {
            let narrow = german.chars().map(|one| match u8::try_from(one) {
                Ok(byte) if byte.is_ascii() => byte,
                _ => letter,
            });
            let text = Text::new(File::held("f", &narrow.collect::<Vec<_>>()), None).unwrap();
            let mut lines = text.lines().unwrap();
            assert_eq!(lines.next().unwrap().unwrap().text, german);
            assert!(text.doubt().unwrap().contains(page));
        }
    }

    #[test]
    fn a_code_page_that_nothing_tells_is_asked_for() {
        let text = Text::new(File::held("f", b"\xf6\xdf"), None).unwrap();
        let error = text.lines().unwrap().next().map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("--encoding"), "{error}");
    }
}
