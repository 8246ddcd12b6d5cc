//! Checks of data that others may have written.

use crate::{Access, ExistingFiles, Job, SequentialScope, VerifyTrust};

use super::Found;

/// What was written is known from a worker's own stream, so nobody else may write there or move its position.
pub(super) fn check(job: &Job, found: &mut Found) {
    let Some(verify) = &job.features.verify else {
        return;
    };
    if job.workers > 1 && job.mix.changes_data() {
        let message = "several workers write where each checks its own writes";
        let hint = "give each a job with a target of its own";
        found.add("verify", message, hint);
    }
    let shared = SequentialScope::Shared;
    if matches!(job.access, Access::Sequential { scope, .. } if scope == shared) {
        let message = "which worker wrote what is not known where they share a position";
        found.add("verify", message, "use `scope = \"per-worker\"`");
    }
    let unissued = [crate::VerifyPhase::Only, crate::VerifyPhase::Nothing];
    if job.features.replay.is_some() && unissued.contains(&verify.phase) {
        let message = "a trace is checked in the run that replays it";
        found.add("verify", message, "leave `phase` out");
    }
    let never_synced =
        job.sync.fsync_every == 0 && job.sync.fdatasync_every == 0 && !job.sync.at_end;
    if verify.trust == VerifyTrust::Synced
        && never_synced
        && job.existing == ExistingFiles::OnlyOurs
    {
        let message =
            "it trusts only what was synced, and it never syncs: nothing would be checked";
        let hint = "say when it does, such as `sync = { fsync_every = 32 }`, or leave `trust` out";
        found.add("verify", message, hint);
    }
    if verify.checksum.needs_pattern() && verify.pattern.is_none() {
        let message = format!(
            "`{}` compares with a pattern, and there is none",
            verify.checksum.name()
        );
        found.add("verify", message, "give the pattern");
    }
}
