//! What contradicts itself in a job whose blocks are checked over all stages.

use super::Found;
use crate::{Backend, Features, Job, Validate};
use fathom_units::Percent;

/// A job's I/O is what its checks are in between, and what it writes is what they have it write.
pub(super) fn check(job: &Job, found: &mut Found) {
    let features = &job.features;
    let Some(validate) = features.validate.as_deref() else {
        return;
    };
    let key = "validate";
    let hint = "leave one of them out";
    for what in beside(features) {
        let message = format!("it has {what} beside checks of all blocks");
        found.add(key, message, hint);
    }
    if job.mix.trim > Percent::ZERO {
        let message = "what a trim leaves of a block is not known to its checks";
        found.add(key, message, "trim nothing");
    }
    if job.backend == Backend::Null {
        let message = "the null backend stores nothing that could be checked";
        found.add(key, message, "choose another backend");
    }
    check_journal(validate, found);
    if validate.name.chars().any(char::is_control) {
        let message = "the name in its stamps has control characters";
        found.add(key, message, "use letters and digits");
    }
}

/// Where what is known would be kept.
fn check_journal(validate: &Validate, found: &mut Found) {
    let Some(journal) = &validate.journal else {
        return;
    };
    if journal.path.is_empty() || journal.path.contains('\0') {
        let message = "its journal has no path";
        found.add(
            "validate",
            message,
            "give one, as in `journal = { path = \"sd1.jnl\" }`",
        );
    }
}

/// What cannot be done beside checks.
fn beside(features: &Features) -> Vec<&'static str> {
    let all = [
        (
            features.verify.is_some(),
            "a check of its own writes (`verify`)",
        ),
        (features.replay.is_some(), "a trace that it replays"),
        (features.rates.is_some(), "a rate for each direction"),
        (!features.lines.is_empty(), "lines of its own sizes"),
        (features.latency_target.is_some(), "a search for a depth"),
        (features.operation.is_some(), "an operation on files"),
        (features.file_work.is_some(), "work on a file set"),
        (
            features.filling.is_some(),
            "contents of its own (`filling`)",
        ),
        (
            features.files.made_anew,
            "files that each pass makes anew (`made_anew`)",
        ),
    ];
    let found = all.into_iter().filter(|(is_there, _)| *is_there);
    found.map(|(_, what)| what).collect()
}
