//! Text for a screen: how many columns it may have, and what is too long for one line.
//!
//! Invariants: text for a file or another program is that of a plain terminal, whatever screen there is, with its long lines
//! whole. On a screen a line is broken where the screen ends.

use std::fmt::{self, Write as _};

use crate::cells::columns_of;
use crate::format::{on_one_line, plain};

/// Columns that text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// Those that tables and paragraphs are made for.
    columns: usize,
    /// The most that a line may have which is not broken before.
    longest: usize,
}

impl Width {
    /// That of files and other programs: the 80 columns of a plain terminal, with long lines whole.
    pub const PLAIN: Self = Self {
        columns: Self::MOST,
        longest: usize::MAX,
    };
    /// The fewest columns that text is made for.
    const LEAST: usize = 40;
    /// The most columns that text is made for.
    const MOST: usize = 80;

    /// For a terminal of so many columns; wider ones get what a plain one gets, but for lines that are longer.
    pub fn of_terminal(columns: usize) -> Self {
        Self {
            columns: columns.clamp(Self::LEAST, Self::MOST),
            longest: columns.max(Self::LEAST),
        }
    }

    /// Those that tables and paragraphs are made for, as a number.
    pub(crate) const fn get(self) -> usize {
        self.columns
    }
}

/// Text that grows line by line, for a screen of its width.
#[derive(Debug)]
pub struct Lines {
    text: String,
    width: Width,
}

impl Lines {
    /// No text yet.
    pub fn new(width: Width) -> Self {
        let text = String::new();
        Self { text, width }
    }

    /// Columns it may have.
    pub fn columns(&self) -> usize {
        self.width.get()
    }

    /// Whether the screen is narrower than a plain terminal.
    pub fn is_narrow(&self) -> bool {
        self.columns() < Width::MOST
    }

    /// The most columns that a line may have which is not broken: those of the screen; files and other programs get any.
    pub fn longest(&self) -> usize {
        self.width.longest
    }

    /// Adds `text` as it is.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds `body` after `head`, broken at blanks; further lines are indented by `indent`.
    pub fn wrap(&mut self, head: &str, body: &str, indent: usize) {
        self.wrap_to(self.columns(), head, body, indent);
    }

    /// Adds a line that is broken, as by [`Self::wrap`], where a screen ends: files and other programs get it whole.
    pub fn line(&mut self, head: &str, body: &str, indent: usize) {
        self.wrap_to(self.width.longest, head, body, indent);
    }

    fn wrap_to(&mut self, most: usize, head: &str, body: &str, indent: usize) {
        // A name in it must begin no line of its own.
        let (head, body) = (on_one_line(head), on_one_line(body));
        let mut column = columns_of(&head);
        self.text.push_str(&head);
        for (index, word) in words(&body).enumerate() {
            let width = columns_of(word);
            if index > 0 && column + 1 + width > most {
                self.text.push('\n');
                self.text.push_str(&" ".repeat(indent));
                column = indent;
            } else if index > 0 {
                self.text.push(' ');
                column += 1;
            }
            self.text.push_str(word);
            column += width;
        }
        self.text.push('\n');
    }

    /// Adds figures of `cells` columns each, at the right of these: all on one line where that fits, else each group on a
    /// line of its own, so that a group's figures stand below those of the groups above it.
    pub(crate) fn figures(&mut self, groups: &[&[String]], [first, cell]: [usize; 2]) {
        const INDENT: usize = 2;
        let wide = |count: usize| INDENT + first + count.saturating_sub(1) * (cell + 1);
        let count = groups.iter().map(|group| group.len()).sum();
        let whole = groups.concat();
        let groups = if wide(count) <= self.columns() {
            &[whole.as_slice()][..]
        } else {
            groups
        };
        for group in groups {
            let mut line = " ".repeat(INDENT);
            for (index, figure) in group.iter().enumerate() {
                let _ = match index {
                    0 => write!(line, "{figure:>first$}"),
                    _ => write!(line, " {figure:>cell$}"),
                };
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// All of it; nothing in it steers a terminal.
    pub fn finish(self) -> String {
        self.text
            .replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
    }
}

/// Words that a line for somebody at a terminal begins with, behind blanks.
const NOTICES: [&str; 5] = ["error: ", "warning: ", "hint: ", "note: ", "lost: "];

/// Messages and their hints, broken where the screen ends; lines of other kinds, such as those of a file that is quoted, stand
/// as they are. Without `columns`, which only a terminal has, all do. Nothing in it steers a terminal.
pub fn notices(text: &str, columns: Option<usize>) -> String {
    let width = columns.map_or(Width::PLAIN, Width::of_terminal);
    let mut lines = Lines::new(width);
    for line in plain(text).split('\n') {
        let words = line.trim_start_matches(' ');
        let word = NOTICES.into_iter().find(|word| words.starts_with(word));
        // How wide a tab is, the terminal knows.
        let is_long = columns_of(line) > width.longest && !line.contains('\t');
        if let Some(word) = word.filter(|_| is_long) {
            let (head, body) = line.split_at(line.len() - words.len() + word.len());
            lines.line(head, body, head.len());
        } else {
            lines.push_str(line);
            lines.push_str("\n");
        }
    }
    lines.text.pop();
    lines.text
}

/// Where a line may be broken: at blanks, but not between a number and its unit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    const UNITS: [&str; 16] = [
        "%", "B", "KiB", "MiB", "GiB", "TiB", "MB/s", "KiB/s", "MiB/s", "GiB/s", "IOPS", "ns",
        "µs", "ms", "s", "min",
    ];
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut end = text.find(' ').unwrap_or(text.len());
        let is_number = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
        if is_number(&text[..end]) && end < text.len() {
            let next = &text[end + 1..];
            let unit = &next[..next.find(' ').unwrap_or(next.len())];
            if UNITS.contains(&unit.trim_end_matches([',', '.', ';', ':', ')'])) {
                end += 1 + unit.len();
            }
        }
        rest = text.get(end + 1..);
        Some(&text[..end])
    })
}

impl fmt::Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_has_forty_to_eighty_columns() {
        let columns = [0, 40, 61, 80, 300].map(|columns| Width::of_terminal(columns).get());
        assert_eq!(columns, [40, 40, 61, 80, 80]);
    }

    #[test]
    fn long_lines_are_broken_at_blanks() {
        let mut lines = Lines::new(Width::PLAIN);
        lines.wrap("note     ", "twelve chars ".repeat(8).trim_end(), 9);
        let text = lines.finish();
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= 80));
        assert!(text.lines().nth(1).unwrap().starts_with("         "));
    }

    #[test]
    fn a_number_keeps_its_unit() {
        for (text, expected) in [
            ("a 5 % b", vec!["a", "5 %", "b"]),
            ("1.5 GiB, 3 of 4", vec!["1.5 GiB,", "3", "of", "4"]),
            ("for  2 s", vec!["for", "", "2 s"]),
            ("", vec![""]),
            ("x 7 ", vec!["x", "7", ""]),
        ] {
            assert_eq!(words(text).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn some_lines_are_broken_on_screens_alone() {
        let long = "twelve chars ".repeat(8);
        let screens = [(103, 1), (102, 2), (80, 2), (40, 3)];
        let screens = screens.map(|(columns, count)| (Width::of_terminal(columns), count));
        for (width, count) in screens.into_iter().chain([(Width::PLAIN, 1)]) {
            let mut lines = Lines::new(width);
            lines.line("", long.trim_end(), 2);
            assert_eq!(lines.finish().lines().count(), count, "{width:?}");
        }
    }

    #[test]
    fn messages_and_hints_are_broken_and_quotes_are_not() {
        let quote = "8 | target = { path = \"/mnt/data/fathom.dat\", size = \"16GiB\" }";
        let text = format!(
            "error: there is no directory `/mnt/data` on this machine\n{quote}\n  hint: make the directory first, or name another; \
             nothing is made"
        );
        let expected = format!(
            "error: there is no directory `/mnt/data`\n       on this machine\n{quote}\n  hint: make the directory first, or\n        \
             name another; nothing is made"
        );
        assert_eq!(notices(&text, Some(40)), expected);
        assert_eq!(notices(&text, Some(200)), text);
        assert_eq!(notices(&text, None), text);
    }

    #[test]
    fn figures_stand_beside_or_below_each_other() {
        let groups = [&["1".to_owned(), "2".to_owned()][..], &["3".to_owned()]];
        let shown = |width| {
            let mut lines = Lines::new(Width::of_terminal(width));
            lines.figures(&groups, [20, 10]);
            lines.finish()
        };
        let wide = format!("  {:>20} {:>10} {:>10}\n", 1, 2, 3);
        let narrow = format!("  {:>20} {:>10}\n  {:>20}\n", 1, 2, 3);
        assert_eq!([shown(44), shown(43)], [wide, narrow]);
    }
}
