//! The characters that text for people may have: those of the locale.
//!
//! Fathom's own signs, such as the `µ` of `250µs`, stand in Unicode. A terminal whose locale says another encoding shows
//! rubbish for them, so that they are put into ASCII where text for people passes: once, and in no format string. What other
//! programs read (JSON, CSV, workloads, scripts, peers' outputs, every file) is UTF-8 wherever it goes.
//!
//! A locale that says nothing, as in a container without `LANG`, is taken for UTF-8: nearly all terminals are, though POSIX
//! would call it `C`.
//!
//! Invariant: letters of names stay as they are, since a name in other letters is another name.

use std::borrow::Cow;
use std::sync::LazyLock;

/// What the locale can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Characters {
    /// Everything.
    Unicode,
    /// ASCII, and whatever names bring with them.
    Ascii,
}

/// What stands for a cut in a name where a line must not become longer.
const SHORT_CUT: &str = "~";

impl Characters {
    /// Those of this process's own locale.
    pub fn of_process() -> Self {
        static OWN: LazyLock<Characters> =
            LazyLock::new(|| Characters::of_locale(|name| std::env::var(name).ok()));
        *OWN
    }

    /// By the variables of a locale, of which `value_of` gives each: the first that is set and not empty decides.
    pub fn of_locale(value_of: impl Fn(&str) -> Option<String>) -> Self {
        let mut values = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().map(value_of);
        let locale = values.find_map(|value| value.filter(|value| !value.is_empty()));
        let says_utf8 = |locale: String| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        };
        if locale.is_none_or(says_utf8) {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    /// `text` in these characters.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        self.with(text, "...")
    }

    /// The same for part of a line that must not become longer.
    pub fn line(self, text: &str) -> Cow<'_, str> {
        self.with(text, SHORT_CUT)
    }

    fn with<'t>(self, text: &'t str, cut: &str) -> Cow<'t, str> {
        if self == Self::Unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut ascii = String::with_capacity(text.len());
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                'µ' | 'μ' => ascii.push('u'),
                '×' => ascii.push('x'),
                '±' => {
                    ascii.push_str("+-");
                    // Columns stay where they are: `100 ± 3` and `100 +-3` are as wide.
                    letters.next_if_eq(&' ');
                }
                '…' => ascii.push_str(cut),
                '–' | '—' | '−' | '░' => ascii.push('-'),
                '→' => ascii.push_str("->"),
                '≤' => ascii.push_str("<="),
                '≥' => ascii.push_str(">="),
                '\u{fffd}' => ascii.push('?'),
                // Charts and bars, a character for each.
                '▁' | '▂' => ascii.push('.'),
                '▃' | '▄' => ascii.push(':'),
                '▅' | '▆' => ascii.push('|'),
                '▇' | '█' => ascii.push('#'),
                other => ascii.push(other),
            }
        }
        Cow::Owned(ascii)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_locale(set: &[(&str, &str)], expected: Characters) {
        let value_of = |name: &str| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Characters::of_locale(value_of), expected, "{set:?}");
    }

    #[test]
    fn the_first_variable_that_says_something_decides() {
        use Characters::{Ascii, Unicode};
        check_locale(&[], Unicode);
        check_locale(&[("LANG", "")], Unicode);
        check_locale(&[("LANG", "C")], Ascii);
        check_locale(&[("LANG", "POSIX")], Ascii);
        check_locale(&[("LANG", "de_DE")], Ascii);
        check_locale(&[("LANG", "de_DE.ISO-8859-1")], Ascii);
        check_locale(&[("LANG", "en_US.UTF-8")], Unicode);
        check_locale(&[("LANG", "C.utf8")], Unicode);
        check_locale(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], Ascii);
        check_locale(&[("LC_ALL", ""), ("LANG", "C.UTF-8")], Unicode);
        check_locale(&[("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], Unicode);
        check_locale(&[("LC_MESSAGES", "C")], Unicode);
    }

    #[track_caller]
    fn check(text: &str, ascii: &str) {
        assert_eq!(Characters::Ascii.text(text), ascii);
        assert_eq!(Characters::Unicode.text(text), text);
    }

    #[test]
    fn our_signs_become_ascii_and_names_stay() {
        check("p50 250µs", "p50 250us");
        check("100 ± 3 %", "100 +-3 %");
        check("±95%", "+-95%");
        check("2 × 4KiB → 8KiB, p99 ≤ 1ms", "2 x 4KiB -> 8KiB, p99 <= 1ms");
        check("--here=LABEL,…", "--here=LABEL,...");
        check("`/mnt/Größe`", "`/mnt/Größe`");
    }

    #[test]
    fn a_line_that_is_drawn_over_keeps_its_width() {
        let line = "[1/5] r…s measure  p99 250µs";
        let ascii = Characters::Ascii.line(line);
        assert_eq!(ascii, "[1/5] r~s measure  p99 250us");
        assert_eq!(ascii.chars().count(), line.chars().count());
        let chart = "p99 1ms  ▁▂▃▄▅▆▇█  ██░░  50 %";
        assert_eq!(
            Characters::Ascii.line(chart),
            "p99 1ms  ..::||##  ##--  50 %"
        );
    }
}
