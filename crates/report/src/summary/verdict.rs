//! What to think of the figures, and what to do next.

use fathom_record::{Record, RunKind, Verdict};

use super::Summary;
use super::notes::notes;
use crate::lines::Lines;

/// Adds notes, verdict and failed checks.
pub(super) fn write_verdict(text: &mut Lines, record: &Record, how_much: Summary) {
    for note in notes(record) {
        text.wrap("note     ", &note, 9);
    }
    text.wrap("verdict  ", &verdict_words(record), 9);
    for check in record
        .checks
        .iter()
        .filter(|check| how_much == Summary::Full || !check.passed)
    {
        let outcome = if check.passed { "ok  " } else { "FAIL" };
        let head = format!("  {outcome} {}: ", check.id);
        text.wrap(&head, &check.evidence, 7);
        if !check.remedy.is_empty() {
            text.wrap("       hint: ", &check.remedy, 13);
        }
    }
}

/// Adds the next command, which calls the record `run`; without a name it is not stored.
pub(super) fn write_next(text: &mut Lines, record: &Record, run: Option<&str>) {
    let everything = "every check, device and job";
    let next = match (run.map(shell_word), record.kind) {
        (None, _) => format!("`--full` shows {everything} (this run was not stored)"),
        (Some(run), RunKind::Run) => format!("`fathom report {run} --full` shows {everything}"),
        (Some(run), RunKind::Predict | RunKind::Serve) => {
            format!("`fathom report {run} --full` shows each disk and VM limit")
        }
    };
    text.wrap("next     ", &next, 9);
}

/// A name or path as a shell takes it for one word: it may have anything in it.
pub fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~+@%:,".contains(c);
    if !name.is_empty() && !name.starts_with('~') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// The verdict in words, with how many checks it rests on.
pub(crate) fn verdict_words(record: &Record) -> String {
    let failed = record.checks.iter().filter(|check| !check.passed).count();
    let passed = record.checks.len() - failed;
    match record.verdict {
        Verdict::Trustworthy if passed == 1 => "TRUSTWORTHY: 1 check passed".to_owned(),
        Verdict::Trustworthy => format!("TRUSTWORTHY: {passed} checks passed"),
        Verdict::Questionable if record.checks.is_empty() && record.interrupted => {
            "CUT SHORT: not checked".to_owned()
        }
        Verdict::Questionable if record.checks.is_empty() => "NOT CHECKED".to_owned(),
        Verdict::Questionable => format!(
            "QUESTIONABLE: {failed} of {} checks failed",
            record.checks.len()
        ),
        Verdict::Empty => "NOTHING MEASURED".to_owned(),
    }
}
