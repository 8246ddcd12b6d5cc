//! The section on where the I/Os of a distribution fell, and its element.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::SpanRun;
use crate::diskspd::effective::{Part, parts};
use crate::diskspd::settings::Span;
use crate::diskspd::sizes::show_wide;
use crate::diskspd::tally::Row;
use crate::diskspd::xml::Xml;

/// The parts of a row's target.
fn of_row(span: &Span, run: &SpanRun, row: &Row) -> Vec<Part> {
    let size = run.sizes.get(row.target).copied().unwrap_or(0);
    let target = span.targets.get(row.target);
    target.map_or_else(Vec::new, |target| parts(target, size))
}

/// The section: each distribution once, with the targets and threads that had it.
pub fn write(text: &mut String, span: &Span, run: &SpanRun) {
    type Users<'a> = BTreeMap<&'a str, BTreeSet<u32>>;
    let mut found: Vec<(Vec<Part>, Users<'_>)> = Vec::new();
    for row in &run.rows {
        let parts = of_row(span, run, row);
        let Some(target) = span.targets.get(row.target).filter(|_| !parts.is_empty()) else {
            continue;
        };
        let known = found.iter().position(|(known, _)| *known == parts);
        let index = known.unwrap_or_else(|| {
            found.push((parts, BTreeMap::new()));
            found.len() - 1
        });
        let threads = found[index].1.entry(target.path.as_str()).or_default();
        threads.insert(row.thread);
    }
    if found.is_empty() {
        return;
    }
    text.push_str("\nEffective IO Distributions\n--------------------------\n");
    for (parts, users) in &found {
        for (path, threads) in users {
            let _ = writeln!(text, "target: {path} [thread:{}]", numbers(threads));
        }
        for part in parts.iter().filter(|part| part.io > 0) {
            let first = match part.start {
                0 => "     0   ".to_owned(),
                start => show_wide(start),
            };
            let _ = writeln!(
                text,
                "   {:>3}% of IO => [{first} - {})",
                part.io,
                show_wide(part.end)
            );
        }
    }
}

/// Numbers of threads, runs of over two as their ends.
fn numbers(threads: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for thread in threads {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*thread) => *last = *thread,
            _ => runs.push((*thread, *thread)),
        }
    }
    let shown = runs.iter().map(|(first, last)| match last - first {
        0 => format!(" {first}"),
        1 => format!(" {first} {last}"),
        _ => format!(" {first} - {last}"),
    });
    shown.collect()
}

/// The element of a thread's target.
pub fn write_element(xml: &mut Xml, span: &Span, run: &SpanRun, row: &Row) {
    let parts = of_row(span, run, row);
    if parts.is_empty() {
        return;
    }
    xml.open("Distribution");
    xml.open("Absolute");
    for part in &parts {
        let open = format!("Range IO=\"{}\"", part.io);
        xml.open_leaf(open, "Range", part.end - part.start);
    }
    xml.close("Absolute");
    xml.close("Distribution");
}
