//! The checklist as the guide's table: what a person reads.

use std::fmt::Write as _;

use fathom_profile::{Growth, Level, Levels, Period, Role, Volume};
use fathom_units::{Bytes, BytesPerSec, Nanos, Percent, group_digits};

use crate::checklist::Checklist;
use crate::samples::{Observation, Unknown};
use crate::verdict::verdicts;

/// Columns of the names of figures.
const NAMES: usize = 26;
/// Columns of a figure.
const FIGURE: usize = 13;
/// Columns of a line of prose.
const PROSE: usize = 100;

/// The whole page: a table for each volume and period, rules, what is unknown and why, doubts, verdicts.
pub fn page(seen: &Observation, list: &Checklist) -> String {
    let mut text = format!(
        "Checklist of `{}`, from {}\n",
        list.profile.name, seen.source
    );
    if list.profile.growth != Growth::NONE {
        let _ = writeln!(
            text,
            "Figures are as seen; the plan multiplies them by a growth of {}",
            list.profile.growth
        );
    }
    for volume in &list.profile.volumes {
        for period in &volume.periods {
            table(&mut text, list, volume, period);
        }
    }
    processes(&mut text, seen);
    let unknown: Vec<_> = seen.unknown.iter().map(told).collect();
    section(&mut text, "Rules", &list.rules);
    section(&mut text, "Notes", &list.notes);
    section(&mut text, "Unknown", &unknown);
    section(&mut text, "Doubts", &seen.doubts);
    let verdicts: Vec<_> = verdicts(seen).iter().map(ToString::to_string).collect();
    section(&mut text, "Verdicts", &verdicts);
    // A name from a log must not steer the terminal.
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
}

fn told(unknown: &Unknown) -> String {
    format!("{}: {}", unknown.figure, unknown.reason)
}

fn table(text: &mut String, list: &Checklist, volume: &Volume, period: &Period) {
    let role = match volume.role {
        Role::Data => "data",
        Role::Log => "log",
    };
    let heading = format!("{} ({role}), {}", volume.name, period.kind.name());
    let _ = writeln!(
        text,
        "\n{heading:NAMES$} {:>FIGURE$} {:>FIGURE$} {:>FIGURE$}",
        "p50", "p90", "p99"
    );
    let profile = &list.profile;
    let (rate, time) = (BytesPerSec::to_string, Nanos::to_string);
    let (share, count) = (Percent::to_string, |it: &u64| group_digits(*it));
    match profile.transactions_per_sec {
        Some(known) => row(text, "transactions a second", &Levels::all(known), count),
        None => {
            let _ = writeln!(
                text,
                "  {:24} unknown: `--transactions N/s` says it",
                "transactions a second"
            );
        }
    }
    row(text, "I/Os a second", &period.iops, |it| {
        group_digits(it.get())
    });
    row(text, "% reads", &period.reads, share);
    row(text, "% writes", &period.reads, |it| it.rest().to_string());
    row(text, "% random", &period.random, share);
    row(text, "% sequential", &period.random, |it| {
        it.rest().to_string()
    });
    row(text, "I/O size, mean", &period.size, Bytes::to_string);
    let place = (volume.name.clone(), period.kind.name());
    if let Some(sizes) = list.sizes.get(&place) {
        row(text, "I/O size, each", sizes, Bytes::to_string);
    }
    row(text, "throughput", &period.throughput, rate);
    row(text, "  average", &period.average_throughput, rate);
    row(text, "  peak", &period.peak_throughput, rate);
    row(text, "minimum latency", &period.minimum_latency, time);
    row(text, "average latency", &period.average_latency, time);
    row(text, "latency, each I/O", &period.latency, time);
    row(text, "peak CPU", &profile.peak_processors, share);
    row(text, "average CPU", &profile.processors, share);
    row(text, "peak memory", &profile.peak_memory, Bytes::to_string);
    row(text, "average memory", &profile.memory, Bytes::to_string);
    row(text, "queue depth", &period.queue_depth, count);
}

fn row<T: Copy + PartialEq>(
    text: &mut String,
    name: &str,
    levels: &Levels<T>,
    write: impl Fn(&T) -> String,
) {
    let figure = |level| {
        levels
            .at(level)
            .map_or_else(|| "unknown".to_owned(), |it| write(&it))
    };
    let [p50, p90, p99] = Level::ALL.map(figure);
    let _ = writeln!(
        text,
        "  {name:24} {p50:>FIGURE$} {p90:>FIGURE$} {p99:>FIGURE$}"
    );
}

/// Who issued a device's I/Os, where they were traced.
fn processes(text: &mut String, seen: &Observation) {
    for device in &seen.devices {
        let Some(traced) = device.traced.as_ref().filter(|it| !it.processes.is_empty()) else {
            continue;
        };
        let whole: u64 = traced.processes.iter().map(|it| it.1).sum();
        let shown = traced.processes.iter().take(8).map(|(name, ios)| {
            let share = crate::shares::percent(*ios as f64 / whole.max(1) as f64);
            format!("{name} {share}")
        });
        let shown: Vec<_> = shown.collect();
        let rest = match traced.processes.len().saturating_sub(8) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        let line = format!(
            "I/Os on `{}` by process: {}{rest}",
            device.name,
            shown.join(", ")
        );
        let _ = write!(text, "\n{}", wrapped(&line, 0));
    }
}

fn section(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{heading}");
    for line in lines {
        text.push_str("  - ");
        text.push_str(wrapped(line, 4).trim_start());
    }
}

/// `line` in lines of at most [`PROSE`] columns, each with its line end, those after the first moved in by `indent`.
fn wrapped(line: &str, indent: usize) -> String {
    let (mut text, mut column) = (" ".repeat(indent), indent);
    for word in line.split_whitespace() {
        let width = word.chars().count();
        if column > indent && column + 1 + width > PROSE {
            let _ = write!(text, "\n{}", " ".repeat(indent));
            column = indent;
        } else if column > indent {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
    text
}
