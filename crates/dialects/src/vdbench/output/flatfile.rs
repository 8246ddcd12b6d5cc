//! `flatfile.html`: one line an interval, columns by name.

use std::fmt::Write as _;

use super::row::rounded;
use super::tally::Figures;
use super::{Asked, RunLayout};

/// Columns and what they hold, in the order of 5.04.07.
const COLUMNS: &[(&str, &str)] = &[
    ("Run", "name of the run"),
    (
        "Interval",
        "number of the interval, or the intervals of an average",
    ),
    (
        "reqrate",
        "I/Os a second asked for; 9999988: as many as can be; 9999977: likewise, for a curve",
    ),
    ("rate", "I/Os a second done"),
    ("MB/sec", "megabytes (1024*1024 bytes) a second"),
    ("bytes/io", "mean size of an I/O"),
    ("read%", "percentage of reads done"),
    ("resp", "mean response time in ms"),
    ("read_resp", "the same of reads"),
    ("write_resp", "the same of writes"),
    ("resp_max", "longest response time in ms"),
    ("read_max", "the same of reads"),
    ("write_max", "the same of writes"),
    ("resp_std", "standard deviation of response times in ms"),
    ("read_std", "the same of reads"),
    ("write_std", "the same of writes"),
    ("xfersize", "size of an I/O asked for"),
    ("threads", "threads asked for"),
    ("rdpct", "percentage of reads asked for"),
    ("rhpct", "percentage of read hits asked for"),
    ("whpct", "percentage of write hits asked for"),
    ("seekpct", "percentage of seeks asked for"),
    (
        "lunsize",
        "gigabytes (1024*1024*1024 bytes) of all that is used",
    ),
    ("version", "not filled in"),
    ("compratio", "compression ratio asked for"),
    ("dedupratio", "deduplication ratio asked for"),
    ("queue_depth", "mean number of I/Os in flight"),
    ("cpu_used", "processors: percentage of user and system"),
    ("cpu_user", "processors: user"),
    ("cpu_kernel", "processors: system"),
    ("cpu_wait", "processors: idle while I/O was waited for"),
    ("cpu_idle", "processors: idle"),
];

/// The lines before the first: what each column holds, and their names.
pub fn preamble() -> String {
    let mut text = String::from(
        "*\n* One line for each interval and each average; columns are separated by blanks and known by the names in the\n* \
         first line without a star.\n*\n",
    );
    for (name, meaning) in COLUMNS {
        let _ = writeln!(text, "* {name:15} : {meaning}");
    }
    text + &end_of_preamble(COLUMNS.iter().map(|(name, _)| *name))
}

/// The last lines before the first: what is not known, and the names of the columns.
pub(super) fn end_of_preamble<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut text =
        String::from("* 'n/a'           : not known, or different in parts of the run\n* \n");
    text.push_str("         tod               timestamp ");
    for name in names {
        let _ = write!(text, "{name} ");
    }
    text.push('\n');
    text
}

/// At most four decimals, without those at the end that say nothing.
pub(super) fn short(value: f64) -> String {
    let text = rounded(value, 4);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

pub(super) fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), short)
}

/// The line of an interval, or of an average, whose label has a blank before it as in 5.04.07.
pub fn line(
    (of_day, stamp): (&str, &str),
    run: &RunLayout,
    label: &str,
    figures: &Figures,
) -> String {
    let Figures {
        all, read, write, ..
    } = figures;
    let Asked {
        xfersize, threads, ..
    } = run.asked;
    let mut fields = vec![
        of_day.to_owned(),
        stamp.to_owned(),
        run.name.replace(' ', "_"),
        label.to_owned(),
        run.rate.column(),
        short(figures.rate),
        short(figures.megabytes),
        figures.bytes.to_string(),
        short(figures.read_percent),
    ];
    let times = [
        all.mean,
        read.mean,
        write.mean,
        all.max,
        read.max,
        write.max,
        all.deviation,
        read.deviation,
        write.deviation,
    ];
    fields.extend(times.map(short));
    fields.extend([
        known(xfersize.map(|size| size as f64)),
        known(threads.map(|threads| threads as f64)),
        known(run.asked.rdpct),
        known(run.asked.rhpct),
        known(run.asked.whpct),
        known(run.asked.seekpct),
        short(run.asked.size as f64 / f64::from(1 << 30)),
        "n/a".to_owned(),
        short(run.asked.compratio.unwrap_or(1.0)),
        known(run.asked.dedupratio),
        short(figures.queue_depth),
    ]);
    let processors = figures
        .processors
        .map(|[user, system, wait, idle]| [user + system, user, system, wait, idle].map(Some));
    fields.extend(processors.unwrap_or([None; 5]).map(known));
    let mut text = String::new();
    for field in fields {
        text.push_str(&field);
        text.push(' ');
    }
    text.push('\n');
    text
}
