//! What makes a comparison doubtful: all that differs between two records beside what is to be compared.

use fathom_record::{Record, RunKind, Verdict};
use fathom_units::Nanos;
use serde_json::{Map, Value};

use super::differences::{differences, in_words};
use crate::repeats::stages_with_repeats;

/// Measured times within this share of each other are alike.
const ALIKE: f64 = 0.05;

/// The key of a machine that is measured.
const CLOCK_READING: &str = "clock_reading_ns";

/// Sentences on what makes `other` no equal partner of `base`; at most `most` keys of each document are named.
pub(super) fn doubts(base: &Record, other: &Record, most: usize) -> Vec<String> {
    let mut doubts = Vec::new();
    let (kind, other_kind) = (kind_words(base.kind), kind_words(other.kind));
    if base.kind != other.kind {
        doubts.push(format!("{kind} beside {other_kind}"));
    }
    document(
        "workload",
        [&base.workload, &other.workload],
        most,
        &mut doubts,
    );
    document("design", [&base.design, &other.design], most, &mut doubts);
    let real = |record: &Record| record.kind != RunKind::Predict;
    // Virtual time goes alike on every machine.
    if real(base) || real(other) {
        let [mut machine, mut other] = [machine(base), machine(other)];
        let counts = [&machine, &other].map(hosts_of);
        if counts[0] != counts[1] {
            doubts.push(format!(
                "{} beside {}",
                of_hosts(counts[0]),
                of_hosts(counts[1])
            ));
            // Each machine of the one is not in the other, and all of them would be told as one value.
            for environment in [&mut machine, &mut other] {
                environment.as_object_mut().map(|all| all.remove("hosts"));
            }
        }
        let found = differences(&machine, &other);
        if !found.is_empty() {
            doubts.push(format!("other machines: {}", in_words(&found, most)));
        }
    }
    if base.kind == RunKind::Run && other.kind == RunKind::Run {
        let (devices, others) = (devices(base), devices(other));
        if devices != others {
            let [devices, others] = [devices, others].map(|names| match names.as_slice() {
                [] => "none seen".to_owned(),
                names => names.join(", "),
            });
            doubts.push(format!("other devices: {devices} → {others}"));
        }
    }
    let tools = [base, other].map(|record| &record.tool);
    if tools[0] != tools[1] {
        let words = tools.map(|tool| match tool.git.as_str() {
            // A run that was cut short does not tell.
            _ if tool.version.is_empty() => "unknown".to_owned(),
            "" => tool.version.clone(),
            git => format!("{} ({git})", tool.version),
        });
        doubts.push(format!(
            "other versions of Fathom: {} → {}",
            words[0], words[1]
        ));
    }
    doubts
}

/// Sentences on what makes `record` doubtful by itself.
pub(super) fn own_doubts(record: &Record) -> Vec<String> {
    let failed = record.checks.iter().filter(|check| !check.passed);
    let mut doubts: Vec<String> = failed
        .map(|check| format!("check `{}` failed: {}", check.id, check.evidence))
        .collect();
    if record.interrupted {
        doubts.push("it was stopped before its end".to_owned());
    }
    if record.verdict == Verdict::Empty {
        doubts.push("no I/O was measured".to_owned());
    } else if record.checks.is_empty() && !record.interrupted {
        doubts.push("it was not checked".to_owned());
    }
    doubts
}

/// Whether two stages were measured for times that differ.
pub(super) fn times(stage: &str, base_ns: u64, other_ns: u64) -> Option<String> {
    let (base, other) = (base_ns as f64, other_ns as f64);
    let differ = (base - other).abs() > base.max(other) * ALIKE;
    differ.then(|| {
        let [base, other] = [base_ns, other_ns].map(|ns| Nanos::new(ns).to_string());
        format!("`{stage}` was measured for {base} → {other}")
    })
}

fn document(what: &str, pair: [&Value; 2], most: usize, doubts: &mut Vec<String>) {
    match pair {
        [Value::Null, Value::Null] => {}
        // The kinds say so, or one was served, where the workload is others' business.
        [Value::Null, _] | [_, Value::Null] => {
            let which = if pair[0].is_null() { "second" } else { "first" };
            doubts.push(format!("only the {which} of the two has a {what}"));
        }
        [first, second] => {
            let found = differences(first, second);
            if !found.is_empty() {
                doubts.push(format!("other {what}s: {}", in_words(&found, most)));
            }
        }
    }
}

/// The machine of a record without what was measured of it, which is never twice the same.
fn machine(record: &Record) -> Value {
    let mut machine = record.environment.clone();
    let hosts = machine.get_mut("hosts").and_then(Value::as_object_mut);
    let each = hosts.into_iter().flat_map(|hosts| hosts.values_mut());
    for one in each.filter_map(Value::as_object_mut) {
        one.remove(CLOCK_READING);
    }
    if let Some(machine) = machine.as_object_mut() {
        machine.remove(CLOCK_READING);
    }
    machine
}

/// Of how many hosts an environment is.
fn hosts_of(environment: &Value) -> usize {
    environment["hosts"].as_object().map_or(1, Map::len)
}

fn of_hosts(count: usize) -> String {
    match count {
        1 => "one host".to_owned(),
        count => format!("{count} hosts"),
    }
}

fn kind_words(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Run => "a run on real storage",
        RunKind::Predict => "a prediction",
        RunKind::Serve => "served storage",
    }
}

fn devices(record: &Record) -> Vec<&str> {
    let all = stages_with_repeats(record).into_iter();
    let all = all.flat_map(|(_, repeats)| repeats);
    let named = all.flat_map(|stage| &stage.storage);
    let real = named.filter(|(_, row)| row.kind == "block-device");
    let mut names: Vec<&str> = real.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
