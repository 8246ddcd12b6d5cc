//! Batches that no queue can gather or wait for.

use crate::{ExistingFiles, Job};

use super::Found;

/// Peers have rules of their own for what does not fit.
pub(super) fn check(job: &Job, found: &mut Found) {
    let Some(batches) = job
        .features
        .batches
        .filter(|_| job.existing == ExistingFiles::OnlyOurs)
    else {
        return;
    };
    let (least, most, depth) = (batches.complete_min, batches.complete_max, job.depth);
    if least > most {
        let message = format!(
            "it waits for {least} completions (`complete_min`), and takes {most} at a time (`complete_max`)"
        );
        found.add(
            "batches",
            message,
            "lower `complete_min`, or raise `complete_max`",
        );
    }
    for (key, number) in [
        ("submit", batches.submit),
        ("complete_min", least),
        ("low", batches.low),
    ] {
        if number > depth {
            let message = format!("`{key}` is {number}, and its depth is {depth}");
            found.add("batches", message, "lower it, or raise `depth`");
        }
    }
}
