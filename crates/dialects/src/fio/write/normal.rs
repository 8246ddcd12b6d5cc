//! fio's text output (fio 3.42), column by column.

use std::fmt::Write as _;

use fathom_stats::Histogram;
use fathom_workload::IoPriority;

use super::entry::{
    self, Entry, GroupWay, Samples, Way, deviation, per_second, share_of_group, utilisation,
};
use super::figures::{Prefixes, Unit, figure, wall_clock};
use super::{FioRun, VERSION, idle, judged, unified};
use crate::fio::input::{FioInput, FioJobMeta, Percentiles, SizesOf, Unified};

/// The lines before a run.
pub fn start(input: &FioInput) -> String {
    let mut out = String::new();
    // A job that works in place of I/O has nothing to say of it.
    let works: Vec<bool> = (input.workload.jobs())
        .map(|(_, job)| job.features.processor_work.is_some())
        .collect();
    for (index, job) in input.jobs.iter().enumerate() {
        let siblings = |other: &FioJobMeta| other.name == job.name && other.group == job.group;
        if job.clone == 0 {
            if works.get(index) != Some(&true) {
                out.push_str(&job_line(job));
            }
        } else if index > 0 && input.jobs[index - 1].clone == 0 && siblings(&input.jobs[index - 1])
        {
            out.push_str("...\n");
        }
    }
    let threads = input.jobs.iter().filter(|job| job.thread).count();
    let processes = input.jobs.len() - threads;
    let plural = |count: usize, ending: &'static str| if count > 1 { ending } else { "" };
    let _ = write!(out, "{VERSION}\nStarting ");
    if threads > 0 {
        let _ = write!(out, "{threads} thread{}", plural(threads, "s"));
    }
    if processes > 0 {
        let and = if threads > 0 { " and " } else { "" };
        let _ = write!(out, "{and}{processes} process{}", plural(processes, "es"));
    }
    out.push('\n');
    out
}

fn job_line(job: &FioJobMeta) -> String {
    let sizes = job.blocks.map(|(least, most)| {
        let size = |bytes| figure(bytes, job.significant_figures, prefixes(job).0, Unit::Bytes);
        format!("{}-{}", size(least), size(most))
    });
    let [read, write, trim] = sizes;
    let last = if job.sizes == SizesOf::Orders {
        "bs_is_seq_rand".to_owned()
    } else {
        format!("(T) {trim}")
    };
    format!(
        "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, {last}, ioengine={}, iodepth={}\n",
        job.name, job.group, job.rw, job.engine, job.depth
    )
}

/// The job's own prefixes, and the others that stand in brackets.
fn prefixes(job: &FioJobMeta) -> (Prefixes, Prefixes) {
    if job.kb_base == 1024 {
        (Prefixes::Binary, Prefixes::Decimal)
    } else {
        (Prefixes::Decimal, Prefixes::Binary)
    }
}

/// The unit of the job's rates.
fn rate_unit(job: &FioJobMeta) -> Unit {
    if job.shows_bits {
        Unit::BitsPerSecond
    } else {
        Unit::BytesPerSecond
    }
}

/// The text after a run.
pub fn summary(input: &FioInput, run: &FioRun<'_>) -> String {
    let workers = entry::workers(input, run);
    let members = entry::members(input);
    let groups = entry::groups(input, &members, &workers);
    let mut out = "\n".to_owned();
    for members in &members {
        let mut entry = Entry::new(input, members, &workers);
        entry.add_priorities(input, run, members, &workers);
        if entry.ios() > 0 || entry.error != 0 {
            job(&mut out, &entry, &groups[entry.meta.group as usize], run);
        }
    }
    for (number, ways) in groups.iter().enumerate() {
        let mut of_group = input.jobs.iter().filter(|job| job.group as usize == number);
        if let Some(first) = of_group.next() {
            // As fio, in the units of the group's last job.
            let last = of_group.next_back().unwrap_or(first);
            group(&mut out, number, ways, (first.unified, last));
        }
    }
    disk_lines(&mut out, input, run);
    out.push_str(&idle::lines(input, run));
    out
}

/// The lines of one entry.
pub fn job(out: &mut String, entry: &Entry<'_>, group: &[GroupWay; 3], run: &FioRun<'_>) {
    let meta = entry.meta;
    let error = if entry.error == 0 {
        String::new()
    } else {
        let text = std::io::Error::from_raw_os_error(entry.error).to_string();
        // The number stands before the brackets already.
        format!(" ({})", text.split(" (os error").next().unwrap_or_default())
    };
    let _ = writeln!(
        out,
        "{}: (groupid={}, jobs={}): err={:2}{error}: pid={}: {}",
        meta.name,
        meta.group,
        entry.members,
        entry.error,
        run.pid,
        wall_clock(run.finished_unix_ms / 1000)
    );
    if !meta.description.is_empty() {
        let _ = writeln!(out, "  Description  : [{}]", meta.description);
    }
    let shown = unified::directions(entry, group).into_iter();
    for shown in shown.chain(unified::beside(entry, group)) {
        if shown.way.bytes > 0 && shown.way.runtime_ms > 0 {
            direction(out, shown.name, &shown.way, &shown.group, entry);
        }
    }
    latency_classes(out, entry);
    if let Some(sync) = &entry.sync {
        out.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
        latency(out, "sync", sync);
        percentiles(out, "sync", sync, &entry.last.percentiles);
    }
    counters(out, entry);
}

fn direction(out: &mut String, name: &str, way: &Way, group: &GroupWay, entry: &Entry<'_>) {
    let meta = entry.meta;
    let (own, other) = prefixes(meta);
    let digits = meta.significant_figures;
    let rate = way.bytes_per_second();
    // fio shows the sum beside the directions without units of its rates.
    let unit = match (name, meta.unified) {
        ("mixed", Unified::Both) => Unit::None,
        _ => rate_unit(meta),
    };
    let _ = writeln!(
        out,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec)",
        figure(
            per_second(way.ios, way.runtime_ms),
            digits,
            Prefixes::Decimal,
            Unit::None
        ),
        figure(rate, digits, own, unit),
        figure(rate, digits, other, unit),
        figure(way.bytes, digits, own, Unit::Bytes),
        way.runtime_ms
    );
    let shown = &entry.last.percentiles;
    let kinds = [
        ("slat", &way.submit, shown.submit),
        ("clat", &way.complete, shown.complete),
        (" lat", &way.total, shown.total),
    ];
    for (name, histogram, _) in &kinds {
        if let Some(histogram) = histogram.as_ref().filter(|it| it.count() > 0) {
            latency(out, name, histogram);
        }
    }
    let of_priorities = priorities(way, shown);
    for (name, _, histogram) in &of_priorities {
        latency(out, name, histogram);
    }
    for (name, histogram, show) in &kinds {
        if let Some(histogram) = histogram.as_ref().filter(|it| it.count() > 0 && *show) {
            percentiles(out, name.trim(), histogram, shown);
        }
    }
    for (name, share, histogram) in &of_priorities {
        if shown.complete || shown.total {
            let name = format!("{name} ({share:.2}% of IOs)");
            percentiles(out, &name, histogram, shown);
        }
    }
    samples(out, way, group, meta);
}

/// Latencies of each priority, with its name and its share of I/Os in percent, where there are several.
fn priorities<'w>(way: &'w Way, shown: &Percentiles) -> Vec<(String, f64, &'w Histogram)> {
    let told = way.priorities.told();
    let kind = if shown.total { "lat" } else { "clat" };
    let all: u64 = told.iter().map(|(_, histogram)| histogram.count()).sum();
    let of_one = |(priority, histogram): (IoPriority, &'w Histogram)| {
        let (class, level, hint) = (priority.class(), priority.level(), priority.hint());
        let share = 100.0 * histogram.count() as f64 / all as f64;
        let name = format!("{kind} prio {class}/{level}/{hint}");
        (name, share, histogram)
    };
    told.into_iter().map(of_one).collect()
}

fn latency(out: &mut String, name: &str, histogram: &Histogram) {
    let deviation = deviation(histogram);
    let (min, max) = (histogram.min(), histogram.max());
    let (base, divisor) = if min > 2_000_000 && max > 99_999_999 && deviation > 1e6 {
        ("(msec)", 1_000_000)
    } else if min > 2_000 && max > 99_999 && deviation > 1e3 {
        ("(usec)", 1_000)
    } else {
        ("(nsec)", 1)
    };
    let whole = |value: u64| figure(value / divisor, 6, Prefixes::Decimal, Unit::None);
    let _ = writeln!(
        out,
        "    {name} {base}: min={}, max={}, avg={:5.2}, stdev={:5.2}",
        whole(min),
        whole(max),
        histogram.mean() / divisor as f64,
        deviation / divisor as f64
    );
}

fn percentiles(out: &mut String, name: &str, histogram: &Histogram, shown: &Percentiles) {
    let values: Vec<u64> = shown
        .list
        .iter()
        .map(|it| histogram.percentile(*it))
        .collect();
    let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else {
        return;
    };
    let (base, divisor) = if *least > 2_000_000 && *most > 99_999_999 {
        ("msec", 1_000_000u64)
    } else if *least > 2_000 && *most > 99_999 {
        ("usec", 1_000)
    } else {
        ("nsec", 1)
    };
    let width = (most / divisor).max(1).to_string().len().max(5);
    let precision = shown.precision;
    let a_line = ((80 - 7) / (precision + 10 + width)).max(1);
    let _ = write!(out, "    {name} percentiles ({base}):\n     |");
    let last = values.len() - 1;
    for (index, (percent, value)) in shown.list.iter().zip(&values).enumerate() {
        if index > 0 && index % a_line == 0 {
            out.push_str("     |");
        }
        let end = if index == last { '\n' } else { ',' };
        let value = value.div_ceil(divisor);
        let _ = write!(
            out,
            " {percent:before$.precision$}th=[{value:width$}]{end}",
            before = precision + 3
        );
        if index < last && index % a_line == a_line - 1 {
            out.push('\n');
        }
    }
}

fn samples(out: &mut String, way: &Way, group: &GroupWay, meta: &FioJobMeta) {
    let Samples {
        min,
        max,
        mean,
        count,
        ..
    } = way.bandwidth;
    if count > 0 {
        let base = meta.kb_base as f64;
        let (unit, divisor) = match (mean > base * base, meta.kb_base) {
            (true, _) => ("MiB", base),
            (false, 1024) => ("KiB", 1.0),
            (false, _) => ("kB", 1.0),
        };
        let _ = writeln!(
            out,
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:.2}%, avg={:5.2}, stdev={:5.2}, \
             samples={count}",
            (min as f64 / divisor) as u64,
            (max as f64 / divisor) as u64,
            share_of_group(way, group),
            mean / divisor,
            way.bandwidth.deviation() / divisor
        );
    }
    if way.iops.count > 0 {
        let _ = writeln!(
            out,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            way.iops.min,
            way.iops.max,
            way.iops.mean,
            way.iops.deviation(),
            way.iops.count
        );
    }
}

fn latency_classes(out: &mut String, entry: &Entry<'_>) {
    const NAMES: [&str; 12] = [
        "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
    ];
    let (nanos, micros, millis) = entry.latency_classes();
    for (unit, values) in [
        ("nsec", &nanos[..]),
        ("usec", &micros[..]),
        ("msec", &millis[..]),
    ] {
        let shown: Vec<String> = NAMES
            .iter()
            .zip(values)
            .filter(|(_, value)| **value > 0.0)
            .map(|(name, value)| format!("{name}={value:3.2}%"))
            .collect();
        for line in shown.chunks(5) {
            let _ = writeln!(out, "  lat ({unit})   : {}", line.join(", "));
        }
    }
}

/// How many reads, writes and trims there were, and how many of each were short. What is told as one is a read, as in fio.
fn issued(entry: &Entry<'_>) -> [[u64; 3]; 2] {
    let counts = [
        entry.ways.each_ref().map(|way| way.ios),
        entry.ways.each_ref().map(|way| way.short),
    ];
    match entry.meta.unified {
        Unified::Mixed => counts.map(|ways| [ways.iter().sum(), 0, 0]),
        Unified::Apart | Unified::Both => counts,
    }
}

fn counters(out: &mut String, entry: &Entry<'_>) {
    let [user, system] = entry.processor_percent();
    let _ = writeln!(
        out,
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={}, majf={}, minf={}",
        entry.context_switches, entry.major_faults, entry.minor_faults
    );
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let titles = [
        ("  IO depths    ", depths),
        ("     submit    ", batches),
        ("     complete  ", batches),
    ];
    for ((title, names), shares) in titles.into_iter().zip(entry.distributions()) {
        let list = names
            .iter()
            .zip(shares)
            .map(|(name, share)| format!("{name}={share:3.1}%"));
        let _ = writeln!(out, "{title}: {}", list.collect::<Vec<_>>().join(", "));
    }
    let [ios, short] = issued(entry);
    let _ = writeln!(
        out,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped=0,0,0,0",
        ios[0],
        ios[1],
        ios[2],
        entry.sync.as_ref().map_or(0, Histogram::count),
        short[0],
        short[1],
        short[2]
    );
    if let Some((total, first)) = entry.survived {
        let text = std::io::Error::from_raw_os_error(first).to_string();
        let text = match first {
            0 => "Success",
            _ => text.split(" (os error").next().unwrap_or_default(),
        };
        let _ = writeln!(
            out,
            "     errors    : total={total}, first_error={first}/<{text}>"
        );
    }
    let features = entry.features;
    let target = features.and_then(|features| features.latency_target.as_ref());
    out.push_str(&judged::target_line(target, entry));
    let steady = features.and_then(|features| features.steady.as_ref());
    if let (Some(rules), Some(outcome)) = (steady, &entry.steady) {
        let meta = entry.meta;
        let digits = meta.significant_figures;
        let rate = |bandwidth, prefixes| figure(bandwidth, digits, prefixes, rate_unit(meta));
        out.push_str(&judged::steady_line(
            rules,
            outcome,
            digits,
            prefixes(meta),
            &rate,
        ));
    }
}

fn group(
    out: &mut String,
    number: usize,
    ways: &[GroupWay; 3],
    (shown_as, meta): (Unified, &FioJobMeta),
) {
    let _ = write!(out, "\nRun status group {number} (all jobs):\n");
    let (own, other) = prefixes(meta);
    let digits = meta.significant_figures;
    let mut mixed = unified::group_as_one(ways);
    if shown_as == Unified::Both {
        // As fio: beside the directions stand their bounds, in place of them their sums.
        let used = || ways.iter().filter(|way| way.runtime_ms.1 > 0);
        let bounds = (
            used().map(|way| way.rates.0).min(),
            used().map(|way| way.rates.1).max(),
        );
        mixed.rates = (bounds.0.unwrap_or(0), bounds.1.unwrap_or(0));
    }
    let apart = ways.iter().zip(["   READ", "  WRITE", "   TRIM"]);
    let shown: Vec<_> = match shown_as {
        Unified::Apart => apart.collect(),
        Unified::Mixed => vec![(&mixed, "  MIXED")],
        Unified::Both => apart.chain([(&mixed, "  MIXED")]).collect(),
    };
    for (way, name) in shown {
        let (shortest, longest) = way.runtime_ms;
        if longest == 0 {
            continue;
        }
        let rate = |value, prefixes| figure(value, digits, prefixes, rate_unit(meta));
        let all = way.bytes_per_second();
        let (least, most) = way.rates;
        let _ = writeln!(
            out,
            "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
            rate(all, own),
            rate(all, other),
            rate(least, own),
            rate(most, own),
            rate(least, other),
            rate(most, other),
            figure(way.bytes, digits, own, Unit::Bytes),
            figure(way.bytes, digits, other, Unit::Bytes),
        );
    }
}

fn disk_lines(out: &mut String, input: &FioInput, run: &FioRun<'_>) {
    let disks = entry::disks(input, run);
    if !disks.is_empty() {
        out.push_str("\nDisk stats (read/write):\n");
    }
    for disk in disks {
        let _ = writeln!(
            out,
            "  {}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
            disk.name,
            disk.ios[0],
            disk.ios[1],
            disk.sectors[0],
            disk.sectors[1],
            disk.merges[0],
            disk.merges[1],
            disk.ticks_ms[0],
            disk.ticks_ms[1],
            disk.in_queue_ms,
            utilisation(&disk)
        );
    }
}
