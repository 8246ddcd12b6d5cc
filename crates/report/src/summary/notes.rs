//! Notes on a record: each once, with the stages or repeats that it is of where it is not of all.

use fathom_record::{Record, StageRecord};

use super::stage_in_words;
use crate::repeats::stages_with_repeats;

/// Most stages, or repeats, that are named one by one.
const NAMED_MOST: usize = 2;

/// What a reader should know of the run and its stages.
pub(crate) fn notes(record: &Record) -> Vec<String> {
    let stages = stages_with_repeats(record);
    let of_stages = record.stages.iter().flat_map(|stage| &stage.notes);
    let mut seen: Vec<&str> = Vec::new();
    for note in record.notes.iter().chain(of_stages) {
        if !seen.contains(&note.as_str()) {
            seen.push(note);
        }
    }
    let told = seen.into_iter().map(|note| match whose(&stages, note) {
        Some(whose) => format!("{whose}: {note}"),
        None => note.to_owned(),
    });
    let mut notes: Vec<String> = told.collect();
    if record.interrupted {
        notes.push(
            "stopped before its end; these figures cover what was measured until then".to_owned(),
        );
    }
    notes
}

/// The stages or repeats that `note` is of, in words; `None` where it is of all, of none, or says it itself.
fn whose(stages: &[(&str, Vec<&StageRecord>)], note: &str) -> Option<String> {
    let has = |stage: &StageRecord| stage.notes.iter().any(|own| own == note);
    let mut all = stages.iter().flat_map(|(_, repeats)| repeats);
    if all.clone().all(|stage| has(stage)) || !all.any(|stage| has(stage)) {
        return None;
    }
    let parts = stages.iter().filter_map(|(name, repeats)| {
        let own: Vec<usize> = (1..)
            .zip(repeats)
            .filter_map(|(number, stage)| has(stage).then_some(number))
            .collect();
        let name = match repeats.as_slice() {
            [stage] => stage_in_words(stage),
            _ => (*name).to_owned(),
        };
        let some = (own.len() < repeats.len()).then(|| repeats_in_words(&own, repeats.len()));
        (!own.is_empty()).then_some((name, some))
    });
    let parts: Vec<(String, Option<String>)> = parts.collect();
    match parts.as_slice() {
        [(_, Some(some))] if stages.len() == 1 => Some(some.clone()),
        // Many are called as their job, which the note names.
        [(name, None)] if note.contains(&format!("`{name}`")) => None,
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
