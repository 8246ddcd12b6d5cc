//! Rows and headers of runs on file systems: 13 numbers, and two for each operation that the file does.
//!
//! Numbers have a width, and lose decimals rather than be wider, as in 5.04.07: `99.2`, `1240`, `24279`. What does not fit
//! even so is shown in full; readers of these rows separate them by blanks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_workload::SetOperation;

use super::tally::{Kind, SetFigures, Tally};

/// Operations in the order of their columns. A format does the first six, whatever else a file does.
const ORDER: [SetOperation; 11] = [
    SetOperation::MakeDirectory,
    SetOperation::RemoveDirectory,
    SetOperation::Create,
    SetOperation::Open,
    SetOperation::Close,
    SetOperation::Delete,
    SetOperation::GetAttributes,
    SetOperation::SetAttributes,
    SetOperation::Access,
    SetOperation::Copy,
    SetOperation::Move,
];
const OF_FORMATS: usize = 6;
/// Width of a column's title over a rate and a response time.
const TITLE: usize = 12;
/// Width of the names in tables of `skew.html`.
const NAME: usize = 13;

/// The operations that have columns: those that formats do, where there are any, and those that are asked for. Files are
/// always opened and closed.
pub(super) fn columns(formats: bool, is_asked: impl Fn(SetOperation) -> bool) -> Vec<SetOperation> {
    let columns = ORDER.into_iter().enumerate();
    let columns = columns.filter(|(place, operation)| {
        matches!(operation, SetOperation::Open | SetOperation::Close)
            || (formats && *place < OF_FORMATS)
            || is_asked(*operation)
    });
    columns.map(|(_, operation)| operation).collect()
}

/// The two lines of a header behind what stands before their numbers.
fn titles(operations: &[SetOperation], has_processors: bool) -> (String, String) {
    let mut first = String::from(" .ReqstdOps...");
    let mut second = String::from("   rate   resp");
    if has_processors {
        first += " ...cpu%...";
        second += " total  sys";
    }
    first += "  read ....read..... ....write.... ..mb/sec... mb/sec .xfer..";
    second += "   pct   rate   resp   rate   resp  read write  total    size";
    for operation in operations {
        let name = operation.name();
        let dots = TITLE.saturating_sub(name.len());
        let (before, after) = (".".repeat(dots / 2), ".".repeat(dots - dots / 2));
        let _ = write!(first, " {before}{name}{after}");
        second += "  rate   resp";
    }
    (first, second)
}

/// The two lines of a header, of which the first begins with the `day`; a blank line before them.
pub(super) fn header(day: &str, has_processors: bool, operations: &[SetOperation]) -> String {
    let (first, second) = titles(operations, has_processors);
    let indent = " ".repeat(day.chars().count() + 13);
    format!("\n{day} ..Interval..{first}\n{indent}{second}\n")
}

/// A number of at most this width, with as many of its decimals as fit; a blank before it.
fn cell(value: f64, width: usize, decimals: usize) -> String {
    let mut text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    text.truncate(width.max(whole));
    format!(" {:>width$}", text.trim_end_matches('.'))
}

/// A rate and a response time in ms.
fn pair(rate: f64, width: usize, response: f64) -> String {
    cell(rate, width, 1) + &cell(response, 6, 3)
}

/// The numbers of a row, each with a blank before it.
fn numbers(figures: &SetFigures, operations: &[SetOperation], with_processors: bool) -> String {
    let rate = |kind: Kind| figures.rate(kind);
    let mut text = pair(rate(figures.requested), 6, figures.requested.mean);
    if let Some([user, system, ..]) = figures.processors.filter(|_| with_processors) {
        text += &(cell(user + system, 5, 1) + &cell(system, 4, 2));
    }
    let [read, write] = [figures.read, figures.write];
    let ios = read.ios + write.ios;
    text += &cell(read.ios as f64 * 100.0 / ios.max(1) as f64, 5, 1);
    text += &pair(rate(read), 6, read.mean);
    text += &pair(rate(write), 6, write.mean);
    let megabytes = [read, write].map(|kind| figures.megabytes(kind));
    text += &(cell(megabytes[0], 5, 2) + &cell(megabytes[1], 5, 2));
    text += &cell(megabytes[0] + megabytes[1], 6, 2);
    let size = (read.bytes + write.bytes).checked_div(ios).unwrap_or(0);
    let _ = write!(text, " {size:>7}");
    for operation in operations {
        let kind = figures.of(*operation);
        text += &pair(rate(kind), 5, kind.mean);
    }
    text
}

/// One row, without its end of line.
pub(super) fn row(of_day: &str, label: &str, tally: &Tally, shown: Shown<'_>) -> String {
    let figures = tally.set_figures(shown.decimal_megabytes);
    let numbers = numbers(&figures, shown.operations, true);
    format!("{of_day}{label:>13}{numbers}")
}

/// How rows are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'s> {
    /// Operations with columns, in their order.
    pub(super) operations: &'s [SetOperation],
    pub(super) decimal_megabytes: bool,
}

/// The rates of operations in the intervals of an average.
#[derive(Debug, Clone, Default)]
pub(super) struct Spread {
    intervals: u64,
    columns: BTreeMap<Column, Sums>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Requested,
    Read,
    Write,
    Of(SetOperation),
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    sum: f64,
    squares: f64,
    max: f64,
}

impl Spread {
    /// Adds an interval.
    pub(super) fn add(&mut self, interval: &Tally) {
        let figures = interval.set_figures(false);
        self.intervals += 1;
        let fixed = [
            (Column::Requested, figures.requested),
            (Column::Read, figures.read),
            (Column::Write, figures.write),
        ];
        let of_set = figures.operations.iter();
        let of_set = of_set.map(|(operation, kind)| (Column::Of(*operation), *kind));
        for (column, kind) in fixed.into_iter().chain(of_set) {
            let rate = figures.rate(kind);
            let sums = self.columns.entry(column).or_default();
            sums.sum += rate;
            sums.squares += rate * rate;
            sums.max = sums.max.max(rate);
        }
    }

    /// Standard deviation (of a sample) and maximum of the rates of an operation. Intervals without it count as 0.
    pub(super) fn of(&self, column: Column) -> (f64, f64) {
        let sums = self.columns.get(&column).copied().unwrap_or_default();
        if self.intervals < 2 {
            return (0.0, sums.max);
        }
        let count = self.intervals as f64;
        let variance = (sums.squares - sums.sum * sums.sum / count) / (count - 1.0);
        (variance.max(0.0).sqrt(), sums.max)
    }
}

/// Whether all requests were reads, or writes, or one operation.
fn is_of_one_kind(figures: &SetFigures) -> bool {
    let kinds = figures.operations.iter().map(|(_, kind)| *kind);
    let mut kinds = kinds.chain([figures.read, figures.write]);
    kinds.any(|kind| kind == figures.requested)
}

/// The rows `std_…` and `max_…` below an average: standard deviations and maxima of the rates of its intervals, and of its
/// response times. Zeros are left blank.
pub(super) fn spread_rows(
    of_day: &str,
    label: &str,
    (spread, tally): (&Spread, &Tally),
    operations: &[SetOperation],
) -> String {
    let figures = tally.set_figures(false);
    let has_processors = figures.processors.is_some();
    let line = |name: &str, pick: &dyn Fn(Column, Kind) -> (f64, f64)| {
        let pair = |column: Column, kind: Kind, width: usize| {
            let (rate, response) = if kind.ios > 0 {
                pick(column, kind)
            } else {
                (0.0, 0.0)
            };
            let shown = |value: f64, width: usize, decimals: usize| {
                if value == 0.0 {
                    " ".repeat(width + 1)
                } else {
                    cell(value, width, decimals)
                }
            };
            shown(rate, width, 1) + &shown(response, 6, 3)
        };
        let label = format!("{name}_{label}");
        // Processors and the percentage of reads have none; nor have megabytes and sizes.
        let blank = if has_processors { 11 } else { 0 } + 6;
        let mut text = format!("{of_day}{label:>13}");
        // Of requests of several kinds 5.04.07 knows none.
        let asked = Some(figures.requested).filter(|_| is_of_one_kind(&figures));
        text += &pair(Column::Requested, asked.unwrap_or_default(), 6);
        let _ = write!(text, "{:blank$}", "");
        text += &pair(Column::Read, figures.read, 6);
        text += &pair(Column::Write, figures.write, 6);
        let _ = write!(text, "{:27}", "");
        for operation in operations {
            text += &pair(Column::Of(*operation), figures.of(*operation), 5);
        }
        text + "\n"
    };
    line("std", &|column, kind| (spread.of(column).0, kind.deviation))
        + &line("max", &|column, kind| (spread.of(column).1, kind.max))
}

/// A table of `skew.html`, without clock times: a row for each name, and their total where that is wanted.
pub(super) fn table(
    (title, has_total): (&str, bool),
    rows: &[(&str, &Tally)],
    shown: Shown<'_>,
) -> Vec<String> {
    let (first, second) = titles(shown.operations, false);
    let mut lines = vec![
        format!("{:NAME$}{first}", ""),
        format!("{title:NAME$}{second}"),
    ];
    let of = |name: &str, tally: &Tally| {
        let figures = tally.set_figures(shown.decimal_megabytes);
        format!("{name:NAME$}{}", numbers(&figures, shown.operations, false))
    };
    lines.extend(rows.iter().map(|(name, tally)| of(name, tally)));
    if has_total {
        let mut total = Tally::new();
        for (_, tally) in rows {
            let length = total.length.max(tally.length);
            total.append(tally);
            total.length = length;
        }
        lines.push(of("Total", &total));
    }
    lines
}
