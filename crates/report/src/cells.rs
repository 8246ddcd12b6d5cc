//! How many columns of a terminal text takes.
//!
//! Names come from anywhere: letters of East Asia take two columns and marks that stand above others none, which matters where
//! a line must not go beyond the screen.

/// Marks that take no column of their own: combining marks, joiners and selectors of variants.
const NONE: &[(u32, u32)] = &[
    (0x0300, 0x036f),
    (0x0483, 0x0489),
    (0x0591, 0x05bd),
    (0x0610, 0x061a),
    (0x064b, 0x065f),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x2064),
    (0x20d0, 0x20ff),
    (0xfe00, 0xfe0f),
    (0xfe20, 0xfe2f),
    (0xfeff, 0xfeff),
];

/// What takes two columns: the blocks that Unicode's UAX #11 has as wide or full-width, and pictures. A block may have
/// letters that take one; a line is too short then, never too long.
const TWO: &[(u32, u32)] = &[
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0x4dbf),
    (0x4e00, 0xa4cf),
    (0xa960, 0xa97f),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0xffe0, 0xffe6),
    (0x16fe0, 0x18dff),
    (0x1b000, 0x1b2ff),
    (0x1f200, 0x1f2ff),
    (0x1f300, 0x1faff),
    (0x20000, 0x3fffd),
];

fn width(letter: char) -> usize {
    let within = |blocks: &[(u32, u32)]| {
        let code = u32::from(letter);
        let mut blocks = blocks.iter();
        blocks.any(|(first, last)| (*first..=*last).contains(&code))
    };
    if letter.is_ascii() {
        return 1;
    }
    match (within(NONE), within(TWO)) {
        (true, _) => 0,
        (false, true) => 2,
        (false, false) => 1,
    }
}

/// Columns that `text`, a line without control characters, takes.
pub fn columns_of(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// As much of the beginning of `text` as `columns` hold.
pub(crate) fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, letter)| {
        taken += width(*letter);
        taken > columns
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// As much of the end of `text` as `columns` hold.
fn ending(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let mut letters = text.char_indices().rev();
    let before = letters.find(|(_, letter)| {
        taken += width(*letter);
        taken > columns
    });
    before.map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}

/// `text` on at most so many columns: what is too long loses its middle, since names often differ at their ends.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let head = beginning(text, kept / 2);
    format!("{head}…{}", ending(text, kept.div_ceil(2)))
}

/// `text` with blanks behind it up to so many columns; what is longer stays as it is.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(columns_of(text));
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, columns: usize) {
        assert_eq!(columns_of(text), columns, "{text}");
        for room in 1..columns + 2 {
            let fits = fitted(text, room);
            assert!(columns_of(&fits) <= room, "{fits:?} on {room}");
            assert_eq!(fits == text, columns <= room, "{fits:?} on {room}");
            let begins = beginning(text, room);
            assert!(columns_of(begins) <= room && text.starts_with(begins));
        }
    }

    #[test]
    fn letters_take_their_columns() {
        check("", 0);
        check("/mnt/data", 9);
        check("Größe ▁█µ", 9);
        check("データ", 6);
        check("e\u{301}te\u{301}", 3);
        check("a🦀b", 4);
        assert_eq!(fitted("a_rather_long_name", 8), "a_r…name");
        assert_eq!(fitted("データベース", 6), "デ…ス");
        assert_eq!(padded("データ", 8), "データ  ");
        assert_eq!(padded("データ", 4), "データ");
    }
}
