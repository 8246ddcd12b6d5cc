//! A text's encoding, by its mark, its name or what is in it, and its bytes as UTF-8 while they are read.

use std::io::{self, Read};
use std::ops::Range;

use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE};
use fathom_diagnostics::Diagnostic;

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

/// How a text is to be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// UTF-8, as far as its lines are; in a code page otherwise.
    Lines,
    /// Every line in the console's encoding of Western Europe.
    Console,
    /// In an encoding that is certain, after a mark of so many bytes.
    Certain(&'static Encoding, usize),
}

/// How the text that begins with `head` is to be read: by its mark, or by the name given.
pub(super) fn reading(
    head: &[u8],
    name: &str,
    encoding: Option<&str>,
) -> Result<Reading, Box<Diagnostic>> {
    if let Some(label) = encoding {
        if label.eq_ignore_ascii_case(CP850) {
            return Ok(Reading::Console);
        }
        let known = Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            let message = format!("`{name}`: `{label}` is no encoding that is known");
            let hint = format!("known are {} and others of the web", CODE_PAGES.join(", "));
            Box::new(Diagnostic::error(message).hint(hint))
        })?;
        // A mark tells more than a name does.
        let (known, mark) = Encoding::for_bom(head).unwrap_or((known, 0));
        return Ok(Reading::Certain(known, mark));
    }
    if let Some((marked, length)) = Encoding::for_bom(head) {
        return Ok(Reading::Certain(marked, length));
    }
    // Of Latin text in UTF-16 every other byte is zero.
    let half = |parity: usize| head.iter().skip(parity).step_by(2).take(64);
    let zeros = |parity: usize| half(parity).filter(|byte| **byte == 0).count();
    if head.len() >= 8 {
        for (parity, wide) in [(1, UTF_16LE), (0, UTF_16BE)] {
            if zeros(parity) * 4 > half(parity).count() * 3 && zeros(1 - parity) == 0 {
                return Ok(Reading::Certain(wide, 0));
            }
        }
    }
    Ok(Reading::Lines)
}

/// The code page in which `score` knows most of `head`.
pub(super) fn code_page(
    head: &[u8],
    name: &str,
    score: impl Fn(&str) -> usize,
) -> Result<&'static str, Box<Diagnostic>> {
    let mut scores: Vec<(usize, &'static str)> = Vec::new();
    for label in CODE_PAGES {
        let found = decode_as(head, label).map_or(0, |text| score(&text));
        scores.push((found, label));
    }
    let best = scores.iter().map(|(score, _)| *score).max().unwrap_or(0);
    let likely: Vec<&'static str> = scores
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
    Ok(likely[0])
}

/// The text of `bytes` in the encoding of that name.
pub(super) fn decode_as(bytes: &[u8], label: &str) -> Option<String> {
    if label.eq_ignore_ascii_case(CP850) {
        return Some(console(bytes));
    }
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(encoding.decode(bytes).0.into_owned())
}

/// The text of `bytes` in the console's encoding of Western Europe.
pub(super) fn console(bytes: &[u8]) -> String {
    let high: Vec<char> = CP850_HIGH.chars().collect();
    let char_of = |byte: &u8| match byte {
        0..=127 => char::from(*byte),
        other => high[usize::from(other - 128)],
    };
    bytes.iter().map(char_of).collect()
}

/// Bytes that are decoded at once.
const PIECE: usize = 1 << 16;

/// Bytes of a known encoding, read as UTF-8.
pub(super) struct Utf8<R> {
    source: R,
    decoder: Decoder,
    raw: Vec<u8>,
    ready: Vec<u8>,
    /// What of `ready` is not handed over yet.
    left: Range<usize>,
    ended: bool,
}

impl<R: Read> Utf8<R> {
    /// Reads `source`, whose mark is behind it.
    pub fn new(source: R, encoding: &'static Encoding) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: vec![0; PIECE],
            // No byte becomes more than three.
            ready: vec![0; 4 * PIECE],
            left: 0..0,
            ended: false,
        }
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.left.is_empty() && !self.ended {
            let count = self.source.read(&mut self.raw)?;
            self.ended = count == 0;
            let from = &self.raw[..count];
            let decoded = self
                .decoder
                .decode_to_utf8(from, &mut self.ready, self.ended);
            self.left = 0..decoded.2;
        }
        let count = self.left.len().min(to.len());
        let from = self.left.start..self.left.start + count;
        to[..count].copy_from_slice(&self.ready[from]);
        self.left.start += count;
        Ok(count)
    }
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

    #[test]
    fn characters_that_lie_across_pieces_are_whole() {
        let text = "größe 時間 ".repeat(20_000);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut found = String::new();
        // Pieces of an odd length.
        let source = io::BufReader::with_capacity(101, wide.as_slice());
        Utf8::new(source, UTF_16LE)
            .read_to_string(&mut found)
            .unwrap();
        assert!(found == text);
    }
}
