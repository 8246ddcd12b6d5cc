//! A text with its lines, and places in it for complaints; its encoding.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use fathom_diagnostics::{Diagnostic, Location};

/// A text that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// All of it.
    pub text: &'a str,
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

impl<'a> Text<'a> {
    /// Its lines in order.
    pub fn lines(self) -> impl Iterator<Item = Line<'a>> {
        let lines = self.text.split_inclusive('\n').enumerate();
        lines.map(move |(index, text)| Line {
            number: index + 1,
            text: text.trim_end_matches(['\n', '\r']),
            cut: !text.ends_with('\n'),
            name: self.name,
        })
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

/// Text of an input, and what had to be assumed to read it.
pub(super) struct Decoded {
    /// The text.
    pub text: String,
    /// The doubt, where the encoding is not certain.
    pub doubt: Option<String>,
}

/// Encodings that PerfMon's text is tried in where it is neither Unicode nor named: Windows' own of the languages whose
/// counters are known, and the console's of Western Europe.
const CODE_PAGES: &[&str] = &[
    "windows-1252",
    CP850,
    "shift_jis",
    "euc-kr",
    "gbk",
    "big5",
    "windows-1251",
    "windows-1250",
    "windows-1254",
    "ibm866",
];

/// The console's encoding in Western Europe.
const CP850: &str = "cp850";

/// Its upper half.
const CP850_HIGH: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// The text of `bytes`: by its mark, by the name given, as UTF-8, and otherwise in the code page that `score` likes best.
pub(super) fn decode(
    bytes: &[u8],
    name: &str,
    encoding: Option<&str>,
    score: impl Fn(&str) -> usize,
) -> Result<Decoded, Box<Diagnostic>> {
    let certain = |text: String| Decoded { text, doubt: None };
    if let Some(label) = encoding {
        let text = decode_as(bytes, label).ok_or_else(|| {
            let message = format!("`{name}`: `{label}` is no encoding that is known");
            let hint = format!("known are {} and others of the web", CODE_PAGES.join(", "));
            Box::new(Diagnostic::error(message).hint(hint))
        })?;
        return Ok(certain(text));
    }
    if let Some((marked, length)) = Encoding::for_bom(bytes) {
        let (text, _) = marked.decode_without_bom_handling(&bytes[length..]);
        return Ok(certain(text.into_owned()));
    }
    // Of Latin text in UTF-16 every other byte is zero.
    let half = |parity: usize| bytes.iter().skip(parity).step_by(2).take(64);
    let zeros = |parity: usize| half(parity).filter(|byte| **byte == 0).count();
    if bytes.len() >= 8 {
        for (parity, wide) in [(1, UTF_16LE), (0, UTF_16BE)] {
            if zeros(parity) * 4 > half(parity).count() * 3 && zeros(1 - parity) == 0 {
                let (text, _) = wide.decode_without_bom_handling(bytes);
                return Ok(certain(text.into_owned()));
            }
        }
    }
    if let Some(text) = UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
        return Ok(certain(text.into_owned()));
    }
    in_a_code_page(bytes, name, score)
}

fn in_a_code_page(
    bytes: &[u8],
    name: &str,
    score: impl Fn(&str) -> usize,
) -> Result<Decoded, Box<Diagnostic>> {
    // What tells code pages apart stands in the first line.
    let head = &bytes[..bytes.len().min(1 << 18)];
    let mut scores: Vec<(usize, &str)> = Vec::new();
    for label in CODE_PAGES {
        let found = decode_as(head, label).map_or(0, |text| score(&text));
        scores.push((found, label));
    }
    let best = scores.iter().map(|(score, _)| *score).max().unwrap_or(0);
    let likely: Vec<&str> = scores
        .iter()
        .filter(|(score, _)| *score == best)
        .map(|(_, label)| *label)
        .collect();
    // Encodings that differ in nothing that matters are as good as one.
    let texts: Vec<Option<String>> = likely.iter().map(|one| decode_as(head, one)).collect();
    let alike = texts.windows(2).all(|pair| pair[0] == pair[1]);
    if best == 0 || !(alike || likely.len() == 1) {
        let message =
            format!("`{name}`: its text is neither Unicode nor in a code page that its names tell");
        let hint = format!(
            "name its code page: `--encoding {}`; or write it anew as UTF-8",
            CODE_PAGES.join("|")
        );
        return Err(Box::new(Diagnostic::error(message).hint(hint)));
    }
    let label = likely[0];
    Ok(Decoded {
        text: decode_as(bytes, label).unwrap_or_default(),
        doubt: Some(format!(
            "its text is no Unicode: read as {label}, in which the names of its counters are known"
        )),
    })
}

fn decode_as(bytes: &[u8], label: &str) -> Option<String> {
    if label.eq_ignore_ascii_case(CP850) {
        let high: Vec<char> = CP850_HIGH.chars().collect();
        let char_of = |byte: &u8| match byte {
            0..=127 => char::from(*byte),
            other => high[usize::from(other - 128)],
        };
        return Some(bytes.iter().map(char_of).collect());
    }
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(encoding.decode(bytes).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_s_upper_half_is_whole() {
        assert_eq!(CP850_HIGH.chars().count(), 128);
        assert_eq!(
            decode_as(b"\x81bertragungen/s", CP850).unwrap(),
            "übertragungen/s"
        );
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let decoded = decode(bytes, "f", None, |text| usize::from(text.contains("größe")));
        assert_eq!(
            decoded.map_err(|error| error.to_string()).unwrap().text,
            expected
        );
    }

    #[test]
    fn marks_and_code_pages_are_told() {
        check("größe".as_bytes(), "größe");
        check(b"\xef\xbb\xbfgr\xc3\xb6\xc3\x9fe", "größe");
        let wide: Vec<u8> = "größe".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&[b"\xff\xfe".as_slice(), &wide].concat(), "größe");
        check(&wide, "größe");
        let wide: Vec<u8> = "größe".encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&[b"\xfe\xff".as_slice(), &wide].concat(), "größe");
        check(b"gr\xf6\xdfe", "größe");
        check(b"gr\x94\xe1e", "größe");
    }

    #[test]
    fn a_code_page_that_nothing_tells_is_asked_for() {
        let Err(error) = decode(b"\xf6\xdf", "f", None, |_| 0) else {
            panic!("guessed");
        };
        assert!(error.to_string().contains("--encoding"), "{error}");
    }
}
