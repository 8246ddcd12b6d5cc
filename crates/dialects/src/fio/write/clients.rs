//! Results of several machines in one document (`--client`).
//!
//! A server reports its entries ready to be shown, and what a sum over machines is made of; the client puts the reports
//! of all its servers together as fio does: `client_stats`, each with `hostname` and `port`, and a last entry that is
//! called `All clients`.

use std::fmt::Write as _;

use fathom_stats::Histogram;
use fathom_units::Nanos;
use serde::{Deserialize, Serialize};

use super::entry::{self, Entry, GroupWay, Way, merge};
use super::figures::wall_clock;
use super::json_document::{Buckets, disk, job, options};
use super::json_text::{Json, pair};
use super::{FioRun, VERSION, normal, terse, wire_histogram};
use crate::fio::input::{FioInput, FioJobMeta, OutputFormat, Percentiles};

/// Keys that fio leaves out of entries of clients, and of their sum.
const NOT_OF_CLIENTS: [&str; 2] = ["eta", "elapsed"];
const NOT_OF_SUMS: [&str; 6] = [
    "latency_depth",
    "latency_target",
    "latency_target_ns",
    "latency_percentile",
    "latency_window",
    "latency_window_us",
];

/// What one server reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    entries: Vec<Json>,
    disks: Vec<Json>,
    global_options: Vec<(String, String)>,
    start: String,
    normal: String,
    terse: String,
    sum: Option<Sum>,
    /// Whether an I/O failed.
    pub failed: bool,
}

/// All entries of a report as one, before it is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sum {
    members: usize,
    error: i32,
    ways: [Way; 3],
    #[serde(with = "wire_histogram")]
    sync: Option<Histogram>,
    runtime_ms: u64,
    processor_ms: (f64, f64),
    switches_and_faults: [u64; 3],
    levels: [[u64; 7]; 3],
    group: [GroupWay; 3],
    percentiles: Percentiles,
}

/// Whose report it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The host as it was named.
    pub name: String,
    /// Its port; 0 where there is none.
    pub port: u16,
}

impl Report {
    /// Of a run of `input` on this machine.
    pub fn new(input: &FioInput, run: &FioRun<'_>) -> Self {
        let bins = if input.output.formats.contains(&OutputFormat::JsonPlus) {
            Buckets::Shown
        } else {
            Buckets::Hidden
        };
        let workers = entry::workers(input, run);
        let members = entry::members(input);
        let groups = entry::groups(input, &members, &workers);
        let mut entries = Vec::new();
        let mut sum: Option<Sum> = None;
        for members in &members {
            let mut entry = Entry::new(input, members, &workers);
            entry.add_priorities(input, run, members, &workers);
            let group = &groups[entry.meta.group as usize];
            entries.push(without(job(&entry, group, 0, bins), &NOT_OF_CLIENTS));
            let own = Sum::of(&entry, group);
            match &mut sum {
                Some(sum) => sum.add(&own),
                None => sum = Some(own),
            }
        }
        if let Some(sum) = &mut sum {
            sum.group = groups.iter().fold([GroupWay::default(); 3], add_groups);
        }
        let disks = entry::disks(input, run);
        Self {
            entries,
            disks: disks.iter().map(disk).collect(),
            global_options: input.global_options.clone(),
            start: normal::start(input),
            normal: normal::summary(input, run),
            terse: terse::lines(input, run),
            sum,
            failed: super::failed_jobs(input, run) > 0,
        }
    }

    /// Of jobs that were not run: what programs read. People are told why.
    pub fn of_refused(input: &FioInput, run: &FioRun<'_>) -> Self {
        Self {
            start: String::new(),
            normal: String::new(),
            ..Self::new(input, run)
        }
    }
}

impl Sum {
    fn of(entry: &Entry<'_>, group: &[GroupWay; 3]) -> Self {
        Self {
            members: entry.members,
            error: entry.error,
            ways: entry.ways.clone(),
            sync: entry.sync.clone(),
            runtime_ms: entry.runtime_ms,
            processor_ms: (entry.user_ms, entry.system_ms),
            switches_and_faults: [
                entry.context_switches,
                entry.major_faults,
                entry.minor_faults,
            ],
            levels: [
                entry.depth_levels,
                entry.submit_batches,
                entry.complete_batches,
            ],
            group: *group,
            percentiles: entry.last.percentiles.clone(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.members += other.members;
        if self.error == 0 {
            self.error = other.error;
        }
        for (mine, theirs) in self.ways.iter_mut().zip(&other.ways) {
            mine.merge(theirs);
        }
        if let Some(sync) = &other.sync {
            merge(&mut self.sync, sync);
        }
        self.runtime_ms += other.runtime_ms;
        self.processor_ms.0 += other.processor_ms.0;
        self.processor_ms.1 += other.processor_ms.1;
        let mine = self.switches_and_faults.iter_mut();
        mine.zip(other.switches_and_faults)
            .for_each(|(mine, theirs)| *mine += theirs);
        let mine = self.levels.iter_mut().flatten();
        mine.zip(other.levels.iter().flatten())
            .for_each(|(mine, theirs)| *mine += theirs);
        self.group = add_groups(self.group, &other.group);
    }

    fn meta(&self) -> FioJobMeta {
        FioJobMeta {
            name: "All clients".to_owned(),
            percentiles: self.percentiles.clone(),
            significant_figures: 4,
            kb_base: 1024,
            latency_target: (Nanos::ZERO, 100.0),
            stats: true,
            ..FioJobMeta::default()
        }
    }

    fn entry<'a>(&self, meta: &'a FioJobMeta) -> Entry<'a> {
        let [context_switches, major_faults, minor_faults] = self.switches_and_faults;
        let [depth_levels, submit_batches, complete_batches] = self.levels;
        Entry {
            meta,
            last: meta,
            members: self.members,
            began: true,
            error: self.error,
            started_unix_ms: 0,
            ways: self.ways.clone(),
            sync: self.sync.clone(),
            runtime_ms: self.runtime_ms,
            user_ms: self.processor_ms.0,
            system_ms: self.processor_ms.1,
            context_switches,
            minor_faults,
            major_faults,
            depth_levels,
            submit_batches,
            complete_batches,
            survived: None,
            features: None,
            steady: None,
            found_depth: None,
        }
    }
}

/// Bytes of both, and the bounds of their times and rates.
fn add_groups(mine: [GroupWay; 3], theirs: &[GroupWay; 3]) -> [GroupWay; 3] {
    std::array::from_fn(|way| {
        let (mine, theirs) = (mine[way], theirs[way]);
        match (mine.runtime_ms.1, theirs.runtime_ms.1) {
            (0, _) => theirs,
            (_, 0) => mine,
            _ => GroupWay {
                bytes: mine.bytes + theirs.bytes,
                runtime_ms: (
                    mine.runtime_ms.0.min(theirs.runtime_ms.0),
                    mine.runtime_ms.1.max(theirs.runtime_ms.1),
                ),
                rates: (
                    mine.rates.0.min(theirs.rates.0),
                    mine.rates.1.max(theirs.rates.1),
                ),
            },
        }
    })
}

/// All reports, in every layout that is asked for.
pub fn write_clients(
    formats: &[OutputFormat],
    reports: &[(Host, Report)],
    finished_unix_ms: u64,
    pid: u32,
) -> String {
    let sum = sum_of(reports);
    let mut text = String::new();
    for format in formats {
        match format {
            OutputFormat::Terse => reports.iter().for_each(|(_, it)| text.push_str(&it.terse)),
            OutputFormat::Json | OutputFormat::JsonPlus => {
                let bins = if *format == OutputFormat::JsonPlus {
                    Buckets::Shown
                } else {
                    Buckets::Hidden
                };
                let document = document(reports, sum.as_ref(), finished_unix_ms, bins);
                text.push_str(&(document.to_string() + "\n"));
            }
            OutputFormat::Normal => {
                for (host, report) in reports {
                    for line in report.start.lines() {
                        let _ = writeln!(text, "<{}> {line}", host.name);
                    }
                }
                let told = reports.iter().filter(|(_, it)| !it.normal.is_empty());
                for (host, report) in told.clone() {
                    let _ = write!(text, "<{}> {}", host.name, report.normal);
                }
                if let Some(sum) = sum.as_ref().filter(|_| told.count() > 0) {
                    let (results, finished_unix_ms) = (&[], finished_unix_ms);
                    let elapsed = Nanos::ZERO;
                    let run = FioRun {
                        results,
                        finished_unix_ms,
                        elapsed,
                        priorities: None,
                        idle: &[],
                        pid,
                    };
                    let meta = sum.meta();
                    normal::job(&mut text, &sum.entry(&meta), &sum.group, &run);
                }
            }
        }
    }
    text
}

/// The sum of all reports, where there is more than one entry.
fn sum_of(reports: &[(Host, Report)]) -> Option<Sum> {
    let mut sums = reports.iter().filter_map(|(_, report)| report.sum.as_ref());
    let mut sum = sums.next()?.clone();
    sums.for_each(|other| sum.add(other));
    (sum.members > 1).then_some(sum)
}

fn document(
    reports: &[(Host, Report)],
    sum: Option<&Sum>,
    finished_unix_ms: u64,
    bins: Buckets,
) -> Json {
    let globals = match reports {
        [(_, only)] => options(&only.global_options),
        several => {
            let used = several
                .iter()
                .filter(|(_, report)| !report.global_options.is_empty());
            let named = used.map(|(host, report)| with(options(&report.global_options), host));
            Json::List(named.collect())
        }
    };
    let entries = reports.iter().flat_map(|(host, report)| {
        let entries = report.entries.iter();
        entries.map(move |entry| with(entry.clone(), host))
    });
    let mut entries: Vec<Json> = entries.collect();
    if let (Some(sum), Some((host, _))) = (sum, reports.last()) {
        let meta = sum.meta();
        let entry = job(&sum.entry(&meta), &sum.group, 0, bins);
        let entry = without(without(entry, &NOT_OF_CLIENTS), &NOT_OF_SUMS);
        entries.push(with(entry, host));
    }
    let disks = reports.iter().flat_map(|(host, report)| {
        let disks = report.disks.iter();
        disks.map(move |disk| with(disk.clone(), host))
    });
    Json::Object(vec![
        pair("fio version", Json::Text(VERSION.to_owned())),
        pair("timestamp", Json::Whole(finished_unix_ms / 1000)),
        pair("time", Json::Text(wall_clock(finished_unix_ms / 1000))),
        pair("global options", globals),
        pair("client_stats", Json::List(entries)),
        pair("disk_util", Json::List(disks.collect())),
    ])
}

/// The object with its host's name and port.
fn with(object: Json, host: &Host) -> Json {
    let Json::Object(mut pairs) = object else {
        return object;
    };
    pairs.push(pair("hostname", Json::Text(host.name.clone())));
    pairs.push(pair("port", Json::Whole(u64::from(host.port))));
    Json::Object(pairs)
}

fn without(object: Json, keys: &[&str]) -> Json {
    let Json::Object(mut pairs) = object else {
        return object;
    };
    pairs.retain(|(key, _)| !keys.contains(&key.as_str()));
    Json::Object(pairs)
}
