//! Patterns that are written and checked: bytes, with places where the offset of the block stands.
//!
//! A pattern is written as parts one after another: strings in double quotes, hexadecimal numbers of any length, decimal
//! numbers (as many bytes as needed, lowest first), names of files in single quotes whose bytes are taken, and `%o` for the
//! offset of the block in eight bytes, lowest first. `"abcd"-120xdeadface` is `abcd`, then -12 in four bytes, then `de ad
//! fa ce`. The grammar is fio's (HOWTO of 3.42, `buffer_pattern` and `verify_pattern`).
//!
//! ```
//! use fathom_workload::Pattern;
//! let files = |_: &str| unreachable!("no file is named");
//! let pattern = Pattern::parse("\"ab\"0xff%o", &files).unwrap();
//! let mut bytes = [0; 22];
//! pattern.fill(0x1234, &mut bytes);
//! assert_eq!(bytes[..6], [b'a', b'b', 0xff, 0x34, 0x12, 0]);
//! assert_eq!(bytes[11..14], bytes[..3]);
//! ```

use std::fmt;
use std::io;

/// Longest pattern.
const PATTERN_MAX: usize = 1 << 20;
/// Bytes of an offset within a pattern.
const OFFSET_BYTES: usize = 8;

/// Bytes to repeat over a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    offsets: Vec<FormatAt>,
}

/// Where within a pattern the offset of the block stands, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatAt(pub usize);

/// Why a text is no pattern.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// Nothing to write.
    #[error("the pattern is empty")]
    Empty,
    /// More than a buffer's worth.
    #[error("the pattern is longer than {max} bytes", max = PATTERN_MAX)]
    TooLong,
    /// A quote that does not end.
    #[error("`{0}` has no closing quote")]
    Unclosed(String),
    /// No part of a pattern.
    #[error("`{0}` is no part of a pattern")]
    Part(String),
    /// A decimal number past 32 bits.
    #[error("`{0}` is outside -2147483648 to 2147483647")]
    Range(String),
    /// A file that cannot be read.
    #[error("`{path}`: {source}")]
    File {
        /// The file.
        path: String,
        /// What kept it from being read.
        source: io::Error,
    },
}

impl PatternError {
    /// What would be right, where the message does not say it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Empty => Some("write a number, or a text in double quotes"),
            Self::TooLong => Some("use a shorter one"),
            Self::Unclosed(_) => Some("end it with a quote of that kind"),
            Self::Part(_) => Some("write a number, \"text\", 'file' or %o"),
            Self::Range(_) => Some("write longer numbers in hexadecimal"),
            Self::File { .. } => None,
        }
    }
}

impl Pattern {
    /// A pattern of these bytes, with offsets at the given places; `None` if it is empty, too long, or an offset leaves
    /// it or meets the one before.
    pub fn new(bytes: Vec<u8>, offsets: Vec<FormatAt>) -> Option<Self> {
        let good = !bytes.is_empty()
            && bytes.len() <= PATTERN_MAX
            && offsets.iter().all(|at| at.0 + OFFSET_BYTES <= bytes.len())
            && offsets
                .windows(2)
                .all(|pair| pair[0].0 + OFFSET_BYTES <= pair[1].0);
        good.then_some(Self { bytes, offsets })
    }

    /// Reads a pattern; `read_file` gives the bytes of a file that it names.
    ///
    /// # Errors
    /// The first part that cannot be read.
    pub fn parse(
        text: &str,
        read_file: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Self, PatternError> {
        let mut pattern = Self {
            bytes: Vec::new(),
            offsets: Vec::new(),
        };
        let mut rest = text;
        while !rest.is_empty() {
            rest = pattern.part(rest, read_file)?;
            if pattern.bytes.len() > PATTERN_MAX {
                return Err(PatternError::TooLong);
            }
        }
        if pattern.bytes.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(pattern)
    }

    /// Adds the first part of `text` and gives what follows it.
    fn part<'t>(
        &mut self,
        text: &'t str,
        read_file: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    ) -> Result<&'t str, PatternError> {
        let quoted = |quote: char| {
            let unclosed = || PatternError::Unclosed(text.to_owned());
            text[1..].split_once(quote).ok_or_else(unclosed)
        };
        if text.starts_with('"') {
            let (string, rest) = quoted('"')?;
            self.bytes.extend(string.as_bytes());
            return Ok(rest);
        }
        if text.starts_with('\'') {
            let (path, rest) = quoted('\'')?;
            let bytes = read_file(path).map_err(|source| PatternError::File {
                path: path.to_owned(),
                source,
            })?;
            self.bytes.extend(bytes);
            return Ok(rest);
        }
        if let Some(rest) = text.strip_prefix("%o") {
            self.offsets.push(FormatAt(self.bytes.len()));
            self.bytes.extend([0; OFFSET_BYTES]);
            return Ok(rest);
        }
        if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            return self.hexadecimal(text, digits);
        }
        self.decimal(text)
    }

    /// An odd first digit is a byte by itself.
    fn hexadecimal<'t>(&mut self, text: &str, digits: &'t str) -> Result<&'t str, PatternError> {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit());
        let mut end = end.unwrap_or(digits.len());
        // In `0xff0x12` the second 0 begins the next number.
        if end > 0 && digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0') {
            end -= 1;
        }
        let (mut digits, rest) = digits.split_at(end);
        if digits.is_empty() {
            return Err(PatternError::Part(text.to_owned()));
        }
        while !digits.is_empty() {
            let (byte, more) = digits.split_at(2 - digits.len() % 2);
            let byte = u8::from_str_radix(byte, 16);
            self.bytes
                .push(byte.map_err(|_| PatternError::Part(text.to_owned()))?);
            digits = more;
        }
        Ok(rest)
    }

    /// As many bytes as the number has, lowest first; a negative one has four. Blanks may stand before it, as before any number
    /// in C.
    fn decimal<'t>(&mut self, text: &'t str) -> Result<&'t str, PatternError> {
        let typed = text;
        let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
        let signs = usize::from(text.starts_with(['-', '+']));
        let digits = &text[signs..];
        let end = digits.find(|c: char| !c.is_ascii_digit());
        let mut end = signs + end.unwrap_or(digits.len());
        // In `-120xdead` the 0 begins a hexadecimal number.
        if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
            end -= 1;
        }
        let (number, rest) = text.split_at(end);
        if number.len() == signs {
            return Err(PatternError::Part(typed.to_owned()));
        }
        let value: i32 = number
            .parse()
            .map_err(|_| PatternError::Range(number.to_owned()))?;
        let bytes = value.to_le_bytes();
        let used = bytes.iter().rposition(|byte| *byte != 0);
        self.bytes.extend(&bytes[..=used.unwrap_or(0)]);
        Ok(rest)
    }

    /// Its bytes, zeroes where offsets stand.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Places of the offsets.
    pub fn offsets(&self) -> &[FormatAt] {
        &self.offsets
    }

    /// Whether it holds the offset of the block.
    pub fn has_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The same from the byte `start` of the pattern on.
    pub fn fill_from(&self, start: usize, offset: u64, buffer: &mut [u8]) {
        let start = start % self.bytes.len();
        let length = buffer.len().min(self.bytes.len() - start);
        let (first, rest) = buffer.split_at_mut(length);
        first.copy_from_slice(&self.bytes[start..start + length]);
        // An offset that the start cuts through is left as the pattern has it.
        for FormatAt(at) in self.offsets.iter().filter(|at| at.0 >= start) {
            let place = first.iter_mut().skip(at - start);
            for (byte, value) in place.zip(offset.to_le_bytes()) {
                *byte = value;
            }
        }
        self.fill(offset, rest);
    }

    /// Repeats the pattern over `buffer`, from its start, with `offset` where the pattern asks for that of the block.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let mut done = self.bytes.len().min(buffer.len());
        let (first, _) = buffer.split_at_mut(done);
        first.copy_from_slice(&self.bytes[..done]);
        for FormatAt(at) in &self.offsets {
            let place = first.iter_mut().skip(*at);
            for (byte, value) in place.zip(offset.to_le_bytes()) {
                *byte = value;
            }
        }
        // What is there is doubled, so that short patterns take no longer than long ones.
        while done < buffer.len() {
            let more = done.min(buffer.len() - done);
            buffer.copy_within(..more, done);
            done += more;
        }
    }
}

/// In hexadecimal, with `%o` where offsets stand; [`Pattern::parse`] gives the same pattern back.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 0;
        let numbers = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            if !bytes.is_empty() {
                f.write_str("0x")?;
            }
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        for FormatAt(at) in &self.offsets {
            numbers(f, &self.bytes[from..*at])?;
            f.write_str("%o")?;
            from = at + OFFSET_BYTES;
        }
        numbers(f, &self.bytes[from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Pattern, PatternError> {
        Pattern::parse(text, &|path| match path {
            "there" => Ok(vec![1, 2, 3]),
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    #[track_caller]
    fn check(text: &str, expected: &[u8]) {
        assert_eq!(parse(text).unwrap().bytes(), expected, "{text}");
    }

    #[test]
    fn parts_become_bytes() {
        check("\"abcd\"", b"abcd");
        check("-1024", &[0x00, 0xfc, 0xff, 0xff]);
        check("66", &[0x42]);
        check("0", &[0]);
        check(" 12", &[12]);
        check("0xff -1", &[0xff, 0xff, 0xff, 0xff, 0xff]);
        check("1000", &[0xe8, 0x03]);
        check("0xFF0X1", &[0xff, 0x01]);
        check("0xabc", &[0x0a, 0xbc]);
        check("\"123\"0xFFeeCC", &[0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]);
        check(
            "-100xab\"1\"%o\"2\"",
            &[
                0xf6, 0xff, 0xff, 0xff, 0xab, 0x31, 0, 0, 0, 0, 0, 0, 0, 0, 0x32,
            ],
        );
        check(
            "\"abcd\"-120xdeadface",
            &[
                0x61, 0x62, 0x63, 0x64, 0xf4, 0xff, 0xff, 0xff, 0xde, 0xad, 0xfa, 0xce,
            ],
        );
        check("'there'7", &[1, 2, 3, 7]);
        check("0xfefefefefefefefefefefe", &[0xfe; 11]);
    }

    #[test]
    fn its_text_gives_the_pattern_back() {
        for text in ["0x00", "0xab%o0x0100%o%o", "%o", "0x0a0b0c"] {
            let pattern = parse(text).unwrap();
            assert_eq!(pattern.to_string(), text);
        }
        assert_eq!(parse("\"ab\"7").unwrap().to_string(), "0x616207");
    }

    #[track_caller]
    fn refuse(text: &str, message: &str) {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        refuse("", "the pattern is empty");
        // Blanks may stand before decimal numbers alone, as in fio.
        for text in [" 0xff", " \"ab\"", " %o", " 'there'"] {
            refuse(text, &format!("`{text}` is no part of a pattern"));
        }
        refuse("0xff ", "` ` is no part of a pattern");
        refuse("12 ", "` ` is no part of a pattern");
        refuse("\"\"", "the pattern is empty");
        refuse("\"a", "`\"a` has no closing quote");
        refuse("abc", "`abc` is no part of a pattern");
        refuse("0x", "`0x` is no part of a pattern");
        refuse(
            "4294967296",
            "`4294967296` is outside -2147483648 to 2147483647",
        );
        refuse("'gone'", "`gone`: entity not found");
        assert!(Pattern::new(vec![1; 8], vec![FormatAt(1)]).is_none());
    }

    #[test]
    fn offsets_stand_in_each_repetition() {
        let pattern = parse("%o\"x\"").unwrap();
        assert!(pattern.has_offsets());
        let mut buffer = [0xee; 20];
        pattern.fill(0x0102, &mut buffer);
        let one = [2, 1, 0, 0, 0, 0, 0, 0, b'x'];
        assert_eq!(buffer[..9], one);
        assert_eq!(buffer[9..18], one);
        assert_eq!(buffer[18..], [2, 1]);
    }
}
