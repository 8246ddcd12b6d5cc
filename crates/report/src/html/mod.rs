//! A record as one page: a file that can be sent by mail, opened without a network and printed.
//!
//! The verdict and what failed come first, then a sweep's curve, the figures, and how they went over time. There are no scripts and
//! nothing is fetched: charts are SVG in the page itself.

mod axis;
mod chart;
mod course;
mod hosts;
mod labels;
mod list;
mod live;
mod nines;
mod storage;
mod sweep;
mod text;

use std::fmt::Write as _;

use fathom_record::{Check, LatencyRecord, Record, RunKind, Verdict};

pub use self::list::{ListedRun, list_table};
pub use self::live::live_section;
pub use self::text::escaped;
use self::text::row;
pub(crate) use self::text::table;
use crate::NeedBeside;
use crate::format::{mebibytes, rate, short_mean, short_time};
use crate::summary::{self, Row};

const STYLE: &str = include_str!("style.css");
/// How every page begins: a file that begins so may be replaced by another page.
pub const PAGE_MARK: &str = "<!DOCTYPE html>\n<!-- A report of Fathom -->\n";
/// Most stages whose course is drawn: a sweep may have a thousand.
const STAGES_DRAWN: usize = 24;

/// The record as an HTML page, with the need that it is laid beside.
pub fn html_page(record: &Record, need: Option<&NeedBeside>) -> String {
    html_frame(&record.title, ("", ""), &html_body(record, need))
}

/// A page around `body`, which is markup, as what is `added` is: what the page may do besides showing its own styles, in the
/// words of a Content-Security-Policy, and what its head has besides.
pub fn html_frame(title: &str, (allowed, added): (&str, &str), body: &str) -> String {
    let title = escaped(title);
    format!(
        "{PAGE_MARK}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{allowed}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n{added}</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// What the page of a record holds: the record's title and everything below it.
pub fn html_body(record: &Record, need: Option<&NeedBeside>) -> String {
    let mut page = format!("<h1>{}</h1>\n", escaped(&record.title));
    page.push_str(&heading(record));
    page.push_str(&verdict(record));
    if let Some(need) = need {
        page.push_str(&need.to_html());
    }
    if let Some(swept) = &record.sweep {
        page.push_str(&sweep::section(swept));
    }
    page.push_str(&figures(record));
    page.push_str(&hosts::section(record, STAGES_DRAWN));
    page.push_str(&nines::section(record, STAGES_DRAWN));
    page.push_str(&course::section(record, STAGES_DRAWN));
    page.push_str(&storage::section(record, STAGES_DRAWN));
    page.push_str(&what_was_run(record));
    page
}

/// What kind of run it was, by which program.
fn heading(record: &Record) -> String {
    let kind = match record.kind {
        RunKind::Run => "measured on real storage",
        RunKind::Predict => "predicted on modelled storage, in virtual time",
        RunKind::Serve => "served on modelled storage, in real time",
    };
    let tool = &record.tool;
    let text = format!("{kind} by {} {} {}", tool.name, tool.version, tool.git);
    format!("<p class=\"soft\">{}</p>\n", escaped(text.trim_end()))
}

fn verdict(record: &Record) -> String {
    let class = match record.verdict {
        Verdict::Trustworthy => "good",
        Verdict::Questionable | Verdict::Empty => "bad",
    };
    let mut html = format!(
        "<p class=\"verdict {class}\">{}</p>\n",
        escaped(&summary::verdict_words(record))
    );
    html.push_str(&list(
        record
            .checks
            .iter()
            .filter(|check| !check.passed)
            .map(check),
    ));
    let sentences = summary::sentences(record).into_iter();
    let sentences = sentences.chain(summary::notes(record));
    html.push_str(&list(sentences.map(|sentence| escaped(&sentence))));
    let passed = list(record.checks.iter().filter(|check| check.passed).map(check));
    if !passed.is_empty() {
        html.push_str("<details><summary>Checks that passed</summary>\n");
        html.push_str(&passed);
        html.push_str("</details>\n");
    }
    html
}

fn check(check: &Check) -> String {
    let (id, evidence) = (escaped(&check.id), escaped(&check.evidence));
    let mut item = format!("<strong>{id}</strong>: {evidence}");
    if !check.remedy.is_empty() {
        item.push_str("<br><span class=\"soft\">");
        item.push_str(&escaped(&check.remedy));
        item.push_str("</span>");
    }
    item
}

/// A list of items that are markup already; nothing where there are none.
fn list(items: impl Iterator<Item = String>) -> String {
    let mut html = String::new();
    for item in items {
        html.push_str("<li>");
        html.push_str(&item);
        html.push_str("</li>\n");
    }
    if html.is_empty() {
        return html;
    }
    format!("<ul>\n{html}</ul>\n")
}

/// The table of the one screen, with more of the distribution.
fn figures(record: &Record) -> String {
    let rows = summary::rows_of(record);
    if rows.is_empty() {
        return String::new();
    }
    let repeated = rows.iter().any(|row| row.repeats.len() > 1);
    let mut headings = vec!["", "IOPS"];
    headings.extend(repeated.then_some("± 95 %"));
    headings.extend([
        "MiB/s", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max", "failed",
    ]);
    let rows: String = rows.iter().map(|line| figure_row(line, repeated)).collect();
    format!(
        "<h2>Figures</h2>\n{}<p class=\"soft\">Latency from submission to completion; of what has a rate also \
         response time, from its intended start. Percentiles of merged histograms.</p>\n",
        table(&headings, &rows)
    )
}

/// A line, and where it has a rate one of its response times below.
fn figure_row(line: &Row, repeated: bool) -> String {
    let mut cells = vec![rate(line.mean_of(|repeat| repeat.iops))];
    if repeated {
        cells.push(line.second_column(true));
    }
    cells.push(if line.moves {
        mebibytes(line.mean_of(|repeat| repeat.bandwidth_bytes_per_sec))
    } else {
        "-".to_owned()
    });
    let rates = cells.len();
    cells.extend(distribution(&line.latency()));
    let failed: u64 = line.repeats.iter().map(|repeat| repeat.errors).sum();
    cells.push(rate(failed as f64));
    let mut html = row(&line.name, &cells);
    if let Some(response) = line.response() {
        let mut cells = vec![String::new(); rates];
        cells.extend(distribution(&response));
        cells.push(String::new());
        html.push_str(&row(&format!("{}, from intended start", line.name), &cells));
    }
    html
}

/// The figures of a distribution, in the order of the table's columns.
fn distribution(times: &LatencyRecord) -> [String; 7] {
    let [p50, p90, p99, p99_9, p99_99, max] = [
        times.p50,
        times.p90,
        times.p99,
        times.p99_9,
        times.p99_99,
        times.max,
    ]
    .map(short_time);
    [short_mean(times.mean), p50, p90, p99, p99_9, p99_99, max]
}

/// Workload, design and environment, folded away.
fn what_was_run(record: &Record) -> String {
    let parts = [
        ("Workload", &record.workload),
        ("Design", &record.design),
        ("Environment", &record.environment),
    ];
    let mut html = String::new();
    for (name, value) in parts.iter().filter(|(_, value)| !value.is_null()) {
        // A tree of plain values has nothing that could not be written.
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        let _ = write!(
            html,
            "<details><summary>{name}</summary>\n<pre>{}</pre>\n</details>\n",
            escaped(&text)
        );
    }
    format!("<h2>What was run</h2>\n{html}")
}
