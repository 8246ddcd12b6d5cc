//! fio's JSON document, key by key (fio 3.42).

use fathom_record::DeviceCounters;
use fathom_stats::Histogram;
use fathom_workload::IoPriority;

use super::entry::{self, Entry, GroupWay, Samples, Way, deviation, share_of_group, utilisation};
use super::figures::wall_clock;
use super::json_text::{Json, object, pair};
use super::{FioRun, VERSION, idle, judged, unified};
use crate::fio::input::{FioInput, Percentiles, Unified};

/// Whether every bucket of a histogram is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buckets {
    /// `json`.
    Hidden,
    /// `json+`.
    Shown,
}

/// The whole document; `bins` adds every bucket of the histograms that have percentiles.
pub fn document(input: &FioInput, run: &FioRun<'_>, bins: Buckets) -> Json {
    let workers = entry::workers(input, run);
    let members = entry::members(input);
    let groups = entry::groups(input, &members, &workers);
    let elapsed = run.elapsed.get().div_ceil(1_000_000_000);
    let jobs = members.iter().map(|members| {
        let mut entry = Entry::new(input, members, &workers);
        entry.add_priorities(input, run, members, &workers);
        job(&entry, &groups[entry.meta.group as usize], elapsed, bins)
    });
    let mut pairs = vec![
        pair("fio version", Json::Text(VERSION.to_owned())),
        pair("timestamp", Json::Whole(run.finished_unix_ms / 1000)),
        pair("timestamp_ms", Json::Whole(run.finished_unix_ms)),
        pair("time", Json::Text(wall_clock(run.finished_unix_ms / 1000))),
    ];
    if !input.global_options.is_empty() {
        pairs.push(pair("global options", options(&input.global_options)));
    }
    pairs.push(pair("jobs", Json::List(jobs.collect())));
    let disks = entry::disks(input, run);
    if !disks.is_empty() {
        pairs.push(pair(
            "disk_util",
            Json::List(disks.iter().map(disk).collect()),
        ));
    }
    pairs.extend(idle::key(input, run));
    Json::Object(pairs)
}

pub fn options(options: &[(String, String)]) -> Json {
    let pair = |(name, value): &(String, String)| (name.clone(), Json::Text(value.clone()));
    Json::Object(options.iter().map(pair).collect())
}

pub fn job(entry: &Entry<'_>, group: &[GroupWay; 3], elapsed: u64, bins: Buckets) -> Json {
    let meta = entry.meta;
    // By another clock; 0 stands for a job that never began.
    let started = (entry.started_unix_ms).saturating_add_signed(match entry.started_unix_ms {
        0 => 0,
        _ => meta.start_ahead_ms,
    });
    let percentiles = &entry.last.percentiles;
    let mut pairs = vec![
        pair("jobname", Json::Text(meta.name.clone())),
        pair("groupid", Json::Whole(u64::from(meta.group))),
        pair("job_start", Json::Whole(started)),
        pair("error", Json::Whole(u64::from(entry.error.unsigned_abs()))),
        pair("eta", Json::Whole(0)),
        pair("elapsed", Json::Whole(elapsed)),
    ];
    if !entry.last.options.is_empty() {
        pairs.push(pair("job options", options(&entry.last.options)));
    }
    for shown in unified::directions(entry, group) {
        let figures = direction(&shown.way, &shown.group, percentiles, bins);
        pairs.push(pair(shown.name, figures));
    }
    // As fio: where all directions are one, syncs are left out.
    if meta.unified != Unified::Mixed {
        pairs.push(pair("sync", sync(entry, bins)));
    }
    if let Some(shown) = unified::beside(entry, group) {
        let figures = direction(&shown.way, &shown.group, percentiles, bins);
        pairs.push(pair(shown.name, figures));
    }
    let [user, system] = entry.processor_percent();
    pairs.extend([
        pair("job_runtime", Json::Whole(entry.runtime_ms)),
        pair("usr_cpu", Json::Fraction(user)),
        pair("sys_cpu", Json::Fraction(system)),
        pair("ctx", Json::Whole(entry.context_switches)),
        pair("majf", Json::Whole(entry.major_faults)),
        pair("minf", Json::Whole(entry.minor_faults)),
    ]);
    pairs.extend(classes(entry));
    if let Some((total, first)) = entry.survived {
        pairs.push(pair("total_err", Json::Whole(total)));
        pairs.push(pair(
            "first_error",
            Json::Whole(u64::from(first.unsigned_abs())),
        ));
    }
    let target = entry
        .features
        .and_then(|features| features.latency_target.as_ref());
    pairs.extend(judged::target_keys(target, entry));
    if !meta.description.is_empty() {
        pairs.push(pair("desc", Json::Text(meta.description.clone())));
    }
    let steady = entry.features.and_then(|features| features.steady.as_ref());
    if let (Some(rules), Some(outcome)) = (steady, &entry.steady) {
        pairs.push(judged::steady_key(rules, outcome));
    }
    Json::Object(pairs)
}

fn sync(entry: &Entry<'_>, bins: Buckets) -> Json {
    let percentiles = &entry.last.percentiles;
    let of_sync = (percentiles.complete || percentiles.total).then_some(percentiles);
    let latency = latency(entry.sync.as_ref(), of_sync, bins);
    let syncs = entry.sync.as_ref().map_or(0, Histogram::count);
    object([("total_ios", Json::Whole(syncs)), ("lat_ns", latency)])
}

fn classes(entry: &Entry<'_>) -> Vec<(String, Json)> {
    const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    const SHORT: [&str; 10] = [
        "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000",
    ];
    const LONG: [&str; 12] = [
        "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
    ];
    let [depths, submits, completes] = entry.distributions();
    let (nanos, micros, millis) = entry.latency_classes();
    vec![
        pair("iodepth_level", shares(&DEPTHS, &depths)),
        pair("iodepth_submit", shares(&BATCHES, &submits)),
        pair("iodepth_complete", shares(&BATCHES, &completes)),
        pair("latency_ns", shares(&SHORT, &nanos)),
        pair("latency_us", shares(&SHORT, &micros)),
        pair("latency_ms", shares(&LONG, &millis)),
    ]
}

fn shares(names: &[&str], values: &[f64]) -> Json {
    let pairs = names.iter().zip(values);
    Json::Object(
        pairs
            .map(|(name, value)| pair(name, Json::Fraction(*value)))
            .collect(),
    )
}

fn direction(way: &Way, group: &GroupWay, percentiles: &Percentiles, bins: Buckets) -> Json {
    let Samples {
        min,
        max,
        mean,
        count,
        ..
    } = way.bandwidth;
    let agg = if count > 0 {
        share_of_group(way, group)
    } else {
        0.0
    };
    let latency_of = |histogram: &Option<Histogram>, show: bool| {
        latency(histogram.as_ref(), show.then_some(percentiles), bins)
    };
    let before = [
        ("io_bytes", Json::Whole(way.bytes)),
        ("io_kbytes", Json::Whole(way.bytes >> 10)),
        ("bw_bytes", Json::Whole(way.bytes_per_second())),
        ("bw", Json::Whole(way.bytes_per_second() / 1024)),
        ("iops", Json::Fraction(way.ios_per_second())),
        ("runtime", Json::Whole(way.runtime_ms)),
        ("total_ios", Json::Whole(way.ios)),
        ("short_ios", Json::Whole(way.short)),
        ("drop_ios", Json::Whole(0)),
        ("slat_ns", latency_of(&way.submit, percentiles.submit)),
        ("clat_ns", latency_of(&way.complete, percentiles.complete)),
        ("lat_ns", latency_of(&way.total, percentiles.total)),
    ];
    let after = [
        ("bw_min", Json::Whole(min)),
        ("bw_max", Json::Whole(max)),
        ("bw_agg", Json::Fraction(agg)),
        ("bw_mean", Json::Fraction(mean)),
        ("bw_dev", Json::Fraction(way.bandwidth.deviation())),
        ("bw_samples", Json::Whole(count)),
        ("iops_min", Json::Whole(way.iops.min)),
        ("iops_max", Json::Whole(way.iops.max)),
        ("iops_mean", Json::Fraction(way.iops.mean)),
        ("iops_stddev", Json::Fraction(way.iops.deviation())),
        ("iops_samples", Json::Whole(way.iops.count)),
    ];
    let own = |(key, value): (&str, Json)| pair(key, value);
    let mut pairs: Vec<_> = before.into_iter().map(own).collect();
    let of_priorities = way.priorities.told();
    if !of_priorities.is_empty() {
        pairs.push(pair(
            "prios",
            by_priority(&of_priorities, percentiles, bins),
        ));
    }
    pairs.extend(after.into_iter().map(own));
    Json::Object(pairs)
}

/// Latencies of each priority, as fio shows them where there are several.
fn by_priority(
    told: &[(IoPriority, &Histogram)],
    percentiles: &Percentiles,
    bins: Buckets,
) -> Json {
    let name = if percentiles.total {
        "lat_ns"
    } else {
        "clat_ns"
    };
    let shown = (percentiles.total || percentiles.complete).then_some(percentiles);
    let entries = told.iter().map(|(priority, histogram)| {
        object([
            ("prioclass", Json::Whole(u64::from(priority.class()))),
            ("prio", Json::Whole(u64::from(priority.level()))),
            ("priohint", Json::Whole(u64::from(priority.hint()))),
            (name, latency(Some(histogram), shown, bins)),
        ])
    });
    Json::List(entries.collect())
}

fn latency(
    histogram: Option<&Histogram>,
    percentiles: Option<&Percentiles>,
    bins: Buckets,
) -> Json {
    let histogram = histogram.filter(|histogram| histogram.count() > 0);
    let whole = |read: fn(&Histogram) -> u64| Json::Whole(histogram.map_or(0, read));
    let fraction = |read: fn(&Histogram) -> f64| Json::Fraction(histogram.map_or(0.0, read));
    let mut pairs = vec![
        pair("min", whole(Histogram::min)),
        pair("max", whole(Histogram::max)),
        pair("mean", fraction(Histogram::mean)),
        pair("stddev", fraction(deviation)),
        pair("N", whole(Histogram::count)),
    ];
    if let Some((histogram, percentiles)) = histogram.zip(percentiles) {
        let values = percentiles.list.iter().map(|percent| {
            (
                format!("{percent:.6}"),
                Json::Whole(histogram.percentile(*percent)),
            )
        });
        pairs.push(pair("percentile", Json::Object(values.collect())));
        if bins == Buckets::Shown {
            let bins = super::buckets::filled(histogram).into_iter();
            let bins = bins.map(|(value, count)| (value.to_string(), Json::Whole(count)));
            pairs.push(pair("bins", Json::Object(bins.collect())));
        }
    }
    Json::Object(pairs)
}

pub fn disk(disk: &DeviceCounters) -> Json {
    object([
        ("name", Json::Text(disk.name.clone())),
        ("read_ios", Json::Whole(disk.ios[0])),
        ("write_ios", Json::Whole(disk.ios[1])),
        ("read_sectors", Json::Whole(disk.sectors[0])),
        ("write_sectors", Json::Whole(disk.sectors[1])),
        ("read_merges", Json::Whole(disk.merges[0])),
        ("write_merges", Json::Whole(disk.merges[1])),
        ("read_ticks", Json::Whole(disk.ticks_ms[0])),
        ("write_ticks", Json::Whole(disk.ticks_ms[1])),
        ("in_queue", Json::Whole(disk.in_queue_ms)),
        ("util", Json::Fraction(utilisation(disk))),
    ])
}
