//! Hosts of a merged record beside each other: a slow one is seen at a glance.

use std::fmt::Write as _;

use fathom_record::{DirectionRecord, HostRecord, HostsRecord, Record, StageRecord};
use fathom_units::{Nanos, group_digits};

use super::{Summary, stage_or_repeat};
use crate::cells::{columns_of, padded};
use crate::format::{mebibytes, rate, short_time, shortened};
use crate::lines::Lines;

/// Hosts that fit on a screen.
const HOSTS_MOST: usize = 12;
/// Columns of the first figure, and of those behind it.
const WIDTHS: [usize; 2] = [9, 7];
/// What is told of each host.
pub(crate) const TITLES: [&str; 6] = ["IOPS", "MiB/s", "p50", "p99", "max", "began"];

/// Adds a table of hosts for each stage that has some, and how they lay beside each other. Of many hosts the short summary shows
/// those that did least.
pub(super) fn write_hosts(text: &mut Lines, record: &Record, how_much: Summary) {
    for stage in &record.stages {
        let Some(hosts) = &stage.hosts else {
            continue;
        };
        let heading = if record.stages.len() > 1 {
            format!("hosts in {}", stage_or_repeat(record, stage))
        } else {
            "hosts".to_owned()
        };
        write_table(text, &heading, (stage, hosts), how_much);
        text.wrap("  ", &beside_each_other(stage, hosts), 2);
    }
}

/// When hosts began and measured, in words.
pub(crate) fn beside_each_other(stage: &StageRecord, hosts: &HostsRecord) -> String {
    let (together, span) = (Nanos::new(hosts.together_ns), Nanos::new(stage.measured_ns));
    let skew = hosts.start_skew_ns.map(Nanos::new);
    let apart = skew.map_or_else(String::new, |skew| format!("hosts began within {skew}; "));
    format!("{apart}all were measuring for {together} of {span}")
}

/// The figures of a host by [`TITLES`].
pub(crate) fn figures_of(host: &HostRecord) -> [String; 6] {
    let began = match host.after_ns {
        None => "?".to_owned(),
        Some(0) => "first".to_owned(),
        Some(after) => format!("+{}", short_time(after)),
    };
    figures(host.total.all.as_ref(), began)
}

/// The figures of all hosts by [`TITLES`].
pub(crate) fn figures_of_all(stage: &StageRecord) -> [String; 6] {
    figures(stage.total.all.as_ref(), String::new())
}

fn figures(all: Option<&DirectionRecord>, began: String) -> [String; 6] {
    let Some(all) = all else {
        return ["-", "-", "-", "-", "-", &began].map(str::to_owned);
    };
    let latency = &all.latency_ns;
    [
        rate(all.iops),
        mebibytes(all.bandwidth_bytes_per_sec),
        short_time(latency.p50),
        short_time(latency.p99),
        short_time(latency.max),
        began,
    ]
}

fn write_table(
    text: &mut Lines,
    heading: &str,
    (stage, hosts): (&StageRecord, &HostsRecord),
    how_much: Summary,
) {
    let mut each: Vec<&HostRecord> = hosts.each.iter().collect();
    if how_much == Summary::Short && each.len() > HOSTS_MOST {
        let rate = |host: &HostRecord| host.total.all.as_ref().map_or(0.0, |all| all.iops);
        each.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        each.truncate(HOSTS_MOST);
    }
    let rows = each
        .iter()
        .map(|host| (host.host.as_str(), figures_of(host)));
    let all = ("all", figures_of_all(stage));
    let rows: Vec<(&str, [String; 6])> = rows.chain([all]).collect();
    let longest = rows.iter().map(|(name, _)| columns_of(name)).max();
    let beside = WIDTHS[0] + (TITLES.len() - 1) * (WIDTHS[1] + 1) + 3;
    let width = longest.unwrap_or(0).max(6);
    let room = text.columns().saturating_sub(beside);
    text.line("", heading, 2);
    if room < width.min(6) {
        write_below(text, &rows);
    } else {
        let width = width.min(room);
        write_line(text, ("", width), &TITLES.map(str::to_owned));
        for (name, figures) in &rows {
            write_line(text, (name, width), figures);
        }
    }
    let hidden = hosts.each.len() - each.len();
    if hidden > 0 {
        let hidden = group_digits(hidden as u64);
        let told = format!("{hidden} hosts that did more are left out; `--full` shows them");
        text.wrap("  ", &told, 2);
    }
}

fn write_line(text: &mut Lines, (name, width): (&str, usize), figures: &[String; 6]) {
    let mut line = format!("  {}", padded(&shortened(name, width), width));
    for (index, figure) in figures.iter().enumerate() {
        let columns = WIDTHS[index.min(1)];
        let _ = write!(line, " {figure:>columns$}");
    }
    text.push_str(line.trim_end());
    text.push_str("\n");
}

/// On a narrow screen names stand above their figures.
fn write_below(text: &mut Lines, rows: &[(&str, [String; 6])]) {
    let titles = TITLES.map(str::to_owned);
    for (name, figures) in [("", titles)].iter().chain(rows) {
        if !name.is_empty() {
            text.line("  ", name, 4);
        }
        text.figures(&[&figures[..2], &figures[2..]], WIDTHS);
    }
}
