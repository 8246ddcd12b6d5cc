//! A comparison as a person reads it.
//!
//! A line a figure, a column a record, the change beside each; where there are many groups, a line a group, and the whole with
//! `--full`.
//!
//! Invariant: no line is wider than [`WIDTH`], unless one word of it is.

use std::fmt::Write as _;

use super::change::{Basis, Change};
use super::figure::{Figure, Point};
use super::{Comparison, Group, letter};
use crate::format::{WIDTH, on_one_line, shortened};
use crate::summary::{Summary, write_wrapped};

/// Groups that are shown figure by figure where not all are asked for.
const MOST_GROUPS: usize = 4;
/// Records whose columns fit beside the baseline's.
const MOST_BESIDE: usize = 3;
/// Figures of a group that has one line.
const SHORT: [Figure; 2] = [Figure::Iops, Figure::Latency(Point::P99)];
/// Sentences that are shown of a kind where not all are asked for.
const MOST_SENTENCES: usize = 8;

impl Comparison {
    /// The comparison as text.
    pub fn to_text(&self, how_much: Summary) -> String {
        let mut text = String::new();
        for (index, side) in self.sides.iter().enumerate() {
            let base = if index == 0 { " (baseline)" } else { "" };
            let line = format!("{}  {}: {}{base}", letter(index), side.name, side.title);
            let _ = writeln!(text, "{}", shortened(&line, WIDTH));
        }
        let is_short = how_much == Summary::Short && self.groups.len() > MOST_GROUPS;
        if is_short {
            self.write_short(&mut text);
        } else {
            for group in &self.groups {
                text.push('\n');
                self.write_group(&mut text, group);
            }
        }
        if self.groups.is_empty() {
            text.push_str("\nnothing of the one is in the other\n");
        } else {
            self.write_legend(&mut text, is_short);
        }
        write_sentences(
            &mut text,
            ("partner  ", "partners"),
            &self.partners,
            how_much,
        );
        write_sentences(&mut text, ("doubt    ", "doubts"), &self.doubts, how_much);
        if is_short {
            text.push_str("next     `--full` shows every figure; `--csv` and `--json` give them to programs\n");
        }
        text
    }

    /// All figures of a group, with as many records beside the baseline as fit.
    fn write_group(&self, text: &mut String, group: &Group) {
        let others: Vec<usize> = (1..self.sides.len()).collect();
        for beside in others.chunks(MOST_BESIDE) {
            let mut header = format!("{:9}{:>10}", "", letter(0));
            for index in beside {
                let _ = write!(header, "{:>10}{:>9} ", letter(*index), "change");
            }
            let _ = writeln!(
                text,
                "{}\n{}",
                shortened(&self.name_of(group), WIDTH),
                header.trim_end()
            );
            let mut is_response = false;
            for row in group.rows() {
                if !is_response && matches!(row.figure, Figure::Response(_)) {
                    is_response = true;
                    text.push_str("  response time from intended start\n");
                }
                let written = |value: Option<f64>| {
                    value.map_or_else(|| "-".to_owned(), |value| row.figure.written(value))
                };
                let mut line = format!("  {:7}{:>10}", row.figure.label(), written(row.values[0]));
                for index in beside {
                    let change = changed(row.changes[index - 1].as_ref());
                    let _ = write!(line, "{:>10}{change:>10}", written(row.values[*index]));
                }
                let _ = writeln!(text, "{}", line.trim_end());
            }
            Self::write_errors(text, group);
        }
    }

    fn write_errors(text: &mut String, group: &Group) {
        for (index, line) in group.lines.iter().enumerate() {
            let errors = line.as_ref().map_or(0, |line| line.errors);
            if errors > 0 {
                let errors = fathom_units::group_digits(errors);
                let _ = writeln!(text, "  {}: {errors} failed", letter(index));
            }
        }
    }

    /// A line for each group and each record beside the baseline.
    fn write_short(&self, text: &mut String) {
        let names = self
            .groups
            .iter()
            .map(|group| self.name_of(group).chars().count());
        let width = names.max().unwrap_or(0).clamp(8, 20);
        let several = self.sides.len() > 2;
        for index in 1..self.sides.len() {
            let (a, b) = (letter(0), letter(index));
            let _ = writeln!(
                text,
                "\n{:width$} {:>10} {:>10} {:>8}  {:>8} {:>8} {:>8}",
                if several { b.as_str() } else { "" },
                format!("IOPS {a}"),
                format!("IOPS {b}"),
                "change",
                format!("p99 {a}"),
                format!("p99 {b}"),
                "change"
            );
            for group in &self.groups {
                let cells = SHORT.map(|figure| {
                    let row = group.row(figure);
                    let written = |value: Option<f64>| {
                        value.map_or_else(|| "-".to_owned(), |value| figure.written(value))
                    };
                    let change = changed(row.changes[index - 1].as_ref());
                    (written(row.values[0]), written(row.values[index]), change)
                });
                let [(iops, other_iops, change), (p99, other_p99, p99_change)] = &cells;
                let line = format!(
                    "{:width$} {iops:>10} {other_iops:>10} {change:>9} {p99:>8} {other_p99:>8} {p99_change:>9}",
                    shortened(&self.name_of(group), width)
                );
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }

    fn write_legend(&self, text: &mut String, is_short: bool) {
        let shown = |figure: Figure| !is_short || SHORT.contains(&figure);
        let rows = self.groups.iter().flat_map(Group::rows);
        let rows = rows.filter(|row| shown(row.figure));
        let changes: Vec<Change> = rows.flat_map(|row| row.changes).flatten().collect();
        let is_marked = |change: &Change| change.more_than_noise == Some(true);
        let has = |basis: Basis| {
            let mut marked = changes.iter().filter(|change| is_marked(change));
            marked.any(|change| change.basis == basis)
        };
        text.push('\n');
        if changes.iter().any(is_marked) {
            let mut how = Vec::new();
            if has(Basis::Repeats) {
                how.push("rates by their repeats");
            }
            if has(Basis::Seconds) {
                how.push("rates by seconds of a single run, which understate it");
            }
            if has(Basis::Ranks) {
                how.push("percentiles by their ranks");
            }
            let how = how.join("; ");
            write_wrapped(
                text,
                "*        ",
                &format!("more than the noise (95 %): {how}"),
                9,
            );
        } else if self.has_changes() {
            text.push_str(
                "none of these figures changed by more than the noise (95 %), others did\n",
            );
        } else {
            text.push_str("no figure changed by more than the noise (95 %)\n");
        }
        let unknown =
            |change: &Change| change.percent.is_some() && change.more_than_noise.is_none();
        if changes.iter().any(unknown) {
            write_wrapped(
                text,
                "?        ",
                "noise not known: a largest value, or too little to judge by",
                9,
            );
        }
    }
}

/// A crossed threshold, told by `sentence`, as it stands below the comparison.
pub fn failure_line(sentence: &str) -> String {
    let mut text = String::new();
    write_wrapped(&mut text, "FAIL     ", sentence, 9);
    text
}

/// A change with its mark in the last column: `-50.1%*`.
fn changed(change: Option<&Change>) -> String {
    let Some(change) = change else {
        return "- ".to_owned();
    };
    let percent = change.percent.map_or_else(|| "-".to_owned(), in_percent);
    let mark = match change.more_than_noise {
        Some(true) => '*',
        None if change.percent.is_some() => '?',
        Some(false) | None => ' ',
    };
    format!("{percent}{mark}")
}

/// `+0.1%`, `-50.1%`, and from ten times on `×12`.
fn in_percent(percent: f64) -> String {
    match percent {
        // What rounds to nothing has no sign.
        -0.05..0.05 => "0.0%".to_owned(),
        999.95.. => format!("×{:.0}", percent / 100.0 + 1.0),
        _ => format!("{percent:+.1}%"),
    }
}

fn write_sentences(
    text: &mut String,
    (head, what): (&str, &str),
    sentences: &[String],
    how_much: Summary,
) {
    let most = match how_much {
        Summary::Short => MOST_SENTENCES,
        Summary::Full => usize::MAX,
    };
    for sentence in sentences.iter().take(most) {
        write_wrapped(text, head, &on_one_line(sentence), 9);
    }
    if sentences.len() > most {
        let more = sentences.len() - most;
        write_wrapped(text, head, &format!("{more} more {what} (`--full`)"), 9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_short() {
        for (percent, expected) in [
            (0.0, "0.0%"),
            (-0.04, "0.0%"),
            (-0.06, "-0.1%"),
            (12.34, "+12.3%"),
            (-100.0, "-100.0%"),
            (999.9, "+999.9%"),
            (1_900.0, "×20"),
        ] {
            assert_eq!(in_percent(percent), expected);
        }
    }
}
