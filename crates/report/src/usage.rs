//! Text that was laid out by hand for a plain terminal, such as the help of a peer's verb, for one that may be narrower.
//!
//! Invariant: lines that fit stand as they are.

use crate::lines::Width;

/// Fewest columns that what stands behind a name may have beside it.
const BESIDE_LEAST: usize = 24;
/// Columns that it is moved in by below it.
const BELOW: usize = 6;

/// `text` with each line that is too long broken at blanks: what stands behind two blanks or more goes on below itself, or
/// begins a line of its own where it would be too narrow.
pub fn folded(text: &str, width: Width) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.chars().count() <= width.get() {
            out.push_str(line);
            out.push('\n');
        } else {
            fold(&mut out, line, width.get());
        }
    }
    out
}

fn fold(out: &mut String, line: &str, width: usize) {
    let indent = line.len() - line.trim_start().len();
    let Some((name, says)) = line[indent..].split_once("  ") else {
        return broken(out, &line[..indent], line.trim(), (indent + 2, width));
    };
    let says = says.trim_start();
    let head = &line[..line.len() - says.len()];
    let column = head.chars().count();
    if column + BESIDE_LEAST <= width {
        broken(out, head, says, (column, width));
    } else {
        broken(out, &line[..indent], name, (indent + 2, width));
        let below = indent + BELOW;
        broken(out, &" ".repeat(below), says, (below, width));
    }
}

/// Adds `says` behind `head`; further lines begin at the column `below`.
fn broken(out: &mut String, head: &str, says: &str, (below, width): (usize, usize)) {
    out.push_str(head);
    let mut column = head.chars().count();
    for (index, word) in says.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(below));
            column = below;
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(columns: usize, text: &str, expected: &[&str]) {
        let folded = folded(text, Width::of_terminal(columns));
        assert_eq!(folded.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_too_long_goes_on_below_itself() {
        let row =
            "  --spec NAME  access specification of every worker; repeated: one after another";
        check(300, row, &[row]);
        let text = format!("{row} again\n\nshort");
        check(80, &text, &[row, "               again", "", "short"]);
        check(
            40,
            row,
            &[
                "  --spec NAME  access specification of",
                "               every worker; repeated:",
                "               one after another",
            ],
        );
    }

    #[test]
    fn long_names_stand_above_what_is_said_of_them() {
        check(
            40,
            "  -TestMode Get-SmallIO|Get-LargeIO   8 KiB reads: IOPS",
            &[
                "  -TestMode Get-SmallIO|Get-LargeIO",
                "        8 KiB reads: IOPS",
            ],
        );
        check(
            40,
            "Names may be as short as they are clear; each has a value",
            &[
                "Names may be as short as they are clear;",
                "  each has a value",
            ],
        );
    }
}
