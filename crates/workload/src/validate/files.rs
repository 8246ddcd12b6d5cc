//! What cannot be done with files.

use crate::{Backend, ExistingFiles, FileOperation, Job, Mix, Place};

use super::Found;

/// Peers have rules of their own for what they do there.
pub(super) fn check(job: &Job, found: &mut Found) {
    if job.existing == ExistingFiles::AsPeer {
        return;
    }
    check_operation(job, found);
    if job.features.files.made_anew && job.backend != Backend::Null {
        check_made_anew(job, found);
    }
}

fn check_operation(job: &Job, found: &mut Found) {
    if job.features.operation == Some(FileOperation::Truncate) && job.mix != Mix::WRITE {
        let message = "`ftruncate` takes the place of writes, and the job does others too";
        found.add("mix", message, "say `mix = \"write\"`");
    }
}

fn check_made_anew(job: &Job, found: &mut Found) {
    let mut add = |message: &str, hint| found.add("files", message, hint);
    if job.features.operation.is_some() || job.features.file_work.is_some() {
        let message = "operations on files are none of the writes that make files anew";
        return add(message, "leave `made_anew` out");
    }
    if job.mix != Mix::WRITE {
        let message =
            "each pass is to make its files anew, and there is nothing in them to read or trim";
        add(message, "say `mix = \"write\"`, or leave `made_anew` out");
    }
    let is_fresh = |place: &Place| matches!(place, Place::FreshFileIn(_));
    if job.targets.iter().any(|target| is_fresh(&target.place)) {
        let message = "a fresh file in a directory has no name under which it could be made anew";
        add(message, "give `path` the name of a file");
    }
    if job.features.files.sync_range.is_some() {
        let message =
            "`sync_range` is of the files that were opened first, and each pass is to make others";
        add(message, "leave `sync_range` or `made_anew` out");
    }
    if job.features.verify.is_some() {
        let message = "what is written is to be read back, and each pass is to remove it";
        add(message, "leave `verify` or `made_anew` out");
    }
    if job.backend == Backend::Mmap {
        let message = "what is mapped into memory cannot be made anew";
        add(message, "use another backend");
    }
}
