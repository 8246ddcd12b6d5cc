//! Whether records are of one workload's runs on several hosts.

use std::collections::BTreeSet;

use fathom_stats::from_hdr_base64;
use serde_json::Value;
use thiserror::Error;

use super::HostPart;
use super::workload::{are_their_own, stages};
use crate::{DirectionRecord, PlannedStage, Record, RunKind, SCHEMA, StageRecord};

/// Why records cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Nothing to merge.
    #[error("merging takes two records or more; given: {given}")]
    TooFew {
        /// How many.
        given: usize,
    },
    /// Hosts that cannot be told apart.
    #[error("two records are of the host `{host}`")]
    SameHost {
        /// The host.
        host: String,
    },
    /// One run given twice.
    #[error("the records of `{one}` and `{other}` are one and the same")]
    SameRun {
        /// A name that it was given.
        one: String,
        /// Another.
        other: String,
    },
    /// A record that is merged already.
    #[error("the record of `{host}` is of several hosts already")]
    Merged {
        /// The host.
        host: String,
    },
    /// A record of another schema.
    #[error("the record of `{host}` has the schema `{schema}`, and `{SCHEMA}` is read here")]
    Schema {
        /// The host.
        host: String,
        /// Its schema.
        schema: String,
    },
    /// A record of no run on real storage.
    #[error("the record of `{host}` is of {what}, and no run on real storage")]
    Kind {
        /// The host.
        host: String,
        /// What it is of.
        what: &'static str,
    },
    /// Stages that differ.
    #[error("stage {number} is `{first}` on `{one}` and {other_words} on `{other}`")]
    Stages {
        /// Which, from 1.
        number: usize,
        /// A host.
        one: String,
        /// What the stage is called there.
        first: String,
        /// Another host.
        other: String,
        /// What it is there, in words.
        other_words: String,
    },
    /// Jobs that differ.
    #[error("job `{job}` of stage `{stage}` differs between `{one}` and `{other}`: {keys}")]
    Jobs {
        /// The stage.
        stage: String,
        /// The job.
        job: String,
        /// A host.
        one: String,
        /// Another.
        other: String,
        /// What differs.
        keys: String,
    },
    /// A histogram that is none.
    #[error(
        "the record of `{host}` is damaged: a histogram of stage `{stage}` cannot be read ({why})"
    )]
    Damaged {
        /// The host.
        host: String,
        /// The stage.
        stage: String,
        /// What is wrong.
        why: String,
    },
}

impl MergeError {
    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "name a record of each host",
            Self::SameHost { .. } => "name the hosts: `fathom merge a=RECORD b=RECORD -o NEW`",
            Self::SameRun { .. } => "name each host's own record: counts would be added up twice",
            Self::Merged { .. } => "name the records of the hosts themselves",
            Self::Schema { .. } => "merge with the version of Fathom that made it",
            Self::Kind { .. } => "predict the workload on a design that has all the machines",
            Self::Stages { .. } | Self::Jobs { .. } => {
                "merge runs of one workload, with the same options on each host"
            }
            Self::Damaged { .. } => "copy it from its host again",
        }
    }
}

/// What of a job may be another on each host, or says nothing of what it does.
const OF_HOST: [&str; 5] = ["host", "target", "targets", "salt", "name"];

/// Complains of the first thing that keeps `parts`, which are in the order of their hosts, from being merged. One is enough where
/// so many others are `missing`.
pub(super) fn check(parts: &[HostPart], missing: usize) -> Result<(), MergeError> {
    if parts.is_empty() || parts.len() + missing < 2 {
        return Err(MergeError::TooFew { given: parts.len() });
    }
    if let Some(same) = parts.windows(2).find(|two| two[0].host == two[1].host) {
        let host = same[0].host.clone();
        return Err(MergeError::SameHost { host });
    }
    for part in parts {
        check_alone(part)?;
    }
    check_runs_differ(parts)?;
    check_stages(parts)?;
    for other in &parts[1..] {
        check_jobs(&parts[0], other)?;
    }
    Ok(())
}

/// No two runs measure the same to the nanosecond, on whatever machines. What measured nothing says nothing.
fn check_runs_differ(parts: &[HostPart]) -> Result<(), MergeError> {
    let has_measured = |part: &&HostPart| part.record.stages.iter().any(|it| it.measured_ns > 0);
    let measured: Vec<&HostPart> = parts.iter().filter(has_measured).collect();
    for (index, one) in measured.iter().enumerate() {
        let mut others = measured[index + 1..].iter();
        if let Some(other) = others.find(|other| is_same_run(&one.record, &other.record)) {
            let (one, other) = (one.host.clone(), other.host.clone());
            return Err(MergeError::SameRun { one, other });
        }
    }
    Ok(())
}

fn is_same_run(one: &Record, other: &Record) -> bool {
    one.started_unix_ns == other.started_unix_ns
        && one.environment["hostname"] == other.environment["hostname"]
        && one.stages == other.stages
}

fn check_alone(part: &HostPart) -> Result<(), MergeError> {
    let (host, record) = (part.host.clone(), &part.record);
    if record.schema != SCHEMA {
        let schema = record.schema.clone();
        return Err(MergeError::Schema { host, schema });
    }
    let what = match record.kind {
        RunKind::Run => None,
        RunKind::Predict => Some("a prediction"),
        RunKind::Serve => Some("served storage"),
    };
    if let Some(what) = what {
        return Err(MergeError::Kind { host, what });
    }
    if record.stages.iter().any(|stage| stage.hosts.is_some()) {
        return Err(MergeError::Merged { host });
    }
    for stage in &record.stages {
        for figures in figures_of(stage) {
            let response = figures.response_ns.iter();
            for latency in response.chain([&figures.latency_ns]) {
                from_hdr_base64(&latency.histogram).map_err(|error| MergeError::Damaged {
                    host: host.clone(),
                    stage: stage.name.clone(),
                    why: error.to_string(),
                })?;
            }
        }
    }
    Ok(())
}

fn figures_of(stage: &StageRecord) -> impl Iterator<Item = &DirectionRecord> {
    let total = &stage.total;
    let ways = [
        &total.read,
        &total.write,
        &total.trim,
        &total.sync,
        &total.all,
    ];
    ways.into_iter().flatten().chain(total.meta.values())
}

/// Whether the run was ended before it was over, by its user, by what killed it, or by itself (an I/O that failed): the last of
/// its stages may be missing.
pub(super) fn is_partial(part: &HostPart) -> bool {
    let record = &part.record;
    record.interrupted || record.stages.iter().any(is_cut_off) || lacks_its_own(record)
}

/// Whether the workload of the run has more stages than were measured.
fn lacks_its_own(record: &Record) -> bool {
    let planned = PlannedStage::of_document(&record.workload);
    let planned: u64 = planned.iter().map(|stage| stage.repeats).sum();
    planned > record.stages.len() as u64
}

/// Whether its host was cut off in the midst of it: then its seconds alone are known.
pub(super) fn is_cut_off(stage: &StageRecord) -> bool {
    stage.jobs.is_empty() && !stage.intervals.is_empty()
}

/// Stages belong together by their place and name.
fn check_stages(parts: &[HostPart]) -> Result<(), MergeError> {
    // What a host has that was not cut short is all there is.
    let longest = parts
        .iter()
        .max_by_key(|part| (part.record.stages.len(), !is_partial(part)));
    let Some(longest) = longest else {
        return Ok(());
    };
    for part in parts {
        let own = &part.record.stages;
        for (index, stage) in longest.record.stages.iter().enumerate() {
            let other_words = match own.get(index) {
                Some(other) if other.name == stage.name => continue,
                Some(other) => format!("`{}`", other.name),
                None if is_partial(part) => continue,
                None => "missing".to_owned(),
            };
            return Err(MergeError::Stages {
                number: index + 1,
                one: longest.host.clone(),
                first: stage.name.clone(),
                other: part.host.clone(),
                other_words,
            });
        }
    }
    Ok(())
}

/// Jobs do the same on all hosts, but for where they do it, unless each host has jobs of its own.
fn check_jobs(one: &HostPart, other: &HostPart) -> Result<(), MergeError> {
    for (name, ours) in stages(one) {
        let Some((_, theirs)) = stages(other).find(|(same, _)| *same == name) else {
            continue;
        };
        if are_their_own(ours, theirs) {
            continue;
        }
        for (our, their) in ours.iter().zip(theirs) {
            let keys = if our["name"] == their["name"] {
                differing(our, their)
            } else {
                vec!["`name`".to_owned()]
            };
            if !keys.is_empty() {
                return Err(jobs_differ((name, &our["name"]), (one, other), &keys));
            }
        }
        if let Some(extra) = ours.get(theirs.len()).or(theirs.get(ours.len())) {
            let keys = ["one of them has it alone".to_owned()];
            return Err(jobs_differ((name, &extra["name"]), (one, other), &keys));
        }
    }
    Ok(())
}

fn jobs_differ(
    (stage, job): (&Value, &Value),
    (one, other): (&HostPart, &HostPart),
    keys: &[String],
) -> MergeError {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    MergeError::Jobs {
        stage: text(stage),
        job: text(job),
        one: one.host.clone(),
        other: other.host.clone(),
        keys: keys.join(", "),
    }
}

/// The keys of two jobs that differ, in quotes.
fn differing(one: &Value, other: &Value) -> Vec<String> {
    let keys = |job: &Value| -> BTreeSet<String> {
        let keys = job.as_object().into_iter().flat_map(|job| job.keys());
        keys.cloned().collect()
    };
    let all = &keys(one) | &keys(other);
    let differing = all
        .into_iter()
        .filter(|key| !OF_HOST.contains(&key.as_str()) && one[key.as_str()] != other[key.as_str()]);
    differing.map(|key| format!("`{key}`")).collect()
}
