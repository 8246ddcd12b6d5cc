//! Where the time of a prediction went, and which open loops fell behind.
//!
//! Jobs of which the same is to be said share a line, and so do the repeats of a stage.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fathom_record::{
    DirectionRecord, JobRecord, LatencyRecord, Record, RunKind, StageRecord, jobs_in_words,
};

use super::time::{self, limit_name};
use super::{names_of, shorter, stage_of_repeats};
use crate::format::{rate, short_time};
use crate::lines::Lines;
use crate::repeats::stages_with_repeats;

/// Adds the lines of every stage.
pub(super) fn write_limits(text: &mut Lines, record: &Record) {
    for sentence in sentences(record) {
        text.wrap("  ", &sentence, 4);
    }
}

/// What is to be said of every stage, with its name where there are several.
pub(crate) fn sentences(record: &Record) -> Vec<String> {
    let stages = stages_with_repeats(record);
    let mut sentences = Vec::new();
    for (name, repeats) in &stages {
        let words = stage_of_repeats(name, repeats);
        let lines = time::sentence(record.kind, repeats).into_iter();
        let lines = lines.chain(shorter::sentences(repeats));
        let lines = lines.chain(shortfalls(repeats)).chain(responses(repeats));
        let lines = lines.chain(free_syncs(record.kind, repeats));
        sentences.extend(lines.map(|line| match stages.len() {
            0 | 1 => line,
            _ => format!("{words}: {line}"),
        }));
    }
    sentences
}

/// Open loops that asked for one rate and were held by one limit.
struct Shortfall<'a> {
    wanted: f64,
    limit: Option<&'a str>,
    names: Vec<Cow<'a, str>>,
    least: f64,
    most: f64,
}

fn shortfalls(repeats: &[&StageRecord]) -> Vec<String> {
    let mut groups: Vec<Shortfall<'_>> = Vec::new();
    for (repeat, stage) in repeats.iter().enumerate() {
        for job in &stage.jobs {
            // What a request on a file set is, the work says, not the directions.
            if !job.meta.is_empty() {
                continue;
            }
            let got: f64 = directions(job).map(|figures| figures.iops).sum();
            let Some(wanted) = job.iops_wanted.filter(|wanted| got < wanted * 0.99) else {
                continue;
            };
            let limit = most_waited_for(job);
            let same = |group: &&mut Shortfall<'_>| {
                group.limit == limit && (group.wanted - wanted).abs() < 0.5
            };
            if let Some(group) = groups.iter_mut().find(same) {
                group.least = group.least.min(got);
                group.most = group.most.max(got);
                // A repeat brings no new job.
                let name = name_in(stage, job);
                if repeat == 0 || !group.names.contains(&name) {
                    group.names.push(name);
                }
            } else {
                let names = vec![name_in(stage, job)];
                groups.push(Shortfall {
                    wanted,
                    limit,
                    names,
                    least: got,
                    most: got,
                });
            }
        }
    }
    groups.iter().map(Shortfall::in_words).collect()
}

/// What a job is called: of several hosts' jobs, which have one name, a single one may have fallen behind.
fn name_in<'a>(stage: &StageRecord, job: &'a JobRecord) -> Cow<'a, str> {
    match &job.host {
        Some(host) if stage.hosts.is_some() => Cow::Owned(format!("{} on {host}", job.name)),
        _ => Cow::Borrowed(&job.name),
    }
}

/// The limit that all I/Os of a job together waited for longest: shares are of the waiting of one direction, which may hardly
/// have waited.
fn most_waited_for(job: &JobRecord) -> Option<&str> {
    let mut waited: BTreeMap<&str, f64> = BTreeMap::new();
    for figures in directions(job) {
        let all = figures.latency_ns.mean * figures.ios as f64;
        let waiting = all * figures.waited_share.unwrap_or(1.0);
        for (limit, share) in &figures.bound_by {
            *waited.entry(limit).or_default() += share * waiting;
        }
    }
    let longest = waited.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.map(|(limit, _)| limit)
}

impl Shortfall<'_> {
    fn in_words(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(Cow::as_ref).collect();
        let jobs = jobs_in_words(&names);
        let each = if self.names.len() > 1 { " each" } else { "" };
        let (wanted, least, most) = (rate(self.wanted), rate(self.least), rate(self.most));
        let reached = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let why = self.limit.map_or(String::new(), |limit| {
            let name = limit_name(limit);
            let give = if name.ends_with("IOPS") {
                "give"
            } else {
                "gives"
            };
            format!(": {name} {give} no more")
        });
        format!("{jobs} asked for {wanted} IOPS{each} and reached {reached}{why}")
    }
}

/// One line over all open loops of a stage that did I/O: percentiles where it is one job, the worst of each where they are several.
fn responses(repeats: &[&StageRecord]) -> Option<String> {
    let jobs = repeats.iter().flat_map(|stage| &stage.jobs);
    let all: Vec<_> = jobs.flat_map(response_times).collect();
    let first = all.first()?;
    let p99 = short_time(all.iter().map(|latency| latency.p99).max()?);
    let max = short_time(all.iter().map(|latency| latency.max).max()?);
    let names = names_of(&repeats[0].jobs, |job| response_times(job).next().is_some());
    let who = format!(
        "{} response time from intended start",
        jobs_in_words(&names)
    );
    Some(if all.len() == 1 {
        format!("{who}: p50 {}, p99 {p99}, max {max}", short_time(first.p50))
    } else {
        format!("{who}: p99 ≤ {p99}, max {max}")
    })
}

/// A prediction in which nothing was to be written out: its syncs say nothing of those of real storage.
fn free_syncs(kind: RunKind, repeats: &[&StageRecord]) -> Option<String> {
    let syncs = |job: &JobRecord| job.sync.clone().filter(|sync| sync.ios > 0);
    let jobs = || repeats.iter().flat_map(|stage| &stage.jobs);
    let is_free = jobs()
        .filter_map(syncs)
        .all(|sync| sync.latency_ns.max == 0);
    let names = names_of(&repeats.first()?.jobs, |job| syncs(job).is_some());
    (kind == RunKind::Predict && is_free && !names.is_empty()).then(|| {
        format!(
            "syncs of {} take no time in the model, since no cache there holds what was written; on real storage they take some",
            jobs_in_words(&names)
        )
    })
}

fn directions(job: &JobRecord) -> impl Iterator<Item = &DirectionRecord> + Clone {
    [&job.read, &job.write, &job.trim].into_iter().flatten()
}

fn response_times(job: &JobRecord) -> impl Iterator<Item = &LatencyRecord> {
    let done = directions(job).filter(|figures| figures.ios > 0);
    done.filter_map(|figures| figures.response_ns.as_ref())
}
