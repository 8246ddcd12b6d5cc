//! What people are told a stage is called.
//!
//! A stage of fio's files has the name of its first job alone, since sections are all that has names there. Whoever runs several
//! jobs at the same time is told of all of them, by whatever tells of the stage: while it goes, and afterwards.

use std::collections::HashSet;

use fathom_workload::Stage;

use crate::repeat_name;

/// A stage called `name` with jobs of these names, each clone by itself: its name, but all of its jobs in few words where it has
/// the name of the first one alone.
pub fn stage_in_words(name: &str, jobs: &[&str]) -> String {
    match jobs.first() {
        Some(first) if *first == name => jobs_in_words(jobs),
        _ => name.to_owned(),
    }
}

/// What people are told that a repeat of a stage, counted from 1, is called: [`stage_in_words`], then ` #2` and so on.
pub fn repeat_in_words(stage: &Stage, repeat: u32) -> String {
    let jobs: Vec<&str> = stage.jobs.iter().map(|job| job.name.as_str()).collect();
    repeat_name(&stage_in_words(&stage.name, &jobs), repeat)
}

/// Several jobs in few words: `a`, `a ×4`, `a and b`, `a … d`.
pub fn jobs_in_words(names: &[&str]) -> String {
    let mut seen = HashSet::new();
    let distinct: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| seen.insert(*name))
        .collect();
    match distinct.as_slice() {
        [] => String::new(),
        [one] if names.len() == 1 => (*one).to_owned(),
        [one] => format!("{one} ×{}", names.len()),
        [first, second] => format!("{first} and {second}"),
        [first, .., last] => format!("{first} … {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_of_its_first_jobs_name_is_called_by_all_of_them() {
        for (name, jobs, words) in [
            ("r", &["r"][..], "r"),
            ("r", &["r", "w"], "r and w"),
            ("r", &["r", "r", "r"], "r ×3"),
            ("r", &["r", "r", "w"], "r and w"),
            ("r", &["r", "w", "c"], "r … c"),
            ("mix", &["r", "w"], "mix"),
            ("mix", &[], "mix"),
        ] {
            assert_eq!(stage_in_words(name, jobs), words);
        }
    }
}
