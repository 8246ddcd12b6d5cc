//! Rows and headers of `summary.html`, and of every file that has the same rows.
//!
//! Widths are those of 5.04.07: `%12s %10.1f %8.2f %7d %6.2f %8.3f %8.3f %8.3f %8.2f %8.2f %8.3f %6.1f` and twice ` %5.1f`
//! for the processors, where they are known. The label follows the clock without a blank, which its width makes up for.

use std::fmt::Write as _;

use super::tally::Figures;

/// Rows between two headers.
pub const ROWS_PER_HEADER: u64 = 30;

/// `value` with `decimals` digits, halves away from zero as Java rounds them.
pub fn rounded(value: f64, decimals: usize) -> String {
    // One unit in the last place takes what lies on a half over it, and moves nothing else.
    format!("{:.decimals$}", value * (1.0 + f64::EPSILON))
}

/// The two lines of a header, of which the first begins with the `day`; a blank line before them.
pub fn header(day: &str, has_processors: bool, decimal_megabytes: bool) -> String {
    let unit = if decimal_megabytes {
        "1000**2"
    } else {
        "1024**2"
    };
    let (first, second) = if has_processors {
        ("  cpu%  cpu%", " sys+u   sys")
    } else {
        ("", "")
    };
    format!(
        "\n{day}    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue{first}\n\
         {:31}rate  {unit}     i/o    pct     time     resp     resp      max      max   stddev  depth{second}\n",
        ""
    )
}

/// One row, without its end of line.
pub fn row(of_day: &str, label: &str, figures: &Figures) -> String {
    let number = rounded;
    let mut text = format!(
        "{of_day}{label:>12} {:>10} {:>8} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}",
        number(figures.rate, 1),
        number(figures.megabytes, 2),
        figures.bytes,
        number(figures.read_percent, 2),
        number(figures.all.mean, 3),
        number(figures.read.mean, 3),
        number(figures.write.mean, 3),
        number(figures.read.max, 2),
        number(figures.write.max, 2),
        number(figures.all.deviation, 3),
        number(figures.queue_depth, 1),
    );
    if let Some([user, system, ..]) = figures.processors {
        let total = number(user + system, 1);
        let _ = write!(text, " {total:>5} {:>5}", number(system, 1));
    }
    text
}

/// Label of the average over intervals `first` to `last`.
pub fn average_label(first: u64, last: u64) -> String {
    format!("avg_{first}-{last}")
}
