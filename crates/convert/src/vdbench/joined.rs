//! Joined SDs: the targets of a job are one, one after another, which `concatenatesds=yes` says for a whole file.
//!
//! Threads then stand with each workload, also with those of one SD.

use fathom_workload::Job;

/// Whether a job's targets are one.
pub(super) fn is_joined(job: &Job) -> bool {
    let rules = job.features.placement.as_deref();
    job.targets.len() > 1 && rules.is_some_and(|rules| rules.joined)
}

/// Bytes that a job's addresses fall into, where they are known: those of its first target, or of all that are joined.
pub(super) fn length_of(job: &Job) -> Option<u64> {
    if !is_joined(job) {
        return Some(job.targets.first()?.length?.get());
    }
    let lengths = job.targets.iter().map(|target| target.length);
    { lengths }.try_fold(0u64, |sum, length| sum.checked_add(length?.get()))
}
