//! Notes on a record: each once, with the stages or repeats that it is of where it is not of all.

use fathom_record::{Record, StageRecord, Verdict};

use super::{stage_in_words, stage_of_repeats};
use crate::repeats::stages_with_repeats;

/// Most stages, or repeats, that are named one by one.
const NAMED_MOST: usize = 2;

/// What a reader should know of the run and its stages. Those that differ in one percentage alone are one.
pub(crate) fn notes(record: &Record) -> Vec<String> {
    let stages = stages_with_repeats(record);
    let of_stages = record.stages.iter().flat_map(|stage| &stage.notes);
    let mut alike: Vec<Vec<&str>> = Vec::new();
    for note in record.notes.iter().chain(of_stages) {
        match alike.iter_mut().find(|them| are_alike(them[0], note)) {
            Some(them) => them.push(note),
            None => alike.push(vec![note]),
        }
    }
    let told = alike.iter().map(|notes| match whose(&stages, notes) {
        Some(whose) => format!("{whose}: {}", together(notes)),
        None => together(notes),
    });
    let mut notes: Vec<String> = told.collect();
    if record.interrupted {
        let told = match record.verdict {
            Verdict::Empty => "stopped before anything was measured",
            _ => "stopped before its end; these figures cover what was measured until then",
        };
        notes.push(told.to_owned());
    }
    notes
}

/// The only percentage of a note, and what stands around it.
fn percentage(note: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = note
        .split_once(" %")
        .filter(|(_, after)| !after.contains(" %"))?;
    let number = before.rsplit(' ').next()?;
    let before = &before[..before.len() - number.len()];
    number.parse::<f64>().ok()?;
    Some((before, number, after))
}

fn are_alike(one: &str, other: &str) -> bool {
    let around = |note| percentage(note).map(|(before, _, after)| (before, after));
    one == other || around(one).is_some_and(|one| around(other) == Some(one))
}

/// Notes that are alike in one: `14 to 24 %` in place of their percentages.
fn together(notes: &[&str]) -> String {
    let percentages = || notes.iter().filter_map(|note| percentage(note));
    let value = |number: &str| number.parse::<f64>().unwrap_or(0.0);
    let order = |a: &(&str, &str, &str), b: &(&str, &str, &str)| value(a.1).total_cmp(&value(b.1));
    match (percentages().min_by(order), percentages().max_by(order)) {
        (Some((before, least, after)), Some((_, most, _))) if least != most => {
            format!("{before}{least} to {most} %{after}")
        }
        _ => notes[0].to_owned(),
    }
}

/// The stages or repeats that `notes` are of, in words; `None` where they are of all, of none, or say it themselves.
fn whose(stages: &[(&str, Vec<&StageRecord>)], notes: &[&str]) -> Option<String> {
    let has = |stage: &StageRecord| stage.notes.iter().any(|own| notes.contains(&own.as_str()));
    let mut all = stages.iter().flat_map(|(_, repeats)| repeats);
    if all.clone().all(|stage| has(stage)) || !all.any(|stage| has(stage)) {
        return None;
    }
    let parts = stages.iter().filter_map(|(name, repeats)| {
        let own = (1..).zip(repeats).filter(|(_, stage)| has(stage));
        let own: Vec<usize> = own.map(|(number, _)| number).collect();
        let name = match repeats.as_slice() {
            [stage] => stage_in_words(stage),
            _ => stage_of_repeats(name, repeats),
        };
        let some = (own.len() < repeats.len()).then(|| repeats_in_words(&own, repeats.len()));
        (!own.is_empty()).then_some((name, some))
    });
    let parts: Vec<(String, Option<String>)> = parts.collect();
    match parts.as_slice() {
        [(_, Some(some))] if stages.len() == 1 => Some(some.clone()),
        // Many are called as their job, which the note names.
        [(name, None)] if notes[0].contains(&format!("`{name}`")) => None,
        few if few.len() <= NAMED_MOST => {
            let words = few.iter().map(|(name, some)| match some {
                Some(some) => format!("{name} ({some})"),
                None => name.clone(),
            });
            Some(words.collect::<Vec<_>>().join(" and "))
        }
        many => Some(format!("{} of {} stages", many.len(), stages.len())),
    }
}

/// `repeat 2 of 3`, `repeats 1 and 3 of 4`, `3 of 5 repeats`.
fn repeats_in_words(own: &[usize], all: usize) -> String {
    match own {
        [one] => format!("repeat {one} of {all}"),
        [first, second] => format!("repeats {first} and {second} of {all}"),
        many => format!("{} of {all} repeats", many.len()),
    }
}
