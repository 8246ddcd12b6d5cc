//! Reading back what was written, and every difference to the workload that it was written from.

use std::fmt::Write as _;

use fathom_diagnostics::Diagnostics;
use fathom_workload::{Arrival, Backend, Caching, Growth, Job, Workload, native};
use serde_json::{Map, Value};

use crate::Origin;
use crate::draft::Draft;
use crate::loss::{Loss, Place, Weight, joined};
use crate::normal::normal_form;

/// Why a dialect has no word for a key.
#[derive(Debug, Clone, Copy)]
pub struct Reasons {
    /// The dialect, as sentences name it.
    pub dialect: &'static str,
    /// Keys, or parts of them after their first, each with the reason.
    pub known: &'static [(&'static str, &'static str)],
}

/// Every difference between `workload` and what a reader made of its text.
pub fn losses(
    workload: &Workload,
    draft: &Draft,
    read: Result<Workload, Diagnostics>,
    reasons: Reasons,
) -> Vec<Loss> {
    let names: Vec<&str> = workload.jobs().map(|(_, job)| job.name.as_str()).collect();
    let of_job =
        |job: usize| Place::Jobs(vec![names.get(job).copied().unwrap_or_default().to_owned()]);
    let mut found: Vec<Loss> = draft
        .told
        .iter()
        .map(|told| Loss {
            weight: told.weight,
            place: of_job(told.job),
            key: told.key.to_owned(),
            message: told.message.clone(),
        })
        .collect();
    match read {
        Ok(read) => compare(workload, &read, draft, reasons, &mut found),
        Err(complaints) => found.extend(complaints.0.iter().map(|complaint| Loss {
            weight: Weight::Lost,
            place: Place::Workload,
            key: "text".to_owned(),
            message: format!("it would be refused: {}", complaint.message),
        })),
    }
    joined(found, names.len())
}

fn compare(
    workload: &Workload,
    read: &Workload,
    draft: &Draft,
    reasons: Reasons,
    found: &mut Vec<Loss>,
) {
    let (workload, mut read) = (normal_form(workload), normal_form(read));
    same_start(&workload, &mut read, draft);
    let (before, after) = (native::to_json(&workload), native::to_json(&read));
    if before["seed"] != after["seed"] {
        let message = becomes(&before["seed"], &after["seed"], "seed", reasons);
        found.push(Loss {
            weight: Weight::Differs,
            place: Place::Workload,
            key: "seed".to_owned(),
            message,
        });
    }
    let mut number = 0;
    for (index, stage) in workload.stages.iter().enumerate() {
        let own = &before["stage"][index];
        let became = draft.stages.get(index).map_or(&[][..], Vec::as_slice);
        let last = became
            .last()
            .map_or(&Value::Null, |last| &after["stage"][*last]);
        for key in ["name", "cooldown", "repeats", "discard", "rate_from"] {
            if own[key] != last[key] {
                found.push(Loss {
                    weight: weight_of_stage(key),
                    place: Place::Stages(vec![stage.name.clone()]),
                    key: key.to_owned(),
                    message: becomes(&own[key], &last[key], key, reasons),
                });
            }
        }
        for (place, job) in stage.jobs.iter().enumerate() {
            let own = &own["job"][place];
            let became = draft.jobs.get(number).map_or(&[][..], Vec::as_slice);
            if became.is_empty() {
                found.push(lost_job(job));
            }
            for (stage, place) in became {
                let theirs = &after["stage"][*stage]["job"][*place];
                compare_job(job, own, theirs, &told_keys(draft, number), reasons, found);
            }
            number += 1;
        }
    }
}

/// Where the only job of a stage has a rate that follows from an earlier stage's, both before and after, what stands in its
/// place until that is known counts for nothing.
fn same_start(workload: &Workload, read: &mut Workload, draft: &Draft) {
    for (number, (stage, job)) in workload.jobs().enumerate() {
        let stage = &workload.stages[stage];
        if stage.rate_from.is_none() || stage.jobs.len() != 1 {
            continue;
        }
        for (index, place) in draft.jobs.get(number).map_or(&[][..], Vec::as_slice) {
            let Some(became) = read.stages.get_mut(*index) else {
                continue;
            };
            let follows = became.rate_from.is_some();
            let Some(theirs) = became.jobs.get_mut(*place).filter(|_| follows) else {
                continue;
            };
            if let (Arrival::Open { rate: own, .. }, Arrival::Open { rate, .. }) =
                (job.arrival, &mut theirs.arrival)
            {
                *rate = own;
            }
            let own = job.features.file_work.as_deref().and_then(|work| work.rate);
            let work = theirs.features.file_work.as_deref_mut();
            if let (Some(own), Some(rate)) = (own, work.and_then(|work| work.rate.as_mut())) {
                rate.rate = own.rate;
            }
        }
    }
}

fn lost_job(job: &Job) -> Loss {
    Loss {
        weight: Weight::Lost,
        place: Place::Jobs(vec![job.name.clone()]),
        key: "job".to_owned(),
        message: "it is not written".to_owned(),
    }
}

fn told_keys(draft: &Draft, job: usize) -> Vec<&'static str> {
    let told = draft.told.iter().map(|told| (told.job, told.key));
    let decided = told.chain(draft.same.iter().copied());
    decided
        .filter(|(number, _)| *number == job)
        .map(|(_, key)| key)
        .collect()
}

fn compare_job(
    job: &Job,
    own: &Value,
    theirs: &Value,
    told: &[&str],
    reasons: Reasons,
    found: &mut Vec<Loss>,
) {
    let empty = Map::new();
    let (own, theirs) = (
        own.as_object().unwrap_or(&empty),
        theirs.as_object().unwrap_or(&empty),
    );
    let keys = own
        .keys()
        .chain(theirs.keys().filter(|key| !own.contains_key(*key)));
    for key in keys {
        // One target is written under another key than several.
        let name = if key == "targets" { "target" } else { key };
        if told.contains(&name) {
            continue;
        }
        let mut leaves = Vec::new();
        // A treatment of files, and what calls are told, are told part by part, also where one side has none.
        let none = match name {
            "files" | "calls" => Value::Object(Map::new()),
            _ => Value::Null,
        };
        let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(none.clone());
        differences(name, &of(own), &of(theirs), &mut leaves);
        for (path, before, after) in leaves {
            if told.contains(&path.as_str()) {
                continue;
            }
            let loss = Loss {
                weight: weight_of(&path, job),
                place: Place::Jobs(vec![job.name.clone()]),
                message: becomes(&before, &after, &path, reasons),
                key: path,
            };
            if !found.contains(&loss) {
                found.push(loss);
            }
        }
    }
}

/// The values within two values that are not alike, each with its path.
fn differences(path: &str, one: &Value, other: &Value, leaves: &mut Vec<(String, Value, Value)>) {
    if one == other {
        return;
    }
    if let (Value::Object(own), Value::Object(theirs)) = (one, other) {
        let keys = own
            .keys()
            .chain(theirs.keys().filter(|key| !own.contains_key(*key)));
        for key in keys {
            let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            differences(&format!("{path}.{key}"), &of(own), &of(theirs), leaves);
        }
        return;
    }
    leaves.push((path.to_owned(), one.clone(), other.clone()));
}

/// What becomes of the value at `path`, and why: the reason of that key itself, else of its first part, else that the dialect
/// has no word for it.
fn becomes(before: &Value, after: &Value, path: &str, reasons: Reasons) -> String {
    let message = format!("{} becomes {}", shown(before), shown(after));
    let reason = |key: &str| {
        let known = reasons.known.iter().find(|(known, _)| *known == key);
        known.map(|(_, reason)| *reason)
    };
    match reason(path).or_else(|| reason(first_part(path))) {
        Some(reason) => format!("{message}: {reason}"),
        None => format!("{message}: {} cannot say it", reasons.dialect),
    }
}

/// `calls` of `calls.advice`.
fn first_part(path: &str) -> &str {
    path.split_once('.').map_or(path, |(first, _)| first)
}

/// Longest value that is shown, in characters.
const SHOWN_MAX: usize = 120;

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return "nothing".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    if text.chars().count() <= SHOWN_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_MAX).collect();
    format!("{start}…`")
}

fn weight_of_stage(key: &str) -> Weight {
    match key {
        "name" | "discard" => Weight::Differs,
        _ => Weight::Lost,
    }
}

/// The key of what becomes of missing files.
const GROWS: &str = "files.grows";
/// The key of what the page cache is told of the order of access.
const ADVICE: &str = "calls.advice";

/// The same I/O is done whatever a job is called, how it draws, how it is reported, and what it is guarded against.
fn weight_of(path: &str, job: &Job) -> Weight {
    let is_direct = job.caching == Caching::Direct && job.backend != Backend::Mmap;
    match path {
        // No page cache heeds it.
        ADVICE if is_direct => return Weight::Differs,
        // The same is written, to a file that is laid out first, or is not; unless later jobs count on all of it.
        GROWS if job.features.files.grows != Growth::Whole => return Weight::Differs,
        _ => {}
    }
    match first_part(path) {
        "name" | "group" | "salt" | "existing" | "split_latency" => Weight::Differs,
        // Nothing is read from the page cache.
        "drop_cache" if job.caching == Caching::Direct => Weight::Differs,
        _ => Weight::Lost,
    }
}

/// Comment lines: where the text comes from, and what it cannot say.
pub fn header(mark: &str, origin: Origin<'_>, losses: &[Loss]) -> String {
    let source: String = origin
        .source
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut text = format!("{mark} Written by {} {source}.\n", origin.verb);
    for loss in crate::loss::with(origin.beyond, losses) {
        let _ = writeln!(text, "{mark} {loss}");
    }
    text
}
