//! The checklist as the guide's table: what a person reads.

use std::fmt::Write as _;

use fathom_profile::{Growth, Level, Levels, Period, Role, Volume};
use fathom_report::{Lines, Width};
use fathom_units::{Bytes, BytesPerSec, Nanos, Percent, group_digits};

use crate::checklist::Checklist;
use crate::samples::{Observation, Unknown};
use crate::verdict::verdicts;

/// Columns of the names of figures.
const NAMES: usize = 26;
/// Columns of a figure.
const FIGURE: usize = 13;
/// Columns of a figure on a narrow screen, where the figures stand below their name.
const NARROW_FIGURE: usize = 12;

/// The whole page, for a screen of a width: a table for each volume and period, rules, what is unknown and why, doubts,
/// verdicts.
pub fn page(seen: &Observation, list: &Checklist, width: Width) -> String {
    let mut text = Lines::new(width);
    let heading = format!("Checklist of `{}`, from {}", list.profile.name, seen.source);
    text.wrap("", &heading, 2);
    if list.profile.growth != Growth::NONE {
        let growth = format!(
            "Figures are as seen; the plan multiplies them by a growth of {}",
            list.profile.growth
        );
        text.line("", &growth, 2);
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
    // A name from a log must not steer the terminal, which is what `finish` sees to.
    text.finish()
}

fn told(unknown: &Unknown) -> String {
    format!("{}: {}", unknown.figure, unknown.reason)
}

fn table(text: &mut Lines, list: &Checklist, volume: &Volume, period: &Period) {
    let role = match volume.role {
        Role::Data => "data",
        Role::Log => "log",
    };
    let heading = format!("{} ({role}), {}", volume.name, period.kind.name());
    text.push_str("\n");
    figures(text, &heading, ["p50", "p90", "p99"]);
    let profile = &list.profile;
    let (rate, time) = (BytesPerSec::to_string, Nanos::to_string);
    let (share, count) = (Percent::to_string, |it: &u64| group_digits(*it));
    if let Some(known) = profile.transactions_per_sec {
        row(text, "transactions a second", &Levels::all(known), count);
    } else {
        let head = format!("  {:24} ", "transactions a second");
        text.wrap(&head, "unknown: `--transactions N/s` says it", 4);
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
    text: &mut Lines,
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
    figures(text, &format!("  {name}"), [&p50, &p90, &p99]);
}

/// Three figures beside their name, or below it on a screen where they do not fit beside it.
fn figures(text: &mut Lines, name: &str, [p50, p90, p99]: [&str; 3]) {
    const WIDE: usize = NAMES + 3 * (FIGURE + 1);
    let _ = if text.columns() < WIDE {
        writeln!(
            text,
            "{name}\n  {p50:>NARROW_FIGURE$} {p90:>NARROW_FIGURE$} {p99:>NARROW_FIGURE$}"
        )
    } else {
        writeln!(
            text,
            "{name:NAMES$} {p50:>FIGURE$} {p90:>FIGURE$} {p99:>FIGURE$}"
        )
    };
}

/// Who issued a device's I/Os, where they were traced.
fn processes(text: &mut Lines, seen: &Observation) {
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
        text.push_str("\n");
        text.wrap("", &line, 0);
    }
}

fn section(text: &mut Lines, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{heading}");
    for line in lines {
        text.wrap("  - ", line, 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_beside_or_below_their_names() {
        let shown = |columns| {
            let mut text = Lines::new(Width::of_terminal(columns));
            let levels = Levels::all(1_234);
            row(&mut text, "I/Os a second", &levels, |it| group_digits(*it));
            text.finish()
        };
        let wide = format!(
            "  {:24} {:>13} {:>13} {:>13}\n",
            "I/Os a second", "1,234", "1,234", "1,234"
        );
        let narrow = format!(
            "  I/Os a second\n  {:>12} {:>12} {:>12}\n",
            "1,234", "1,234", "1,234"
        );
        assert_eq!([shown(80), shown(68)], [wide.clone(), wide]);
        assert_eq!([shown(67), shown(40)], [narrow.clone(), narrow]);
    }
}
