//! Changes of inputs.
//!
//! Bytes are changed as well as what the formats are made of: words, numbers, quotes and lines. Now and then an input is
//! blown up to the largest that is read, since that is where work that grows faster than its input shows.

use crate::INPUT_MAX;
use crate::random::Random;

/// Numbers at the edges of what types hold, and texts that formats give a meaning.
#[rustfmt::skip]
const EDGES: &[&str] = &[
    "0", "1", "-1", "2", "7", "100", "101", "255", "256", "4095", "65535", "65536", "2147483647", "2147483648", "4294967295",
    "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "340282366920938463463374607431768211456", "1e308", "1e-308", "1e999", "nan", "inf", "-0", "0.1", ".5", "5.", "0x", "0xff",
    "1k", "4k", "1m", "1g", "1t", "8192p", "16EiB", "100%", "0%", "50.5%", "1KiB", "1ns", "1us", "1s", "1h", "100y", "1/s", "1e9/s",
    "", " ", "\t", "\n", "\r\n", "\0", "\"", "'", "\"\"", "[", "]", "[[", "]]", "{", "}", "(", ")", "<", ">", "=", ":", ",",
    ";", "#", "*", "\\", "/", "$", "${", "${A}", "%o", "..", "1..9", "1-9", "{1..9}", "{1..1000000}", "a{1..99}b{1..99}", "&amp;",
    "<![CDATA[", "<!--", "\u{feff}", "é", "\u{202e}", "–", "x=1", "true", "false", "null",
];

/// A changed copy of `input`; `other` is crossed with it, `words` are those of the whole corpus.
pub fn mutate(random: &mut Random, input: &[u8], other: &[u8], words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        change(random, &mut bytes, other, words);
    }
    if random.below(600) == 0 {
        blow_up(random, &mut bytes);
    }
    bytes.truncate(INPUT_MAX);
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], words: &[Vec<u8>]) {
    match random.below(12) {
        0 => {
            let at = random.below(bytes.len());
            let byte = random.next() as u8;
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        1 => drop(bytes.drain(random.range(bytes.len()))),
        2 => {
            let range = random.range(bytes.len());
            let copy = bytes[range.clone()].to_vec();
            insert(bytes, range.end, &copy);
        }
        3 | 4 => {
            let word = word(random, words);
            let at = random.below(bytes.len() + 1);
            insert(bytes, at, &word);
        }
        5 | 6 => {
            let word = word(random, words);
            if let Some(range) = token(random, bytes) {
                drop(bytes.splice(range, word));
            }
        }
        7 => {
            let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
            let line = random.pick(&lines).map(|line| line.to_vec());
            let at = line_start(random, bytes);
            insert(bytes, at, &line.unwrap_or_default());
        }
        8 => {
            let start = line_start(random, bytes);
            let length = bytes[start..].iter().position(|byte| *byte == b'\n');
            drop(bytes.drain(start..length.map_or(bytes.len(), |length| start + length + 1)));
        }
        9 => {
            let (head, tail) = (random.below(bytes.len() + 1), random.below(other.len() + 1));
            bytes.truncate(head);
            bytes.extend_from_slice(&other[tail..]);
        }
        10 => {
            let range = random.range(bytes.len());
            let copy = bytes[range.clone()].to_vec();
            for _ in 0..random.below(64) {
                insert(bytes, range.end, &copy);
            }
        }
        _ => {
            let (one, two) = (line_start(random, bytes), line_start(random, bytes));
            let copy = bytes[one..].to_vec();
            let line = copy.split_inclusive(|byte| *byte == b'\n').next();
            insert(bytes, two, line.unwrap_or_default());
        }
    }
}

/// Repeats a part until the input is as long as any that is read.
fn blow_up(random: &mut Random, bytes: &mut Vec<u8>) {
    let range = if random.below(2) == 0 {
        let start = line_start(random, bytes);
        let length = bytes[start..].iter().position(|byte| *byte == b'\n');
        start..length.map_or(bytes.len(), |length| start + length + 1)
    } else {
        random.range(bytes.len())
    };
    let copy = bytes[range.clone()].to_vec();
    if copy.is_empty() {
        return;
    }
    let times = INPUT_MAX.saturating_sub(bytes.len()) / copy.len();
    insert(bytes, range.end, &copy.repeat(times));
}

fn word(random: &mut Random, words: &[Vec<u8>]) -> Vec<u8> {
    let edge = random.pick(EDGES).map(|edge| edge.as_bytes().to_vec());
    if random.below(2) == 0 {
        return edge.unwrap_or_default();
    }
    random.pick(words).cloned().or(edge).unwrap_or_default()
}

fn insert(bytes: &mut Vec<u8>, at: usize, with: &[u8]) {
    drop(bytes.splice(at..at, with.iter().copied()));
}

/// A word or number somewhere in `bytes`.
fn token(random: &mut Random, bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let at = random.below(bytes.len());
    let is_word = |byte: &u8| is_word(*byte);
    let start = at + bytes.get(at..)?.iter().position(is_word)?;
    let length = bytes[start..].iter().position(|byte| !is_word(byte));
    Some(start..length.map_or(bytes.len(), |length| start + length))
}

/// Whether a byte belongs to a word or number.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'%')
}

fn line_start(random: &mut Random, bytes: &[u8]) -> usize {
    let at = random.below(bytes.len() + 1);
    let before = bytes[..at].iter().rposition(|byte| *byte == b'\n');
    before.map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_repeat_by_their_seed_and_keep_to_the_limit() {
        let words = vec![b"size".to_vec()];
        let run = |seed| {
            let mut random = Random(seed);
            let mut input = b"[a]\nrw=read\nbs=4k\n".to_vec();
            for _ in 0..2_000 {
                input = mutate(&mut random, &input, b"x=1\ny=2\n", &words);
                assert!(input.len() <= INPUT_MAX);
                input.truncate(2_000);
            }
            input
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
