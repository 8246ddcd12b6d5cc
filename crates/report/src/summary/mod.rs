//! The one screen at the end of a run.
//!
//! One line for each job and direction: rate, throughput and the latency that matters; then what limited a prediction,
//! what makes a figure doubtful, and what to do next.
//!
//! Invariant: no line of it is wider than the screen, unless one word of it is, or the screen is a plain terminal and the
//! line is a title or one of the full summary.

pub(crate) mod hosts;
mod limits;
mod merged;
mod notes;
mod shorter;
mod storage;
mod sweep;
mod table;
mod time;
mod verdict;

use fathom_record::{JobRecord, Record, StageRecord};

pub(crate) use self::limits::sentences;
pub(crate) use self::notes::notes;
pub(crate) use self::table::{Row, rows_of};
pub use self::verdict::shell_word;
pub(crate) use self::verdict::verdict_words;
use crate::lines::{Lines, Width};
use crate::repeats::stages_with_repeats;

/// How much to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summary {
    /// One screen.
    #[default]
    Short,
    /// Every check, device and note.
    Full,
}

/// The summary of `record`, which has just been made, as text for a screen of a width.
pub fn summary(record: &Record, how_much: Summary, width: Width) -> String {
    let run = record.stored.then_some("last");
    written(record, how_much, width, run)
}

/// The same of a record that is called `run` where it was stored.
pub fn named_summary(
    record: &Record,
    how_much: Summary,
    width: Width,
    run: Option<&str>,
) -> String {
    match run.filter(|_| record.stored) {
        Some(run) => stored_summary(record, how_much, width, run),
        None => summary(record, how_much, width),
    }
}

/// The same of a record that is found as `run`, by which the next command names it.
pub fn stored_summary(record: &Record, how_much: Summary, width: Width, run: &str) -> String {
    written(record, how_much, width, Some(run))
}

fn written(record: &Record, how_much: Summary, width: Width, run: Option<&str>) -> String {
    let mut text = Lines::new(width);
    text.line("", &record.title, 2);
    if let Some(swept) = &record.sweep {
        sweep::write_sweep(&mut text, swept);
    }
    if record.sweep.is_none() || how_much == Summary::Full {
        table::write_table(&mut text, record);
        limits::write_limits(&mut text, record);
    }
    hosts::write_hosts(&mut text, record, how_much);
    if how_much == Summary::Full {
        storage::write_storage(&mut text, record);
    }
    verdict::write_verdict(&mut text, record, how_much);
    if how_much == Summary::Short {
        verdict::write_next(&mut text, record, run);
    }
    text.finish()
}

/// A stage by its name; one that has that of its first job alone, as in fio's files, by all of its jobs.
pub(crate) fn stage_in_words(stage: &StageRecord) -> String {
    fathom_record::stage_in_words(&stage.name, &names_of(&stage.jobs, |_| true))
}

/// A stage that is called `name` without the number of a repeat, by its repeats, as [`stage_in_words`] has it.
fn stage_of_repeats(name: &str, repeats: &[&StageRecord]) -> String {
    let first = repeats.first().map_or(&[][..], |stage| &stage.jobs[..]);
    fathom_record::stage_in_words(name, &names_of(first, |_| true))
}

/// A stage of `record` as [`stage_in_words`] has it; one that was repeated with which of its repeats it is.
pub(crate) fn stage_or_repeat(record: &Record, stage: &StageRecord) -> String {
    let stages = stages_with_repeats(record).into_iter();
    let mut found = stages.filter_map(|(name, repeats)| {
        let mut places = repeats.iter();
        let place = places.position(|repeat| std::ptr::eq(*repeat, stage))?;
        let all = repeats.len();
        (all > 1).then(|| {
            format!(
                "{}, repeat {} of {all}",
                stage_of_repeats(name, &repeats),
                place + 1
            )
        })
    });
    found.next().unwrap_or_else(|| stage_in_words(stage))
}

/// Names of the jobs that `chosen` picks, one for each clone.
fn names_of(jobs: &[JobRecord], chosen: impl Fn(&JobRecord) -> bool) -> Vec<&str> {
    let jobs = jobs.iter().filter(|job| chosen(job));
    jobs.map(|job| job.name.as_str()).collect()
}
