//! fio's output for scripts: a line of figures with `;` between them for each entry, in versions 2 to 5.
//!
//! Versions 2, 4 and 5 have trims, version 5 samples of IOPS and their number, all but 2 the program's version and the
//! disks. Latencies are whole microseconds, rates KiB a second (fio 3.42).

use std::fmt::Write as _;

use fathom_stats::Histogram;

use super::entry::{self, Entry, GroupWay, Samples, Way, deviation, per_second, utilisation};
use super::{FioRun, VERSION, unified};
use crate::fio::input::{FioInput, Percentiles};

/// Percentiles of a line, given or not.
const PERCENTILES: usize = 20;

/// One line for each entry.
pub fn lines(input: &FioInput, run: &FioRun<'_>) -> String {
    let workers = entry::workers(input, run);
    let members = entry::members(input);
    let groups = entry::groups(input, &members, &workers);
    let mut out = String::new();
    for members in &members {
        let entry = Entry::new(input, members, &workers);
        let group = &groups[entry.meta.group as usize];
        line(&mut out, input, run, &entry, group);
    }
    out
}

fn line(
    out: &mut String,
    input: &FioInput,
    run: &FioRun<'_>,
    entry: &Entry<'_>,
    group: &[GroupWay; 3],
) {
    let version = input.output.terse_version;
    let meta = entry.meta;
    let _ = write!(out, "{version}");
    if version > 2 {
        let _ = write!(out, ";{VERSION}");
    }
    let _ = write!(out, ";{};{};{}", meta.name, meta.group, entry.error);
    let shown = unified::directions(entry, group)
        .into_iter()
        .filter(|shown| version != 3 || shown.name != "trim");
    for shown in shown.chain(unified::beside(entry, group)) {
        direction(
            out,
            &shown.way,
            &shown.group,
            &entry.last.percentiles,
            version,
        );
    }
    let [user, system] = entry.processor_percent();
    let _ = write!(
        out,
        ";{user:.6}%;{system:.6}%;{};{};{}",
        entry.context_switches, entry.major_faults, entry.minor_faults
    );
    for share in entry.distributions()[0] {
        let _ = write!(out, ";{share:3.1}%");
    }
    let (_, mut micros, millis) = entry.latency_classes();
    micros[0] += entry.percent_below_micro();
    for share in micros.iter().chain(&millis) {
        let _ = write!(out, ";{share:3.2}%");
    }
    if version >= 3 {
        disks(out, input, run);
    }
    if let Some((total, first)) = entry.survived {
        let _ = write!(out, ";{total};{first}");
    }
    if !meta.description.is_empty() {
        if version == 2 {
            out.push('\n');
        }
        let _ = write!(out, ";{}", meta.description);
    }
    out.push('\n');
}

fn direction(
    out: &mut String,
    way: &Way,
    group: &GroupWay,
    percentiles: &Percentiles,
    version: u8,
) {
    let _ = write!(
        out,
        ";{};{};{};{}",
        way.bytes >> 10,
        way.bytes_per_second() / 1024,
        per_second(way.ios, way.runtime_ms),
        way.runtime_ms
    );
    latency(out, way.submit.as_ref());
    latency(out, way.complete.as_ref());
    let (is_shown, histogram) = if percentiles.total {
        (true, way.total.as_ref())
    } else {
        (percentiles.complete, way.complete.as_ref())
    };
    for index in 0..PERCENTILES {
        let percent = percentiles.list.get(index).filter(|_| is_shown);
        let _ = match percent {
            Some(percent) => {
                let value = histogram.map_or(0, |it| it.percentile(*percent));
                write!(out, ";{percent:.6}%={}", value / 1000)
            }
            None => write!(out, ";0%=0"),
        };
    }
    latency(out, way.total.as_ref());
    let Samples {
        min,
        max,
        mean,
        count,
        ..
    } = way.bandwidth;
    let share = if count > 0 {
        share_of_group(mean, group)
    } else {
        0.0
    };
    let _ = write!(
        out,
        ";{min};{max};{share:.6}%;{mean:.6};{:.6}",
        way.bandwidth.deviation()
    );
    if version == 5 {
        let iops = &way.iops;
        let _ = write!(
            out,
            ";{count};{};{};{:.6};{:.6};{}",
            iops.min,
            iops.max,
            iops.mean,
            iops.deviation(),
            iops.count
        );
    }
}

/// Mean bandwidth as a percentage of that of its group, at most 100. Here it is the other of the two that fio rounds down.
fn share_of_group(mean_kib: f64, group: &GroupWay) -> f64 {
    match group.bytes_per_second() / 1024 {
        0 => 100.0,
        all => (mean_kib * 100.0 / all as f64).min(100.0),
    }
}

/// Smallest, largest, mean and deviation in µs.
fn latency(out: &mut String, histogram: Option<&Histogram>) {
    let (least, most, mean, spread) = histogram.map_or((0, 0, 0.0, 0.0), |it| {
        (it.min(), it.max(), it.mean(), deviation(it))
    });
    let _ = write!(
        out,
        ";{};{};{:.6};{:.6}",
        least / 1000,
        most / 1000,
        mean / 1000.0,
        spread / 1000.0
    );
}

fn disks(out: &mut String, input: &FioInput, run: &FioRun<'_>) {
    for disk in entry::disks(input, run) {
        let _ = write!(
            out,
            ";{};{};{};{};{};{};{};{};{:3.2}%",
            disk.name,
            disk.ios[0],
            disk.ios[1],
            disk.merges[0],
            disk.merges[1],
            disk.ticks_ms[0],
            disk.ticks_ms[1],
            disk.in_queue_ms,
            utilisation(&disk)
        );
    }
}
