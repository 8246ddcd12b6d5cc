//! A comparison as a person reads it.
//!
//! A line a figure, a column a record, the change beside each; where there are many groups, a line a group, and the whole with
//! `--full`.
//!
//! Invariant: no line is wider than the screen, unless one word of it is.

use std::fmt::Write as _;

use super::change::{Basis, Change};
use super::figure::{Figure, Point};
use super::{Comparison, Group, letter};
use crate::cells::{columns_of, padded};
use crate::format::{on_one_line, shortened};
use crate::lines::{Lines, Width};
use crate::summary::Summary;

/// Groups that are shown figure by figure where not all are asked for.
const MOST_GROUPS: usize = 4;
/// Columns of the figures' names, and of the baseline's figures.
const BASELINE: usize = 9 + 10;
/// Columns of a record beside them, with its changes.
const BESIDE: usize = 10 + 10;
/// Figures of a group that has one line.
const SHORT: [Figure; 2] = [Figure::Iops, Figure::Latency(Point::P99)];
/// Columns of the longest name of a group that has one line.
const NAME_MOST: usize = 20;
/// Sentences that are shown of a kind where not all are asked for.
const MOST_SENTENCES: usize = 8;

impl Comparison {
    /// The comparison as text, for a screen of a width.
    pub fn to_text(&self, how_much: Summary, width: Width) -> String {
        let mut text = Lines::new(width);
        for (index, side) in self.sides.iter().enumerate() {
            let base = if index == 0 { " (baseline)" } else { "" };
            let line = format!("{}  {}: {}{base}", letter(index), side.name, side.title);
            if text.is_narrow() {
                text.wrap("", &line, 3);
            } else {
                let _ = writeln!(text, "{}", shortened(&line, text.columns()));
            }
        }
        let is_short = how_much == Summary::Short && self.groups.len() > MOST_GROUPS;
        if is_short {
            self.write_short(&mut text);
        } else {
            for group in &self.groups {
                text.push_str("\n");
                self.write_group(&mut text, group);
            }
        }
        if self.groups.is_empty() {
            text.push_str(
                "
nothing of the one is in the other
",
            );
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
            let next = "`--full` shows every figure; `--csv` and `--json` give them to programs";
            text.line("next     ", next, 9);
        }
        text.finish()
    }

    /// All figures of a group, with as many records beside the baseline as fit.
    fn write_group(&self, text: &mut Lines, group: &Group) {
        let others: Vec<usize> = (1..self.sides.len()).collect();
        let most = (text.columns() - BASELINE) / BESIDE;
        for beside in others.chunks(most) {
            let mut header = format!("{:9}{:>10}", "", letter(0));
            for index in beside {
                let _ = write!(header, "{:>10}{:>9} ", letter(*index), "change");
            }
            let _ = writeln!(
                text,
                "{}\n{}",
                shortened(&self.name_of(group), text.columns()),
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

    fn write_errors(text: &mut Lines, group: &Group) {
        for (index, line) in group.lines.iter().enumerate() {
            let errors = line.as_ref().map_or(0, |line| line.errors);
            if errors > 0 {
                let errors = fathom_units::counted_ios(errors);
                let _ = writeln!(text, "  {}: {errors} failed", letter(index));
            }
        }
    }

    /// A line for each group and each record beside the baseline; on a narrow screen figures stand below their names.
    fn write_short(&self, text: &mut Lines) {
        let named = self.short_names(text.is_narrow());
        let names = named.iter().map(|(_, name, _)| columns_of(name));
        let width = names.max().unwrap_or(0).clamp(8, NAME_MOST);
        let several = self.sides.len() > 2;
        for index in 1..self.sides.len() {
            let (a, b) = (letter(0), letter(index));
            let titles = [("IOPS", &a), ("IOPS", &b), ("p99", &a), ("p99", &b)];
            let [iops, other_iops, p99, other_p99] =
                titles.map(|(figure, side)| format!("{figure} {side}"));
            let change = || "change ".to_owned();
            let rates = [iops, other_iops, change()];
            let latencies = [p99, other_p99, change()];
            let name = if several { b.as_str() } else { "" };
            text.push_str("\n");
            write_short_line(text, (name, width), &[rates, latencies]);
            for (heading, name, group) in &named {
                if let Some(stage) = heading {
                    let _ = writeln!(text, "{}", shortened(stage, text.columns()));
                }
                let figures = SHORT.map(|figure| {
                    let row = group.row(figure);
                    let written = |value: Option<f64>| {
                        value.map_or_else(|| "-".to_owned(), |value| figure.written(value))
                    };
                    let change = changed(row.changes[index - 1].as_ref());
                    [written(row.values[0]), written(row.values[index]), change]
                });
                write_short_line(text, (name, width), &figures);
            }
        }
    }

    /// Each group with its name, and with its stage where that stands above it: where names of a stage are too long with it,
    /// those of others would look the same once they are shortened. On a narrow screen each name has a line of its own.
    fn short_names(&self, is_narrow: bool) -> Vec<(Option<&str>, String, &Group)> {
        let mut named = Vec::new();
        for groups in self.groups.chunk_by(|a, b| a.stage == b.stage) {
            let is_long = |group: &Group| columns_of(&self.name_of(group)) > NAME_MOST;
            let is_only = groups.len() == self.groups.len();
            let is_below = !is_narrow && !is_only && groups.iter().any(is_long);
            named.extend(groups.iter().enumerate().map(|(at, group)| {
                let heading = (is_below && at == 0).then_some(group.stage.as_str());
                let name = if is_below {
                    format!("  {}", group.name_within())
                } else {
                    self.name_of(group)
                };
                (heading, name, group)
            }));
        }
        named
    }

    fn write_legend(&self, text: &mut Lines, is_short: bool) {
        text.push_str("\n");
        let shown = |figure: Figure| !is_short || SHORT.contains(&figure);
        for (mark, sentence) in legend(self, shown) {
            if mark.is_empty() {
                text.line("", &sentence, 9);
            } else {
                text.wrap(&format!("{mark:9}"), &sentence, 9);
            }
        }
    }
}

/// What the marks of changes mean, each with its mark, as far as figures that are `shown` have it.
pub(super) fn legend(
    comparison: &Comparison,
    shown: impl Fn(Figure) -> bool,
) -> Vec<(&'static str, String)> {
    let rows = comparison.groups.iter().flat_map(Group::rows);
    let rows = rows.filter(|row| shown(row.figure));
    let changes: Vec<Change> = rows.flat_map(|row| row.changes).flatten().collect();
    let is_marked = |change: &Change| change.more_than_noise == Some(true);
    let has = |basis: Basis| {
        let mut marked = changes.iter().filter(|change| is_marked(change));
        marked.any(|change| change.basis == basis)
    };
    let mut told = Vec::new();
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
        told.push(("*", format!("more than the noise (95 %): {how}")));
    } else {
        let none = match judged(comparison, &shown) {
            _ if comparison.has_changes() => {
                "none of these figures changed by more than the noise (95 %), others did"
            }
            Judged::All => "no figure changed by more than the noise (95 %)",
            Judged::Some => "no figure whose noise is known changed by more than it (95 %)",
            Judged::None => {
                "of no figure is the noise known, so that no change can be told from chance"
            }
        };
        told.push(("", none.to_owned()));
    }
    let unknown = |change: &Change| change.percent.is_some() && change.more_than_noise.is_none();
    if changes.iter().any(unknown) {
        let unknown = "noise not known: a largest value, or too little to judge by";
        told.push(("?", unknown.to_owned()));
    }
    told
}

/// Of how many figures that have an interval the noise is known.
enum Judged {
    All,
    Some,
    None,
}

/// Of the largest value no noise is ever known.
fn judged(comparison: &Comparison, shown: impl Fn(Figure) -> bool) -> Judged {
    let rows = comparison.groups.iter().flat_map(Group::rows);
    let rows = rows.filter(|row| shown(row.figure) && row.figure.has_interval());
    let changes = rows.flat_map(|row| row.changes).flatten();
    let changes: Vec<Change> = changes.filter(|it| it.percent.is_some()).collect();
    let known = changes.iter().filter(|it| it.more_than_noise.is_some());
    match known.count() {
        all if all == changes.len() => Judged::All,
        0 => Judged::None,
        _ => Judged::Some,
    }
}

/// A name in so many columns, and two figures of both records with their changes.
fn write_short_line(text: &mut Lines, (name, width): (&str, usize), figures: &[[String; 3]; 2]) {
    if text.is_narrow() {
        if !name.is_empty() {
            let _ = writeln!(text, "{}", shortened(name, text.columns()));
        }
        let [rates, latencies] = figures;
        return text.figures(&[rates, latencies], [10, 10]);
    }
    let [[iops, other_iops, change], [p99, other_p99, p99_change]] = figures;
    let name = padded(&shortened(name, width), width);
    let line = format!(
        "{name} {iops:>10} {other_iops:>10} {change:>9} {p99:>8} {other_p99:>8} {p99_change:>9}"
    );
    let _ = writeln!(text, "{}", line.trim_end());
}

/// A crossed threshold, told by `sentence`, as it stands below the comparison.
pub fn failure_line(sentence: &str, width: Width) -> String {
    let mut text = Lines::new(width);
    text.wrap("FAIL     ", sentence, 9);
    text.finish()
}

/// A change with its mark in the last column: `-50.1%*`.
pub(super) fn changed(change: Option<&Change>) -> String {
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
    text: &mut Lines,
    (head, what): (&str, &str),
    sentences: &[String],
    how_much: Summary,
) {
    let most = match how_much {
        Summary::Short => MOST_SENTENCES,
        Summary::Full => usize::MAX,
    };
    for sentence in sentences.iter().take(most) {
        text.wrap(head, &on_one_line(sentence), 9);
    }
    if sentences.len() > most {
        let more = sentences.len() - most;
        text.wrap(head, &format!("{more} more {what} (`--full`)"), 9);
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
