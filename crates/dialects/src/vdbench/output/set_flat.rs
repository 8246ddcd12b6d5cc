//! `flatfile.html` of runs on file systems: columns of its own, known by their names.

use std::fmt::Write as _;

use fathom_workload::SetOperation;

use super::RunLayout;
use super::flatfile::{end_of_preamble, known, short};
use super::set_row::{Column, Spread};
use super::tally::{Kind, Tally};

/// Operations with columns, and their names there.
const OPERATIONS: [(&str, Column); 11] = [
    ("Read", Column::Read),
    ("Write", Column::Write),
    ("Mkdir", Column::Of(SetOperation::MakeDirectory)),
    ("Rmdir", Column::Of(SetOperation::RemoveDirectory)),
    ("Create", Column::Of(SetOperation::Create)),
    ("Open", Column::Of(SetOperation::Open)),
    ("Close", Column::Of(SetOperation::Close)),
    ("Delete", Column::Of(SetOperation::Delete)),
    ("Getattr", Column::Of(SetOperation::GetAttributes)),
    ("Setattr", Column::Of(SetOperation::SetAttributes)),
    ("Access", Column::Of(SetOperation::Access)),
];

/// Names and meanings of the columns of one operation.
fn six(name: &str) -> [(String, String); 6] {
    let what = name.to_lowercase();
    [
        (
            format!("{name}_rate"),
            format!("operations a second: {what}"),
        ),
        (
            format!("{name}_rate_std"),
            "standard deviation of that over the intervals of an average".to_owned(),
        ),
        (
            format!("{name}_rate_max"),
            "its maximum over these".to_owned(),
        ),
        (
            format!("{name}_resp"),
            format!("mean response time in ms: {what}"),
        ),
        (
            format!("{name}_resp_std"),
            "standard deviation of response times".to_owned(),
        ),
        (
            format!("{name}_resp_max"),
            "longest response time".to_owned(),
        ),
    ]
}

fn columns() -> Vec<(String, String)> {
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned()))
            .collect()
    };
    let mut all = own(&[
        ("Run", "name of the run"),
        (
            "Interval",
            "number of the interval, or the intervals of an average",
        ),
        ("Xfersize", "mean size of reads and writes done"),
        ("Threads", "threads asked for"),
        (
            "Reqrate",
            "operations a second asked for; 9999988: as many as can be",
        ),
        (
            "Rate",
            "operations a second done, of those that were asked for",
        ),
        ("Rate_std", "its standard deviation over intervals"),
        ("Rate_max", "its maximum over intervals"),
        ("Resp", "mean response time of these operations in ms"),
        ("Resp_std", "its standard deviation"),
        ("Resp_max", "the longest"),
        ("MB/sec", "megabytes (1024*1024 bytes) a second"),
        ("MB_read", "megabytes read a second"),
        ("MB_write", "megabytes written a second"),
    ]);
    all.extend(OPERATIONS.iter().flat_map(|(name, _)| six(name)));
    all.extend(own(&[
        ("Compratio", "compression ratio asked for"),
        ("Dedupratio", "deduplication ratio asked for"),
        ("cpu_used", "processors: percentage of user and system"),
        ("cpu_user", "processors: user"),
        ("cpu_kernel", "processors: system"),
        ("cpu_wait", "processors: idle while I/O was waited for"),
        ("cpu_idle", "processors: idle"),
    ]));
    all
}

/// The lines before the first: what each column holds, and their names.
pub(super) fn preamble() -> String {
    let mut text = String::from(
        "*\n* Runs on file systems: one line for each interval and each average; columns are known by the names in the\n* \
         first line without a star.\n*\n",
    );
    let columns = columns();
    for (name, meaning) in &columns {
        let _ = writeln!(text, "* {name:16}: {meaning}");
    }
    text + &end_of_preamble(columns.iter().map(|(name, _)| name.as_str()))
}

/// The line of an interval, or of an average with the spread of its intervals.
pub(super) fn line(
    (of_day, stamp): (&str, &str),
    run: &RunLayout,
    label: &str,
    tally: &Tally,
    spread: Option<&Spread>,
) -> String {
    let figures = tally.set_figures(false);
    let [read, write] = [figures.read, figures.write];
    let size = (read.bytes + write.bytes).checked_div(read.ios + write.ios);
    let mut fields = vec![
        of_day.to_owned(),
        stamp.to_owned(),
        run.name.replace(' ', "_"),
        label.to_owned(),
        size.unwrap_or(0).to_string(),
        known(run.asked.threads.map(|threads| threads as f64)),
        run.rate.column(),
    ];
    let six = |column: Column, kind: Kind| {
        let (deviation, max) = spread.map_or((0.0, 0.0), |spread| spread.of(column));
        [
            figures.rate(kind),
            deviation,
            max,
            kind.mean,
            kind.deviation,
            kind.max,
        ]
        .map(short)
    };
    fields.extend(six(Column::Requested, figures.requested));
    let megabytes = [read, write].map(|kind| figures.megabytes(kind));
    fields.extend([megabytes[0] + megabytes[1], megabytes[0], megabytes[1]].map(short));
    for (_, column) in OPERATIONS {
        let kind = match column {
            Column::Requested => figures.requested,
            Column::Read => read,
            Column::Write => write,
            Column::Of(operation) => figures.of(operation),
        };
        fields.extend(six(column, kind));
    }
    fields.push(short(run.asked.compratio.unwrap_or(1.0)));
    fields.push(known(run.asked.dedupratio));
    let processors = figures
        .processors
        .map(|[user, system, wait, idle]| [user + system, user, system, wait, idle].map(Some));
    fields.extend(processors.unwrap_or([None; 5]).map(known));
    fields.join(" ") + " \n"
}
