//! `skew.html`: how the I/O of a run was spread.
//!
//! Its rows have the columns of 5.04.06: one maximum, two decimals of the rate, and a first column as wide as the longest
//! name of the whole execution.

use std::fmt::Write as _;

use super::row::rounded;
use super::tally::{Figures, Tally};

/// One table: what its rows are, and what each of them did.
pub struct Table<'a> {
    /// The title of the first column.
    pub title: &'a str,
    /// Names and figures.
    pub rows: Vec<(&'a str, &'a Tally)>,
    /// Whether use of the processors is shown.
    pub with_processors: bool,
    /// Percentages asked for, by row, where requested and observed skew are compared.
    pub requested: Option<Vec<f64>>,
}

/// The lines of a table, without clock times.
pub fn lines(table: &Table<'_>, width: usize, decimal_megabytes: bool) -> Vec<String> {
    let unit = if decimal_megabytes {
        "1000**2"
    } else {
        "1024**2"
    };
    let (first, second) = match (table.with_processors, &table.requested) {
        (true, _) => ("   cpu", " sys+u"),
        (false, Some(_)) => (
            "      skew     skew    skew ",
            " requested observed   delta ",
        ),
        (false, None) => ("", ""),
    };
    let mut lines = vec![
        format!(
            "{:width$}        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue {first}",
            ""
        ),
        format!(
            "{:width$}       rate  {unit}     i/o    pct     time     resp     resp      max   stddev depth {second}",
            table.title
        ),
    ];
    let mut total = Tally::new();
    for (_, tally) in &table.rows {
        total.reads = merged(total.reads.take(), tally.reads.as_ref());
        total.writes = merged(total.writes.take(), tally.writes.as_ref());
        total.length = total.length.max(tally.length);
        total.processors = total.processors.or(tally.processors);
    }
    let all = total.ios().max(1) as f64;
    for (index, (name, tally)) in table.rows.iter().enumerate() {
        let mut line = row(name, width, &tally.figures(decimal_megabytes));
        if table.with_processors {
            line.push_str(&processors(tally));
        }
        if let Some(requested) = table.requested.as_ref().and_then(|all| all.get(index)) {
            let observed = tally.ios() as f64 * 100.0 / all;
            let _ = write!(line, "{requested:>9.2}% {observed:>7.2}% ");
            let delta = requested - observed;
            if delta.abs() >= 0.1 {
                let _ = write!(line, "{delta:>6.2}%");
            }
        }
        lines.push(line);
    }
    let mut last = row("Total", width, &total.figures(decimal_megabytes));
    if table.with_processors {
        last.push_str(&processors(&total));
    }
    if let Some(requested) = &table.requested {
        let sum: f64 = requested.iter().sum();
        let observed = if total.ios() > 0 { 100.0 } else { 0.0 };
        let _ = write!(last, "{sum:>9.2}% {observed:>7.2}%");
    }
    lines.push(last);
    lines
}

fn merged(
    mine: Option<fathom_record::OpStats>,
    theirs: Option<&fathom_record::OpStats>,
) -> Option<fathom_record::OpStats> {
    match (mine, theirs) {
        (Some(mut mine), Some(theirs)) => {
            mine.merge(theirs);
            Some(mine)
        }
        (mine, theirs) => mine.or_else(|| theirs.cloned()),
    }
}

fn row(name: &str, width: usize, figures: &Figures) -> String {
    format!(
        "{name:width$} {:>10} {:>8} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>5} ",
        rounded(figures.rate, 2),
        rounded(figures.megabytes, 2),
        figures.bytes,
        rounded(figures.read_percent, 2),
        rounded(figures.all.mean, 3),
        rounded(figures.read.mean, 3),
        rounded(figures.write.mean, 3),
        rounded(figures.all.max, 3),
        rounded(figures.all.deviation, 3),
        rounded(figures.queue_depth, 1),
    )
}

fn processors(tally: &Tally) -> String {
    let percent = tally.processors.map(super::Processors::percent);
    let used = percent.map(|[user, system, ..]| rounded(user + system, 1));
    format!("{:>6}", used.unwrap_or_default())
}
